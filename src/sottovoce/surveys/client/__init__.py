"""Respondents in Python: a client that checks, disguises and sends, and simulated respondents."""

from sottovoce.errors import check_installed

check_installed("a survey", "survey", "msgspec")
