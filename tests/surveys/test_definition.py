"""Definitions: what they may say, what the plan becomes, and refusals that name the line."""

from fractions import Fraction

import pytest

from sottovoce.errors import SottovoceError
from sottovoce.surveys.definition.definition import read_definition, survey_from_text

HEAD = "title: T\nasker: A\npurpose: P\nuntil: 2030-12-31\n"
"""Four lines: the next one is line 5."""


def made(rest: str):
    return survey_from_text(HEAD + rest)


def one(question: str, head: str = "odds: 9:1\n"):
    return made(f"{head}questions:\n  - {{id: q, text: Q, {question}}}\n").questions[0]


def test_every_kind_of_question(survey):
    assert [question.labels for question in survey.questions] == [
        ("no", "yes", "no answer"),
        ("[1, 3)", "[3, 6)", "[6, inf)", "not asked"),
        ("never", "once", "often", "daily"),
        ("words", "touch", "threats"),
        ("a", "b", "c", "d", "e", "f", "g", "h"),
        ("no", "yes"),
    ]
    assert [answer.text["en"] for answer in survey.question("days").answers] == ["≥ 1, < 3", "≥ 3, < 6", "≥ 6"]
    assert [group.scheme for group in survey.plan.groups] == [
        "randomized_response",
        "randomized_response",
        "randomized_response",
        "randomized_response",
        "subset_selection",
        "unrelated_question",
    ]
    assert all(group.guarantee.odds == 3 for group in survey.plan.groups)
    assert survey.plan.promise.odds == 729
    assert survey.contact == "survey@example.org"
    assert survey.question("days").words("[6, inf)", "en") == "≥ 6"
    assert survey.question("sick").words("no answer", "en") == "Prefer not to say"
    assert survey.question("days").words("not asked", "en") == "not asked"


def test_a_file_is_read(tmp_path):
    path = tmp_path / "draft.json"
    path.write_text('{"title":"T","asker":"A","purpose":"P","until":"2030-12-31","epsilon":"1",\n'
                    '\t"questions":[{"id":"q","kind":"yes_no","text":"Q"}]}')  # fmt: skip
    assert read_definition(path).plan.guarantee.epsilon <= 1
    path.write_bytes(b"\xff\xfe\xfa")
    with pytest.raises(SottovoceError, match="must be UTF-8"):
        read_definition(path)


def test_texts_in_several_languages():
    survey = survey_from_text("""
title: {en: T, ar: ع}
asker: {en: A, ar: س}
purpose: {en: P, ar: ب}
languages: [en, ar]
until: 2030-12-31
odds: 3
invitation: open
questions:
  - id: q
    kind: yes_no
    text: {en: Q, ar: ق}
    answers: {no: {en: "No", ar: لا}, yes: {en: "Yes", ar: نعم}}
    decline: {en: Rather not, ar: لا أقول}
""")
    assert survey.languages == ("en", "ar")
    assert survey.questions[0].answers[1].text == {"en": "Yes", "ar": "نعم"}
    assert survey.questions[0].labels == ("no", "yes", "no answer")


def test_bins_closed_on_the_right_and_named():
    question = one("kind: number, edges: [-inf, 0, 1.5], closed: right")
    assert [(answer.id, answer.text["en"]) for answer in question.answers] == [
        ("(-inf, 0]", "≤ 0"),
        ("(0, 1.5]", "> 0, ≤ 1.5"),
    ]
    named = one("kind: number, edges: [0, 1, 2], labels: [few, many]")
    assert [answer.text["en"] for answer in named.answers] == ["few", "many"]
    assert named.bins.edges == ("0", "1", "2")


def test_signs_keep_their_direction_where_texts_run_from_right_to_left():
    question = one("kind: number, edges: [0, 5, inf]", "languages: [fa]\nodds: 9:1\n")
    assert [answer.text["fa"] for answer in question.answers] == ["\u2066≥ 0, < 5\u2069", "\u2066≥ 5\u2069"]


def test_true_and_false_in_any_writing_are_switches_for_declining():
    assert one("kind: yes_no, decline: True").decline == {"en": "Prefer not to say"}
    assert one("kind: yes_no, decline: False").decline is None
    german = one("kind: single, answers: [ja, nein], decline: true", "languages: [de]\nodds: 9:1\n")
    assert german.decline == {"de": "Möchte ich nicht sagen"}
    with pytest.raises(SottovoceError, match=r"decline must be spelt out in tlh: the words are built in for ar, bg"):
        one("kind: single, answers: [HIja, ghobe], decline: true", "languages: [tlh]\nodds: 9:1\n")


def test_a_question_that_nobody_can_reach_is_refused():
    questions = """odds: 9
questions:
  - {id: a, kind: yes_no, text: A}
  - {id: several, kind: several, text: S, answers: [x, y], when: {a: yes}}
  - {id: b, kind: yes_no, text: B, when: {several: x}}
"""
    assert (
        len(made(questions + "  - {id: c, kind: yes_no, text: C, when: {several: y, b: yes, a: [yes, no]}}").questions)
        == 4
    )
    rule = r"questions\[3\].when must be possible together: no answer to a leads here \(line 10\)"
    with pytest.raises(SottovoceError, match=rule):
        made(questions + "  - {id: c, kind: yes_no, text: C, when: {b: yes, a: no}}")


def test_questions_with_common_coins_may_share_their_harmless_questions():
    survey = made("""odds: 9
questions:
  - {id: a, kind: yes_no, text: A, unrelated: "Born in spring?"}
  - {id: b, kind: yes_no, text: B, unrelated: "Born on a Sunday?"}
groups: [{questions: [a, b], scheme: {name: unrelated_question, known: [[.75, .25], [.86, .14]]}}]
""")
    assert survey.plan.group_of("a").scheme == "unrelated_question"


def test_extra_labels_differ_from_answers():
    assert one("kind: single, answers: [no answer, x], decline: Rather not").labels == ("no answer", "x", "no answer*")
    assert one("kind: single, answers: [x, y], decline: false").decline is None


def test_groups_share_coins_and_shares_are_equal():
    survey = made("""odds: 36:1
questions:
  - {id: a, kind: yes_no, text: A}
  - {id: b, kind: yes_no, text: B}
  - {id: c, kind: yes_no, text: C, odds: 4:1}
  - {id: d, kind: yes_no, text: D}
groups: [{questions: [b, d]}]
""")
    assert [(group.attributes, group.guarantee.odds) for group in survey.plan.groups] == [
        (("a",), 3),
        (("b", "d"), 3),
        (("c",), 4),
    ]


def test_schemes_by_name_and_with_their_parameters():
    survey = made("""odds: 100:1
questions:
  - {id: a, kind: yes_no, text: A, scheme: {name: warner, p: 3/4}}
  - {id: b, kind: single, text: B, answers: [x, y, z], scheme: subset_selection, epsilon: 1}
  - {id: c, kind: single, text: C, answers: [w, x, y, z], scheme: {name: subset_selection, size: 2}}
  - {id: d, kind: single, text: D, answers: [w, x, y], scheme: {name: gamma_diagonal, gamma: 2}}
""")
    schemes = {group.attributes[0]: group for group in survey.plan.groups}
    assert schemes["a"].guarantee.odds == 3
    assert schemes["b"].guarantee.epsilon <= 1
    assert schemes["c"].mechanism.to_json()["size"] == "2"
    assert schemes["d"].guarantee.odds == 2
    # What is left of 100 : 1 after 3, e and 2 goes to the one question that waits for its share.
    assert Fraction(61, 10) < schemes["c"].guarantee.odds < Fraction(62, 10)


YES_NO = "questions: [{id: q, kind: yes_no, text: Q}]\n"


@pytest.mark.parametrize(
    ("rest", "message"),
    [
        (YES_NO, "survey must have a budget for all questions together"),
        ("odds: 3\nepsilon: 1\n" + YES_NO, r"epsilon must be left out if odds are given \(line 6\)"),
        ("odds: 1:1\n" + YES_NO, r"odds must be above 1 : 1, to leave something for q \(line 5\)"),
        ("odds: lots\n" + YES_NO, r"odds must be a number \(line 5\)"),
        ("odds: 1:2\n" + YES_NO, r"odds must be at least 1 : 1 \(line 5\)"),
        ("odds:\n" + YES_NO, r"^odds must be a number, or odds such as 9:1 \(line 5\)\. Got nothing instead\.$"),
        ("odds: 1e306\n" + YES_NO, r"odds must be at most 10\^305 \(line 5\)"),
        ("epsilon: 1e999999999\n" + YES_NO, r"epsilon must have an exponent of at most three digits \(line 5\)"),
        ("odds: 3\nquestions: []", r"questions must be a list that is not empty \(line 6\)"),
        ("odds: 3\ncolor: red\n" + YES_NO, r"color is not known here.*\(line 6\)"),
        ("odds: 3\nminimum: 0\n" + YES_NO, r"minimum must be a whole number from 1 .*\(line 6\)"),
        ("odds: 3\nsend_interval: 9\n" + YES_NO, r"send_interval must be 0, or 10 to 86400 seconds \(line 6\)"),
        ("odds: 3\nsend_interval: 5m\n" + YES_NO, r"send_interval must be a whole number from 0 to 86400"),
        ("odds: 3\ninvitation: all\n" + YES_NO, r"invitation must be one of single, open \(line 6\)"),
        ("odds: 3\nlanguages: [English]\n" + YES_NO, r"languages must be different language tags, .*\(line 6\)"),
        ("odds: 3\nlanguages: [en, en]\n" + YES_NO, r"languages must be different language tags, .*\(line 6\)"),
        ("odds: 3\nlanguages: [de, en]\nquestions: [{id: q, kind: yes_no, text: {en: Q}}]", r"text must have de"),
        ("odds: 3\nlanguages: [en, de]\nquestions: [{id: q, kind: single, text: Q, answers: [a, b]}]", "must map"),
        ("odds: 3\nquestions: [{id: q, text: Q}]", r"questions\[0\].kind must be one of yes_no, single"),
        ("odds: 3\nquestions: [{id: q, kind: many, text: Q}]", r"questions\[0\].kind must be one of yes_no, single"),
        ("odds: 3\nquestions: [{id: q, kind: single, text: Q}]", r"questions\[0\] must have answers \(line 6\)"),
        ("odds: 3\nquestions: [{id: q, kind: number, text: Q}]", r"questions\[0\] must have edges \(line 6\)"),
    ],
)
def test_refused_definitions(rest, message):
    with pytest.raises(SottovoceError, match=message):
        made(rest)


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ("kind: single, answers: [x]", r"questions\[0\].answers must be at least two, or one .* \(line 7\)"),
        ("kind: single, answers: [x, x]", r"questions\[0\].answers must differ from each other \(line 7\). Got 'x'"),
        ("kind: single, answers: [=x, y]", r"spreadsheets take that for a formula \(line 7\)"),
        ("kind: single, answers: [x;z, y]", r"must have ids that are not empty, .* without ';' \(line 7\)"),
        ("kind: single, answers: {'': X, y: Y}", r"answers must have ids that are not empty.*\(line 7\)"),
        (
            "kind: single, answers: {' x': X, y: Y}",
            r"answers must have ids .* without spaces around them.*\(line 7\)",
        ),
        (
            "kind: single, answers: {x: Same, y: Same}",
            r"answers with different texts, also in en.*\(line 7\)\. Got \['Same'\]",
        ),
        ("kind: single, answers: [Never, y], decline: Never", r"answers with different texts.*Got \['Never'\]"),
        (
            "kind: yes_no, decline: no",
            r"decline must be true, false, or the text for declining.*\(line 7\)\. Got 'no' instead",
        ),
        (
            f"kind: number, edges: [{', '.join(map(str, range(258)))}]",
            r"edges must make at most 256 bins \(line 7\)\. Got 258 instead",
        ),
        ("kind: yes_no, odds: 1", r"must have odds above 1 : 1: at 1 : 1 nothing can be learned.*\(line 7\)"),
        ("kind: yes_no, scheme: {name: warner, p: .5}", r"scheme must have odds above 1 : 1.*\(line 7\)"),
        (
            "kind: yes_no, odds: 2, scheme: {name: warner, p: .7}",
            r"must be given without odds or epsilon: those of warner follow from its parameters \(line 7\)",
        ),
        (
            "kind: yes_no, odds: 2, scheme: {name: randomized_response, odds: 9}",
            r"must be given without odds or epsilon: those of randomized_response follow.*\(line 7\)",
        ),
        (
            "kind: yes_no, scheme: {name: subset_selection, odds: 3, size: 0}",
            r"subset_selection: size must be a positive.*\(line 7\)",
        ),
        (
            "kind: several, answers: [x, y], scheme: subset_selection",
            r"scheme subset_selection: q must have categories for a set of them to be reported \(line 7\)",
        ),
        (
            "kind: several, answers: [x, y, z], scheme: {name: cut_and_paste, cutoff: 2, rho: .5}",
            r"must have a scheme under which its answers can be estimated.*\(line 7\)\. Got 'cut_and_paste' instead",
        ),
        (
            "kind: single, answers: [x, y, z], scheme: {name: matrix, matrix: [[.5,.2,.2],[.3,.5,.5],[.2,.3,.3]]}",
            r"must have a scheme under which its answers can be estimated.*condition number is inf \(line 7\)",
        ),
        (
            "kind: yes_no, unrelated: R, scheme: unrelated_question",
            r"scheme must give the frequencies of the harmless answers, such as known: \[.75, .25\] \(line 7\)",
        ),
        ("kind: single, answers: [" + ",".join(f"a{i}" for i in range(257)) + "]", r"must be at most 256 \(line 7\)"),
        ("kind: yes_no, answers: [yes, maybe]", r"must have the ids no and yes; in many languages .*\(line 7\)"),
        (
            "kind: yes_no, answers: [yes, no], scheme: {name: warner, p: .7}",
            r"answers must be in the order no, yes where there is a scheme.*\(line 7\)",
        ),
        ("kind: number, edges: [3, 2, 1]", r"must be at least two increasing numbers \(line 7\)"),
        ("kind: number, edges: [1, 2]", r"edges must be at least 3 numbers, which make two bins \(line 7\)"),
        ("kind: number, edges: [a, 1, 2]", r"edges must be numbers \(line 7\)"),
        ("kind: number, edges: [1, 2, 3], labels: [x]", r"must name each of the 2 bins \(line 7\)"),
        ("kind: yes_no, edges: [1, 2]", r"edges is not known here"),
        ("kind: yes_no, when: {r: yes}", r"must be about an earlier question \(line 7\). Got 'r'"),
        ("kind: yes_no, scheme: magic", r"scheme must be one of"),
        ("kind: yes_no, scheme: {p: 1}", r"scheme must have a name \(line 7\)"),
        ("kind: yes_no, scheme: {name: warner}", r"must have the parameters of warner, which are p \(line 7\)"),
        ("kind: yes_no, scheme: {name: warner, p: 2}", r"warner: p must be between 0 and 1 \(line 7\). Got 2 instead"),
        ("kind: yes_no, scheme: {name: warner, p: 1}", r"must not let a report rule out an answer to q.*\(line 7\)"),
        ("kind: yes_no, scheme: {name: subset_selection, size: 0}", r"subset_selection: size must be a positive"),
        ("kind: yes_no, scheme: {name: kuk, yes: .6, no: .5, cards: x}", r"kuk: cards must be a number"),
        ("kind: yes_no, scheme: {name: laplace, epsilon: 1, known: 2}", r"must have the parameters of laplace"),
        (
            "kind: single, answers: [x, y, z], scheme: {name: crosswise, q: .3}",
            r"crosswise: sizes must be .*\(line 7\)",
        ),
        (
            "kind: yes_no, decline: true, unrelated: R, scheme: {name: unrelated_question, known: [.5, .5]}",
            r"unrelated_question: known must .*\(line 7\)",
        ),
        ("kind: yes_no, unrelated: R", "must have both unrelated, the text of the harmless question, and scheme"),
        ("kind: yes_no, scheme: unrelated_question", "must have both unrelated, the text"),
    ],
)
def test_refused_questions(question, message):
    with pytest.raises(SottovoceError, match=message):
        one(question)


@pytest.mark.parametrize(
    ("rest", "message"),
    [
        ("  - {id: a, kind: yes_no, text: B}", r"questions\[1\].id must differ from the ids .*\(line 8\)"),
        (
            "  - {id: b, kind: yes_no, text: B, when: {a: maybe}}",
            r"must be answers of a: no, yes \(line 8\). Got 'maybe'",
        ),
        ("  - {id: b, kind: yes_no, text: B}\ngroups: [{questions: [a]}]", "must name two or more different questions"),
        (
            "  - {id: b, kind: yes_no, text: B}\ngroups: [{questions: [a, c]}]",
            "must name two or more different questions",
        ),
        (
            "  - {id: b, kind: yes_no, text: B}\ngroups: [{questions: [a, b]}, {questions: [b, a]}]",
            "must not name a question that is in another group",
        ),
        (
            "  - {id: b, kind: yes_no, text: B}\n  - {id: a+b, kind: yes_no, text: C}\n"
            "groups: [{questions: [a, b], scheme: subset_selection}]",
            r"groups\[0\] variables must have different names; \['a\+b'\] is repeated \(line 10\)",
        ),
        (
            "  - {id: b, kind: yes_no, text: B, odds: 2}\ngroups: [{questions: [a, b]}]",
            r"questions\[1\] must not have odds, which its group has \(line 8\)",
        ),
    ],
)
def test_refused_pairs_of_questions(rest, message):
    with pytest.raises(SottovoceError, match=message):
        made("odds: 9\nquestions:\n  - {id: a, kind: yes_no, text: A}\n" + rest)


def test_answers_in_several_languages_need_names():
    with pytest.raises(SottovoceError, match="must map the id of each answer to its texts"):
        survey_from_text(
            "title: {en: T, de: T}\nasker: {en: T, de: T}\npurpose: {en: T, de: T}\nlanguages: [en, de]\n"
            "until: 2030-12-31\n"
            "odds: 2\nquestions: [{id: a, kind: single, text: {en: T, de: T}, answers: [x, y]}]"
        )


def test_a_day_that_is_none():
    for day in ("tomorrow", "''"):
        with pytest.raises(SottovoceError, match=r"until must be .*\(line 4\)"):
            survey_from_text((HEAD + "odds: 3\n" + YES_NO).replace("2030-12-31", day))


def test_a_budget_that_is_exceeded_shows_the_arithmetic():
    questions = """questions:
  - {id: a, kind: yes_no, text: A, odds: 3:1}
  - {id: b, kind: yes_no, text: B, scheme: {name: warner, p: 0.8}}
"""
    with pytest.raises(SottovoceError) as refused:
        made("odds: 10:1\n" + questions)
    assert str(refused.value) == (
        "odds must be enough for all questions together: a 3 : 1 x b 4 : 1 = 12 : 1 (line 5). Got '10 : 1' instead."
    )
    with pytest.raises(SottovoceError, match=r"= 12 : 1, and leave something for c \(line 5\). Got '12 : 1'"):
        made("odds: 12:1\n" + questions + "  - {id: c, kind: yes_no, text: C}\n")
    assert made("epsilon: 3\n" + questions).plan.guarantee.odds == 12


def test_odds_of_a_question_that_are_none():
    with pytest.raises(SottovoceError, match=r"questions\[0\].odds must be at least 1 : 1 \(line 7\)"):
        one("kind: yes_no, odds: 0")
