"""EMASK, Table 3.5: frequent itemsets of BMS-WebView-1 at 0.5 %, and the errors of mining its disguise."""

from functools import partial

from papers import _thesis
from papers._emask_table import Table
from sottovoce.datasets.published import bms_webview

TITLE = "BMS-WebView-1, p = 0.5673, q = 0.9877, min_support 0.5 %"
SOURCE = _thesis.SOURCE.format("Table 3.5")

rerun = Table(
    "BMS-WebView-1",
    partial(bms_webview, 1),
    times=10,
    coins=(0.5673, 0.9877),
    min_support=0.005,
    printed=[
        (150, 2, 0.66, 2.28),
        (45, 0, 2.22, 2.22),
        (6, 33.33, 0, 2.55),
    ],
    delta="1.58",
    quick=30,
).rerun
