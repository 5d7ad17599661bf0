"""The mechanism room: what a respondent's device does, coin by coin, in integers.

Many schemes of the literature are one mechanism with different integers, and a mechanism is all
that a client has to implement: coins with whole numbers of sides go in, a report comes out.
May touch: channel, schema, exact, errors, numpy, and cryptography for the coins.
"""
