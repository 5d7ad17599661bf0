"""The plan room: what a data set or a survey is collected under, and what it promises.

A plan is schema, groups of attributes with their mechanisms, and a promise that composes over the
groups. Its canonical JSON is the only thing that client, server, files and estimators share.
May touch: scheme, mechanism, channel, schema, exact, errors. Holds no verbs, reads no files.
"""
