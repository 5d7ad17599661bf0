"""Single mechanisms, beyond what the tests of all schemes check: invalid integers, and both ways to look up."""

import numpy as np
import pytest

from sottovoce.errors import SottovoceError
from sottovoce.mechanisms.coins import flip, random_words
from sottovoce.mechanisms.cut_and_paste import CutPaste
from sottovoce.mechanisms.diagonal import Diagonal
from sottovoce.mechanisms.flips import BitCoin, Flips
from sottovoce.mechanisms.matrix import Listed
from sottovoce.mechanisms.mechanism import mechanism_from_json, mechanism_kinds
from sottovoce.mechanisms.one_hot import OneHot
from sottovoce.mechanisms.private_diagonal import PrivateDiagonal
from sottovoce.mechanisms.replacement import Replacement
from sottovoce.mechanisms.subset_selection import Subset
from sottovoce.mechanisms.turning import Turning
from sottovoce.schemas.attribute import Attribute
from sottovoce.schemas.schema import Schema


@pytest.mark.parametrize(
    ("build", "parameter"),
    [
        (lambda: Diagonal((2,), -1, 1), "truth"),
        (lambda: Diagonal((2,), 1, 1.5), "other"),
        (lambda: Diagonal((2,), 6, 2), "truth"),
        (lambda: Diagonal((2,), 0, 0), "truth"),
        (lambda: Diagonal((2,), 2**64, 1), "sides"),
        (lambda: Replacement((2,), 3, 2, [[1, 1]]), "kept"),
        (lambda: Replacement((2,), 2, 4, [[1, 1]]), "kept"),
        (lambda: Replacement((2,), 1, 2, [[2, 2]]), "kept"),
        (lambda: Replacement((2,), 1, 2, [[-1, 2]]), "known"),
        (lambda: Replacement((2,), 1, 2, [[1, 1, 1]]), "known"),
        (lambda: BitCoin(3, 1, 2), "one"),
        (lambda: BitCoin(1, 3, 2), "zero"),
        (lambda: BitCoin(2, 4, 6), "sides"),
        (lambda: Flips((2, 3), [BitCoin(2, 1, 3)]), "sizes"),
        (lambda: Flips((2, 2, 2), [BitCoin(2, 1, 3)] * 2), "bits"),
        (lambda: OneHot((1, 2), BitCoin(2, 1, 3)), "categories"),
        (lambda: Subset((4,), 2, 2, 4), "kept"),
        (lambda: Turning((2,), 3, 2), "kept"),
        (lambda: PrivateDiagonal((3,), 4, 1, 2), "spread"),
        (lambda: PrivateDiagonal((2,), 2**62, 1, 0), "truth"),
        (lambda: CutPaste((2, 2), 1, 2, 4), "added"),
        (lambda: CutPaste((2, 2), 3, 1, 4), "cutoff"),
        (lambda: Listed((2,), [[1, 1], [1, 2]]), "matrix"),
        (lambda: Listed((2,), [[3, 3], [-1, -1]]), "numerators"),
        (lambda: Listed((3,), [[2, 1], [1, 2]]), "matrix"),
        (lambda: Listed((2,), []), "matrix"),
        (lambda: Listed((2,), [[4, 2], [2, 4]]), "matrix"),
        (lambda: Listed((2,), [[2, 1], [1, 2]], ["a", "b", "c"]), "reports"),
    ],
)
def test_impossible_integers_are_refused(build, parameter):
    with pytest.raises(SottovoceError, match=rf"^{parameter} must .*\. Got .* instead\.$"):
        build()


@pytest.mark.parametrize(
    ("json", "parameter"),
    [
        ({"kind": "diagonal", "truth": 3, "other": "1"}, "truth"),
        ({"kind": "diagonal", "truth": "\uff13", "other": "1"}, "truth"),
        ({"kind": "diagonal", "truth": "-3", "other": "1"}, "truth"),
        ({"kind": "diagonal", "truth": "3"}, "mechanism"),
        ({"kind": "replacement", "kept": "1", "sides": "2", "known": 5}, "mechanism"),
        ({"kind": "listed", "matrix": [["1", "1"], ["1", "0"]]}, "matrix"),
        ({"kind": "diagonal", "truth": "1" * 5000, "other": "1"}, "truth"),
        ({"kind": ["diagonal"]}, "kind"),
        ({"kind": "flips", "bits": [["2", "1"]]}, "bits"),
        ({"kind": "sampling", "parts": [{"attributes": [1], "mechanism": {}}]}, "attributes"),
        ({"kind": "magic"}, "kind"),
        ("diagonal", "kind"),
    ],
)
def test_malformed_json_is_refused(json, parameter):
    with pytest.raises(SottovoceError, match=rf"^{parameter} must .*\. Got .* instead\.$"):
        mechanism_from_json((2,), json)


def test_kinds_are_found():
    assert set(mechanism_kinds()) >= {"diagonal", "replacement", "listed"}


def test_a_matrix_in_64_bits_draws_like_its_column():
    """Sides beyond 2^64 / truths: columns are searched one by one; the last report of a column may be impossible."""
    half = 2**63
    listed = Listed((2,), [[half, 2**64 - 1], [half, 1]])
    truth = np.arange(2).repeat(4)
    sides = np.array([0, half - 1, half, 2**64 - 1] * 2, np.uint64)
    assert listed.respond((truth,), (sides,))[0].tolist() == [0, 0, 1, 1, 0, 0, 0, 1]
    certain = Listed((2,), [[2**64, 2**64 - 1], [0, 1]])
    assert certain.respond((truth,), (sides,))[0].tolist() == [0, 0, 0, 0, 0, 0, 0, 1]


def test_reports_that_are_not_truths_get_names():
    truths = Schema([Attribute("drug", ["no", "yes"])])
    plain = Listed((2,), [[2, 1], [1, 2], [1, 1]])
    assert plain.report_schema(truths)["drug"].categories == ("report 1", "report 2", "report 3")
    named = Listed((2,), [[2, 1], [1, 2], [1, 1]], ["no", "yes", "either"])
    assert named.report_schema(truths)["drug"].categories == ("no", "yes", "either")


def test_reports_over_joint_truths_share_one_column():
    truths = Schema([Attribute("a", [0, 1]), Attribute("b", [0, 1])])
    listed = Listed((2, 2), [[2, 1, 1, 1], [1, 2, 2, 2]])
    assert listed.report_schema(truths).names == ("a+b",)
    flips = flip(listed.coins, 5, random_words(1))
    truth = tuple(np.zeros(5, np.uint8) for _ in range(2))
    assert listed.respond(truth, flips)[0].max() <= 1
