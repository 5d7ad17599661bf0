"""The researchers' side in the browser: accounts, drafts, rehearsals, running surveys, results and publications.

Pages are rendered on the server. Everything lies below one path, behind a session.
"""
