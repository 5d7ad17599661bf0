"""Made by tools/stubs.py from the table of homes in `__init__.py`."""

from sottovoce.surveys.client.client import Client as Client
from sottovoce.surveys.client.simulate import SimulatedRespondents as SimulatedRespondents
from sottovoce.surveys.client.simulate import send_reports as send_reports
from sottovoce.surveys.client.simulate import simulate_respondents as simulate_respondents
from sottovoce.surveys.collect.server import make_app as make_app
from sottovoce.surveys.collect.server import running as running
from sottovoce.surveys.collect.server import serve as serve
from sottovoce.surveys.collect.store import Store as Store
from sottovoce.surveys.definition.definition import read_definition as read_definition
from sottovoce.surveys.definition.definition import sample_definition as sample_definition
from sottovoce.surveys.definition.definition import sample_names as sample_names
from sottovoce.surveys.definition.definition import survey_from_text as survey_from_text
from sottovoce.surveys.definition.preview import QuestionPreview as QuestionPreview
from sottovoce.surveys.definition.preview import preview as preview
from sottovoce.surveys.definition.survey import Question as Question
from sottovoce.surveys.definition.survey import Survey as Survey
from sottovoce.surveys.links import Link as Link
from sottovoce.surveys.links import read_link as read_link
from sottovoce.surveys.results import AnswerEstimate as AnswerEstimate
from sottovoce.surveys.results import QuestionResult as QuestionResult
from sottovoce.surveys.results import cross_table as cross_table
from sottovoce.surveys.results import export_reports as export_reports
from sottovoce.surveys.results import reports as reports
from sottovoce.surveys.results import survey_results as survey_results
