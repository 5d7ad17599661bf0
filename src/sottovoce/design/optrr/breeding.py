"""New matrices: those a search begins with, and the children of a generation."""

from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.channel.channel import Array
from sottovoce.design.optrr.settings import Settings
from sottovoce.errors import MissingExtraError
from sottovoce.mechanism.bulk import kernels

LOOPS = ("sottovoce.design.optrr._kernels", "sottovoce.design.optrr._breeding_kernels")
"""Modules whose loops are compiled."""

UNIFORMS = 14
"""Random numbers of a child: six for its pair's parents, six for its mutation, and whether it mutates, and how."""

REACH = 100
"""Places of Omega's front that neighbours may be apart."""

SHIFTED = 2 / 3
"""Of mutations that keep zeros and ties, those that move a part of a column; the others raise or lower a report."""


def compiled() -> Any:
    """All loops of the search, compiled."""
    found = [kernels(module) for module in LOOPS]
    if None in found:
        raise MissingExtraError("OptRR's search", "numba", "design")
    return SimpleNamespace(**{name: loop for module in found for name, loop in vars(module).items()})


def first_matrices(prior: Array, count: int, rng: np.random.Generator) -> Array:
    """Random matrices between noise and the identity, for the repair to make them meet delta.

    The noise of a matrix is spread evenly, or like the prior, and its columns are more or less alike. So they are
    scattered along the whole front, which a search that starts near one of its ends does not reach.
    """
    n = len(prior)
    truth, alike, even = rng.random((3, count, 1, 1))
    noise = rng.standard_gamma(np.where(even < 0.5, 1.0, n * prior), (count, n + 1, n))
    noise /= noise.sum(axis=2, keepdims=True)
    columns = alike * noise[:, :1] + (1 - alike) * noise[:, 1:]
    return np.ascontiguousarray(truth * np.eye(n) + (1 - truth) * columns.transpose(0, 2, 1))


def bred(
    loops: Any,
    settings: Settings,
    rng: np.random.Generator,
    prior: Array,
    archive: tuple[Array, Array],
    omega: tuple[Array, NDArray[np.intp]],
) -> Array:
    """Children by crossover and one kind of mutation, or none, of an archive and its fitness, and Omega and its front.

    The front is of places, in order of privacy.
    """
    uniforms = rng.random((settings.population, UNIFORMS))
    children = np.empty((settings.population, len(prior), len(prior)))
    loops.mate(*archive, *omega, uniforms, settings.neighbours, REACH, children)
    mutates, kind = uniforms[:, 12] < settings.mutation_rate, uniforms[:, 13]
    shifted, kept = kind < SHIFTED * settings.levelling, kind < settings.levelling
    loops.mutate(children, np.flatnonzero(mutates & ~kept), uniforms)
    loops.shift(children, np.flatnonzero(mutates & shifted), prior, uniforms)
    loops.lift(children, np.flatnonzero(mutates & kept & ~shifted), prior, uniforms)
    return children
