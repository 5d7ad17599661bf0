"""What no epsilon-LDP channel can beat, for any number of categories: a bound from second moments of sets."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.errors import SottovoceError


@dataclass(frozen=True)
class Cut:
    """`(left . z - left_offset) (right . z - right_offset) >= 0` for the indicator z of any set.

    True if both sides are the same whole-numbered form and the offsets follow one another, or if all is non-negative
    and there are no offsets.
    """

    left: Array
    left_offset: float
    right: Array
    right_offset: float

    def __post_init__(self) -> None:
        """Refuse what does not hold for all sets."""
        whole = np.array_equal(self.left, self.right) and not np.any(self.left % 1) and not self.left_offset % 1
        alike = whole and abs(self.left_offset - self.right_offset) == 1
        positive = min(self.left.min(), self.right.min()) >= 0 and self.left_offset == self.right_offset == 0
        if not (alike or positive):
            raise SottovoceError("cut", "must hold for all sets", (self.left_offset, self.right_offset))


def total_cut(lengths: Array, size: int) -> Cut:
    """`(lengths . z - size) (lengths . z - size - 1) >= 0`: no total lies between two whole numbers."""
    return Cut(lengths, size, lengths, size + 1)


@dataclass(frozen=True)
class Certificate:
    """Multipliers that prove a lower bound of `tr J^-1` for every channel whose odds are at most `odds`.

    A channel is a measure m on sets S with `u = 1 + (odds - 1) z`, z the indicator of S, `J = sum_S m_S u u^T` and
    `J p = 1`. In the coordinates (u, 1), put
    `G = sum_i a_i sym((e_i - e_0)(e_i - odds e_0)^T) + sym(nu p^T) - sum_c s_c cut_c`. The first terms
    vanish on sets, cuts are not negative, so `G . moments <= 1.nu`; and with the Schur complement
    `S = G_11 - g g^T / g_0` of its corner, `tr J^-1 + S . J >= 2 tr S^(1/2)`. So `tr J^-1 >= 2 tr S^(1/2) - 1.nu`,
    whatever the multipliers, as long as g_0 > 0, S > 0 and s >= 0.
    """

    prior: Array
    odds: float
    cuts: tuple[Cut, ...]
    multipliers: Array
    """a (n), nu (n), s (one for each cut)."""

    @property
    def bound(self) -> float:
        """Lower bound of `tr J^-1`, by plain linear algebra; minus infinity if the multipliers prove nothing."""
        n = len(self.prior)
        schur, corner = self._schur()
        if corner <= 0 or np.any(self.multipliers[2 * n :] < 0):
            return -np.inf
        values = np.linalg.eigvalsh(schur)
        if values[0] <= 0:
            return -np.inf
        return float(2 * np.sqrt(values).sum() - self.multipliers[n : 2 * n].sum())

    def _schur(self) -> tuple[Array, float]:
        """S and g_0."""
        left, right = factors(self.prior, self.odds, self.cuts)
        form = left.T @ (self.multipliers[:, None] * right)
        form = (form + form.T) / 2
        edge, corner = form[:-1, -1], float(form[-1, -1])
        return form[:-1, :-1] - np.outer(edge, edge) / corner, corner


def factors(prior: Array, odds: float, cuts: Sequence[Cut]) -> tuple[Array, Array]:
    """Rows l_k and r_k of the forms `sym(l_k r_k^T)` in (u, 1) that the multipliers weigh, cuts with a minus."""
    n, rise = len(prior), odds - 1
    eye, column = np.eye(n), np.ones((n, 1))
    left = [np.hstack([eye, -column]), np.hstack([eye, 0 * column])]
    right = [np.hstack([eye, -odds * column]), np.tile(np.append(prior, 0.0), (n, 1))]
    # z = (u - 1) / rise, so that f.z - t has the coefficients f / rise and -(sum f / rise + t).
    left += [-_in_odds(cut.left, cut.left_offset, rise)[None] for cut in cuts]
    right += [_in_odds(cut.right, cut.right_offset, rise)[None] for cut in cuts]
    return np.vstack(left), np.vstack(right)


def _in_odds(form: Array, offset: float, rise: float) -> Array:
    return np.append(form / rise, -form.sum() / rise - offset)


def pair_cuts(prior: Array, groups: int = 14) -> list[Cut]:
    """`z(A) z(B) >= 0` and `z(A) (z(A) - 1) >= 0` for groups of categories alike in rank and logarithm.

    They matter where sets are small, since the moments of a relaxation forget that these cannot be negative.
    """
    ranks = np.argsort(np.argsort(-prior)) / len(prior)
    falls = np.log(prior.max() / prior)
    place = 0.4 * ranks + 0.6 * falls / max(falls.max(), 1e-9)
    group = np.minimum((groups * place).astype(int), groups - 1)
    members = [(group == number).astype(float) for number in np.unique(group)]
    apart = [Cut(one, 0, other, 0) for i, one in enumerate(members) for other in members[:i]]
    return apart + [total_cut(one, 0) for one in members if one.sum() > 1]
