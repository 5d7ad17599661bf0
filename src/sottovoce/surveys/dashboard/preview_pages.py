"""The respondents' page of a draft, for its author: it looks and works as it will, and stores nothing."""

from starlette.routing import Route

ROUTES: list[Route] = []
