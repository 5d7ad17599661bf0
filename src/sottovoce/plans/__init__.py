"""Plans: how a data set or a survey is disguised, and what that guarantees.

A plan has a schema, groups of attributes with their mechanisms, and a guarantee that composes over the groups. Its
canonical JSON is all that clients, servers, files and estimators share.
This room may import from schemes and every room below it. It disguises and estimates nothing, and reads no files.
"""
