"""Least mean squared error for a required privacy, with a proof, for up to 20 categories."""
