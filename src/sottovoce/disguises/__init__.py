"""Disguise true answers: one value, a record, a column, a frame, a file or transactions; and audit the result.

`records` imports numpy and the coins only; `tables` and `transactions` also import the room `tables`.
This room may import from tables, plans and every room below them.
"""
