"""Attributes: how many codes their columns have, and how those of reports are named."""

from collections.abc import Sequence
from math import prod
from typing import Any

from conformance.client.rules import Json, require

NAMES = {"categories": "categories", "bins": "labels", "items": "items"}
"""Where each kind of attribute keeps its labels."""


def labels(attribute: Json) -> list[Any]:
    """Labels of an attribute's codes, or of its items."""
    kind, missing = attribute["kind"], attribute.get("missing")
    require(kind in NAMES, f"unknown kind of attribute {kind!r}")
    found = list(attribute[NAMES[kind]])
    require(kind != "categories" or missing is None or missing in found, "missing is no category")
    return [*found, missing] if kind == "bins" and missing is not None else found


def sizes(attribute: Json) -> list[int]:
    """Number of codes of each column that an attribute becomes.

    >>> sizes({"kind": "items", "name": "symptoms", "items": ["cough", "fever", "rash"]})
    [2, 2, 2]
    """
    found, items = labels(attribute), attribute["kind"] == "items"
    require(isinstance(attribute["name"], str) and attribute["name"], "no name")
    require({type(label) for label in found} in ({str}, {int}, {bool}), "labels of several kinds, or of another")
    require(len(set(found)) == len(found) >= (1 if items else 2), "labels that do not differ, or are too few")
    require(not items or not any(";" in as_text(label) for label in found), "an item with a separator in it")
    return [2] * len(found) if items else [len(found)]


def as_text(label: Any) -> str:
    """A label where it must be text: True and False with a capital, integers in decimal digits."""
    return str(label)


def categories(attribute: Json) -> list[Any]:
    """Labels of an attribute that is no set of items."""
    require(attribute["kind"] != "items", f"{attribute['name']} must not be a set of items")
    return labels(attribute)


def as_report(attribute: Json) -> Json:
    """Attribute of reports that look like truths: bins have become categories, and nothing is missing."""
    return attribute if attribute["kind"] == "items" else category(attribute["name"], labels(attribute))


def category(name: str, of: Sequence[Any]) -> Json:
    """Attribute with these categories."""
    return {"kind": "categories", "name": name, "categories": list(of)}


def item_set(name: str, of: Sequence[Any]) -> Json:
    """Attribute that is a set of these items."""
    return {"kind": "items", "name": name, "items": list(of)}


def joined(attributes: Sequence[Json]) -> str:
    """Name of a report of several attributes that stands in one place."""
    return "+".join(attribute["name"] for attribute in attributes)


def cells(sizes: Sequence[int]) -> int:
    """Number of joint cells, where they are numbered."""
    require(prod(sizes) < 2**63, "more joint cells than can be numbered")
    return prod(sizes)


def number(codes: Sequence[int], sizes: Sequence[int]) -> int:
    """Number of a joint cell, the last column varying fastest.

    >>> number([1, 2], [2, 3]), split(5, [2, 3])
    (5, [1, 2])
    """
    joint = 0
    for code, size in zip(codes, sizes, strict=True):
        joint = joint * size + code
    return joint


def split(joint: int, sizes: Sequence[int]) -> list[int]:
    """Codes of a joint cell."""
    codes: list[int] = []
    for size in reversed(sizes):
        joint, code = divmod(joint, size)
        codes.insert(0, code)
    return codes
