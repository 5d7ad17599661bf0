"""The data sets that the papers use, by name: from a folder that the user has, or downloaded and checked.

`SOTTOVOCE_DATA` names the folder; its layout is the `path` of each entry in `files`. Nothing here is part of the
package, and nothing is read that does not have the bytes it must have.
"""
