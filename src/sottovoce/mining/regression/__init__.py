"""Regression through the channel of a plan: models of disguised outcomes, and of outcomes with disguised predictors.

`families` and `likelihood` are the statistics, `formula` and `respondents` read what was asked and known, `regress`
joins them, and `result` shows what was found.
"""
