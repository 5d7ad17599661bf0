"""Pages of rehearsals: simulated respondents, and results beside the truth."""

from starlette.routing import Route

ROUTES: list[Route] = []
