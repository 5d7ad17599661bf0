"""Pages of results: estimates of every question, groups, cross tables, itemsets and rules, and classifiers."""

from starlette.routing import Route

ROUTES: list[Route] = []
