#!/usr/bin/env python3
"""Writes the tables of docs/nodes.md from the running nodes.

  ./dev shell python3 packages/dev/docs/nodes.py           writes
  ./dev shell python3 packages/dev/docs/nodes.py --check   exits 1 if the page is not what the nodes are

Names, types, defaults and ranges are the nodes' own, and so is what a parameter means. What a topic, a service or an
action means is written by hand into the last column, and kept; the check wants one for each.
"""

import argparse
import atexit
import difflib
import re
import shutil
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests"))

from rclpy.action import get_action_client_names_and_types_by_node, get_action_server_names_and_types_by_node  # noqa: E402
from rclpy.parameter import parameter_value_to_python  # noqa: E402
from rclpy.qos import DurabilityPolicy, ReliabilityPolicy  # noqa: E402
from support.arm import CONFIG, SCENE, URDF  # noqa: E402
from support.domain import Domain  # noqa: E402
from support.process import NodeProcess  # noqa: E402
from support.ros import Ros  # noqa: E402

PAGE = ROOT / "docs/nodes.md"
NAMESPACE = "/arm"
# With tools, so that the topic `tool` is there.
TOOLS = {"tools": ROOT / "config/tools/arm6.yaml"}
ROBOT = {"urdf": URDF, "config": CONFIG, **TOOLS}
DRIVEN = {
    "urdf": ROOT / "urdf/so101/so101.urdf", "config": ROOT / "config/so101.yaml", "hardware": ROOT / "config/hardware/so101.yaml",
}  # fmt: skip
# What a node cannot start without; shown as having no default.
GAIT = ROOT / "config/gaits/khr1_walk.yaml"
# An envelope must be out of reach of the node that it limits.
FOLDER = Path(tempfile.mkdtemp(prefix="karakuri-nodes-"))
ENVELOPE = Path(shutil.copy(ROOT / "config/envelopes/table.yaml", FOLDER))
ENVELOPE.chmod(0o444)
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)
NODES = {
    "commander": {"scene": SCENE, "envelope": ENVELOPE, "audit": FOLDER / "audit.jsonl"}, "sim": {"scene": SCENE, **TOOLS}, "driver": DRIVEN, "feedforward_controller": ROBOT, "gait_planner": {"gait": GAIT}, "gripper": ROBOT, "planning_scene": ROBOT,
    "state_publisher": {"urdf": URDF, **TOOLS}, "studio": {"file": URDF, "config": CONFIG, "port": 0}, "tool_changer": TOOLS,
}  # fmt: skip
# How long a node's entities must stay the same: its second participant may be found a while after the first, as what is missed of an
# announcement is repeated every 3 s. [s]
SETTLED = 3.5
# How often the check looks before it believes that the page is wrong: a busy machine finds an entity later still.
LOOKS = 3
KINDS = {1: "bool", 2: "int", 3: "double", 4: "string", 6: "bool[]", 7: "int[]", 8: "double[]", 9: "string[]"}


def relative(name, node):
    """A name as the node gave it."""
    for prefix, short in ((f"{NAMESPACE}/{node}/", "~/"), (f"{NAMESPACE}/", "")):
        if name.startswith(prefix):
            return short + name.removeprefix(prefix)
    return name


def quality(ros, topic, node, publishes):
    """What differs from reliable and volatile."""
    ask = ros.node.get_publishers_info_by_topic if publishes else ros.node.get_subscriptions_info_by_topic
    profile = next(end.qos_profile for end in ask(topic) if end.node_name == node)
    best_effort = profile.reliability == ReliabilityPolicy.BEST_EFFORT
    latched = profile.durability == DurabilityPolicy.TRANSIENT_LOCAL
    return ", ".join(["best effort"] * best_effort + ["latched"] * latched)


def entities(ros, node):
    """(section, name, type, remark) of what a node has at the ROS side."""
    own, found = (node, NAMESPACE), []
    # What comes directly belongs to a hidden node beside it.
    hidden = (f"_{node}_direct", NAMESPACE)
    subscribers = [own, hidden] if hidden in ros.node.get_node_names_and_namespaces() else [own]
    for publishes, (name_of, _), pairs in (
        *((False, one, ros.node.get_subscriber_names_and_types_by_node(*one)) for one in subscribers),
        (True, own, ros.node.get_publisher_names_and_types_by_node(*own)),
    ):
        for name, kinds in pairs:
            remark = ", ".join(filter(None, ["out" if publishes else "in", quality(ros, name, name_of, publishes)]))
            found.append(("topic", name, kinds[0], remark))
    for section, remark, pairs in (
        ("service", "", ros.node.get_service_names_and_types_by_node(*own)),
        ("service", "client", ros.node.get_client_names_and_types_by_node(*own)),
        ("action", "", get_action_server_names_and_types_by_node(ros.node, *own)),
        ("action", "client", get_action_client_names_and_types_by_node(ros.node, *own)),
    ):
        found += [(section, name, kinds[0], remark) for name, kinds in pairs]
    return [(s, relative(n, node), k, r) for s, n, k, r in found if "/_action/" not in n]


def number(value):
    return f"{value:g}" if isinstance(value, float) else str(value)


def shown(value):
    """A parameter's value, as one writes it."""
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, float):
        return f"`{value!r}`"
    return f"`{value!r}`" if isinstance(value, str) else f"`{value}`"


def parameters(ros, node, given):
    """Rows of a node's parameters."""
    path = f"{NAMESPACE}/{node}"
    names = sorted(ros.list_parameters(path).names)
    rows = []
    for d, value in zip(ros.describe_parameters(path, *names), ros.get_parameters(path, *names), strict=True):
        bounds = [*d.floating_point_range, *d.integer_range]
        limits = [f"{number(b.from_value)} to {number(b.to_value)}" for b in bounds]
        limits += filter(None, [d.additional_constraints, "at start only" if d.read_only else ""])
        default = "" if d.name in given else shown(value)
        # One row for all joints.
        name = re.sub(r"^(gains|drives|joints)\.\w+\.", r"\1.<joint>.", d.name)
        if name.startswith(("drives.<joint>.", "joints.<joint>.")):
            default = "the scene's"
        if name == "robot_description":
            default = "the file `urdf`"
        if name == "tools" and node != "tool_changer":
            default = shown("")
        if name == "audit":
            default = shown("karakuri-audit.jsonl")
        # Of the running node, so that it starts where another one has the port.
        if name == "port":
            default = "`8787`"
        row = ("parameter", name, KINDS[d.type], default, ", ".join(limits), d.description)
        if row not in rows:
            rows.append(row)
    return rows


def look(node, given):
    """Everything a node has, alone in its domain."""
    with (
        Domain() as domain,
        Ros(domain, "documentation") as ros,
        NodeProcess(domain, node, namespace=NAMESPACE, parameters=given),
    ):
        ros.wait_for(lambda: (node, NAMESPACE) in ros.node.get_node_names_and_namespaces(), what=f"node {node}")
        rows = parameters(ros, node, given)
        seen, since = [], 0.0

        def settled():
            nonlocal seen, since
            now = sorted(entities(ros, node), key=lambda row: ("out" in row[3], row))
            if now != seen:
                seen, since = now, time.monotonic()
            return time.monotonic() - since > SETTLED

        ros.wait_for(settled, what=f"the entities of {node}")
        return seen + rows


def meanings(page):
    """The last column of each row by hand: (node, name, remark) to text."""
    found, node = {}, None
    for line in page.splitlines():
        if heading := re.match(r"## `?([\w ]+)`?$", line):
            node = heading[1]
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if line.startswith("| `") and len(cells) == 4:
            found[node, cells[0].strip("`"), cells[2]] = cells[3]
    return found


def table(title, columns, rows):
    if not rows:
        return []
    lines = [f"| {title} | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
    return [*lines, *("| " + " | ".join(row) + " |" for row in rows), ""]


def section(node, rows, texts):
    """The tables of a node."""
    lines = []
    for kind, remark in (("topic", ""), ("action", ""), ("service", "")):
        picked = [row for row in rows if row[0] == kind]
        cells = [(f"`{n}`", f"`{t}`", r, texts.get((node, n, r), "")) for _, n, t, r in picked]
        lines += table(kind, ["type", remark, "meaning"], cells)
    picked = [row for row in rows if row[0] == "parameter"]
    cells = [(f"`{n}`", t, default, limits, text) for _, n, t, default, limits, text in picked]
    return lines + table("parameter", ["type", "default", "range", "meaning"], cells)


def write(page, found):
    """The page with its tables from the running nodes; the text between heading and tables stays."""
    texts = meanings(page)
    for node, rows in found.items():
        tables = "\n".join(section(node, rows, texts))
        begin, end = f"<!-- tables of {node} -->\n", "<!-- end -->"
        before, rest = page.split(begin)
        page = before + begin + "\n" + tables + rest[rest.index(end) :]
    return page


def look_at_all():
    """Everything each node has; what all have is `every node`'s."""
    with ThreadPoolExecutor() as pool:
        found = dict(zip(NODES, pool.map(look, NODES, NODES.values()), strict=True))
    count = Counter(row for rows in found.values() for row in rows)
    common = [row for row in count if count[row] == len(NODES)]
    found = {node: [row for row in rows if row not in common] for node, rows in found.items()}
    return found | {"every node": sorted(common)}


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--check", action="store_true", help="change nothing; exit 1 if the page is not current")
    check = arguments.parse_args().check
    page = PAGE.read_text()
    for _ in range(LOOKS if check else 1):
        new = write(page, look_at_all())
        if new == page:
            break
    texts = meanings(new)
    missing = [f"{node}: `{name}` has no meaning" for (node, name, _), text in texts.items() if not text]
    if not check:
        PAGE.write_text(new)
    elif new != page:
        changes = difflib.unified_diff(page.splitlines(), new.splitlines(), "docs/nodes.md", "the nodes", n=0, lineterm="")
        missing[:0] = ["docs/nodes.md is not what the nodes are; run `./dev shell python3 packages/dev/docs/nodes.py`", *changes]
    print("\n".join(missing) or "docs/nodes.md is current")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
