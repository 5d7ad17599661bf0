"""What an author shows beside the questions: definition, document, server and the page's rules."""

import json
import struct
import zlib
from hashlib import sha256
from pathlib import Path

import pytest

from sottovoce.errors import SottovoceError
from sottovoce.plans.canonical import canonical_bytes
from sottovoce.surveys.collect.app_state import PublishedSurvey
from sottovoce.surveys.collect.store import opened
from sottovoce.surveys.definition.definition import read_definition, survey_from_text
from sottovoce.surveys.definition.presentation import MOST_LOGO_BYTES, Logo, Presentation, contrast_with_paper
from sottovoce.surveys.definition.survey import survey_from_bytes
from sottovoce.surveys.page.files import FOLDER, page_modules

SEALING = Path(__file__).parent / "browser/sealing.mjs"


def png(width: int = 2, height: int = 1) -> bytes:
    """A small picture, written by hand."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        checked = kind + content
        return struct.pack(">I", len(content)) + checked + struct.pack(">I", zlib.crc32(checked))

    rows = (b"\0" + b"\x80\x20\x40" * width) * height
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


ALL = """
consent: You take part of your own free will.
thanks: Results are published in March.
comprehension_check: true
colour: "#7A2048"
logo: logo.png
"""


def test_everything_survives_the_document_and_the_database(tmp_path, plain_definition):
    (tmp_path / "logo.png").write_bytes(png())
    (tmp_path / "survey.yaml").write_text(plain_definition + ALL, encoding="utf-8")
    survey = read_definition(tmp_path / "survey.yaml")
    assert survey.presentation == Presentation(
        {"en": "You take part of your own free will."},
        {"en": "Results are published in March."},
        comprehension_check=True,
        colour="#7a2048",
        logo=Logo("image/png", sha256(png()).hexdigest()),
    )
    assert json.loads(survey.document)["version"] == 2
    assert survey_from_bytes(survey.document) == survey
    with opened(str(tmp_path / "surveys.db")) as store:
        frozen = store.survey(store.freeze(survey).id)
    assert frozen == survey
    assert frozen.logo.content == png()
    assert PublishedSurvey(frozen).logo.content == png()
    assert PublishedSurvey(survey_from_bytes(survey.document)).logo is None
    assert "presentation.js" in page_modules(survey)


def test_a_survey_without_any_of_it_keeps_the_bytes_of_0_1(plain_definition):
    survey = survey_from_text(plain_definition + "send_interval: 0\n")
    assert survey.presentation is None
    assert survey.logo is None
    assert "presentation" not in json.loads(survey.document)
    assert "presentation.js" not in page_modules(survey)
    assert survey.with_logo(b"") == survey
    chosen = survey_from_text(plain_definition + "comprehension_check: false\n")
    assert chosen.presentation == Presentation()
    assert chosen.with_logo(b"") == chosen


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ("logo: missing.png", r"logo must be a file that can be read \(No such file or directory\) \(line 13\)"),
        ("logo: survey.svg", r"logo must be a PNG or WebP picture \(an SVG can hold scripts\) \(line 13\)"),
        ("logo: large.png", r"logo must have at most 100,000 bytes \(line 13\)"),
        ("colour: red", r"colour must be # and six digits of 0 to 9 and a to f, such as #0f6b7c \(line 13\)"),
        (
            "colour: '#ffd700'",
            r"colour must be darker: its contrast with the page is 1.3, and text needs 4.5 \(line 13\)",
        ),
        ("comprehension_check: maybe", r"comprehension_check must be one of true, false \(line 13\)"),
        ("consent: ''", r"consent must be a text that is not empty \(line 13\)"),
    ],
)
def test_mistakes_name_their_line(tmp_path, plain_definition, line, rule):
    (tmp_path / "survey.svg").write_text("<svg/>", encoding="utf-8")
    (tmp_path / "large.png").write_bytes(png() + bytes(MOST_LOGO_BYTES))
    with pytest.raises(SottovoceError, match=rule):
        survey_from_text(f"{plain_definition.rstrip()}\n{line}\n", tmp_path)


def test_texts_that_are_missing_in_a_language_are_listed(plain_definition):
    definition = plain_definition.replace("answers: [never, once, often, daily]", "answers: {a: A, b: B}")
    survey = survey_from_text(f"languages: [en, de]\nconsent: I agree.\n{definition}")
    assert survey.missing_texts["consent"] == ("de",)
    assert survey_from_bytes(survey.document) == survey


def test_a_webp_picture_is_known_by_its_signature():
    assert Logo.of(b"RIFF\x24\x00\x00\x00WEBPVP8 " + bytes(10)).media_type == "image/webp"


def test_contrast_is_that_of_wcag():
    assert contrast_with_paper("#faf8f3") == 1
    assert contrast_with_paper("#0f6b7c") == pytest.approx(5.79, abs=0.01)


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"colour": "#ffd700"}, "a colour that cannot be read"),
        ({"colour": "red"}, "a colour that cannot be read"),
        ({"comprehension_check": 1}, "a check of understanding that is neither true nor false"),
        ({"logo": {"type": "image/svg+xml", "sha256": "0" * 64}}, "a logo that is no picture"),
        ({"logo": {"type": "image/png", "sha256": "0"}}, "a logo that is no picture"),
    ],
)
def test_documents_that_break_a_rule_are_refused_by_both_readers(node, tmp_path, plain_definition, change, rule):
    document = json.loads(survey_from_text(plain_definition + ALL.replace("logo: logo.png\n", "")).document)
    document["presentation"] |= change
    written = canonical_bytes(document)
    (tmp_path / "survey.json").write_bytes(written)
    assert node(SEALING, FOLDER, tmp_path / "survey.json", sha256(written).hexdigest()) == f"{rule}\n"
    with pytest.raises(SottovoceError):
        survey_from_bytes(written)
