"""Designs for more categories than can be enumerated: distributions of sets, and bounds that need no list of them."""
