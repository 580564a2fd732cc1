"""Fixtures for all tests that talk to running nodes."""

import collections
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
    config.addinivalue_line("markers", "mcp: calls servers of the Model Context Protocol by clients of others; installs and starts much at once")
    config.addinivalue_line("markers", "realtime: judges what runs against the clock; nothing else runs beside it")
    config.addinivalue_line("markers", "bus: talks to emulated devices against the clock, mostly waiting; some run beside each other")
    config.addinivalue_line("markers", "apart: each test of it is long and stands for itself: they are given to workers one by one, and first")
    config.addinivalue_line("markers", "quick: `./dev test quick` runs these, of every node some")


@pytest.hookimpl(tryfirst=True)  # the groups are read by pytest-xdist's own hook
def pytest_collection_modifyitems(config, items):
    if "soak" not in config.getoption("markexpr"):
        items[:] = [item for item in items if not item.get_closest_marker("soak")]
    if config.pluginmanager.hasplugin("xdist"):
        spread(items)


def spread(items):
    """Work for pytest-xdist: the tests of a module together, in its one ROS domain, the largest first; before them those that stand
    for themselves. A module of few long tests would otherwise come last, and run alone."""
    size = collections.Counter(item.path for item in items)
    alone = lambda item: item.get_closest_marker("apart") is not None
    for item in items:
        if not alone(item):
            item.add_marker(pytest.mark.xdist_group(str(item.path.relative_to(item.config.rootpath))))
    items.sort(key=lambda item: (0, 0) if alone(item) else (1, -size[item.path]))
