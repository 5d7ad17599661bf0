"""Six attributes of Adult that depend on each other: who lives with whom, and on what."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.schema.attribute import Attribute
from sottovoce.schema.schema import Schema
from sottovoce.table.datasets.tables import Columns, adult

APART = "Married-spouse-absent", "Separated", "Divorced"
MARITAL = {"Married-AF-spouse": "Married-civ-spouse"} | dict.fromkeys(APART, "Apart")
EDUCATION = ("8 or less", "9", "10 to 12", "13", "more")
KINDS = {
    "Professional": ("Exec-managerial", "Prof-specialty"),
    "Office": ("Tech-support", "Adm-clerical", "Sales"),
    "Manual": ("Craft-repair", "Machine-op-inspct", "Transport-moving", "Handlers-cleaners", "Farming-fishing"),
    "Service": ("Other-service", "Priv-house-serv", "Protective-serv", "Armed-Forces"),
}
WORK = {work: kind for kind, works in KINDS.items() for work in works}
LABELS: dict[str, tuple[str, ...]] = {
    "marital-status": ("Married-civ-spouse", "Apart", "Never-married", "Widowed"),
    "relationship": ("Husband", "Wife", "Own-child", "Not-in-family", "Unmarried"),
    "education": EDUCATION,
    "occupation": (*KINDS, "?"),
    "sex": ("Female", "Male"),
    "income": ("<=50K", ">50K"),
}


def households() -> tuple[Schema, Columns]:
    """48,842 people and 2,000 joint cells, as many as CENSUS has, but strongly dependent.

    Marital status has its three kinds of living apart as one, relationship other relatives among the unmarried;
    education is by years (8 or less, 9, 10 to 12, 13, more), occupation by kind of work.
    """
    table = adult()
    columns = {
        "marital-status": _merged(table["marital-status"], MARITAL),
        "relationship": _merged(table["relationship"], {"Other-relative": "Unmarried"}),
        "education": np.array(EDUCATION, object)[np.digitize(table["education-num"], [9, 10, 13, 14])],
        "occupation": _merged(table["occupation"], WORK),
        "sex": table["sex"],
        "income": table["income"],
    }
    return Schema(Attribute(name, labels) for name, labels in LABELS.items()), columns


def _merged(values: NDArray[Any], names: dict[str, str]) -> NDArray[Any]:
    """Values, some of them under the name of a larger kind."""
    return np.array([names.get(value, value) for value in values], object)
