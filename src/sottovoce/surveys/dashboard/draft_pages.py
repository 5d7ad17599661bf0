"""Pages on which a survey is created: drafts, their form and their YAML, and what margins of error to expect."""

from starlette.routing import Route

ROUTES: list[Route] = []
