"""Definitions: a survey from YAML or JSON, its questions, its budget, and what it will give."""
