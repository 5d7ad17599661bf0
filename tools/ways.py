"""Count the modules on the way of five calls that everything else is built around.

    python tools/ways.py [--list | --json] [WAY ...]

A module counts if one of its functions runs during a warm call: the call is made once, and its second run is traced in
all threads. Modules that are only imported do not count, nor do `errors`, `checks` and any `__init__`, nor loops that
numba compiled, although numba reports a call of each. The package of the checkout that holds this file is measured.
"""

import argparse
import gc
import json
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from types import CodeType, FrameType
from typing import Any

SOURCES = Path(__file__).resolve().parents[1] / "src"
PACKAGE = SOURCES / "sottovoce"
LEFT_OUT = ("errors", "checks")

Call = Callable[[], object]


@contextmanager
def disguise() -> Iterator[Call]:
    """Disguise a frame with three attributes under a plan for a budget."""
    import pandas as pd

    import sottovoce as sv

    columns = {"tax": [True, False] * 600, "drug": ["never", "once", "often"] * 400, "children": [0, 1, 2, 3] * 300}
    people = pd.DataFrame(columns)
    plan = sv.plan(people, odds=27, purpose="split")
    yield lambda: sv.disguise(people, plan)


@contextmanager
def estimate() -> Iterator[Call]:
    """Estimate the joint table of two attributes from the reports of a frame."""
    import pandas as pd

    import sottovoce as sv

    people = pd.DataFrame({"tax": [True, False] * 600, "drug": ["never", "once", "often"] * 400})
    reports = sv.disguise(people, sv.plan(people, odds=9, purpose="split"))
    yield lambda: reports.estimate(["tax", "drug"])


@contextmanager
def itemsets() -> Iterator[Call]:
    """Find the frequent sets of disguised baskets at default settings."""
    import sottovoce as sv

    basket, baskets = sv.datasets.quest_transactions(5000, 10, 4, items=100, patterns=100, seed=1)
    plan = sv.Plan.of(sv.Schema([basket]), {basket.name: sv.schemes.Emask(p=0.9, q=0.95)})
    reports = sv.disguise(baskets, plan, rng=1)
    yield reports.itemsets


@contextmanager
def survey_report() -> Iterator[Call]:
    """Take a report over HTTP: what runs in the server's threads."""
    from sottovoce.surveys import Client, Link, Store, make_app, running, survey_from_text
    from sottovoce.surveys.client.client import disguise_answers
    from sottovoce.surveys.collect.server import listen

    survey = survey_from_text("""
        title: Honesty at work
        asker: Institute of Examples
        purpose: To learn how common it is.
        until: 2999-12-31
        odds: 9:1
        questions:
          - {id: sick, kind: yes_no, text: "Did you call in sick although you were well?"}
          - {id: drink, kind: single, text: "How often did you drink at work?", answers: [never, once, often]}
    """)
    with TemporaryDirectory() as folder:
        store = Store(f"{folder}/surveys.db")
        survey = store.freeze(survey)
        tokens = store.invite(survey, 2)
        with running(make_app(store), listen("127.0.0.1", 0)) as address:
            client = Client(address)
            admitted = [(token, client.admit(Link(address, survey.hash, token), survey)) for token in tokens]
            answers = {"sick": "yes", "drink": "once"}
            submissions = [
                (token, disguise_answers(survey, answers, credential=credential)) for token, credential in admitted
            ]

            def send() -> None:
                token, report = submissions.pop()
                client.send(Link(address, survey.hash, token), report)

            yield send
            client.close()


@contextmanager
def design() -> Iterator[Call]:
    """Design the best channel for a prior and a budget on the command line."""
    from sottovoce.cli.app import main

    words = "design --prior .5,.2,.15,.1,.05 --epsilon 1 --respondents 5000"

    def run() -> None:
        said = StringIO()
        with redirect_stdout(said), redirect_stderr(said):
            try:
                main(words.split())
            except SystemExit as ended:
                if ended.code:
                    raise RuntimeError(f"sottovoce {words}: {said.getvalue()}") from None

    yield run


@dataclass(frozen=True)
class Way:
    """A call, the most modules it should need, and whether it is made by the caller's own thread."""

    opened: Callable[[], AbstractContextManager[Call]]
    limit: int
    in_caller: bool = True


WAYS = {
    "disguise": Way(disguise, 12),
    "estimate": Way(estimate, 12),
    "itemsets": Way(itemsets, 15),
    "survey report": Way(survey_report, 10, in_caller=False),  # the caller is the respondent
    "design": Way(design, 20),
}


@dataclass
class Recorder:
    """Profile function that collects the code of functions called while it is active."""

    codes: set[CodeType] = field(default_factory=set)
    active: bool = False

    def __call__(self, frame: FrameType, event: str, _argument: Any) -> None:
        """Take note of a call."""
        if self.active and event == "call":
            self.codes.add(frame.f_code)


def modules_on(way: Way) -> list[str]:
    """Modules that run during the second call, by their names within the package."""
    recorder = Recorder()
    threading.setprofile(recorder)  # before any thread starts: those of the first call may serve the second one, too
    try:
        with way.opened() as call:
            call()
            recorder.active = True
            if way.in_caller:
                sys.setprofile(recorder)
            try:
                call()
            finally:
                sys.setprofile(None)
                recorder.active = False
    finally:
        threading.setprofile(None)
    files = {code.co_filename for code in recorder.codes - compiled_loops()}
    return sorted(module for file in files if (module := module_of(Path(file))) is not None)


def compiled_loops() -> set[CodeType]:
    """Code of the loops that numba compiled: what runs is not this code, although profilers see it called."""
    if "numba" not in sys.modules:
        return set()
    from numba.core.dispatcher import Dispatcher

    return {each.py_func.__code__ for each in gc.get_objects() if isinstance(each, Dispatcher)}


def module_of(file: Path) -> str | None:
    """Name of a module of the package, or None where it is another's or does not count."""
    if not file.is_relative_to(PACKAGE):
        return None
    parts = file.relative_to(PACKAGE).with_suffix("").parts
    return None if parts[0] in LEFT_OUT or parts[-1] == "__init__" else ".".join(parts)


def main() -> None:
    """Read the command line, and print the modules on each way."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ways", nargs="*", metavar="WAY", help=f"of {', '.join(WAYS)}; all if none is named")
    parser.add_argument("--list", action="store_true", help="name the modules")
    parser.add_argument("--json", action="store_true", help="print JSON, with the modules")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.ways if name not in WAYS]
    if unknown:
        parser.error(f"no such way: {', '.join(unknown)}")
    found = {name: modules_on(WAYS[name]) for name in arguments.ways or WAYS}
    if arguments.json:
        rows = {name: {"count": len(own), "limit": WAYS[name].limit, "modules": own} for name, own in found.items()}
        print(json.dumps(rows, indent=2))
        return
    for name, modules in found.items():
        print(f"{name:14} {len(modules):3} modules, limit {WAYS[name].limit}")
        if arguments.list:
            print("".join(f"    {module}\n" for module in modules), end="")


if __name__ == "__main__":
    sys.path.insert(0, str(SOURCES))  # not what happens to be installed
    main()
