"""The command line: one thin file a command; everything heavy is imported inside the command.

May touch: every room. Rich and typer live here and nowhere else.
"""
