"""FRAPP, Figure 4.4: RAN-GD over the whole range of its private parameter, on HEALTH (a stand-in)."""

from functools import partial

from papers import _frapp, _frapp_alpha, _thesis

TITLE = "HEALTH (a stand-in): posterior range and errors at length 4 of RAN-GD, over alpha"
SOURCE = _thesis.SOURCE.format("Figure 4.4")

rerun = partial(_frapp_alpha.rerun, _frapp.HEALTH)
