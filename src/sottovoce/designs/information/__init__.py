"""Least mutual information for a given distortion: each point of the front is a convex program, with a certificate.

`I(X; Y)` is convex in the channel, `P(X != Y)` and the odds of a row are linear. As many reports as truths suffice.
"""
