"""Measured claims: peer and ours in the same run, as a ratio; absolute times mean little.

`python -m benchmarks list` names them, `python -m benchmarks run NAME --json FILE` runs one. A
benchmark is a module here with a function `rows() -> list[Row]`, and is found by its file name.
"""
