"""Made by tools/stubs.py from the table of homes in `__init__.py`."""

from sottovoce.schemes.attribute_sampling import AttributeSampling as AttributeSampling
from sottovoce.schemes.crosswise import Crosswise as Crosswise
from sottovoce.schemes.cut_and_paste import CutAndPaste as CutAndPaste
from sottovoce.schemes.emask import Emask as Emask
from sottovoce.schemes.forced_response import ForcedResponse as ForcedResponse
from sottovoce.schemes.gamma_diagonal import GammaDiagonal as GammaDiagonal
from sottovoce.schemes.kuk import Kuk as Kuk
from sottovoce.schemes.laplace import Laplace as Laplace
from sottovoce.schemes.mangat import Mangat as Mangat
from sottovoce.schemes.mask import Mask as Mask
from sottovoce.schemes.matrix import Matrix as Matrix
from sottovoce.schemes.optimized_unary import OptimizedUnary as OptimizedUnary
from sottovoce.schemes.random_set import RandomSet as RandomSet
from sottovoce.schemes.randomized_gamma_diagonal import RandomizedGammaDiagonal as RandomizedGammaDiagonal
from sottovoce.schemes.randomized_response import RandomizedResponse as RandomizedResponse
from sottovoce.schemes.related_question import RelatedQuestion as RelatedQuestion
from sottovoce.schemes.scheme import Scheme as Scheme
from sottovoce.schemes.subset_selection import SubsetSelection as SubsetSelection
from sottovoce.schemes.symmetric_unary import SymmetricUnary as SymmetricUnary
from sottovoce.schemes.triangular import Triangular as Triangular
from sottovoce.schemes.uniform_perturbation import UniformPerturbation as UniformPerturbation
from sottovoce.schemes.unrelated_question import UnrelatedQuestion as UnrelatedQuestion
from sottovoce.schemes.warner import Warner as Warner
