"""The page's sampler gives the same bytes as Python's on the shared vectors: under Node, and in Chromium."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "src/sottovoce/survey/page"
VECTORS = ROOT / "conformance"
CHECK = Path(__file__).parent / "check_vectors.mjs"


def number_of_vectors() -> int:
    return sum(len(json.loads((VECTORS / f"{name}.json").read_text())["vectors"]) for name in FILES)


FILES = ("coins", "reports", "refused")


def test_node_agrees_with_every_vector():
    node = shutil.which("node")
    if node is None:
        assert os.environ.get("CI") != "true", "node must be installed"
        pytest.skip("node is not installed")
    done = subprocess.run(
        [node, Path(__file__).parent / "vectors.mjs", PAGE, VECTORS], capture_output=True, text=True, check=True
    )
    found = json.loads(done.stdout)
    assert found["failed"] == []
    assert found["checked"] == number_of_vectors() + 300  # and 300 hashes against Node's own


def test_chromium_agrees_with_every_vector(site, phone):
    """The very modules that the server hands out, under its content security policy."""
    phone.goto(site.link())
    phone.wait_for_selector("button.primary")
    files = {name: json.loads((VECTORS / f"{name}.json").read_text())["vectors"] for name in FILES}
    check = CHECK.read_text().replace("export function", "function")
    found = phone.evaluate(
        f"""async (files) => {{
            {check}
            const {{ flip }} = await import("/assets/coins.js");
            const {{ readPlanDocument }} = await import("/assets/plan.js");
            const {{ Refused }} = await import("/assets/rules.js");
            return checkVectors(files, {{ flip, readPlanDocument, Refused }});
        }}""",
        files,
    )
    assert found == {"checked": number_of_vectors(), "failed": []}
