use serde_json::json;

use super::*;
use crate::refusal::Code;

fn canonical_of(verb: Verb, value: &Value) -> String {
    Arguments::read(verb, value).unwrap().canonical()
}

fn refusal(verb: Verb, value: &Value) -> Refusal {
    let refusal = Arguments::read(verb, value).unwrap_err();
    assert_eq!(refusal.code, Code::BadArgument, "{value}");
    refusal
}

#[test]
fn equal_arguments_have_one_text() {
    let first = json!({"y_m": -0.0, "x_m": 1, "z_m": 0.1, "yaw_rad": 1e-9});
    let second = json!({"z_m": 0.1, "x_m": 1.0, "yaw_rad": 0.000_000_001, "y_m": 0});
    let text = r#"{"x_m":1.0,"y_m":0.0,"yaw_rad":1e-9,"z_m":0.1}"#;
    assert_eq!(canonical_of(Verb::Move, &first), text);
    assert_eq!(canonical_of(Verb::Move, &second), text);
    assert_eq!(canonical_of(Verb::Home, &json!({})), "{}");
    assert_eq!(canonical_of(Verb::Log, &json!({"since": 3.0})), r#"{"since":3}"#);
}

#[test]
fn canonical_text_reads_back_to_the_same() {
    let cases = [
        (Verb::Look, json!({"objects": ["a", "b"]})),
        (Verb::Move, json!({"x_m": 0.3, "y_m": 0.1, "high": true, "speed_scale": 0.5})),
        (Verb::SetGripper, json!({"width_m": 0.05, "force_n": 3})),
        (Verb::SetGripper, json!({"opened": false})),
        (Verb::SetGripper, json!({"vacuum_kpa": 60})),
        (Verb::Pick, json!({"object": "cube", "grasp": "top"})),
        (Verb::Pick, json!({"x_m": 0.5, "y_m": -0.2})),
        (Verb::Place, json!({"x_m": 0.5, "y_m": -0.2, "z_m": 0.9})),
        (Verb::Place, json!({"on": "shelf"})),
        (Verb::WalkTo, json!({"x_m": 1, "y_m": 2, "yaw_rad": 3})),
        (Verb::ChangeTool, json!({"tool": "suction"})),
        (Verb::Act, json!({"ticket": "0".repeat(32), "request_id": "r1"})),
        (Verb::Stop, json!({"reason": "too near"})),
    ];
    for (verb, value) in cases {
        let arguments = Arguments::read(verb, &value).unwrap();
        assert_eq!(arguments.verb(), verb);
        let again: Value = serde_json::from_str(&arguments.canonical()).unwrap();
        assert_eq!(Arguments::read(verb, &again), Ok(arguments), "{value}");
        let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        assert_eq!(keys(&again).len(), keys(&value).len(), "{value}");
    }
}

#[test]
fn a_refusal_names_field_value_and_range() {
    let said = refusal(Verb::Move, &json!({"x_m": "0.3", "y_m": 0, "z_m": 1}));
    assert_eq!(said.field.as_deref(), Some("x_m"));
    assert_eq!(said.value, Some(json!("0.3")));
    assert_eq!(said.range.as_deref(), Some("[-1000, 1000]"));
    let said = refusal(Verb::Move, &json!({"x_m": 0, "y_m": 0, "z_m": 1, "speed_scale": 0}));
    assert_eq!(said.range.as_deref(), Some("(0, 1]"));
    let said = refusal(Verb::Pick, &json!({"x_m": 0}));
    assert_eq!(said.range.as_deref(), Some("object | x_m and y_m"));
    let said = refusal(Verb::Home, &json!({"b b": 1, "a\u{7}": 1}));
    assert_eq!((said.field, said.value), (None, Some(json!("a\u{7}"))));
    let said = refusal(Verb::ChangeTool, &json!({"tool": "ü".repeat(1000)}));
    assert_eq!(said.value, Some(json!("ü".repeat(64))));
    let said = refusal(Verb::ChangeTool, &json!({}));
    assert_eq!(said.field.as_deref(), Some("tool"));
}

#[test]
fn ways_to_say_it_exclude_each_other() {
    for (verb, value) in [
        (Verb::Move, json!({"x_m": 0, "y_m": 0})),
        (Verb::Move, json!({"x_m": 0, "y_m": 0, "z_m": 1, "high": true})),
        (Verb::SetGripper, json!({})),
        (Verb::SetGripper, json!({"opened": true, "width_m": 0.1})),
        (Verb::SetGripper, json!({"force_n": 1})),
        (Verb::Pick, json!({"object": "cube", "x_m": 0})),
        (Verb::Place, json!({"on": "shelf", "z_m": 1})),
        (Verb::Place, json!({"x_m": 0})),
        (Verb::Place, json!({"z_m": 0})),
    ] {
        refusal(verb, &value);
    }
}
