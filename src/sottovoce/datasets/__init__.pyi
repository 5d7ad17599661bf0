"""Made by tools/stubs.py from the table of homes in `__init__.py`."""

from sottovoce.datasets.baskets import bms_webview as bms_webview
from sottovoce.datasets.baskets import repeat_baskets as repeat_baskets
from sottovoce.datasets.baskets import t10i4d100k as t10i4d100k
from sottovoce.datasets.categorical import adult as adult
from sottovoce.datasets.categorical import binary_adult as binary_adult
from sottovoce.datasets.categorical import binary_breast_cancer as binary_breast_cancer
from sottovoce.datasets.categorical import breast_cancer_ljubljana as breast_cancer_ljubljana
from sottovoce.datasets.categorical import breast_cancer_wisconsin as breast_cancer_wisconsin
from sottovoce.datasets.categorical import car as car
from sottovoce.datasets.categorical import census as census
from sottovoce.datasets.categorical import cholesterol as cholesterol
from sottovoce.datasets.categorical import connect_4 as connect_4
from sottovoce.datasets.categorical import health_stand_in as health_stand_in
from sottovoce.datasets.categorical import households as households
from sottovoce.datasets.networks import ego_facebook as ego_facebook
from sottovoce.datasets.networks import friendships as friendships
from sottovoce.datasets.quest import quest_transactions as quest_transactions
