"""Count the modules on the way of five calls that everything else is built around.

    python tools/ways.py [--list | --json] [WAY ...]

A module counts if one of its functions runs during a warm call: the call is made once, and its second run is traced in
all threads. Modules that are only imported do not count, nor do `errors`, `checks` and any `__init__`, nor loops that
numba compiled, which cannot be traced. The package measured is that of the checkout this file stands in.
"""

import argparse
import json
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any

SOURCES = Path(__file__).resolve().parents[1] / "src"
PACKAGE = SOURCES / "sottovoce"
LEFT_OUT = ("errors", "checks")

Call = Callable[[], object]


@contextmanager
def disguise() -> Iterator[Call]:
    """Disguise a frame with three attributes under a plan for a budget."""
    import pandas as pd

    from sottovoce.disguises.tables import disguise_frame
    from sottovoce.plans.budget import new_plan
    from sottovoce.schemas.attribute import Attribute, boolean
    from sottovoce.schemas.schema import Schema

    schema = Schema([boolean("tax"), Attribute("drug", ["never", "once", "often"]), Attribute("children", range(4))])
    columns = {"tax": [True, False] * 600, "drug": ["never", "once", "often"] * 400, "children": [0, 1, 2, 3] * 300}
    plan, people = new_plan(schema, odds=27), pd.DataFrame(columns)
    yield lambda: disguise_frame(people, plan)


@contextmanager
def estimate() -> Iterator[Call]:
    """Estimate the joint table of two attributes from the reports of a frame."""
    import pandas as pd

    from sottovoce.disguises.tables import disguise_frame
    from sottovoce.estimates.proportions import estimate_proportions
    from sottovoce.plans.budget import new_plan
    from sottovoce.schemas.attribute import Attribute, boolean
    from sottovoce.schemas.schema import Schema

    schema = Schema([boolean("tax"), Attribute("drug", ["never", "once", "often"])])
    plan = new_plan(schema, odds=9)
    reports = disguise_frame(pd.DataFrame({"tax": [True, False] * 600, "drug": ["never", "once", "often"] * 400}), plan)
    yield lambda: estimate_proportions(reports, plan, ["tax", "drug"])


@contextmanager
def itemsets() -> Iterator[Call]:
    """Find the frequent sets of disguised baskets at default settings."""
    from sottovoce.datasets.quest import quest_transactions
    from sottovoce.disguises.transactions import disguise_transactions
    from sottovoce.mining.itemsets.frequent import frequent_itemsets
    from sottovoce.plans.plan import Plan
    from sottovoce.schemas.schema import Schema
    from sottovoce.schemes import Emask

    basket, baskets = quest_transactions(5000, 10, 4, items=100, patterns=100, seed=1)
    plan = Plan.of(Schema([basket]), {basket.name: Emask(p=0.9, q=0.95)})
    reports = disguise_transactions(baskets, plan, rng=1)
    yield lambda: frequent_itemsets(reports, plan)


@contextmanager
def survey_report() -> Iterator[Call]:
    """Take a sealed report over HTTP: what runs in the server's threads."""
    from sottovoce.surveys.client.client import Client, seal
    from sottovoce.surveys.collect.server import listen, make_app, running
    from sottovoce.surveys.collect.store import Store
    from sottovoce.surveys.definition.definition import survey_from_text
    from sottovoce.surveys.links import Link

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
        store.freeze(survey)
        tokens = store.invite(survey, 2)
        sealed = [(token, seal(survey, {"sick": "yes", "drink": "once"}, token)) for token in tokens]
        with running(make_app(store), listen("127.0.0.1", 0)) as address:
            client = Client(address)

            def send() -> None:
                token, report = sealed.pop()
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
    """Profile function that collects the files of functions called while it is active."""

    files: set[str] = field(default_factory=set)
    active: bool = False

    def __call__(self, frame: FrameType, event: str, _argument: Any) -> None:
        """Take note of a call."""
        if self.active and event == "call":
            self.files.add(frame.f_code.co_filename)


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
    return sorted(module for file in recorder.files if (module := module_of(Path(file))) is not None)


def module_of(file: Path) -> str | None:
    """Name of a module of the package, or None where it is another's or does not count."""
    if not file.is_relative_to(PACKAGE):
        return None
    parts = file.relative_to(PACKAGE).with_suffix("").parts
    return None if parts[0] in LEFT_OUT or parts[-1] == "__init__" else ".".join(parts)


def main() -> None:
    """Read the command line, and print what is on each way."""
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
