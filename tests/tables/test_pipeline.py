"""Stages that overlap: order, bounded queues, errors from any stage, and no thread left behind."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from sottovoce.tables.parallel import pipeline


def numbers(count, log=None):
    try:
        for number in range(count):
            if log is not None:
                log.append(number)
            yield number
    finally:
        if log is not None:
            log.append("closed")


@pytest.fixture(autouse=True)
def no_thread_left():
    before = threading.active_count()
    yield
    assert threading.active_count() == before


def test_items_come_in_order_through_several_stages():
    with pipeline() as ahead:
        plain = ahead(numbers(1000))
        assert list(ahead(n * n for n in plain)) == [n * n for n in range(1000)]


def test_iterators_that_cannot_be_closed_are_fine():
    with pipeline() as ahead:
        items = ahead(iter([1, 2, 3]))
        assert list(items) == [1, 2, 3]
        assert list(items) == []


def test_no_more_than_the_depth_waits():
    """Three wait, one is in hand: the producer never makes a fifth before one is taken."""
    log = []
    with pipeline(depth=3) as ahead:
        items = ahead(numbers(100, log))
        deadline = time.monotonic() + 60
        while len(log) < 4 and time.monotonic() < deadline:
            time.sleep(0.001)
        time.sleep(0.05)
        assert log == [0, 1, 2, 3]
        assert next(items) == 0


def failing(items, after):
    for number, item in enumerate(items):
        if number == after:
            raise KeyError(item)
        yield item


def keep_all(items, seen):
    for item in items:
        seen.append(item)  # `extend` would lose what came before an error


def test_errors_of_any_stage_come_out_where_the_item_would_have():
    for first, second in ((5, 1000), (1000, 5)):
        seen = []
        with pipeline() as ahead:
            items = ahead(failing(ahead(failing(numbers(100), first)), second))
            with pytest.raises(KeyError, match="5"):
                keep_all(items, seen)
        assert seen == [0, 1, 2, 3, 4]


def test_after_an_error_there_are_no_more_items():
    with pipeline() as ahead:
        items = ahead(failing(numbers(3), 1))
        assert next(items) == 0
        with pytest.raises(KeyError):
            next(items)
        assert list(items) == []


def test_an_exit_in_a_stage_is_an_error_too():
    def leaves():
        yield 1
        raise SystemExit(3)

    with pytest.raises(SystemExit), pipeline() as ahead:
        list(ahead(leaves()))


@pytest.mark.parametrize("taken", [0, 1, 3, 50])
def test_a_consumer_that_fails_ends_all_stages(taken):
    """The producer has far more to give than the queues hold, so it is blocked when the consumer fails."""
    log = []

    def consume():
        with pipeline() as ahead:
            plain = ahead(numbers(10**9, log))
            items = ahead(n + 1 for n in plain)
            for _ in range(taken):
                next(items)
            raise RuntimeError("disk full")

    with pytest.raises(RuntimeError, match="disk full"):
        consume()
    assert log[-1] == "closed"


def test_an_interrupt_ends_a_pipeline_that_waits():
    """The second stage waits for ever for another 1, and the main thread for the second stage."""
    script = (
        "import time\n"
        "from sottovoce.tables.parallel import pipeline\n"
        "def slow():\n"
        "    yield 1\n"
        "    while True:\n"
        "        time.sleep(0.01); yield 2\n"
        "with pipeline() as ahead:\n"
        "    first = ahead(slow())\n"
        "    items = ahead(n for n in first if n == 1)\n"
        "    print(next(items), flush=True)\n"
        "    next(items)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stdout.readline() == b"1\n"
        os.kill(child.pid, signal.SIGINT)
        _, errors = child.communicate(timeout=60)
    assert b"KeyboardInterrupt" in errors
