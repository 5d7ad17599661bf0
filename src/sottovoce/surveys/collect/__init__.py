"""Collection: the server, its store and writer, and the audit page."""
