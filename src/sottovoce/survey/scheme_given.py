"""Schemes as authors of a definition write them: a name, or a name and parameters."""

from collections.abc import Mapping
from fractions import Fraction
from inspect import signature
from typing import Any

from sottovoce.errors import SottovoceError
from sottovoce.scheme.scheme import Scheme, schemes
from sottovoce.survey.located import Located, whole_number


def finished_scheme(given: Located) -> Scheme | None:
    """Scheme that needs no share of the budget any more; None if it waits for its odds."""
    name, parameters = _named(given)
    if not _takes_odds(name) or "odds" in parameters:
        return _made(given, name, parameters)
    try:
        return schemes()[name](**parameters)
    except (SottovoceError, TypeError):
        return None  # with its share of the odds it may be complete; if not, that error will say why


def scheme_with_odds(given: Located, odds: Fraction) -> Scheme:
    """Scheme with the odds that its question has."""
    name, parameters = _named(given)
    if not _takes_odds(name) or "odds" in parameters:
        given.fail(f"must not stand beside odds or epsilon: those of {name} follow from its parameters")
    return _made(given, name, parameters | {"odds": odds})


def _takes_odds(name: str) -> bool:
    return "odds" in signature(schemes()[name]).parameters


def _made(given: Located, name: str, parameters: Mapping[str, Any]) -> Scheme:
    try:
        return schemes()[name](**parameters)
    except SottovoceError as reason:
        given.fail(f"{name}: {reason.parameter} {reason.rule}", reason.value)
    except TypeError:
        known = ", ".join(signature(schemes()[name]).parameters)
        given.fail(f"must have the parameters of {name}, which are {known}")


def _named(given: Located) -> tuple[str, dict[str, Any]]:
    """Name and parameters of a scheme: a word, or a mapping with `name`."""
    if isinstance(given.value, dict):
        fields = given.mapping()
        if "name" not in fields:
            given.fail("must have a name")
        parameters = {key: _number(part.plain) for key, part in fields.items() if key != "name"}
        return fields["name"].choice(sorted(schemes())), parameters
    return given.choice(sorted(schemes())), {}


def _number(plain: Any) -> Any:
    """Whole numbers as such; other numbers stay text, which schemes read exactly."""
    if isinstance(plain, list):
        return [_number(part) for part in plain]
    found = whole_number(plain)
    return plain if found is None else found
