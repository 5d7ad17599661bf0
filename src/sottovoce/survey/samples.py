"""Samples of definitions, to start from."""

from datetime import date, timedelta
from pathlib import Path

from sottovoce.errors import SottovoceError

FOLDER = Path(__file__).parent / "drafts"
DAYS = 90


def sample_names() -> list[str]:
    """Samples there are.

    >>> sample_names()
    ['minimal', 'workplace']
    """
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


def sample(name: str, today: date) -> str:
    """Text of a sample, open for some time from today."""
    if name not in sample_names():
        raise SottovoceError("sample", f"must be one of {', '.join(sample_names())}", name)
    text = (FOLDER / f"{name}.yaml").read_text(encoding="utf-8")
    return text.replace("UNTIL", (today + timedelta(days=DAYS)).isoformat(), 1)
