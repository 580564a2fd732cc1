"""An rclpy client whose waits have deadlines.

rclpy spins only inside `wait_for` and what is built on it, so a test is one thread and sees things in order.
"""

import time
import uuid

import rclpy
from action_msgs.srv import CancelGoal
from rcl_interfaces.msg import Parameter
from rcl_interfaces.srv import DescribeParameters, GetParameters, ListParameters, SetParameters, SetParametersAtomically
from rclpy.action import ActionClient
from rclpy.context import Context
from rclpy.exceptions import InvalidHandle
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import parameter_value_to_python
from rclpy.parameter import Parameter as PythonParameter
from rclpy.qos import DurabilityPolicy, QoSProfile
from unique_identifier_msgs.msg import UUID

#: How long anything may take on a machine that has other things to do, in seconds.
DEADLINE = 60.0
#: Pause between two looks at everything, in seconds: an executor that looks at each message of a robot takes a sixth of a processor.
PAUSE = 0.005
#: How many messages a topic keeps until they are taken: a simulation that is not paced publishes thousands in a second, and a busy
#: machine lets a test look seldom.
QUEUE = 5000


def latched(depth=1):
    """The QoS of topics whose last value late joiners get too."""
    return QoSProfile(depth=depth, durability=DurabilityPolicy.TRANSIENT_LOCAL)


class Topic:
    """All messages of a topic since it was opened."""

    def __init__(self, ros, kind, name, qos):
        self._ros, self.name, self.messages, self._sent = ros, name, [], 0
        self.subscription = ros.node.create_subscription(kind, name, self._keep, qos)
        ros.topics.append(self)

    def _keep(self, message, info):
        self.messages.append(message)
        self._sent = info["source_timestamp"]

    def take_all(self):
        """Takes what came. An executor takes one message each time it looks at everything, and falls behind a robot on a busy machine."""
        if self.subscription is None:
            return
        with self.subscription.handle:
            # No more than are kept: where they come faster than they are taken, it would never end.
            for _ in range(self.subscription.qos_profile.depth):
                if (taken := self.subscription.handle.take_message(self.subscription.msg_type, False)) is None:
                    return
                self._keep(*taken)

    @property
    def last(self):
        """The newest message, if one came."""
        self.take_all()
        return self.messages[-1] if self.messages else None

    def clear(self):
        """Drops what came until now, taken already or not."""
        self.take_all()
        self.messages.clear()

    def fresh(self, timeout=DEADLINE):
        """Waits for a message that is sent from now on: what was sent before may still be in the queue."""
        now = time.time_ns()
        self._ros.wait_for(lambda: self._sent > now, timeout, lambda: f"a new message on {self.name}, last was {self.last}")
        return self.last

    def wait(self, condition=lambda message: True, timeout=DEADLINE):
        """Waits for a message for which `condition` holds; looks at those that are there already, too."""
        found = []
        seen = 0

        def look():
            nonlocal seen
            while seen < len(self.messages) and not found:
                if condition(self.messages[seen]):
                    found.append(self.messages[seen])
                seen += 1
            return bool(found)

        self._ros.wait_for(look, timeout, lambda: f"a message on {self.name}, last was {self.last}")
        return found[0]

    def close(self):
        """Takes no more messages; those that came stay."""
        self.take_all()
        self._ros.topics.remove(self)
        self._ros.node.destroy_subscription(self.subscription)
        self.subscription = None


class Ros:
    """An rclpy node in a domain."""

    def __init__(self, domain, name="test_client"):
        self.context = Context()
        rclpy.init(args=[], context=self.context, domain_id=domain.number)
        self.node = rclpy.create_node(name, context=self.context)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)
        self._clients = {}
        self.topics = []
        self._feedback = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.executor.shutdown()
        self.node.destroy_node()
        rclpy.shutdown(context=self.context)

    def wait_for(self, condition, timeout=DEADLINE, what="the condition"):
        """Spins until `condition()` is true and returns what it gave; fails after `timeout` seconds, for want of `what`,
        a text or what makes it then."""
        deadline = time.monotonic() + timeout
        while True:
            value = condition()
            if value:
                return value
            if time.monotonic() > deadline:
                raise AssertionError(f"waited {timeout} s for {what() if callable(what) else what}")
            self._look()

    def _look(self):
        """Takes what came, and waits a little for more."""
        # One callback a turn: services and actions must have theirs beside topics that always have a message. All turns with
        # one timeout: at another, rclpy begins again with what awaits, and never comes to the rest.
        for _ in range(1 + len(self.topics)):
            self.executor.spin_once(timeout_sec=0.0)
        for topic in self.topics:
            topic.take_all()
        for client in list(self._feedback):
            self._take_feedback(client)
        time.sleep(PAUSE)

    def _take_feedback(self, client):
        """Takes the feedback that came: rclpy takes one message each time it looks, and drops what is left of a goal whose result came."""
        try:
            with client._client_handle:
                while (message := client._client_handle.take_feedback(client._action_type.Impl.FeedbackMessage)) is not None:
                    self._feedback[client].get(bytes(message.goal_id.uuid), []).append(message.feedback)
        except InvalidHandle:
            del self._feedback[client]

    def spin_for(self, seconds):
        """Spins for a while: only to show that something does not happen, or to measure a rate."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self._look()

    def finish(self, future, timeout=DEADLINE, what="an answer"):
        """The result of a future."""
        self.wait_for(future.done, timeout, what)
        return future.result()

    def subscribe(self, kind, name, qos=QUEUE):
        """Collects the messages of a topic."""
        return Topic(self, kind, name, qos)

    def publisher(self, kind, name, qos=10, subscribers=1):
        """A publisher that has its subscribers."""
        publisher = self.node.create_publisher(kind, name, qos)
        self.wait_for(lambda: publisher.get_subscription_count() >= subscribers, what=f"a subscriber of {name}")
        return publisher

    def client(self, kind, name):
        """A client of a service that is there."""
        key = (kind, name)
        if key not in self._clients:
            self._clients[key] = self.node.create_client(kind, name)
        client = self._clients[key]
        self.wait_for(client.service_is_ready, what=f"service {name}")
        return client

    def call(self, kind, name, /, timeout=DEADLINE, **fields):
        """Calls a service; the response."""
        request = kind.Request(**fields)
        return self.finish(self.client(kind, name).call_async(request), timeout, f"an answer of {name}")

    # parameters

    def set_parameters(self, node, atomically=False, **values):
        """Sets parameters (`__` in a name stands for a dot); the results, one a parameter."""
        messages = [
            Parameter(name=name.replace("__", "."), value=PythonParameter(name, value=value).get_parameter_value())
            for name, value in values.items()
        ]
        if atomically:
            return self.call(SetParametersAtomically, f"{node}/set_parameters_atomically", parameters=messages).result
        return self.call(SetParameters, f"{node}/set_parameters", parameters=messages).results

    def set_parameter(self, node, name, value):
        """Sets one parameter; (successful, reason)."""
        result = self.set_parameters(node, **{name: value})[0]
        return result.successful, result.reason

    def get_parameters(self, node, *names):
        """Values of parameters; None for what is not set."""
        values = self.call(GetParameters, f"{node}/get_parameters", names=names).values
        return [parameter_value_to_python(value) for value in values]

    def describe_parameters(self, node, *names):
        return self.call(DescribeParameters, f"{node}/describe_parameters", names=names).descriptors

    def list_parameters(self, node, prefixes=(), depth=0):
        return self.call(ListParameters, f"{node}/list_parameters", prefixes=prefixes, depth=depth).result

    # actions

    def action(self, kind, name):
        """A client of an action whose server is there."""
        client = ActionClient(self.node, kind, name)
        self.wait_for(client.server_is_ready, what=f"action {name}")
        return client

    def send_goal(self, client, goal, feedback=None, goal_uuid=None):
        """Sends a goal; its handle (see `accepted`). `feedback` is a list that collects the feedback."""
        goal_uuid = goal_uuid or UUID(uuid=list(uuid.uuid4().bytes))
        callback = None if feedback is None else lambda message: feedback.append(message.feedback)
        if feedback is not None:
            self._feedback.setdefault(client, {})[bytes(goal_uuid.uuid)] = feedback
        return self.finish(client.send_goal_async(goal, callback, goal_uuid), what="the goal's answer")

    def result(self, handle, timeout=DEADLINE):
        """(status, result) of a goal."""
        response = self.finish(handle.get_result_async(), timeout, "the goal's result")
        return response.status, response.result

    def cancel(self, client, goal_info):
        """Sends a raw cancel request; its response."""
        name = f"{client._action_name}/_action/cancel_goal"
        return self.call(CancelGoal, name, goal_info=goal_info)
