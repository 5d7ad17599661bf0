"""The measure room: what a channel or a plan gives away, and what it is still good for, as numbers.

Each measure is one plain function of a channel (or a plan, or a stack of matrices) and a prior: a
number for one matrix, an array for a stack. Nothing here sees a report or a respondent.
May touch: plan and everything below. Neighbours disguise and count are not imported.
"""
