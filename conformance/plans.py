"""Plans that vectors are made of: one for each case of each scheme, and some that mix everything."""

from collections.abc import Iterator
from fractions import Fraction

from sottovoce.mechanisms.cut_and_paste import CutPaste
from sottovoce.mechanisms.flips import BitCoin, Flips
from sottovoce.mechanisms.matrix import Listed
from sottovoce.mechanisms.private_diagonal import PrivateDiagonal
from sottovoce.mechanisms.replacement import Replacement
from sottovoce.mechanisms.sampling import Sampling
from sottovoce.mechanisms.turning import Turning
from sottovoce.plans.plan import Group, Plan, PriorSource
from sottovoce.plans.public import PublicNumber
from sottovoce.schemas.attribute import Attribute, boolean
from sottovoce.schemas.binned import Binned
from sottovoce.schemas.item_set import ItemSet
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.attribute_sampling import AttributeSampling
from sottovoce.schemes.cut_and_paste import CutAndPaste
from sottovoce.schemes.emask import Emask
from sottovoce.schemes.gamma_diagonal import GammaDiagonal
from sottovoce.schemes.matrix import Matrix
from sottovoce.schemes.optimized_unary import OptimizedUnary
from sottovoce.schemes.randomized_gamma_diagonal import RandomizedGammaDiagonal
from sottovoce.schemes.scheme import Scheme, Sizes, all_schemes
from sottovoce.schemes.subset_selection import SubsetSelection
from sottovoce.schemes.unrelated_question import UnrelatedQuestion
from sottovoce.schemes.warner import Warner

AGE = Binned("age", [18, 40, 65.5, float("inf")], closed="left", missing="no answer")
DRUG = Attribute("drug", ["never", "once", "often"])


def case_plans() -> Iterator[tuple[str, Plan]]:
    """One plan for each case of each scheme that is found, and a name for it."""
    for name, found in all_schemes().items():
        for number, (scheme, sizes) in enumerate(found.cases()):
            yield f"{name} {number}", case_plan(scheme, sizes)


def case_plan(scheme: Scheme, sizes: Sizes) -> Plan:
    """Attributes q0, q1, ... with categories 0, 1, ..., disguised as one group."""
    schema = Schema(Attribute(f"q{i}", range(size)) for i, size in enumerate(sizes))
    return Plan.of(schema, {schema.names: scheme})


def made_up_plans() -> Iterator[tuple[str, Plan]]:
    """Several groups, labels of all kinds, and reports that do not look like truths."""
    yield "groups in another order than the schema, a joint one turned round", _turned_round()
    yield "a joint report in one column, between columns of other groups", _in_one_column()
    yield "an item set, in a group with another attribute", _with_items()
    yield "labels that canonical JSON must escape, and some it must not", _labels()
    yield "odds below the promise", Plan.of(Schema([DRUG]), {"drug": Warner(p=Fraction(1, 2))}, odds=5)
    yield "named reports of a joint record, as many as truths", _named()
    yield "bounded odds in spite of zeros", _harmless_zeros()
    yield "sets of categories and of joint cells, between columns of other groups", _sets()
    yield "attributes asked or not, their group turned round, beside a set that is cut", _asked_or_not()
    yield "a sample of mechanisms of every kind that reports answers", _sampled_kinds()
    yield "version 2: public columns of every kind, which no coin touches", _with_public()


def _turned_round() -> Plan:
    schema = Schema([boolean("tax"), DRUG, AGE, Attribute("children", [0, 1, 2, 3])])
    return Plan.of(
        schema,
        {
            ("children", "drug"): GammaDiagonal(gamma=4),
            "age": UnrelatedQuestion(theta=0.5, known=[0.25, 0.5, 0.125, 0.125]),
            "tax": Warner(p=Fraction(3, 4)),
        },
    )


def _in_one_column() -> Plan:
    schema = Schema([boolean("first"), DRUG, boolean("second"), AGE])
    fifth = [[0.4, 0.1, 0.1, 0.2], [0.1, 0.4, 0.2, 0.1], [0.1, 0.2, 0.4, 0.1], [0.2, 0.1, 0.1, 0.4], [0.2] * 4]
    named = Matrix([[0.5, 0.25, 0.25], [0.5, 0.75, 0.75]], reports=["never, perhaps", "perhaps not"])
    return Plan.of(
        schema,
        {"age": Warner(p=0.7), ("second", "first"): Matrix(fifth), "drug": named},
        prior=PriorSource("public", "a published table"),
    )


def _with_items() -> Plan:
    schema = Schema([boolean("tax"), ItemSet("symptoms", ["cough", "fever", "rash"]), DRUG])
    known = [[0.5, 0.5], [0.9, 0.1], [0.8, 0.2], [0.6, 0.3, 0.1]]
    return Plan.of(
        schema, {("symptoms", "drug"): UnrelatedQuestion(theta=0.6, known=known), "tax": GammaDiagonal(odds=3)}
    )


def _named() -> Plan:
    rows = [[0.4, 0.2, 0.2, 0.2], [0.2, 0.4, 0.2, 0.2], [0.2, 0.2, 0.4, 0.2], [0.2, 0.2, 0.2, 0.4]]
    schema = Schema([DRUG, boolean("first"), boolean("second")])
    return Plan.of(schema, {("first", "second"): Matrix(rows, reports=[10, 20, 30, 40]), "drug": Warner(p=0.6)})


def _harmless_zeros() -> Plan:
    """A report that no truth makes, and a law with a zero that is used whatever the truth."""
    schema = Schema([Binned("age", [0, 40, 65, 120], closed="right"), boolean("tax")])
    always = Group(("age",), "unrelated_question", Replacement((3,), kept=0, sides=1, known=[[1, 0, 1]]))
    never = Group(("tax",), "matrix", Matrix([[0.5, 0.25], [0, 0], [0.5, 0.75]]).mechanism((2,)))
    return Plan(schema, (always, never), always.guarantee * never.guarantee)


def _sets() -> Plan:
    schema = Schema([boolean("first"), DRUG, boolean("second"), AGE, ItemSet("symptoms", ["cough", "fever"])])
    return Plan.of(
        schema,
        {
            "symptoms": Emask(p=0.5, q=0.9),
            "age": OptimizedUnary(odds=3),
            ("second", "first"): SubsetSelection(odds=2, size=2),
            "drug": RandomizedGammaDiagonal(gamma=4, alpha=Fraction(1, 9)),
        },
    )


def _asked_or_not() -> Plan:
    """One attribute has a category that is called as the code for not having been asked would be."""
    answered = Attribute("answered", ["asked", "not asked"])
    schema = Schema([answered, ItemSet("symptoms", ["cough", "fever", "rash"]), DRUG, AGE])
    return Plan.of(
        schema,
        {"symptoms": CutAndPaste(cutoff=1, rho=0.4), ("age", "answered", "drug"): AttributeSampling(odds=3, size=2)},
    )


def _sampled_kinds() -> Plan:
    """No scheme samples anything but diagonals; a plan may."""
    schema = Schema([boolean("first"), DRUG, boolean("second")])
    listed = Listed((3,), [[2, 1, 1], [1, 2, 1], [1, 1, 2]])
    parts = [
        ((0, 2), CutPaste((2, 2), cutoff=1, added=1, sides=3)),
        ((0, 1), Replacement((2, 3), kept=1, sides=3, known=[[1, 1], [1, 2, 1]])),
        ((1,), listed),
        ((0, 2), Flips((2, 2), [BitCoin(one=2, zero=1, sides=3)])),
        ((1, 2), PrivateDiagonal((3, 2), truth=10, other=5, spread=2)),
        ((2,), Turning((2,), kept=2, sides=3)),
    ]
    sampling = Sampling(schema.sizes, parts)
    group = Group(schema.names, "attribute_sampling", sampling)
    return Plan(schema, (group,), group.guarantee)


def _with_public() -> Plan:
    public = (Attribute("region", ["north", "south"], missing="south"), AGE, PublicNumber("weight"))
    return Plan.of(Schema([boolean("tax"), DRUG]), {("drug", "tax"): GammaDiagonal(gamma=4)}, public=public)


def _labels() -> Plan:
    odd = ['"quoted"', "back\\slash", "a/b", "tab\tand\x1f\x7f", "é", "\u2028", "🂡", "no answer"]
    return Plan.of(Schema([Attribute("naïve", odd, missing="no answer")]), {"naïve": GammaDiagonal(gamma=9)})
