"""Made by tools/stubs.py from the table of homes in `__init__.py`."""

from sottovoce.datasets.published import adult as adult
from sottovoce.datasets.published import binary_adult as binary_adult
from sottovoce.datasets.published import binary_breast_cancer as binary_breast_cancer
from sottovoce.datasets.published import bms_webview as bms_webview
from sottovoce.datasets.published import breast_cancer_ljubljana as breast_cancer_ljubljana
from sottovoce.datasets.published import breast_cancer_wisconsin as breast_cancer_wisconsin
from sottovoce.datasets.published import car as car
from sottovoce.datasets.published import census as census
from sottovoce.datasets.published import cholesterol as cholesterol
from sottovoce.datasets.published import connect_4 as connect_4
from sottovoce.datasets.published import ego_facebook as ego_facebook
from sottovoce.datasets.published import friendships as friendships
from sottovoce.datasets.published import health_stand_in as health_stand_in
from sottovoce.datasets.published import households as households
from sottovoce.datasets.published import repeat_baskets as repeat_baskets
from sottovoce.datasets.published import t10i4d100k as t10i4d100k
from sottovoce.datasets.quest import quest_transactions as quest_transactions
