"""MOPSO's answer: the front of what its swarm has found, as exact schemes."""

from typing import Any

import numpy as np

from sottovoce.design.front import Front
from sottovoce.design.mopso.settings import Settings
from sottovoce.design.mopso.swarm import Swarm
from sottovoce.design.objective import BITS_AND_DISTORTION
from sottovoce.design.optrr.front import measured_points
from sottovoce.design.requirement import Requirement
from sottovoce.errors import SottovoceError, Words
from sottovoce.estimate.em import Progress
from sottovoce.exact import Number, OddsLike
from sottovoce.measure.covariance import checked_respondents


def mopso_front(
    prior: Any,
    respondents: float,
    *,
    odds: OddsLike | None = None,
    epsilon: Number | None = None,
    settings: Settings | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
) -> Front:
    """Front of bits against distortion that a discrete particle swarm finds (Gao et al. 2018, Algorithm 1).

    A search: it knows no bound, and the certified front lies below it. The same seed finds the same front.

    >>> quick = Settings(generations=5, particles=10)
    >>> front = mopso_front([0.5, 0.3, 0.2], respondents=1000, odds=4, settings=quick, seed=1)
    >>> max(point["epsilon"] for point in front) <= np.log(4)
    np.True_
    """
    asked = Requirement.of(prior, odds=odds, epsilon=epsilon).for_information()
    if asked.float_odds is None:
        raise SottovoceError("odds or epsilon", "must be given, one of them: the swarm keeps to it", Words("none"))
    swarm = Swarm(np.asarray(asked.law), asked.float_odds, settings or Settings(), np.random.default_rng(seed))
    swarm.run(progress)
    size = checked_respondents(respondents)
    matrices, losses = swarm.front()
    points = measured_points(matrices, losses[:, 0], asked, size)
    return Front(points, asked.prior, size, "MOPSO", BITS_AND_DISTORTION)
