"""Errors name options as they are written on the command line, for every option of every command that can be wrong."""

from contextlib import closing

import pytest

from sottovoce.cli.app import command as command_line
from sottovoce.cli.options import option_errors, written_name
from sottovoce.designs.compare_measures import NAMES
from sottovoce.errors import SottovoceError
from sottovoce.estimates.derived import NAMED_FUNCTIONALS
from sottovoce.surveys.collect.entries import Entry
from sottovoce.surveys.collect.store import Store
from sottovoce.surveys.definition.definition import survey_from_text

SURVEY = """
title: T
asker: A
purpose: P
until: 2999-12-31
odds: 9
minimum: 1
questions: [{id: a, kind: yes_no, text: A}, {id: b, kind: yes_no, text: B}]
"""

COMMANDS = {
    "plan new": ("t.csv", "-o", "new.json"),
    "plan show": (),
    "plan audit": ("plan.json",),
    "recommend": ("--odds", "9", "--respondents", "100"),
    "compare": ("--respondents", "1000", "--epsilons", "1"),
    "disguise": (),
    "estimate": ("towns.csv", "--plan", "plan.json"),
    "tally": (),
    "measure": ("plan.json",),
    "width": ("plan.json", "--respondents", "100"),
    "respondents": ("plan.json",),
    "demo": ("--respondents", "100"),
    "design": ("--respondents", "1000"),
    "design goals": ["--density", ".01", "--transactions", "1e5", "--breach", ".1", "--error", ".1", "--slowdown", "9"],
    "mine itemsets": ("baskets.csv", "--plan", "baskets.json"),
    "mine rules": ("baskets.csv", "--plan", "baskets.json"),
    "mine classify": ("r.csv",),
    "mine graph": ("edges.txt",),
    "mine regress": ("r.csv",),
    "survey new": (),
    "survey preview": ("draft.yaml",),
    "survey freeze": ("draft.yaml",),
    "survey invite": (),
    "survey serve": ("--port", "0"),
    "survey status": (),
    "survey revoke": (),
    "survey close": (),
    "survey delete": ("--yes",),
    "survey rehearse": (),
    "survey receipt": (),
    "survey audit": (),
    "survey estimate": (),
    "survey export": (),
    "survey report": (),
    "survey backup": (),
    "survey restore": (),
    "survey simulate": (),
    "survey demo": (),
    "survey drill": (),
    "survey accounts list": (),
    "survey accounts add": (),
    "survey accounts reset": (),
    "survey accounts remove": ("--yes",),
    "survey accounts end-sessions": (),
}
"""Arguments that a command always gets."""

PRIOR = "--prior .5,.3,.2"
LINK = f"http://127.0.0.1:9/s/{'0' * 16}#{'0' * 64}"
POINT = f"{PRIOR} --odds 3 --plan new.json"
LABELLED = f"{POINT} --attribute a --prior-source public:x"

WRONG = {
    "plan new": {
        "--output": "-o plan.json --odds 9",
        "--epsilon": "--epsilon -1",
        "--odds": "--odds .5",
        "--epsilon or --odds": "",
        "--purpose and --mining": "--odds 9 --purpose joint --mining",
        "--purpose": "--odds 9 --purpose everything",
        "--coins": "--coins .9",
        "--columns": "--odds 9 --columns shoe",
        "--public": "--odds 9 --public shoe",
        "--items": "--odds 9 --items shoe",
        "--bins": "--odds 9 --bins shoe=1,2,3",
        "--bins ": "--odds 9 --bins tax=3,2,1",
    },
    "plan show": {"PLAN": "broken.json"},
    "plan audit": {"--level": "--level 1", "--samples": "--samples 0", "--seed": "--seed -1"},
    "recommend": {
        "--respondents": "--attribute a=2 --respondents -1",
        "TABLE or --attribute": "",
        "--attribute": "--attribute a=x,x",
        "--items": "--items b=x,x",
        "--odds": "--attribute a=2 --odds x",
        "--odds or --epsilon": "--attribute a=2 --epsilon 1",
        "--margin": "--attribute a=2 --margin .1",
        "--purpose": "--attribute a=2 --purpose fun",
        "--prior": "--attribute a=2 --prior b=.5,.5 --prior-source public:x",
        "--prior of a": "--attribute a=2 --prior a=.5,.6 --prior-source public:x",
        "--prior-source": "--attribute a=2 --prior .5,.5 --prior-source gossip:x",
        "--level": "--attribute a=2 --level 2",
        "--columns": "t.csv --columns shoe",
        "--bins": "t.csv --bins tax=1,2",
        "--plan": "--attribute a=2 --plan plan.json",
        "--plot": "--attribute a=2 --plot x.doc",
    },
    "compare": {
        "--respondents": f"{PRIOR} --respondents -1",
        "SCHEME,SCHEME,...": f"kuk {PRIOR}",
        "--prior": "--prior .5,.6",
        "--prior-name": "--prior-name odd --categories 3",
        "--prior or --prior-name": "",
        "--categories": "--prior-name zipf",
        "--measures": f"{PRIOR} --measures beauty",
        "--epsilons": f"{PRIOR} --epsilons -1",
        "--width": f"{PRIOR} --width -1",
        "--level": f"{PRIOR} --level 2",
        "--plot": f"{PRIOR} --plot x.doc",
    },
    "disguise": {
        "IN": "r.csv o.csv --plan plan.json",
        "OUT": "t.csv r.csv --plan plan.json",
        "--plan": "t.csv o.csv --plan broken.json",
        "--drop": "t.csv o.csv --plan plan.json --drop shoe",
        "--seed": "t.csv o.csv --plan plan.json --seed -1",
    },
    "estimate": {
        "FILE": "--attributes tax --by shoe",
        "--attributes": "--attributes shoe",
        "--attributes ": "--attributes tax,tax",
        "--plan": "--attributes tax --plan broken.json",
        "--method": "--attributes tax --method magic",
        "--target": "--attributes tax --target world",
        "--level": "--attributes tax --level 95",
        "--interval": "--attributes tax --interval bayes",
        "--seed": "--attributes tax --interval bootstrap --seed -1",
        "--weights": "--attributes tax --weights town",
        "--by": "--attributes tax --by income",
        "--strata": "--attributes tax --strata income",
        "--by, --strata and --against": "--attributes tax --by town --strata town",
        "--shares": "--attributes tax --strata town --shares N=1",
        "--derive": "--attributes tax --derive correlation",
        "--scores": "--attributes tax --derive mean --scores 1,2,3",
        "--independence": "--attributes tax --independence",
        "--plot": "--attributes tax --plot x.doc",
    },
    "tally": {
        "FILE...": "r.csv other.csv -o new.json",
        "--output": "r.csv -o new.csv",
        "--output ": "r.csv -o plan.json",
        "--attributes": "r.csv -o new.json --attributes shoe",
        "--itemset": "r.csv -o new.json --itemset ale",
        "--plan": "r.csv -o new.json --plan other.json",
    },
    "measure": {"--prior": "--prior shoe=1", "--prior of tax": "--prior tax=.5,.6", "PLAN": "broken.json"},
    "width": {
        "--respondents": "--respondents 0",
        "--attributes": "--attributes shoe",
        "--prior": "--attributes tax --prior .5,.6",
        "--derive": "--attributes tax --derive luck",
        "--level": "--level 2",
    },
    "respondents": {
        "--margin": "--margin 0",
        "--width": "--width 0",
        "--margin or --width": "",
        "--attributes": "--margin .1 --attributes shoe",
        "--prior": "--margin .1 --attributes tax --prior .5,.6",
        "--derive": "--margin .1 --attributes tax --derive luck",
        "--level": "--margin .1 --level 2",
    },
    "demo": {
        "--respondents": "--respondents 1",
        "--epsilon": "--epsilon x",
        "--odds": "--odds x",
        "--epsilon or --odds": "--epsilon 1 --odds 9",
        "--seed": "--seed -1",
    },
    "design": {
        "--respondents": f"{PRIOR} --odds 3 --respondents -1",
        "--objective": f"{PRIOR} --odds 3 --objective x",
        "--prior": "--prior .5,.6",
        "--prior-name": "--prior-name odd --categories 3",
        "--categories": "--prior-name zipf",
        "--epsilon": f"{PRIOR} --epsilon -1",
        "--odds": f"{PRIOR} --odds 1",
        "--delta": f"{PRIOR} --delta 2",
        "--accuracy": f"{PRIOR} --accuracy 2",
        "--distortion": f"{PRIOR} --objective information --distortion 2",
        "--method": f"{PRIOR} --odds 3 --method x",
        "--generations": f"{PRIOR} --odds 3 --generations 9",
        "--seed": f"{PRIOR} --odds 3 --seed 9",
        "--max-reports": f"{PRIOR} --odds 3 --method warner --max-reports 3",
        "--points": f"{PRIOR} --points 0",
        "--plot": f"{PRIOR} --odds 3 --plot x.doc",
        "--plan": f"{LABELLED} --plan plan.json",
        "--point": f"{LABELLED} --point 9",
        "--attribute": POINT,
        "--labels": f"{LABELLED} --labels p,p,q",
        "--labels ": f"{LABELLED} --labels p,q",
        "--prior-source": f"{POINT} --attribute a --prior-source gossip:x",
    },
    "design goals": {
        "--density": "--density 2",
        "--transactions": "--transactions -1",
        "--breach": "--breach -1",
        "--error": "--error -1",
        "--slowdown": "--slowdown -1",
        "--weights": "--weights -1,1,1",
        "--tie": "--tie luck",
    },
    "mine itemsets": {
        "FILE": "--min-support .4 --plan plan.json",
        "--min-support": "--min-support 2",
        "--plan": "--min-support .4 --plan broken.json",
        "--attributes": "--min-support .4 --attributes shoe",
        "--selection": "--min-support .4 --selection x",
        "--longest": "--min-support .4 --longest 0",
        "--target": "--min-support .4 --target x",
        "--keep": "--min-support .4 --keep x",
        "--top": "--min-support .4 --top 0",
        "--halves": "--min-support .4 --halves --target table",
        "--seed": "--min-support .4 --seed 1",
        "--level": "--min-support .4 --level 2",
    },
    "mine rules": {
        "FILE": "--min-support .4 --plan plan.json",
        "--min-support": "--min-support 2",
        "--min-confidence": "--min-support .4 --min-confidence 2",
        "--plan": "--min-support .4 --plan broken.json",
        "--attributes": "--min-support .4 --attributes shoe",
        "--selection": "--min-support .4 --selection x",
        "--longest": "--min-support .4 --longest 0",
        "--target": "--min-support .4 --target x",
        "--top": "--min-support .4 --top 0",
        "--sort-by": "--min-support .4 --sort-by luck",
        "--halves": "--min-support .4 --halves --target table",
        "--seed": "--min-support .4 --seed 1",
        "--level": "--min-support .4 --level 2",
    },
    "mine classify": {
        "--label": "--label shoe",
        "--test": "--label tax --test other.csv",
        "--plan": "--label tax --plan other.json",
        "--attributes": "--label tax --attributes tax",
        "--model": "--label tax --model forest",
        "--repair": "--label tax --repair x",
        "--smoothing": "--label tax --smoothing -1",
        "--significance": "--label tax --model tree --significance 2",
        "--widest": "--label tax --test r.csv --widest -1",
        "--plot": "--label tax --plot x.png",
    },
    "mine regress": {
        "--formula": "--formula shoe~1",
        "--plan": "--formula tax~1 --plan other.json",
        "--family": "--formula tax~1 --family gamma",
        "--link": "--formula tax~1 --link log",
        "--weights": "--formula tax~1 --weights tax",
        "--clusters": "--formula tax~1 --clusters tax",
        "--strata": "--formula tax~1 --strata tax",
        "--information": "--formula tax~1 --information x",
        "--plot": "--formula tax~1 --plot x.doc",
        "--level": "--formula tax~1 --level 2",
    },
    "mine graph": {
        "--statistic": "--epsilon 2 --statistic x",
        "--k": "--epsilon 2 --statistic stars --k 0",
        "--motif": "--epsilon 2 --statistic triangles --motif x",
        "--epsilon": "--epsilon -1",
        "--odds": "--odds x",
        "--epsilon or --odds": "--epsilon 2 --odds 3",
        "--epsilon or --odds ": "--odds 1",
        "--nodes": "--epsilon 2 --nodes -1",
        "--incoming": "--epsilon 2 --incoming",
        "--seed": "--epsilon 2 --seed -1",
        "--reports": "--epsilon 2 --reports plan.json",
        "--level": "--epsilon 2 --level 2",
        "--memory": "--epsilon 2 --memory 0",
    },
    "survey new": {"DRAFT": "draft.yaml", "--sample": "new.yaml --sample x"},
    "survey preview": {
        "DRAFT": "broken.json",
        "--respondents": "--respondents 0",
        "--margin": "--margin 2",
        "--level": "--level 2",
    },
    "survey freeze": {"DRAFT": "broken.json", "--db": "--db /nowhere/s.db", "--url": "--url x"},
    "survey invite": {
        "ID": "zz",
        "--count": "--count 0",
        "--output": "-o plan.json",
        "--db": "--db none.db",
        "--url": "--url x",
    },
    "survey serve": {
        "--db": "--db /nowhere/s.db",
        "--host and --port": "--host nowhere.invalid",
        "--port": "--port -1",
        "--per-window": "--per-window 0",
        "--url": "--url x",
        "--proxy": "--proxy proxy.example.org",
        "--settings": "--settings none.toml",
    },
    "survey status": {"--db": "--db none.db"},
    "survey revoke": {"ID": "zz", "--links": "--links t.csv", "--db": "--db none.db"},
    "survey close": {"ID": "zz", "--db": "--db @none.txt"},
    "survey delete": {"ID": "zz", "--db": "a --db none.db"},
    "survey rehearse": {
        "--respondents": "--respondents -1",
        "--truth": "--truth x",
        "--seed": "--seed -1",
        "--level": "--level 2",
        "--db": "--db none.db",
        "--url": "--url x",
    },
    "survey receipt": {"LINK": "x 0123456789abcdef", "RECEIPT": f"{LINK} x"},
    "survey audit": {
        "URL": "x",
        "--invitation": f"{LINK} --invitation x",
        "--walks": f"{LINK} --walks 1",
        "--minutes": f"{LINK} --minutes 0",
        "--seed": f"{LINK} --seed -1",
        "--from": f"{LINK} --from 192.0.2.1",
        "--browser": f"{LINK} --browser /nowhere/chromium",
        "--output": f"{LINK} -o plan.json",
    },
    "survey estimate": {
        "ID": "zz",
        "--cross": "--cross a,a",
        "--by": "--by zz",
        "--level": "--level 2",
        "--db": "--db none.db",
    },
    "survey export": {
        "OUT": "x.doc",
        "ID": "x.csv zz",
        "--db": "x.csv --db none.db",
        "--codebook": "x.csv --codebook t.csv",
    },
    "survey report": {
        "OUT": "x.doc",
        "ID": "x.html zz",
        "--level": "x.html --level 2",
        "--db": "x.html --db none.db",
    },
    "survey backup": {"FILE": "t.csv", "--db": "x.db --db none.db"},
    "survey restore": {"FILE": "t.csv --db new.db", "--db": "t.csv"},
    "survey simulate": {
        "LINK|FILE": "x#y",
        "--respondents": "x#y --respondents 0",
        "--connections": "x#y --connections 0",
        "--seed": "x#y --seed -1",
    },
    "survey accounts list": {"--db": "--db none.db"},
    "survey accounts add": {"--role": "--role king", "--db": "--db /nowhere/s.db", "--url": "--url x"},
    "survey accounts reset": {"NAME": "nobody", "--db": "a --db none.db", "--url": "a --url x"},
    "survey accounts remove": {"NAME": "nobody", "--db": "a --db none.db"},
    "survey accounts end-sessions": {"NAME": "nobody", "--db": "a --db none.db"},
    "survey demo": {"--respondents": "--respondents 1", "--port": "--port -1", "--seed": "--seed -1"},
    "survey drill": {
        "--survey": "--survey none.yaml",
        "--db": "--db surveys.db",
        "--folder": "--folder none",
        "--respondents": "--respondents 7",
        "--only": "--only flood",
        "--seed": "--seed -1",
        "--minutes": "--minutes -1",
        "--outage": "--outage 0",
    },
}
"""What an error must name, and arguments with which it must; names that differ in spaces are further cases."""

FILES = {"source", "path", "--against", "--json"}
"""Files, which errors name by their paths."""

FREE = {"--missing"}
"""Options that take any text."""


def commands():
    """Every command with its options and arguments."""

    def walk(command, words):
        for name, part in getattr(command, "commands", {}).items():
            yield from walk(part, (*words, name))
        if not getattr(command, "commands", None) or words == ("design",):
            yield " ".join(words), command

    return dict(walk(command_line(), ()))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Tables, plans, disguised files, a graph, a draft, and a survey with reports."""
    from sottovoce.disguises.tables import disguise_file
    from sottovoce.plans.budget import new_plan
    from sottovoce.plans.plan import Plan
    from sottovoce.schemas.attribute import Attribute
    from sottovoce.schemas.item_set import ItemSet
    from sottovoce.schemas.schema import Schema
    from sottovoce.schemes import Emask
    from sottovoce.tables.plan_file import write_plan

    folder = tmp_path_factory.mktemp("options")
    people = ["yes,low", "no,low", "no,high", "no,high"] * 50
    (folder / "t.csv").write_text("\n".join(["tax,income", *people]) + "\n")
    schema = Schema([Attribute("tax", ["no", "yes"]), Attribute("income", ["low", "high"])])
    for odds, plan, reports in ((9, "plan.json", "r.csv"), (4, "other.json", "other.csv")):
        write_plan(new_plan(schema, odds=odds), folder / plan)
        disguise_file(folder / "t.csv", folder / reports, new_plan(schema, odds=odds), rng=1)
    rows = (folder / "r.csv").read_text().splitlines()
    towns = [f"{row},{town}" for row, town in zip(rows[1:], ["N", "S"] * 100, strict=True)]
    (folder / "towns.csv").write_text("\n".join([rows[0] + ",town", *towns]) + "\n")
    baskets = Schema([ItemSet("basket", ["ale", "bread", "cheese"])])
    write_plan(Plan.of(baskets, {"basket": Emask(0.9, 0.9)}), folder / "baskets.json")
    (folder / "baskets.csv").write_text("basket\n" + "ale;bread\nbread\n" * 50)
    (folder / "edges.txt").write_text("0 1\n1 2\n0 2\n")
    (folder / "broken.json").write_text("{")
    (folder / "draft.yaml").write_text(SURVEY)
    survey = survey_from_text(SURVEY)
    with closing(Store(str(folder / "surveys.db"))) as store:
        survey = store.freeze(survey)
        store.commit([Entry(survey.id, bytes([key] * 16), bytes(2)) for key in range(9)])
    return folder


@pytest.mark.parametrize(
    ("command", "name", "arguments"),
    [(command, name, arguments) for command, cases in WRONG.items() for name, arguments in cases.items()],
)
def test_errors_name_options_as_they_are_written(run, folder, monkeypatch, command, name, arguments):
    monkeypatch.chdir(folder)
    always = () if arguments.startswith("broken") else COMMANDS[command]
    code, _, err = run(*command.split(), *always, *arguments.split())
    assert code == 2
    said = " ".join(err.split())
    assert said.startswith(f"error: {name.strip()} ") or f"Invalid value for '{name}'" in said, said


@pytest.mark.parametrize("name", commands())
def test_every_option_that_can_be_wrong_is_tried(name):
    tried = " ".join(WRONG[name])
    for parameter in commands()[name].params:
        written = max(parameter.opts, key=len)
        can_be_wrong = not getattr(parameter, "is_flag", False) and written not in FILES | FREE
        if can_be_wrong and written.startswith("--"):
            assert written in tried


@pytest.mark.parametrize("name", commands())
def test_every_command_has_json(name):
    assert "--json" in [option for parameter in commands()[name].params for option in parameter.opts]


def test_one_vocabulary():
    options = {option for command in commands().values() for each in command.params for option in each.opts}
    assert not options & {"--confidence", "--rng", "--gamma", "--target-attribute", "--recall"}


def test_measures_are_written_with_hyphens_from_the_librarys_lists(run):
    shown = {name: "".join(run(name, "--help")[1].split()) for name in ("compare", "estimate")}
    missing = [name for name in NAMES if written_name(name) not in shown["compare"]]
    assert missing == ["chi_squared_error", "mutual_information_error", "correlation_error"]  # of two attributes
    assert [name for name in NAMED_FUNCTIONALS if written_name(name) not in shown["estimate"]] == []


def test_errors_that_are_about_no_option_stay_as_they_are():
    @option_errors(kind="level", level=None)
    def command(level: float) -> None:
        raise SottovoceError(("level", "kind", "levels")[int(level)], "must differ", level)

    for number, name in enumerate(("level", "--level", "levels")):
        with pytest.raises(SottovoceError, match=f"^{name} must differ") as refused:
            command(number)
        assert refused.value.parameter == name
