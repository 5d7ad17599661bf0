"""The outside audit: anyone who has a link drives the served page in a browser, and judges what leaves it."""
