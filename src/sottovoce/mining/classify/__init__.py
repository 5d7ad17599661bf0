"""Classifiers learned from disguised records, and tested on disguised ones."""
