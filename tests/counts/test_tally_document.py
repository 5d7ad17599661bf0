"""Saved tallies: whatever a damaged or forged document holds, it is refused by a `SottovoceError`, or read as it is."""

import json
from copy import deepcopy

import pyarrow
import pytest

import sottovoce as sv
from sottovoce.counts.tally import Tally
from sottovoce.counts.tally_document import TALLY_KEY, _hash
from sottovoce.errors import SottovoceError

SCHEMA = sv.Schema([sv.boolean("tax"), sv.ItemSet("basket", ["ale", "bread", "cheese"])])
PLAN = sv.Plan.of(
    SCHEMA,
    {"tax": sv.schemes.Warner(p=0.75), "basket": sv.schemes.Emask(p=0.9, q=0.8)},
    public=[sv.Attribute("region", ["north", "south"])],
)
TALLY = Tally(PLAN, itemsets=[["ale", "bread"]])
TALLY.update(
    {"tax": [True, False, True], "basket": [["ale"], ["ale", "bread"], []], "region": ["north", "south", "north"]}
)

ODD = [None, 0, 1, -1, True, 1.5, 10**30, float("nan"), "", "x", "-1", "1_0", " 1 ", "\u0663", "\ud800", [], {}]
ODD += [
    ["tax"],
    "tax",
    [[]],
    [None],
    [[0, 0, "-5"]],
    [[0, 0, 5]],
    [[[0], 1]],
    [[[7], "1"]],
    [[["a"], "1"]],
    [[[], "1"]],
]


def places(document, path=()):
    """Paths of all values in a document, but those inside its plan, which has tests of its own."""
    yield path
    if path != ("plan",) and isinstance(document, dict | list):
        for key in document if isinstance(document, dict) else range(len(document)):
            yield from places(document[key], (*path, key))


def changed(document, path, value):
    """Document with another value at a place, and the hash of the whole made right."""
    whole = deepcopy(document)
    inner = whole
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    try:
        return whole | {"sha256": whole["sha256"] if path == ("sha256",) else _hash(whole)}
    except ValueError:  # what cannot be hashed
        return whole


def test_any_value_at_any_place_is_refused_or_read_as_it_is():
    document = TALLY.to_json()
    for path in places(document):
        for value in ODD:
            forged = changed(document, path, value) if path else value
            try:
                found = Tally.from_json(forged)
            except SottovoceError:
                continue
            assert found.to_json() == forged
            assert len(found) == 3


def test_documents_that_lack_something():
    document = TALLY.to_json()
    for path in places(document):
        inner = whole = deepcopy(document)
        for key in path[:-1]:
            inner = inner[key]
        if path:
            del inner[path[-1]]
        whole["sha256"] = _hash(whole)
        if path[:1] != ("sets",) and path not in ((), ("sha256",)):
            with pytest.raises(SottovoceError):
                Tally.from_json(whole)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("reports",), "4"),
        (("rows",), []),
        (("rows", 0, -1), "-1"),
        (("rows", 0, -1), "0"),
        (("rows", 0, -1), "9223372036854775808"),
        (("sets", 0, 1), "4"),
        (("sets", 0, 1), "-1"),
        (("sets", 0, 0), [3]),
        (("sets", 0, 0), [-1]),
        (("sets", 1, 0), [1, 0]),
        (("sets", 1, 0), [0]),
        (("sets", 1, 0), []),
    ],
)
def test_counts_that_contradict_each_other(path, value):
    """The hash is right: it was made anew."""
    with pytest.raises(
        SottovoceError, match=r"^document must be a tally whose counts agree with each other\. Got others"
    ):
        Tally.from_json(changed(TALLY.to_json(), path, value))


def test_a_tally_of_nothing_is_refused():
    document = TALLY.to_json() | {"columns": [], "rows": [], "items": None, "sets": []}
    with pytest.raises(SottovoceError, match=r"^document must be a tally whose counts agree"):
        Tally.from_json(document | {"sha256": _hash(document)})


def test_a_tally_is_written_in_one_way():
    for path, value in ((("reports",), " 3"), (("rows", 0, 0), False), (("plan_sha256",), "0" * 64)):
        with pytest.raises(
            SottovoceError, match=r"^document must be a tally as it was saved\. Got one that is written d"
        ):
            Tally.from_json(changed(TALLY.to_json(), path, value))


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, '{"kind": "tally", "version": ' + "9" * 5000 + "}"])
def test_files_that_are_no_json(tmp_path, text):
    (tmp_path / "broken.json").write_text(text)
    with pytest.raises(
        SottovoceError, match=r"broken\.json must be a whole tally, as `save` wrote it\. Got a damaged one"
    ):
        Tally.load(tmp_path / "broken.json")


@pytest.mark.parametrize("document", [[1], "tally", {"plan": {}}, {"kind": "survey"}])
def test_json_files_that_are_no_tallies(tmp_path, document):
    (tmp_path / "other.json").write_text(json.dumps(document))
    with pytest.raises(SottovoceError, match=r"other\.json must be a saved tally\. Got something else"):
        sv.read(tmp_path / "other.json")


def test_damaged_arrow_files(tmp_path):
    """Some damage only shows when values are read: it must not end the process."""
    whole, damaged = tmp_path / "whole.arrow", tmp_path / "damaged.arrow"
    TALLY.save(whole)
    content, refused = whole.read_bytes(), 0
    for place in range(0, len(content), 5):
        damaged.write_bytes(content[:place] + bytes([content[place] ^ 0xFF]) + content[place + 1 :])
        try:
            assert Tally.load(damaged) == TALLY
        except SottovoceError:
            refused += 1
    assert refused > len(content) // 20


def test_an_arrow_file_that_lacks_a_part(tmp_path):
    path = tmp_path / "tally.arrow"
    TALLY.save(path)
    with pyarrow.ipc.open_file(path) as file:
        table = file.read_all()
    header = json.loads(table.schema.metadata[TALLY_KEY])
    del header["columns"]
    changed = table.replace_schema_metadata({TALLY_KEY: json.dumps(header)})
    with pyarrow.OSFile(str(path), "wb") as sink, pyarrow.ipc.new_file(sink, changed.schema) as writer:
        writer.write_table(changed)
    with pytest.raises(SottovoceError, match=r"tally\.arrow must be a whole tally"):
        Tally.load(path)
