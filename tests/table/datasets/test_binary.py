"""Adult and breast cancer as yes and no."""

import pytest

from sottovoce.errors import SottovoceError
from sottovoce.table.datasets.binary import binary_adult, binary_breast_cancer


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
    with pytest.raises(SottovoceError, match="cut must be 'median' or 'middle'"):
        binary_breast_cancer("mean")
