"""How a survey presents itself: consent, thanks, a check of understanding, the asker's colour and logo."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from sottovoce.errors import SottovoceError
from sottovoce.surveys.definition.questions import Texts, texts_from_json

PAPER = (0xFA, 0xF8, 0xF3)
"""The page's light background."""

LEAST_CONTRAST = 4.5
"""Contrast of text that WCAG 2.2 demands at level AA."""

HASH = re.compile(r"[0-9a-f]{64}")
MOST_LOGO_BYTES = 100_000
SIGNATURES = {"image/png": (0, b"\x89PNG\r\n\x1a\n"), "image/webp": (8, b"WEBP")}
"""Position and bytes by which pictures that a page may show are known. SVG can hold scripts and is not among them."""


@dataclass(frozen=True)
class Logo:
    """A picture whose hash is part of the survey. The document has no content: the server delivers it by itself."""

    media_type: str
    sha256: str
    content: bytes | None = field(default=None, compare=False, repr=False)

    @classmethod
    def of(cls, content: bytes) -> "Logo":
        """Return the logo in some bytes; refuse what is no PNG or WebP, or too large."""
        if len(content) > MOST_LOGO_BYTES:
            rule = f"must have at most {MOST_LOGO_BYTES:,} bytes"
            raise SottovoceError("logo", rule, len(content))
        for media_type, (start, signature) in SIGNATURES.items():
            if content[start : start + len(signature)] == signature:
                return cls(media_type, sha256(content).hexdigest(), content)
        rule = "must be a PNG or WebP picture (an SVG can hold scripts)"
        raise SottovoceError("logo", rule, f"{len(content)} bytes")

    def to_json(self) -> dict[str, str]:
        """Return type and hash."""
        return {"type": self.media_type, "sha256": self.sha256}


@dataclass(frozen=True)
class Presentation:
    """What the author chose to show beside the questions; None or False where nothing was chosen."""

    consent: Texts | None = None
    thanks: Texts | None = None
    comprehension_check: bool = False
    colour: str | None = None
    logo: Logo | None = None

    def __post_init__(self) -> None:
        """Check that text in the colour can be read, and that the logo is a picture."""
        if not isinstance(self.comprehension_check, bool):
            raise SottovoceError("comprehension_check", "must be true or false", self.comprehension_check)
        if self.logo is not None and self.logo.media_type not in SIGNATURES:
            raise SottovoceError("logo", f"must be one of {', '.join(SIGNATURES)}", self.logo.media_type)
        if self.logo is not None and not HASH.fullmatch(self.logo.sha256):
            raise SottovoceError("logo", "must have a SHA-256 hash in hexadecimal", self.logo.sha256)
        if self.colour is not None:
            contrast = contrast_with_paper(self.colour)
            if contrast < LEAST_CONTRAST:
                rule = f"must be darker: its contrast with the page is {contrast:.1f}, and text needs {LEAST_CONTRAST}"
                raise SottovoceError("colour", rule, self.colour)

    @property
    def texts(self) -> dict[str, Texts]:
        """Texts that were given, by name."""
        given = {"consent": self.consent, "thanks": self.thanks}
        return {name: text for name, text in given.items() if text is not None}

    def to_json(self) -> dict[str, Any]:
        """Return every field as JSON."""
        return {
            "consent": None if self.consent is None else dict(self.consent),
            "thanks": None if self.thanks is None else dict(self.thanks),
            "comprehension_check": self.comprehension_check,
            "colour": self.colour,
            "logo": None if self.logo is None else self.logo.to_json(),
        }

    @classmethod
    def from_json(cls, json: Mapping[str, Any], languages: Sequence[str]) -> "Presentation":
        """Return what `to_json` describes, without the content of the logo."""
        consent, thanks, logo = json["consent"], json["thanks"], json["logo"]
        return cls(
            None if consent is None else texts_from_json(consent, languages),
            None if thanks is None else texts_from_json(thanks, languages),
            json["comprehension_check"],
            json["colour"],
            None if logo is None else Logo(logo["type"], logo["sha256"]),
        )


def contrast_with_paper(colour: str) -> float:
    """Return the contrast of a colour with the page's light background, as WCAG 2.2 defines it.

    >>> round(contrast_with_paper("#000000"), 1), round(contrast_with_paper("#ffd700"), 1)
    (19.8, 1.3)
    """
    digits = colour.removeprefix("#")
    if len(digits) != 6 or len(colour) != 7 or not set(digits) <= set("0123456789abcdef"):
        raise SottovoceError("colour", "must be # and six digits of 0 to 9 and a to f, such as #0f6b7c", colour)
    red, green, blue = bytes.fromhex(digits)
    lighter, darker = sorted((_luminance((red, green, blue)), _luminance(PAPER)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: tuple[int, int, int]) -> float:
    linear = [c / 255 / 12.92 if c / 255 <= 0.04045 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in colour]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
