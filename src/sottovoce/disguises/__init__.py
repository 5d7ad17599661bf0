"""The disguise room: reports from truths; one value, a record, a column, a frame, a file.

`records` needs numpy and the coins only; `frames` and `files` bring in the table room.
May touch: table, plan and everything below.
"""
