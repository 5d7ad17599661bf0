"""Audits: proof from samples that a mechanism does what its plan says."""
