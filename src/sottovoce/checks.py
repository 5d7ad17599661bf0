"""Argument checks and type aliases that all rooms share.

Each check returns the value as a plain Python object, so that numpy's numbers are accepted wherever Python's are, or
raises a `SottovoceError` that names the parameter, the rule and the value. Booleans do not count as numbers.
"""

from collections.abc import Callable, Iterable, Sequence
from numbers import Integral, Real
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import SottovoceError

Array: TypeAlias = NDArray[np.float64]
"""An array of floats."""

Progress: TypeAlias = Callable[[int, int | None], object]
"""Callback that is given the number of steps done so far and, where it is known, their total."""

Target: TypeAlias = Literal["population", "table"]
"""What is estimated: the population that the respondents are a sample of, or the table of respondents itself."""


def whole_number(parameter: str, value: Any, *, least: int = 1, most: int | None = None) -> int:
    """Return an integer from `least` to `most` as an int.

    >>> whole_number("respondents", np.int64(20))
    20
    >>> whole_number("size", 9, most=4)
    Traceback (most recent call last):
    ...
    sottovoce.errors.SottovoceError: size must be a whole number from 1 to 4. Got 9 instead.
    """
    if not isinstance(value, bool) and isinstance(value, Integral):
        integer = int(value)
        if integer >= least and (most is None or integer <= most):
            return integer
    if most is not None:
        rule = f"must be a whole number from {least} to {_limit(most)}"
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
        real = float(value)
        if low < real < high or (not open_ends and real in (low, high) and np.isfinite(real)):
            return real
    raise SottovoceError(parameter, f"must be {_range(low, high, open_ends=open_ends)}", value)


def level(value: Any, parameter: str = "level") -> float:
    """Return a confidence level: a number between 0 and 1, both excluded.

    >>> level(0.95)
    0.95
    """
    return number(parameter, value, 0, 1, open_ends=True)


def one_of(parameter: str, value: Any, choices: Sequence[str]) -> str:
    """Return a value that must be one of the given choices.

    >>> one_of("target", "sample", get_args(Target))
    Traceback (most recent call last):
    ...
    sottovoce.errors.SottovoceError: target must be one of population, table. Got 'sample' instead.
    """
    if isinstance(value, str) and value in choices:
        return value
    raise SottovoceError(parameter, f"must be one of {', '.join(choices)}", value)


def names(parameter: str, value: Any, known: Sequence[str] | None = None) -> list[str]:
    """Return one name, or several, as a list; `known` are those that there are.

    >>> names("by", "region"), names("names", ("tax", "drug"))
    (['region'], ['tax', 'drug'])
    >>> names("names", ["tax", "taxes"], known=["tax", "drug"])
    Traceback (most recent call last):
    ...
    sottovoce.errors.SottovoceError: names must be among tax, drug. Got 'taxes' instead.
    """
    listed = [value] if isinstance(value, str) else list(value) if isinstance(value, Iterable) else []
    if not listed or not all(isinstance(name, str) for name in listed):
        raise SottovoceError(parameter, "must be a name, or a list of names", value)
    unknown = [name for name in listed if known is not None and name not in known]
    if unknown:
        raise SottovoceError(parameter, f"must be among {', '.join(known or ())}", unknown[0])
    return listed


def target(value: Any) -> Target:
    """Return the target of an estimate, "population" or "table"."""
    return "table" if one_of("target", value, get_args(Target)) == "table" else "population"


def _limit(most: int) -> str:
    """Write a limit in digits, or as a power of two where it is a large one.

    >>> _limit(100), _limit(2**64)
    ('100', '2^64')
    """
    large_power = most >= 2**32 and most & (most - 1) == 0
    return f"2^{most.bit_length() - 1}" if large_power else str(most)


def _range(low: float, high: float, *, open_ends: bool) -> str:
    if np.isfinite(low) and np.isfinite(high):
        return f"between {low:g} and {high:g}, both excluded" if open_ends else f"from {low:g} to {high:g}"
    if np.isfinite(low):
        return f"a number above {low:g}" if open_ends else f"a number of at least {low:g}"
    return "a finite number"
