"""Whether the libraries of the extra `survey` are there, said before anything fails halfway."""

from importlib.util import find_spec

from sottovoce.errors import MissingExtraError

LIBRARIES = {
    "yaml": "PyYAML",
    "sqlalchemy": "SQLAlchemy",
    "starlette": "Starlette",
    "uvicorn": "uvicorn",
    "msgspec": "msgspec",
    "jinja2": "Jinja2",
}


def check_installed() -> None:
    """Name the first library that is missing, and the command that installs all of them."""
    for module, library in LIBRARIES.items():
        if find_spec(module) is None:
            raise MissingExtraError("The survey", library, "survey")
