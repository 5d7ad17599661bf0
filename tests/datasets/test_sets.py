"""Sizes of the data sets as their sources state them; without data, the readers on a few lines."""

import dataclasses

import numpy as np
import pytest

from sottovoce.counts.counter import count_cells
from sottovoce.datasets import published
from sottovoce.datasets.files import FILES
from sottovoce.errors import SottovoceError
from sottovoce.tables.source import open_source

ADULT_ROW = (
    "39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, Male, 2174, 0, 40, "
)


@pytest.fixture
def lines(monkeypatch):
    """Put a few lines in the place of a file."""

    def put(name: str, text: str) -> None:
        @dataclasses.dataclass(frozen=True)
        class Lines:
            def text(self) -> str:
                return text

        monkeypatch.setitem(FILES, name, Lines())

    return put


def test_adult_joins_both_files(lines):
    lines("adult.data", ADULT_ROW + "United-States, <=50K\n\n")
    lines("adult.test", "|1x3 Cross validator\n" + ADULT_ROW + "?, >50K.\n")
    table = published.adult()
    assert table["age"].tolist() == [39, 39]
    assert table["income"].tolist() == ["<=50K", ">50K"]
    schema, census = published.census()
    assert census["native-country"].tolist() == ["United-States", "Other"]
    assert [codes.tolist() for codes in next(iter(open_source(census).coded(schema)))] == [
        [1, 1], [0, 0], [2, 2], [0, 0], [1, 1], [0, 1],
    ]  # fmt: skip


def test_the_stand_in_for_health(lines):
    lines(
        "nhis-2009",
        "age,sex,famsize,racenew,empstat,incfam07on,health\n20,1,7,10,11,1,2\n3,2,1,50,0,3,1\n44,1,2,20,40,2,5\n",
    )
    schema, table = published.health_stand_in()
    assert schema.sizes == (5, 5, 5, 3, 2, 2, 5)
    assert [codes.tolist() for codes in next(iter(open_source(table).coded(schema)))] == [
        [1, 0, 2], [4, 0, 1], [0, 4, 1], [0, 2, 1], [0, 1, 0], [0, 1, 1], [1, 0, 4],
    ]  # fmt: skip


def test_households_merge_small_kinds(lines):
    relative = ADULT_ROW.replace("Not-in-family", "Other-relative").replace("Never-married", "Divorced")
    lines("adult.data", ADULT_ROW + "United-States, <=50K\n")
    lines("adult.test", "|1x3 Cross validator\n" + relative.replace("Adm-clerical", "?") + "?, >50K.\n")
    schema, table = published.households()
    assert schema.sizes == (4, 5, 5, 5, 2, 2)
    assert [list(column) for column in table.values()] == [
        ["Never-married", "Apart"], ["Not-in-family", "Unmarried"], ["13", "13"], ["Office", "?"],
        ["Male", "Male"], ["<=50K", ">50K"],
    ]  # fmt: skip
    assert len(schema.encode(table)) == 6


def test_baskets_number_the_items_of_their_universe(lines):
    lines("bms-webview-1", "30 -1 10 -1 30\n20\n")
    lines("t10i4d100k", "5 7 \n\n7\n")
    items, (indptr, indices) = published.bms_webview(1)
    assert (items.items, indptr.tolist(), indices.tolist()) == ((10, 20, 30), [0, 2, 3], [0, 2, 1])
    items, (indptr, indices) = published.t10i4d100k()
    assert (items.items, indptr.tolist(), indices.tolist()) == ((5, 7), [0, 2, 3], [0, 1, 1])
    with pytest.raises(SottovoceError, match="number must be a whole number from 1 to 2"):
        published.bms_webview(3)


def test_other_tables_are_read(lines):
    lines("car", "vhigh,vhigh,2,2,small,low,unacc\n")
    lines("connect-4", ",".join(["b"] * 42) + ",win\n")
    lines("breast-cancer-wisconsin", "1000025,5,1,1,1,2,?,3,1,1,2\n")
    lines("breast-cancer-ljubljana", "no-recurrence-events,30-39,premeno,30-34,0-2,no,3,left,left_low,no\n")
    assert published.car()["class"].tolist() == ["unacc"]
    assert published.connect_4()["outcome"].tolist() == ["win"]
    assert published.breast_cancer_wisconsin()["bare-nuclei"].tolist() == ["?"]
    assert published.breast_cancer_ljubljana()["irradiat"].tolist() == ["no"]


@pytest.mark.slow
@pytest.mark.usefixtures("data_sets")
def test_sizes_are_the_published_ones():
    """Rows as UCI, KDD Cup 2000 and FIMI state them; class shares as in Gao et al. (2018)."""
    assert len(published.adult()["age"]) == 48_842
    assert np.unique(published.car()["class"], return_counts=True)[1].tolist() == [384, 69, 1210, 65]
    outcome = np.unique(published.connect_4()["outcome"], return_counts=True)
    assert (outcome[1] / 67_557).round(4).tolist() == [0.0955, 0.2462, 0.6583]
    assert len(published.breast_cancer_wisconsin()["id"]) == 699
    assert len(published.breast_cancer_ljubljana()["age"]) == 286
    for (items, (indptr, _)), rows, universe in [
        (published.bms_webview(1), 59_601, 497),
        (published.bms_webview(2), 77_512, 3340),
        (published.t10i4d100k(), 100_000, 870),
    ]:
        assert (len(indptr) - 1, len(items.items)) == (rows, universe)


@pytest.mark.slow
@pytest.mark.usefixtures("data_sets")
def test_census_has_the_published_frequent_itemsets():
    """Agrawal (2004), Table 4.3: 19, 102, 203, 165, 64, 10 value combinations in at least 2 % of the records."""
    schema, table = published.census()
    columns = list(next(iter(open_source(table).coded(schema))))
    counts = count_cells(columns, schema.sizes).reshape(schema.sizes)
    found = np.zeros(6, int)
    for mask in range(1, 2**6):
        margin = counts.sum(axis=tuple(a for a in range(6) if not mask >> a & 1))
        found[mask.bit_count() - 1] += (margin >= 0.02 * counts.sum()).sum()
    assert found.tolist() == [19, 102, 203, 165, 64, 10]
