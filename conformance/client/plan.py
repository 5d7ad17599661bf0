"""Plan documents: read, checked against what they promise, and answered."""

import json
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from conformance.client.mechanism import Mechanism
from conformance.client.rules import Json, RefusedError, listed, multiplied, require, require_lowest_terms, whole
from conformance.client.sampling import read_mechanism
from conformance.client.schema import sizes

SHORT = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}
KEYS = {"version", "schema", "groups", "odds", "prior"}
NEWEST = 2
"""Newest version of plan documents that this client reads."""


def canonical(value: Any) -> str:
    r"""Canonical JSON, the text whose hash is stated.

    >>> print(canonical({"b": [1, None], "a": 'é "\t"'}))
    {"a":"é \"\t\"","b":[1,null]}
    """
    if isinstance(value, dict):
        return "{" + ",".join(f"{canonical(key)}:{canonical(value[key])}" for key in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, str):
        return '"' + "".join(SHORT.get(c, c if c >= " " else f"\\u{ord(c):04x}") for c in value) + '"'
    return str(value) if type(value) is int else {True: "true", False: "false", None: "null"}[value]


class Client:
    """Reads a plan document, believes nothing of it, and responds.

    `coins` are those of a record; `columns` the attributes of its report.
    """

    def __init__(self, text: str) -> None:
        """Refuse whatever is not as docs/format.md says."""
        try:
            document = json.loads(text)
            require(set(document) == {"plan", "sha256"}, "keys of the document")
            plan = document["plan"]
            require(document["sha256"] == sha256(canonical(plan).encode()).hexdigest(), "hash")
            version = plan["version"]
            require(type(version) is int and version >= 1, "version")
            require(version <= NEWEST, f"written by a newer version of Sottovoce (document version {version})")
            require(set(plan) == (KEYS | {"public"} if version == 2 else KEYS), "keys of the plan")
            self._read_schema(plan["schema"])
            self._read_groups(plan["schema"], plan["groups"])
            if version == 2:
                self._check_public(plan["public"])
            self._check_promise(plan["odds"])
            _check_prior(plan["prior"])
        except (ValueError, KeyError, TypeError, AttributeError) as reason:
            raise RefusedError(repr(reason)) from reason

    def respond(self, truth: Sequence[int], shown: Sequence[int]) -> list[int]:
        """Codes of a report from the codes of a truth, in the schema's order, and what all coins show."""
        report: dict[int, list[int]] = {}
        used = 0
        for places, mechanism in self.groups:
            own = shown[used : used + len(mechanism.coins)]
            used += len(own)
            codes = mechanism.respond([truth[place] for place in places], own)
            report |= _placed(places, codes)
        return [code for place in sorted(report) for code in report[place]]

    def _read_schema(self, schema: list[Json]) -> None:
        self.sizes: list[int] = []
        self.places: dict[str, list[int]] = {}
        for attribute in schema:
            require(attribute["name"] not in self.places, "an attribute twice")
            start = len(self.sizes)
            self.sizes += sizes(attribute)
            self.places[attribute["name"]] = list(range(start, len(self.sizes)))

    def _read_groups(self, schema: list[Json], groups: list[Json]) -> None:
        named = [name for group in groups for name in listed(group["attributes"])]
        require(named and sorted(named) == sorted(self.places), "an attribute not covered once")
        by_name = {attribute["name"]: attribute for attribute in schema}
        self.groups: list[tuple[list[int], Mechanism]] = []
        columns: dict[int, Json] = {}
        for group in groups:
            require(set(group) == {"attributes", "scheme", "mechanism"}, "keys of a group")
            places = [place for name in group["attributes"] for place in self.places[name]]
            mechanism = read_mechanism([self.sizes[place] for place in places], group["mechanism"])
            self.groups.append((places, mechanism))
            firsts = [self.places[name][0] for name in group["attributes"]]
            columns |= _placed(firsts, mechanism.columns([by_name[name] for name in group["attributes"]]))
        self.coins = [sides for _, mechanism in self.groups for sides in mechanism.coins]
        self.columns = [columns[place] for place in sorted(columns)]
        require(len({column["name"] for column in self.columns}) == len(self.columns), "a report's name twice")
        self.report_sizes = [size for column in self.columns for size in sizes(column)]

    def _check_public(self, public: list[Json]) -> None:
        require(listed(public), "version 2 without public columns")
        taken = {*self.places, *(column["name"] for column in self.columns)}
        for column in public:
            require(column["kind"] != "items", "a public set of items")
            if column["kind"] == "number":
                require(set(column) == {"kind", "name"}, "keys of a number")
                require(isinstance(column["name"], str) and column["name"], "a number without a name")
            else:
                sizes(column)
            require(column["name"] not in taken, "a public column twice, or disguised")
            taken.add(column["name"])

    def _check_promise(self, odds: str | None) -> None:
        if odds is not None:
            above, below = map(whole, odds.split("/"))
            require(above >= below > 0 and odds == f"{above}/{below}", "a promise that is none")
            require_lowest_terms(above, below)
            found = multiplied([mechanism.odds for _, mechanism in self.groups])
            require(found is not None and found * below <= above, f"odds {found} above the promise {odds}")


def _placed(places: Sequence[int], parts: Sequence[Any]) -> dict[int, Any]:
    """Each part in its place, or a single one in the first of them."""
    return dict(zip(places if len(parts) == len(places) else [min(places)], parts, strict=True))


def _check_prior(prior: Json | None) -> None:
    if prior is not None:
        allowed = ("public", "pilot", "private") if prior.get("forced") else ("public", "pilot")
        require(set(prior) - {"forced"} == {"source", "note"} and prior["note"], "keys of the prior")
        require(prior["source"] in allowed, "source of the prior")
