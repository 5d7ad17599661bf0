"""Disguise true answers: a value, a record, a column, a frame, a file, transactions, a lazy table; audit the result.

`records` imports numpy and the coins only; all others also import the room `tables`. Lazy tables have keyed coins.
This room may import from tables, plans and every room below them.
"""
