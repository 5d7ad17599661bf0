"""The page's sampler gives the same bytes as Python's on the shared vectors: under Node, and in Chromium."""

import json
import re
from pathlib import Path

from sottovoce.surveys.page.files import FOLDER, address

HERE = Path(__file__).parent
VECTORS = HERE.parents[2] / "conformance"
FILES = ("coins", "reports", "refused")


def vectors() -> dict[str, list]:
    return {name: json.loads((VECTORS / f"{name}.json").read_text())["vectors"] for name in FILES}


NUMBER = sum(map(len, vectors().values()))


def test_node_agrees_with_every_vector(node):
    found = json.loads(node(HERE / "vectors.mjs", FOLDER, VECTORS))
    assert found == {"checked": NUMBER, "failed": []}


def test_chromium_agrees_with_every_vector(tmp_path, phone, serving, every_kind):
    """The very modules that the server hands out, under its content security policy."""
    check = "".join((HERE / f"{name}.mjs").read_text() for name in ("plan_document", "check_vectors"))
    check = re.sub(r"^import .*\n|^export ", "", check, flags=re.MULTILINE)
    with serving(tmp_path, every_kind) as site:
        phone.goto(site.link())
        phone.wait_for_selector("button.primary")
        found = phone.evaluate(
            f"""async ([files, modules]) => {{
                {check}
                const parts = await Promise.all(modules.map((path) => import(path)));
                return checkVectors(files, Object.assign({{}}, ...parts));
            }}""",
            [vectors(), [address(f"{name}.js") for name in ("coins", "documents", "hash", "rules")]],
        )
    assert found == {"checked": NUMBER, "failed": []}
