"""The survey room: questions whose answers are disguised on the respondent's device.

A definition (YAML or JSON) becomes a survey with its plan inside; frozen, it is canonical bytes with a hash. The
server keeps disguised reports only, and everything is estimated from those.
May touch: every room but cli. Web and database libraries live here and nowhere else.
"""
