"""Forged mechanisms: a small good one of each kind, and one change a time that every reader must refuse."""

from collections.abc import Iterator

from conformance.forgeries import ATTRIBUTE, DIAGONAL, GOOD, GROUP, OTHER, Forgery, Json

REPLACEMENT: Json = {"kind": "replacement", "kept": "1", "sides": "2", "known": [["1", "1"]]}
LISTED: Json = {"kind": "listed", "matrix": [["3", "1"], ["1", "3"]]}
PRIVATE: Json = {"kind": "private_diagonal", "truth": "6", "other": "2", "spread": "1"}
TURNING: Json = {"kind": "turning", "kept": "3", "sides": "4"}
FLIPS: Json = {"kind": "flips", "bits": [["3", "1", "4"]]}
ONE_HOT: Json = {"kind": "one_hot", "bit": ["2", "1", "4"]}
SUBSET: Json = {"kind": "subset", "size": "1", "kept": "3", "sides": "4"}
CUT_PASTE: Json = {"kind": "cut_paste", "cutoff": "1", "added": "1", "sides": "3"}
DRAWN: Json = {
    "kind": "random_set",
    "components": [{"weight": "1", "size": "2", "items": ["1", "1", "1"], "lengths": ["1", "2", "1"]}],
    "favour": ["3", "1"],
    "tilt": ["1", "2", "1"],
}
PART: Json = {"attributes": [0], "mechanism": DIAGONAL}

THREE: Json = ATTRIBUTE | {"categories": ["no", "perhaps", "yes"]}
MANY: Json = {"kind": "items", "name": "tax", "items": list(range(63))}


def mechanisms() -> Iterator[Forgery]:
    """Integers that are none, not in lowest terms, out of range, or make no coin."""
    yield from answers()
    yield from bits()
    yield from sets()
    yield from random_sets()
    yield from samples()


def forged(mechanism: object, *, promised: bool, schema: tuple[Json, ...] = (ATTRIBUTE,)) -> Json:
    """Plan with one mechanism for all attributes, and odds of 3 where they are what is wrong.

    Nothing is promised where something else is: the odds must not be what gives it away.
    """
    group = GROUP | {"attributes": [attribute["name"] for attribute in schema], "mechanism": mechanism}
    return GOOD | {"schema": list(schema), "groups": [group], "odds": "3/1" if promised else None}


def answers() -> Iterator[Forgery]:
    """Reports that are answers: other cells, records and rows."""
    for wrong, parameter, mechanism in [
        ("an unknown mechanism", "kind", DIAGONAL | {"kind": "magic"}),
        ("a mechanism of no kind", "kind", {"truth": "3", "other": "1"}),
        ("a mechanism that is no object", "kind", ["diagonal", "3", "1"]),
        ("integers of another mechanism", "mechanism", DIAGONAL | {"kind": "listed"}),
        ("an integer with a sign", "truth", DIAGONAL | {"truth": "+3"}),
        ("an integer with a point", "truth", DIAGONAL | {"truth": "3.0"}),
        ("an integer with white space", "truth", DIAGONAL | {"truth": " 3"}),
        ("an integer in other digits", "truth", DIAGONAL | {"truth": "\u0663"}),
        ("an integer in no digits", "truth", DIAGONAL | {"truth": ""}),
        ("diagonal: not in lowest terms", "truth", DIAGONAL | {"truth": "6", "other": "2"}),
        ("diagonal: zero sides", "truth", DIAGONAL | {"truth": "0", "other": "0"}),
        ("diagonal: more than 2^64 sides", "sides", DIAGONAL | {"truth": str(2**64)}),
        ("diagonal: a truth that is always told", "odds", DIAGONAL | {"truth": "1", "other": "0"}),
        ("diagonal: a truth too rare", "odds", DIAGONAL | {"truth": "1", "other": "4"}),
        ("replacement: kept above sides", "kept", REPLACEMENT | {"kept": "3"}),
        ("replacement: not in lowest terms", "kept", REPLACEMENT | {"kept": "2", "sides": "4"}),
        ("replacement: a known law not in lowest terms", "kept", REPLACEMENT | {"known": [["2", "2"]]}),
        ("replacement: zero sides", "kept", REPLACEMENT | {"kept": "0", "sides": "0"}),
        ("replacement: a known law of zero sides", "kept", REPLACEMENT | {"known": [["0", "0"]]}),
        ("replacement: a known law of wrong length", "known", REPLACEMENT | {"known": [["1", "1", "1"]]}),
        ("replacement: too many known laws", "known", REPLACEMENT | {"known": [["1", "1"], ["1", "1"]]}),
        ("replacement: a known law that is too uneven", "odds", REPLACEMENT | {"known": [["1", "2"]]}),
        ("listed: columns that do not sum", "matrix", LISTED | {"matrix": [["3", "1"], ["1", "2"]]}),
        ("listed: not in lowest terms", "matrix", LISTED | {"matrix": [["6", "2"], ["2", "6"]]}),
        ("listed: zero sides", "sides", LISTED | {"matrix": [["0", "0"], ["0", "0"]]}),
        ("listed: more than 2^64 sides", "sides", LISTED | {"matrix": [[str(2**64)] * 2, ["1", "1"]]}),
        ("listed: a row too short", "matrix", LISTED | {"matrix": [["3", "1"], ["1"]]}),
        ("listed: a column too many", "matrix", LISTED | {"matrix": [["3", "1", "2"], ["1", "3", "2"]]}),
        ("listed: no rows", "matrix", LISTED | {"matrix": []}),
        ("listed: a report that rules a truth out", "odds", LISTED | {"matrix": [["4", "1"], ["0", "3"]]}),
        ("listed: names for other reports", "reports", LISTED | {"reports": ["a", "b", "c"]}),
        ("listed: a name twice", "reports", LISTED | {"reports": ["a", "a"]}),
        ("private_diagonal: a spread above other", "spread", PRIVATE | {"spread": "3"}),
        ("private_diagonal: a spread above the truth", "spread", PRIVATE | {"truth": "1", "spread": "2"}),
        ("private_diagonal: zero sides", "sides", PRIVATE | {"truth": "0", "other": "0", "spread": "0"}),
        ("private_diagonal: more than 2^62 sides", "truth", PRIVATE | {"truth": str(2**62)}),
        ("private_diagonal: a truth too frequent", "odds", PRIVATE | {"truth": "7"}),
        ("private_diagonal: a truth too rare", "odds", PRIVATE | {"truth": "1", "other": "4"}),
        ("private_diagonal: always the truth", "odds", PRIVATE | {"other": "0", "spread": "0"}),
    ]:
        yield wrong, parameter, forged(mechanism, promised=parameter == "odds")
    always_told = DIAGONAL | {"truth": "1", "other": "0"}
    yield "diagonal: 2^63 joint cells", "sizes", forged(always_told, promised=False, schema=(MANY,))


def bits() -> Iterator[Forgery]:
    """Coins of bits, and columns that are none."""
    for wrong, parameter, mechanism in [
        ("turning: kept above sides", "kept", TURNING | {"kept": "5"}),
        ("turning: not in lowest terms", "kept", TURNING | {"kept": "6", "sides": "8"}),
        ("turning: zero sides", "kept", TURNING | {"kept": "0", "sides": "0"}),
        ("turning: more than 2^64 sides", "sides", TURNING | {"sides": str(2**64 + 1)}),
        ("turning: turned too seldom", "odds", TURNING | {"kept": "4", "sides": "5"}),
        ("turning: turned too often", "odds", TURNING | {"kept": "1", "sides": "5"}),
        ("turning: never turned", "odds", TURNING | {"kept": "1", "sides": "1"}),
        ("flips: one above sides", "one", FLIPS | {"bits": [["5", "1", "4"]]}),
        ("flips: zero above sides", "zero", FLIPS | {"bits": [["3", "5", "4"]]}),
        ("flips: not in lowest terms", "sides", FLIPS | {"bits": [["6", "2", "8"]]}),
        ("flips: zero sides", "sides", FLIPS | {"bits": [["0", "0", "0"]]}),
        ("flips: more than 2^64 sides", "sides", FLIPS | {"bits": [["3", "1", str(2**64 + 1)]]}),
        ("flips: no coin", "bits", FLIPS | {"bits": []}),
        ("flips: a coin too many", "bits", FLIPS | {"bits": [["3", "1", "4"]] * 2}),
        ("flips: a coin of two integers", "bits", FLIPS | {"bits": [["3", "4"]]}),
        ("flips: a coin as text", "bits", FLIPS | {"bits": ["314"]}),
        ("flips: a one too telling", "odds", FLIPS | {"bits": [["4", "1", "8"]]}),
        ("flips: a zero too telling", "odds", FLIPS | {"bits": [["7", "4", "8"]]}),
        ("flips: a one that rules a zero out", "odds", FLIPS | {"bits": [["1", "0", "4"]]}),
        ("one_hot: one above sides", "one", ONE_HOT | {"bit": ["5", "1", "4"]}),
        ("one_hot: zero above sides", "zero", ONE_HOT | {"bit": ["2", "5", "4"]}),
        ("one_hot: not in lowest terms", "sides", ONE_HOT | {"bit": ["4", "2", "8"]}),
        ("one_hot: a coin of two integers", "bits", ONE_HOT | {"bit": ["2", "4"]}),
        ("one_hot: a coin as text", "bits", ONE_HOT | {"bit": "214"}),
        ("one_hot: two bits too telling together", "odds", ONE_HOT | {"bit": ["3", "1", "4"]}),
        ("one_hot: the truth never in the set", "odds", ONE_HOT | {"bit": ["0", "1", "4"]}),
    ]:
        yield wrong, parameter, forged(mechanism, promised=parameter == "odds")
    for mechanism in (FLIPS, CUT_PASTE):
        kind = mechanism["kind"]
        yield f"{kind}: three categories", "sizes", forged(mechanism, promised=False, schema=(THREE,))
    yield "turning: three categories", "shape_in", forged(TURNING, promised=False, schema=(THREE,))
    for mechanism in (TURNING, FLIPS, ONE_HOT):
        kind = mechanism["kind"]
        yield f"{kind}: odds of two attributes", "odds", forged(mechanism, promised=True, schema=(ATTRIBUTE, OTHER))


def sets() -> Iterator[Forgery]:
    """Sizes of sets, numbers of items kept, and the coins of both."""
    for wrong, parameter, mechanism in [
        ("subset: a set of nothing", "size", SUBSET | {"size": "0"}),
        ("subset: a set of all cells", "size", SUBSET | {"size": "2"}),
        ("subset: kept above sides", "kept", SUBSET | {"kept": "5"}),
        ("subset: not in lowest terms", "kept", SUBSET | {"kept": "6", "sides": "8"}),
        ("subset: zero sides", "kept", SUBSET | {"kept": "0", "sides": "0"}),
        ("subset: the truth in too often", "odds", SUBSET | {"kept": "4", "sides": "5"}),
        ("subset: the truth in too seldom", "odds", SUBSET | {"kept": "1", "sides": "5"}),
        ("subset: the truth always in", "odds", SUBSET | {"kept": "1", "sides": "1"}),
        ("cut_paste: a cutoff above the items", "cutoff", CUT_PASTE | {"cutoff": "2"}),
        ("cut_paste: nothing added", "added", CUT_PASTE | {"added": "0", "sides": "1"}),
        ("cut_paste: everything added", "added", CUT_PASTE | {"added": "1", "sides": "1"}),
        ("cut_paste: not in lowest terms", "added", CUT_PASTE | {"added": "2", "sides": "6"}),
        ("cut_paste: too little added to a whole set", "odds", CUT_PASTE | {"sides": "7"}),
    ]:
        yield wrong, parameter, forged(mechanism, promised=parameter == "odds")
    two = (ATTRIBUTE, OTHER)
    yield "cut_paste: too little added to some items", "odds", forged(CUT_PASTE, promised=True, schema=two)
    yield "subset: 2^63 joint cells", "sizes", forged(SUBSET, promised=False, schema=(MANY,))


def random_sets() -> Iterator[Forgery]:
    """Sets that have no numbers, and keys that say nothing."""
    wrong_keys: list[tuple[str, str, Json]] = [
        ("a favour below 1", "favour", {"favour": ["1", "3"]}),
        ("a favour not in lowest terms", "favour", {"favour": ["6", "2"]}),
        ("no favour in lowest terms", "favour", {"favour": ["2", "0"]}),
        ("a favour of one integer", "favour", {"favour": ["3"]}),
        ("no components", "components", {"components": []}),
        ("a tilt too short", "tilt", {"tilt": ["1", "2"]}),
        ("a tilt of zero", "tilt", {"tilt": ["1", "0", "1"]}),
        ("a tilt above 2^256", "tilt", {"tilt": ["1", "2", str(2**256 + 1)]}),
        ("a tilt that is none", "tilt", {"tilt": None}),
        ("the truth always in", "odds", {"favour": ["1", "0"]}),
        ("the truth in too often", "odds", {"favour": ["4", "1"]}),
    ]
    for wrong, parameter, change in wrong_keys:
        yield f"random_set: {wrong}", parameter, forged(DRAWN | change, promised=parameter == "odds", schema=(THREE,))
    wrong_components: list[tuple[str, str, Json]] = [
        ("lengths that are all 1", "plan", {"lengths": ["1", "1", "1"]}),
        ("a length of zero", "lengths", {"lengths": ["1", "0", "1"]}),
        ("a length too few", "lengths", {"lengths": ["1", "2"]}),
        ("lengths as text", "lengths", {"lengths": "121"}),
        ("a size that no lengths sum to", "size", {"size": "3", "lengths": ["2", "4", "2"]}),
        ("a size of all lengths", "size", {"size": "4"}),
        ("a size of nothing", "size", {"size": "0"}),
        ("a weight above 2^256 of length 1", "items", {"items": [str(2**256 + 1), "1", "1"]}),
        ("a weight above 2^512 of length 2", "items", {"items": ["1", str(2**512 + 1), "1"]}),
        ("a weight of zero", "items", {"items": ["1", "0", "1"]}),
        ("a weight too many", "items", {"items": ["1"] * 4, "lengths": ["1", "2", "1", "1"]}),
        ("a component of no weight", "weight", {"weight": "0"}),
        ("a component of more than 2^8192", "weight", {"weight": str(2**8192 + 1)}),
    ]
    for wrong, parameter, change in wrong_components:
        mechanism = DRAWN | {"components": [DRAWN["components"][0] | change]}
        yield f"random_set: {wrong}", parameter, forged(mechanism, promised=False, schema=(THREE,))
    unused = {"weight": "1", "size": "2", "items": ["1"] * 3, "lengths": ["3", "1", "1"]}
    always = DRAWN | {"components": [unused], "favour": ["1", "0"]}
    yield "random_set: a truth that is in no set", "components", forged(always, promised=False, schema=(THREE,))


def samples() -> Iterator[Forgery]:
    """Parts that ask for columns there are not, report in other codes, or tell too much."""
    wrong_parts: list[tuple[str, str, Json]] = [
        ("no columns", "attributes", {"attributes": []}),
        ("a column there is not", "attributes", {"attributes": [2]}),
        ("a column before the first", "attributes", {"attributes": [-1]}),
        ("a column as text", "attributes", {"attributes": ["0"]}),
        ("a column by name", "attributes", {"attributes": ["tax"]}),
        ("a column as a truth value", "attributes", {"attributes": [False]}),
        ("a column twice", "attributes", {"attributes": [0, 0]}),
        ("columns that do not increase", "attributes", {"attributes": [1, 0]}),
        ("a part of no kind", "kind", {"mechanism": {}}),
        ("a part not in lowest terms", "truth", {"mechanism": DIAGONAL | {"truth": "6", "other": "2"}}),
        ("a part that reports a set of categories", "parts", {"mechanism": ONE_HOT}),
        ("a part that reports a set of cells", "parts", {"mechanism": SUBSET}),
        ("a part that is a sample", "parts", {"mechanism": {"kind": "sampling", "parts": [PART]}}),
        ("a part with a report too many", "parts", {"mechanism": LISTED | {"matrix": [["1", "1"]] * 3}}),
        ("a part that tells too much", "odds", {"mechanism": DIAGONAL | {"truth": "4"}}),
        ("a part whose odds are unbounded", "odds", {"attributes": [0, 1], "mechanism": TURNING}),
    ]
    for wrong, parameter, part in wrong_parts:
        sampling = {"kind": "sampling", "parts": [PART, PART | part]}
        promised = parameter == "odds"
        yield f"sampling: {wrong}", parameter, forged(sampling, promised=promised, schema=(ATTRIBUTE, OTHER))
    yield "sampling: no parts", "parts", forged({"kind": "sampling", "parts": []}, promised=False)
    yield "sampling: parts lacking", "mechanism", forged({"kind": "sampling"}, promised=False)
    for key in PART:
        lacking = {"kind": "sampling", "parts": [{k: value for k, value in PART.items() if k != key}]}
        yield f"sampling: {key} of a part lacking", "mechanism", forged(lacking, promised=False)
