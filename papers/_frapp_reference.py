"""Beside Figure 4.1: what an independent implementation found on CENSUS, and whether ours is the same but for chance.

The thesis draws its errors and prints none. The reference was written and run apart from this library; its means are of
about 20 disguises at gamma = 19 and 2 %.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from papers._repeated import MEASURES, Errors
from papers.comparison import Printed, Row, compare_draw

REFERENCE_DISGUISES = 20

Reference = Mapping[str, Sequence[Sequence[float | None]]]
"""By scheme and length: sigma+, sigma-, rho and F1 in percent; None where they are not given."""

CENSUS_REFERENCE: Reference = {
    "DET-GD": (
        (10.2, 20.4, 103, 83),
        (29.5, 39.4, 133, 62),
        (43.9, 53.8, 104, 47),
        (41.0, 62.6, 60, 41),
        (None, None, None, 41),
        (None, None, None, 39),
    ),
    "MASK": (
        (6.6, 2.8, 10.5, 96),
        (25.5, 24.1, 76, 77),
        (22.4, 58.4, 413, 51),
        (4.5, 90.5, None, 17),
        (None, None, None, 1),
        (None, None, None, 0),
    ),
}


def reference_rows(name: str, reference: Reference, errors: Mapping[str, Errors]) -> list[Row]:
    """A row for each number: whether it could be the mean of as many disguises of ours."""
    given = [
        (f"{name} {scheme} length {length} {measure}, reference", number, with_f1(errors[scheme])[:, length - 1, place])
        for scheme, table in reference.items()
        for length, numbers in enumerate(table, start=1)
        for place, (measure, number) in enumerate(zip((*MEASURES, "F1"), numbers, strict=True))
        if number is not None
    ]
    return [
        compare_draw(title, Printed(str(number)), ours, of=REFERENCE_DISGUISES, numbers=len(given)).as_reference()
        for title, number, ours in given
    ]


def with_f1(errors: Errors) -> Errors:
    """F1 behind the other measures: `2 r / (1 + r + sigma+)`, r being the share that is not lost."""
    given = errors.filled(np.nan)
    mistaken, kept = given[..., 0] / 100, 1 - given[..., 1] / 100
    return np.ma.masked_invalid(np.dstack([given, 200 * kept / (1 + kept + mistaken)]))
