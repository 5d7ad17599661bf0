"""Web surveys whose answers are disguised on the respondent's device.

A definition (YAML or JSON) becomes a survey that contains its plan. Frozen, a survey is a sequence of canonical
bytes with a hash. The server stores disguised reports only, and every result is estimated from those.
May import every room but `cli`. Web and database libraries are imported here and nowhere else.
"""

from sottovoce._lazy import lazy

HOMES = {
    "surveys.audit.run": ("outside_audit",),
    "surveys.client.client": ("Client",),
    "surveys.client.simulate": (
        "SimulatedRespondents",
        "send_reports",
        "simulate_respondents",
    ),
    "surveys.collect.backup": (
        "Backup",
        "back_up",
        "restore",
    ),
    "surveys.collect.server": (
        "make_app",
        "running",
        "serve",
    ),
    "surveys.collect.store": ("Store",),
    "surveys.definition.definition": (
        "read_definition",
        "sample_definition",
        "sample_names",
        "survey_from_text",
    ),
    "surveys.definition.preview": (
        "QuestionPreview",
        "preview",
    ),
    "surveys.definition.questions": ("Question",),
    "surveys.definition.survey": ("Survey",),
    "surveys.links": (
        "Link",
        "read_link",
    ),
    "surveys.publications": ("export_reports",),
    "surveys.rehearsal": (
        "Rehearsal",
        "rehearse",
    ),
    "surveys.results": (
        "AnswerEstimate",
        "QuestionResult",
        "cross_table",
        "reports",
        "results_by",
        "survey_results",
    ),
}

__getattr__, __dir__ = lazy(__name__, HOMES)
