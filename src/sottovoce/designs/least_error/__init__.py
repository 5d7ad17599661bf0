"""Channels with the least error there is for a required privacy, and the proof, up to 20 categories."""
