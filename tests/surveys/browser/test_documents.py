"""Python and the page read the same survey documents and refuse the same: every part is changed in many ways."""

import json
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sottovoce.errors import SottovoceError
from sottovoce.plans.canonical import canonical_bytes
from sottovoce.surveys.definition.definition import survey_from_text
from sottovoce.surveys.definition.survey import survey_from_bytes
from sottovoce.surveys.page.files import FOLDER

SCRIPT = Path(__file__).parent / "documents.mjs"
DEFINITION = """
title: {en: Honesty, de: Ehrlichkeit}
asker: {en: A, de: A}
purpose: {en: P}
languages: [en, de]
until: 2999-12-31
odds: 100:1
comprehension_check: true
consent: {en: Read this.}
colour: "#0f6b7c"
send_interval: 600
questions:
  - id: age
    kind: single
    public: true
    text: {en: How old, de: Wie alt}
    answers: {young: {en: Below 30, de: Unter 30}, old: {en: 30 or more, de: 30 oder mehr}}
  - {id: smokes, kind: yes_no, shuffle: true, text: {en: Do you smoke, de: Rauchen Sie}}
  - id: much
    kind: single
    text: {en: How much, de: Wie viel}
    when: {smokes: ["yes"]}
    answers: {little: {en: A little, de: Wenig}, lots: {en: A lot, de: Viel}}
    decline: true
  - id: taken
    kind: several
    most: 1
    text: {en: What, de: Was}
    answers: {pens: {en: Pens, de: Stifte}, paper: {en: Paper, de: Papier}}
  - id: feel
    kind: matrix
    text: {en: How, de: Wie}
    steps: 3
    ends: [{en: bad, de: schlecht}, {en: good, de: gut}]
    items: {work: {en: your work, de: Ihrer Arbeit}, pay: {en: your pay, de: Ihrem Lohn}}
  - {id: days, kind: number, text: {en: Days, de: Tage}, edges: [0, 1, 5]}
"""
VALUES: list[Any] = [None, False, True, 0, 1, -1, 2, "", "x", [], {}, [0], {"en": "T"}, {"en": 1}]
FEW = 40
"""Of so many changes, the fast test makes one."""


def parts_of(document: Any, path: tuple = ()) -> Iterator[tuple]:
    """Paths to every part of a document, except for the coins, whose readers have tests of their own."""
    inside = (
        document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    )
    for key, part in inside:
        yield (*path, key)
        if (*path, key) != ("plan", "groups"):
            yield from parts_of(part, (*path, key))


def changed(document: dict, path: tuple) -> Iterator[dict]:
    """The document with another value in one place, without it, with something more in it, or in another order."""
    *before, key = path

    def changing() -> tuple[dict, Any]:
        whole = deepcopy(document)
        place = whole
        for step in before:
            place = place[step]
        return whole, place

    for value in VALUES:
        whole, place = changing()
        place[key] = deepcopy(value)
        yield whole
    whole, place = changing()
    del place[key]
    yield whole
    whole, place = changing()
    if isinstance(place[key], dict):
        place[key]["more"] = 1
        yield whole
    elif isinstance(place[key], list):
        place[key] += place[key][-1:] or [1]
        yield whole
        whole, place = changing()
        place[key].reverse()
        yield whole


def refused(document: bytes) -> bool:
    try:
        survey_from_bytes(document)
    except SottovoceError:
        return True
    return False


@pytest.mark.parametrize("step", [FEW, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("invitation", ["open", pytest.param("single", marks=pytest.mark.slow)])
def test_both_readers_refuse_the_same_documents(node, tmp_path, secret_key, invitation, step):
    survey = survey_from_text(f"{DEFINITION}invitation: {invitation}\n")
    if invitation == "single":
        survey = replace(survey, admission=secret_key.public)
    document = json.loads(survey.document)
    document["presentation"]["logo"] = {"type": "image/png", "sha256": "0" * 64}
    paths = list(parts_of(document))
    if invitation == "single":
        paths = [path for path in paths if path[0] in ("admission", "invitation", "version")]
        step = 1
    changes = [(path, other) for path in paths for other in changed(document, path)][::step]
    if invitation == "single":  # a draft, which no page shows, has no key yet
        changes = [(path, other) for path, other in changes if other.get("admission", 0) is not None]
    written = [canonical_bytes(other) for _, other in [((), document), *changes]]
    (tmp_path / "documents.json").write_text(json.dumps([text.decode() for text in written]))
    first, *reasons = json.loads(node(SCRIPT, FOLDER, tmp_path / "documents.json"))
    assert first is None
    by_python = [refused(text) for text in written]
    assert not by_python[0]
    found = zip(changes, by_python[1:], reasons, strict=True)
    assert [(path, reason) for (path, _), refuses, reason in found if refuses != (reason is not None)] == []
    assert sum(by_python) > len(by_python) / 2
