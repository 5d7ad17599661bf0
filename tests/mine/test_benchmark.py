"""The benchmark of a file larger than memory runs, and finds the same with and without keeping bits."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = "from benchmarks.itemsets.stream import rows; print([row.unit for row in rows()])"


@pytest.mark.slow
def test_any_number_of_transactions(data_sets):
    root = Path(__file__).parents[2]
    paths = os.pathsep.join([str(root / "src"), str(root)])
    environment = os.environ | {"SOTTOVOCE_STREAM_TRANSACTIONS": "100000", "PYTHONPATH": paths}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=root, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "['seconds', 'MiB', 'seconds', 'MiB']"
