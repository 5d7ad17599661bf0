"""Data sets of the papers, read from a folder or downloaded, and checked by their SHA-256.

The environment variable `SOTTOVOCE_DATA` names the folder; its layout is the `path` of each entry in `files`. No data
are part of the package.
"""

from sottovoce._lazy import lazy

HOMES = {
    "datasets.published": (
        "bms_webview",
        "repeat_baskets",
        "t10i4d100k",
        "adult",
        "binary_adult",
        "binary_breast_cancer",
        "breast_cancer_ljubljana",
        "breast_cancer_wisconsin",
        "car",
        "census",
        "cholesterol",
        "connect_4",
        "health_stand_in",
        "households",
        "ego_facebook",
        "friendships",
    ),
    "datasets.quest": ("quest_transactions",),
}

__getattr__, __dir__ = lazy(__name__, HOMES)
