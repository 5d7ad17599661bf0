"""Checks of arguments that every room shares, and the types they are stated in.

Each check returns the value in plain Python, so that numpy's numbers work wherever Python's do, or raises a
`SottovoceError` that names the parameter, the rule and the value.
"""

from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import SottovoceError

Array: TypeAlias = NDArray[np.float64]

Progress: TypeAlias = Callable[[int, int | None], object]
"""Called with what is done so far and, where it is known, with how much there is to do."""

Target: TypeAlias = Literal["population", "table"]
"""What is estimated: the population that the respondents are a sample of, or the respondents themselves."""


def whole_number(parameter: str, value: Any, *, least: int = 1, most: int | None = None) -> int:
    """Return a whole number between two limits as an int.

    >>> whole_number("respondents", np.int64(20))
    20
    >>> whole_number("size", 9, most=4)
    Traceback (most recent call last):
    ...
    sottovoce.errors.SottovoceError: size must be a whole number from 1 to 4. Got 9 instead.
    """
    if not isinstance(value, bool) and isinstance(value, Integral):
        found = int(value)
        if found >= least and (most is None or found <= most):
            return found
    if most is not None:
        rule = f"must be a whole number from {least} to {most}"
    elif least > 1:
        rule = f"must be a whole number of at least {least}"
    else:
        rule = "must be a positive whole number" if least == 1 else "must be a whole number that is not negative"
    raise SottovoceError(parameter, rule, value)


def number(parameter: str, value: Any, low: float = -np.inf, high: float = np.inf, *, open_ends: bool = False) -> float:
    """Return a real number from `low` to `high`, the ends included or, with `open_ends`, excluded.

    >>> number("min_support", np.float32(0.5), 0, 1)
    0.5
    >>> number("level", 1, 0, 1, open_ends=True)
    Traceback (most recent call last):
    ...
    sottovoce.errors.SottovoceError: level must be between 0 and 1, both excluded. Got 1 instead.
    """
    if not isinstance(value, bool) and isinstance(value, Real):
        found = float(value)
        if low < found < high or (not open_ends and found in (low, high) and np.isfinite(found)):
            return found
    raise SottovoceError(parameter, f"must be {_range(low, high, open_ends=open_ends)}", value)


def level(value: Any, parameter: str = "level") -> float:
    """Return a confidence level: a number between 0 and 1, both excluded.

    >>> level(0.95)
    0.95
    """
    return number(parameter, value, 0, 1, open_ends=True)


def one_of(parameter: str, value: Any, choices: Sequence[str]) -> str:
    """Return one of some named choices.

    >>> one_of("target", "sample", get_args(Target))
    Traceback (most recent call last):
    ...
    sottovoce.errors.SottovoceError: target must be one of population, table. Got 'sample' instead.
    """
    if isinstance(value, str) and value in choices:
        return value
    raise SottovoceError(parameter, f"must be one of {', '.join(choices)}", value)


def target(value: Any) -> Target:
    """Return what is estimated, "population" or "table"."""
    found: Target = "table" if one_of("target", value, get_args(Target)) == "table" else "population"
    return found


def _range(low: float, high: float, *, open_ends: bool) -> str:
    if np.isfinite(low) and np.isfinite(high):
        return f"between {low:g} and {high:g}, both excluded" if open_ends else f"from {low:g} to {high:g}"
    if np.isfinite(low):
        return f"a number above {low:g}" if open_ends else f"a number of at least {low:g}"
    return "a finite number"
