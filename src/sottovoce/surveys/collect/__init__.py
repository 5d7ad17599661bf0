"""Collection: the server, its database and writer, and the audit page."""

from sottovoce.errors import check_installed

check_installed("a survey", "survey", "sqlalchemy", "starlette", "uvicorn", "msgspec", "jinja2", "gmpy2")
