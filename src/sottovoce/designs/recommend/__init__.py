"""What to use: designs for one attribute or several under one budget, measured by what they are wanted for."""
