"""The command line: one thin file for each command. Libraries are imported inside the commands, to start quickly.

May import every room. Rich and typer are imported here and nowhere else.
"""
