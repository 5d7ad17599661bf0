"""The schema room: what can be asked. Attributes, item sets, bins, and joint cells of several of them.

May touch: errors and numpy. Knows nothing of coins, files or frames.
"""
