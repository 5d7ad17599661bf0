"""Shared by all tests: a small plan, ways through bulk calls, and hypothesis without deadlines on a shared machine."""

import os
import sys
from collections import Counter
from fractions import Fraction
from itertools import count, pairwise
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from sottovoce.mechanisms import coins
from sottovoce.mechanisms.bulk import kernels
from sottovoce.mechanisms.coins import SeededWords
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Attribute, boolean
from sottovoce.schemas.binned import Binned
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.gamma_diagonal import GammaDiagonal
from sottovoce.schemes.unrelated_question import UnrelatedQuestion
from sottovoce.schemes.warner import Warner

settings.register_profile("shared", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("shared")

EVERY_THIRD = {
    "test_codes_and_refusals_are_those_of_the_values_one_by_one",
    "test_reports_fit_the_channel",
    "test_every_scheme_reaches_nine_tenths_of_its_epsilon_and_no_more",
    "test_an_interval_of_a_table_whatever_came_out",
    "test_shares_are_those_of_the_channel_entry_by_entry",
    "test_stated_odds_are_those_of_the_matrix",
    "test_sampled_reports_fit_the_channel",
    "test_cells_of_joint_proportions",
    "test_columns_sum_to_one_exactly_and_entries_are_probabilities",
    "test_error",
    "test_every_kind_gives_every_kind",
    "test_every_plan_is_scored",
    "test_inversion_of_the_whole_product",
    "test_variances_of_more_categories_on_a_grid_of_priors",
}
"""Tests with many cases, of which the fast tests take every third one; the others belong to the slow tests."""

LONGEST = {
    "test_frames_of_the_newest_pandas",
    "test_correlations_cover",
    "test_intervals_cover",
    "test_the_whole_drill_with_an_outage_of_a_minute",
    "test_fifty_walks_follow_the_channel",
    "test_equal_groups_are_found_different_in_5_percent",
}
"""Slow tests of a minute or more: they come first, so that none is left to one core while the other one waits."""

UNMEASURED = set(Path(__file__).with_name("unmeasured.txt").read_text().split())
"""Long tests of lines that others reach as well: measuring their coverage doubles their time and shows nothing.

All lines must be reached without them. If one is not that these tests reach, give it a test of its own, or take out the
name of one.
"""


def pytest_collection_modifyitems(items) -> None:
    """Mark two of three cases of some tests as slow, in the order of their parameters, and others as not measured."""
    counts = Counter()
    for item in items:
        name = getattr(item, "originalname", None)
        if item.nodeid.partition("[")[0] in UNMEASURED:
            item.add_marker(pytest.mark.no_cover)
        if name in EVERY_THIRD:
            if counts[name] % 3:
                item.add_marker(pytest.mark.slow)
            counts[name] += 1
    items.sort(key=lambda item: getattr(item, "originalname", None) not in LONGEST)


@pytest.fixture
def schema() -> Schema:
    return Schema(
        [
            boolean("tax"),
            Attribute("drug", ["never", "once", "often"]),
            Binned("age", [18, 40, 65, 120], closed="left"),
            Attribute("children", [0, 1, 2, 3]),
        ]
    )


@pytest.fixture
def plan(schema: Schema) -> Plan:
    """Three groups in another order than the schema, one of them joint."""
    return Plan.of(
        schema,
        {
            ("drug", "children"): GammaDiagonal(gamma=4),
            "tax": Warner(p=Fraction(3, 4)),
            "age": UnrelatedQuestion(theta=Fraction(1, 2), known=[0.25, 0.5, 0.25]),
        },
    )


@pytest.fixture
def truths() -> dict[str, list]:
    return {
        "tax": [True, False, False, True],
        "drug": ["never", "often", "once", "never"],
        "age": [18.0, 64.5, 65.0, 30.0],
        "children": [0, 3, 1, 2],
    }


@pytest.fixture
def seeded_coins(monkeypatch) -> None:
    """Coins without a seed get the next one of this test, so that what comes out is not left to luck."""
    seeds = count(1)
    monkeypatch.setattr(coins, "SecureWords", lambda: SeededWords(np.random.default_rng(next(seeds))))


@pytest.fixture(scope="module", params=["compiled", "plain", "numpy"])
def bulk_way(request):
    """One way through bulk calls: with numba, with its loops in plain Python, or without it."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "compiled":
            pytest.importorskip("numba")
        else:
            compiles_nothing = SimpleNamespace(njit=lambda **_: lambda loop: loop)
            patch.setitem(sys.modules, "numba", compiles_nothing if request.param == "plain" else None)
        kernels.cache_clear()
        yield request.param
    kernels.cache_clear()


@pytest.fixture(scope="session")
def data_sets() -> None:
    """The papers' data, without which a test that asks for them is skipped; never where everything must be there."""
    if "SOTTOVOCE_DATA" not in os.environ:
        assert os.environ.get("CI") != "true", "SOTTOVOCE_DATA must name the folder of data sets"
        pytest.skip("SOTTOVOCE_DATA names no folder of data sets")


@pytest.fixture(scope="session")
def back_ends(tmp_path_factory):
    """Function that puts an Arrow table into every back end on this machine, in parts of which some are empty."""
    import duckdb
    import polars as pl
    import pyarrow.dataset as ds
    import pyarrow.parquet as pq

    def put(table):
        home = tmp_path_factory.mktemp("back end")
        (home / "parts").mkdir()
        rows = len(table)
        for number, (start, stop) in enumerate(pairwise([0, 0, rows // 7, rows // 7, rows, rows])):
            pq.write_table(table[start:stop], home / "parts" / f"{number}.parquet")
        pq.write_table(table, home / "one.parquet", row_group_size=max(1, rows // 3))
        with duckdb.connect(home / "one.duckdb") as connection:
            connection.from_arrow(table).create("reports")
        return {
            "file": home / "one.parquet",
            "folder": home / "parts",
            "glob": home / "parts" / "[0-9].parquet",
            "dataset": ds.dataset(home / "parts"),
            "lazy frame": pl.scan_parquet(home / "parts" / "*.parquet"),
            "lazy frame in memory": pl.from_arrow(table).lazy(),
            "relation": duckdb.from_arrow(table),
            "relation of files": duckdb.read_parquet(str(home / "parts" / "*.parquet")),
            "table of a file": f"{home / 'one.duckdb'}::reports",
        }

    return put


@pytest.fixture(scope="session")
def spark():
    """A Spark session of one process on this machine, each task of which is tried twice."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.log.level": "OFF",
        # Small tables for a minute: what pays off later, compiling and adapting, is left out.
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.sql.adaptive.enabled": "false",
    }
    session = SparkSession.builder.master("local[1,2]").config(map=settings).getOrCreate()
    yield session
    session.stop()


@pytest.fixture(autouse=True)
def no_pictures_are_left_open():
    """Close what a test has drawn; matplotlib is not loaded for this."""
    yield
    if "matplotlib.pyplot" in sys.modules and sys.modules["matplotlib.pyplot"] is not None:
        sys.modules["matplotlib.pyplot"].close("all")
