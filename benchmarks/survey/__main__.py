"""Be a server: `python -m benchmarks.survey MODE DATABASE` prints its address, and when it tidied up the database."""

import sys
from time import perf_counter

from sottovoce.surveys.collect.entries import Outcome
from sottovoce.surveys.collect.server import address_of, listen, make_app, serve
from sottovoce.surveys.collect.store import BATCH_SIZE, Store


class WatchedStore(Store):
    """Prints when it begins to tidy up, and the seconds that this takes."""

    def tidy(self) -> bool:
        """Move reports out of the inbox, which holds up those that arrive meanwhile."""
        start = perf_counter()
        done = super().tidy()
        print(start, perf_counter() - start, flush=True)
        return done


def main(mode: str, database: str) -> None:
    """Serve until terminated; `single` commits every report on its own, and `off` stores none."""
    listening = listen("127.0.0.1", 0)
    commit = (lambda entries: [Outcome.STORED] * len(entries)) if mode == "off" else None
    app = make_app(WatchedStore(database), per_window=None, commit=commit, most=1 if mode == "single" else BATCH_SIZE)
    print(address_of(listening), flush=True)
    serve(app, listening)


main(*sys.argv[1:])
