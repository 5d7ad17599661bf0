"""Figures 4.1 and 4.2: errors of four disguises by length of the itemsets, and condition numbers."""

from typing import Any

import numpy as np

from papers._frapp import CUTOFF, GAMMA, MIN_SUPPORT, PASTED, Data
from papers._frapp_reference import Reference, reference_rows
from papers._frapp_schemes import schemes
from papers._repeated import MEASURES, Errors, counted, ranges, repeated
from papers.rerun import Progress, Rerun, Row, claimed, compared
from sottovoce.measures.utility import condition_number
from sottovoce.schemes.cut_and_paste import CutAndPaste

DISGUISES, QUICK = 200, 20
POSITIVE, NEGATIVE, SUPPORT = range(3)
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
    rows = [*_claims(data, errors, mask_finds), *_condition_rows(data, conditions)]
    rows += reference_rows(data.name, reference, errors)
    notes = [f"{name}, sigma+/sigma-/rho in % by length: {_listed(found)}." for name, found in errors.items()]
    notes += [
        "'Finds no itemsets' holds where no disguise of ours has any. The thesis has one disguise: what it lost there "
        "is compared with the range of ours, as in its tables.",
        f"DET-GD keeps {100 / conditions['DET-GD, RAN-GD'][0]:.1f} % of the records whole, whatever the length: of "
        "short sets, up to about the length at which their condition numbers pass its own, it loses more than MASK and "
        "cut-and-paste do.",
        "RAN-GD's reports are distributed exactly as DET-GD's, whatever r: their errors differ by chance alone, and a "
        "miner who averages over r learns as much.",
        f"Cut-and-paste has rank {CUTOFF + 1}: its matrices above length {CUTOFF} are singular, whatever finite "
        f"condition number arithmetic gives. With rho = {PASTED} its odds are 15.4; .4514 is enough for {GAMMA}.",
    ]
    settings = {"gamma": GAMMA, "min_support": MIN_SUPPORT, "cutoff": CUTOFF, "rho": PASTED, "disguises": disguises}
    about = {**settings, "records": len(data.transactions[0]) - 1, "joint cells": data.cells, "seed": seed}
    return Rerun(
        about, rows, [*notes, data.note] if data.note else notes, lambda figure: _draw(figure, errors, conditions)
    )


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


def _claims(data: Data, errors: dict[str, Errors], mask_finds: int) -> list[Row]:
    means = {name: found.mean(axis=0).filled(np.nan) for name, found in errors.items()}
    rows = []
    for length in range(1, len(means["MASK"]) + 1):
        lost = {name: mean[length - 1, NEGATIVE] for name, mean in means.items()}
        said = ", ".join(f"{name} {share:.1f} %" for name, share in lost.items())
        better = lost["DET-GD"] < min(lost["MASK"], lost["C&P"])
        rows.append(
            claimed(
                f"{data.name} length {length} sigma-", "DET-GD visibly better than MASK and C&P", said, holds=better
            )
        )
    rows += _lost_above(data, errors["MASK"], mask_finds)
    for name, longest in (("MASK", mask_finds), ("C&P", CUTOFF)):
        found = 100 - errors[name][:, longest:, NEGATIVE]
        some = float((found > 0).any(axis=1).mean())
        shown = f"finds some in {100 * some:.1f} % of the disguises, at most {found.max():.1f} % of a length"
        rows.append(claimed(f"{name} above length {longest}", "finds no itemsets", shown, holds=some == 0))
    det, ran = (errors[name][:, :, NEGATIVE] for name in ("DET-GD", "RAN-GD"))
    apart = np.abs(det.mean(axis=0) - ran.mean(axis=0))
    noise = np.sqrt((det.var(axis=0, ddof=1) + ran.var(axis=0, ddof=1)) / len(det))
    shown = f"{apart.max():.1f} points of sigma- apart at the most"
    close = bool((apart <= 5 * noise).all())
    rows.append(claimed("RAN-GD", "only marginally less accurate than DET-GD", shown, holds=close))
    return rows


def _lost_above(data: Data, mask: Errors, longest: int) -> list[Row]:
    """All sets above a length are lost in the one disguise that the thesis has: whether it could be one of ours."""
    low, high = (ends[:, NEGATIVE] for ends in ranges(mask))
    mean, spread = mask.mean(axis=0)[:, NEGATIVE], mask.std(axis=0, ddof=1)[:, NEGATIVE]
    return [
        Row(
            f"{data.name} MASK length {place + 1} sigma-",
            100.0,
            float(mean[place]),
            "reproduced" if low[place] <= 100 <= high[place] else "differs",
            float(spread[place]),
        )
        for place in range(longest, len(mean))
    ]


def _condition_rows(data: Data, conditions: dict[str, list[float]]) -> list[Row]:
    det, mask, pasted = conditions.values()
    growth = ", ".join(f"{number:.3g}" for number in mask)
    return [
        compared("condition number of DET-GD at every length", 1 + data.cells / (GAMMA - 1), det[0], tolerance=1e-9),
        claimed("condition numbers of MASK", "increase exponentially", growth, holds=mask[-1] > 100 * mask[0]),
        claimed(
            "condition numbers of C&P",
            "increase exponentially",
            ", ".join(f"{number:.3g}" for number in pasted),
            holds=pasted[CUTOFF - 1] > 10 * pasted[0],
        ),
    ]


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
