"""Graphs under edge local privacy: who is tied to whom is disguised, how the graph is knit is estimated."""
