"""The page's sampler gives the same bytes as Python's on the shared vectors: under Node, and in Chromium."""

import json
import re
from pathlib import Path

import pytest

from sottovoce.surveys.page.script import FIRST, FOLDER, page_script

HERE = Path(__file__).parent
VECTORS = HERE.parents[2] / "conformance"
FILES = ("coins", "reports", "refused")


def vectors() -> dict[str, list]:
    return {name: json.loads((VECTORS / f"{name}.json").read_text())["vectors"] for name in FILES}


NUMBER = sum(map(len, vectors().values()))


@pytest.mark.parametrize("joined", [True, False])
def test_node_agrees_with_every_vector(node, tmp_path, every_kind, joined):
    """The script as it is served to a survey with every kind of coin, and the modules that it is made of."""
    path = FOLDER / FIRST
    if joined:
        path = tmp_path / "page.mjs"
        path.write_bytes(page_script(every_kind).content)
    found = json.loads(node(HERE / "vectors.mjs", path, VECTORS))
    assert found["failed"] == []
    assert found["checked"] == NUMBER + 300  # and 300 hashes against Node's own


def test_chromium_agrees_with_every_vector(tmp_path, phone, serving, every_kind):
    """The very script that the server hands out, under its content security policy."""
    check = "".join((HERE / f"{name}.mjs").read_text() for name in ("plan_document", "check_vectors"))
    check = re.sub(r"^import .*\n|^export ", "", check, flags=re.MULTILINE)
    with serving(tmp_path, every_kind) as site:
        phone.goto(site.link())
        phone.wait_for_selector("button.primary")
        found = phone.evaluate(
            f"""async ([files, path]) => {{
                {check}
                return checkVectors(files, await import(path));
            }}""",
            [vectors(), f"/s/{site.survey.id}/page.js"],
        )
    assert found == {"checked": NUMBER, "failed": []}
