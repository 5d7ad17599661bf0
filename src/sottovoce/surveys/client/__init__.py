"""Respondents in Python: a client that checks, seals and sends, and made-up people."""
