"""Designs for more categories than can be enumerated: sets drawn from weighted laws, and bounds that need no list."""
