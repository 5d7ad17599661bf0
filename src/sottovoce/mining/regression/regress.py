"""Regression of a disguised or clear outcome on disguised and clear predictors, by maximum likelihood."""

from collections.abc import Sequence
from typing import Any, Literal, TypedDict, get_args

import numpy as np

from sottovoce.channels.channel import LARGEST_DENSE
from sottovoce.checks import Array, one_of
from sottovoce.errors import SottovoceError, Words
from sottovoce.mining.regression.families import LINKS, Binary, Family, Gaussian, Multinomial, Ordinal, Poisson
from sottovoce.mining.regression.formula import Designs, Formula, design_matrices, read_formula
from sottovoce.mining.regression.likelihood import Problem, maximise
from sottovoce.mining.regression.respondents import Column, DisguisedTable, Respondents, read_respondents
from sottovoce.mining.regression.result import Information, Regression, sample_covariance

FamilyName = Literal["auto", "binary", "multinomial", "ordinal", "linear", "poisson"]
LinkName = Literal["logit", "probit", "cloglog", "cauchit"]

MOST_CELLS = 4096
"""Most combinations of the outcome's and the disguised predictors' values."""


class RegressOptions(TypedDict, total=False):
    """Further arguments of `Reports.regress`."""

    family: FamilyName
    link: LinkName
    weights: Column
    clusters: Column
    strata: Column
    information: Information


def regress(
    reports: DisguisedTable,
    formula: str,
    *,
    family: FamilyName = "auto",
    link: LinkName = "logit",
    weights: Column = None,
    clusters: Column = None,
    strata: Column = None,
    information: Information = "observed",
) -> Regression:
    """Explain an outcome by predictors, any of which may be disguised, by maximum likelihood.

    The `formula` is one of formulaic, such as "evaded ~ age + C(region) * income". Outcomes with categories have the
    `family` "binary", "multinomial" or "ordinal", clear numbers "linear" or "poisson"; "auto" takes what fits,
    for numbers "linear". The `link` is "logit", "probit", "cloglog" or "cauchit".

    `weights`, `clusters` and `strata` describe the sample: columns, or a value for each row. Standard errors come from
    the "observed" or "expected" `information`, and from the variance of the scores where the sample is described.

    Disguised predictors are assumed to depend on the clear ones by a multinomial model, which is estimated as well.

    >>> from sottovoce.reports.reports import Reports
    >>> from sottovoce.plans.plan import Plan
    >>> from sottovoce.schemas.attribute import boolean
    >>> from sottovoce.schemas.schema import Schema
    >>> from sottovoce.schemes.forced_response import ForcedResponse
    >>> plan = Plan.of(Schema([boolean("bribe")]), {"bribe": ForcedResponse("2/3", "1/6")})
    >>> table = {"bribe": [True, False] * 2, "town": ["Ulm"] * 2 + ["Bonn"] * 2, "times": [480, 720, 351, 884]}
    >>> print(regress(Reports(table, plan, frequencies="times"), "bribe ~ town"))
    bribe ~ town: 2435 reports, binary, standard errors by observed information
      name         estimate  standard_error  low     high    p_value
      Intercept    -1.542    0.1326          -1.801  -1.282  2.948e-31
      town[T.Ulm]  0.9225    0.1621          0.6048  1.24    1.257e-08
      log-likelihood -1544.7684
    """
    one_of("family", family, get_args(FamilyName))
    one_of("link", link, get_args(LinkName))
    one_of("information", information, get_args(Information))
    parsed = read_formula(formula)
    plan = reports.plan
    hidden = [name for name in (parsed.outcome, *parsed.predictors) if name in plan.schema.names]
    _check_columns(reports, parsed)
    others = plan.with_inseparable(hidden)[len(hidden) :] if hidden else ()
    if others:
        rule = f"must name all attributes that were disguised together; {', '.join(others)} cannot be told apart"
        raise SottovoceError("formula", rule, formula)
    view = plan.view(hidden) if hidden else None
    clear = [name for name in (parsed.outcome, *parsed.predictors) if name not in hidden]
    people = read_respondents(reports, view, clear, weights=weights, clusters=clusters, strata=strata)
    if not people.number:
        raise SottovoceError("reports", "must have rows in which all columns of the formula are known", 0)
    disguised = {name: plan.categories_of([name])[0] for name in parsed.predictors if name in hidden}
    designs = design_matrices(parsed, people.frame, disguised)
    outcome, labels = _outcome(reports, parsed, people, family)
    kind = _family(family, link, parsed, labels)
    if isinstance(kind, Ordinal):
        designs = designs.without_intercept()
    problem = _problem(view, parsed, people, designs, kind, outcome)
    start = _start(problem)
    fit = maximise(problem, start)
    columns = kind.names(designs.columns, [str(label) for label in labels])
    return Regression(
        formula=formula,
        family=kind,
        labels=tuple(labels),
        names=tuple(columns),
        fit=fit,
        covariance_of_all=sample_covariance(fit, people, information),
        respondents=people,
        designs=designs,
        disguised=tuple(hidden),
    )


def _check_columns(reports: DisguisedTable, formula: Formula) -> None:
    """Refuse names that are neither attributes nor clear columns of the table."""
    known = (*reports.plan.schema.names, *reports.source("regress").names)
    hidden = set(reports.plan.report_schema.names) - set(reports.plan.schema.names)
    for name in (formula.outcome, *formula.predictors):
        if name not in known or name in hidden:
            shown = dict.fromkeys(name for name in known if name not in hidden)
            rule = f"must name attributes and columns of the table ({', '.join(shown)}); {name!r} is none"
            raise SottovoceError("formula", rule, formula.text)


def _outcome(
    reports: DisguisedTable, formula: Formula, people: Respondents, family: FamilyName
) -> tuple[Array | None, Sequence[Any]]:
    """Values of a clear outcome (codes if it has categories, else numbers), and the categories, none for numbers."""
    plan, name = reports.plan, formula.outcome
    if name in plan.schema.names:
        if family in ("linear", "poisson"):
            rule = "must be binary, multinomial or ordinal for a disguised outcome, which has categories"
            raise SottovoceError("family", rule, family)
        return None, plan.categories_of([name])[0]
    values = people.frame[name]
    numeric = values.dtype.kind in "iuf"
    if family in ("linear", "poisson") or (family == "auto" and numeric and values.nunique() > 2):
        numbers = values.to_numpy(dtype=np.float64) if numeric else None
        if numbers is None or (family == "poisson" and ((numbers < 0) | (numbers != np.floor(numbers))).any()):
            wanted = "counts" if family == "poisson" else "numbers"
            raise SottovoceError("formula", f"must have an outcome of {wanted} for the family {family}", formula.text)
        return numbers, ()
    labels = sorted(values.unique(), key=lambda value: (type(value).__name__, value))
    return np.searchsorted(labels, values) if numeric else values.map({v: k for k, v in enumerate(labels)}), labels


def _family(family: FamilyName, link: LinkName, formula: Formula, labels: Sequence[Any]) -> Family:
    """Model of the outcome: two categories binary, several multinomial, numbers linear, unless another is named."""
    count = len(labels)
    if family == "auto":
        family = "linear" if count == 0 else "binary" if count == 2 else "multinomial"
    if count == 1:
        rule = f"must have an outcome that is not constant; {formula.outcome} is always {labels[0]}"
        raise SottovoceError("formula", rule, formula.text)
    if family == "binary" and count != 2:
        raise SottovoceError("family", f"must be multinomial or ordinal for an outcome of {count} categories", family)
    if link != "logit" and family not in ("binary", "ordinal"):
        raise SottovoceError("link", f"must be logit for the family {family}", link)
    makers: dict[str, Any] = {
        "binary": lambda: Binary(LINKS[link]),
        "multinomial": lambda: Multinomial(count),
        "ordinal": lambda: Ordinal(count, LINKS[link]),
        "linear": Gaussian,
        "poisson": Poisson,
    }
    made: Family = makers[family]()
    return made


def _problem(
    view: Any, formula: Formula, people: Respondents, designs: Designs, family: Family, outcome: Any
) -> Problem:
    """Join the channel of what is disguised with what is known of the outcome."""
    cells, kinds = len(designs.cells), family.categories
    if cells * kinds > MOST_CELLS:
        rule = f"must have at most {MOST_CELLS} combinations of disguised predictors and outcomes"
        raise SottovoceError("formula", rule, Words(f"{cells * kinds}: {formula.text}"))
    if view is None:
        table, numbers = np.ones((1, 1)), np.zeros(len(people.cells), np.int64)
    else:
        if view.channel.n_in * view.channel.n_out > LARGEST_DENSE:
            shown = Words(f"{view.channel.n_out} reports of {view.channel.n_in} truths")
            raise SottovoceError("formula", "must have fewer different reports and truths", shown)
        table, numbers = view.channel.dense()[:, view.order], people.cells
    emission: Array = table[:, :, None]
    if outcome is None:  # it varies slowest among the cells of the channel
        emission = table.reshape(-1, kinds, cells).transpose(0, 2, 1)
    elif kinds > 1:
        emission = (np.eye(kinds)[:, None, None, :] * emission).reshape(-1, cells, kinds)
        numbers = np.asarray(outcome, dtype=np.int64) * len(table) + numbers
    used, numbers = np.unique(numbers, return_inverse=True)
    weight = people.frequencies if people.weights is None else people.frequencies * people.weights
    background = None if cells == 1 else _background(designs)
    number = np.asarray(outcome, dtype=np.float64) if kinds == 1 else None
    return Problem(family, designs.matrices, numbers, np.ascontiguousarray(emission[used]), weight, background, number)


def _background(designs: Designs) -> Array:
    """Design of the disguised predictors: an intercept, and the columns that none of them changes."""
    first, *others = designs.matrices
    fixed = np.logical_and.reduce([(each == first).all(axis=0) for each in others]) & ~(first == 1).all(axis=0)
    return np.concatenate([np.ones((len(first), 1)), first[:, fixed]], axis=1)


def _start(problem: Problem) -> Array:
    """Begin without predictors, at equal shares, which every report allows."""
    family = problem.family
    shares = np.full(family.categories, 1 / family.categories)
    if problem.outcome is not None:
        mean = float(np.average(problem.outcome, weights=problem.weights))
        spread = float(np.sqrt(np.average((problem.outcome - mean) ** 2, weights=problem.weights)))
        shares = np.array([mean, spread])
    return np.concatenate([family.start(problem.designs[0], shares), np.zeros(problem.nuisances)])
