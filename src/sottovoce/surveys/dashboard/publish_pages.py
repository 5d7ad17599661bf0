"""Pages from which results are published: files, a report, a page for ethics boards, a methods paragraph."""

from starlette.routing import Route

ROUTES: list[Route] = []
