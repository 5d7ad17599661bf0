"""Run the command line as `python -m sottovoce`."""

from sottovoce.cli.app import main

main()
