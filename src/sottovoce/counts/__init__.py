"""The count room: how many reports there are of each kind, which is all that estimators see.

May touch: table, plan and everything below.
"""
