use std::collections::BTreeMap;

use serde::Deserialize;

use super::*;

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Leg {
    name: String,
    #[serde(default)]
    size: [f64; 2],
    side: Option<Side>,
    #[serde(default)]
    counts: Vec<u8>,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Side {
    Left,
    At(f64),
    Between { from: f64, to: f64 },
}

#[derive(Debug, PartialEq, Deserialize)]
struct Robot {
    legs: Vec<Leg>,
}

fn error(text: &str) -> String {
    read::<Robot>("a.yaml", text).unwrap_err().to_string()
}

#[test]
fn a_file_becomes_a_type() {
    let text = "legs:\n- {name: 12, size: [1, -.5e1], side: left}\n- &b\n  name: 'true'\n  side: {at: 2}\n  counts: [0x1f, 0]\n- *b\n";
    let leg = |name: &str, size, side, counts| Leg { name: name.to_owned(), size, side, counts };
    let other = || leg("true", [0.0; 2], Some(Side::At(2.0)), vec![31, 0]);
    let first = leg("12", [1.0, -5.0], Some(Side::Left), vec![]);
    assert_eq!(read::<Robot>("a.yaml", text).unwrap().legs, [first, other(), other()]);
}

#[test]
fn a_tag_names_the_variant() {
    let side = |text: &str| {
        read::<BTreeMap<String, Side>>("a.yaml", text).map(|map| map.into_values().collect())
    };
    let all = side("a: !left\nb: !at 2\nc: !between {from: 1, to: 2}\nd: left\n");
    assert_eq!(
        all,
        Ok(vec![Side::Left, Side::At(2.0), Side::Between { from: 1.0, to: 2.0 }, Side::Left])
    );
    let wrong = side("a: left\nb: !up 2\n").unwrap_err().to_string();
    assert!(wrong.starts_with("a.yaml:2: b: unknown variant `up`"), "{wrong}");
    let wrong = side("a: !between\n  from: 1\n  to: x\n").unwrap_err().to_string();
    assert!(wrong.starts_with("a.yaml:3: a.to: invalid type"), "{wrong}");
    assert_eq!(read::<String>("a.yaml", "!!str 12"), Ok("12".to_owned()));
    assert_eq!(read::<serde_json::Value>("a.yaml", "!!str 12"), Ok("12".into()));
}

#[test]
fn problems_have_line_and_key() {
    assert_eq!(
        error("legs:\n- name: a\n- name: b\n  size: [1.0, b]\n"),
        "a.yaml:4: legs[1].size[1]: invalid type: string \"b\", expected f64"
    );
    assert_eq!(
        error("legs:\n- name: a\n  sise: [1, 2]\n"),
        "a.yaml:3: legs[0]: unknown field `sise`, expected one of `name`, `size`, `side`, `counts`"
    );
    assert_eq!(error("legs:\n\n- size: [1, 2]\n"), "a.yaml:3: legs[0]: missing field `name`");
    assert_eq!(
        error("legs:\n- name: a\n  name: b\n"),
        "a.yaml:3: legs[0].name: is there twice; delete one"
    );
    let side = error("legs:\n- name: a\n  side: up\n");
    assert!(side.starts_with("a.yaml:3: legs[0].side: unknown variant `up`"), "{side}");
    let count = error("legs:\n- {name: a, counts: [1, 300]}\n");
    assert!(
        count.starts_with("a.yaml:2: legs[0].counts[1]: invalid value: integer `300`"),
        "{count}"
    );
    let syntax = error("legs: [\n");
    assert!(syntax.starts_with("a.yaml:") && syntax.contains("not readable as YAML"), "{syntax}");
}

#[test]
fn an_empty_file_lacks_what_is_required() {
    assert_eq!(error("# nothing\n"), "a.yaml: missing field `legs`");
}

/// The same words as the reader of dynamic values has them.
#[test]
fn words_are_the_core_schema_s() {
    let text = "a: 1\nb: 1.5\nc: '1'\nd: 007\ne: -0x10\nf: .inf\ng: ~\nh: yes\ni: 1e3\nj: 12e\nk: 1.2.3\nl: +5\nm: nan\nn: e5\np: 08.5\n";
    let values: BTreeMap<String, serde_json::Value> = read("a.yaml", text).unwrap();
    let shown: Vec<String> = values.values().map(ToString::to_string).collect();
    assert_eq!(
        shown,
        [
            "1",
            "1.5",
            "\"1\"",
            "\"007\"",
            "-16",
            "null",
            "null",
            "\"yes\"",
            "1000.0",
            "\"12e\"",
            "\"1.2.3\"",
            "5",
            "\"nan\"",
            "\"e5\"",
            "8.5"
        ]
    );
}

#[test]
fn keys_are_what_the_type_asks_for() {
    let numbers: BTreeMap<u32, f64> = read("a.yaml", "1: 2\n12: 0.5\n").unwrap();
    assert_eq!(numbers, BTreeMap::from([(1, 2.0), (12, 0.5)]));
    let words: BTreeMap<String, f64> = read("a.yaml", "1: 2\n").unwrap();
    assert_eq!(words, BTreeMap::from([("1".to_owned(), 2.0)]));
    let wrong = read::<BTreeMap<u32, f64>>("a.yaml", "1: 2\n\nb: 3\n").unwrap_err();
    assert_eq!(wrong.to_string(), "a.yaml:3: invalid type: string \"b\", expected u32");
}

#[test]
fn a_tree_says_which_keys_it_has() {
    let tree = read_tree("a.yaml", "legs: [{name: a}]\n").unwrap();
    assert!(tree.get("legs").is_some() && tree.get("arms").is_none());
    assert_eq!(tree.to::<Robot>().unwrap().legs.len(), 1);
}
