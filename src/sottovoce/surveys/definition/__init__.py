"""Definitions: a survey from YAML or JSON, its questions, its budget, and a preview of its margins of error."""

from sottovoce.errors import check_installed

check_installed("a survey", "survey", "yaml", "msgspec")
