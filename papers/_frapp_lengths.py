"""Figures 4.1 and 4.2: errors of four disguises by length of the itemsets, and condition numbers."""

from typing import Any

import numpy as np

from papers._frapp import CUTOFF, GAMMA, MIN_SUPPORT, PASTED, Data
from papers._frapp_reference import Reference, reference_rows
from papers._frapp_schemes import schemes
from papers._repeated import MEASURES, Errors, counted, percentage, repeated
from papers.comparison import LEVEL, Known, Measured, Row, all_of, claim, compare_draw
from papers.rerun import Progress, Rerun
from sottovoce.measures.utility import condition_number
from sottovoce.schemes.cut_and_paste import CutAndPaste

DISGUISES, QUICK = 200, 20
POSITIVE, NEGATIVE, SUPPORT = range(3)
RARE = 0.05
NEVER = (
    "read as: in no disguise, of so many that what happens in one of twenty would have been seen with 99 % confidence, "
    "or of any number where matrices are singular"
)
ORDER = "read as: its logarithm rounds to the power"
COLOURS = {"DET-GD": "C0", "RAN-GD": "C1", "MASK": "C2", "C&P": "C3"}
MARKERS = {"DET-GD": "o", "RAN-GD": "x", "MASK": "s", "C&P": "^"}


def rerun(data: Data, mask_finds: int, reference: Reference, *, quick: bool, seed: int, progress: Progress) -> Rerun:
    """Errors of every scheme over repeated disguises; `mask_finds` is the longest that MASK finds in the thesis."""
    disguises = QUICK if quick else DISGUISES
    errors: dict[str, Errors] = {}
    for place, (name, mine) in enumerate(schemes(data).items()):
        moved = counted(progress, place * disguises, 4 * disguises)
        errors[name] = repeated(mine, data.truth, range(seed, seed + disguises), moved)
    conditions = condition_numbers(data)
    rows = [*_claims(data, errors, conditions, mask_finds), *_condition_rows(conditions)]
    rows += reference_rows(data.name, reference, errors)
    notes = [f"{name}, sigma+/sigma-/rho in % by length: {_listed(found)}." for name, found in errors.items()]
    notes += [
        "The thesis has one disguise: that MASK lost all long sets there is compared with the range of ours, too.",
        f"DET-GD keeps {100 / conditions['DET-GD, RAN-GD'][0]:.1f} % of the records whole, whatever the length: of "
        "short sets, up to about the length at which their condition numbers pass its own, it loses more than MASK and "
        "cut-and-paste do.",
        "RAN-GD's reports are distributed exactly as DET-GD's, whatever r: their errors differ by chance alone, and a "
        "miner who averages over r learns as much.",
        f"Cut-and-paste has rank {CUTOFF + 1}: its matrices above length {CUTOFF} are singular, whatever finite "
        f"condition number arithmetic gives. With rho = {PASTED} its odds are {_pasted_odds(PASTED):.1f}; "
        f"{float(CutAndPaste(CUTOFF, gamma=GAMMA).rho):.4f} is enough for {GAMMA}.",
    ]
    settings = {"gamma": GAMMA, "min_support": MIN_SUPPORT, "cutoff": CUTOFF, "rho": PASTED, "disguises": disguises}
    about = {**settings, "records": len(data.transactions[0]) - 1, "joint cells": data.cells, "seed": seed}
    return Rerun(
        about, rows, [*notes, data.note] if data.note else notes, lambda figure: _draw(figure, errors, conditions)
    )


def _pasted_odds(rho: float) -> float:
    """Odds of cut-and-paste, `sum_j rho^-j` up to the cutoff."""
    return sum(rho**-j for j in range(CUTOFF + 1))


def condition_numbers(data: Data) -> dict[str, list[float]]:
    """Of the matrices that turn reported supports of each length into true ones."""
    size = len(data.table[0].names)
    odds = GAMMA ** (1 / (2 * size))
    coin = float(condition_number(np.array([[odds, 1], [1, odds]]) / (1 + odds)))
    channel: Any = data.items_under(CutAndPaste(CUTOFF, PASTED)).channel(["items"])
    lengths = range(1, size + 1)
    pasted = [float(condition_number(np.array(channel.counts_matrix(size, k), float))) for k in lengths]
    return {
        "DET-GD, RAN-GD": [(GAMMA + data.cells - 1) / (GAMMA - 1)] * size,
        "MASK": [coin**k for k in lengths],
        "C&P": [number if k <= CUTOFF else np.inf for k, number in zip(lengths, pasted, strict=True)],
    }


def _claims(data: Data, errors: dict[str, Errors], conditions: dict[str, list[float]], mask_finds: int) -> list[Row]:
    rows = []
    for length in range(1, errors["MASK"].shape[1] + 1):
        lost = {name: Measured.mean_of(found[:, length - 1, NEGATIVE]) for name, found in errors.items()}
        said = ", ".join(f"{name} {share} %" for name, share in lost.items())
        better = all_of(lost["DET-GD"].below(lost[other]) for other in ("MASK", "C&P"))
        words = "DET-GD visibly better than MASK and C&P"
        rows.append(claim(f"{data.name} length {length} sigma-", words, said, better, "read as: loses fewer sets"))
    rows += _lost_above(data, errors["MASK"], mask_finds)
    for name, longest in (("MASK", mask_finds), ("C&P", CUTOFF)):
        found = 100 - errors[name][:, longest:, NEGATIVE]
        some = (found > 0).any(axis=1)
        shown = f"finds some in {100 * some.mean():.1f} % of the disguises, at most {found.max():.1f} % of a length"
        never = _never(some, possible=bool(np.isfinite(conditions[name][longest:]).any()))
        rows.append(claim(f"{name} above length {longest}", "finds no itemsets", shown, never, NEVER))
    rows.append(_marginally(*(errors[name][:, :, NEGATIVE] for name in ("DET-GD", "RAN-GD"))))
    return rows


def _never(seen: Any, *, possible: bool) -> Known:
    """Whether something never happens: not if it was seen; if not, only in so many runs that it would have been."""
    if seen.any():
        return False
    return True if not possible or (1 - RARE) ** len(seen) <= 1 - LEVEL else None


def _marginally(det: Errors, ran: Errors) -> Row:
    """The mean over lengths of what RAN-GD loses more than DET-GD, beside a standard deviation between disguises."""
    pairs = [
        (Measured.mean_of(det[:, k]), Measured.mean_of(ran[:, k]), float(det[:, k].std(ddof=1)))
        for k in range(det.shape[1])
    ]
    near = all_of(
        ours.distance(theirs).below(spread) if spread else ours.value == theirs.value for ours, theirs, spread in pairs
    )
    shown = ", ".join(f"{theirs} for {ours}" for ours, theirs, _ in pairs)
    read = "read as: sigma- differs at each length by less than a standard deviation between disguises"
    return claim("RAN-GD", "accuracy only marginally lower than DET-GD's", shown, near, read)


def _lost_above(data: Data, mask: Errors, longest: int) -> list[Row]:
    """All sets above a length are lost in the one disguise that the thesis has: whether it could be one of ours."""
    lengths = range(longest, mask.shape[1])
    return [
        compare_draw(
            f"{data.name} MASK length {place + 1} sigma-",
            percentage(100),
            mask[:, place, NEGATIVE],
            numbers=len(lengths),
        )
        for place in lengths
    ]


def _condition_rows(conditions: dict[str, list[float]]) -> list[Row]:
    """Growth with the length, and the orders of magnitude that section 4.2 gives for the longest sets."""
    det, mask, pasted = conditions.values()
    shown = {name: ", ".join(f"{number:.3g}" for number in each) for name, each in conditions.items()}
    growth = "read as: the factor from each length to the next does not fall"
    return [
        claim("condition numbers of DET-GD", "constant over all lengths", shown["DET-GD, RAN-GD"], len(set(det)) == 1),
        claim("condition numbers of MASK", "increase exponentially", shown["MASK"], _exponential(mask), growth),
        claim("condition numbers of C&P", "increase exponentially", shown["C&P"], _exponential(pasted), growth),
        claim(
            "largest condition number of MASK", "of the order of 10^5", f"{mask[-1]:.3g}", _order(mask[-1], 5), ORDER
        ),
        claim(
            "largest condition number of C&P", "of the order of 10^7", f"{pasted[-1]:.3g}", _order(pasted[-1], 7), ORDER
        ),
    ]


def _exponential(numbers: list[float]) -> bool:
    """Whether the finite ones grow by a factor that does not fall, but for rounding."""
    logs = np.log([number for number in numbers if np.isfinite(number)])
    return bool((np.diff(logs) > 0).all() and (np.diff(logs, 2) > -1e-9).all())


def _order(number: float, power: int) -> bool:
    return bool(np.isfinite(number) and round(float(np.log10(number))) == power)


def _listed(errors: Errors) -> str:
    means = errors.mean(axis=0).filled(np.nan)
    return ", ".join("/".join(f"{number:.1f}" for number in row) for row in means)


def _draw(figure: Any, errors: dict[str, Errors], conditions: dict[str, list[float]]) -> None:
    axes = figure.subplots(2, 2).ravel()
    for panel, place in zip(axes, (NEGATIVE, POSITIVE, SUPPORT), strict=False):
        for name, found in errors.items():
            means = found.mean(axis=0)[:, place]
            panel.plot(range(1, len(means) + 1), means, color=COLOURS[name], marker=MARKERS[name], label=name)
        panel.set(xlabel="length", ylabel=f"{MEASURES[place]} (%)", yscale="log" if place == SUPPORT else "linear")
    for label, numbers in conditions.items():
        name = label.partition(",")[0]
        shown = f"{label} (infinite above {CUTOFF})" if np.isinf(numbers[-1]) else label
        axes[3].plot(range(1, len(numbers) + 1), numbers, color=COLOURS[name], marker=MARKERS[name], label=shown)
    axes[3].set(xlabel="length", ylabel="condition number", yscale="log")
    for panel in axes:
        panel.grid(visible=True, alpha=0.3)
    axes[0].legend()
    axes[3].legend()
