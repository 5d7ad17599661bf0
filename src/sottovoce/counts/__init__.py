"""Counts of reports by kind, which is all that estimators need to know of them.

May import: tables, plans and everything below them.
"""
