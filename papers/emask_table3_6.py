"""EMASK, Table 3.6: frequent itemsets of BMS-WebView-2 at 0.3 %, and the errors of mining its disguise."""

from functools import partial

from papers import _thesis
from papers._emask_table import Table
from sottovoce.datasets.published import bms_webview

TITLE = "BMS-WebView-2, p = 0.5350, q = 0.9958, min_support 0.3 %"
SOURCE = _thesis.SOURCE.format("Table 3.6")

rerun = Table(
    "BMS-WebView-2",
    partial(bms_webview, 2),
    times=50,
    coins=(0.535, 0.9958),
    min_support=0.003,
    printed=[
        (340, 1.17, 0.88, 1.11),
        (270, 1.85, 0.74, 0.99),
        (338, 2.36, 1.18, 1.5),
        (278, 6.83, 1.07, 2.54),
        (101, 20.79, 3.96, 3.91),
        (13, 7.69, 0, 3.82),
    ],
    delta="2.21",
    quick=8,
).rerun
