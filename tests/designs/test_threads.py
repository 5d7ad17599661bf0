"""Optimisers leave the other cores alone."""

import subprocess
import sys

from threadpoolctl import threadpool_info

from sottovoce.designs.certified import single_threaded_blas


def blas_threads() -> set[int]:
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


def test_matrix_products_stay_on_one_thread_and_get_the_others_back():
    before = blas_threads()
    with single_threaded_blas():
        assert blas_threads() == {1}
    assert blas_threads() == before


def test_without_threadpoolctl_nothing_is_changed(monkeypatch):
    before = blas_threads()
    monkeypatch.setitem(sys.modules, "threadpoolctl", None)
    with single_threaded_blas():
        pass
    monkeypatch.undo()
    assert blas_threads() == before


def test_a_library_that_comes_later_is_limited_too():
    """SciPy's own one, in a program that has not loaded it yet: a design on the command line."""
    program = """
from threadpoolctl import threadpool_info
from sottovoce.designs.certified import single_threaded_blas
with single_threaded_blas():
    import scipy.linalg
    print({pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"})
"""
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout == "{1}\n"
