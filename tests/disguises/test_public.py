"""Public columns pass through a disguise as they are; reports are marked and not disguised again."""

import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sottovoce.disguises.records import disguise_record, disguise_value
from sottovoce.disguises.tables import disguise_column, disguise_file, disguise_frame, write_disguised
from sottovoce.disguises.transactions import disguise_transactions
from sottovoce.errors import SottovoceError, SottovoceWarning
from sottovoce.estimates.groups import stratified
from sottovoce.estimates.proportions import estimate_by, estimate_proportions
from sottovoce.plans.budget import new_plan
from sottovoce.plans.document import plan_hash
from sottovoce.plans.plan import Plan
from sottovoce.plans.public import PublicNumber
from sottovoce.schemas.attribute import Attribute, boolean
from sottovoce.schemas.binned import Binned
from sottovoce.schemas.item_set import ItemSet
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.emask import Emask
from sottovoce.schemes.warner import Warner
from sottovoce.tables import sink as sinks
from sottovoce.tables import source as sources
from sottovoce.tables.plan_file import plan_mark, read_plan, read_reports
from sottovoce.tables.public_columns import small_combinations

PUBLIC = (
    Attribute("region", ["north", "south"]),
    Attribute("level", [1, 2]),
    Binned("age", [0, 40, 120], closed="left"),
    PublicNumber("weight"),
)
CERTAIN = Plan.of(Schema([boolean("tax")]), {"tax": Warner(p=1)}, public=PUBLIC)
ROWS = 10
TRUTHS = {
    "weight": [0.5, 1.5] * 5,
    "age": [20.0, 39.5, 40.0, 20.0, 39.5, 40.0, 20.0, 39.5, 40.0, 99.0],
    "tax": [True, False, False, True, False] * 2,
    "region": ["north"] * 5 + ["south"] * 5,
    "level": [1] * 5 + [2] * 5,
}
BINS = ["[0, 40)", "[0, 40)", "[40, 120)"] * 3 + ["[40, 120)"]
EXPECTED = {name: TRUTHS[name] for name in ("tax", "region", "level")} | {"age": BINS, "weight": TRUTHS["weight"]}
FRAMES = {"mapping": dict, "pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.table}


@pytest.fixture(autouse=True)
def small_combinations_are_expected():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SottovoceWarning)
        yield


def columns_of(table) -> dict[str, list]:
    if isinstance(table, dict):
        return table
    if isinstance(table, pa.Table):
        return table.to_pydict()
    return table.to_dict("list") if isinstance(table, pd.DataFrame) else table.to_dict(as_series=False)


@pytest.mark.parametrize("kind", FRAMES)
def test_public_columns_follow_the_reports_of_every_frame(kind):
    found = disguise_frame(FRAMES[kind](TRUTHS), CERTAIN)
    assert columns_of(found) == EXPECTED
    assert list(columns_of(found)) == ["tax", "region", "level", "age", "weight"]


def test_frames_keep_the_types_of_public_columns():
    truths = pd.DataFrame(TRUTHS, index=[f"person {i}" for i in range(ROWS)])
    truths = truths.astype({"weight": "float32", "level": "int8", "region": "category"})
    found = disguise_frame(truths, CERTAIN)
    assert found.dtypes[["weight", "level", "region"]].astype(str).tolist() == ["float32", "int8", "category"]
    assert found.index.tolist() == list(range(ROWS))
    nullable = disguise_frame(truths.astype({"weight": "Float64"}), CERTAIN)
    assert str(nullable.dtypes["weight"]) == "Float64"
    polars = pl.DataFrame(TRUTHS).cast({"weight": pl.Float32, "level": pl.UInt8})
    assert disguise_frame(polars, CERTAIN).schema["level"] == pl.UInt8
    assert disguise_frame(polars, CERTAIN).schema["weight"] == pl.Float32
    arrow = pa.table(TRUTHS)
    decimals = pa.array([Decimal("0.5"), Decimal("1.5")] * 5)
    arrow = arrow.set_column(arrow.schema.get_field_index("weight"), "weight", decimals)
    assert disguise_frame(arrow, CERTAIN)["weight"].to_pylist() == [Decimal("0.5"), Decimal("1.5")] * 5


def test_only_public_columns_pass(tmp_path):
    with pytest.raises(SottovoceError, match=r"it lacks the column 'name'\. Got one with the columns 'tax', 'region'"):
        disguise_frame(TRUTHS | {"name": ["x"] * ROWS}, CERTAIN)
    found = disguise_frame(TRUTHS | {"name": ["x"] * ROWS}, CERTAIN, drop="others")
    assert found == EXPECTED


def test_a_record_keeps_its_public_answers():
    record = {"tax": True, "region": "south", "level": 2, "age": 40, "weight": 1.5}
    assert disguise_record(record, CERTAIN) == record | {"age": "[40, 120)"}
    assert disguise_record(record | {"weight": np.int64(2)}, CERTAIN)["weight"] == 2
    for wrong, message in [
        ({"region": "east"}, r"^region must be one of its categories \(north, south\)\. Got 'east'"),
        ({"region": None}, r"^region must not be missing"),
        ({"weight": "1"}, r"^weight must be a finite number\. Got '1'"),
        ({"weight": float("inf")}, r"^weight must be a finite number\. Got inf"),
    ]:
        with pytest.raises(SottovoceError, match=message):
            disguise_record(record | wrong, CERTAIN)
    with pytest.raises(SottovoceError, match=r"^record must answer 'tax', 'weight'\. Got answers to 'region', 'level'"):
        disguise_record({k: v for k, v in record.items() if k not in ("tax", "weight")}, CERTAIN)
    with pytest.raises(SottovoceError, match=r"^record must answer .*\. Got answers to nothing instead"):
        disguise_record({}, CERTAIN)


def test_one_attribute_alone_has_no_public_columns():
    assert disguise_value(True, CERTAIN) is True
    assert disguise_column([True, False], CERTAIN) == [True, False]


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("region", "east", r"^region must be one of its categories \(north, south\)\. Got 'east'"),
        ("region", None, r"^region must not be missing"),
        ("age", 121.0, r"^age must lie in \[0, 40\) \.\.\. \[40, 120\)\. Got 121"),
        ("weight", float("nan"), r"^weight must be a finite number in every row\. Got nan"),
        ("weight", float("inf"), r"^weight must be a finite number in every row\. Got inf"),
        ("weight", None, r"^weight must be a finite number in every row\. Got (None|nan)"),
    ],
)
def test_wrong_public_values_are_named(kind, column, value, message):
    truths = TRUTHS | {column: [*TRUTHS[column][:-1], value]}
    with pytest.raises(SottovoceError, match=message):
        disguise_frame(FRAMES[kind](truths), CERTAIN)


@pytest.mark.parametrize("weights", [["1"] * ROWS, [True] * ROWS, [object()] * ROWS])
def test_what_is_no_number_is_no_public_number(weights):
    with pytest.raises(SottovoceError, match=r"^weight must be a finite number in every row\. Got"):
        disguise_frame(TRUTHS | {"weight": weights}, CERTAIN)


def test_whole_numbers_of_any_size_pass():
    assert disguise_frame(TRUTHS | {"weight": [2**70] * ROWS}, CERTAIN)["weight"] == [float(2**70)] * ROWS
    assert disguise_frame(TRUTHS | {"weight": np.arange(ROWS)}, CERTAIN)["weight"].tolist() == list(range(ROWS))


@pytest.mark.parametrize("lacking", ["tax", "region", "weight"])
def test_a_missing_column_is_named_before_those_left_over(lacking):
    truths = {name: values for name, values in TRUTHS.items() if name != lacking} | {"name": ["x"] * ROWS}
    for drop in ((), "others"):
        with pytest.raises(
            SottovoceError, match=rf"^table must have the column '{lacking}'\. Got a table with the columns"
        ):
            disguise_frame(truths, CERTAIN, drop=drop)


def test_missing_values_pass_as_their_category():
    region = Attribute("region", ["north", "unknown"], missing="unknown")
    plan = CERTAIN.with_public([region])
    found = disguise_frame({"tax": [True, False], "region": ["north", None]}, plan)
    assert found["region"] == ["north", "unknown"]


@pytest.fixture
def truths_csv(tmp_path):
    pd.DataFrame(TRUTHS).to_csv(tmp_path / "truths.csv", index=False)
    return tmp_path / "truths.csv"


@pytest.fixture
def truths_parquet(tmp_path):
    table = pa.table(TRUTHS).cast(
        pa.schema(
            [
                ("weight", pa.float32()),
                ("age", pa.float64()),
                ("tax", pa.bool_()),
                ("region", pa.string()),
                ("level", pa.int8()),
            ]
        )
    )
    pq.write_table(table, tmp_path / "truths.parquet")
    return tmp_path / "truths.parquet"


@pytest.mark.parametrize("reports", ["reports.csv", "reports.parquet"])
@pytest.mark.parametrize("truths", ["truths_csv", "truths_parquet"])
def test_files_give_public_columns_back_with_their_types(truths, reports, request, tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "BATCH_ROWS", 4)
    monkeypatch.setattr(sinks, "GROUP_ROWS", 3)
    path = tmp_path / reports
    assert disguise_file(request.getfixturevalue(truths), path, CERTAIN) == ROWS
    assert read_plan(path) == CERTAIN
    found = read_reports(path)
    assert {name: np.asarray(values).tolist() for name, values in found.items()} == EXPECTED
    assert (found["level"].dtype.kind, found["weight"].dtype.kind) == ("i", "f")
    assert list(open_names(path)) == ["tax", "region", "level", "age", "weight"]


def open_names(path):
    return sources.open_source(path).names


def test_parquet_keeps_the_type_of_numbers(truths_csv, truths_parquet, tmp_path):
    disguise_file(truths_parquet, tmp_path / "a.parquet", CERTAIN)
    disguise_file(truths_csv, tmp_path / "b.parquet", CERTAIN)
    types = [pq.read_schema(tmp_path / name).field("weight").type for name in ("a.parquet", "b.parquet")]
    assert types == [pa.float32(), pa.float64()]
    decimals = pq.read_table(truths_parquet)
    decimals = decimals.set_column(0, "weight", pa.array([Decimal("0.5"), Decimal("1.5")] * 5))
    pq.write_table(decimals, tmp_path / "d.parquet")
    disguise_file(tmp_path / "d.parquet", tmp_path / "e.parquet", CERTAIN)
    assert pq.read_table(tmp_path / "e.parquet")["weight"].to_pylist() == TRUTHS["weight"]


def test_csv_numbers_are_written_as_they_were(tmp_path):
    (tmp_path / "t.csv").write_text("tax,weight\nTrue,1\nFalse,0.25\nTrue,3.0\n")
    plan = CERTAIN.with_public([PublicNumber("weight")])
    disguise_file(tmp_path / "t.csv", tmp_path / "r.csv", plan)
    assert (tmp_path / "r.csv").read_text() == "tax,weight\nTrue,1\nFalse,0.25\nTrue,3\n"
    (tmp_path / "t.csv").write_text("tax,weight\nTrue,1\nFalse,much\n")
    with pytest.raises(SottovoceError, match=r"^weight must be a finite number in every row\. Got 'much'"):
        disguise_file(tmp_path / "t.csv", tmp_path / "s.csv", plan)
    (tmp_path / "t.csv").write_text("tax,weight\nTrue,1\nFalse,\n")
    with pytest.raises(SottovoceError, match=r"^weight must be a finite number in every row\. Got"):
        disguise_file(tmp_path / "t.csv", tmp_path / "s.csv", plan)


def test_small_combinations_are_counted_and_warned_of(tmp_path, truths_csv):
    """North and young: 3 rows, ... ; region and level go together here, age cuts each in two."""
    with pytest.warns(
        SottovoceWarning, match=r"^4 combinations of public answers are held by fewer than 5 rows \(region"
    ):
        reports = disguise_frame(pd.DataFrame(TRUTHS), CERTAIN)
    assert small_combinations(reports, CERTAIN) == 4
    with pytest.warns(SottovoceWarning, match=r"^4 combinations .* \(region, level, age\): someone who knows"):
        disguise_file(truths_csv, tmp_path / "r.csv", CERTAIN)
    assert small_combinations(tmp_path / "r.csv", CERTAIN) == 4
    written = write_disguised(truths_csv, tmp_path / "r.parquet", CERTAIN)
    assert (written.rows, written.small_combinations) == (ROWS, 4)
    assert written.small_combinations_text.startswith("4 combinations")


def test_one_small_combination_and_none():
    region = CERTAIN.with_public([PUBLIC[0]])
    table = {"tax": [True] * 9, "region": ["north"] * 5 + ["south"] * 4}
    with pytest.warns(
        SottovoceWarning, match=r"^1 combination of public answers is held by fewer than 5 rows \(region\)"
    ):
        disguise_frame(table, region)
    enough = {"tax": [True] * 10, "region": ["north"] * 5 + ["south"] * 5}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        disguise_frame(enough, region)
        disguise_frame({"tax": [True], "weight": [1]}, CERTAIN.with_public([PublicNumber("weight")]))
    assert small_combinations(enough, region) == 0
    assert small_combinations(enough, region.with_public(())) == 0
    with pytest.raises(SottovoceError, match=r"^table must have the column 'region'"):
        small_combinations({"tax": [True]}, region)


def test_the_same_seed_gives_the_same_reports_with_and_without_public_columns(plan, truths):
    plain = disguise_frame(truths, plan, rng=3)
    weights = {"weight": [1.0, 2.0, 3.0, 4.0]}
    found = disguise_frame(truths | weights, plan.with_public([PublicNumber("weight")]), rng=3)
    assert found == plain | weights


def test_baskets_may_have_public_columns(tmp_path):
    basket = ItemSet("basket", ["ale", "bread", "cheese"])
    plan = Plan.of(Schema([basket]), {"basket": Emask(p=1, q=1)}, public=[PUBLIC[0]])
    table = {"basket": [["ale"], [], ["bread", "cheese"]], "region": ["north", "south", "south"]}
    assert disguise_frame(table, plan) == table
    pq.write_table(pa.table(table), tmp_path / "t.parquet")
    disguise_file(tmp_path / "t.parquet", tmp_path / "r.parquet", plan)
    assert pq.read_table(tmp_path / "r.parquet").to_pydict() == table
    with pytest.raises(
        SottovoceError, match=r"^plan must disguise one set of items, .* Got basket .*, region \(public\)"
    ):
        disguise_transactions(table["basket"], plan)


def test_public_columns_serve_groups_weights_and_strata(tmp_path):
    rng = np.random.default_rng(5)
    rows = 4000
    truths = pd.DataFrame(
        {
            "tax": rng.random(rows) < np.repeat([0.2, 0.6], rows // 2),
            "region": np.repeat(["north", "south"], rows // 2),
            "weight": np.tile([1.0, 3.0], rows // 2),
        }
    )
    schema = Schema([boolean("tax"), PUBLIC[0]])
    plan = new_plan(schema, odds=9, public=["region", PublicNumber("weight")])
    frame = disguise_frame(truths, plan, rng=1)
    truths.to_csv(tmp_path / "t.csv", index=False)
    truths.to_parquet(tmp_path / "t.parquet", index=False)
    for form in ("csv", "parquet"):
        disguise_file(tmp_path / f"t.{form}", tmp_path / f"r.{form}", plan, rng=1)
    for reports in (frame, tmp_path / "r.csv", tmp_path / "r.parquet"):
        groups = estimate_by(reports, plan, "tax", "region")
        assert {region: found.respondents for region, found in groups.items()} == {"north": 2000, "south": 2000}
        assert groups["north"].value[1] == pytest.approx(0.2, abs=0.06)
        assert groups["south"].value[1] == pytest.approx(0.6, abs=0.06)
        weighted = estimate_proportions(reports, plan, "tax", weights="weight")
        assert weighted.value[1] == pytest.approx(0.4, abs=0.06)
        whole = stratified(groups, {"north": 0.5, "south": 0.5})
        assert whole.value[1] == pytest.approx(0.4, abs=0.05)


def test_frames_are_marked_and_not_disguised_again(plan, truths):
    reports = disguise_frame(pd.DataFrame(truths), plan)
    assert reports.attrs == {"sottovoce.plan": plan_hash(plan)}
    assert plan_mark(reports) == (plan_hash(plan), None)
    labels = {"age": [20, 20, 20, 20]}
    again = reports.assign(**labels)
    short = plan_hash(plan)[:16]
    rule = rf"^table must not be disguised already; it was, under the plan {short}, 60 : 1 .*again=True"
    with pytest.raises(SottovoceError, match=rule):
        disguise_frame(again, plan)
    other = new_plan(plan.schema, odds=9)
    with pytest.raises(SottovoceError, match=rf"under the plan {plan_hash(plan)[:16]} \(again=True or"):
        disguise_frame(again, other)
    twice = disguise_frame(again, other, again=True)
    assert twice.attrs["sottovoce.plan"] == plan_hash(other)


def test_a_column_of_reports_is_not_disguised_again():
    plan = new_plan(Schema([boolean("tax")]), odds=3)
    reports = disguise_frame(pd.DataFrame({"tax": [True, False]}), plan)
    with pytest.raises(SottovoceError, match=r"^table must not be disguised already"):
        disguise_column(reports["tax"], plan)
    assert len(disguise_column(reports["tax"], plan, again=True)) == 2


def test_arrow_tables_and_files_carry_their_plan(tmp_path, truths_csv, truths_parquet):
    guarantee = CERTAIN.guarantee
    arrow = disguise_frame(pa.table(TRUTHS), CERTAIN)
    assert plan_mark(arrow) == (plan_hash(CERTAIN), guarantee)
    disguise_file(truths_csv, tmp_path / "r.csv", CERTAIN)
    disguise_file(truths_parquet, tmp_path / "r.parquet", CERTAIN)
    pq.write_table(arrow, tmp_path / "a.parquet")
    assert read_plan(tmp_path / "a.parquet") == CERTAIN
    for carrying in (arrow, tmp_path / "r.csv", tmp_path / "r.parquet", pq.read_table(tmp_path / "r.parquet")):
        assert plan_mark(carrying) == (plan_hash(CERTAIN), guarantee)
        with pytest.raises(
            SottovoceError, match=r"^table must not be disguised already; it was, under the plan \w{16}, not"
        ):
            disguise_frame(carrying, CERTAIN)
    with pytest.raises(SottovoceError, match=r"^table must not be disguised already"):
        disguise_file(tmp_path / "r.csv", tmp_path / "again.csv", CERTAIN)
    for unmarked in (TRUTHS, pl.DataFrame(TRUTHS), pd.DataFrame(TRUTHS), pa.table(TRUTHS), truths_csv, truths_parquet):
        assert plan_mark(unmarked) is None
    assert not hasattr(disguise_frame(pl.DataFrame(TRUTHS), CERTAIN), "attrs")


def test_swapped_arguments_are_told():
    for call in (
        lambda: disguise_frame(CERTAIN, TRUTHS),
        lambda: disguise_record({}, {}),
        lambda: disguise_transactions([], []),
        lambda: disguise_column([], "plan.json"),
        lambda: estimate_proportions(CERTAIN, TRUTHS, "tax"),
    ):
        with pytest.raises(
            SottovoceError, match=r"^plan must be a Plan \(read_plan reads one from a file\)\. Got <class"
        ):
            call()
    with pytest.raises(SottovoceError, match=r"^table must be a pandas, polars or Arrow table"):
        disguise_frame(CERTAIN, CERTAIN)
