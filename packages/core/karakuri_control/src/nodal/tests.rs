use std::sync::Arc;

use approx::assert_abs_diff_eq;
use karakuri_dynamics::{Data, integrate, rnea};
use karakuri_model::{
    Base, BodyId, JointKind, JointSpec, LinkSpec, LoopFrames, LoopSpec, Model, ModelBuilder,
};
use karakuri_spatial::{Inertia, Matrix3, Pose, Vector3};
use karakuri_testkit::{Kind, Random, random_position, random_tree, random_vector};

use super::*;
use crate::inverse_dynamics::{DesiredMotion, METHODS, method};

const DOWN: Vector3 = Vector3::new(0.0, -9.81, 0.0);
const Z: JointKind = JointKind::Revolute { axis: Vector3::new(0.0, 0.0, 1.0) };

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few thousand")]
fn steps(duration: f64, dt: f64) -> usize {
    (duration / dt).round() as usize
}

/// Uniform slender rod along x. [kg], [m]
fn rod(mass: f64, length: f64) -> Inertia {
    let i = mass * length * length / 12.0;
    let about_com = Matrix3::from_diagonal(&Vector3::new(0.0, i, i));
    Inertia { mass, com: Vector3::new(0.5 * length, 0.0, 0.0), about_com }
}

fn along(x: f64) -> Pose {
    Pose::from_translation(Vector3::new(x, 0.0, 0.0))
}

/// The two links of the worked examples.
fn two_links() -> Mechanism {
    let model = ModelBuilder::new("two_links", Base::Fixed(Pose::IDENTITY))
        .link(LinkSpec::new("ground", Inertia::ZERO))
        .link(LinkSpec::new("upper", rod(1.0, 0.5)))
        .link(LinkSpec::new("fore", rod(0.8, 0.4)))
        .joint(JointSpec::new("shoulder", "ground", "upper", Some(Z)))
        .joint(JointSpec::new("elbow", "upper", "fore", Some(Z)).at(along(0.5)))
        .build()
        .unwrap();
    Mechanism { gravity: DOWN, ..Mechanism::new(Arc::new(model)) }
}

/// Cranks of 0.4 m, 1 kg; coupler of 1 m, 2 kg; the pin between coupler and rocker is the loop joint.
fn parallelogram(driven: [bool; 3]) -> Mechanism {
    let frames = LoopFrames::OnLinks { a: along(1.0), b: along(0.4) };
    let model = ModelBuilder::new("parallelogram", Base::Fixed(Pose::IDENTITY))
        .link(LinkSpec::new("ground", Inertia::ZERO))
        .link(LinkSpec::new("crank", rod(1.0, 0.4)))
        .link(LinkSpec::new("coupler", rod(2.0, 1.0)))
        .link(LinkSpec::new("rocker", rod(1.0, 0.4)))
        .joint(JointSpec::new("crank", "ground", "crank", Some(Z)))
        .joint(JointSpec::new("coupler", "crank", "coupler", Some(Z)).at(along(0.4)))
        .joint(JointSpec::new("rocker", "ground", "rocker", Some(Z)).at(along(1.0)))
        .loop_joint(LoopSpec {
            name: "pin".to_owned(),
            link_a: "coupler".to_owned(),
            link_b: "rocker".to_owned(),
            frames,
            locked: [false, false, false, true, true, false],
            posture: None,
        })
        .build()
        .unwrap();
    let mut mechanism = Mechanism { gravity: DOWN, ..Mechanism::new(Arc::new(model)) };
    for (name, driven) in ["crank", "coupler", "rocker"].into_iter().zip(driven) {
        let joint = mechanism.model.joint(name).unwrap();
        let k = mechanism.model.joints[joint.0].v_start;
        mechanism.driven[k] = driven;
    }
    mechanism
}

/// Positions, velocities and accelerations at equal steps.
struct Motions {
    dt: f64,
    q: Vec<f64>,
    v: Vec<f64>,
    vdot: Vec<f64>,
}

impl Motions {
    fn new(dt: f64, n: usize, at: impl Fn(f64) -> [Vec<f64>; 3]) -> Self {
        let mut motions = Self { dt, q: vec![], v: vec![], vdot: vec![] };
        for i in 0..n {
            let [q, v, vdot] = at(i as f64 * dt);
            motions.q.extend(q);
            motions.v.extend(v);
            motions.vdot.extend(vdot);
        }
        motions
    }

    fn target(&self) -> Target<'_> {
        Target { dt: self.dt, q: &self.q, v: &self.v, vdot: &self.vdot, forces: &[] }
    }
}

/// `a + b (1 − cos w t)` and its derivatives.
fn cosine(a: f64, b: f64, w: f64, t: f64) -> [f64; 3] {
    let (sin, cos) = (w * t).sin_cos();
    [a + b * (1.0 - cos), b * w * sin, b * w * w * cos]
}

fn both(first: [f64; 3], second: [f64; 3]) -> [Vec<f64>; 3] {
    core::array::from_fn(|k| vec![first[k], second[k]])
}

/// The motion of the worked recursion example.
fn swing(t: f64) -> [Vec<f64>; 3] {
    let pi = core::f64::consts::PI;
    both(cosine(0.5, 0.4, pi, t), cosine(-0.8, -0.3, 2.0 * pi, t))
}

/// Largest error over the largest exact effort.
fn largest_error(tau: &[f64], exact: &[f64]) -> f64 {
    let scale = exact.iter().fold(0.0, |s: f64, x| s.max(x.abs()));
    tau.iter().zip(exact).fold(0.0, |e: f64, (t, x)| e.max((t - x).abs()))
        / scale.max(f64::MIN_POSITIVE)
}

fn exact(mechanism: &Mechanism, m: &Motions) -> Vec<f64> {
    Scheme::new(mechanism.clone()).exact(&m.target()).unwrap().tau
}

#[test]
fn two_links_by_hand() {
    let m = two_links();
    let mut tau = [0.0; 2];
    let mut stencil = Stencil::new(&m.model, m.gravity);
    let motion: [&[f64]; 3] = [&[0.5, -0.8], &[1.2, -0.7], &[2.0, 3.0]];
    stencil.efforts(&m.model, motion, &[], &mut tau);
    assert_abs_diff_eq!(tau[0], 8.197_265, epsilon = 2e-6);
    assert_abs_diff_eq!(tau[1], 1.741_663, epsilon = 2e-6);
}

#[test]
fn a_force_at_the_tip_enters_its_slot() {
    let mut m = two_links();
    let point = Vector3::new(0.4, 0.0, 0.0);
    m.force_points.push(ForcePoint { name: "tip".to_owned(), body: BodyId(1), point });
    // Constant rates: about t = 0.2 s the example's state, in quadratics.
    let state = |q: f64, v: f64, a: f64, t: f64| [q + v * t + 0.5 * a * t * t, v + a * t, a];
    let dt = 1e-3;
    let motions = Motions::new(dt, 9, |t| {
        let t = t - 4.0 * dt;
        both(state(0.5, 1.2, 2.0, t), state(-0.8, -0.7, 3.0, t))
    });
    let forces = [3.0, -1.0, 0.0].repeat(9);
    let target = Target { forces: &forces, ..motions.target() };
    let tau = Scheme::new(m).torques(&target).unwrap().tau;
    assert_abs_diff_eq!(tau[8], 7.011_825, epsilon = 1e-5);
    assert_abs_diff_eq!(tau[9], 1.714_153, epsilon = 1e-5);
}

#[test]
fn the_worked_recursion() {
    let cases = [
        (10e-3, Variant::Newmark, [6.008_033, 1.758_792]),
        (10e-3, Variant::Central, [6.007_529, 1.758_131]),
        (10e-3, Variant::External, [6.012_499, 1.760_910]),
        (5e-3, Variant::Newmark, [6.007_644, 1.758_411]),
        (5e-3, Variant::Central, [6.007_518, 1.758_246]),
        (5e-3, Variant::External, [6.010_011, 1.759_598]),
        (2.5e-3, Variant::Newmark, [6.007_547, 1.758_316]),
        (2.5e-3, Variant::Central, [6.007_515, 1.758_275]),
        (2.5e-3, Variant::External, [6.008_763, 1.758_941]),
    ];
    for (dt, variant, expected) in cases {
        let at = steps(0.5, dt);
        let motions = Motions::new(dt, at + 5, swing);
        let scheme = Scheme { variant, ..Scheme::new(two_links()) };
        let tau = scheme.torques(&motions.target()).unwrap().tau;
        for (k, expected) in expected.into_iter().enumerate() {
            assert_abs_diff_eq!(tau[2 * at + k], expected, epsilon = 1.1e-6);
        }
    }
}

/// A ball joint and a hinge, with and without rotors: the difference is `armature v̇ + damping v`, of rates that are given and of
/// rates that are read from the positions.
#[test]
fn rotors_of_joints_with_several_degrees_of_freedom_count() {
    let robot = |armature: f64, damping: f64| {
        let ball = JointSpec::new("shoulder", "ground", "upper", Some(JointKind::Spherical));
        let hinge = JointSpec::new("elbow", "upper", "fore", Some(Z)).at(along(0.5));
        // A rod has no inertia about its axis, about which a ball joint turns it.
        let thick =
            |rod: Inertia| Inertia { about_com: rod.about_com + Matrix3::identity() * 1e-3, ..rod };
        let with_rotor = |joint: JointSpec| JointSpec { armature, damping, ..joint };
        let model = ModelBuilder::new("arm", Base::Fixed(Pose::IDENTITY))
            .link(LinkSpec::new("ground", Inertia::ZERO))
            .link(LinkSpec::new("upper", thick(rod(1.0, 0.5))))
            .link(LinkSpec::new("fore", thick(rod(0.8, 0.4))))
            .joint(with_rotor(ball))
            .joint(with_rotor(hinge))
            .build()
            .unwrap();
        Mechanism { gravity: DOWN, ..Mechanism::new(Arc::new(model)) }
    };
    let (armature, damping) = (0.3, 0.7);
    let (bare, turned) = (robot(0.0, 0.0), robot(armature, damping));
    // Turns with growing speed about an axis that stands still, so that its rate and its rate's rate are known.
    let axis = Vector3::new(0.48, -0.6, 0.64);
    let motions = Motions::new(1e-3, 200, |t| {
        let (angle, elbow) = (cosine(0.0, 0.6, 4.0, t), cosine(0.2, 0.5, 5.0, t));
        let half = axis * (0.5 * angle[0]).sin();
        let q = vec![half.x, half.y, half.z, (0.5 * angle[0]).cos(), elbow[0]];
        let rates = |k: usize| [(axis * angle[k]).as_slice(), &[elbow[k]]].concat();
        [q, rates(1), rates(2)]
    });
    for (given, tolerance) in [(true, 1e-9), (false, 1e-4)] {
        let target =
            if given { motions.target() } else { Target { v: &[], vdot: &[], ..motions.target() } };
        let [without, with] =
            [&bare, &turned].map(|m| Scheme::new(m.clone()).torques(&target).unwrap().tau);
        for k in 4..without.len() - 4 {
            let expected = armature * motions.vdot[k] + damping * motions.v[k];
            assert_abs_diff_eq!(with[k] - without[k], expected, epsilon = tolerance);
        }
    }
}

#[test]
fn a_cube_of_time_makes_newmark_ring() {
    let (mut v, mut a) = (0.0, 0.0);
    let u = |n: i32| (0.1 * f64::from(n)).powi(3);
    for (n, expected) in (1..).zip([0.4, 1.6, 1.2, 3.2]) {
        Variant::Newmark.advance(0.1, u(n) - u(n - 1), &mut v, &mut a);
        assert_abs_diff_eq!(a, expected, epsilon = 1e-12);
    }
}

#[test]
fn a_start_with_jerk_is_said_by_newmark_and_harmless_to_central() {
    let blend = |t: f64| {
        let x = t / 2.0;
        let q = x.powi(3) * (10.0 - 15.0 * x + 6.0 * x * x);
        let v = 15.0 * x * x * (1.0 - x) * (1.0 - x);
        let a = 15.0 * x * (1.0 - x) * (1.0 - 2.0 * x);
        both([q, v, a], [-q, -v, -a])
    };
    let motions = Motions::new(0.01, 201, blend);
    let mut scheme = Scheme::new(two_links());
    let truth = exact(&scheme.mechanism, &motions);
    let central = scheme.torques(&motions.target()).unwrap();
    assert!(largest_error(&central.tau, &truth) < 1e-4);
    assert_eq!(central.warnings, []);
    scheme.variant = Variant::Newmark;
    let newmark = scheme.torques(&motions.target()).unwrap();
    assert!(largest_error(&newmark.tau, &truth) > 0.02);
    assert!(matches!(newmark.warnings[..], [Warning::Ringing { .. }]), "{:?}", newmark.warnings);
}

#[test]
fn too_small_a_step_is_said() {
    let motions = Motions::new(1e-7, 50, swing);
    let torques = Scheme::new(two_links()).torques(&motions.target()).unwrap();
    let said = |w: &Warning| matches!(w, Warning::Rounding { suggested, .. } if *suggested > 1e-7);
    assert!(torques.warnings.iter().any(said), "{:?}", torques.warnings);
}

#[test]
fn converges_with_the_order_of_the_variant() {
    for nodes in [Nodes::Com, Nodes::Point] {
        for variant in [Variant::Central, Variant::Newmark, Variant::External] {
            let scheme = Scheme { variant, nodes, mechanism: two_links() };
            let error = |dt: f64| {
                let motions = Motions::new(dt, steps(1.0, dt) + 1, swing);
                let tau = scheme.torques(&motions.target()).unwrap().tau;
                largest_error(&tau, &exact(&scheme.mechanism, &motions))
            };
            let (coarse, fine) = (error(8e-3), error(2e-3));
            let order = (coarse / fine).ln() / 4.0_f64.ln();
            let expected = f64::from(variant.order());
            assert!((order - expected).abs() < 0.1, "{variant:?} {nodes:?}: order {order}");
        }
    }
}

#[test]
fn two_hundred_random_trees_agree_with_newton_and_euler() {
    for (seed, n_links) in (0..200).zip((1..=12).cycle()) {
        let base = if seed % 3 == 0 { Base::Floating } else { Base::Fixed(Pose::IDENTITY) };
        let model = random_tree(seed, n_links, base, Kind::ALL);
        let mut random = Random::new(seed);
        let q = random_position(&model, &mut random);
        let [v, vdot] = [(); 2].map(|()| random_vector(model.nv, &mut random));
        let truth = rnea(&model, &mut Data::new(&model), &q, &v, &vdot, &[]).to_vec();
        let gravity = Vector3::new(0.0, 0.0, -9.81);
        let mut tau = vec![0.0; model.nv];
        Stencil::new(&model, gravity).efforts(&model, [&q, &v, &vdot], &[], &mut tau);
        let error = largest_error(&tau, &truth);
        assert!(error < 1e-5, "seed {seed}: {error:.2e}");
    }
}

#[test]
fn random_trees_converge_and_their_order_is_two() {
    for seed in 0..20 {
        let model = Arc::new(random_tree(seed, 8, Base::Floating, Kind::ALL));
        let mut random = Random::new(seed);
        let middle = random_position(&model, &mut random);
        let [v, a] = [(); 2].map(|()| random_vector(model.nv, &mut random));
        let mechanism = Mechanism::new(Arc::clone(&model));
        // About the sample in the middle the path of every coordinate is a parabola.
        let truth = rnea(&model, &mut Data::new(&model), &middle, &v, &a, &[]).to_vec();
        let error = |dt: f64| {
            let mut target = Vec::new();
            for i in 0..9_i32 {
                let t = f64::from(i - 4) * dt;
                let rate: Vec<f64> =
                    v.iter().zip(&a).map(|(v, a)| v * t + 0.5 * a * t * t).collect();
                let mut q = middle.clone();
                integrate(&model, &middle, &rate, 1.0, &mut q);
                target.extend(q);
            }
            let target = Target { dt, q: &target, ..Target::default() };
            let nodes = if seed % 2 == 0 { Nodes::Com } else { Nodes::Point };
            let scheme = Scheme { nodes, ..Scheme::new(mechanism.clone()) };
            let tau = scheme.torques(&target).unwrap().tau;
            largest_error(&tau[4 * model.nv..5 * model.nv], &truth)
        };
        let order = (error(1e-2) / error(2.5e-3)).ln() / 4.0_f64.ln();
        assert!((1.9..2.1).contains(&order), "seed {seed}: order {order}");
    }
}

/// The parallelogram about a crank angle of 60°, 4 samples on either side.
fn crank_motion(mechanism: &Mechanism, dt: f64) -> Motions {
    let joint = |name: &str| mechanism.model.joint(name).unwrap().0;
    let (crank, coupler, rocker) = (joint("crank"), joint("coupler"), joint("rocker"));
    Motions::new(dt, 9, |t| {
        let t = t - 4.0 * dt;
        let values = [60.0_f64.to_radians() + 2.0 * t + 0.5 * t * t, 2.0 + t, 1.0];
        values.map(|x| {
            let mut all = vec![0.0; 3];
            (all[crank], all[coupler], all[rocker]) = (x, -x, x);
            all
        })
    })
}

#[test]
fn parallelogram_by_hand() {
    let dt = 1e-4;
    for (driven, expected) in [
        ([true, false, false], [6.312_667, 0.0, 0.0]),
        ([true, false, true], [3.156_333, 0.0, 3.156_333]),
    ] {
        let m = parallelogram(driven);
        let motions = crank_motion(&m, dt);
        let names = ["crank", "coupler", "rocker"].map(|n| m.model.joint(n).unwrap().0);
        let tau = Scheme::new(m).torques(&motions.target()).unwrap().tau;
        for (k, expected) in names.into_iter().zip(expected) {
            assert_abs_diff_eq!(tau[4 * 3 + k], expected, epsilon = 2e-6);
        }
    }
    let m = Mechanism { rule: Rule::NoForce, ..parallelogram([true; 3]) };
    let motions = crank_motion(&m, dt);
    let names = ["crank", "coupler", "rocker"].map(|n| m.model.joint(n).unwrap().0);
    let tau = Scheme::new(m).torques(&motions.target()).unwrap().tau;
    for (k, expected) in names.into_iter().zip([13.902_693, 8.624_359, 1.034_333]) {
        assert_abs_diff_eq!(tau[4 * 3 + k], expected, epsilon = 5e-6);
    }
}

#[test]
fn weights_move_the_load_to_the_stronger_motor() {
    let mut m = parallelogram([true, false, true]);
    let [crank, rocker] = ["crank", "rocker"].map(|n| m.model.joint(n).unwrap().0);
    let mut ratings = vec![1.0; 3];
    ratings[crank] = 2.0;
    m.rule = Rule::Weighted(ratings);
    let motions = crank_motion(&m, 1e-4);
    let tau = Scheme::new(m).torques(&motions.target()).unwrap().tau;
    // Equal levers: efforts are as the squares of the ratings.
    assert_abs_diff_eq!(tau[12 + crank], 6.312_667 * 0.8, epsilon = 2e-6);
    assert_abs_diff_eq!(tau[12 + rocker], 6.312_667 * 0.2, epsilon = 2e-6);
}

#[test]
fn what_cannot_be_is_said() {
    let nobody = parallelogram([false; 3]);
    let motions = crank_motion(&nobody, 1e-4);
    let error = Scheme::new(nobody).torques(&motions.target()).unwrap_err();
    assert!(matches!(error, NodalError::UnderActuated { .. }), "{error}");

    let m = parallelogram([true, false, false]);
    let mut open = crank_motion(&m, 1e-4);
    open.q[4 * 3] += 1e-6;
    let error = Scheme::new(m.clone()).torques(&open.target()).unwrap_err();
    assert!(error.to_string().starts_with("loop `pin` is open by"), "{error}");
    m.close(1e-4, &mut open.q).unwrap();
    Scheme::new(m.clone()).torques(&motions.target()).unwrap();

    let few = Target { dt: 0.1, q: &motions.q[..9], ..Target::default() };
    assert_eq!(Scheme::new(m.clone()).torques(&few), Err(NodalError::TooFewSamples(3)));
    let external = Scheme { variant: Variant::External, ..Scheme::new(m.clone()) };
    let bare = Target { v: &[], vdot: &[], ..motions.target() };
    assert_eq!(external.torques(&bare), Err(NodalError::MissingRates("variant `external`")));
    let shares = Mechanism { rule: Rule::Ratio(vec![0.5]), ..m };
    let error = Scheme::new(shares).torques(&motions.target()).unwrap_err();
    assert_eq!(error.to_string(), "the rule does not fit: the shares add up to 0.5, not to 1");
}

#[test]
fn a_payload_is_one_more_node() {
    let (mut carried, point) = (two_links(), Vector3::new(0.4, 0.1, 0.0));
    carried.payloads.push(Payload { body: BodyId(1), point, mass: 0.7 });
    let mut welded = Model::clone(&carried.model);
    let ball = Inertia { mass: 0.7, com: point, about_com: Matrix3::zeros() };
    welded.bodies[1].inertia = welded.bodies[1].inertia.combined(&ball);
    let welded = Mechanism { model: Arc::new(welded), payloads: Vec::new(), ..carried.clone() };
    let motions = Motions::new(1e-3, 300, swing);
    let [a, b] = [carried, welded].map(|m| Scheme::new(m).torques(&motions.target()).unwrap().tau);
    assert!(largest_error(&a, &b) < 1e-6);
}

#[test]
fn the_sum_does_not_depend_on_stretches_nor_drift() {
    let pi = core::f64::consts::PI;
    let swing = |t: f64| both(cosine(0.5, 0.4, pi, t), cosine(-0.8, -0.3, 2.0 * pi, t));
    let motions = Motions::new(1e-3, 20_001, swing);
    let scheme = Scheme::new(two_links());
    let torques = scheme.torques(&motions.target()).unwrap();
    let truth = exact(&scheme.mechanism, &motions);
    // The ends are extrapolated, also at second order.
    let error =
        |run: core::ops::Range<usize>| largest_error(&torques.tau[run.clone()], &truth[run]);
    let (first, last, ends) = (error(10..8_000), error(32_000..39_990), error(0..40_002));
    assert!(last < 1.1 * first && first < 2e-6 && ends < 2e-5, "{first:.1e} {last:.1e} {ends:.1e}");
    let short = Motions::new(1e-3, 700, swing);
    let some = scheme.torques(&short.target()).unwrap();
    assert_eq!(some.tau[..1200], torques.tau[..1200]);
}

#[test]
fn all_methods_agree_on_the_loop() {
    let mut m = parallelogram([true, false, true]);
    m.gravity = Vector3::new(0.0, 0.0, -9.81);
    let motions = crank_motion(&m, 1e-3);
    let mut answers = Vec::new();
    for name in METHODS {
        let mut method = method(name, &m.model).unwrap();
        let (q, v, vdot) = (&motions.q[12..15], &motions.v[12..15], &motions.vdot[12..15]);
        let mut tau = vec![0.0; 3];
        let motion = DesiredMotion { q, v, vdot, driven: &m.driven, external: &[] };
        let realised = method.efforts(&m.model, &motion, &mut tau);
        assert!(realised.missing_effort < 1e-6, "{name}: {realised:?}");
        answers.push(tau);
    }
    for other in &answers[1..] {
        assert!(largest_error(&answers[0], other) < 1e-6, "{answers:?}");
    }
}

#[test]
fn every_lane_gives_the_same() {
    // At rest, whatever the sample.s place in a group of lanes or in a stretch.
    let model = random_tree(5, 6, Base::Floating, Kind::ALL);
    let rest = model.neutral_position();
    let scheme = Scheme::new(Mechanism::new(Arc::new(model)));
    for n in [5, 129, 1000] {
        let q = rest.repeat(n);
        let torques = scheme.torques(&Target { dt: 1e-3, q: &q, ..Target::default() }).unwrap();
        let (first, rest) = torques.tau.split_at(scheme.mechanism.model.nv);
        assert!(rest.chunks(first.len()).all(|tau| tau == first), "{n} samples at rest");
    }
}

/// A block on two slides and a hinge without motors, held by two fingers that slide in both directions.
fn held_block(rule: Rule) -> Mechanism {
    let speck = Inertia { mass: 0.1, com: Vector3::zeros(), about_com: Matrix3::identity() * 1e-4 };
    let slide = |axis: Vector3| Some(JointKind::Prismatic { axis });
    let mut builder = ModelBuilder::new("held", Base::Fixed(Pose::IDENTITY))
        .link(LinkSpec::new("ground", Inertia::ZERO));
    for (name, x) in [("left", -0.1), ("right", 0.1), ("block", 0.0)] {
        let (rail, cart) = (format!("{name}_x"), format!("{name}_y"));
        builder = builder
            .link(LinkSpec::new(&rail, speck))
            .link(LinkSpec::new(&cart, speck))
            .joint(JointSpec::new(&rail, "ground", &rail, slide(Vector3::x())).at(along(x)))
            .joint(JointSpec::new(&cart, &rail, &cart, slide(Vector3::y())));
    }
    let contact = |name: &str, x: f64| LoopSpec {
        name: name.to_owned(),
        link_a: format!("{name}_y"),
        link_b: "block".to_owned(),
        frames: LoopFrames::OnLinks { a: Pose::IDENTITY, b: along(x) },
        locked: [false, false, false, true, true, false],
        posture: None,
    };
    let model = builder
        .link(LinkSpec::new("block", speck))
        .joint(JointSpec::new("block", "block_y", "block", Some(Z)))
        .loop_joint(contact("left", -0.1))
        .loop_joint(contact("right", 0.1))
        .build()
        .unwrap();
    let mut mechanism = Mechanism { gravity: DOWN, rule, ..Mechanism::new(Arc::new(model)) };
    for name in ["block_x", "block_y", "block"] {
        let joint = mechanism.model.joint(name).unwrap().0;
        let k = mechanism.model.joints[joint].v_start;
        mechanism.driven[k] = false;
    }
    mechanism
}

#[test]
fn a_squeeze_is_kept_beside_the_load() {
    let m = held_block(Rule::Squeeze { contacts: [0, 1], force: 0.5 });
    let q = vec![0.0; 9 * m.model.nq];
    let target = Target { dt: 1e-3, q: &q, ..Target::default() };
    let torques = Scheme::new(m).torques(&target).unwrap();
    let [left, right] = [&torques.lambda[16..18], &torques.lambda[18..20]];
    // The block and its cart hang on the fingers, half on each; the rail is held by the ground.
    let weight = 0.5 * 0.2 * 9.81;
    assert_abs_diff_eq!(left[0], 0.5, epsilon = 1e-9);
    assert_abs_diff_eq!(right[0], -0.5, epsilon = 1e-9);
    assert_abs_diff_eq!(left[1], weight, epsilon = 1e-9);
    assert_abs_diff_eq!(right[1], weight, epsilon = 1e-9);
}
