"""The loops as machine code, and as the plain Python that they are compiled from."""

from importlib import import_module
from inspect import isfunction
from types import SimpleNamespace

import pytest

from sottovoce.designs.optrr.matrices import LOOPS, compiled_loops


@pytest.fixture(scope="session")
def plain():
    functions = [vars(import_module(LOOPS)).items()]
    return SimpleNamespace(**{name: loop for found in functions for name, loop in found if isfunction(loop)})


@pytest.fixture(scope="session", params=["compiled", "plain"])
def loops(request, plain):
    return plain if request.param == "plain" else compiled_loops()
