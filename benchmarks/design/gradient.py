"""The best square matrices that gradients find: many levels and starts at once, bounds as penalties."""

import numpy as np

from sottovoce.checks import Array
from sottovoce.measures.privacy import adversary_accuracy, worst_posterior
from sottovoce.measures.utility import average_mean_squared_error

LEVELS, STARTS, STEPS = 25, 4, 4000
PENALTY = 30.0


def descended(prior: Array, respondents: float, delta: float) -> Array:
    """Right guesses and errors of feasible square matrices, for several accuracies and starts."""
    n = len(prior)
    rng = np.random.default_rng(1)
    levels = np.repeat(np.linspace(prior.max(), delta, LEVELS + 1)[1:], STARTS)
    start = np.log(levels[:, None, None] * np.eye(n) + (1 - levels[:, None, None]) / n)
    logits = start + 0.3 * rng.standard_normal((len(levels), n, n))
    matrices = _within(_adam(logits, prior, levels, delta), prior, levels, delta)
    error = average_mean_squared_error(matrices, prior, respondents)
    return np.column_stack([adversary_accuracy(matrices, prior), error])


def _adam(logits: Array, prior: Array, levels: Array, delta: float) -> Array:
    """Adam with a falling step (Kingma & Ba 2015) on `log tr J^-1` plus penalties; columns are softmaxes."""
    first, second = np.zeros_like(logits), np.zeros_like(logits)
    for step in range(1, STEPS + 1):
        matrices = _softmax(logits)
        slope = _slope(matrices, prior, levels, delta)
        slope = matrices * (slope - (slope * matrices).sum(axis=1, keepdims=True))
        first, second = 0.9 * first + 0.1 * slope, 0.999 * second + 0.001 * slope**2
        rate = 0.05 * 0.5 * (1 + np.cos(np.pi * step / STEPS))
        logits = logits - rate * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.999**step)) + 1e-12)
    return _softmax(logits)


def _slope(matrices: Array, prior: Array, levels: Array, delta: float) -> Array:
    """Derivative by the matrices' entries: `J^-1 = A^-1 diag(A p) A^-T` for square ones."""
    reports = matrices @ prior
    inverse = np.linalg.inv(matrices)
    spread = (inverse * reports[:, None, :]) @ inverse.transpose(0, 2, 1)
    own = (inverse**2).sum(axis=1)[:, :, None] * prior
    slope = (own - 2 * (spread @ inverse).transpose(0, 2, 1)) / np.trace(spread, axis1=1, axis2=2)[:, None, None]
    joint = matrices * prior
    guessed = joint == joint.max(axis=2, keepdims=True)
    over = joint.max(axis=2).sum(axis=1) > levels
    slope += PENALTY * (over[:, None, None] * guessed) * prior
    sure = joint > delta * reports[:, :, None]
    return np.asarray(slope + PENALTY * prior * (sure - delta * sure.sum(axis=2, keepdims=True)))


def _softmax(logits: Array) -> Array:
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def _within(matrices: Array, prior: Array, levels: Array, delta: float) -> Array:
    """Mix with a report that tells nothing, as little as keeps both bounds."""
    constant = np.broadcast_to((matrices @ prior)[:, :, None], matrices.shape)
    low, high = np.zeros(len(matrices)), np.ones(len(matrices))
    for _ in range(50):
        middle = (low + high) / 2
        mixed = (1 - middle)[:, None, None] * matrices + middle[:, None, None] * constant
        kept = (adversary_accuracy(mixed, prior) <= levels) & (worst_posterior(mixed, prior) <= delta)
        low, high = np.where(kept, low, middle), np.where(kept, middle, high)
    return np.asarray((1 - high)[:, None, None] * matrices + high[:, None, None] * constant)
