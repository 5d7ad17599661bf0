"""`sottovoce mine classify`: a classifier from a disguised file, tested on another."""

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from sottovoce.cli.output import FileArgument, JsonOption, emit, names, progress_bars, say, table

if TYPE_CHECKING:
    from sottovoce.mining.classify.decision_tree import DecisionTree
    from sottovoce.mining.classify.naive_bayes import NaiveBayes
    from sottovoce.mining.classify.question import Repair
    from sottovoce.mining.classify.scoring import Scores

MODELS = ("naive-bayes", "tree")


def classify(
    path: FileArgument,
    target: Annotated[str, typer.Option(help="Attribute to predict.")],
    test: Annotated[str | None, typer.Option(metavar="FILE2", help="Disguised file to test on.")] = None,
    plan: Annotated[str | None, typer.Option(help="Plan, if the files do not carry it.")] = None,
    attributes: Annotated[str | None, typer.Option(help="Predict from these attributes only: a,b.")] = None,
    model: Annotated[str, typer.Option(help="naive-bayes or tree.")] = "naive-bayes",
    repair: Annotated[str, typer.Option(help="em, simplex or plain: estimates outside the simplex.")] = "em",
    smoothing: Annotated[float, typer.Option(help="Records added to each value.")] = 1.0,
    level: Annotated[float, typer.Option(help="Level at which a tree's split is no noise.")] = 0.05,
    widest: Annotated[float, typer.Option(help="Widest interval of a score that is shown.")] = 0.5,
    plot: Annotated[str | None, typer.Option(metavar="FILE", help="Draw the confusion matrix: .png, .svg ...")] = None,
    json: JsonOption = None,
) -> None:
    """Learn a classifier from disguised records, and test it on disguised ones."""
    from sottovoce.errors import SottovoceError
    from sottovoce.mining.classify.decision_tree import DecisionTree
    from sottovoce.mining.classify.naive_bayes import NaiveBayes
    from sottovoce.mining.classify.scoring import score_disguised
    from sottovoce.tables.figures import save_figure
    from sottovoce.tables.plan_file import carries_plan, plan_of_reports
    from sottovoce.tables.source import WatchedSource

    if model not in MODELS:
        raise SottovoceError("model", f"must be one of {', '.join(MODELS)}", model)
    if plot is not None and test is None:
        raise SottovoceError("plot", "must come with a file to test on", plot)
    agreed, wanted = plan_of_reports(path, plan), names(attributes) or None
    learner: NaiveBayes | DecisionTree
    if model == "tree":
        learner = DecisionTree(agreed, target, attributes=wanted, level=level)
    else:
        chosen = cast("Repair", repair)  # checked when it is fitted
        learner = NaiveBayes(agreed, target, attributes=wanted, repair=chosen, smoothing=smoothing)
    with progress_bars() as move:
        learner.fit(WatchedSource(path, partial(move, "learning")))
        scores = None
        if test is not None:
            other = plan_of_reports(test, None if carries_plan(test) else plan or path)
            scores = score_disguised(learner, WatchedSource(test, partial(move, "testing")), other, widest=widest)
    document = _document(learner, target, model, scores)
    emit(document, json)
    if plot is not None and scores is not None:
        save_figure(scores.plot(), plot)
    if json != "-":
        _show(learner, document, scores)


def _document(learner: "NaiveBayes | DecisionTree", target: str, model: str, scores: "Scores | None") -> dict[str, Any]:
    from sottovoce.mining.classify.naive_bayes import NaiveBayes

    promise = learner.plan_.guarantee
    document: dict[str, Any] = {
        "model": model,
        "target": target,
        "classes": learner.classes_.tolist(),
        "odds": promise.exact,
        "guarantee": str(promise),
    }
    if isinstance(learner, NaiveBayes):
        document |= {"respondents": learner.respondents_, "tables": learner.to_rows()}
        document["privacy"] = _privacy(learner, target)
    else:
        document["tree"] = learner.to_json()
    return document | {"test": None if scores is None else scores.to_json()}


def _privacy(learner: "NaiveBayes", target: str) -> dict[str, Any] | None:
    """What is left private of each entry; None where one report speaks of several together."""
    from sottovoce.mining.classify.mined_privacy import divisible, mined_privacy

    names = [*learner.feature_names_in_, target]
    return mined_privacy(learner).to_json() if divisible(learner.plan_, names) else None


def _show(learner: "NaiveBayes | DecisionTree", document: dict[str, Any], scores: "Scores | None") -> None:
    """Tables for people."""
    say(f"{document['target']} by {document['model']}; whole record: {document['guarantee']}")
    if "tables" in document:
        rows = [
            (row["attribute"], str(row["value"]), *(f"{share:.4f}" for share in row["shares"]))
            for row in document["tables"]
        ]
        table(("attribute", "value", *map(str, document["classes"])), rows)
        if (privacy := document["privacy"]) is not None:
            say(f"Least privacy of an entry: {privacy['before']:.4f} before mining, {privacy['after']:.4f} after.")
    else:
        say(str(learner))
    if scores is not None:
        say(str(scores))
