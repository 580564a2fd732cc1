use std::io::Write as _;

use super::*;

const FILE: &str = r#"workspace_m: {box: [[0.2,-0.4,0.72],[0.7,0.4,1.2]], keep_out: []}
limits: {tool_speed_m_s: 0.4, tool_acceleration_m_s2: 2, grip_force_n: 15, mass_kg: 0.5, contact_force_n: 20, walk_speed_m_s: 0.2, duration_s: 60, acts_per_minute: 6}
objects: {allow: ["cube*"], deny: ["*human*"]}
principals: {local: {verbs: [look, status, move, set_gripper, pick, place, home], approval: elicitation}, "*": {verbs: [look, status]}}   # none | elicitation | operator
auto_act: {verbs: [home, set_gripper], min_margin: 0.3}        # needs no approval
rehearsal: {copies: 16, seed: 1, min_margin: 0.2, ttl_s: 60}
lift: {who: [operator], for_s: 300}                            # by local socket or ROS service, never by MCP
"#;

fn read(text: &str) -> Result<Envelope, String> {
    let mut file = tempfile::NamedTempFile::with_suffix(".yaml").unwrap();
    file.write_all(text.as_bytes()).unwrap();
    let name = file.path().display().to_string();
    Envelope::read(file.path()).map_err(|error| error.to_string().replace(&name, "e.yaml"))
}

fn envelope() -> Envelope {
    read(FILE).unwrap()
}

#[test]
fn the_file_of_the_plan_is_read() {
    let envelope = envelope();
    let Region { lower, upper } = envelope.workspace_m.bounds;
    assert_eq!(format!("{lower:?} {upper:?}"), "[0.2, -0.4, 0.72] [0.7, 0.4, 1.2]");
    assert_eq!(envelope.limits.acts_per_minute, 6);
    assert_eq!(envelope.principals["*"].approval, Approval::Operator);
    assert_eq!(envelope.rehearsal, RehearsalRules::default());
    assert_eq!(envelope.lift.who, ["operator"]);
}

#[test]
fn errors_name_line_key_and_what_is_allowed() {
    let cases = [
        (
            "mass_kg: 0.5",
            "mass_kg: -1",
            "e.yaml:2: limits.mass_kg: -1 is out of range; write a number in (0, 1000000]",
        ),
        ("mass_kg: 0.5", "mass_kg: .nan", "e.yaml:2: limits.mass_kg: NaN is out of range"),
        ("mass_kg: 0.5", "mass_kg: .inf", "e.yaml:2: limits.mass_kg: inf is out of range"),
        ("mass_kg: 0.5", "mass_kg: '0.5'", "e.yaml:2: limits.mass_kg: invalid type: string"),
        (
            "mass_kg: 0.5",
            "mass_gk: 0.5",
            "e.yaml:2: limits: unknown field `mass_gk`, expected one of `tool_speed_m_s`",
        ),
        ("mass_kg: 0.5, ", "", "e.yaml:2: limits: missing field `mass_kg`"),
        ("lift:", "lifts:", "e.yaml:7: unknown field `lifts`, expected one of"),
        ("0.72]", "1.3]", "e.yaml:1: workspace_m.box: a box without inside"),
        (
            "0.72]",
            ".nan]",
            "e.yaml:1: workspace_m.box: NaN is out of range; write a number in [-1000, 1000]",
        ),
        (
            "home], approval",
            "hop], approval",
            "e.yaml:4: principals.local.verbs[6]: unknown variant `hop`, expected one of `look`",
        ),
        (
            "elicitation}",
            "maybe}",
            "e.yaml:4: principals.local.approval: unknown variant `maybe`, expected one of `none`, `elicitation`, `operator`",
        ),
        ("local: {", "'a b': {", "e.yaml:4: principals: `a b` is no principal"),
        ("cube*", "../cube", "e.yaml:3: objects.allow: `../cube` is no pattern of names"),
        (
            "copies: 16",
            "copies: 0",
            "e.yaml:6: rehearsal.copies: 0 is out of range; write a whole number from 1 to 10000",
        ),
        (
            "0.3}",
            "1.5}",
            "e.yaml:5: auto_act.min_margin: 1.5 is out of range; write a number in [0, 1]",
        ),
        ("for_s: 300", "for_s: 1, for_s: 2", "e.yaml:7: lift.for_s: is there twice"),
    ];
    for (from, to, expected) in cases {
        let text = FILE.replacen(from, to, 1);
        assert_ne!(text, FILE, "{from}");
        let said = read(&text).unwrap_err();
        assert!(said.starts_with(expected), "{said}\nnot {expected}");
    }
}

#[test]
fn the_hash_is_of_the_content() {
    let hash = envelope().hash();
    assert_eq!(hash.len(), 64);
    let mut lines: Vec<&str> = FILE.lines().collect();
    lines.reverse();
    let reordered = lines.join("\n").replace("mass_kg: 0.5", "mass_kg: 5e-1 ");
    assert_eq!(read(&reordered).unwrap().hash(), hash);
    let without_defaults = FILE.replace(", duration_s: 60", "").replace("copies: 16, ", "");
    assert_eq!(read(&without_defaults).unwrap().hash(), hash);
    for (from, to) in [("0.72", "0.720000001"), ("cube*", "cube?"), ("seed: 1", "seed: 2")] {
        assert_ne!(read(&FILE.replace(from, to)).unwrap().hash(), hash, "{to}");
    }
}

#[test]
fn principals_have_their_own_verbs_only() {
    let envelope = envelope();
    assert!(envelope.allows("local", Verb::Pick) && envelope.allows("local", Verb::Act));
    for stranger in ["other", "*", "", "Local"] {
        assert!(envelope.allows(stranger, Verb::Look) && envelope.allows(stranger, Verb::Stop));
        assert!(!envelope.allows(stranger, Verb::Pick) && !envelope.allows(stranger, Verb::Act));
    }
    let mut alone = envelope.clone();
    alone.principals.remove("*");
    assert!(!alone.allows("other", Verb::Look) && alone.allows("other", Verb::Stop));
}

#[test]
fn approval_is_the_strictest_unless_the_file_says_otherwise() {
    let envelope = envelope();
    assert_eq!(envelope.approval("local", Verb::Home, 0.3), Approval::None);
    assert_eq!(envelope.approval("local", Verb::Home, 0.299), Approval::Elicitation);
    assert_eq!(envelope.approval("local", Verb::Home, f64::NAN), Approval::Elicitation);
    assert_eq!(envelope.approval("local", Verb::Pick, 1.0), Approval::Elicitation);
    assert_eq!(envelope.approval("other", Verb::Pick, 1.0), Approval::Operator);
}

#[test]
fn denied_objects_are_not_allowed() {
    let envelope = envelope();
    assert!(envelope.allows_object("cube_2"));
    for name in ["ball", "cube_human_2", "human"] {
        assert!(!envelope.allows_object(name), "{name}");
    }
    assert!(envelope.denies_object("a_human") && !envelope.denies_object("shelf"));
}

#[test]
fn what_is_kept_out_is_so_between_two_points_too() {
    let text = FILE.replace("keep_out: []", "keep_out: [[[0.4,-0.1,0.7],[0.5,0.1,1.0]]]");
    let workspace = read(&text).unwrap().workspace_m;
    assert!(workspace.contains([0.4, 0.2, 0.9]) && !workspace.contains([0.4, 0.1, 0.9]));
    assert!(workspace.contains_segment([0.3, 0.0, 0.9], [0.39, 0.0, 0.9]));
    // Through it, along its face, past a corner, over it.
    assert!(!workspace.contains_segment([0.3, 0.0, 0.9], [0.6, 0.0, 0.9]));
    assert!(!workspace.contains_segment([0.4, -0.3, 0.9], [0.4, 0.3, 0.9]));
    assert!(workspace.contains_segment([0.3, 0.0, 0.9], [0.45, 0.16, 0.9]));
    assert!(workspace.contains_segment([0.3, 0.0, 1.001], [0.6, 0.0, 1.001]));
    assert!(workspace.contains_place(0.45, 0.0));
    let text = FILE.replace("keep_out: []", "keep_out: [[[0.4,-0.1,0.7],[0.5,0.1,1.2]]]");
    assert!(!read(&text).unwrap().workspace_m.contains_place(0.45, 0.0));
}

#[test]
fn touching_a_corner_of_what_is_kept_out_is_inside() {
    let region = |lower, upper| Region { lower: [lower; 3], upper: [upper; 3] };
    let workspace = Workspace { bounds: region(-4.0, 4.0), keep_out: vec![region(0.0, 1.0)] };
    assert!(!workspace.contains_segment([0.0, 2.0, 0.5], [2.0, 0.0, 0.5]));
    assert!(workspace.contains_segment([0.0, 2.0625, 0.5], [2.0625, 0.0, 0.5]));
}
