"""Shared by all tests: a small plan, ways through bulk calls, and hypothesis without deadlines on a shared machine."""

import os
import sys
from fractions import Fraction
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, settings

from sottovoce.mechanisms.bulk import kernels
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Attribute, boolean
from sottovoce.schemas.binned import Binned
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.gamma_diagonal import GammaDiagonal
from sottovoce.schemes.unrelated_question import UnrelatedQuestion
from sottovoce.schemes.warner import Warner

settings.register_profile("shared", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("shared")


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


@pytest.fixture(autouse=True)
def no_pictures_are_left_open():
    """Close what a test has drawn; matplotlib is not loaded for this."""
    yield
    if "matplotlib.pyplot" in sys.modules and sys.modules["matplotlib.pyplot"] is not None:
        sys.modules["matplotlib.pyplot"].close("all")
