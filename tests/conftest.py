"""Fixtures for all tests that talk to running nodes."""

import signal
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from support.domain import Domain  # noqa: E402
from support.ros import Ros  # noqa: E402


@pytest.fixture(scope="module")
def domain():
    """A ROS domain of this module's own: nothing else on the machine is seen."""
    with Domain() as domain:
        yield domain


@pytest.fixture(scope="module")
def ros(domain):
    """An rclpy node in that domain."""
    with Ros(domain) as ros:
        yield ros


def pytest_configure(config):
    # A shell starts what runs in its background with SIGINT ignored, and programs inherit that until they say otherwise.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    config.addinivalue_line("markers", "soak: takes minutes; runs with `-m soak` only")
    config.addinivalue_line("markers", "realtime: judges what runs against the clock; nothing else runs beside it")
    config.addinivalue_line("markers", "bus: talks to emulated devices against the clock, mostly waiting; two run beside each other")
    config.addinivalue_line("markers", "quick: `./dev test quick` runs these, of every node some")


def pytest_collection_modifyitems(config, items):
    if "soak" not in config.getoption("markexpr"):
        items[:] = [item for item in items if not item.get_closest_marker("soak")]
