"""Fixtures of tests that drive emulated buses by programs of others. None of them needs ROS."""

from contextlib import ExitStack

import pytest
from support.clients import load
from support.emulator import Emulator


@pytest.fixture
def emulate():
    """Starts emulators by their bus and options; all are stopped, and checked, at the end of the test."""
    with ExitStack() as running:
        yield lambda bus, *options: running.enter_context(Emulator(bus, *options))


@pytest.fixture(scope="session")
def client():
    """Imports a module of the clients, as it came from the registry."""
    return load
