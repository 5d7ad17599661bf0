"""Schemas describe what is asked: attributes with categories, binned numbers, item sets, and their joint cells.

This room imports errors, checks and numpy only.
"""
