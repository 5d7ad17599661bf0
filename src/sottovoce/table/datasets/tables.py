"""Tables of categories and numbers: Adult, the thesis' CENSUS, car, Connect-4, breast cancer, cholesterol."""

import csv
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.schema.attribute import Attribute
from sottovoce.schema.binned import Binned
from sottovoce.schema.schema import Schema
from sottovoce.table.datasets.files import FILES

Columns = dict[str, NDArray[Any]]
"""A table by column, which everything that takes a frame accepts."""

_PERSON = ("age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship")
ADULT = (*_PERSON, "race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "income")
ADULT_NUMBERS = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")


def adult() -> Columns:
    """UCI's Adult, both files: 48,842 rows, the 32,561 of the training file first; "?" is a missing value."""
    train = _rows(FILES["adult.data"].text())
    test = [[cell.rstrip(".") for cell in row] for row in _rows(FILES["adult.test"].text())[1:]]
    columns = _columns(ADULT, train + test)
    return columns | {name: columns[name].astype(np.int64) for name in ADULT_NUMBERS}


def census() -> tuple[Schema, Columns]:
    """Agrawal's CENSUS (2004, Table 4.1): six attributes of Adult, 2,000 joint cells.

    Hours are closed on the left, whatever the table prints: only so the published numbers of frequent itemsets
    come out. A missing country counts as another one.
    """
    infinity = float("inf")
    thousands = [0, 1e5, 2e5, 3e5, 4e5, infinity]
    schema = Schema(
        [
            Binned("age", [15, 35, 55, 75, infinity], closed="right"),
            Binned("fnlwgt", thousands, closed="right"),
            Binned("hours-per-week", [0, 20, 40, 60, 80, infinity], closed="left"),
            Attribute("race", ["White", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other", "Black"]),
            Attribute("sex", ["Female", "Male"]),
            Attribute("native-country", ["United-States", "Other"]),
        ]
    )
    table = adult()
    country = np.where(table["native-country"] == "United-States", "United-States", "Other")
    return schema, {name: table[name] for name in schema.names} | {"native-country": country}


def health_stand_in() -> tuple[Schema, Columns]:
    """In place of Agrawal's HEALTH (2004, Table 4.2; NHIS 1993, not to be had): seven attributes of the NHIS of 2009.

    80,634 people. Age, sex, family income and health are as there, income cut at $35,000 for $20,000; bed days,
    doctor visits and telephones are not in it. Family size, race and work, of 5, 5 and 3 categories, stand in
    for them, so that there are 7,500 joint cells as there.
    """
    infinity = float("inf")
    rows = _rows(FILES["nhis-2009"].text())
    table = _columns(rows[0], rows[1:])
    work = {"0": "not asked", "11": "works", "12": "works"}
    schema = Schema(
        [
            Binned("age", [0, 20, 40, 60, 80, infinity], closed="left"),
            Binned("family size", [1, 2, 3, 4, 5, infinity], closed="left"),
            Attribute("race", ["10", "20", "30", "40", "50"]),
            Attribute("work", ["works", "does not work", "not asked"]),
            Attribute("sex", ["1", "2"]),
            Attribute("income", ["below $35,000", "$35,000 or more"]),
            Attribute("health", ["1", "2", "3", "4", "5"]),
        ]
    )
    columns = {
        "age": table["age"].astype(np.int64),
        "family size": table["famsize"].astype(np.int64),
        "race": table["racenew"],
        "work": np.array([work.get(code, "does not work") for code in table["empstat"]], object),
        "sex": table["sex"],
        "income": np.where(table["incfam07on"] == "1", "below $35,000", "$35,000 or more"),
        "health": table["health"],
    }
    return schema, columns


def car() -> Columns:
    """UCI's Car Evaluation: 1,728 cars, six attributes and their acceptability."""
    names = ["buying", "maint", "doors", "persons", "lug_boot", "safety", "class"]
    return _columns(names, _rows(FILES["car"].text()))


def connect_4() -> Columns:
    """UCI's Connect-4: 67,557 positions of 42 squares (a1, a2, ..., g6), and who wins."""
    names = [f"{file}{rank}" for file in "abcdefg" for rank in range(1, 7)]
    return _columns([*names, "outcome"], _rows(FILES["connect-4"].text()))


def breast_cancer_wisconsin() -> Columns:
    """Wisconsin's breast cancers: 699 samples, nine grades from 1 to 10 ("?" where missing), class 2 or 4."""
    grades = ("clump-thickness", "cell-size", "cell-shape", "adhesion", "epithelial-size", "bare-nuclei")
    names = ("id", *grades, "chromatin", "nucleoli", "mitoses", "class")
    return _columns(names, _rows(FILES["breast-cancer-wisconsin"].text()))


def breast_cancer_ljubljana() -> Columns:
    """Ljubljana's breast cancers: 286 patients, nine categorical attributes, and whether it came back."""
    about = ("age", "menopause", "tumor-size", "inv-nodes", "node-caps", "deg-malig", "breast", "breast-quad")
    return _columns(("class", *about, "irradiat"), _rows(FILES["breast-cancer-ljubljana"].text()))


def cholesterol() -> tuple[Schema, Columns]:
    """248 patients of the diabetes study of Efron et al. (2004): LDL in six levels, total cholesterol in three.

    The first 248 rows, cut at the bounds of the Adult Treatment Panel III (70 for those at very high risk). They
    stand in for as many patients of Wang, Wu & Hu (2016), which are private.
    """
    infinity = float("inf")
    schema = Schema(
        [
            Binned("ldl", [0, 70, 100, 130, 160, 190, infinity], closed="left"),
            Binned("total", [0, 200, 240, infinity], closed="left"),
        ]
    )
    header, *rows = _rows(FILES["diabetes"].text())
    table = _columns(header, rows[:248])
    return schema, {"ldl": table["s2"].astype(np.float64), "total": table["s1"].astype(np.float64)}


def _rows(text: str) -> list[list[str]]:
    return [[cell.strip() for cell in row] for row in csv.reader(text.splitlines()) if row]


def _columns(names: Sequence[str], rows: list[list[str]]) -> Columns:
    return {name: np.array(column, object) for name, column in zip(names, zip(*rows, strict=True), strict=True)}
