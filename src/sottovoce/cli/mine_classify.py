"""`sottovoce mine classify`: train a classifier on a disguised file, and test it on another."""

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from sottovoce.cli.options import JsonOption, ReportsArgument, option_errors, split_names
from sottovoce.cli.output import print_table, progress_bars, say, write_json
from sottovoce.cli.tally import reports_in
from sottovoce.errors import SottovoceError, renamed_parameters

if TYPE_CHECKING:
    from sottovoce.mining.classify.decision_tree import DecisionTree
    from sottovoce.mining.classify.joint_table import Repair
    from sottovoce.mining.classify.naive_bayes import NaiveBayes
    from sottovoce.mining.classify.scoring import Scores

MODELS = ("naive-bayes", "tree")


@option_errors(name="attributes", table="path")
def classify(
    path: ReportsArgument,
    label: Annotated[str, typer.Option(help="Attribute to predict.")],
    test: Annotated[str | None, typer.Option(metavar="FILE2", help="Disguised file to test on.")] = None,
    plan: Annotated[str | None, typer.Option(metavar="PLAN", help="Plan, if the files do not carry it.")] = None,
    attributes: Annotated[
        str | None, typer.Option(metavar="A,B,...", help="Attributes to predict from; all others if not given.")
    ] = None,
    model: Annotated[str, typer.Option(help="naive-bayes or tree.")] = "naive-bayes",
    repair: Annotated[str, typer.Option(help="em, simplex or plain: what to do about negative estimates.")] = "em",
    smoothing: Annotated[float, typer.Option(help="Number of records added to each category.")] = 1.0,
    significance: Annotated[float, typer.Option(help="Significance level of a tree's splits.")] = 0.05,
    widest: Annotated[float, typer.Option(help="Scores with wider intervals are not shown.")] = 0.5,
    plot: Annotated[
        str | None, typer.Option(metavar="FILE", help="Plot the confusion matrix: .png, .svg or .pdf.")
    ] = None,
    json: JsonOption = None,
) -> None:
    """Train a classifier on disguised records, and test it on disguised records."""
    from sottovoce.checks import one_of
    from sottovoce.counts.counter import as_counter
    from sottovoce.counts.tally_document import is_tally
    from sottovoce.mining.classify.decision_tree import DecisionTree
    from sottovoce.mining.classify.naive_bayes import NaiveBayes
    from sottovoce.mining.classify.scoring import score_disguised
    from sottovoce.tables.figures import save_figure
    from sottovoce.tables.plan_file import carries_plan, plan_of_reports
    from sottovoce.tables.source import ProgressSource

    one_of("model", model, MODELS)
    if plot is not None and test is None:
        raise SottovoceError("plot", "must come with --test", plot)
    if test is not None and is_tally(test):
        raise SottovoceError("test", "must be a disguised file; tallies can be trained on only", test)
    classifier: NaiveBayes | DecisionTree
    with progress_bars() as move:
        training = partial(ProgressSource, progress=partial(move, "training"))
        table, agreed, frequencies = reports_in(path, plan, training)
        features = split_names(attributes) or None
        if model == "tree":
            classifier = DecisionTree(agreed, label, attributes=features, significance=significance)
        else:
            repair_method = cast("Repair", repair)  # checked by `fit`
            classifier = NaiveBayes(agreed, label, attributes=features, repair=repair_method, smoothing=smoothing)
        classifier.fit(table if frequencies is None else as_counter(table, frequencies))
        scores = None
        if test is not None:
            other = plan_of_reports(test) if carries_plan(test) else agreed
            with renamed_parameters({"plan": "test"}):
                source = ProgressSource(test, partial(move, "testing"))
                scores = score_disguised(classifier, source, other, widest=widest)
    document = _document(classifier, label, model, scores)
    write_json(document, json)
    if plot is not None and scores is not None:
        save_figure(scores.plot(), plot)
    if json != "-":
        _show(classifier, document, scores)


def _document(
    classifier: "NaiveBayes | DecisionTree", label: str, model: str, scores: "Scores | None"
) -> dict[str, Any]:
    from sottovoce.mining.classify.naive_bayes import NaiveBayes

    promise = classifier.plan_.guarantee
    document: dict[str, Any] = {
        "model": model,
        "label": label,
        "classes": classifier.classes_.tolist(),
        "odds": promise.exact,
        "guarantee": str(promise),
    }
    if isinstance(classifier, NaiveBayes):
        document |= {"respondents": classifier.respondents_, "tables": classifier.to_rows()}
        document["privacy"] = _privacy(classifier, label)
    else:
        document["tree"] = classifier.to_json()
    return document | {"test": None if scores is None else scores.to_json()}


def _privacy(classifier: "NaiveBayes", label: str) -> dict[str, Any] | None:
    """Return the privacy of the entries; None if one report is about several attributes jointly."""
    from sottovoce.mining.classify.mined_privacy import divisible, mined_privacy

    names = [*classifier.feature_names_in_, label]
    return mined_privacy(classifier).to_json() if divisible(classifier.plan_, names) else None


def _show(classifier: "NaiveBayes | DecisionTree", document: dict[str, Any], scores: "Scores | None") -> None:
    say(f"{document['label']} by {document['model']}; whole record: {document['guarantee']}")
    if "tables" in document:
        rows = [
            (row["attribute"], str(row["value"]), *(f"{share:.4f}" for share in row["shares"]))
            for row in document["tables"]
        ]
        print_table(("attribute", "value", *map(str, document["classes"])), rows)
        if (privacy := document["privacy"]) is not None:
            say(f"Least privacy of an entry: {privacy['before']:.4f} before mining, {privacy['after']:.4f} after.")
    else:
        say(str(classifier))
    if scores is not None:
        say(str(scores))
