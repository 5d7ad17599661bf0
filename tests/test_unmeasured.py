"""The list of tests whose coverage is not measured names tests that there are."""

from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_every_name_is_that_of_a_test():
    lines = (ROOT / "tests/unmeasured.txt").read_text().splitlines()
    assert lines == sorted(set(lines))
    gone = [
        line for line in lines if f"def {line.partition('::')[2]}(" not in (ROOT / line.partition("::")[0]).read_text()
    ]
    assert gone == []
