"""The reports room: disguised responses with the plan they were disguised under, and what can be asked of them.

`Reports` is thin: it holds a table and its plan, and borrows its verbs from the rooms below, which are imported when
they are called. May touch: everything but surveys and the command line.
"""
