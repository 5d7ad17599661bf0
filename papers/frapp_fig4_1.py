"""FRAPP, Figure 4.1: errors of mining CENSUS under four disguises, by length."""

from functools import partial

from papers import _frapp, _frapp_lengths, _frapp_reference, _thesis

TITLE = "CENSUS at 2 %: errors by length under DET-GD, RAN-GD, MASK and C&P, and condition numbers"
SOURCE = _thesis.SOURCE.format("Figure 4.1")

rerun = partial(_frapp_lengths.rerun, _frapp.CENSUS, 4, _frapp_reference.CENSUS_REFERENCE)
