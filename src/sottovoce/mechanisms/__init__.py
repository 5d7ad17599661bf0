"""Mechanisms: what a respondent's device does, from integer coins and the truth to the report.

Many schemes of the literature are one mechanism with different integers, and a client has to implement mechanisms only.
Their classes are named after their kinds in plan documents (docs/format.md). This room imports channels, schemas,
exact, checks, errors and numpy, and cryptography for the coins.
"""
