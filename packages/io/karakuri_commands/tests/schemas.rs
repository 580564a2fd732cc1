//! Schemas, judged by a validator that is not ours.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod support;

use karakuri_commands::{Code, Envelope, Gate, Refusal, Scene, Verb, input_schema, output_schema};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};
use support::{check, envelope, issue};

/// Envelope in which every object may be taken and nothing is kept out: what schemas cannot say.
fn plain_envelope() -> Envelope {
    let mut envelope = envelope();
    envelope.workspace_m.keep_out.clear();
    envelope.objects.allow = vec!["*".to_owned()];
    envelope.objects.deny.clear();
    let principal = envelope.principals.get_mut("local").unwrap();
    principal.verbs = Verb::ALL.to_vec();
    envelope
}

#[test]
fn schemas_are_of_the_dialect_that_they_name() {
    let schemas = Verb::ALL.map(|verb| input_schema(verb, &envelope()));
    let answers = Verb::ALL.map(output_schema);
    for schema in schemas.iter().chain(&answers) {
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
        assert!(jsonschema::draft202012::meta::is_valid(schema), "{schema}");
    }
    // The meta-schema does refuse what is none.
    let mut wrong = schemas[3].clone();
    wrong["properties"]["x_m"]["minimum"] = json!("0.2");
    assert!(!jsonschema::draft202012::meta::is_valid(&wrong));
}

/// A value for a property of a schema: at its borders, beside them, within, and of other kinds.
fn value_for(property: &Value) -> BoxedStrategy<Value> {
    let mut good =
        vec![json!(true), json!(false), json!("cube"), json!("a-b_9"), json!("0".repeat(32))];
    let mut numbers = vec![0.0, 1.0, -1.0, 3.0, 0.5, 1e9, 1e300, -1e-300, 9_007_199_254_740_992.0];
    for key in ["minimum", "exclusiveMinimum", "maximum"] {
        if let Some(border) = property.get(key).and_then(Value::as_f64) {
            numbers.extend([
                border,
                border.next_up(),
                border.next_down(),
                border + 1e-3,
                border - 1e-3,
            ]);
        }
    }
    good.extend(numbers.into_iter().map(Value::from));
    good.extend([
        json!(0),
        json!(-0.0),
        json!(1),
        json!(u64::MAX),
        json!(i64::MIN),
        json!(9_007_199_254_740_993_u64),
    ]);
    good.extend([
        json!(["cube"]),
        json!([]),
        json!(["a", "b"]),
        json!(vec!["a"; 64]),
        json!(vec!["a"; 65]),
    ]);
    let bad = [
        json!(null),
        json!("0.3"),
        json!("0.3; home"),
        json!("NaN"),
        json!(""),
        json!("a b"),
        json!("../a"),
        json!("a\n"),
        json!("ü"),
        json!("a".repeat(64)),
        json!("a".repeat(65)),
        json!("a".repeat(201)),
        json!("A".repeat(32)),
        json!({}),
        json!({"x_m": 0.3}),
        json!([["a"]]),
        json!([1]),
        json!(["a b"]),
        json!("cube\u{0}"),
        json!("too near, stop"),
        json!("stop."),
    ];
    prop_oneof![
        6 => prop::sample::select(good),
        2 => prop::sample::select(bad.to_vec()),
        4 => within(property),
    ]
    .boxed()
}

/// A number inside of a property's range, or a text.
fn within(property: &Value) -> BoxedStrategy<Value> {
    let number = |key: &str| property.get(key).and_then(Value::as_f64);
    match (number("minimum").or(number("exclusiveMinimum")), number("maximum")) {
        (Some(least), Some(most)) => (least..=most).prop_map(Value::from).boxed(),
        _ if property["type"] == "boolean" => any::<bool>().prop_map(Value::from).boxed(),
        _ if property["type"] == "array" => Just(json!(["cube"])).boxed(),
        _ => "[0-9a-f]{32}|[A-Za-z0-9_-]{1,64}|.{0,8}".prop_map(Value::from).boxed(),
    }
}

fn arguments_for(verb: Verb, envelope: &Envelope) -> BoxedStrategy<Value> {
    let schema = input_schema(verb, envelope);
    let properties = schema["properties"].as_object().unwrap();
    let needed: Vec<&str> =
        schema["required"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let mut all: BoxedStrategy<Map<String, Value>> = Just(Map::new()).boxed();
    for (name, property) in properties {
        let name = name.clone();
        let share = if needed.contains(&name.as_str()) { 0.95 } else { 0.4 };
        let value = prop::option::weighted(share, value_for(property));
        all = (all, value)
            .prop_map(move |(mut all, value)| {
                all.extend(value.map(|value| (name.clone(), value)));
                all
            })
            .boxed();
    }
    let extra =
        prop::option::weighted(0.05, prop::sample::select(vec!["x", "X_M", "", "z_m ", "verb"]));
    let object = (all, extra).prop_map(|(mut all, extra)| {
        all.extend(extra.map(|name| (name.to_owned(), json!(1))));
        Value::Object(all)
    });
    let no_object = prop::sample::select(vec![json!(null), json!([]), json!("{}"), json!(1)]);
    prop_oneof![50 => object, 1 => no_object].boxed()
}

#[test]
fn schema_and_parser_take_the_same() {
    let envelope = plain_envelope();
    let mut gate = Gate::new(envelope.clone());
    let mut runner = TestRunner::deterministic();
    for verb in Verb::ALL {
        let schema = jsonschema::validator_for(&input_schema(verb, &envelope)).unwrap();
        let strategy = arguments_for(verb, &envelope);
        let (mut n_taken, mut n_refused) = (0, 0);
        for _ in 0..4000 {
            let value = strategy.new_tree(&mut runner).unwrap().current();
            let by_schema = schema.is_valid(&value);
            let by_us = if verb == Verb::Stop {
                karakuri_commands::Arguments::read(verb, &value).is_ok()
            } else {
                let checked = gate.check("local", verb, &value, &Scene::default(), 0.0);
                let code = checked.as_ref().err().map(|refusal| refusal.code);
                !matches!(code, Some(Code::BadArgument | Code::OutsideEnvelope))
            };
            assert_eq!(by_schema, by_us, "{verb} {value}");
            if by_us { n_taken += 1 } else { n_refused += 1 }
        }
        // Both happen, or nothing is compared.
        assert!(n_taken >= 40 && n_refused >= 40, "{verb}: {n_taken} taken, {n_refused} refused");
    }
}

#[test]
fn answers_are_as_their_schema_says() {
    let schema = jsonschema::validator_for(&output_schema(Verb::Pick)).unwrap();
    let mut gate = Gate::new(envelope());
    let answer = json!(issue(&mut gate, 1).unwrap());
    assert!(schema.is_valid(&answer), "{answer}");
    let refused = [
        (Verb::Move, json!({"x_m": [0.3]})),
        (Verb::Move, json!({"x_m": {}, "y_m": 0, "z_m": 0})),
        (Verb::Move, json!({"x_m": 0.9, "y_m": 0, "z_m": 1})),
        (Verb::Home, json!({"a b": true})),
        (Verb::Pick, json!({"object": "cube_9"})),
        (Verb::WalkTo, json!({"x_m": 0.5, "y_m": 0})),
    ];
    for (verb, arguments) in refused {
        let refusal = json!(check(&mut gate, verb, &arguments).unwrap_err());
        for verb in Verb::ALL {
            let schema = jsonschema::validator_for(&output_schema(verb)).unwrap();
            assert!(schema.is_valid(&refusal), "{verb}: {refusal}");
        }
    }
    for wrong in [json!({}), json!({"code": "OK"}), json!({"ticket": "x"})] {
        assert!(!schema.is_valid(&wrong), "{wrong}");
    }
}

/// All titles and descriptions, in the order of their keys.
fn texts(value: &Value, into: &mut Vec<String>) {
    match value {
        Value::Object(object) => {
            let mut entries: Vec<_> = object.iter().collect();
            entries.sort_by_key(|(key, _)| key.as_str());
            for (key, value) in entries {
                match value {
                    Value::String(text) if key == "title" || key == "description" => {
                        into.push(text.clone());
                    }
                    value => texts(value, into),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| texts(item, into)),
        _ => {}
    }
}

/// A model reads these: a change is a decision, and nothing of the world comes into them.
#[test]
fn texts_are_pinned() {
    let mut all = Vec::new();
    for verb in Verb::ALL {
        texts(&input_schema(verb, &envelope()), &mut all);
        texts(&output_schema(verb), &mut all);
    }
    let digest = format!("{:x}", Sha256::digest(all.join("\n")));
    assert_eq!(
        digest, "52559490ced6a614c131f364422af4a31ae86049f0eba38cadc6450b544d1ee8",
        "{all:#?}"
    );
    let mut other = Vec::new();
    for verb in Verb::ALL {
        texts(&input_schema(verb, &plain_envelope()), &mut other);
        texts(&output_schema(verb), &mut other);
    }
    assert_eq!(all, other);
}

/// The codes of `pick_and_place`, as the action names them, then one each of `change_tool` and `walk`, between the codes of the checks and those of
/// tickets.
#[test]
fn codes_are_those_of_the_action_in_its_order() {
    let action = |name: &str| {
        let file = format!("/../../ros/karakuri_msgs/action/{name}.action");
        std::fs::read_to_string(env!("CARGO_MANIFEST_DIR").to_owned() + &file).unwrap()
    };
    let text = action("PickAndPlace");
    // The goal has constants of its own: its parts.
    let result = text.split("\n---\n").nth(1).unwrap();
    let constants =
        result.lines().filter_map(|line| line.strip_prefix("uint8 ")?.split_once(" = "));
    let of_action: Vec<&str> =
        constants.map(|(name, _)| name).filter(|name| *name != "NONE").collect();
    let checks = [
        "BAD_ARGUMENT",
        "NOT_ALLOWED",
        "OUTSIDE_ENVELOPE",
        "UNKNOWN_OBJECT",
        "AMBIGUOUS_OBJECT",
        "BUSY",
    ];
    let tickets = [
        "PREDICTED_FAILURE",
        "NEEDS_APPROVAL",
        "DECLINED",
        "TICKET_UNKNOWN",
        "TICKET_USED",
        "TICKET_EXPIRED",
        "STALE_TICKET",
        "DIVERGED",
        "REQUEST_ID_REUSED",
    ];
    let others = [("ChangeTool", "TOOL_LOST"), ("Walk", "FELL")];
    for (name, code) in others {
        assert!(action(name).contains(&format!("uint8 {code} = ")), "{name}: {code}");
    }
    let others = others.map(|(_, code)| code);
    let expected: Vec<&str> =
        checks.into_iter().chain(of_action).chain(others).chain(tickets).collect();
    let names = Code::ALL.map(|code| json!(code).as_str().unwrap().to_owned());
    assert_eq!(names[..], expected);
    assert!(Code::ALL.is_sorted());
    assert_eq!(json!(Refusal::new(Code::Busy, "wait"))["code"], "BUSY");
}
