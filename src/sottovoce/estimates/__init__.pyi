"""Made by tools/stubs.py from the table of homes in `__init__.py`."""

from sottovoce.estimates.derived import Derived as Derived
from sottovoce.estimates.derived import derive as derive
from sottovoce.estimates.estimate import Estimate as Estimate
from sottovoce.estimates.estimate import Respondents as Respondents
from sottovoce.estimates.groups import Comparison as Comparison
from sottovoce.estimates.groups import Estimates as Estimates
from sottovoce.estimates.groups import stratified as stratified
from sottovoce.estimates.independence import IndependenceTest as IndependenceTest
from sottovoce.estimates.laplace_costs import Cost as Cost
from sottovoce.estimates.laplace_costs import DerivedCost as DerivedCost
from sottovoce.estimates.laplace_costs import Failures as Failures
from sottovoce.estimates.laplace_costs import mechanism_costs as mechanism_costs
from sottovoce.estimates.laplace_costs import reconstruction_failures as reconstruction_failures
from sottovoce.estimates.proportions import NeverAskedError as NeverAskedError
from sottovoce.estimates.sample_size import expected_estimate as expected_estimate
from sottovoce.estimates.sample_size import expected_proportions as expected_proportions
from sottovoce.estimates.sample_size import expected_width as expected_width
from sottovoce.estimates.sample_size import respondents_needed as respondents_needed
from sottovoce.estimates.supports import Supports as Supports
from sottovoce.estimates.two_samples import TwoSamples as TwoSamples
from sottovoce.estimates.two_samples import best_split as best_split
from sottovoce.estimates.two_samples import solve_two_samples as solve_two_samples
