"""Discrete particle swarm for the trade of bits against distortion, after Gao et al. (2018)."""
