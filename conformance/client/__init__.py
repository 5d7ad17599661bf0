"""A reference client in plain integers: what docs/format.md asks of a client, step by step.

It reads plan documents, believes nothing of them, and turns truths and words into reports. It is
meant to be read beside that page by those who write a client in another language, so it is short
rather than fast, needs nothing but Python's own library, and shares no code with the package whose
vectors it is held to. `plan` reads documents, `schema` attributes, `coins` words; `answers`,
`bits`, `sets` and `sampling` hold the mechanisms, a class for each kind in the table of that page.
"""
