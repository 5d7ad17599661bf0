"""The mine room: what goes together in the group, found in disguised data alone.

May touch: estimate and everything below.
"""
