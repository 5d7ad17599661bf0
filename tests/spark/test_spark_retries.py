"""Spark for real: tasks that fail, workers that die, and a cluster that runs a slow task twice.

Every report that any attempt computes is written down: no row may ever have two different ones. The same runs with
coins drawn anew show that this would be noticed.
"""

import json
import os
import re
import socket
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent.parent
PROGRAM = Path(__file__).parent / "spark_runs.py"
WORKERS = ("127.0.0.2", "127.0.0.3")
ROWS = 600_000


def environment(**more: str) -> dict[str, str]:
    python = {"PYSPARK_PYTHON": sys.executable, "PYTHONPATH": str(ROOT / "src")}
    return os.environ | python | {"SPARK_LOCAL_IP": "127.0.0.1"} | more


def run(master: str, fault: str, coins: str, folder: Path) -> dict:
    done = subprocess.run(
        [sys.executable, str(PROGRAM), master, fault, coins, str(folder)],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout.splitlines()[-1])


def check(answer: dict, coins: str) -> None:
    """All rows are there once, some were computed twice, and none of them has two reports if coins are keyed."""
    assert (answer["rows"], answer["written"], answer["twice"], answer["left"]) == (ROWS, ROWS, 0, [])
    assert answer["repeated"] > 50_000
    if coins == "keyed":
        assert answer["different"] == 0
    else:  # with p = 3/4, two reports of one truth differ with probability 3/8
        assert abs(answer["different"] / answer["repeated"] - 3 / 8) < 0.02


@pytest.mark.parametrize("coins", ["keyed", "keyless"])
@pytest.mark.parametrize("fault", ["raise", "exit"])
def test_a_task_that_is_retried_repeats_its_reports(fault, coins, tmp_path):
    answer = run("local[2,4]", fault, coins, tmp_path)
    assert answer["retried"] >= 1
    check(answer, coins)


def test_the_documentation_runs(tmp_path):
    """The example of Spark, after those before it."""
    section = (ROOT / "docs" / "scale.md").read_text().split("## Disguising at scale")[1]
    codes = re.findall(r"^```python[^\n]*\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)
    assert len(codes) == 2
    (tmp_path / "example.py").write_text("import sottovoce as sv\n" + "".join(codes))
    done = subprocess.run(
        [sys.executable, "example.py"], cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-4000:]
    assert done.stdout.count("50000 reports") == 2


@contextmanager
def process(folder: Path, name: str, *command: str, **more: str):
    """A daemon of Spark, which is ended with the block."""
    import pyspark

    home = Path(pyspark.__file__).parent
    with (folder / f"{name}.log").open("w") as log:
        daemon = subprocess.Popen(
            [str(home / "bin" / "spark-class"), *command],
            env=environment(SPARK_HOME=str(home), SPARK_WORKER_DIR=str(folder / name), **more),
            stdout=log,
            stderr=log,
        )
        try:
            yield daemon
        finally:
            daemon.terminate()
            try:
                daemon.wait(20)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def wait_for(path: Path, text: str, seconds: float = 90) -> None:
    end = time.monotonic() + seconds
    while text not in path.read_text():
        assert time.monotonic() < end, path.read_text()[-4000:]
        time.sleep(0.2)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """A standalone master, and two workers on addresses of their own: Spark speculates on another host only."""
    folder, port = tmp_path_factory.mktemp("cluster"), free_port()
    master = f"spark://127.0.0.1:{port}"
    deploy = "org.apache.spark.deploy"
    options = ("--host", "127.0.0.1", "--port", str(port), "--webui-port", str(free_port()))
    with ExitStack() as stack:
        stack.enter_context(process(folder, "master", f"{deploy}.master.Master", *options))
        wait_for(folder / "master.log", "I have been elected leader")
        for host in WORKERS:
            options = ("--host", host, "--cores", "2", "--memory", "1g", "--webui-port", str(free_port()), master)
            worker = process(folder, host, f"{deploy}.worker.Worker", *options, SPARK_LOCAL_IP=host)
            stack.enter_context(worker)
        for host in WORKERS:
            wait_for(folder / f"{host}.log", "Successfully registered with master")
        yield master


@pytest.mark.parametrize("coins", ["keyed", "keyless"])
def test_a_task_that_runs_on_two_machines_repeats_its_reports(cluster, coins, tmp_path):
    answer = run(cluster, "straggle", coins, tmp_path)
    assert answer["speculative"] >= 1
    assert answer["hosts"] == list(WORKERS)
    check(answer, coins)
