//! Laws of grasping on random objects, motions and hands: what a grip carries, and what its force comes to.
#![expect(non_snake_case, reason = "monogram notation, docs/notation.md")]
#![expect(clippy::unwrap_used, reason = "a helper of tests may stop them")]

use karakuri_grasp::end_effector::KINDS;
use karakuri_grasp::grip_force::{DriveRange, GripForce, GripSettings, GripTask};
use karakuri_grasp::slip::{
    Grip, Patch, SpecificWrench, effective_radius, required_force, traction,
};
use karakuri_grasp::{EndEffector, FingerForce};
use karakuri_model::{BodyId, EndEffector as Config, FrameId};
use karakuri_spatial::{Pose, Vector3};
use proptest::prelude::*;

/// A handful of products and quotients.
const ROUND_OFF: f64 = 1e-12;
/// [s]
const PERIOD: f64 = 0.001;

fn vector(size: f64) -> impl Strategy<Value = Vector3> {
    prop::array::uniform3(-size..size).prop_map(Vector3::from)
}

fn grip() -> impl Strategy<Value = Grip> {
    (0.01..5.0, 0.1..1.5, 0.5..50.0, 1.0..3.0).prop_map(|(mass, friction, force, safety)| Grip {
        mass,
        friction,
        force,
        safety,
    })
}

fn patch() -> impl Strategy<Value = Patch> {
    (0.003..0.03, vector(0.01), 0.0..0.005, 0.005..0.1).prop_map(
        |(radius, offset, uncertainty, width)| Patch { radius, offset, uncertainty, width },
    )
}

/// What an object that turns needs.
fn needed() -> impl Strategy<Value = SpecificWrench> {
    (vector(20.0), vector(0.3)).prop_map(|(force, moment)| SpecificWrench { force, moment })
}

fn scaled(needed: &SpecificWrench, factor: f64) -> SpecificWrench {
    SpecificWrench { force: needed.force * factor, moment: needed.moment * factor }
}

/// A direction of closing.
fn closing() -> impl Strategy<Value = Vector3> {
    vector(3.0).prop_map(|rpy| Pose::from_xyz_rpy([0.0; 3], rpy.into()).rotation.column(1).into())
}

/// A hand of any kind, as its example describes it.
fn hand() -> impl Strategy<Value = Box<dyn EndEffector>> {
    (0..KINDS.len()).prop_map(|kind| {
        let kind = &KINDS[kind];
        let config = Config {
            kind: kind.name.to_owned(),
            tool_frame: FrameId(0),
            joints: (0..kind.joints.len()).map(BodyId).collect(),
            sensors: vec!["left".to_owned(), "right".to_owned()],
            parameters: kind.example.iter().map(|(n, v)| ((*n).to_owned(), *v)).collect(),
        };
        (kind.make)(&config).unwrap()
    })
}

/// A drive with an elastic object between the fingers, at rest at every instant.
struct Bench {
    hand: Box<dyn EndEffector>,
    grip: GripForce,
    /// Of the drive. [N·m/rad or N/m]
    stiffness: f64,
    /// Of the object. [m], [N/m]
    width: f64,
    hardness: f64,
    position: f64,
    /// Part of what the drive presses with that comes to the object.
    passed: f64,
}

impl Bench {
    /// At an opening [m], with the drive as stiff as that all of the hand's force bends it by `yielding` of the opening's range.
    fn new(hand: Box<dyn EndEffector>, opening: f64, yielding: f64) -> Self {
        let (lowest, highest) = hand.opening_range();
        let ends = DriveRange { lower: hand.position(lowest), upper: hand.position(highest) };
        let position = hand.position(opening);
        let reach = yielding * (ends.upper - ends.lower);
        let stiffness = hand.effort(position, hand.force_max()).abs() / reach;
        let grip = GripForce::new(GripSettings::default(), stiffness, ends);
        Self { hand, grip, stiffness, width: 0.0, hardness: 0.0, position, passed: 1.0 }
    }

    /// Force of each finger on the object. [N]
    fn press(&self, position: f64) -> f64 {
        0.5 * self.hardness * (self.width - self.hand.opening(position)).max(0.0)
    }

    /// One period; the target. [rad or m]
    fn tick(&mut self) -> f64 {
        let normal = self.press(self.position);
        let fingers = [FingerForce { normal, ..FingerForce::default() }; 2];
        let reference = self.grip.tick(self.hand.as_ref(), self.position, &fingers, PERIOD);
        let target = reference.position + reference.effort / self.stiffness;
        // Where drive and object are in balance: between the target and where the object is just touched.
        let (mut low, mut high) = (target, target.max(self.hand.position(self.width)));
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            let drive = self.hand.force(middle, self.stiffness * (target - middle)) * self.passed;
            if drive > self.press(middle) { high = middle } else { low = middle }
        }
        self.position = high;
        target
    }
}

proptest! {
    #[test]
    fn more_weight_or_acceleration_needs_more_force(
        mass in 0.01..5.0, friction in 0.1..1.5, safety in 1.0..3.0, tangential in 0.1..50.0, more in 1.001..3.0,
    ) {
        let force = required_force(mass, friction, safety, tangential);
        prop_assert!(required_force(mass * more, friction, safety, tangential) > force);
        prop_assert!(required_force(mass, friction, safety, tangential * more) > force);
        prop_assert!(required_force(mass, friction, safety * more, tangential) > force);
        prop_assert!(required_force(mass, friction * more, safety, tangential) < force);
    }

    #[test]
    fn the_required_force_is_the_least_that_holds(
        grip in grip(), closing in closing(), push in vector(20.0), patch in patch(),
    ) {
        let along_pads = push - closing * push.dot(&closing);
        prop_assume!(along_pads.norm() > 0.1);
        let force = 2.0 * required_force(grip.mass, grip.friction, grip.safety, along_pads.norm());
        let held = Grip { force, ..grip };
        let load = held.load(&along_pads, &closing);
        prop_assert!((load - 1.0).abs() < ROUND_OFF, "{load}");
        // A centre of mass off the grip line takes more.
        let still = SpecificWrench::without_moment(along_pads);
        prop_assert!(held.total_load(&still, &closing, &patch) >= load - ROUND_OFF);
    }

    #[test]
    fn a_load_knows_no_direction_but_the_closing_one(
        grip in grip(), closing in closing(), needed in needed(), patch in patch(), turn in vector(3.0),
    ) {
        let R = Pose::from_xyz_rpy([0.0; 3], turn.into()).rotation;
        let turned = Patch { offset: R * patch.offset, ..patch };
        let load = grip.total_load(&needed, &closing, &patch);
        let SpecificWrench { force: push, moment } = needed;
        let elsewhere = SpecificWrench { force: R * push, moment: R * moment };
        let other = grip.total_load(&elsewhere, &(R * closing), &turned);
        prop_assert!((load - other).abs() <= 1e-9 * load, "{load} {other}");
        let (back, swapped) = (grip.load(&-push, &closing), grip.load(&push, &-closing));
        prop_assert!((back - swapped).abs() <= ROUND_OFF * back);
    }

    #[test]
    fn loads_grow_as_motions_do_and_shrink_as_the_grip_grows(
        grip in grip(), closing in closing(), needed in needed(), patch in patch(), factor in 1.0..4.0_f64,
    ) {
        let load = grip.total_load(&needed, &closing, &patch);
        let faster = grip.total_load(&scaled(&needed, factor), &closing, &patch);
        prop_assert!((faster - factor * load).abs() <= ROUND_OFF * faster);
        let harder = Grip { force: factor * grip.force, ..grip };
        prop_assert!((factor * harder.total_load(&needed, &closing, &patch) - load).abs() <= 1e-9 * load);
    }

    /// Fingers that lean by less than friction holds: the same laws, and less is borne out of the hand the more they lean.
    #[test]
    fn leaning_fingers_bear_in_proportion_to_their_force(
        grip in grip(), turn in vector(3.0), needed in needed(), patch in patch(), share in -0.8..0.8, factor in 1.0..4.0_f64,
    ) {
        let R = Pose::from_xyz_rpy([0.0; 3], turn.into()).rotation;
        let lean = share * grip.friction.atan();
        let load = grip.leaning_load(&needed, &R, &patch, lean);
        prop_assert!(load.is_finite() && load > 0.0, "{load}");
        let faster = grip.leaning_load(&scaled(&needed, factor), &R, &patch, lean);
        prop_assert!((faster - factor * load).abs() <= 1e-9 * faster, "{faster} {load}");
        let harder = Grip { force: factor * grip.force, ..grip };
        prop_assert!((factor * harder.leaning_load(&needed, &R, &patch, lean) - load).abs() <= 1e-9 * load);
        // Hardly leaning is as good as level.
        let closing = R.column(1).into_owned();
        let still = SpecificWrench::without_moment(needed.force);
        let level = grip.leaning_load(&still, &R, &patch, 1e-9_f64.copysign(share));
        prop_assert!((level - grip.total_load(&still, &closing, &patch)).abs() <= 1e-6 * level);
        let out = SpecificWrench::without_moment(R.column(0) * -10.0);
        let held = |share: f64| {
            grip.leaning_load(&out, &R, &Patch { offset: Vector3::zeros(), uncertainty: 0.0, ..patch }, share * lean.abs())
        };
        prop_assert!(held(0.5) <= held(1.0) && held(-1.0) <= held(-0.5));
        let bears = traction(grip.friction, lean.abs());
        let known = required_force(grip.mass, bears, grip.safety, 10.0) * 2.0 / grip.force;
        prop_assert!((held(1.0) - known).abs() <= 1e-9 * known, "{} {known}", held(1.0));
    }

    #[test]
    fn a_pad_s_radius_scales_and_has_no_sides(a in 1e-3..0.1, b in 1e-3..0.1, factor in 0.1..10.0_f64) {
        let radius = effective_radius(a, b);
        prop_assert!((effective_radius(b, a) - radius).abs() < 1e-9 * radius);
        prop_assert!((effective_radius(factor * a, factor * b) - factor * radius).abs() < 1e-9 * factor * radius);
        // A mean distance from the middle: less than that of the corners, more than a third of it.
        let corner = 0.5 * a.hypot(b);
        prop_assert!(radius < corner && radius > 0.3 * corner, "{radius} of {corner}");
    }

    /// Whatever the hand, its drive and the object: the fingers press with the desired force, and never with much more.
    #[test]
    fn a_grip_comes_to_the_desired_force(
        hand in hand(), share in 0.1..0.7, narrow in 0.3..0.8, yielding in 0.02..0.3, softness in 0.01..1.0,
    ) {
        let (force, highest) = (share * hand.force_max(), hand.opening_range().1);
        let mut bench = Bench::new(hand, highest * (narrow + 0.1), yielding);
        bench.width = narrow * highest;
        // An object no softer than the drive: the force follows through the drive's stiffness.
        bench.hardness = 2.0 * force / (softness * yielding * share * highest);
        bench.grip.set_task(GripTask::Close { force, slow_below: bench.width + 0.004 });
        let mut largest: f64 = 0.0;
        for _ in 0..6000 {
            bench.tick();
            largest = largest.max(bench.press(bench.position));
        }
        let state = *bench.grip.state();
        prop_assert!(state.gripped && !state.at_end, "{state:?}");
        let settled = bench.press(bench.position);
        prop_assert!((settled - force).abs() < 0.05 + 0.02 * force, "{settled} N for {force} N");
        prop_assert!(largest < 1.35 * force + 1.0, "{largest} N on the way to {force} N");
    }

    /// A side that leans, as that of a cone, bears on a finger along its arc, too: a tenth of what the drive presses with does not come to the object.
    #[test]
    fn the_greatest_force_is_reached_where_a_part_of_it_is_lost(
        hand in hand(), narrow in 0.3..0.8, yielding in 0.02..0.06,
    ) {
        let (force, highest) = (hand.force_max(), hand.opening_range().1);
        let mut bench = Bench::new(hand, highest * (narrow + 0.1), yielding);
        bench.passed = 0.9;
        bench.width = narrow * highest;
        bench.hardness = 2.0 * force / (0.1 * yielding * highest);
        bench.grip.set_task(GripTask::Close { force, slow_below: bench.width + 0.004 });
        for _ in 0..20_000 {
            bench.tick();
        }
        let settled = bench.press(bench.position);
        prop_assert!((settled - force).abs() < 0.05 + 0.02 * force, "{settled} N for {force} N");
    }

    #[test]
    fn a_free_hand_goes_to_any_opening_no_faster_than_asked(
        hand in hand(), from in 0.0..1.0, to in 0.0..1.0, speed in 0.02..0.2,
    ) {
        let (lowest, highest) = hand.opening_range();
        let at = |share: f64| lowest + share * (highest - lowest);
        let mut bench = Bench::new(hand, at(from), 0.1);
        bench.grip.set_task(GripTask::MoveTo { opening: at(to), speed });
        let mut opening = at(from);
        let mut left = highest / speed + 0.1;
        while left > 0.0 {
            left -= PERIOD;
            bench.tick();
            let now = bench.hand.opening(bench.position);
            prop_assert!((now - opening).abs() <= 1.01 * speed * PERIOD, "{} m/s", (now - opening) / PERIOD);
            opening = now;
        }
        prop_assert!((opening - at(to)).abs() < 1e-6, "{opening} for {}", at(to));
    }

    /// Which finger is the left one makes no difference to what the hand does.
    #[test]
    fn mirrored_fingers_get_the_same_targets(
        hand in hand(), forces in prop::collection::vec((0.0..10.0, 0.0..10.0), 50), share in 0.1..0.7,
    ) {
        let force = share * hand.force_max();
        let middle = 0.5 * hand.opening_range().1;
        let bench = Bench::new(hand, middle, 0.1);
        let (mut grip, mut mirrored) = (bench.grip.clone(), bench.grip.clone());
        for grip in [&mut grip, &mut mirrored] {
            grip.set_task(GripTask::Close { force, slow_below: middle + 0.01 });
        }
        let finger = |normal| FingerForce { normal, ..FingerForce::default() };
        for (left, right) in forces {
            let (left, right) = (finger(left), finger(right));
            let one = grip.tick(bench.hand.as_ref(), bench.position, &[left, right], PERIOD);
            let other = mirrored.tick(bench.hand.as_ref(), bench.position, &[right, left], PERIOD);
            prop_assert_eq!(one, other);
        }
    }
}
