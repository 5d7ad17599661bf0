"""FRAPP, Figure 4.3: RAN-GD over the whole range of its private parameter, on CENSUS."""

from functools import partial

from papers import _frapp, _frapp_alpha, _thesis

TITLE = "CENSUS: posterior range and errors at length 4 of RAN-GD, over alpha"
SOURCE = _thesis.SOURCE.format("Figure 4.3")

rerun = partial(_frapp_alpha.rerun, _frapp.CENSUS)
