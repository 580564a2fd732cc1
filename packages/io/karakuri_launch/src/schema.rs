//! Tags and attributes of the subset, and replacements for the others.

/// Attributes and nested tags of a tag.
#[derive(Debug)]
pub(crate) struct Tag {
    pub(crate) name: &'static str,
    pub(crate) required: &'static [&'static str],
    /// Optional attributes in groups, which several tags share.
    pub(crate) optional: &'static [&'static [&'static str]],
    /// Nested tags; `ACTIONS` stands for every action.
    pub(crate) children: &'static [&'static str],
}

/// Symbol for every action in `Tag::children`.
pub(crate) const ACTIONS: &str = "*";

const CONDITION: [&str; 2] = ["if", "unless"];

/// Attributes of all tags that start a process.
const PROCESS: &[&str] = &[
    "name",
    "output",
    "respawn",
    "respawn_delay",
    "respawn_max_retries",
    "launch-prefix",
    "on_exit",
    "sigterm_timeout",
    "sigkill_timeout",
];

const fn tag(
    name: &'static str,
    required: &'static [&'static str],
    optional: &'static [&'static [&'static str]],
    children: &'static [&'static str],
) -> Tag {
    Tag { name, required, optional, children }
}

/// Actions; each may have a condition.
const ACTION_TAGS: &[Tag] = &[
    tag("arg", &["name"], &[&["default", "description"]], &["choice"]),
    tag("let", &["name", "value"], &[], &[]),
    tag("include", &["file"], &[], &["arg"]),
    tag("group", &[], &[&["scoped"]], &[ACTIONS]),
    tag(
        "node",
        &["exec"],
        &[&["pkg", "namespace", "exec_name", "args"], PROCESS],
        &["param", "remap", "env"],
    ),
    tag("executable", &["cmd"], &[PROCESS], &["env"]),
    tag("push_ros_namespace", &["namespace"], &[], &[]),
    tag("set_parameter", &["name", "value"], &[], &[]),
    tag("set_remap", &["from", "to"], &[], &[]),
    tag("set_env", &["name", "value"], &[], &[]),
    tag("timer", &["period"], &[], &[ACTIONS]),
    tag("log", &["message"], &[], &[]),
];

/// Parts of an action, under the name of their parent.
const PART_TAGS: &[(&str, Tag)] = &[
    ("arg", tag("choice", &["value"], &[], &[])),
    ("include", tag("arg", &["name", "value"], &[], &[])),
    ("node", tag("param", &[], &[&["name", "value", "type", "from"]], &[])),
    ("node", tag("remap", &["from", "to"], &[], &[])),
    ("node", tag("env", &["name", "value"], &[], &[])),
    ("executable", tag("env", &["name", "value"], &[], &[])),
];

const ROOT: Tag = tag("launch", &[], &[], &[ACTIONS]);

impl Tag {
    /// Root tag of a launch file.
    pub(crate) const fn root() -> &'static Self {
        &ROOT
    }

    /// Tag of that name inside this one, if the subset has it there.
    pub(crate) fn child(&self, name: &str) -> Option<&'static Self> {
        let part = PART_TAGS.iter().find(|(parent, tag)| *parent == self.name && tag.name == name);
        if let Some((_, tag)) = part {
            return Some(tag);
        }
        let name = without_old_spelling(name);
        let action = self.children.contains(&ACTIONS).then_some(ACTION_TAGS)?;
        action.iter().find(|tag| tag.name == name)
    }

    pub(crate) fn has_attribute(&self, name: &str) -> bool {
        let is_action = ACTION_TAGS.iter().any(|tag| std::ptr::eq(tag, self));
        self.required.contains(&name)
            || self.optional.iter().any(|group| group.contains(&name))
            || (is_action && CONDITION.contains(&name))
    }

    /// Names of the attributes, for messages.
    pub(crate) fn attributes(&self) -> String {
        let is_action = ACTION_TAGS.iter().any(|tag| std::ptr::eq(tag, self));
        let condition: &[&str] = if is_action { &CONDITION } else { &[] };
        [self.required, &self.optional.concat(), condition].concat().join(", ")
    }

    /// Names of the nested tags, for messages.
    pub(crate) fn nested(&self) -> String {
        let mut names: Vec<&str> =
            self.children.iter().copied().filter(|c| *c != ACTIONS).collect();
        if self.children.contains(&ACTIONS) {
            names.extend(ACTION_TAGS.iter().map(|tag| tag.name));
        }
        names.join(", ")
    }
}

/// Name in the present spelling; ROS 2 has kept some with a hyphen.
fn without_old_spelling(name: &str) -> &str {
    match name {
        "push-ros-namespace" => "push_ros_namespace",
        name => name,
    }
}

/// Replacement for a tag of ROS 2 that the subset leaves out, or for a frequent mistake.
pub(crate) fn instead_of_tag(name: &str) -> Option<&'static str> {
    Some(match name {
        "append_env" => "write the whole value with <set_env name=.. value=\"$(env NAME)..\"/>",
        "reset_env" | "reset" => {
            "put the actions into a <group>, which restores everything at its end"
        }
        "set_use_sim_time" => "use <set_parameter name=\"use_sim_time\" value=\"true\"/>",
        "set_ros_log_dir" => "set ROS_LOG_DIR before the start",
        "ros_timer" => "use <timer period=..> (wall time), or let the node wait for its clock",
        "shutdown" => "use on_exit=\"shutdown\" at the process whose end ends all",
        "node_container" | "load_composable_node" | "composable_node" => {
            "start each node as a process of its own with <node>"
        }
        "lifecycle_node" => "use <node>; our nodes have no life cycle to drive",
        "push_namespace" | "namespace" => "use <push_ros_namespace namespace=../>",
        "rosparam" | "parameters" => "use <param from=\"file.yaml\"/> inside <node>",
        "machine" | "test" | "master" => {
            "this is ROS 1; start the process with <node> or <executable>"
        }
        "param" => "put it into a <node>, or use <set_parameter name=.. value=../>",
        "remap" => "put it into a <node>, or use <set_remap from=.. to=../>",
        "env" => "put it into a <node>, or use <set_env name=.. value=../>",
        "sequence" | "opaque_function" | "event_handler" => {
            "actions run in the order of the file; use <timer> or on_exit"
        }
        "unset_env" | "set_parameters_from_file" | "keep" => {
            "`karakuri launch` does not read it: use `ros2 launch`"
        }
        _ => return None,
    })
}

/// Replacement for an attribute that the subset leaves out, or for a frequent mistake.
pub(crate) fn instead_of_attribute(tag: &str, name: &str) -> Option<&'static str> {
    Some(match (tag, name) {
        ("node", "type" | "executable" | "cmd") => "use exec",
        ("node", "package") => "use pkg",
        ("node" | "push_ros_namespace", "ns") => "use namespace",
        ("node", "node-name") => "use name",
        ("node" | "executable", "emulate_tty") => {
            "processes write to pipes; for colours use <env name=\"RCUTILS_COLORIZED_OUTPUT\" value=\"1\"/>"
        }
        ("node" | "executable", "required") => "use on_exit=\"shutdown\"",
        ("node" | "executable", "respawn-delay") => "use respawn_delay",
        ("arg", "value") => "an <arg> is declared with default; <let> sets a value",
        ("include", "pkg") => "use file=\"$(find-pkg-share pkg)/launch/file.launch.xml\"",
        ("include", "ns") => "put <include> into a <group> with <push_ros_namespace>",
        ("group", "ns" | "namespace") => "put <push_ros_namespace namespace=../> into the group",
        ("timer", "delay") => "use period",
        ("param", "file") => "use from",
        ("launch", "version") => "remove it",
        (
            "node" | "executable",
            "cwd" | "shell" | "ros_args" | "additional_env" | "prefix_filter",
        )
        | ("group", "forwarding")
        | ("param", "value-sep" | "allow_substs") => {
            "`karakuri launch` does not read it: use `ros2 launch`"
        }
        _ => return None,
    })
}
