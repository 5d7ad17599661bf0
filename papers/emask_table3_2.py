"""EMASK, Table 3.2: frequent itemsets of synthetic baskets at 0.3 %, and the errors of mining their disguise."""

from functools import partial

from papers import _emask_quest, _thesis
from papers._emask_privacy import Privacies
from papers._emask_table import Table
from sottovoce.datasets.published import t10i4d100k

TITLE = "T10.I4.D1M.N1K, p = 0.5051, q = 0.9696, min_support 0.3 %"
SOURCE = _thesis.SOURCE.format("Table 3.2")

PRINTED = [
    (664, 1.05, 1.35, 3.34),
    (1847, 6, 6.38, 3.92),
    (1310, 3.58, 5.11, 3.97),
    (864, 7.98, 6.82, 5.7),
    (419, 7.15, 13.12, 8.46),
    (115, 6.08, 9.56, 12.12),
    (21, 0, 4.76, 16.61),
    (2, 0, 0, 16.53),
]

table = Table(
    "T10I4",
    t10i4d100k,
    times=10,
    coins=(0.5051, 0.9696),
    min_support=0.003,
    printed=PRINTED,
    delta="3.94",
    quick=0,
    privacy=Privacies(support=0.01, basic="92.5", reinterrogation="71.3", known_support=0.003),
)
rerun = partial(_emask_quest.rerun, table)
