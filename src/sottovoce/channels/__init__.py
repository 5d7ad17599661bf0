"""Channels: the conditional distribution of the report given the truth.

A channel is a column-stochastic operator `A[report, truth]` with exact rational entries. Privacy, error and estimation
are defined on channels alone. This room imports schemas, exact, checks, errors and numpy.
"""
