"""Which answers a respondent's device picks at random, so that the budget is spent on a few of them.

Five questions that share 100 : 1 get 2.5 : 1 each, which is next to nothing. A device that picks a few of the answers
spends the budget on these alone. The questions are divided into J groups, each with the J-th root of the budget, and
from each group the device picks m answers and tosses the coins for them together (`AttributeSampling`). No group has
more than 10 : 1, the ceiling of a question, even if that leaves some of the budget; J, m and the groups are those with
the least variance at equal frequencies, which has a closed form (`plans.purpose_plan`).

A set Q of answers with n_Q combinations keeps the share `keep_Q = (odds - 1) / (odds + n_Q - 1)` of what it tells. If
one of L sets is picked, and k of them contain the question q, the information about q is `I = (sum_{Q contains q}
keep_Q)^2 / (L k)`, and the share of each of its n answers has the variance `(n - 1) / (n^2 I)` from one respondent.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import comb, inf, prod

from sottovoce.estimates.proportions import never_asked
from sottovoce.exact import root_of_odds
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import LARGEST_DOMAIN
from sottovoce.schemas.item_set import ItemSet
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.attribute_sampling import AttributeSampling
from sottovoce.schemes.randomized_response import RandomizedResponse
from sottovoce.schemes.scheme import Scheme
from sottovoce.surveys.definition.facts import CEILING
from sottovoce.surveys.definition.yaml_reader import YamlValue

LEAST_GAIN = 0.15
"""Least gain in variance for which answers are picked, and the budget is not split."""

MOST_SETS = 36
"""Most sets of answers that are all listed; of more, only some are, in which every answer is equally often."""

MOST_CELLS = 4096
"""Most combinations of the answers that are picked together."""

Axes = tuple[int, ...]
Names = tuple[str, ...]
AloneVariance = Callable[[int, Fraction], float]
"""Variance of a share, from one respondent, of a question with so many answers and coins of its own at some odds."""


@dataclass(frozen=True)
class PickedGroup:
    """Questions of which the device picks one of some `sets`, which are positions among them, with its odds."""

    questions: Names
    sets: tuple[Axes, ...]
    odds: Fraction

    @property
    def scheme(self) -> Scheme:
        """Attribute sampling, or plain randomized response of all answers together if all of them are picked."""
        if len(self.sets) == 1:
            return RandomizedResponse(odds=self.odds)
        return AttributeSampling(odds=self.odds, subsets=self.sets)


def read_together(given: YamlValue | None, schema: Schema) -> list[Names]:
    """Return the questions that will be crossed: lists of two or more questions with one disguised answer each."""
    pairs = []
    for entry in given.entries() if given is not None else []:
        names = tuple(part.text() for part in entry.entries())
        if len(names) < 2 or len(set(names)) < len(names):
            entry.fail("must name two or more different questions")
        for name in names:
            if name not in schema.names:
                entry.fail(f"must name questions whose answers are disguised: {', '.join(schema.names)}", name)
            if isinstance(schema[name], ItemSet):
                entry.fail("must name questions with one answer each: several choices cannot be crossed", name)
        pairs.append(names)
    return pairs


def check_together(given: YamlValue | None, together: Sequence[Names], plan: Plan) -> None:
    """Refuse questions that a group of the author's never sends together."""
    for number, names in enumerate(together):
        apart = never_asked(plan, names)
        if apart and given is not None:
            rule = f"must be possible with the groups: no report tells {' and '.join(apart)} together"
            given.entries()[number].fail(f"{rule}; change their group's scheme, or leave out their group", list(names))


def pick_groups(
    sizes: Mapping[str, int], odds: Fraction, together: Sequence[Names], alone: AloneVariance
) -> list[PickedGroup] | None:
    """Return the groups that the device picks from; None if splitting the budget is as good, up to 15 %.

    `sizes` are the numbers of answers, `together` the questions that will be crossed. What is compared is the sum of
    the variances of all questions' shares and of the cells of all pairs to be crossed.

    >>> groups = pick_groups({name: 2 for name in "abcde"}, Fraction(100), [], lambda size, odds: 1.35)
    >>> [(group.questions, len(group.sets), len(group.sets[0])) for group in groups]
    [(('a', 'b'), 1, 2), (('c', 'd', 'e'), 3, 2)]
    """
    split = _Design(sizes, [_alone(name, sizes, root_of_odds(odds, len(sizes)), alone) for name in sizes])
    best, least = None, (1 - LEAST_GAIN) * split.variance(together)
    for count in range(1, len(sizes)):
        each = min(root_of_odds(odds, count), Fraction(CEILING))
        for arranged in _arrangements(sizes, count, together):
            design = _Design(sizes, [_best_sets(names, sizes, each, together, alone) for names in arranged])
            variance = design.variance(together)
            if variance < least * (1 - 1e-9):
                best, least = design.groups, variance
    return None if best is None else [PickedGroup(group.questions, group.sets, group.odds) for group in best]


def _arrangements(sizes: Mapping[str, int], count: int, together: Sequence[Names]) -> Iterator[tuple[Names, ...]]:
    """Yield divisions into so many groups: by size, mixed, and with the questions to be crossed apart or together."""
    by_size = sorted(sizes, key=sizes.__getitem__)
    found = [
        [by_size[len(by_size) * i // count : len(by_size) * (i + 1) // count] for i in range(count)],
        [by_size[start::count] for start in range(count)],
    ]
    if together:
        found += [_placed([(name,) for name in by_size], count, together), _placed(_joined(by_size, together), count)]
    order = list(sizes).index
    yield from dict.fromkeys(
        tuple(sorted((tuple(sorted(group, key=order)) for group in groups), key=lambda group: order(group[0])))
        for groups in found
        if all(groups)
    )


def _placed(units: Sequence[Names], count: int, apart: Sequence[Names] = ()) -> list[list[str]]:
    """Put each unit into the smallest group, if possible one without questions that are to be apart from it."""
    groups: list[list[str]] = [[] for _ in range(count)]
    for unit in units:
        conflicts = [
            sum(len(set(names) & {*unit, *group}) > 1 for names in apart if unit[0] in names) for group in groups
        ]
        chosen = min(range(count), key=lambda number: (conflicts[number], len(groups[number])))
        groups[chosen] += unit
    return groups


def _joined(names: Sequence[str], together: Sequence[Names]) -> list[Names]:
    """Return questions that are crossed, directly or through others, as units, the largest first."""
    units: list[Names] = [(name,) for name in names]
    for crossed in together:
        touched = [unit for unit in units if set(unit) & set(crossed)]
        if touched:
            units = [tuple(name for unit in touched for name in unit)] + [u for u in units if u not in touched]
    return sorted(units, key=len, reverse=True)


@dataclass(frozen=True)
class _Sets:
    """A group with the sets to pick from, and the information that a respondent's report has about its answers."""

    questions: Names
    sets: tuple[Axes, ...]
    odds: Fraction
    sizes: Axes
    keeps: tuple[float, ...]

    @classmethod
    def of(cls, questions: Names, sets: Iterable[Axes], odds: Fraction, sizes: Mapping[str, int]) -> "_Sets":
        listed, own = tuple(sets), tuple(sizes[name] for name in questions)
        gamma = float(odds)
        keeps = tuple((gamma - 1) / (gamma + prod(own[axis] for axis in axes) - 1) for axes in listed)
        return cls(questions, listed, odds, own, keeps)

    def information(self, told: Iterable[int], table: Iterable[int]) -> float:
        """Return the information about the contrasts of some answers in a table of some, `I_S(T)` of `purpose_plan`."""
        seen: dict[frozenset[int], list[float]] = {}
        for axes, keep in zip(self.sets, self.keeps, strict=True):
            common = frozenset(axes) & frozenset(table)
            if frozenset(told) <= common:
                seen.setdefault(common, []).append(keep)
        return sum(sum(kept) ** 2 / len(kept) for kept in seen.values()) / len(self.sets)

    def of_question(self, name: str) -> float:
        """Return the information about one question."""
        axis = self.questions.index(name)
        return self.information([axis], [axis])

    def of_pair(self, first: str, second: str) -> tuple[float, float, float]:
        """Return the information about one question, another one, and their association."""
        a, b = self.questions.index(first), self.questions.index(second)
        return self.information([a], [a, b]), self.information([b], [a, b]), self.information([a, b], [a, b])

    def variance(self, together: Iterable[Names]) -> float:
        """Return the sum of the variances of the questions' shares, and of the cells of pairs within the group.

        Infinite if questions of the group that will be crossed are in no set together.
        """
        own = dict(zip(self.questions, self.sizes, strict=True))
        total = sum(_mean_variance([(own[name] - 1, self.of_question(name))], own[name]) for name in self.questions)
        for names in together:
            inside = [name for name in self.questions if name in names]
            axes = {self.questions.index(name) for name in inside}
            if not any(axes <= set(told) for told in self.sets):
                return inf
            total += sum(_pair_variance(own[a], own[b], self.of_pair(a, b)) for a, b in combinations(inside, 2))
        return total


@dataclass(frozen=True)
class _Design:
    """Groups that cover all questions."""

    sizes: Mapping[str, int]
    groups: list[_Sets]

    def variance(self, together: Sequence[Names]) -> float:
        """Return the sum over the groups and over the pairs of questions in different groups, whose coins differ."""
        group_of = {name: group for group in self.groups for name in group.questions}
        total = sum(group.variance(together) for group in self.groups)
        for first, second in (pair for names in together for pair in combinations(names, 2)):
            if group_of[first] is not group_of[second]:
                a, b = group_of[first].of_question(first), group_of[second].of_question(second)
                total += _pair_variance(self.sizes[first], self.sizes[second], (a, b, a * b))
        return total


def _mean_variance(contrasts: Iterable[tuple[int, float]], cells: int) -> float:
    """Return the mean variance of the cells of a table, from numbers of contrasts and the information about them."""
    return sum(number / information if information > 0 else inf for number, information in contrasts) / cells**2


def _pair_variance(first: int, second: int, information: tuple[float, float, float]) -> float:
    numbers = first - 1, second - 1, (first - 1) * (second - 1)
    return _mean_variance(zip(numbers, information, strict=True), first * second)


def _alone(name: str, sizes: Mapping[str, int], odds: Fraction, alone: AloneVariance) -> _Sets:
    """Return a group of one question, whose coins are the best for it."""
    size, variance = sizes[name], alone(sizes[name], odds)
    information = (size - 1) / (size**2 * variance)
    return _Sets((name,), ((0,),), odds, (size,), (information**0.5,))


def _best_sets(
    names: Names, sizes: Mapping[str, int], odds: Fraction, together: Sequence[Names], alone: AloneVariance
) -> _Sets:
    """Return a group with the sets of least variance; larger and larger ones are tried until it has risen twice."""
    if len(names) == 1:
        return _alone(names[0], sizes, odds, alone)
    best, least, rises, previous = _Sets.of(names, [(0,)], odds, sizes), inf, 0, inf
    if prod(sizes[name] + 1 for name in names) > LARGEST_DOMAIN:
        return best  # its reports cannot be numbered; most answers are in no set, so the variance is infinite
    largest = sorted(sizes[name] for name in names)
    order = [
        names.index(name) for unit in _joined(names, together) for name in unit
    ]  # those to be crossed are neighbours
    for size in range(1, len(names) + 1):
        if prod(largest[-size:]) > MOST_CELLS or rises == 2:
            break
        designs = [[tuple(sorted(order[i] for i in axes)) for axes in sets] for sets in _set_designs(len(names), size)]
        found = [_Sets.of(names, sorted(sets), odds, sizes) for sets in designs]
        variances = [group.variance(together) for group in found]
        for group, variance in zip(found, variances, strict=True):
            if variance < least * (1 - 1e-9):
                best, least = group, variance
        rises = rises + 1 if min(variances) > previous else 0  # not while nothing can be crossed yet
        previous = min(variances)
    return best


def _set_designs(count: int, size: int) -> Iterator[list[Axes]]:
    """Yield sets of `size` of so many answers, in which each is equally often: all, neighbours on a circle, and blocks.

    >>> [len(sets) for sets in _set_designs(4, 2)]
    [6, 4, 2]
    """
    if comb(count, size) <= MOST_SETS:
        yield list(combinations(range(count), size))
    if size < count:
        yield [tuple(sorted((start + step) % count for step in range(size))) for start in range(count)]
        if count % size == 0:
            yield [tuple(range(start, start + size)) for start in range(0, count, size)]
