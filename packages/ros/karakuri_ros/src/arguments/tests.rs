use super::*;

fn parse_words(line: &str) -> Result<Arguments, ArgumentError> {
    parse(line.split_whitespace().map(OsString::from))
}

fn message(line: &str) -> String {
    parse_words(line).unwrap_err().to_string()
}

#[test]
fn ros_arguments_are_cut_out() {
    let parsed =
        parse_words("a --ros-args -r x:=y -p rate:=3 -- b --ros-args --log-level arm.sim:=DEBUG")
            .unwrap();
    assert_eq!(parsed.program, ["a", "b"]);
    assert_eq!(parsed.overrides.for_node("/sim")["rate"], Value::from(3));
    assert_eq!(parsed.log_levels, [(Some("arm.sim".to_owned()), Severity::Debug)]);
    assert!(parsed.console && parsed.rosout);
    assert!(!parse_words("--ros-args --disable-rosout-logs").unwrap().rosout);
}

#[test]
fn every_mistake_names_its_argument() {
    assert_eq!(message("--ros-args -r"), "ROS argument `-r` needs a value");
    assert_eq!(message("--ros-args -r --"), "ROS argument `-r` needs a value");
    assert_eq!(message("--ros-args --frob"), "unknown ROS argument `--frob`");
    assert_eq!(message("--ros-args stray"), "unknown ROS argument `stray`");
    assert_eq!(message("--ros-args -r x=y"), "`-r x=y`: expected `[node:]from:=to`");
    assert_eq!(
        message("--ros-args -r x:=y!"),
        "`-r x:=y!`: expected `[node:]from:=to, both names`"
    );
    assert_eq!(message("--ros-args -r __node:=a/b"), "`-r __node:=a/b`: expected `__node:=name`");
    assert_eq!(message("--ros-args -r __ns:=ns"), "`-r __ns:=ns`: expected `__ns:=/namespace`");
    for rule in [
        "a:__ns:=/x/y",
        "__ns:=/",
        "/tf:=tf",
        "a:~/b:=/c/d",
        "x:=~/y",
        "rostopic://x:=rostopic://y",
    ] {
        assert!(parse_words(&format!("--ros-args -r {rule}")).is_ok(), "{rule}");
    }
    assert_eq!(message("--ros-args -p rate=3"), "`-p rate=3`: expected `[node:]name:=value`");
    assert!(
        message("--ros-args -p rate:=[1").starts_with("`-p rate:=[1`: the value is not valid YAML")
    );
    assert!(
        message("--ros-args --params-file /none.yaml")
            .starts_with("parameter file `/none.yaml`: No such file")
    );
    assert!(
        message("--ros-args --log-level loud")
            .starts_with("`--log-level loud`: expected one of debug")
    );
}

#[test]
fn bytes_that_are_no_text_are_refused() {
    use std::os::unix::ffi::OsStringExt;
    let error = parse([OsString::from_vec(vec![b'a', 0xff])]).unwrap_err();
    assert_eq!(error.to_string(), r#"argument "a\xFF" is not valid UTF-8"#);
}
