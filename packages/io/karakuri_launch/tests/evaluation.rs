//! What launch files come to, and what is said about wrong ones, on a machine that is a table.

#![expect(clippy::unwrap_used, reason = "helpers of tests may panic as the tests do")]

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use karakuri_launch::{Environment, LaunchError, Outside, Plan, Step, arguments, evaluate};

/// Files by path; those under `bin` or `lib` can be run.
#[derive(Default)]
struct Table(BTreeMap<String, String>);

impl Outside for Table {
    fn read(&self, file: &Path) -> io::Result<String> {
        let found = self.0.get(&file.display().to_string()).cloned();
        found.ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "no such file"))
    }

    fn is_file(&self, file: &Path) -> bool {
        self.read(file).is_ok()
    }

    fn is_executable(&self, file: &Path) -> bool {
        let path = file.display().to_string();
        self.is_file(file) && (path.contains("/bin/") || path.contains("/lib/"))
    }

    fn list(&self, folder: &Path) -> Vec<String> {
        let prefix = format!("{}/", folder.display());
        self.0.keys().filter_map(|path| path.strip_prefix(&prefix)).map(Into::into).collect()
    }
}

fn table(main: &str) -> Table {
    let files = [
        ("/main.launch.xml", main),
        ("/p/share/ament_index/resource_index/packages/demo", ""),
        ("/p/lib/demo/talker", ""),
        ("/p/config.yaml", "/**:\n  ros__parameters: {who: $(var who)}\n"),
        ("/bin/tool", ""),
        ("/inner.launch.xml", "<launch><arg name='x'/><log message='x=$(var x)'/></launch>"),
        ("/p/sub.launch.xml", "<launch><log message='$(var x)'/></launch>"),
        (
            "/twice.launch.xml",
            "<launch><include file='/twice.launch.xml'/><include file='/twice.launch.xml'/></launch>",
        ),
        ("/circle.launch.xml", "<launch><include file='/circle.launch.xml'/></launch>"),
        ("/broken.launch.xml", "<launch>\n<nod/></launch>"),
    ];
    Table(files.into_iter().map(|(name, text)| (name.to_owned(), text.to_owned())).collect())
}

fn environment() -> Environment {
    let variables = [("AMENT_PREFIX_PATH", "/other:/p"), ("PATH", "/bin"), ("HOME", "/home")];
    variables.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

fn plan_with(body: &str, given: &[(&str, &str)]) -> Result<Plan, LaunchError> {
    let given = given.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
    let outside = table(&format!("<launch>{body}\n</launch>"));
    evaluate(Path::new("/main.launch.xml"), &given, &environment(), &outside)
}

fn plan(body: &str) -> Plan {
    plan_with(body, &[]).unwrap()
}

/// What `<log message="...">` prints.
fn logged(text: &str) -> String {
    match plan(&format!("<arg name=\"a\" default=\"sim\"/><log message=\"{text}\"/>"))
        .steps
        .remove(0)
    {
        Step::Log(message) => message,
        step => format!("{step:?}"),
    }
}

fn command(body: &str) -> String {
    plan(body).processes()[0].command_line()
}

#[test]
fn substitutions_give_their_text() {
    let cases = [
        ("plain $ text, a$b", "plain $ text, a$b"),
        ("$(var a)", "sim"),
        ("$(var none $(var a))", "sim"),
        ("$(var none 'two words')", "two words"),
        ("$(var none 'in $(var a) side')", "in sim side"),
        (r"\$(var a) \\ \'", r"$(var a) \ '"),
        ("$(env HOME)", "/home"),
        ("$(env NOTHING there)", "there"),
        ("$(env NOTHING '')", ""),
        ("$(find-pkg-share demo)", "/p/share/demo"),
        ("$(dirname)", "/"),
        ("$(equals 0.1 0.10) $(equals TRUE 1) $(equals a b)", "true true false"),
        (
            "$(not false) $(not True) $(and true false) $(or true false) $(or no off)",
            "true false false true false",
        ),
        ("$(or $(equals $(var a) sim) $(equals $(var a) mock))", "true"),
        ("$(not $(or $(equals $(var a) arm) $(equals $(var a) mock)))", "true"),
    ];
    for (text, expected) in cases {
        assert_eq!(logged(text), expected, "{text}");
    }
}

#[test]
fn arguments_come_from_the_command_line_or_the_default() {
    let body =
        "<arg name='a' default='one'/><arg name='b' default='$(var a)!'/><log message='$(var b)'/>";
    assert_eq!(plan(body).steps, [Step::Log("one!".into())]);
    assert_eq!(plan_with(body, &[("a", "two")]).unwrap().steps, [Step::Log("two!".into())]);
    let choice = "<arg name='a' default='x'><choice value='x'/><choice value='y'/></arg>";
    assert!(plan_with(choice, &[("a", "y")]).is_ok());
}

#[test]
fn conditions_choose_actions() {
    let body = "<arg name='rviz' default='FALSE'/>\
        <log message='a' if='$(var rviz)'/><log message='b' unless='$(var rviz)'/><log message='c' if=' 1 '/>";
    assert_eq!(plan(body).steps, [Step::Log("b".into()), Step::Log("c".into())]);
}

#[test]
fn groups_restore_and_unscoped_groups_leak() {
    let body = "<let name='x' value='1'/><group><let name='x' value='2'/><log message='$(var x)'/></group>\
        <log message='$(var x)'/><group scoped='false'><let name='x' value='3'/></group><log message='$(var x)'/>";
    let expected = ["2", "1", "3"].map(|x| Step::Log(x.into()));
    assert_eq!(plan(body).steps, expected);
}

#[test]
fn includes_take_arguments_and_know_their_own_place() {
    let body = "<include file='/inner.launch.xml'><arg name='x' value='7'/></include><log message='$(dirname)'/>";
    let expected = [Step::Log("x=7".into()), Step::Log("/".into())];
    assert_eq!(plan(body).steps, expected);
}

/// As `IncludeLaunchDescription` of ROS 2, which enters the included file before it sets its arguments.
#[test]
fn arguments_of_an_include_are_evaluated_where_the_included_file_is() {
    let body = "<include file='/p/sub.launch.xml'><arg name='x' value='$(dirname)'/></include><log message='$(dirname)'/>";
    let expected = [Step::Log("/p".into()), Step::Log("/".into())];
    assert_eq!(plan(body).steps, expected);
}

#[test]
fn timers_hold_their_steps_and_see_their_scope() {
    let body = "<let name='x' value='1'/><timer period='1.5'><log message='$(var x)'/></timer>";
    let steps = vec![Step::Log("1".into())];
    assert_eq!(plan(body).steps, [Step::Timer { period_s: 1.5, steps }]);
}

#[test]
fn processes_carry_their_attributes() {
    let body = "<executable cmd='/bin/tool -x' name='t' output='own_log' respawn='$(equals 1 1)' \
        respawn_delay='0.5' respawn_max_retries='2' on_exit='shutdown' sigterm_timeout='1' \
        sigkill_timeout='2'><env name='A' value='b'/></executable>";
    let plan = plan(body);
    let process = plan.processes()[0];
    assert_eq!((process.name.as_str(), process.shutdown_on_exit), ("t-1", true));
    let respawn = process.respawn.unwrap();
    assert_eq!((respawn.delay_s, respawn.max_retries), (0.5, Some(2)));
    assert_eq!((process.sigterm_timeout_s, process.sigkill_timeout_s), (1.0, 2.0));
    assert_eq!(process.environment["A"], "b");
    assert!(process.place.ends_with("/main.launch.xml:1"), "{}", process.place);
}

#[test]
fn environment_changes_reach_processes_and_substitutions() {
    let body = "<set_env name='NEW' value='1'/><set_env name='PATH' value='/bin'/><executable cmd='/bin/tool $(env NEW) $(env GONE gone)'/>";
    let plan = plan(body);
    let process = plan.processes()[0];
    assert_eq!(process.command_line(), "/bin/tool 1 gone");
    assert_eq!(process.environment, [("NEW".into(), "1".into())].into());
}

#[test]
fn command_lines_split_like_a_shell_but_never_inside_a_substitution() {
    let body =
        "<let name='w' value='a b'/><executable cmd='/bin/tool $(var w)/x \"c d\" --$(var w)  e'/>";
    let plan = plan(body);
    let words = serde_json::to_value(&plan.processes()[0].command).unwrap();
    let expected = ["/bin/tool", "a b/x", "c d", "--a b", "e"];
    for (word, expected) in words.as_array().unwrap().iter().zip(expected) {
        assert_eq!(word["text"], expected);
    }
}

#[test]
fn parameter_files_are_named_as_they_stand() {
    let command = command("<node pkg='demo' exec='talker'><param from='/p/config.yaml'/></node>");
    assert_eq!(command, "/p/lib/demo/talker --ros-args --params-file /p/config.yaml");
}

#[test]
fn global_strings_that_look_like_numbers_stay_strings() {
    let body = "<set_parameter name='id' value=\"'007'\"/><set_parameter name='l' value='[1, 2]'/><node pkg='demo' exec='talker'/>";
    assert_eq!(command(body), "/p/lib/demo/talker --ros-args -p id:=\"007\" -p l:=[1, 2]");
}

#[test]
fn two_nodes_of_one_name_are_pointed_out() {
    let node = "<node pkg='demo' exec='talker' name='n' namespace='s'/>";
    assert_eq!(
        plan(&format!("{node}{node}")).warnings,
        ["/main.launch.xml:1: a second node `/s/n`"]
    );
}

#[test]
fn arguments_are_listed_without_evaluation() {
    let outside = table(
        "<launch>\n<arg name='a' default='$(var b)' description='d'/><group><arg name='b'><choice value='1'/></arg></group><include file='/inner.launch.xml'/></launch>",
    );
    let found = arguments(Path::new("/main.launch.xml"), &environment(), &outside).unwrap();
    assert_eq!(found.len(), 3);
    assert_eq!(
        (found[0].default.as_deref(), found[0].place.as_str()),
        (Some("$(var b)"), "/main.launch.xml:2")
    );
    assert_eq!(found[2].name, "x");
    assert_eq!(
        (found[1].default.as_deref(), found[1].choices.as_slice()),
        (None, &["1".to_owned()][..])
    );
}

#[test]
fn unused_included_arguments_are_only_a_warning() {
    let body = "<include file='/inner.launch.xml' if='false'/>";
    let plan = plan_with(body, &[("x", "1")]).unwrap();
    assert_eq!(plan.warnings, ["no argument `x` in the files in use"]);
}

/// Body, line, what the message says, what the remedy says.
const WRONG: &[(&str, usize, &str, &str)] = &[
    ("\n<nod/>", 2, "<nod> in <launch> is outside the subset", "<launch> may hold arg"),
    ("<append_env name='A' value='b'/>", 1, "<append_env>", "<set_env"),
    ("<node_container/>", 1, "<node_container>", "a process of its own"),
    ("<param name='a' value='1'/>", 1, "<param> in <launch>", "<set_parameter"),
    ("<node pkg='demo' exec='talker'><group/></node>", 1, "<group> in <node>", "put it beside"),
    ("<node pkg='demo'/>", 1, "`exec` is missing", "add exec"),
    ("\n\n<node pkg='demo' type='talker' exec='x'/>", 3, "no attribute `type`", "use exec"),
    (
        "<node pkg='demo' exec='talker' emulate_tty='true'/>",
        1,
        "`emulate_tty`",
        "RCUTILS_COLORIZED_OUTPUT",
    ),
    (
        "<log message='a' colour='red'/>",
        1,
        "no attribute `colour`",
        "it may have message, if, unless",
    ),
    ("words", 1, "the text `words`", "a comment"),
    ("<log message='a' if='1' unless='0'/>", 1, "both `if` and `unless`", "<group>"),
    ("<log message='a' if='maybe'/>", 1, "comes to `maybe`", "true, false, 1 or 0"),
    ("<log message='$(or true 1)'/>", 1, "$(or) got `1`", "write true or false"),
    ("<log message='$(not)'/>", 1, "$(not) takes 1 arguments, given 0", "separate arguments"),
    ("<log message='$(or true 1)'/>", 1, "$(or) got `1`", "write true or false"),
    ("<log message='$(not)'/>", 1, "$(not) takes 1 arguments, given 0", "separate arguments"),
    ("<arg name='a'/>", 1, "the argument `a` has no value", "a:=.."),
    ("<arg name='a' default='x'><choice value='y'/></arg>", 1, "`a` is `x`", "one of y"),
    ("<log message='$(var who)'/>", 1, "no argument or <let> `who`", "<arg name=\"who\"/>"),
    ("<log message='$(env WHO)'/>", 1, "has no `WHO`", "$(env WHO value)"),
    ("<log message='$(arg who)'/>", 1, "$(arg) is outside", "$(var name)"),
    ("<log message='$(frobnicate)'/>", 1, "$(frobnicate) is outside", "the subset has var"),
    ("<log message='$(eval \"1 + 1\")'/>", 1, "$(eval) is outside", "use `ros2 launch`"),
    ("<log message='$(command xacro)'/>", 1, "$(command) is outside", "use `ros2 launch`"),
    ("<unset_env name='A'/>", 1, "<unset_env> in <launch>", "use `ros2 launch`"),
    ("<executable cmd='a' cwd='/tmp'/>", 1, "no attribute `cwd`", "use `ros2 launch`"),
    ("<log message='$(var a b c)'/>", 1, "takes 1 or 2 arguments, given 3", "one space"),
    ("<log message='$(var a'/>", 1, "`$(var` is not closed", "add the missing `)`"),
    ("<log message='$(var  a)'/>", 1, "an argument is missing", "one space"),
    ("<log message='$(var \"a)'/>", 1, "is not closed", "close it"),
    ("<log message='$( var a)'/>", 1, "begins with its name", "$(var name)"),
    ("<log message='$(find-pkg-share ghost)'/>", 1, "`ghost` is not installed", "./dev launch"),
    ("<node pkg='demo' exec='tolker'/>", 1, "no executable `tolker`", "holds talker"),
    (
        "<include file='/ghost.launch.xml'/>",
        1,
        "cannot read `/ghost.launch.xml`",
        "correct the path",
    ),
    ("<include file='/x.launch.py'/>", 1, "is no XML launch file", "ros2 launch"),
    ("<include file='/circle.launch.xml'/>", 1, "include each other", "break the circle"),
    ("<include file='/broken.launch.xml'/>", 2, "<nod>", "may hold"),
    ("<push_ros_namespace namespace='a//b'/>", 1, "`/a//b` is no namespace", "single `/`"),
    ("<node pkg='demo' exec='talker' name='a/b'/>", 1, "`a/b` is no node name", "namespace"),
    ("<node pkg='demo' exec='talker' output='loud'/>", 1, "output=\"loud\"", "screen"),
    (
        "<node pkg='demo' exec='talker' on_exit='respawn'/>",
        1,
        "on_exit=\"respawn\"",
        "respawn=\"true\"",
    ),
    ("<node pkg='demo' exec='talker' respawn_delay='$(var x)'/>", 1, "is no duration", "2.5"),
    ("<timer period='-1'/>", 1, "period=\"-1\"", "seconds from 0"),
    ("<group scoped='$(var x)'/>", 1, "is no plain bool", "no substitution"),
    (
        "<node pkg='demo' exec='talker'><param name='a'/></node>",
        1,
        "`a` has no value",
        "joined, as in a.b",
    ),
    (
        "<node pkg='demo' exec='talker'><param from='/ghost.yaml'/></node>",
        1,
        "no parameter file",
        "correct",
    ),
    (
        "<node pkg='demo' exec='talker'><param name='a' value='[1, 2.0]'/></node>",
        1,
        "mixes types",
        "[1.0, 2.0]",
    ),
    (
        "<node pkg='demo' exec='talker'><param name='a' value='x' type='int'/></node>",
        1,
        "is no int",
        "",
    ),
];

#[test]
fn wrong_files_get_one_message_with_place_and_remedy() {
    for (body, line, problem, remedy) in WRONG.iter().copied() {
        let error = plan_with(body, &[]).map(|p| panic!("{body}: {p}")).unwrap_err();
        assert_eq!(error.place.line, line, "{body}: {error}");
        assert!(error.to_string().contains(problem), "{body}: {error}");
        let said = error.remedy.clone().unwrap_or_default();
        assert!(said.contains(remedy), "{body}: {error}; remedy {said}");
    }
}

#[test]
fn xml_errors_have_their_line() {
    let outside = table("<launch>\n<log message='a'>\n</launch>");
    let error = evaluate(Path::new("/main.launch.xml"), &BTreeMap::new(), &environment(), &outside)
        .unwrap_err();
    assert!(error.to_string().starts_with("/main.launch.xml:3: not well-formed"), "{error}");
}

#[test]
fn a_misspelt_argument_is_refused() {
    let error =
        plan_with("<arg name='hardware' default='sim'/>", &[("hardwear", "mock")]).unwrap_err();
    assert_eq!(error.to_string(), "/main.launch.xml: no argument `hardwear`");
    assert_eq!(error.remedy.as_deref(), Some("it has hardware"));
}

/// Files that would take for ever, or all memory, or the whole stack.
#[test]
fn files_that_grow_without_bound_are_refused() {
    let doubling: String = (0..40).map(|_| "<let name='x' value='$(var x)$(var x)'/>").collect();
    let nested = format!("{}{}", "<group>".repeat(50_000), "</group>".repeat(50_000));
    let substitutions = format!("<log message='{}'/>", "$(var ".repeat(20_000));
    let cases = [
        (format!("<let name='x' value='0123456789'/>{doubling}"), "a value of more than 4 MiB"),
        (nested, "nested more than 64 levels deep"),
        (substitutions, "more than 32 substitutions within each other"),
        ("<include file='/twice.launch.xml'/>".to_owned(), "include each other"),
        ("<include file='/wide0.launch.xml'/>".to_owned(), "more than 1000 files are included"),
    ];
    for (body, expected) in cases {
        let mut outside = table(&format!("<launch>{body}</launch>"));
        for level in 0..30 {
            let next = format!("<include file='/wide{}.launch.xml'/>", level + 1);
            let text = format!("<launch>{next}{next}</launch>");
            outside.0.insert(format!("/wide{level}.launch.xml"), text);
        }
        outside.0.insert("/wide30.launch.xml".to_owned(), "<launch/>".to_owned());
        let main = Path::new("/main.launch.xml");
        let error = evaluate(main, &BTreeMap::new(), &environment(), &outside).expect_err(expected);
        assert!(error.to_string().contains(expected), "{error}");
        assert!(error.to_string().len() < 1000, "a message, not the file: {error}");
        // The list of arguments needs none of this: each file is looked at once.
        let _listed = arguments(main, &environment(), &outside);
    }
}

#[test]
fn what_a_file_holds_is_bounded() {
    let environment: Environment = std::env::vars().collect();
    let zero =
        evaluate(Path::new("/dev/zero"), &BTreeMap::new(), &environment, &karakuri_launch::Machine);
    assert!(zero.unwrap_err().to_string().contains("it has more than 4 MiB"));
}
