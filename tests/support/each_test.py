"""Fixtures of modules whose tests kill processes: import them to have a graph for each test in place of the module's own."""

import pytest
from support.domain import Domain
from support.ros import Ros


@pytest.fixture
def domain():
    """A ROS domain of this test's own: no process that was killed in another is in it."""
    with Domain() as domain:
        yield domain


@pytest.fixture
def ros(domain):
    """An rclpy node in that domain."""
    with Ros(domain) as ros:
        yield ros
