"""The mine room: what goes together and what predicts what, from disguised data only.

May touch: estimate and everything below.
"""
