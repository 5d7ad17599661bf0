"""FRAPP, Figure 4.2: errors of mining HEALTH (a stand-in) under four disguises, by length."""

from functools import partial

from papers import _frapp, _frapp_lengths, _thesis

TITLE = "HEALTH (a stand-in) at 2 %: errors by length under DET-GD, RAN-GD, MASK and C&P, and condition numbers"
SOURCE = _thesis.SOURCE.format("Figure 4.2")

rerun = partial(_frapp_lengths.rerun, _frapp.HEALTH, 5, {})
