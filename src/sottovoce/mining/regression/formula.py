"""Design matrices of a formula: one of the clear predictors for each value that the disguised ones may have."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from sottovoce.checks import Array
from sottovoce.errors import SottovoceError, Words, check_installed
from sottovoce.schemas.attribute import Label

INTERCEPT = "Intercept"

COLLINEAR = 1e-10
"""Smallest eigenvalue of the correlations of columns, below which one is taken for a sum of the others."""

Values = Mapping[str, tuple[Label, ...]]
"""Disguised predictors and the values that they may have."""


@dataclass(frozen=True)
class Formula:
    """A formula as formulaic reads it: an outcome, and terms of predictors.

    >>> formula = read_formula("evaded ~ age + C(region)")
    >>> formula.outcome, formula.predictors
    ('evaded', ('age', 'region'))
    """

    text: str
    outcome: str
    predictors: tuple[str, ...]
    right: Any


def read_formula(text: str, parameter: str = "formula") -> Formula:
    """Read a formula with one outcome; names with spaces are written in backticks."""
    check_installed("a formula", "regress", "formulaic")
    from formulaic import Formula as Parsed
    from formulaic.errors import FormulaicError

    if not isinstance(text, str) or not text.strip():
        raise SottovoceError(parameter, 'must be a formula such as "outcome ~ age + C(region)"', text)
    try:
        parsed = Parsed(text)
        left, right = getattr(parsed, "lhs", None), getattr(parsed, "rhs", None)
        outcomes = [] if left is None else [str(term).strip("`") for term in left]
        used = outcomes if left is None else sorted(map(str, left.required_variables))
        predictors = () if right is None else tuple(sorted(map(str, right.required_variables)))
    except (FormulaicError, SyntaxError) as reason:
        rule = f"must be a formula such as 'outcome ~ age + C(region)' ({str(reason).splitlines()[0]})"
        raise SottovoceError(parameter, rule, text) from None
    if len(outcomes) != 1 or outcomes != used:
        rule = "must have one column to the left of ~, the outcome as it is; names with spaces are written in backticks"
        raise SottovoceError(parameter, rule, text)
    if outcomes[0] in predictors:
        raise SottovoceError(parameter, "must not have its outcome among its predictors", text)
    return Formula(text, outcomes[0], predictors, right)


@dataclass(frozen=True)
class Designs:
    """Design matrices, one for each combination of values of the disguised predictors, and what their columns are.

    `cells` are these combinations; there is one, which is empty, if all predictors are clear.
    """

    columns: tuple[str, ...]
    matrices: tuple[Array, ...]
    cells: tuple[tuple[Label, ...], ...]
    spec: Any
    disguised: Values

    def new(self, frame: Any) -> Array:
        """Return the design of other people: a frame or mapping with all predictors, disguised ones by their truth."""
        from formulaic.errors import FormulaicError
        from pandas import DataFrame

        table = DataFrame(frame).reset_index(drop=True)
        codes = {}
        for name, values in self.disguised.items():
            if name in table:
                known = {value: number for number, value in enumerate(values)}
                listed = [known.get(value, -1) for value in table[name].tolist()]
                if -1 in listed:
                    rule = f"must have values of {name} that the plan knows ({', '.join(map(str, values))})"
                    raise SottovoceError("frame", rule, table[name].tolist()[listed.index(-1)])
                codes[name] = np.asarray(listed)
        try:
            matrix = self.spec.get_model_matrix(_with(table, self.disguised, codes))
        except (FormulaicError, KeyError) as reason:
            raise SottovoceError("frame", f"must have all predictors ({reason})", Words(", ".join(table))) from None
        kept = [list(self.spec.column_names).index(name) for name in self.columns]
        return np.asarray(matrix, dtype=np.float64)[:, kept]

    def without_intercept(self) -> "Designs":
        """Leave out the intercept, for models that have thresholds instead."""
        if INTERCEPT not in self.columns:
            return self
        kept = [number for number, name in enumerate(self.columns) if name != INTERCEPT]
        names = tuple(self.columns[number] for number in kept)
        return Designs(names, tuple(matrix[:, kept] for matrix in self.matrices), self.cells, self.spec, self.disguised)


def design_matrices(formula: Formula, frame: Any, disguised: Values) -> Designs:
    """Return the designs of a pandas frame of clear predictors, without missing values.

    Levels of categories and means of standardised columns are those of the whole frame; disguised predictors have all
    of their values in it.
    """
    from formulaic.errors import FormulaicError

    cells = tuple(product(*disguised.values()))
    try:
        every = {name: np.arange(len(frame)) % len(values) for name, values in disguised.items()}
        spec = formula.right.get_model_matrix(_with(frame, disguised, every)).model_spec
        matrices = tuple(_matrix(spec, frame, disguised, cell) for cell in cells)
    except FormulaicError as reason:
        rule = f"must have a design matrix ({str(reason).splitlines()[0]})"
        raise SottovoceError("formula", rule, formula.text) from None
    names = tuple(map(str, spec.column_names))
    check_rank(formula.text, names, matrices)
    return Designs(names, matrices, cells, spec, disguised)


def _matrix(spec: Any, frame: Any, disguised: Values, cell: Sequence[Label]) -> Array:
    """Design of everyone, if all had the same values of the disguised predictors."""
    codes = {
        name: np.full(len(frame), values.index(value))
        for (name, values), value in zip(disguised.items(), cell, strict=True)
    }
    return np.asarray(spec.get_model_matrix(_with(frame, disguised, codes)), dtype=np.float64)


def _with(frame: Any, disguised: Values, codes: Mapping[str, Any]) -> Any:
    return frame.assign(**{name: _column(disguised[name], found) for name, found in codes.items()})


def _column(values: tuple[Label, ...], codes: Any) -> Any:
    """A column of a disguised predictor: numbers as they are, other values as categories, all of them known."""
    from pandas import Categorical

    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        return np.asarray(values, dtype=np.float64)[codes]
    return Categorical.from_codes(codes, categories=list(values))


def check_rank(text: str, names: Sequence[str], matrices: Sequence[Array]) -> None:
    """Refuse columns that are sums of others, and say which."""
    products = sum(matrix.T @ matrix for matrix in matrices)
    scale = np.sqrt(np.maximum(np.diag(products), 1e-300))
    kept: list[int] = []
    for number in range(len(names)):
        chosen = [*kept, number]
        part = (products / np.outer(scale, scale))[np.ix_(chosen, chosen)]
        if np.linalg.eigvalsh(part)[0] < COLLINEAR:
            rule = f"must have predictors that are not sums of one another; {names[number]!r} follows from the others"
            raise SottovoceError("formula", rule, text)
        kept.append(number)
