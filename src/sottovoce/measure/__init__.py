"""The measure room: what a channel gives away, and what can be learned through it.

May touch: plan and everything below it, and numpy. Reads no data.
"""
