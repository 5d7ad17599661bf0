"""Recommended plans for one attribute or several under one budget, by the error of what they are wanted for."""
