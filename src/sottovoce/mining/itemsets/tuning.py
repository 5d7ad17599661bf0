"""Tuning constants of the itemset miner, with what each one does and what it was measured on."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Tuning:
    """Constants that decide what is reported, how fast the search is and how much memory it takes.

    Nobody needs to change them: they were chosen on BMS-WebView-1 and -2, T10I4D100K and two to four other synthetic
    data sets, and `docs/mining.md` reports the errors on data that was not used for the choice. For experiments, give
    another `Tuning` to the `Search` that `mine_itemsets` takes.
    """

    # Selection: which candidates are reported, and which are kept only to be extended.
    false_positives: float = 0.08
    """Expected false sets of a length, as a share of the frequent ones, beyond sets that are probably frequent.

    Chosen among .05, .08 and .1 on ten disguises of each data set, so that fewer than a tenth are false at lengths 4
    to 6."""
    lowest_deviation: float = -0.84
    """Deviation from the threshold, in standard errors, below which no set is reported.

    The estimate of a frequent set exceeds it with probability .8 or more."""
    extend_within: float = 1.3
    """Standard errors below the threshold down to which sets are extended to longer ones, reported or not."""
    extend_within_smoothed: float = 2.0
    """The same for smoothed supports, in their own standard deviations, which are smaller."""
    most_extended: int = 1000
    """Sets of one length that are extended in addition to three times the number reported, most probable first."""
    prior_exponent: float = 1.0
    """Exponent of the power law of supports before any set is seen, as in Zipf's law; it weighs as much as one set."""
    negligible_deviation: float = -4.0
    """Deviation from the threshold, in standard errors, below which a set counts as not frequent."""

    # Memory and speed of the search.
    longest: int = 30
    """Items of the longest sets: beyond, powers of weak coins leave double precision."""
    candidates_at_once: int = 2**21
    """Candidates that are generated, counted and estimated together, which bounds memory."""
    most_survivors: int = 2**22
    """Survivors of one length above which the search is given up, before memory runs out."""
    pair_table_items: int = 4096
    """Items up to which all pairs are counted in one table."""
    sample_deviations: float = 4.0
    """Standard errors below the threshold at which a random sample rules out a pair.

    A frequent pair is lost with probability 3.2e-5."""
    sample_precision: float = 0.55
    """`sample_deviations` standard errors of the sample, as a share of the threshold; sets the size of the sample."""
    sample_saving: int = 3
    """A sample is drawn if there are at least this many times as many reports."""

    # Smoothing of supports by those of subsets (`smoothing`).
    smoothing_lengths: int = 4
    """Lengths of subsets whose noise is followed: n, n - 1, n - 2, n - 3."""
    smoothing_inputs: int = 3
    """Lengths of subsets whose mean supports are regressed on: n, n - 1, n - 2."""
    smoothing_width: float = 0.35
    """Standard deviation of the regression weights around the threshold, as a share of the threshold."""
    smoothing_fade: float = 3.0
    """Standard deviations above the previous length's cut-off over which regression weights rise from 0 to 1."""
    smoothing_shrinkage: float = 2.0
    """Shrinkage towards the lowest subset, in units of the noise, where there are no shorter sets to learn from."""
    smoothing_weight: float = 12.0
    """Sum of regression weights below which there are too few sets to learn from."""
    smoothing_rounds: int = 3
    """Iterations of the regression, whose weights depend on its result."""

    # Pattern model of long sets (`pattern_model`).
    shortest_modelled: int = 4
    """Items of the shortest sets whose supports come from the model."""
    widest_window: int = 14
    """Items of the widest windows, and of the longest modelled sets: 16,384 cells."""
    narrowest_window: int = 6
    """Items of the narrowest windows."""
    window_cells: float = 0.8
    """Cells of a window times the cube of the standard error of sets of four items, as a share of the threshold.

    Chosen so that the bias is small on all data sets: with too many cells, windows of 14 items bias long sets by nearly
    a standard error, windows of 8 by little; but narrow ones leave a tenth more noise where the reports are precise."""
    precise_error: float = 0.05
    """Standard error of sets of four items, as a share of the threshold, up to which fits are calibrated on those.

    Above, fits are calibrated on sets of three: too many sets of four are candidates because they came out too high."""
    em_steps: int = 120
    """EM steps of a fit. More steps fit noise: cells that reports say little about should stay near the start."""
    calibration_width: float = 0.2
    """Sets within this share of the threshold calibrate the fits."""
    refits: int = 8
    """Parametric bootstrap replications of each window."""
    least_refits: int = 32
    """Least number of replications of all windows together."""

    # Warnings.
    resolved_deviations: float = 2.0
    """Standard errors that a support must be above zero to be resolved."""


DEFAULT_TUNING = Tuning()
