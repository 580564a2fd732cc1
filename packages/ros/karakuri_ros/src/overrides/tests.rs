use super::*;

fn rate_for(node: &str, file: &str) -> Option<Value> {
    let mut overrides = Overrides::default();
    overrides.add_file(file).unwrap();
    overrides.for_node(node).remove("rate")
}

#[test]
fn blocks_match_by_full_name() {
    let block = |key: &str| format!("{key}:\n  ros__parameters: {{rate: 1}}\n");
    let matching = [
        "/**",
        "\"**\"",
        "/ns/feat",
        "ns/feat",
        "/*/feat",
        "/**/feat",
        "/ns/*",
        "/ns/**",
        "/**/ns/feat",
    ];
    for key in matching {
        assert_eq!(rate_for("/ns/feat", &block(key)), Some(Value::from(1)), "{key}");
    }
    for key in ["feat", "/feat", "/other/feat", "/*", "/ns/feat/x", "/ns/fea"] {
        assert_eq!(rate_for("/ns/feat", &block(key)), None, "{key}");
    }
    for key in ["feat", "/feat", "/*", "/**"] {
        assert_eq!(rate_for("/feat", &block(key)), Some(Value::from(1)), "{key}");
    }
}

#[test]
fn nested_names_and_nested_parameters_are_flattened() {
    let file = "ns:\n  feat:\n    ros__parameters:\n      rate: 2\n      gains: {p: {x: 1.5}}\n";
    assert_eq!(rate_for("/ns/feat", file), Some(Value::from(2)));
    let mut overrides = Overrides::default();
    overrides.add_file(file).unwrap();
    assert_eq!(overrides.for_node("/ns/feat")["gains.p.x"], Value::from(1.5));
    assert_eq!(overrides.addressed_to("/ns/feat"), ["rate", "gains.p.x"]);
}

#[test]
fn the_later_block_wins_also_over_a_more_exact_one() {
    let file = "/ns/feat:\n  ros__parameters: {rate: 1}\n/**:\n  ros__parameters: {rate: 2}\n";
    assert_eq!(rate_for("/ns/feat", file), Some(Value::from(2)));
}

#[test]
fn a_file_of_another_shape_is_refused() {
    let refusal = |text: &str| Overrides::default().add_file(text).unwrap_err();
    assert!(refusal("- 1").starts_with("expected node names at the top"));
    assert!(
        refusal("ros__parameters: {rate: 1}").starts_with("`ros__parameters` stands at the top")
    );
    assert_eq!(
        refusal("node: {rate: 1}"),
        "`/node/rate` is neither a node name nor `ros__parameters`"
    );
    assert!(refusal("a: [1").contains("line"));
    assert_eq!(Overrides::default().add_file(""), Ok(()));
}
