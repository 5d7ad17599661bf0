"""The design room: the best channel for a required privacy, with a proof, and fronts to choose from.

May touch: estimate, measure, plan and everything below.
"""
