"""The thesis that EMASK and FRAPP are from."""

SOURCE = "S. Agrawal (2004), thesis, Indian Institute of Science, {}"
