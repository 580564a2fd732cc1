"""The action server and client of karakuri_ros against rclpy."""

import uuid

import pytest
from action_msgs.msg import GoalInfo, GoalStatus, GoalStatusArray
from action_msgs.srv import CancelGoal
from builtin_interfaces.msg import Time
from control_msgs.action import FollowJointTrajectory, GripperCommand
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.task import Future
from std_msgs.msg import String
from std_srvs.srv import Trigger
from support.process import NodeProcess
from support.ros import latched
from unique_identifier_msgs.msg import UUID

SUCCEED, ABORT, DROP, REFUSE, LINGER = 0.0, 1.0, 2.0, 3.0, 4.0
FOREVER = 1e9
STATUS = GoalStatus


@pytest.fixture(scope="module")
def node(domain):
    with NodeProcess(domain, "ros_fixture") as node:
        yield node


@pytest.fixture(scope="module")
def count(ros, node):
    return ros.action(GripperCommand, "/fixture/count")


@pytest.fixture
def statuses(ros, node):
    topic = ros.subscribe(GoalStatusArray, "/fixture/count/_action/status", latched(depth=100))
    topic.wait()
    yield topic
    topic.close()


def goal(position, ending=SUCCEED):
    message = GripperCommand.Goal()
    message.command.position, message.command.max_effort = position, ending
    return message


def info(handle=None, stamp=None):
    message = GoalInfo()
    if handle is not None:
        message.goal_id = handle.goal_id
    if stamp is not None:
        message.stamp = stamp
    return message


def status_of(array, handle):
    found = [s.status for s in array.status_list if s.goal_info.goal_id == handle.goal_id]
    return found[0] if found else None


def wait_for_status(statuses, handle, expected):
    statuses.wait(lambda array: status_of(array, handle) == expected)


def test_rejected_goal(ros, count):
    assert not ros.send_goal(count, goal(-1.0)).accepted


def test_goal_succeeds_with_feedback_and_stamp(ros, count, statuses):
    feedback = []
    handle = ros.send_goal(count, goal(3.0), feedback)
    assert handle.accepted
    assert handle.stamp.sec > 1_000_000_000, "the stamp is the node's clock"
    # rclpy drops the feedback of a goal whose result has come: all of it is waited for before the result is asked for
    ros.wait_for(lambda: len(feedback) == 3, what=lambda: f"the feedback, of which came {feedback}")
    assert [f.position for f in feedback] == [1.0, 2.0, 3.0]
    status, result = ros.result(handle)
    assert (status, result.position) == (STATUS.STATUS_SUCCEEDED, 3.0)
    wait_for_status(statuses, handle, STATUS.STATUS_SUCCEEDED)


def test_result_can_be_asked_again_after_the_end(ros, count):
    handle = ros.send_goal(count, goal(0.0))
    assert ros.result(handle) == ros.result(handle)


def test_goal_aborts(ros, count, statuses):
    handle = ros.send_goal(count, goal(1.0, ABORT))
    assert ros.result(handle)[0] == STATUS.STATUS_ABORTED
    wait_for_status(statuses, handle, STATUS.STATUS_ABORTED)


def test_dropped_handle_aborts(ros, count):
    handle = ros.send_goal(count, goal(1.0, DROP))
    status, result = ros.result(handle)
    assert (status, result.position) == (STATUS.STATUS_ABORTED, 0.0)


def test_cancel_goes_through_canceling_to_canceled(ros, count, statuses):
    handle = ros.send_goal(count, goal(FOREVER, LINGER))
    # the topic keeps the last status only: each is waited for before the next one may come
    wait_for_status(statuses, handle, STATUS.STATUS_EXECUTING)
    response = ros.finish(handle.cancel_goal_async())
    assert response.return_code == CancelGoal.Response.ERROR_NONE
    assert [g.goal_id for g in response.goals_canceling] == [handle.goal_id]
    wait_for_status(statuses, handle, STATUS.STATUS_CANCELING)
    ros.call(Trigger, "/fixture/let_go")
    assert ros.result(handle)[0] == STATUS.STATUS_CANCELED
    wait_for_status(statuses, handle, STATUS.STATUS_CANCELED)


def test_cancel_can_be_refused(ros, count):
    handle = ros.send_goal(count, goal(30.0, REFUSE))
    response = ros.finish(handle.cancel_goal_async())
    assert response.return_code == CancelGoal.Response.ERROR_REJECTED
    assert ros.result(handle)[0] == STATUS.STATUS_SUCCEEDED


def test_two_goals_at_once_and_cancel_all(ros, count):
    handles = [ros.send_goal(count, goal(FOREVER)) for _ in range(2)]
    response = ros.cancel(count, info())
    assert response.return_code == CancelGoal.Response.ERROR_NONE
    canceling = {bytes(g.goal_id.uuid) for g in response.goals_canceling}
    assert canceling == {bytes(h.goal_id.uuid) for h in handles}
    assert [ros.result(h)[0] for h in handles] == [STATUS.STATUS_CANCELED] * 2


def test_cancel_by_stamp_takes_earlier_goals_only(ros, count):
    early, late = (ros.send_goal(count, goal(FOREVER)) for _ in range(2))
    response = ros.cancel(count, info(stamp=early.stamp))
    assert [g.goal_id for g in response.goals_canceling] == [early.goal_id]
    assert ros.result(early)[0] == STATUS.STATUS_CANCELED
    # an id and a stamp: that goal, and all up to the stamp
    response = ros.cancel(count, info(late, early.stamp))
    assert [g.goal_id for g in response.goals_canceling] == [late.goal_id]
    assert ros.result(late)[0] == STATUS.STATUS_CANCELED


def test_cancel_of_unknown_and_of_ended_goals(ros, count):
    unknown = GoalInfo(goal_id=UUID(uuid=list(uuid.uuid4().bytes)))
    assert ros.cancel(count, unknown).return_code == CancelGoal.Response.ERROR_UNKNOWN_GOAL_ID
    handle = ros.send_goal(count, goal(0.0))
    ros.result(handle)
    assert ros.cancel(count, info(handle)).return_code == CancelGoal.Response.ERROR_GOAL_TERMINATED
    assert ros.cancel(count, info()).return_code == CancelGoal.Response.ERROR_NONE


def test_result_of_unknown_goal_is_answered(ros, count):
    request = GripperCommand.Impl.GetResultService.Request()
    request.goal_id.uuid = list(uuid.uuid4().bytes)
    response = ros.finish(
        ros.client(GripperCommand.Impl.GetResultService, "/fixture/count/_action/get_result").call_async(request)
    )
    assert response.status == STATUS.STATUS_UNKNOWN


def test_duplicate_id_is_rejected(ros, count):
    same = UUID(uuid=list(uuid.uuid4().bytes))
    first = ros.send_goal(count, goal(FOREVER), goal_uuid=same)
    request = GripperCommand.Impl.SendGoalService.Request(goal_id=same, goal=goal(1.0))
    response = ros.finish(
        ros.client(GripperCommand.Impl.SendGoalService, "/fixture/count/_action/send_goal").call_async(request)
    )
    assert not response.accepted
    ros.finish(first.cancel_goal_async())
    assert ros.result(first)[0] == STATUS.STATUS_CANCELED, "the first goal is untouched"


def test_late_joiner_gets_the_status(ros, count):
    handle = ros.send_goal(count, goal(0.0))
    ros.result(handle)
    late = ros.subscribe(GoalStatusArray, "/fixture/count/_action/status", latched())
    late.wait(lambda array: status_of(array, handle) == STATUS.STATUS_SUCCEEDED)
    late.close()


def test_preemption_of_an_exclusive_action(ros, node):
    client = ros.action(FollowJointTrajectory, "/fixture/exclusive")
    first = ros.send_goal(client, FollowJointTrajectory.Goal())
    second = ros.send_goal(client, FollowJointTrajectory.Goal())
    status, result = ros.result(first)
    assert (status, result.error_code) == (STATUS.STATUS_ABORTED, -1)
    assert result.error_string == "Current goal preempted by new incoming action."
    ros.finish(second.cancel_goal_async())
    assert ros.result(second)[0] == STATUS.STATUS_CANCELED


def test_client_that_goes_away_does_no_harm(domain, ros, count, node):
    from support.ros import Ros

    with Ros(domain, "leaver") as leaver:
        action = leaver.action(GripperCommand, "/fixture/count")
        handle = leaver.send_goal(action, goal(50.0))
        handle.get_result_async()
    assert ros.result(ros.send_goal(count, goal(1.0)))[0] == STATUS.STATUS_SUCCEEDED
    assert node.process.poll() is None


def test_thousand_goals_leave_no_trace(ros, count, node):
    """Results are forgotten after 10 s, and memory stays flat."""

    def batch(n, at_once=5):
        for _ in range(n // at_once):
            futures = [count.send_goal_async(goal(0.0)) for _ in range(at_once)]
            results = [ros.finish(future).get_result_async() for future in futures]
            assert {ros.finish(result).status for result in results} == {STATUS.STATUS_SUCCEEDED}
        return futures[-1].result()

    batch(300)
    before = node.memory_mb()
    last = batch(1000)
    ros.wait_for(lambda: ros.result(last)[0] == STATUS.STATUS_UNKNOWN, 20.0, "the last goal to expire")
    grown = node.memory_mb() - before
    assert grown < 3.0, f"memory grew by {grown:.1f} MB over 1000 goals"


class Remote:
    """An rclpy action server that the fixture's client talks to."""

    def __init__(self, ros, outcome, accept=True):
        self.outcome, self.canceled = outcome, Future(executor=ros.executor)
        self.server = ActionServer(
            ros.node,
            GripperCommand,
            "/remote",
            execute_callback=self.execute,
            goal_callback=lambda _: GoalResponse.ACCEPT if accept else GoalResponse.REJECT,
            cancel_callback=self.cancel,
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.destroy()

    def cancel(self, _):
        self.canceled.set_result(None)
        return CancelResponse.ACCEPT

    async def execute(self, handle):
        handle.publish_feedback(GripperCommand.Feedback(position=0.5))
        if self.outcome == "canceled":
            await self.canceled
        getattr(handle, self.outcome)()
        return GripperCommand.Result(position=7.0)


@pytest.fixture
def goal_states(ros, node):
    topic = ros.subscribe(String, "/fixture/goal", latched())
    yield topic
    topic.close()


def send(ros):
    ros.call(Trigger, "/fixture/send")


@pytest.mark.parametrize("outcome, state", [("succeed", "Succeeded"), ("abort", "Aborted")])
def test_client_sees_the_end(ros, goal_states, outcome, state):
    with Remote(ros, outcome):
        send(ros)
        goal_states.wait(lambda m: m.data.startswith(state) and "Some(7.0)" in m.data)


def test_client_sees_rejection(ros, goal_states):
    with Remote(ros, "succeed", accept=False):
        send(ros)
        goal_states.wait(lambda m: m.data.startswith("Rejected"))


def test_client_sends_a_goal_that_was_lost_again(ros, goal_states):
    """The middleware drops requests to, and answers of, a server that was just replaced; nobody else tells of a rejection."""
    requests, lost = [], Future(executor=ros.executor)

    async def decide(request, response):
        requests.append(bytes(request.goal_id.uuid))
        if len(requests) == 1:
            await lost
        response.accepted = False
        return response

    entities = GripperCommand.Impl
    callbacks = [
        ("send_goal", entities.SendGoalService, decide),
        ("get_result", entities.GetResultService, lambda _, response: response),
        ("cancel_goal", entities.CancelGoalService, lambda _, response: response),
    ]
    group = ReentrantCallbackGroup()
    services = [
        ros.node.create_service(kind, f"/remote/_action/{name}", call, callback_group=group)
        for name, kind, call in callbacks
    ]
    try:
        send(ros)
        ros.wait_for(lambda: len(requests) == 2, what="the goal once more")
        assert requests[0] == requests[1]
        goal_states.wait(lambda m: m.data.startswith("Rejected"))
    finally:
        for service in services:
            ros.node.destroy_service(service)


def test_client_cancels(ros, goal_states):
    with Remote(ros, "canceled"):
        send(ros)
        goal_states.wait(lambda m: m.data.startswith("Executing Some(0.5)"))
        ros.call(Trigger, "/fixture/cancel")
        goal_states.wait(lambda m: m.data.startswith("Canceled"))


def test_client_times_out_without_a_server(ros, goal_states):
    send(ros)
    goal_states.wait(lambda m: m.data.startswith("TimedOut"))


def test_client_waits_for_a_late_server(ros, goal_states):
    send(ros)
    goal_states.wait(lambda m: m.data.startswith("Sending"))
    with Remote(ros, "succeed"):
        goal_states.wait(lambda m: m.data.startswith("Succeeded"))


ENTITIES = ["send_goal", "get_result", "cancel_goal", "feedback", "status"]
TO_SERVER = {f"remote/_action/{e}": f"/server/count/_action/{e}" for e in ENTITIES}


def test_client_loses_its_goal_when_the_server_is_killed_and_restarted(domain, ros, node):
    with NodeProcess(domain, "ros_fixture", name="client", remaps=TO_SERVER):
        states = ros.subscribe(String, "/client/goal", latched())
        with NodeProcess(domain, "ros_fixture", name="server") as server:
            ros.action(GripperCommand, "/server/count")
            ros.call(Trigger, "/client/send")
            states.wait(lambda m: m.data.startswith("Executing Some"))
            server.kill()
        with NodeProcess(domain, "ros_fixture", name="server"):
            states.wait(lambda m: m.data.startswith("Lost"))


def test_stopping_server_aborts_its_goals(domain, ros, node):
    with NodeProcess(domain, "ros_fixture", name="client2", remaps=TO_SERVER):
        states = ros.subscribe(String, "/client2/goal", latched())
        with NodeProcess(domain, "ros_fixture", name="server"):
            ros.action(GripperCommand, "/server/count")
            ros.call(Trigger, "/client2/send")
            states.wait(lambda m: m.data.startswith("Executing Some"))
        states.wait(lambda m: m.data.startswith("Aborted"))
