"""A commander of nodes: its verbs, its log, and acts that are those rehearsed."""

import hashlib
import json
import re
from contextlib import ExitStack

from action_msgs.msg import GoalStatus
from karakuri_msgs.action import Command
from karakuri_msgs.srv import Ask, Decide
from support.process import ROOT, NodeProcess


class Commander:
    """Nodes of a robot, with a commander of few copies."""

    def __init__(self, domain, ros, folder, robot, envelope, change=lambda text: text, environment=None, **parameters):
        """Of the envelope of this name, changed; `environment` are variables of the commander's process."""
        self._ros, self.folder, self.robot = ros, folder, robot
        text = (ROOT / f"config/envelopes/{envelope}.yaml").read_text()
        text, n = re.subn(r"copies: \d+", "copies: 2", text)
        text, m = re.subn(r"acts_per_minute: \d+", "acts_per_minute: 60", text)
        assert n == m == 1
        envelope = folder / "envelope.yaml"
        envelope.write_text(change(text))
        envelope.chmod(0o444)
        parameters = {"envelope": envelope, "audit": folder / "audit.jsonl", "use_sim_time": True, **parameters}
        self.node = lambda: NodeProcess(domain, "commander", namespace=robot.namespace, parameters=parameters, environment=environment)

    def __enter__(self):
        with ExitStack() as stack:
            stack.enter_context(self.robot)
            self.robot.nodes["commander"] = self.node()
            self.wait_until_ready()
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *reason):
        return self._stack.__exit__(*reason)

    def wait_until_ready(self):
        said = "the robot is at rest; it takes commands"
        self._ros.wait_for(lambda: said in self.robot.nodes["commander"].output(), what=said)

    def ask(self, verb, /, **arguments):
        answer = self._ros.call(Ask, f"{self.robot.namespace}/commander/{verb}", arguments=json.dumps(arguments))
        return answer.success, json.loads(answer.answer)

    def send(self, verb, /, feedback=None, **arguments):
        client = self._ros.action(Command, f"{self.robot.namespace}/commander/{verb}")
        handle = self._ros.send_goal(client, Command.Goal(arguments=json.dumps(arguments)), feedback=feedback)
        assert handle.accepted
        return handle

    def order(self, verb, /, feedback=None, **arguments):
        """Status and answer of a verb that is an action."""
        status, result = self._ros.result(self.send(verb, feedback, **arguments), timeout=240.0)
        assert result.success == (status == GoalStatus.STATUS_SUCCEEDED)
        return status, json.loads(result.answer)

    def rehearse(self, verb, /, **arguments):
        status, answer = self.order(verb, **arguments)
        assert status == GoalStatus.STATUS_SUCCEEDED, answer
        return answer

    def approve(self, rehearsal, approve=True):
        answer = self._ros.call(Decide, f"{self.robot.namespace}/commander/decide", rehearsal=rehearsal, approve=approve)
        assert answer.success, answer.message

    def act(self, answer, feedback=None):
        """Carries out what was rehearsed."""
        if answer["approval"] != "none":
            self.approve(answer["rehearsal"])
        return self.order("act", feedback, ticket=answer["ticket"], request_id=f"request-{answer['rehearsal']}")

    def begin(self, request, progress, verb, /, **arguments):
        """The handle of an act that was rehearsed and is under way, so far at least."""
        seen = []
        answer = self.rehearse(verb, **arguments)
        self.approve(answer["rehearsal"])
        handle = self.send("act", seen, ticket=answer["ticket"], request_id=request)
        self._ros.wait_for(lambda: seen and seen[-1].progress > progress, what="the act")
        return handle

    def do(self, verb, /, **arguments):
        answer = self.rehearse(verb, **arguments)
        status, done = self.act(answer)
        assert status == GoalStatus.STATUS_SUCCEEDED, json.dumps(done)
        assert done["commands"] == answer["commands"], "the stream of commands is not the rehearsed one"
        return done

    def lines(self):
        """The audit log, whose chain holds."""
        before, found = hashlib.sha256(b"").hexdigest(), []
        for text in (self.folder / "audit.jsonl").read_text().splitlines():
            line = json.loads(text)
            assert line["before"] == before
            before = hashlib.sha256(text.encode()).hexdigest()
            found.append(line)
        return found
