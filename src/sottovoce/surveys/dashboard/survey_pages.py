"""Pages of frozen surveys: the list of all, and the overview of one."""

from dataclasses import dataclass

from starlette.responses import JSONResponse, Response

from sottovoce.surveys.collect.app_state import today
from sottovoce.surveys.dashboard.drafts import Drafts
from sottovoce.surveys.dashboard.visit import Visit, route
from sottovoce.surveys.definition.survey import Survey


@dataclass(frozen=True)
class SurveyState:
    """A frozen survey with its numbers, and whether it still takes answers."""

    survey: Survey
    counts: dict[str, int]
    closed: bool

    @property
    def status(self) -> str:
        """Whether the survey is a rehearsal, open, or has ended."""
        if self.closed or self.survey.until < today():
            return "ended"
        return "rehearsal" if self.survey.rehearsal else "open"


def survey_state(visit: Visit, survey: Survey) -> SurveyState:
    """Return a survey with its numbers."""
    store = visit.store
    return SurveyState(survey, store.counts(survey.id), store.is_closed(survey.id))


def show_surveys(visit: Visit) -> Response:
    """Return the list of drafts and of all surveys: open ones, rehearsals, and those that have ended."""
    surveys = [survey for name in visit.store.surveys() if (survey := visit.store.survey(name)) is not None]
    states = [survey_state(visit, survey) for survey in surveys]
    drafts = [draft for draft in Drafts(visit.store.engine).all() if draft.frozen is None]
    return visit.page("surveys.html", states=states, drafts=drafts)


def show_survey(visit: Visit) -> Response:
    """Return the overview of a survey."""
    survey = visit.survey()
    return visit.page("survey.html", survey=survey, state=survey_state(visit, survey))


def show_counts(visit: Visit) -> Response:
    """Return the numbers of a survey for pages that show them live."""
    return JSONResponse(visit.store.counts(visit.survey().id))


ROUTES = [
    route("", show_surveys),
    route("/", show_surveys),
    route("/surveys/{survey}", show_survey),
    route("/surveys/{survey}/counts", show_counts),
]
