"""EMASK, Table 3.4: frequent itemsets of BMS-WebView-1 at 0.3 %, and the errors of mining its disguise."""

from functools import partial

from papers import _thesis
from papers._emask_privacy import Privacies
from papers._emask_table import Table
from sottovoce.datasets.published import bms_webview

TITLE = "BMS-WebView-1, p = 0.5673, q = 0.9877, min_support 0.3 %"
SOURCE = _thesis.SOURCE.format("Table 3.4")

rerun = Table(
    "BMS-WebView-1",
    partial(bms_webview, 1),
    times=10,
    coins=(0.5673, 0.9877),
    min_support=0.003,
    printed=[
        (225, 1.33, 2.22, 3.27),
        (169, 5.91, 1.18, 2.68),
        (39, 5.12, 10.25, 3.34),
        (2, 0, 0, 6.02),
    ],
    delta="2.03",
    quick=30,
    privacy=Privacies(support=0.005, basic="89.23", reinterrogation="74.14", known_support=0.003),
).rerun
