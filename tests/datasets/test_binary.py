"""Adult and breast cancer as yes and no."""

import numpy as np
import pytest

from sottovoce.datasets import published
from sottovoce.datasets.published import ADULT, ADULT_NUMBERS, binary_adult, binary_breast_cancer
from sottovoce.errors import SottovoceError


@pytest.mark.slow
def test_adult(data_sets):
    """23.93 % earn more than 50K; at the median about half are above, or fewer where many share it."""
    schema, table = binary_adult()
    assert (len(schema.names), len(table["age"])) == (15, 48_842)
    assert table["income"].mean() == pytest.approx(0.2393, abs=5e-5)
    assert table["age"].mean() == pytest.approx(0.49, abs=0.01)
    assert max(column.mean() for column in table.values()) <= 0.5
    assert table["sex"].max() == 0  # more than half are men, and nobody is above the median
    middle = binary_adult("middle")[1]
    assert middle["sex"].mean() == pytest.approx(0.6685, abs=5e-4)


def test_breast_cancer(data_sets):
    schema, table = binary_breast_cancer()
    assert (len(schema.names), len(table["malignant"])) == (10, 683)
    assert table["malignant"].sum() == 239
    with pytest.raises(SottovoceError, match="cut must be one of median, middle"):
        binary_breast_cancer("mean")


def test_cuts_of_a_few_people(monkeypatch):
    """Ages 20, 30, 40 and 90 have the median 35 and the middle 55; a missing race comes after all others."""
    table = {name: np.array([20, 30, 40, 90]) for name in ADULT_NUMBERS}
    table |= {name: np.array(["?"] * 4) for name in ADULT if name not in ADULT_NUMBERS}
    table |= {"race": np.array(["White", "Black", "White", "?"]), "income": np.array([">50K", "<=50K"] * 2)}
    monkeypatch.setattr(published, "adult", lambda: table)
    schema, halves = binary_adult()
    assert schema.names == ADULT
    assert halves["age"].tolist() == [0, 0, 1, 1]
    assert halves["race"].tolist() == [0, 1, 0, 1]  # numbered 0, 4, 0, 5
    assert halves["sex"].tolist() == [0] * 4
    assert halves["income"].tolist() == [1, 0, 1, 0]
    assert binary_adult("middle")[1]["age"].tolist() == [0, 0, 0, 1]


def test_cuts_of_a_few_tumours(monkeypatch):
    table = {
        "id": ["1", "2", "3"],
        "bare-nuclei": ["1", "?", "10"],
        "mitoses": ["3", "9", "4"],
        "class": ["2", "4", "4"],
    }
    known = {name: np.array(cells) for name, cells in table.items()}
    monkeypatch.setattr(published, "breast_cancer_wisconsin", lambda: known)
    schema, grades = binary_breast_cancer()
    assert schema.names == ("bare-nuclei", "mitoses", "malignant")
    assert {name: cells.tolist() for name, cells in grades.items()} == {name: [0, 1] for name in schema.names}
    with pytest.raises(SottovoceError, match=r"^cut must be one of median, middle\. Got 'mean'"):
        binary_breast_cancer("mean")
