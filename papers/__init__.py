"""The papers' tables and figures, run again: one module each, found by its being there.

A module states its settings, calls the library, and returns a `Rerun` from `rerun`. Everything it needs and the library
lacks belongs in the library. Numbers that a paper prints are compared; what a paper only draws is recorded as the
claims its text makes.
"""
