"""The channel room: how the law of a truth becomes the law of its report.

A channel is a column-stochastic operator `A[report, truth]` with exact rational entries. What can
be said of privacy, error and estimation is said of channels; who sends which report is not.
May touch: schema, exact, errors and numpy.
"""
