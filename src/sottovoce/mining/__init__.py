"""The mine room: what goes together and what predicts what, from disguised data only.

May touch: design, estimate and everything below.
"""
