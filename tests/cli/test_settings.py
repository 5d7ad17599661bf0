"""Settings of `survey serve`: options before the environment before a file, and what is wrong in any of them."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from sottovoce.cli.survey.serve import serve
from sottovoce.cli.survey.settings import FILE, settings_of
from sottovoce.surveys.collect import server as server_module

ROOT = Path(__file__).parents[2]
KNOWN = settings_of(serve)


@pytest.fixture
def served(run, tmp_path, monkeypatch):
    """Start the command, with everything but the server itself; return what it was started with."""
    monkeypatch.chdir(tmp_path)
    seen = []

    def make(store, **settings):
        seen.append(SimpleNamespace(**settings))
        return "app"

    def keep(app, listening):
        vars(seen[-1]).update(proxies=getattr(app, "proxies", None), host=listening.getsockname()[0])

    monkeypatch.setattr(server_module, "make_app", make)
    monkeypatch.setattr(server_module, "serve", keep)

    def start(*arguments: str, settings: str = "") -> SimpleNamespace:
        (tmp_path / "settings.toml").write_text(f"port = 0\n{settings}", encoding="utf-8")
        named = [] if "--settings" in arguments else ["--settings", "settings.toml"]
        code, out, errors = run("survey", "serve", *named, *arguments)
        if code:
            return SimpleNamespace(code=code, errors=" ".join(errors.split()))
        return SimpleNamespace(code=0, out=" ".join(out.split()), **vars(seen[-1]))

    return start


def test_an_option_goes_before_the_environment_and_that_before_the_file(served, monkeypatch):
    text = "per-window = 5\nmetrics = true\nbehind-proxy = true\n"
    started = served(settings=text)
    assert (started.per_window, started.metrics, bool(started.proxies)) == (5, True, True)
    monkeypatch.setenv("SOTTOVOCE_PER_WINDOW", "6")
    monkeypatch.setenv("SOTTOVOCE_METRICS", "false")
    started = served(settings=text)
    assert (started.per_window, started.metrics) == (6, False)
    started = served("--per-window", "7", "--metrics", "--no-behind-proxy", settings=text)
    assert (started.per_window, started.metrics, started.proxies) == (7, True, None)
    monkeypatch.setenv("SOTTOVOCE_SETTINGS", "other.toml")
    Path("other.toml").write_text("port = 0\nrespondents-only = true\n", encoding="utf-8")
    assert served("--settings", "other.toml").respondents_only
    monkeypatch.delenv("SOTTOVOCE_PER_WINDOW")
    assert served(settings="").per_window == 300


@pytest.mark.parametrize("key", [key for key in KNOWN if key != FILE])
def test_every_setting_can_be_set_in_a_file_and_in_the_environment(served, monkeypatch, key, tmp_path):
    """Each way has the same effect."""
    values = {
        "db": ("other.db", '"other.db"'),
        "host": ("127.0.0.2", '"127.0.0.2"'),
        "port": ("0", "0"),
        "url": ("https://a.example", '"https://a.example"'),
        "behind-proxy": ("true", "true"),
        "proxy": ("127.0.0.3 127.0.0.4", '["127.0.0.3", "127.0.0.4"]'),
        "per-window": ("9", "9"),
        "respondents-only": ("true", "true"),
        "first-account-link": ("false", "false"),
        "metrics": ("true", "true"),
    }
    environment, text = values[key]

    def effect(started):
        trusted = started.proxies and [str(network) for network in started.proxies.networks]
        databases = sorted(path.name for path in tmp_path.glob("*.db"))
        for path in tmp_path.glob("*.db"):
            path.unlink()
        shown = started.out.replace(str(started.out.split(":")[2].split(".")[0]), "PORT").split("/link/")[0]
        return trusted, started.host, started.per_window, started.respondents_only, started.metrics, shown, databases

    plain = effect(served())
    by_file = effect(served(settings="" if key == "port" else f"{key} = {text}"))
    monkeypatch.setenv(KNOWN[key].environment, environment)
    by_environment = effect(served())
    monkeypatch.delenv(KNOWN[key].environment)
    assert by_file == by_environment
    assert (by_file != plain) == (key != "port")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("prt = 1", "a key in settings.toml, line 2 must be one of db, host, port, url,"),
        ("# x\n[server]\nport = 1", "a key in settings.toml, line 3 must be one of db, host"),
        ('settings = "x"', "a key in settings.toml, line 2 must be one of db"),
        (
            '"per-window" = 0',
            "per-window in settings.toml, line 2 must be a whole number of at least 1. Got 0",
        ),
        ("per-window = true", "per-window in settings.toml, line 2 must be a whole number of at least 1. Got True"),
        ("per-window = 1.5", "per-window in settings.toml, line 2 must be a whole number of at least 1. Got a number"),
        ("metrics = 1", "metrics in settings.toml, line 2 must be true or false. Got 1 instead."),
        ("proxy = '10.0.0.2'", "proxy in settings.toml, line 2 must be a list of texts. Got a text instead."),
        ("proxy = [10]", "proxy in settings.toml, line 2 must be a list of texts. Got a list instead."),
        ("db = ['postgresql://a:secret@b/c']", "db in settings.toml, line 2 must be a text. Got a list instead."),
        ("url = 2026-01-01", "url in settings.toml, line 2 must be a text. Got another type instead."),
        ('"ur\\u006c" = 5', "url in settings.toml must be a text. Got 5 instead."),
        ("port = 1\n", "--settings must be a TOML file in UTF-8 (Cannot overwrite a value (at line 2, column 9))"),
        ("port", "--settings must be a TOML file in UTF-8 ("),
    ],
)
def test_what_is_wrong_in_a_file_is_named_with_its_line(served, settings, message):
    refused = served(settings=settings)
    assert refused.code == 2
    assert message in refused.errors
    assert "secret" not in refused.errors


def test_limits_of_the_port(served, tmp_path):
    (tmp_path / "big.toml").write_text("port = 65536", encoding="utf-8")
    assert (
        "port in big.toml, line 1 must be a whole number from 0 to 65535. Got 65536"
        in served("--settings", "big.toml").errors
    )


def test_files_that_are_none(served, tmp_path):
    assert (
        "--settings must be a TOML file in UTF-8 (No such file or directory). Got 'none'"
        in served("--settings", "none").errors
    )
    (tmp_path / "latin").write_bytes(b"host = '\xff'")
    assert "--settings must be a TOML file in UTF-8 (" in served("--settings", "latin").errors


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            'url = "http://survey.example.org"',
            "--url must begin with https:// for another machine, because",
        ),
        ('url = "http://localhost:80"\nbehind-proxy = true', "--url must begin with https:// with a proxy in front"),
        (
            'proxy = ["10.0.0.2"]',
            "--host must be an address that the proxy at 10.0.0.2/32 (--proxy) can reach.",
        ),
        ('proxy = ["survey.example.org"]', "--proxy must be an IP address, or a network"),
        ('host = "0.0.0.0"\nproxy = ["0.0.0.0/0"]', "--proxy must have a prefix of at least 8 bits"),
        ('url = "survey.example.org"', "--url must look like https://HOST"),
    ],
)
def test_settings_that_contradict_each_other(served, settings, message):
    refused = served(settings=settings)
    assert refused.code == 2
    assert message in refused.errors


@pytest.mark.parametrize(
    ("settings", "warning"),
    [
        ('host = "0.0.0.0"', "Warning: for other machines, browsers need HTTPS"),
        ('host = "0.0.0.0"\nbehind-proxy = true', "Warning: --behind-proxy means a proxy on this machine, but others"),
        ('url = "https://survey.example.org"', "Warning: --url says that a proxy is in front, but none is trusted"),
        ('host = "0.0.0.0"\nproxy = ["10.0.0.2"]\nurl = "https://a.example"', ""),
        ('url = "https://a.example"\nbehind-proxy = true', ""),
        ('url = "http://localhost:8000"', ""),
        ('url = "http://survey.localhost:8000"', ""),
        ('host = "localhost"', ""),
    ],
)
def test_what_is_probably_a_mistake(served, settings, warning):
    started = served(settings=settings)
    assert started.code == 0
    assert (warning or "Serving") in started.out
    assert ("Warning" in started.out) == bool(warning)


def test_no_link_is_printed_where_it_would_stay_in_a_log(served):
    assert "research/link" in served().out
    started = served("--no-first-account-link", "--url", "https://a.example", "--behind-proxy")
    assert "research/link" not in started.out
    assert "Researchers log in at https://a.example/research" in started.out


def test_the_settings_of_the_kit_are_valid(served, tmp_path, monkeypatch):
    started = served("--settings", str(ROOT / "deploy" / "settings.toml"), "--port", "0")
    assert (started.code, started.metrics, started.per_window) == (0, True, 300)
    assert "Warning" not in started.out


def shown(value) -> str:
    """A default as the documentation shows it."""
    words = {None: "", True: "yes", False: "no"}
    return words[value] if value is None or isinstance(value, bool) else f"`{value}`"


def test_the_table_of_settings_is_the_commands():
    page = (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| `--")]
    keys = {key: f"`{key}`" if key != FILE else "" for key in KNOWN}
    assert rows == [
        " | ".join([f"| `--{key}`", f"`{each.environment}`", keys[key], shown(each.default), f"{each.help} |"])
        for key, each in KNOWN.items()
    ]


@pytest.mark.parametrize(
    ("wrong", "nearest"),
    [("PROT", "PORT"), ("RESPONDENT_ONLY", "RESPONDENTS_ONLY"), ("METRIC", "METRICS"), ("SETTING", "SETTINGS")],
)
def test_variables_that_set_nothing_are_refused(served, monkeypatch, wrong, nearest):
    """As keys of a file are: a researchers' side that should be closed must not stay open. No value is shown."""
    monkeypatch.setenv(f"SOTTOVOCE_{wrong}", "secret")
    refused = served()
    assert refused.code == 2
    assert f"the nearest is SOTTOVOCE_{nearest}. Got SOTTOVOCE_{wrong} instead" in refused.errors
    assert "secret" not in refused.errors


def test_variables_of_other_programs_are_none_of_the_servers_business(served, monkeypatch):
    """All that the repository names, in benchmarks, tests and documentation."""
    files = [
        path for folder in ("benchmarks", "docs", "tests", "tools") for path in (ROOT / folder).rglob("*.[mp][dy]")
    ]
    named = {name for path in files for name in re.findall(r"SOTTOVOCE_[A-Z]+[A-Z_]*[A-Z]", path.read_text("utf-8"))}
    others = named - {setting.environment for setting in KNOWN.values()}
    assert {"SOTTOVOCE_DATA", "SOTTOVOCE_SCREENSHOTS", "SOTTOVOCE_STREAM_VALUES"} <= others
    for name in others:
        monkeypatch.setenv(name, "1")
    assert served().code == 0
