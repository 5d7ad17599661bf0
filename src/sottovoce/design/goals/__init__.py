"""Goal attainment: the coins of EMASK that come nearest to goals for privacy, error and run time at once."""
