"""The estimate room: the truth about the group from reports, with its uncertainty.

May touch: disguise's neighbours measure and count, table, plan and everything below.
"""
