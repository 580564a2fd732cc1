"""The parameter services, files and events, seen by rclpy."""

import pytest
from rcl_interfaces.msg import ParameterEvent, ParameterType
from rcl_interfaces.srv import GetParameterTypes
from std_srvs.srv import Trigger
from support.process import NodeProcess

NODE = "/fixture"


@pytest.fixture(scope="module")
def node(domain, ros):
    with NodeProcess(domain, "ros_fixture", parameters={"frame": "base", "rate": 20}) as node:
        yield node


def values(ros, node=NODE):
    """rate, gains, mode, number of changes as the node sees them."""
    return ros.call(Trigger, f"{node}/values").message


def test_list(ros, node):
    names = ros.list_parameters(NODE).names
    assert sorted(names) == ["count", "flag", "frame", "gains", "mode", "names", "rate", "start_type_description_service", "use_sim_time"]
    assert ros.list_parameters(NODE, ["rate"]).names == ["rate"]
    assert ros.list_parameters(NODE, ["rat"]).names == []


def test_get_and_types(ros, node):
    assert ros.get_parameters(NODE, "rate", "frame", "names", "none") == [20.0, "base", ["a"], None]
    types = ros.call(GetParameterTypes, f"{NODE}/get_parameter_types", names=["gains", "none"]).types
    assert list(types) == [ParameterType.PARAMETER_DOUBLE_ARRAY, ParameterType.PARAMETER_NOT_SET]


def test_describe(ros, node):
    rate, count, frame, mode = ros.describe_parameters(NODE, "rate", "count", "frame", "mode")
    assert (rate.name, rate.type, rate.description) == ("rate", ParameterType.PARAMETER_DOUBLE, "Rate. [Hz]")
    assert (rate.floating_point_range[0].from_value, rate.floating_point_range[0].to_value) == (1.0, 1000.0)
    assert (count.integer_range[0].from_value, count.integer_range[0].to_value) == (0, 10)
    assert frame.read_only and not rate.read_only
    assert mode.additional_constraints == "slow or fast"


def test_set_holds_at_once(ros, node):
    assert ros.set_parameter(NODE, "rate", 99.5) == (True, "")
    assert values(ros).startswith("99.5 [1.0, 2.0] slow")
    assert ros.set_parameter(NODE, "rate", 100) == (True, ""), "an integer is a double, too"
    assert ros.get_parameters(NODE, "rate") == [100.0]
    assert ros.set_parameter(NODE, "gains", [3.0, 4.0, 5.0]) == (True, "")
    assert "[3.0, 4.0, 5.0]" in values(ros)


@pytest.mark.parametrize(
    "name, value, reason",
    [
        ("rate", 0.5, "parameter `rate`: 0.5 is outside its range 1.0 to 1000.0"),
        ("rate", float("nan"), "parameter `rate`: NaN is outside its range 1.0 to 1000.0"),
        ("rate", "fast", "parameter `rate`: got a string, want a double"),
        ("count", 2.0, "parameter `count`: got a double, want an integer"),
        ("count", 11, "parameter `count`: 11 is outside its range 0 to 10"),
        ("gains", [1.0, 101.0], "parameter `gains`: 101.0 is outside its range 0.0 to 100.0"),
        ("mode", "lazy", "parameter `mode`: `lazy` is neither slow nor fast"),
        ("frame", "map", "parameter `frame` is read-only: give it at start"),
        ("none", 1, "parameter `none` is not declared"),
    ],
)
def test_refusals_give_the_reason(ros, node, name, value, reason):
    before = values(ros)
    assert ros.set_parameter(NODE, name, value) == (False, reason)
    assert values(ros) == before


def test_atomic_set_is_all_or_nothing(ros, node):
    assert ros.set_parameter(NODE, "mode", "slow")[0]
    before = values(ros)
    result = ros.set_parameters(NODE, atomically=True, mode="fast", count=99)
    assert (result.successful, result.reason) == (False, "parameter `count`: 99 is outside its range 0 to 10")
    assert values(ros) == before
    n_changes = int(before.split()[-2])
    assert ros.set_parameters(NODE, atomically=True, mode="fast", count=9).successful
    assert "fast" in values(ros) and int(values(ros).split()[-2]) == n_changes + 1, "one change for both"


def test_events(ros, node):
    events = ros.subscribe(ParameterEvent, "/parameter_events", 100)
    ros.wait_for(lambda: ros.node.count_publishers("/parameter_events") >= 2)
    ros.wait_for(lambda: events.messages or (ros.set_parameter(NODE, "flag", True) and None))
    ros.set_parameter(NODE, "count", 3)
    event = events.wait(lambda e: any(p.name == "count" for p in e.changed_parameters))
    assert event.node == NODE
    assert [p.value.integer_value for p in event.changed_parameters] == [3]


def test_new_node_announces_its_parameters(domain, ros, node):
    events = ros.subscribe(ParameterEvent, "/parameter_events", 100)
    with NodeProcess(domain, "ros_fixture", name="other"):
        ros.client(Trigger, "/other/values")
        # an event of the start may precede the discovery of this subscriber: a later one never does
        ros.set_parameter("/other", "count", 4)
        events.wait(lambda e: e.node == "/other")
    events.close()


def test_file_with_several_blocks(domain, ros, tmp_path):
    file = tmp_path / "parameters.yaml"
    file.write_text(
        "/**:\n  ros__parameters: {count: 1, flag: yes}\n"
        "ns:\n  filed:\n    ros__parameters: {rate: 7, gains: [1.0, 2.5]}\n"
        "/ns/*:\n  ros__parameters: {count: 2}\n"
        "filed:\n  ros__parameters: {count: 3}\n"
    )
    with NodeProcess(domain, "ros_fixture", name="filed", namespace="/ns", files=[file], parameters={"mode": "fast"}):
        got = ros.get_parameters("/ns/filed", "count", "flag", "rate", "gains", "mode")
        assert got == [2, True, 7.0, [1.0, 2.5], "fast"]
