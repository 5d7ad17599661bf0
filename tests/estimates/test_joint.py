"""Joint estimates across groups: exact on expected counts, in any order, with covariances by brute force."""

from fractions import Fraction

import numpy as np
import pytest

from sottovoce.channels.keep_or_uniform import KeepOrUniform
from sottovoce.channels.kronecker import Kronecker
from sottovoce.errors import SottovoceError
from sottovoce.estimates.counted import Counted, count_reports
from sottovoce.estimates.covariance import InversionCovariance, MatrixCovariance, inverse_rows
from sottovoce.estimates.proportions import by_inversion, estimate_proportions
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Attribute, boolean
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.matrix import Matrix
from sottovoce.schemes.randomized_gamma_diagonal import RandomizedGammaDiagonal
from sottovoce.schemes.subset_selection import SubsetSelection
from sottovoce.schemes.warner import Warner


def reports_of(plan: Plan, names: list[str], law: np.ndarray, count: int) -> dict[str, list]:
    """A table whose report frequencies are the channel's expectation as nearly as whole rows can be."""
    grouped = plan.in_group_order(names)
    schema = plan.report_schema.project(plan.report_names(names))
    axes = [names.index(name) for name in grouped]
    expected = plan.channel(names).matvec(law.transpose(axes).ravel())
    cells = np.repeat(np.arange(len(expected)), np.round(expected * count).astype(int))
    return {name: list(values) for name, values in schema.decode(schema.unravel(cells)).items()}


@pytest.mark.parametrize("names", [["tax", "age"], ["age", "tax"], ["children", "tax", "drug"], ["drug", "children"]])
def test_any_attributes_in_any_order(plan, schema, names):
    """From the expected reports of a known law the law comes back, whatever the groups and their order."""
    rng = np.random.default_rng(4)
    law = rng.dirichlet(np.ones(schema.project(names).cells)).reshape(schema.project(names).sizes)
    found = estimate_proportions(reports_of(plan, names, law, 10**5), plan, names)
    assert found.attributes == tuple(names)
    assert found.shape == law.shape
    np.testing.assert_allclose(found.value.reshape(law.shape), law, atol=2e-3)  # rows are rounded to whole ones


@pytest.mark.parametrize("target", ["population", "table"])
def test_covariances_by_brute_force(plan, target):
    """`(B diag(lam) B^T - p p^T) / N`, or `- diag(p)`, with B inverted from the dense matrix."""
    names = ["age", "tax"]
    law = np.random.default_rng(5).dirichlet(np.ones(6)).reshape(3, 2)
    found = estimate_proportions(reports_of(plan, names, law, 5000), plan, names, target=target)
    dense = plan.channel(names).dense()  # tax x age, as the groups stand
    inverse = np.linalg.inv(dense)
    p = found.value.reshape(3, 2).T.ravel()
    own = np.outer(p, p) if target == "population" else np.diag(p)
    expected = (inverse @ np.diag(found.reported) @ inverse.T - own) / found.respondents
    order = np.arange(6).reshape(2, 3).T.ravel()
    np.testing.assert_allclose(found.covariance, expected[np.ix_(order, order)], atol=1e-12)
    np.testing.assert_allclose(found.standard_error, np.sqrt(np.diag(found.covariance)), atol=1e-9)
    np.testing.assert_allclose(found.covariances.block([4, 1]), found.covariance[np.ix_([4, 1], [4, 1])], atol=1e-12)


def test_twenty_bits_are_a_million_cells():
    """Variances without a covariance matrix of 8 TiB, against the closed form of one cell."""
    bits = Kronecker([KeepOrUniform((2,), Fraction(4, 5))] * 20)
    counts = np.random.default_rng(1).multinomial(10**6, np.full(2**20, 2.0**-20))
    names = tuple(f"q{i}" for i in range(20))
    counted = Counted(names, ((False, True),) * 20, bits, counts, np.arange(2**20))
    found = by_inversion(counted, "population", "inversion")
    assert found.value.sum() == pytest.approx(1)
    rows = inverse_rows(bits, np.array([12345]))
    expected = ((rows**2 @ found.reported)[0] - found.value[12345] ** 2) / 10**6
    assert found.covariances.variances[12345] == pytest.approx(expected)
    assert found.covariances.block([12345, 7]).shape == (2, 2)
    with pytest.raises(SottovoceError, match=r"^cells must be at most 4096 for the whole matrix"):
        _ = found.covariance


def test_covariances_within_a_large_group_are_refused():
    wide = KeepOrUniform((5000,), Fraction(1, 2))
    with pytest.raises(SottovoceError, match=r"^cells must be fewer than 4096 in one group"):
        inverse_rows(wide, np.array([0]))


def test_sets_and_private_matrices_are_estimated_like_any_channel():
    schema = Schema([Attribute("a", ["x", "y", "z", "w"]), boolean("b")])
    plan = Plan.of(schema, {"a": SubsetSelection(odds=3, size=2), "b": RandomizedGammaDiagonal(gamma=3)})
    law = np.array([[0.1, 0.2], [0.05, 0.15], [0.2, 0.1], [0.15, 0.05]])
    found = estimate_proportions(reports_of(plan, ["a", "b"], law, 10**5), plan, ["a", "b"])
    np.testing.assert_allclose(found.value.reshape(4, 2), law, atol=2e-3)


def test_reports_that_do_not_split():
    schema = Schema([boolean("a"), boolean("b"), boolean("c")])
    joint = Matrix([[0.7, 0.1, 0.1, 0.1], [0.1, 0.7, 0.1, 0.1], [0.1, 0.1, 0.7, 0.1], [0.1, 0.1, 0.1, 0.7]], range(4))
    plan = Plan.of(schema, {("a", "b"): joint, "c": Warner(p=Fraction(3, 4))})
    assert plan.report_names(["c", "a", "b"]) == ("a+b", "c")
    law = np.random.default_rng(3).dirichlet(np.ones(8)).reshape(2, 2, 2)
    found = estimate_proportions(reports_of(plan, ["a", "b", "c"], law, 10**5), plan, ["a", "b", "c"])
    np.testing.assert_allclose(found.value.reshape(2, 2, 2), law, atol=2e-3)


def test_printing_and_json(plan):
    law = np.full((3, 4), 1 / 12)
    found = estimate_proportions(reports_of(plan, ["drug", "children"], law, 1200), plan, ["drug", "children"])
    assert str(found).startswith(
        "drug x children: 1200 reports, proportions in the population by inversion, exact 95 % intervals\n  never, 0"
    )
    document = found.to_json(0.9)
    assert (document["method"], document["target"], document["level"], len(document["cells"])) == (
        "inversion",
        "population",
        0.9,
        12,
    )
    assert document["cells"][5]["values"] == {"drug": "once", "children": 1}


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_frames(plan, backend):
    found = estimate_proportions({"tax": [True, False], "age": ["[18, 40)"] * 2}, plan, ["tax", "age"])
    frame = found.to_frame(backend)
    assert type(frame).__module__.startswith(backend)
    names = frame.column_names if backend == "pyarrow" else list(frame.columns)
    assert names == ["tax", "age", "estimate", "standard_error", "low", "high"]
    assert len(frame) == 6


def test_long_tables_are_cut_in_print():
    schema = Schema([Attribute("a", range(30)), Attribute("b", range(3))])
    plan = Plan.of(schema, {"a": Warner(p=0.5), "b": Warner(p=0.5)})
    reports = {"a": list(range(30)) * 3, "b": [0] * 30 + [1] * 30 + [2] * 30}
    assert "  ... and 30 more rows" in str(estimate_proportions(reports, plan, ["a", "b"])).splitlines()


@pytest.mark.parametrize(
    ("options", "parameter"),
    [({"target": "world"}, "target"), ({"method": "magic"}, "method"), ({"target": "table", "method": "em"}, "target")],
)
def test_choices_that_are_none(plan, options, parameter):
    with pytest.raises(SottovoceError, match=rf"^{parameter} must be"):
        estimate_proportions({"tax": [True, False]}, plan, "tax", **options)


def test_too_many_cells_for_em():
    schema = Schema(Attribute(f"q{i}", range(17)) for i in range(3))
    plan = Plan.of(schema, dict.fromkeys(schema.names, Warner(p=0.5)))
    with pytest.raises(SottovoceError, match=r"^attributes must have at most 4096 joint cells for em"):
        estimate_proportions({name: [0] for name in schema.names}, plan, schema.names, method="em")


def test_counts_keep_the_order_of_the_channel(plan):
    counted = count_reports(
        {"tax": [True], "drug": ["once"], "age": ["[18, 40)"], "children": [2]}, plan, ["tax", "drug"]
    )
    assert counted.channel.shape_in == (3, 2)  # drug's group stands first
    assert np.flatnonzero(counted.counts).tolist() == [3]
    assert counted.order.tolist() == [0, 2, 4, 1, 3, 5]


def test_spreads_agree():
    matrix = np.array([[2.0, 1.0], [1.0, 3.0]])
    assert MatrixCovariance(matrix).variances.tolist() == [2, 3]
    assert MatrixCovariance(matrix).block([1]).tolist() == [[3]]
    coin = KeepOrUniform((2,), Fraction(1, 2))
    spread = InversionCovariance(coin, np.array([0.6, 0.4]), np.array([0.7, 0.3]), 100, np.arange(2), "population")
    np.testing.assert_allclose(spread.variances, np.diag(spread.block([0, 1])))
