//! One suite that every kind of hand must pass, run over the whole registry; then what is particular to a kind.

use karakuri_model::{BodyId, EndEffector as Config, FrameId};

use crate::grip_force::DriveRange;
use crate::gripper_command::{CommandUnit, GripperCommandError, GripperReport, StatedCommand};

use super::{EndEffector, EndEffectorError, KINDS, Kind, LEAN_SHARE, Reach};

fn config(kind: &Kind) -> Config {
    Config {
        kind: kind.name.to_owned(),
        tool_frame: FrameId(3),
        joints: (2..2 + kind.joints.len()).map(BodyId).collect(),
        sensors: vec!["l".to_owned(), "r".to_owned()],
        parameters: kind.example.iter().map(|(n, v)| ((*n).to_owned(), *v)).collect(),
    }
}

fn with(
    kind: &Kind,
    parameter: &str,
    value: f64,
) -> Result<Box<dyn EndEffector>, EndEffectorError> {
    let mut config = config(kind);
    for (name, old) in &mut config.parameters {
        if name == parameter {
            *old = value;
        }
    }
    (kind.make)(&config)
}

/// Openings over the whole range. [m]
fn openings(hand: &dyn EndEffector) -> impl Iterator<Item = f64> {
    let (lowest, highest) = hand.opening_range();
    (0..=50).map(move |i| lowest + (highest - lowest) * f64::from(i) / 50.0)
}

/// What pick and place, grip control and gripper commands rely on.
fn conforms(kind: &Kind) {
    let hand = (kind.make)(&config(kind)).unwrap();
    let hand = hand.as_ref();
    assert_eq!(hand.kind(), kind.name);
    assert_eq!((hand.joint(), hand.tool_frame()), (BodyId(2), FrameId(3)));
    limits(hand);
    opening_and_position_are_inverse(hand);
    force_and_effort_are_inverse(hand);
    commands_of_the_joint_are_those_of_the_hand(hand);
    a_box_stops_it_at_one_opening(hand);
    fingers_that_lean_refuse_what_they_squeeze(hand);
    wrong_numbers_are_named(kind);
}

fn limits(hand: &dyn EndEffector) {
    let (lowest, highest) = hand.opening_range();
    assert!(0.0 <= lowest && lowest < highest && highest.is_finite());
    assert!(hand.force_max() > 0.0 && hand.pad_depth() > 0.0 && hand.pad_width() > 0.0);
    // An opening beyond the range is brought to its end, which is reached exactly.
    for (beyond, end) in
        [(-1.0, lowest), (lowest - 1e-4, lowest), (highest + 1e-4, highest), (9.0, highest)]
    {
        let reached = hand.opening(hand.position(beyond));
        assert!((reached - end).abs() < 1e-12, "{beyond} goes to {reached}, not {end}");
    }
}

fn opening_and_position_are_inverse(hand: &dyn EndEffector) {
    let mut last = f64::NEG_INFINITY;
    for opening in openings(hand) {
        let position = hand.position(opening);
        assert!((hand.opening(position) - opening).abs() < 1e-12, "opening {opening}");
        assert!(position > last, "a wider opening needs a greater position, at {opening}");
        last = position;
        let h = 1e-6;
        let slope = (hand.opening(position + h) - hand.opening(position - h)) / (2.0 * h);
        let rate = hand.opening_rate(position);
        assert!(
            rate > 0.0 && (slope - rate).abs() < 1e-7,
            "rate {rate}, slope {slope} at {opening}"
        );
        let depth = hand.tool_depth(position);
        assert!(depth.abs() < 0.5 * hand.opening_range().1, "pads {depth} m from the tool");
    }
}

fn force_and_effort_are_inverse(hand: &dyn EndEffector) {
    for opening in openings(hand) {
        let position = hand.position(opening);
        assert!(hand.effort(position, 0.0).abs() < 1e-15);
        for force in [0.5, 7.0, hand.force_max()] {
            let effort = hand.effort(position, force);
            assert!(effort < 0.0, "pressing closes: the effort is negative");
            assert!((hand.force(position, effort) - force).abs() < 1e-12);
            let twice = hand.effort(position, 2.0 * force);
            assert!((twice - 2.0 * effort).abs() < 1e-12, "linear in the force");
        }
        // No work is lost: two fingers with N closing by half of dw each take what the drive gives, τ dq; so do three of as many drives.
        let (effort, rate) = (hand.effort(position, 1.0), hand.opening_rate(position));
        let (drives, fingers) =
            if hand.three_fingers().is_some() { (3.0, 3.0) } else { (1.0, 2.0) };
        let (given, taken) = (drives * effort, fingers * 0.5 * rate);
        assert!((given + taken).abs() < 1e-12, "effort {effort} for 1 N a finger, rate {rate}");
    }
}

fn commands_of_the_joint_are_those_of_the_hand(hand: &dyn EndEffector) {
    let (lowest, highest) = hand.opening_range();
    let [lower, upper] = [lowest, highest].map(|opening| hand.position(opening));
    let within = DriveRange { lower, upper };
    let unit = CommandUnit::Joint;
    for opening in openings(hand) {
        let (position, force) = (hand.position(opening), 0.5 * hand.force_max());
        let effort = -hand.effort(position, force);
        let stated = StatedCommand { unit, position, velocity: 0.5, effort };
        let command = stated.of_hand(hand, within).unwrap();
        assert!(
            (command.opening - opening).abs() < 1e-12 && (command.max_effort - force).abs() < 1e-9
        );
        assert!((command.max_velocity - 0.5 * hand.opening_rate(position)).abs() < 1e-12);
        let report = GripperReport { opening, effort: force, ..GripperReport::default() };
        let [position_again, effort_again] = unit.stated(Some(hand), &report);
        assert!((position_again - position).abs() < 1e-12 && (effort_again + effort).abs() < 1e-9);
        let strong = StatedCommand { effort: 2.1 * effort, ..stated };
        assert!(matches!(
            strong.of_hand(hand, within),
            Err(GripperCommandError::JointEffort { .. })
        ));
        let nothing = StatedCommand { effort: f64::NAN, ..stated };
        assert!(nothing.of_hand(hand, within).is_err());
    }
    for position in [lower - 0.01, upper + 0.01, f64::NAN] {
        let stated = StatedCommand { unit, position, velocity: 0.0, effort: 0.0 };
        assert!(matches!(stated.of_hand(hand, within), Err(GripperCommandError::Position { .. })));
    }
}

fn a_box_stops_it_at_one_opening(hand: &dyn EndEffector) {
    let half = 0.5 * hand.pad_depth();
    for (inward, outward) in
        [(half, half), (0.1 * half, 3.0 * half), (3.0 * half, half), (-0.2 * half, half)]
    {
        let reach = Reach { inward, outward };
        for opening in openings(hand) {
            let width = hand.width_between(hand.position(opening), reach);
            // Only an object that ends short of the pads' middle may be wider than the opening there.
            assert!(width <= opening + 1e-15 || inward < 0.0, "{width} m stops it at {opening} m");
            let about = hand.opening_about(width, reach);
            assert!((about - opening).abs() < 1e-12, "{about} m about {width} m, not {opening}");
            if hand.lean(hand.position(opening)).abs() <= 0.0 {
                assert_eq!((width - hand.opening(hand.position(opening)), about), (0.0, width));
            }
        }
    }
}

fn fingers_that_lean_refuse_what_they_squeeze(hand: &dyn EndEffector) {
    let half = 0.5 * hand.pad_depth();
    let reach = Reach { inward: half, outward: half };
    for opening in openings(hand) {
        let width = hand.width_between(hand.position(opening), reach);
        let lean = hand.lean(hand.position(hand.opening_about(width, reach))).abs();
        let edge = (lean / LEAN_SHARE).tan();
        assert_eq!(hand.refuse_squeezed(width, reach, edge + 1e-9), Ok(()));
        let refused = hand.refuse_squeezed(width, reach, (edge - 1e-9).max(0.0));
        assert_eq!(refused.is_err(), edge > 1e-9, "friction {edge}, {lean} rad: {refused:?}");
    }
}

fn wrong_numbers_are_named(kind: &Kind) {
    for (parameter, value) in kind.example {
        let error = with(kind, parameter, f64::NAN).unwrap_err().to_string();
        assert!(error.contains(kind.name) && error.contains(parameter), "{error}");
        let mut lacking = config(kind);
        lacking.parameters.retain(|(name, _)| name != parameter);
        let error = (kind.make)(&lacking).unwrap_err().to_string();
        assert!(error.contains(&format!("lacks parameter `{parameter}`")), "{error}");
        assert!(with(kind, parameter, *value).is_ok());
    }
    let pads = ["pad_depth", "pad_width"];
    let has_pads = |name: &&str| kind.example.iter().any(|(n, _)| n == name);
    for parameter in
        ["opening_max", "force_max", "fingers"].into_iter().chain(pads.into_iter().filter(has_pads))
    {
        let error = with(kind, parameter, -1.0).unwrap_err().to_string();
        assert!(error.contains(&format!("{parameter} is -1, it must be")), "{error}");
    }
    let error = with(kind, "opening_min", 0.5).unwrap_err().to_string();
    assert!(
        error.contains("opening_min is 0.5, it must be at least 0 and below opening_max"),
        "{error}"
    );
    let joints = (kind.make)(&Config { joints: Vec::new(), ..config(kind) }).unwrap_err();
    let count = if kind.joints.len() == 1 { "one driven joint" } else { "four driven joints" };
    assert!(joints.to_string().contains(&format!("needs {count}")), "{joints}");
}

#[test]
fn every_kind_conforms() {
    assert!(!KINDS.is_empty());
    for kind in KINDS {
        conforms(kind);
    }
}

#[test]
fn the_linkage_has_its_known_lever() {
    let hand = (KINDS[0].make)(&config(&KINDS[0])).unwrap();
    // 10 N a finger at θ = 0: 10 N · 2 · 0.05 m.
    assert!((hand.effort(0.0, 10.0) + 1.0).abs() < 1e-12);
    let error = with(&KINDS[0], "opening_max", 0.3).unwrap_err().to_string();
    assert!(error.contains("opening_max is 0.3") && error.contains("60 degrees"), "{error}");
}

/// arm6 about a can of 60 mm: its followers end 28 mm behind the pads, 1.75 mm outside of them, and lean by asin(8.75/50) there.
#[test]
fn the_linkage_leaves_room_for_what_is_tall_until_its_links_or_its_palm_touch() {
    let mut config = config(&KINDS[0]);
    let free = (KINDS[0].make)(&config).unwrap();
    assert!(free.headroom(free.position(0.06)).is_infinite());
    for (name, value) in [("link_depth", 0.028), ("link_recess", 0.00175), ("palm_depth", 0.076)] {
        config.parameters.push((name.to_owned(), value));
    }
    let hand = (KINDS[0].make)(&config).unwrap();
    let lean = (8.75_f64 / 50.0).asin();
    let known = 0.028 + 0.00075 / lean.tan();
    assert!((hand.headroom(hand.position(0.06)) - known).abs() < 1e-12, "{known}");
    // Narrow things reach to the palm.
    let closed = hand.headroom(hand.position(0.02));
    assert!((0.06..0.076).contains(&closed), "{closed}");
    let bad = config.parameters.iter_mut().find(|(name, _)| name == "palm_depth").unwrap();
    bad.1 = -1.0;
    let error = (KINDS[0].make)(&config).unwrap_err().to_string();
    assert!(error.contains("palm_depth is -1, it must be at least 0"), "{error}");
}

#[test]
fn a_pinion_moves_both_racks() {
    let kind = KINDS.iter().find(|kind| kind.name == "rack_and_pinion").unwrap();
    let hand = (kind.make)(&config(kind)).unwrap();
    // A turn of 1 rad moves each rack by the radius; 10 N a finger need 2 · 12 mm · 10 N.
    assert!((hand.opening(1.0) - 0.064).abs() < 1e-15);
    assert!((hand.effort(0.5, 10.0) + 0.24).abs() < 1e-15);
    let error = with(kind, "fingers", 1.0).unwrap_err().to_string();
    assert!(error.contains("fingers is 1, it must be 2: a rack on either side"), "{error}");
}

fn scissor() -> &'static Kind {
    KINDS.iter().find(|kind| kind.name == "scissor").unwrap()
}

/// Point of the left finger, `along` it from the pivot and `beside` it, turned by the joint; before the tool frame and from the middle. [m]
fn turned(along: f64, beside: f64, position: f64) -> (f64, f64) {
    let (sin, cos) = position.sin_cos();
    (along * cos - beside * sin - 0.083, along * sin + beside * cos)
}

#[test]
fn the_scissor_s_pads_are_where_its_fingers_carry_them() {
    let hand = (scissor().make)(&config(scissor())).unwrap();
    for opening in openings(hand.as_ref()) {
        let position = hand.position(opening);
        let (depth, half) = turned(0.083, 0.010, position);
        assert!((2.0 * half - opening).abs() < 1e-15, "{opening}: {half}");
        assert!((hand.tool_depth(position) - depth).abs() < 1e-15, "{opening}: {depth}");
        // The angle of the face, by two of its points.
        let (inner, outer) = (turned(0.069, 0.010, position), turned(0.097, 0.010, position));
        let lean = (outer.1 - inner.1).atan2(outer.0 - inner.0);
        assert!((hand.lean(position) - lean).abs() < 1e-14, "{opening}: {lean}");
        // A box stops both fingers where the nearest point of its side is on the face.
        for (inward, outward) in [(0.007, 0.018), (0.025, 0.025)] {
            let on_face =
                (0..=2000).map(|i| turned(0.069 + 1.4e-5 * f64::from(i), 0.010, position));
            let beside = on_face.filter(|p| (depth - inward..=depth + outward).contains(&p.0));
            let nearest = beside.map(|p| p.1).fold(f64::INFINITY, f64::min);
            let width = hand.width_between(position, Reach { inward, outward });
            assert!((width - 2.0 * nearest).abs() < 3e-5, "{opening}: {width}, {nearest}");
        }
    }
}

#[test]
fn the_scissor_has_its_known_angles_and_levers() {
    let hand = (scissor().make)(&config(scissor())).unwrap();
    // Parallel about 20 mm, twice the pads' offset; 10 N a finger need 10 N · 2 · 83 mm there.
    assert!(hand.position(0.020).abs() < 1e-15);
    assert!((hand.effort(0.0, 10.0) + 1.66).abs() < 1e-12);
    // About a box of 50 mm the inner ends of the pads touch, 69.7 mm from the pivot: asin(25/69.7) − 8.25°.
    let reach = Reach { inward: 0.025, outward: 0.025 };
    let position = hand.position(hand.opening_about(0.050, reach));
    let known = (0.025 / 0.069_f64.hypot(0.010)).asin() - 0.010_f64.atan2(0.069);
    assert!((hand.lean(position) - known).abs() < 1e-14, "{position} rad, not {known}");
}

#[test]
fn the_scissor_says_what_it_would_squeeze_out() {
    let hand = (scissor().make)(&config(scissor())).unwrap();
    let reach = Reach { inward: 0.025, outward: 0.025 };
    assert_eq!(hand.refuse_squeezed(0.050, reach, 0.6), Ok(()));
    let error = hand.refuse_squeezed(0.080, reach, 0.6).unwrap_err().to_string();
    assert_eq!(
        error,
        "fingers about 80.0 mm lean by 26.8 degrees, and friction 0.6 holds up to 24.8: the object would be squeezed out; \
         take it by a narrower side, or by pads with more friction"
    );
}

#[test]
fn a_scissor_that_cannot_be_is_refused() {
    for (parameter, value, why) in [
        ("fingers", 1.0, "2: one drive turns both"),
        ("pad_offset", -0.001, "at least 0"),
        ("pad_depth", 0.09, "at most pad_distance"),
        ("opening_max", 0.15, "within 60 degrees"),
        ("opening_min", 0.0025, "the ends of the pads are apart"),
    ] {
        let error = with(scissor(), parameter, value).unwrap_err().to_string();
        assert!(
            error.contains(&format!("{parameter} is {value}")) && error.contains(why),
            "{error}"
        );
    }
}
