"""The files of `deploy/`: checked by the programs that read them, and against what they promise.

`tests/surveys/browser/test_proxies.py` runs both proxies. No Docker engine runs where these tests were written, so the
images are linted, their steps that need no engine are run, and they are built only where `docker info` works.
"""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from contextlib import closing
from pathlib import Path

import pytest
import yaml

from sottovoce.cli.survey.serve import check_settings, serve, settings_remarks
from sottovoce.cli.survey.settings import settings_of
from sottovoce.surveys.client.client import Client
from sottovoce.surveys.collect.forwarded import TrustedProxies
from sottovoce.surveys.links import read_link

ROOT = Path(__file__).parent.parent
DEPLOY = ROOT / "deploy"
UNIT = DEPLOY / "sottovoce@.service"
INSTRUCTION = re.compile(r"^([A-Z]+) (.*)$")


def program(name: str) -> str:
    """A program, also one beside this Python; where everything must be there, its absence is a failure."""
    path = shutil.which(name, path=f"{Path(sys.executable).parent}:{os.environ.get('PATH', '')}")
    if path is None:
        assert os.environ.get("CI") != "true", f"{name} must be installed"
        pytest.skip(f"{name} is not installed")
    return path


def run(*command: object, **settings) -> subprocess.CompletedProcess:
    return subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, **settings)


@pytest.fixture
def unit(tmp_path):
    """The unit of one port, with a program that exists."""
    text = UNIT.read_text()
    assert "/opt/sottovoce/bin/sottovoce " in text
    path = tmp_path / "sottovoce@8001.service"
    path.write_text(text.replace("/opt/sottovoce/bin/sottovoce ", f"{shutil.which('true')} "))
    return path


def test_systemd_finds_nothing_wrong(unit):
    done = run(program("systemd-analyze"), "verify", unit)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    unit.write_text(unit.read_text().replace("NoNewPrivileges=yes", "NoNewPrivilege=yes"))
    assert "Unknown key" in run(program("systemd-analyze"), "verify", unit).stderr


def exposure(unit) -> float:
    told = run(program("systemd-analyze"), "security", "--offline=true", "--no-pager", unit).stdout
    return float(re.search(r"exposure level for \S+: ([0-9.]+)", told)[1])


def test_the_unit_is_hardened(unit):
    """From 0, no exposure, to 10; a service without settings of its own has 9.6."""
    assert exposure(unit) <= 1.3
    loosened = unit.read_text().replace("ProtectSystem=strict\n", "").replace("CapabilityBoundingSet=\n", "")
    unit.write_text(loosened)
    assert exposure(unit) > 1.3


def test_the_unit_starts_the_server_with_settings_that_it_knows():
    text = UNIT.read_text()
    (command,) = re.findall(r"^ExecStart=/opt/sottovoce/bin/sottovoce survey serve (.*)$", text, re.MULTILINE)
    known = settings_of(serve)
    assert {option.removeprefix("--") for option in re.findall(r"--\S+", command)} <= set(known)
    environment = re.findall(r"^Environment=(\w+)=", text, re.MULTILINE)
    assert set(environment) <= {setting.environment for setting in known.values()}


DENIED = """
import ctypes, mmap, runpy, sys
if ctypes.CDLL(None).prctl(65, 1, 0, 0, 0):  # PR_SET_MDWE, as MemoryDenyWriteExecute: for this process and its children
    sys.exit(77)
try:
    mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
except PermissionError:
    runpy.run_module("sottovoce", run_name="__main__", alter_sys=True)
else:
    sys.exit("memory can be written and executed")
"""


@pytest.mark.slow
def test_the_server_runs_where_memory_cannot_become_executable(tmp_path):
    """It serves a page, signs an admission, stores a report, and computes results, each where it does so for real."""

    def denied(*arguments: str) -> subprocess.CompletedProcess:
        return run(sys.executable, "-c", DENIED, "survey", *arguments, cwd=tmp_path)

    done = denied("new", "draft.yaml", "--sample", "minimal")
    if done.returncode == 77:
        pytest.skip("this kernel cannot deny it (Linux 6.3 can)")
    assert done.returncode == 0, done.stderr
    command = [sys.executable, "-c", DENIED, "survey", "serve", "--port", "0", "--no-first-account-link"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    address = process.stdout.readline().split(" at ")[1].split(". ")[0]
    try:
        for arguments in (["freeze", "draft.yaml"], ["invite", "-o", "links.txt", "--url", address]):
            done = denied(*arguments)
            assert done.returncode == 0, done.stderr
        link = read_link((tmp_path / "links.txt").read_text().strip())
        with closing(Client(address)) as client:
            survey = client.survey(link)
            truths = {question.id: question.answers[0].id for question in survey.questions}
            assert len(client.answer(link, truths, at_once=True)) == 16
    finally:
        process.terminate()
        _, errors = process.communicate(timeout=60)
    assert errors == ""
    done = denied("rehearse", "draft.yaml", "--respondents", "500")
    assert done.returncode == 0, done.stderr


def test_linters_of_containers(tmp_path):
    """Both find nothing in the shipped files, and something in spoilt ones."""
    hadolint, schema = program("hadolint"), program("check-jsonschema")
    checked = [schema, "--builtin-schema", "vendor.compose-spec"]
    done = run(hadolint, DEPLOY / "Dockerfile")
    assert (done.returncode, done.stdout) == (0, "")
    done = run(*checked, DEPLOY / "compose.yaml")
    assert done.returncode == 0, done.stdout
    (tmp_path / "Dockerfile").write_text((DEPLOY / "Dockerfile").read_text().replace(":3.11-slim-bookworm", ""))
    assert run(hadolint, tmp_path / "Dockerfile").returncode != 0
    (tmp_path / "compose.yaml").write_text((DEPLOY / "compose.yaml").read_text().replace("read_only:", "readonly:"))
    assert run(*checked, tmp_path / "compose.yaml").returncode != 0


def stages() -> dict[str, list[tuple[str, str]]]:
    """Instructions of each stage of the Dockerfile."""
    text = re.sub(r"\\\n\s*", "", (DEPLOY / "Dockerfile").read_text())
    found: dict[str, list[tuple[str, str]]] = {}
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        name, rest = INSTRUCTION.fullmatch(line).groups()
        if name == "FROM":
            found[rest.split(" AS ")[1]] = []
        list(found.values())[-1].append((name, rest))
    return found


def test_images_have_pinned_bases_users_without_rights_and_no_secrets():
    for name, instructions in stages().items():
        base = instructions[0][1].split(" AS ")[0]
        assert re.fullmatch(r"[a-z]+:\d+\.\d+-[a-z-]+", base)
        assert not {"ADD", "ARG"} & {instruction for instruction, _ in instructions}
        told = " ".join(rest for _, rest in instructions).lower()
        assert not re.search("password|secret|token|curl|wget", told)
        if name != "build":
            (user,) = [rest for instruction, rest in instructions if instruction == "USER"]
            assert int(user) > 1000
    commands = dict(stages()["server"])
    assert "/health" in commands["HEALTHCHECK"]
    assert commands["CMD"].startswith('["survey", "serve"')


def test_the_images_copy_what_the_context_lets_in_and_the_package_needs(tmp_path):
    """Of what is copied, the package is built as in the image; the image itself needs an engine."""
    let_in = {line[1:] for line in (DEPLOY / "Dockerfile.dockerignore").read_text().splitlines() if line[0] == "!"}
    copied = [
        rest.split()[:-1]
        for instructions in stages().values()
        for name, rest in instructions
        if name == "COPY" and not rest.startswith("--from")
    ]
    names = [name for sources in copied for name in sources]
    assert set(names) == let_in
    assert all((ROOT / name).exists() for name in names)
    (install,) = [rest for name, rest in stages()["build"] if name == "RUN"]
    (extras,) = re.findall(r"'\.\[(.*)\]'", install)
    assert all(f"\n{extra} = [" in (ROOT / "pyproject.toml").read_text() for extra in extras.split(","))


@pytest.mark.slow
def test_what_the_image_copies_is_a_package(tmp_path):
    source = tmp_path / "build"
    source.mkdir()
    for name in ("pyproject.toml", "constraints.txt", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    shutil.copytree(ROOT / "src", source / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    done = run(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", tmp_path, ".", cwd=source)
    assert done.returncode == 0, done.stderr
    (wheel,) = tmp_path.glob("sottovoce-*.whl")
    held = zipfile.ZipFile(wheel).namelist()
    assert {"sottovoce/surveys/page/main.js", "sottovoce/cli/survey/serve.py"} <= set(held)


@pytest.mark.slow
def test_the_images_are_built_where_an_engine_runs():
    docker = shutil.which("docker")
    if docker is None or run(docker, "info").returncode:
        pytest.skip("no Docker engine runs here: the images are unbuilt")
    for target in ("server", "proxy"):
        done = run(docker, "build", "-f", DEPLOY / "Dockerfile", "--target", target, ROOT)
        assert done.returncode == 0, done.stderr


@pytest.fixture
def composed() -> dict:
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text())


def test_containers_can_write_nowhere_and_get_no_rights(composed):
    targets = {name: dict(instructions) for name, instructions in stages().items()}
    for name, service in composed["services"].items():
        assert service["read_only"], name
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert service.get("cap_add", []) == (["NET_BIND_SERVICE"] if name == "proxy" else [])
        assert service.get("user") == "postgres" or targets[service["build"]["target"]]["USER"] != "0"
        assert service["ulimits"] == {"core": 0}
        assert ("ports" in service) == (name == "proxy")  # nothing else is reached from outside
        for variable, value in service["environment"].items():
            assert variable.endswith("_FILE") or not re.search("PASSWORD|SECRET|TOKEN", variable)
            assert "postgresql://" not in str(value)
    assert composed["networks"]["back"]["internal"]
    assert composed["services"]["database"]["networks"] == ["back"]


def test_the_containers_settings_agree(composed):
    """Known to the server, without contradictions, and with the same addresses on both sides."""
    services = composed["services"]
    assert services["server1"] == services["server2"]
    environment, known = services["server1"]["environment"], settings_of(serve)
    assert set(environment) <= {setting.environment for setting in known.values()}
    trusted = TrustedProxies([environment["SOTTOVOCE_PROXY"]])
    url = "https://survey.example.org"
    check_settings(environment["SOTTOVOCE_HOST"], url, trusted, behind_proxy=False)
    assert settings_remarks(environment["SOTTOVOCE_HOST"], url, trusted, behind_proxy=False) == []
    front = services["proxy"]["networks"]["front"]["ipv4_address"]
    assert front == environment["SOTTOVOCE_PROXY"]
    assert services["proxy"]["environment"]["SURVEY_SERVERS"] == "server1:8000 server2:8000"
    assert all("{$" + name in (DEPLOY / "Caddyfile").read_text() for name in services["proxy"]["environment"])


def test_caddy_would_write_its_file_the_same_way():
    done = run(program("caddy"), "fmt", DEPLOY / "Caddyfile")
    assert done.stdout == (DEPLOY / "Caddyfile").read_text()


def test_no_file_names_a_machine_of_ours():
    for path in DEPLOY.iterdir():
        text = path.read_text()
        assert not re.search(r"/work/|/root/|/home/|localhost:\d+/|docker\.io|ghcr\.io|quay\.io", text), path.name
        assert max(map(len, text.expandtabs(4).splitlines())) <= 120, path.name
