"""Published data sets: tables of categories, transactions and networks."""

import csv
from collections import deque
from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from sottovoce.checks import one_of, whole_number
from sottovoce.datasets.files import FILES
from sottovoce.schemas.attribute import Attribute
from sottovoce.schemas.binned import Binned
from sottovoce.schemas.item_set import ItemSet
from sottovoce.schemas.schema import Schema
from sottovoce.tables.bitsets import Csr

Columns = dict[str, NDArray[Any]]
"""A table as a mapping of columns."""

_PERSON = ("age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship")
ADULT = (*_PERSON, "race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "income")
ADULT_NUMBERS = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")

Cut = Literal["median", "middle"]
"""Where numbers are cut: at the sample median or the middle of the range (the paper: "median point of the range")."""

ADULT_ORDER = {
    "workclass": "Private, Self-emp-not-inc, Self-emp-inc, Federal-gov, Local-gov, State-gov, Without-pay, "
    "Never-worked",
    "education": "Bachelors, Some-college, 11th, HS-grad, Prof-school, Assoc-acdm, Assoc-voc, 9th, 7th-8th, 12th, "
    "Masters, 1st-4th, 10th, Doctorate, 5th-6th, Preschool",
    "marital-status": "Married-civ-spouse, Divorced, Never-married, Separated, Widowed, Married-spouse-absent, "
    "Married-AF-spouse",
    "occupation": "Tech-support, Craft-repair, Other-service, Sales, Exec-managerial, Prof-specialty, "
    "Handlers-cleaners, Machine-op-inspct, Adm-clerical, Farming-fishing, Transport-moving, Priv-house-serv, "
    "Protective-serv, Armed-Forces",
    "relationship": "Wife, Own-child, Husband, Not-in-family, Other-relative, Unmarried",
    "race": "White, Asian-Pac-Islander, Amer-Indian-Eskimo, Other, Black",
    "sex": "Female, Male",
    "native-country": "United-States, Cambodia, England, Puerto-Rico, Canada, Germany, Outlying-US(Guam-USVI-etc), "
    "India, Japan, Greece, South, China, Cuba, Iran, Honduras, Philippines, Italy, Poland, Jamaica, Vietnam, Mexico, "
    "Portugal, Ireland, France, Dominican-Republic, Laos, Ecuador, Taiwan, Haiti, Columbia, Hungary, Guatemala, "
    "Nicaragua, Scotland, Thailand, Yugoslavia, El-Salvador, Trinadad&Tobago, Peru, Hong, Holand-Netherlands",
}
"""Nominal values in the order of adult.names; a missing one comes last."""
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
FIRST_FRIEND, FRIENDS = 171, 185
"""Node at which the small network starts, and its number of nodes."""


def adult() -> Columns:
    """Return UCI's Adult, both files: 48,842 rows, the 32,561 of the training file first; "?" is a missing value."""
    train = _rows(FILES["adult.data"].text())
    test = [[cell.rstrip(".") for cell in row] for row in _rows(FILES["adult.test"].text())[1:]]
    columns = _columns(ADULT, train + test)
    return columns | {name: columns[name].astype(np.int64) for name in ADULT_NUMBERS}


def census() -> tuple[Schema, Columns]:
    """Return Agrawal's CENSUS (2004, Table 4.1): six attributes of Adult, 2,000 joint cells.

    Intervals of hours are closed on the left, unlike in the printed table: only so are the published numbers of
    frequent itemsets reproduced. A missing country counts as "Other".
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
    """Return seven attributes of the NHIS of 2009, for want of Agrawal's HEALTH (2004, Table 4.2; NHIS 1993).

    80,634 people. Age, sex, family income and health are as in HEALTH, with income cut at $35,000 instead of $20,000;
    family size, race and work, of 5, 5 and 3 categories, replace bed days, doctor visits and telephones, so that
    there are 7,500 joint cells, too.
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
    """Return UCI's Car Evaluation: 1,728 cars, six attributes and their acceptability."""
    names = ["buying", "maint", "doors", "persons", "lug_boot", "safety", "class"]
    return _columns(names, _rows(FILES["car"].text()))


def connect_4() -> Columns:
    """Return UCI's Connect-4: 67,557 positions of 42 squares (a1, a2, ..., g6), and who wins."""
    names = [f"{file}{rank}" for file in "abcdefg" for rank in range(1, 7)]
    return _columns([*names, "outcome"], _rows(FILES["connect-4"].text()))


def breast_cancer_wisconsin() -> Columns:
    """Return Wisconsin's breast cancers: 699 samples, nine grades from 1 to 10 ("?" where missing), class 2 or 4."""
    grades = ("clump-thickness", "cell-size", "cell-shape", "adhesion", "epithelial-size", "bare-nuclei")
    names = ("id", *grades, "chromatin", "nucleoli", "mitoses", "class")
    return _columns(names, _rows(FILES["breast-cancer-wisconsin"].text()))


def breast_cancer_ljubljana() -> Columns:
    """Return the Ljubljana breast cancer data: 286 patients, nine categorical attributes, and whether it recurred."""
    about = ("age", "menopause", "tumor-size", "inv-nodes", "node-caps", "deg-malig", "breast", "breast-quad")
    return _columns(("class", *about, "irradiat"), _rows(FILES["breast-cancer-ljubljana"].text()))


def cholesterol() -> tuple[Schema, Columns]:
    """Return 248 patients of the diabetes study of Efron et al. (2004): LDL in six levels, total cholesterol in three.

    The first 248 rows, cut at the bounds of the Adult Treatment Panel III (70 for very high risk). They
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


def binary_adult(cut: Cut = "median") -> tuple[Schema, Columns]:
    """Return all 48,842 rows of Adult: 14 attributes coded 1 above the cut, and whether income is above 50K."""
    table = adult()
    numbers: Columns = {}
    for name in ADULT[:-1]:
        if name in ADULT_NUMBERS:
            numbers[name] = table[name].astype(float)
        else:
            codes = {label: code for code, label in enumerate(ADULT_ORDER[name].split(", "))}
            numbers[name] = np.array([codes.get(label, len(codes)) for label in table[name]], float)
    return _binary(numbers, cut, "income", table["income"] == ">50K")


def binary_breast_cancer(cut: Cut = "middle") -> tuple[Schema, Columns]:
    """Return the 683 of Wisconsin's breast cancers without missing values: nine grades, 1 above the cut; the class."""
    table = breast_cancer_wisconsin()
    known = table["bare-nuclei"] != "?"
    numbers = {name: table[name][known].astype(float) for name in table if name not in ("id", "class")}
    return _binary(numbers, cut, "malignant", table["class"][known] == "4")


def _binary(numbers: Columns, cut: Cut, label: str, truth: NDArray[Any]) -> tuple[Schema, Columns]:
    one_of("cut", cut, get_args(Cut))
    columns: Columns = {}
    for name, values in numbers.items():
        edge = np.median(values) if cut == "median" else (values.min() + values.max()) / 2
        columns[name] = (values > edge).astype(np.int64)
    columns[label] = truth.astype(np.int64)
    return Schema(Attribute(name, [0, 1]) for name in columns), columns


def households() -> tuple[Schema, Columns]:
    """Return six strongly dependent attributes of Adult: 48,842 people and 2,000 joint cells, as many as CENSUS.

    Three categories of marital status are merged into "Apart", and other relatives count as unmarried;
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
    """Return the values, some of them renamed to a larger category."""
    return np.array([names.get(value, value) for value in values], object)


def bms_webview(number: int) -> tuple[ItemSet, Csr]:
    """Return clicks in a web shop (KDD Cup 2000): 59,601 sessions of 497 pages, or 77,512 of 3,340."""
    whole_number("number", number, most=2)
    return _baskets("pages", FILES[f"bms-webview-{number}"].text().replace(" -1", ""))


def t10i4d100k() -> tuple[ItemSet, Csr]:
    """Return 100,000 baskets of about ten of 870 items, made by IBM's Quest generator."""
    return _baskets("basket", FILES["t10i4d100k"].text())


def repeat_baskets(csr: Csr, times: int) -> Csr:
    """Return the baskets repeated, as the thesis of EMASK enlarges small data.

    >>> repeat_baskets((np.array([0, 2, 3]), np.array([0, 1, 1], np.int32)), 2)
    (array([0, 2, 3, 5, 6]), array([0, 1, 1, 0, 1, 1], dtype=int32))
    """
    indptr, indices = csr
    ends = [indptr[1:] + time * indptr[-1] for time in range(times)]
    return np.concatenate([indptr[:1], *ends]), np.tile(indices, times)


def chosen_items(items: ItemSet, csr: Csr, chosen: NDArray[np.bool_]) -> tuple[ItemSet, Csr]:
    """Return the chosen items, renumbered from 0, and the baskets with these items only.

    >>> chosen_items(ItemSet("basket", list("abc")), (np.array([0, 2, 3]), np.array([0, 2, 1])), np.arange(3) > 0)
    (ItemSet(name='basket', items=('b', 'c')), (array([0, 1, 2]), array([1, 0], dtype=int32)))
    """
    indptr, indices = csr
    kept = chosen[indices]
    numbers = np.cumsum(chosen, dtype=np.int32) - 1
    labels = [label for label, wanted in zip(items.items, chosen, strict=True) if wanted]
    return ItemSet(items.name, labels), (np.concatenate([[0], np.cumsum(kept)])[indptr], numbers[indices[kept]])


def _baskets(name: str, text: str) -> tuple[ItemSet, Csr]:
    """Read a basket from each line; its items, which are numbers, become indices in the sorted universe."""
    lines = [np.unique(np.array(line.split(), np.int64)) for line in text.splitlines() if line.strip()]
    universe, indices = np.unique(np.concatenate(lines), return_inverse=True)
    indptr = np.concatenate([[0], np.cumsum([len(line) for line in lines])]).astype(np.int64)
    return ItemSet(name, universe.tolist()), (indptr, indices.astype(np.int32))


def ego_facebook() -> NDArray[np.int64]:
    """Return the friendships of 4,039 people in ten circles (SNAP): 88,234 pairs of numbers, the smaller first."""
    return np.array(FILES["ego-facebook"].text().split(), np.int64).reshape(-1, 2)


def friendships() -> NDArray[np.int64]:
    """Return the 746 friendships among 185 of those people, renumbered in the order of their numbers.

    They are the first 185 nodes of a breadth-first search from 171, neighbours in order of their numbers, and stand in
    for the 185 users and 684 ties of Wang, Wu & Hu (2016), which are private.
    """
    edges = ego_facebook()
    neighbours: dict[int, list[int]] = {}
    for first, second in edges.tolist():
        neighbours.setdefault(first, []).append(second)
        neighbours.setdefault(second, []).append(first)
    reached, waiting = {FIRST_FRIEND}, deque([FIRST_FRIEND])
    while waiting and len(reached) < FRIENDS:
        for other in sorted(neighbours[waiting.popleft()]):
            if other not in reached and len(reached) < FRIENDS:
                reached.add(other)
                waiting.append(other)
    chosen = np.array(sorted(reached))
    inside = np.isin(edges, chosen).all(axis=1)
    return np.searchsorted(chosen, edges[inside])
