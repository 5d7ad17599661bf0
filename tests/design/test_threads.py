"""Optimisers leave the other cores alone."""

import sys

from threadpoolctl import threadpool_info

from sottovoce.design.threads import on_one_thread


def blas_threads() -> set[int]:
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


def test_matrix_products_stay_on_one_thread_and_get_the_others_back():
    before = blas_threads()
    with on_one_thread():
        assert blas_threads() == {1}
    assert blas_threads() == before


def test_without_threadpoolctl_nothing_is_changed(monkeypatch):
    before = blas_threads()
    monkeypatch.setitem(sys.modules, "threadpoolctl", None)
    with on_one_thread():
        pass
    monkeypatch.undo()
    assert blas_threads() == before
