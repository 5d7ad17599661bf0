"""Audits: tests, from samples, that a mechanism keeps the odds its plan states."""
