"""Tasks shared among threads: each is done once, and no error is lost."""

from threading import Barrier, get_ident

import pytest

from sottovoce.tables.parallel import in_threads, row_ranges


@pytest.mark.parametrize("threads", [1, 2, 5, None])
def test_every_task_is_done_once(threads):
    done = []
    in_threads(done.append, 1000, threads)
    assert sorted(done) == list(range(1000))


def test_several_threads_work_at_a_time():
    """Three tasks that wait for each other end only if three threads do them, the caller's among them."""
    barrier, workers = Barrier(3, timeout=120), set()

    def work(_):
        workers.add(get_ident())
        barrier.wait()

    in_threads(work, 3, 3)
    assert len(workers) == 3
    assert get_ident() in workers


@pytest.mark.parametrize("failing", [0, 1, 2, 99])
def test_errors_are_raised_whoever_meets_them(failing):
    done = []

    def work(task):
        if task == failing:
            raise ZeroDivisionError(task)
        done.append(task)

    with pytest.raises(ZeroDivisionError, match=str(failing)):
        in_threads(work, 100, 2)
    assert failing not in done


def test_an_error_of_another_thread_is_raised_here():
    own, barrier = get_ident(), Barrier(2, timeout=120)

    def work(_):
        barrier.wait()
        if get_ident() != own:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        in_threads(work, 2, 2)


@pytest.mark.parametrize("length", [0, 1, 7, 1000])
def test_runs_are_all_rows_in_order(length):
    assert [row for run in row_ranges(length) for row in range(length)[run]] == list(range(length))
