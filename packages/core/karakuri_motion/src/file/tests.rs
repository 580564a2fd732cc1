//! Documents to text and back, and what a mistake says.

#![expect(clippy::float_cmp, reason = "what is read is what was written")]

use proptest::prelude::*;

use super::*;

const GREET: &str = r#"karakuri_motion: 1
robot: {model: khr1, urdf: package://karakuri/urdf/khr1/khr1.urdf, config: khr1.yaml}
units: {angle: deg}
poses:
  stand: {l_hip_pitch: 10, r_hip_pitch: 10, l_knee_pitch: -20, r_knee_pitch: -20}
  bow: {from: stand, l_hip_pitch: 45, r_hip_pitch: 45.5}
motions:
  greet:
    frame: 0.015
    start: {support: both, root: {xyz: [0, 0, 0.1], rpy: [0, 0, 90]}}
    scenes:
      - {pose: stand, time: 0.5}
      - {pose: bow, time: 1, ease: minimum_jerk, support: both, joints: {head_yaw: 0}, note: say hello}
      - {motion: wave, mirror: true, repeat: 2}
    tracks:
      head_yaw:
        blend: add
        keys:
          - {t: 0, y: 0}
          - {t: 0.4, y: 15, ease: {bezier: [0.3, 0.0, 0.7, 1.0]}}
    markers:
      - {t: 0.5, name: bow starts}
  wave:
    frame: 0.02
    loop: true
    scenes:
      - {pose: stand, time: 0.1}
scene:
  settings:
    gravity: [0, 0, -9.81]
  bodies:
    box: {mass: 1, shape: {box: [0.1, 0.1, 0.1]}}
parameters:
  drives.l_knee_pitch.stiffness: 6.5
panels:
  - {title: Tuning, widgets: [{max: 20.0, min: 1.0, slider: drives.l_knee_pitch.stiffness}, {plot: [margin, script.k]}]}
scripts:
  arm: "fn step(s) {\n  s.say(\"hé\");\n}\n"
gamepad:
  - {axis: 0, dead_zone: 0.2, joint: head_yaw, speed: 90.0}
  - {button: 0, pose: stand}
  - {action: stop, button: 1}
mirror:
  pairs:
    - [l_hip_roll, r_hip_roll, -1.0]
  self: {head_yaw: -1}
"#;

#[test]
fn a_document_comes_back_as_the_same_text() {
    let document = read("greet.yaml", GREET).unwrap();
    assert_eq!(write(&document), GREET);
    assert_eq!(document.motions["greet"].tracks["head_yaw"].keys[1].t, 0.4);
    let json = serde_json::to_string(&document).unwrap();
    assert_eq!(serde_json::from_str::<Document>(&json).unwrap(), document);
    assert_eq!(
        write(&Document::default()),
        "karakuri_motion: 1\nrobot: {model: \"\", urdf: \"\"}\nunits: {angle: rad}\n"
    );
}

#[test]
fn mistakes_have_a_line_a_column_and_a_sentence() {
    for (from, to, expected) in [
        (
            "time: 0.5}",
            "tine: 0.5}",
            "greet.yaml:12:23: motions.greet.scenes[0]: unknown field `tine`",
        ),
        (
            "karakuri_motion: 1",
            "karakuri_motion: 2",
            "greet.yaml:1:18: karakuri_motion: version 2 is not known; write 1",
        ),
        (
            "pose: bow",
            "pose: bough",
            "greet.yaml:13:16: motions.greet.scenes[1].pose: there is no pose `bough`; there are stand, bow",
        ),
        (
            "from: stand",
            "from: bow",
            "greet.yaml:6:15: poses.bow.from: the pose is made of itself: bow from bow",
        ),
        ("motion: wave", "motion: greet", "the motion plays itself: greet plays greet"),
        (
            "time: 1,",
            "time: -1,",
            "greet.yaml:13:27: motions.greet.scenes[1].time: -1 s is out of range",
        ),
        ("ease: minimum_jerk", "ease: jerky", "unknown variant `jerky`"),
        ("r_knee_pitch: -20", "l_knee_pitch: -20", "l_knee_pitch"),
        ("{t: 0.4,", "{t: 0,", "0 s is not after the key before it"),
        ("{plot: [margin, script.k]}", "{min: 3}", "a widget is of one kind, this one of 0"),
        (
            "axis: 0, ",
            "",
            "gamepad[0]: a binding is of one input, this one of 0; write one of axis, button",
        ),
        ("button: 0, pose: stand", "button: 0", "an input does one thing, this one 0"),
        ("dead_zone: 0.2", "dead_zone: 2", "2 of the axis is out of range"),
        ("karakuri_motion: 1", "positions: []", "this is no motion document"),
        ("frame: 0.015", "frame: 0", "greet.yaml:9:12: motions.greet.frame: 0 s is out of range"),
        ("poses:", "poses: [", "not readable as YAML"),
        ("l_hip_pitch: 10", "l_hip_pitch: .nan", "NaN is no number"),
    ] {
        let text = GREET.replacen(from, to, 1);
        assert_ne!(text, GREET);
        let error = read("greet.yaml", &text).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}\ndoes not say\n{expected}");
    }
}

proptest! {
    /// A file with bytes exchanged, dropped or doubled is read or refused at a line.
    #[test]
    fn broken_files_are_refused_with_a_place(cuts in prop::collection::vec((any::<prop::sample::Index>(), 0..4_u8, any::<char>()), 1..4)) {
        let mut text: Vec<char> = GREET.chars().collect();
        for (index, kind, c) in cuts {
            let i = index.index(text.len());
            match kind {
                0 => text[i] = c,
                1 => { text.remove(i); }
                2 => text.insert(i, c),
                _ => text.truncate(i.max(1)),
            }
        }
        let text: String = text.into_iter().collect();
        match read("x.yaml", &text) {
            Ok(document) => {
                let again = write(&document);
                prop_assert_eq!(write(&read("y.yaml", &again).unwrap()), again);
            }
            Err(error) => prop_assert!(error.place.line > 0, "{}", error),
        }
    }
}
