"""Made by tools/stubs.py from the table of homes in `__init__.py`."""

from sottovoce import datasets as datasets
from sottovoce import designs as designs
from sottovoce import estimates as estimates
from sottovoce import graphs as graphs
from sottovoce import measures as measures
from sottovoce import mining as mining
from sottovoce import schemes as schemes
from sottovoce import surveys as surveys
from sottovoce.counts.tally import Tally as Tally
from sottovoce.designs.certified import design as design
from sottovoce.designs.compare import compare as compare
from sottovoce.designs.recommend.recommend import recommend as recommend
from sottovoce.disguises.audit.run import audit as audit
from sottovoce.disguises.records import disguise_record as disguise_record
from sottovoce.errors import SottovoceError as SottovoceError
from sottovoce.errors import SottovoceWarning as SottovoceWarning
from sottovoce.estimates.estimate import Estimate as Estimate
from sottovoce.plans.plan import Plan as Plan
from sottovoce.reports.reports import Reports as Reports
from sottovoce.reports.verbs import disguise as disguise
from sottovoce.reports.verbs import plan as plan
from sottovoce.reports.verbs import read as read
from sottovoce.schemas.attribute import Attribute as Attribute
from sottovoce.schemas.attribute import boolean as boolean
from sottovoce.schemas.binned import Binned as Binned
from sottovoce.schemas.item_set import ItemSet as ItemSet
from sottovoce.schemas.schema import Schema as Schema
from sottovoce.tables.infer import infer_schema as infer_schema
from sottovoce.tables.plan_file import read_plan as read_plan
from sottovoce.tables.plan_file import write_plan as write_plan

__version__: str
