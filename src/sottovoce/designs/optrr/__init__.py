"""OptRR: SPEA2 as Huang & Du (2008) changed it for randomized-response matrices."""
