"""EMASK, Table 3.7: frequent itemsets of BMS-WebView-2 at 0.5 %, and the errors of mining its disguise."""

from functools import partial

from papers import _thesis
from papers._emask_privacy import Privacies
from papers._emask_table import Table
from sottovoce.datasets.published import bms_webview

TITLE = "BMS-WebView-2, p = 0.5350, q = 0.9958, min_support 0.5 %"
SOURCE = _thesis.SOURCE.format("Table 3.7")

rerun = Table(
    "BMS-WebView-2",
    partial(bms_webview, 2),
    times=50,
    coins=(0.535, 0.9958),
    min_support=0.005,
    printed=[
        (170, 1.17, 0.58, 0.79),
        (120, 1.66, 0, 0.84),
        (88, 3.4, 0, 1.39),
        (28, 25, 0, 2.37),
        (2, 0, 0, 3.27),
    ],
    delta="2.17",
    quick=6,
    privacy=Privacies(support=0.0015, basic="91.4", reinterrogation="75.7", known_support=0.001),
).rerun
