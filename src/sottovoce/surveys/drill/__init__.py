"""The drill: a private copy of a survey's server, what can go wrong with it, and a verdict on what was lost or leaked.

A live survey is never touched: the copy has a database, a process and a port of its own, and is a rehearsal.
"""
