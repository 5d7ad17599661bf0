"""Conformance vectors: what a client in any language must reproduce, byte for byte.

`python -m conformance write` writes the JSON files of this folder anew, always the same;
`python -m conformance check` says whether they are what the code produces. A file NAME.json comes
from the module of that name, which has a function `vectors()`, and is found by its file name.
docs/format.md explains the fields.
"""
