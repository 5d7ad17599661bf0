"""EMASK, Table 3.3: frequent itemsets of synthetic baskets at 0.5 %, and the errors of mining their disguise."""

from functools import partial

from papers import _emask_quest, _thesis
from papers._emask_table import Table
from sottovoce.datasets.published import t10i4d100k

TITLE = "T10.I4.D1M.N1K, p = 0.5051, q = 0.9696, min_support 0.5 %"
SOURCE = _thesis.SOURCE.format("Table 3.3")

PRINTED = [
    (560, 0.71, 0.71, 2.55),
    (470, 8.51, 4.89, 2.79),
    (326, 4.29, 8.58, 3.38),
    (208, 8.65, 6.73, 5.68),
    (125, 0.8, 10.4, 8.64),
    (43, 0, 11.62, 13.57),
    (10, 0, 10, 19.08),
    (1, 0, 0, 20.19),
]

table = Table(
    "T10I4",
    t10i4d100k,
    times=10,
    coins=(0.5051, 0.9696),
    min_support=0.005,
    printed=PRINTED,
    delta="2.91",
    quick=0,
)
rerun = partial(_emask_quest.rerun, table)
