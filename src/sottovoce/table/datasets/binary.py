"""Adult and breast cancer as yes and no, the way Zhan & Matwin (2006, 5.1) cut them: above the middle, or not."""

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import SottovoceError
from sottovoce.schema.attribute import Attribute
from sottovoce.schema.schema import Schema
from sottovoce.table.datasets.tables import ADULT, ADULT_NUMBERS, Columns, adult, breast_cancer_wisconsin

Cut = Literal["median", "middle"]
"""Cut at the median of the sample or at the middle of the range: the paper says "median point of the range"."""

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


def binary_adult(cut: Cut = "median") -> tuple[Schema, Columns]:
    """All 48,842 rows of Adult: 14 attributes coded 1 above the cut, and whether income is above 50K."""
    table = adult()
    numbers: Columns = {}
    for name in ADULT[:-1]:
        if name in ADULT_NUMBERS:
            numbers[name] = table[name].astype(float)
        else:
            places = {label: place for place, label in enumerate(ADULT_ORDER[name].split(", "))}
            numbers[name] = np.array([places.get(label, len(places)) for label in table[name]], float)
    return _binary(numbers, cut, "income", table["income"] == ">50K")


def binary_breast_cancer(cut: Cut = "middle") -> tuple[Schema, Columns]:
    """The 683 of Wisconsin's breast cancers without a missing grade: nine grades, 1 above the cut; malignant or not."""
    table = breast_cancer_wisconsin()
    known = table["bare-nuclei"] != "?"
    numbers = {name: table[name][known].astype(float) for name in table if name not in ("id", "class")}
    return _binary(numbers, cut, "malignant", table["class"][known] == "4")


def _binary(numbers: Columns, cut: Cut, target: str, truth: NDArray[Any]) -> tuple[Schema, Columns]:
    if cut not in ("median", "middle"):
        raise SottovoceError("cut", "must be 'median' or 'middle'", cut)
    columns: Columns = {}
    for name, values in numbers.items():
        edge = np.median(values) if cut == "median" else (values.min() + values.max()) / 2
        columns[name] = (values > edge).astype(np.int64)
    columns[target] = truth.astype(np.int64)
    return Schema(Attribute(name, [0, 1]) for name in columns), columns
