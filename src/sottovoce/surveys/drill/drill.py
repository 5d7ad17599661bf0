"""The drill: runs the scenarios against a private copy of a survey, and gives the verdict."""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from sottovoce.checks import number, one_of, whole_number
from sottovoce.errors import SottovoceError
from sottovoce.surveys.definition.survey import Survey
from sottovoce.surveys.drill.faults import SCENARIOS, Scenario
from sottovoce.surveys.drill.leaks import check_leaks
from sottovoce.surveys.drill.scratch import new_scratch
from sottovoce.surveys.drill.server import APPLICATION
from sottovoce.surveys.drill.state import Drill, Finding
from sottovoce.surveys.drill.verdict import check_stored
from sottovoce.surveys.event_loops import outside_of_loops

RESPONDENTS = 200
OUTAGE = 60.0
LEAST_RESPONDENTS = 8
"""Fewest respondents of a scenario, which divides them into groups."""


@dataclass(frozen=True)
class ScenarioOutcome:
    """What happened in one scenario: how long it took, the faults with their moments, and who was served."""

    name: str
    sentence: str
    seconds: float
    faults: tuple[tuple[float, str], ...]
    acknowledged: int
    retries: int
    findings: tuple[Finding, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the outcome as JSON."""
        return {
            "name": self.name,
            "sentence": self.sentence,
            "seconds": round(self.seconds, 1),
            "faults": [{"moment": round(moment, 3), "what": what} for moment, what in self.faults],
            "acknowledged": self.acknowledged,
            "retries": self.retries,
            "findings": [finding.to_json() for finding in self.findings],
        }


@dataclass(frozen=True)
class DrillResult:
    """Verdict of a drill: outcomes of its scenarios, of which the last is the look at everything in the end."""

    seed: int
    database: str
    outcomes: tuple[ScenarioOutcome, ...]

    @property
    def findings(self) -> list[Finding]:
        """Everything that must not happen and did."""
        return [finding for outcome in self.outcomes for finding in outcome.findings]

    @property
    def passed(self) -> bool:
        """Whether nothing was lost, nothing leaked and nothing else went wrong."""
        return not self.findings

    @property
    def acknowledged(self) -> int:
        """Number of acknowledged reports."""
        return sum(outcome.acknowledged for outcome in self.outcomes)

    def count(self, kind: str) -> int:
        """Return the number of findings of a kind."""
        return sum(finding.kind == kind for finding in self.findings)

    def to_json(self) -> dict[str, Any]:
        """Return the verdict as JSON."""
        return {
            "seed": self.seed,
            "database": self.database,
            "passed": self.passed,
            "acknowledged": self.acknowledged,
            **{kind: [finding.to_json() for finding in self.findings if finding.kind == kind] for kind in KINDS},
            "scenarios": [outcome.to_json() for outcome in self.outcomes],
        }


KINDS = ("lost", "leaked", "broken")


@dataclass(frozen=True)
class Course:
    """Course of a drill: a seed of its faults, the respondents of each scenario, and how long faults and rounds last.

    `only` names scenarios, all if empty. Rounds are repeated until so many `minutes` have passed. The database is out
    of reach for `outage` seconds.
    """

    seed: int
    respondents: int = RESPONDENTS
    only: Sequence[str] = ()
    minutes: float = 0.0
    outage: float = OUTAGE

    def __post_init__(self) -> None:
        """Check all of it."""
        whole_number("seed", self.seed, least=0)
        whole_number("respondents", self.respondents, least=LEAST_RESPONDENTS)
        number("minutes", self.minutes, 0)
        number("outage", self.outage, 0, open_ends=True)
        for name in self.only:
            one_of("only", name, [scenario.name for scenario in SCENARIOS])

    @property
    def scenarios(self) -> list[Scenario]:
        """Scenarios of a round, in their order."""
        return [scenario for scenario in SCENARIOS if not self.only or scenario.name in self.only]


@outside_of_loops
def run_drill(
    survey: Survey,
    course: Course,
    *,
    database: str | None = None,
    folder: str | Path | None = None,
    progress: Callable[[ScenarioOutcome], object] = lambda _outcome: None,
    application: str = APPLICATION,
) -> DrillResult:
    """Run a private copy of a survey through the scenarios of a course, and return what was lost and leaked.

    The copy has a new SQLite database in a temporary folder (of `folder`), or a scratch database on the PostgreSQL
    server of a URL. `application` names another application, for tests, as `module:function`.

    >>> from sottovoce.surveys import survey_from_text
    >>> draft = survey_from_text('''{title: T, asker: A, purpose: P, until: 2999-12-31, odds: 3, invitation: open,
    ...     questions: [{id: q, kind: yes_no, text: Q}]}''')
    >>> run_drill(draft, Course(seed=1, respondents=8, only=["replays"])).passed
    True
    """
    with new_scratch(database, folder, _generator(course.seed, "proxy")) as scratch:
        drill = Drill(
            scratch,
            survey,
            seed=course.seed,
            respondents=course.respondents,
            outage=course.outage,
            application=application,
        )
        outcomes = asyncio.run(_run(drill, course, progress))
    return DrillResult(course.seed, scratch.kind, tuple(outcomes))


def _generator(seed: int, name: str) -> Random:
    return Random(f"{seed} {name}")  # noqa: S311  # of faults, which must be repeatable


async def _run(drill: Drill, course: Course, progress: Callable[[ScenarioOutcome], object]) -> list[ScenarioOutcome]:
    outcomes: list[ScenarioOutcome] = []
    until, rounds = time.monotonic() + 60 * course.minutes, 0

    async def run(scenario: Scenario) -> None:
        outcomes.append(await _outcome(drill, scenario, _generator(course.seed, f"{rounds} {scenario.name}")))
        progress(outcomes[-1])

    try:
        while not rounds or time.monotonic() < until:
            for scenario in course.scenarios:
                await run(scenario)
            rounds += 1
        await run(END)
    finally:
        await drill.close()
    return outcomes


async def _outcome(drill: Drill, scenario: Scenario, rng: Random) -> ScenarioOutcome:
    """Run a scenario, and look at what is stored and what can be found."""
    begun, people = time.monotonic(), len(drill.respondents)
    faults, findings = len(drill.faults), len(drill.findings)
    drill.scenario = scenario.name
    try:
        await drill.settle_servers()
        await scenario.run(drill, rng)
        if scenario is not END:
            await drill.settle_servers()
    except (SottovoceError, OSError, EOFError) as reason:
        drill.note("broken", f"the scenario could not go on: {type(reason).__name__} {reason}")
    await asyncio.to_thread(check_stored, drill)
    await asyncio.to_thread(check_leaks, drill, at_rest=scenario is END)
    return ScenarioOutcome(
        scenario.name,
        scenario.sentence,
        time.monotonic() - begun,
        tuple(drill.faults[faults:]),
        sum(respondent.acknowledged for respondent in drill.respondents[people:]),
        sum(respondent.retries for respondent in drill.respondents[people:]),
        tuple(drill.findings[findings:]),
    )


async def _end(drill: Drill, _rng: Random) -> None:
    """Stop the server, look, and close the survey."""
    await drill.stop(drill.server)
    await asyncio.to_thread(check_leaks, drill, at_rest=True)
    with drill.store() as store:
        store.close_survey(drill.survey.id)


END = Scenario("end", "The server stops, the survey is closed, and everything that is left is searched.", _end)
