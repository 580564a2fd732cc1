use super::*;

/// A folder as an installation has it.
fn library(name: &str) -> Definitions {
    let root =
        std::env::temp_dir().join(format!("karakuri-definitions-{name}-{}", std::process::id()));
    let files = [
        (
            "share/a_msgs/msg/Inner.msg",
            "# comment\nfloat64 x # [m]\nuint8 KIND=3\nstring TEXT = \"a b\"\nint8[2] pair\n",
        ),
        (
            "share/a_msgs/msg/Outer.msg",
            "Inner one\na_msgs/Inner[] many\nstring<=4 name \"y\"\nfloat32[<=3] few\nbool on true\nuint8 u\n",
        ),
        ("share/a_msgs/action/Do.action", "Outer outer\n---\nbool done\n---\nfloat64 share\n"),
    ];
    for (file, text) in files {
        let file = root.join(file);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }
    Definitions::below(vec![root])
}

#[test]
fn fields_are_read_in_order_and_constants_left_out() {
    let outer = library("fields").message("a_msgs/msg/Outer").unwrap();
    let fields: Vec<_> = outer.fields.iter().map(|f| format!("{f} {}", f.name)).collect();
    let expected = [
        "a_msgs/msg/Inner one",
        "a_msgs/msg/Inner[] many",
        "string name",
        "float32[<=3] few",
        "bool on",
        "uint8 u",
    ];
    assert_eq!(fields, expected);
    let Kind::Message(inner) = &outer.fields[0].kind else { panic!("no message") };
    assert_eq!(
        inner.fields.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["float64", "int8[2]"]
    );
}

#[test]
fn every_mistake_names_its_field_and_what_it_may_be() {
    let goal = library("mistakes").action("a_msgs/action/Do").unwrap().goal;
    let error = |text: &str| goal.json(&serde_yaml::from_str(text).unwrap()).unwrap_err();
    for (text, expected) in [
        ("{inner: 1}", "a_msgs/action/Do_Goal has no field `inner`; its fields are outer"),
        (
            "{outer: {one: {y: 1}}}",
            "outer.one: a_msgs/msg/Inner has no field `y`; its fields are x, pair",
        ),
        ("{outer: {many: [{}, {x: a}]}}", "outer.many[1].x is of type float64, got `a`"),
        (
            "{outer: {many: {}}}",
            "outer.many is of type a_msgs/msg/Inner[]: write a list, as [...]; got `{}`",
        ),
        ("{outer: {one: {pair: [1]}}}", "outer.one.pair is of type int8[2], got 1 elements"),
        ("{outer: {one: {pair: [1, 128]}}}", "outer.one.pair[1] is of type int8, got `128`"),
        ("{outer: {few: [1, 2, 3, 4]}}", "outer.few is of type float32[<=3], got 4 elements"),
        (
            "{outer: {few: [1e39]}}",
            "outer.few[0] is of type float32 (a finite number), got `1e+39`",
        ),
        ("{outer: {name: 3}}", "outer.name is of type string (write it in quotes), got `3`"),
        ("{outer: {on: 1}}", "outer.on is of type bool (true or false), got `1`"),
        ("{outer: {u: -1}}", "outer.u is of type uint8, got `-1`"),
        (
            "3",
            "the message is of type a_msgs/action/Do_Goal: write {field: value} with fields of outer; got `3`",
        ),
    ] {
        assert_eq!(error(text), expected, "{text}");
    }
}

#[test]
fn numbers_that_are_not_finite_are_refused() {
    let inner = library("finite").message("a_msgs/msg/Inner").unwrap();
    let error = inner.json(&serde_yaml::from_str("{x: .nan}").unwrap()).unwrap_err();
    assert!(error.starts_with("x is of type float64 (a finite number)"), "{error}");
}

#[test]
fn json_comes_back_in_the_order_of_the_definition() {
    let outer = library("order").message("a_msgs/msg/Outer").unwrap();
    let text =
        "one:\n  x: 1.5\n  pair:\n  - 1\n  - -2\nmany: []\nname: n\nfew:\n- 0.1\non: false\nu: 7\n";
    let json = outer.json(&serde_yaml::from_str(text).unwrap()).unwrap();
    assert_eq!(serde_yaml::to_string(&outer.yaml(&json)).unwrap(), text);
}

#[test]
fn a_type_that_is_not_there_or_no_type_is_reported() {
    let mut library = library("missing");
    let error = library.message("a_msgs/msg/None").unwrap_err();
    assert!(error.contains("`a_msgs/msg/None` is not installed"), "{error}");
    for name in ["Inner", "a_msgs/action/Inner", "a_msgs/msg/../x", "../a/msg/b"] {
        let error = library.message(name).unwrap_err();
        assert!(error.contains("is no type; write it as PACKAGE/msg/NAME"), "{error}");
    }
}
