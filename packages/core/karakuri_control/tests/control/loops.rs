//! Closed loops through the public interface: who of several motors gives what, against closed forms, and all methods on the
//! loop mechanisms of the experiments, from moving starts.
#![expect(clippy::unwrap_used, reason = "a test says so")]

use std::sync::Arc;

use approx::assert_abs_diff_eq;
use karakuri_control::inverse_dynamics::{DesiredMotion, method};
use karakuri_control::nodal::{Mechanism, Rule, Scheme, Target};
use karakuri_dynamics::{Data, rnea};
use karakuri_model::{
    Base, JointKind, JointSpec, LinkSpec, LoopFrames, LoopSpec, Model, ModelBuilder,
};
use karakuri_spatial::{Inertia, Matrix3, Pose, Vector3};
use karakuri_testkit::{Random, random_vector};

const PIN: [bool; 6] = [false, false, false, true, true, false];
const WELD: [bool; 6] = [false, false, true, true, true, false];

fn at(x: f64, y: f64) -> Pose {
    Pose::from_translation(Vector3::new(x, y, 0.0))
}

fn hinge() -> JointKind {
    JointKind::Revolute { axis: Vector3::z() }
}

fn slide(axis: Vector3) -> JointKind {
    JointKind::Prismatic { axis }
}

fn rod(mass: f64, length: f64) -> Inertia {
    let i = mass * length * length / 12.0;
    let about_com = Matrix3::from_diagonal(&Vector3::new(0.01 * i, i, i));
    Inertia { mass, com: Vector3::new(0.5 * length, 0.0, 0.0), about_com }
}

fn ball(mass: f64, radius: f64) -> Inertia {
    let about_com = Matrix3::identity() * (0.4 * mass * radius * radius);
    Inertia { mass, com: Vector3::zeros(), about_com }
}

fn ground(name: &str) -> ModelBuilder {
    // Its plane x y stands upright.
    let upright = Pose::from_xyz_rpy([0.0; 3], [core::f64::consts::FRAC_PI_2, 0.0, 0.0]);
    ModelBuilder::new(name, Base::Fixed(upright)).link(LinkSpec::new("ground", Inertia::ZERO))
}

fn closed(name: &str, ends: [(&str, Pose); 2], locked: [bool; 6]) -> LoopSpec {
    let [(link_a, a), (link_b, b)] = ends;
    LoopSpec {
        name: name.to_owned(),
        link_a: link_a.to_owned(),
        link_b: link_b.to_owned(),
        frames: LoopFrames::OnLinks { a, b },
        locked,
        posture: None,
    }
}

// ------------------------------------------------------------------ shares

/// Of the block between the fingers. [kg]
const BLOCK: f64 = 0.3;
/// Of each finger. [kg]
const FINGER: f64 = 0.2;
/// From a finger to the block's middle. [m]
const HALF: f64 = 0.1;

/// A block between two fingers that slide both ways; nothing else holds it. Slides along x carry slides along y.
fn held_block(locked: [bool; 6], rule: Rule) -> Mechanism {
    let nothing = ball(0.0, 0.0);
    let mut builder = ground("held");
    for (name, x, carried) in
        [("left", -HALF, FINGER), ("right", HALF, FINGER), ("block", 0.0, 0.0)]
    {
        let (rail, cart) = (format!("{name}_x"), format!("{name}_y"));
        builder = builder
            .link(LinkSpec::new(&rail, nothing))
            .link(LinkSpec::new(&cart, if carried > 0.0 { ball(carried, 0.01) } else { nothing }))
            .joint(JointSpec::new(&rail, "ground", &rail, Some(slide(Vector3::x()))).at(at(x, 0.0)))
            .joint(JointSpec::new(&cart, &rail, &cart, Some(slide(Vector3::y()))));
    }
    let model = builder
        .link(LinkSpec::new("block", ball(BLOCK, 0.05)))
        .joint(JointSpec::new("block", "block_y", "block", Some(hinge())))
        .loop_joint(closed("left", [("left_y", at(0.0, 0.0)), ("block", at(-HALF, 0.0))], locked))
        .loop_joint(closed("right", [("right_y", at(0.0, 0.0)), ("block", at(HALF, 0.0))], locked))
        .build()
        .unwrap();
    let mut mechanism = Mechanism { rule, ..Mechanism::new(Arc::new(model)) };
    for name in ["block_x", "block_y", "block"] {
        let k = dof(&mechanism.model, name);
        mechanism.driven[k] = false;
    }
    mechanism
}

fn dof(model: &Model, joint: &str) -> usize {
    model.joints[model.joint(joint).unwrap().0].v_start
}

/// Efforts of `[left_x, left_y, right_x, right_y]` and the forces on the block, while all is pushed along x with 2 m/s².
fn pushed(locked: [bool; 6], rule: Rule) -> ([f64; 4], Vec<f64>) {
    let m = held_block(locked, rule);
    let model = Arc::clone(&m.model);
    let (n, dt) = (9, 1e-3);
    let mut q = vec![0.0; n * model.nq];
    for i in 0..n {
        for name in ["left_x", "right_x", "block_x"] {
            let joint = &model.joints[model.joint(name).unwrap().0];
            q[i * model.nq + joint.q_start] = (i as f64 * dt).powi(2);
        }
    }
    let target = Target { dt, q: &q, ..Target::default() };
    let torques = Scheme::new(m).torques(&target).unwrap();
    let tau = &torques.tau[4 * model.nv..5 * model.nv];
    let efforts = ["left_x", "left_y", "right_x", "right_y"].map(|name| tau[dof(&model, name)]);
    let width = torques.lambda.len() / n;
    (efforts, torques.lambda[4 * width..5 * width].to_vec())
}

const PUSH: f64 = 2.0;
const G: f64 = 9.81;

#[test]
fn least_norm_shares_the_push_equally() {
    let ([left, _, right, _], forces) = pushed(PIN, Rule::LeastNorm);
    let all = (BLOCK + 2.0 * FINGER) * PUSH;
    assert_abs_diff_eq!(left, 0.5 * all, epsilon = 1e-7);
    assert_abs_diff_eq!(right, 0.5 * all, epsilon = 1e-7);
    let each = [0.5 * BLOCK * PUSH, 0.5 * BLOCK * G];
    for (force, expected) in forces.iter().zip(each.iter().chain(&each)) {
        assert_abs_diff_eq!(force, expected, epsilon = 1e-7);
    }
}

#[test]
fn weights_share_by_the_squares_of_the_ratings() {
    let mut ratings = vec![1.0; 7];
    ratings[dof(&held_block(PIN, Rule::LeastNorm).model, "left_x")] = 2.0;
    let ([left, left_y, right, right_y], _) = pushed(PIN, Rule::Weighted(ratings));
    // Least (l/2)² + r² with l + r given: l = 4 r.
    let all = (BLOCK + 2.0 * FINGER) * PUSH;
    assert_abs_diff_eq!(left, 0.8 * all, epsilon = 1e-7);
    assert_abs_diff_eq!(right, 0.2 * all, epsilon = 1e-7);
    // Who carries what of the weight is not free: the moments about the block's middle say it.
    for effort in [left_y, right_y] {
        assert_abs_diff_eq!(effort, (FINGER + 0.5 * BLOCK) * G, epsilon = 1e-7);
    }
}

#[test]
fn a_ratio_gives_each_chain_its_share_of_the_load() {
    for share in [0.0, 0.3, 1.0] {
        let ([left, left_y, right, right_y], forces) =
            pushed(WELD, Rule::Ratio(vec![share, 1.0 - share]));
        assert_abs_diff_eq!(left, (FINGER + share * BLOCK) * PUSH, epsilon = 1e-7);
        assert_abs_diff_eq!(right, (FINGER + (1.0 - share) * BLOCK) * PUSH, epsilon = 1e-7);
        assert_abs_diff_eq!(left_y, (FINGER + share * BLOCK) * G, epsilon = 1e-7);
        assert_abs_diff_eq!(right_y, (FINGER + (1.0 - share) * BLOCK) * G, epsilon = 1e-7);
        // Each alone balances the moment of its share about its own grip: moment, force along x, along y.
        let moment = BLOCK * G * HALF;
        let both = [(share, moment), (1.0 - share, -moment)];
        for (lambda, (share, moment)) in forces.chunks(3).zip(both) {
            assert_abs_diff_eq!(lambda[0], share * moment, epsilon = 1e-7);
            assert_abs_diff_eq!(lambda[1], share * BLOCK * PUSH, epsilon = 1e-7);
            assert_abs_diff_eq!(lambda[2], share * BLOCK * G, epsilon = 1e-7);
        }
    }
}

#[test]
fn a_squeeze_stays_beside_the_push() {
    for squeeze in [0.5, 0.0, -0.2] {
        let rule = Rule::Squeeze { contacts: [0, 1], force: squeeze };
        let ([left, _, right, _], forces) = pushed(PIN, rule);
        let half = 0.5 * BLOCK * PUSH;
        assert_abs_diff_eq!(forces[0], half + squeeze, epsilon = 1e-7);
        assert_abs_diff_eq!(forces[2], half - squeeze, epsilon = 1e-7);
        assert_abs_diff_eq!(left, FINGER * PUSH + half + squeeze, epsilon = 1e-7);
        assert_abs_diff_eq!(right, FINGER * PUSH + half - squeeze, epsilon = 1e-7);
    }
}

// ----------------------------------------------------------------- methods

/// Ground, crank, coupler and rocker; the last two meet in a pin.
fn four_bar(crank: f64, coupler: f64, rocker: f64, between: f64) -> Model {
    ground("four_bar")
        .link(LinkSpec::new("crank", rod(1.0, crank)))
        .link(LinkSpec::new("coupler", rod(2.0, coupler)))
        .link(LinkSpec::new("rocker", rod(1.0, rocker)))
        .joint(JointSpec::new("crank", "ground", "crank", Some(hinge())))
        .joint(JointSpec::new("coupler", "crank", "coupler", Some(hinge())).at(at(crank, 0.0)))
        .joint(JointSpec::new("rocker", "ground", "rocker", Some(hinge())).at(at(between, 0.0)))
        .loop_joint(closed(
            "pin",
            [("coupler", at(coupler, 0.0)), ("rocker", at(rocker, 0.0))],
            PIN,
        ))
        .build()
        .unwrap()
}

/// Two planar arms and what they hold, which slides and turns without motors.
fn two_arms() -> Model {
    let mut builder = ground("two_arms");
    for (side, x) in [("left", -0.15), ("right", 0.15)] {
        let [upper, fore] = ["upper", "fore"].map(|link| format!("{side}_{link}"));
        builder = builder
            .link(LinkSpec::new(&upper, rod(0.25, 0.2)))
            .link(LinkSpec::new(&fore, rod(0.2, 0.2)))
            .joint(JointSpec::new(&upper, "ground", &upper, Some(hinge())).at(at(x, 0.0)))
            .joint(JointSpec::new(&fore, &upper, &fore, Some(hinge())).at(at(0.2, 0.0)));
    }
    let pin = |side: &str, x: f64| {
        let fore = format!("{side}_fore");
        closed(side, [(&fore, at(0.2, 0.0)), ("block", at(x, 0.0))], PIN)
    };
    builder
        .link(LinkSpec::new("along", ball(1e-3, 0.01)))
        .link(LinkSpec::new("across", ball(1e-3, 0.01)))
        .link(LinkSpec::new("block", ball(0.018, 0.03)))
        .joint(
            JointSpec::new("along", "ground", "along", Some(slide(Vector3::x()))).at(at(0.0, 0.25)),
        )
        .joint(JointSpec::new("across", "along", "across", Some(slide(Vector3::y()))))
        .joint(JointSpec::new("block", "across", "block", Some(hinge())))
        .loop_joint(pin("left", -0.03))
        .loop_joint(pin("right", 0.03))
        .build()
        .unwrap()
}

/// Largest difference over the largest effort.
fn difference(a: &[f64], b: &[f64]) -> f64 {
    let scale = b.iter().fold(f64::MIN_POSITIVE, |s, x| s.max(x.abs()));
    a.iter().zip(b).fold(0.0, |e: f64, (a, b)| e.max((a - b).abs())) / scale
}

/// All methods on a mechanism near a closed posture, at random rates.
fn agree(model: &Model, posture: &[(&str, f64)], drives: &[&str], seed: u64) {
    let mut driven = vec![false; model.nv];
    for name in drives {
        driven[dof(model, name)] = true;
    }
    let mut random = Random::new(seed);
    for _ in 0..40 {
        let mut q = model.neutral_position();
        for (name, q0) in posture {
            q[model.joints[model.joint(name).unwrap().0].q_start] =
                q0 + random.uniform(-0.05, 0.05);
        }
        let [v, vdot] = [(); 2].map(|()| random_vector(model.nv, &mut random));
        let motion = DesiredMotion { q: &q, v: &v, vdot: &vdot, driven: &driven, external: &[] };
        let efforts = |name: &str| {
            let mut tau = vec![f64::NAN; model.nv];
            let realised = method(name, model).unwrap().efforts(model, &motion, &mut tau);
            assert!(realised.loop_gap < 1e-9, "{name}, {drives:?}: {realised:?}");
            assert!(realised.missing_effort < 1e-6, "{name}, {drives:?}: {realised:?}");
            tau
        };
        let exact = efforts("recursive");
        for (name, tolerance) in [("simulated", 1e-9), ("nodal", 1e-5)] {
            let error = difference(&efforts(name), &exact);
            assert!(error < tolerance, "{}, {name}, {drives:?}: {error:.1e}", model.name);
        }
    }
}

#[test]
fn all_methods_agree_on_the_four_bar() {
    let model = four_bar(0.2, 0.5, 0.4, 0.5);
    let posture = [("crank", 1.2), ("coupler", -0.75), ("rocker", 1.7)];
    for drives in [&["crank"][..], &["crank", "rocker"], &["crank", "coupler", "rocker"]] {
        agree(&model, &posture, drives, 1);
    }
}

#[test]
fn all_methods_agree_on_the_parallelogram() {
    let model = four_bar(0.4, 1.0, 0.4, 1.0);
    let posture = [("crank", 1.0), ("coupler", -1.0), ("rocker", 1.0)];
    for drives in [&["crank"][..], &["crank", "rocker"]] {
        agree(&model, &posture, drives, 2);
    }
}

#[test]
fn all_methods_agree_on_two_arms_with_a_block() {
    let model = two_arms();
    let posture = [
        ("left_upper", 2.16),
        ("left_fore", -1.73),
        ("right_upper", 1.45),
        ("right_fore", 1.43),
        ("along", -0.05),
        ("across", 0.0),
        ("block", 0.0),
    ];
    let drives = ["left_upper", "left_fore", "right_upper", "right_fore"];
    agree(&model, &posture, &drives, 3);
    // Without the right elbow's motor it would be near a dead point: its link points at the block.
    agree(&model, &posture, &[drives[0], drives[1], drives[3]], 4);
}

#[test]
fn a_fast_motion_is_closed_at_every_sample() {
    // 20 rad/s, round and round, at 1 kHz; what is measured of the passive joints is wrong by up to 0.02 rad.
    let model = four_bar(0.2, 0.5, 0.4, 0.5);
    let k = dof(&model, "crank");
    let mut driven = vec![false; model.nv];
    driven[k] = true;
    let mut random = Random::new(6);
    for name in ["recursive", "nodal", "simulated"] {
        let mut followed = method(name, &model).unwrap();
        let mut q = vec![1.2, -0.75, 1.7];
        let [mut tau, mut fresh, mut again] = [(); 3].map(|()| vec![f64::NAN; model.nv]);
        for sample in 0..1000 {
            q[k] = 1.2 + 0.02 * f64::from(sample);
            Mechanism { driven: driven.clone(), ..Mechanism::new(Arc::new(model.clone())) }
                .close(1e-3, &mut q)
                .unwrap();
            let mut measured = q.clone();
            for other in (0..model.nq).filter(|&i| i != k) {
                measured[other] += random.uniform(-0.02, 0.02);
            }
            let (v, vdot) = ([20.0, 0.0, 0.0], [300.0, 0.0, 0.0]);
            let motion =
                DesiredMotion { q: &measured, v: &v, vdot: &vdot, driven: &driven, external: &[] };
            let realised = followed.efforts(&model, &motion, &mut tau);
            assert!(realised.loop_gap < 1e-12, "{name}, sample {sample}: {realised:?}");
            let mut alone = method(name, &model).unwrap();
            alone.efforts(&model, &DesiredMotion { q: &q, ..motion }, &mut fresh);
            let error = difference(&tau, &fresh);
            // Its stencil divides the last bits of positions by the square of its step.
            let tolerance = if name == "nodal" { 1e-7 } else { 1e-9 };
            assert!(error < tolerance, "{name}, sample {sample}: {error:.1e}");
            // Restarted, it gives the very bits of one that never saw the motion.
            if sample % 100 == 99 {
                followed.restart();
                followed.efforts(&model, &motion, &mut again);
                method(name, &model).unwrap().efforts(&model, &motion, &mut fresh);
                assert_eq!(again, fresh, "{name}, sample {sample}");
            }
        }
    }
}

#[test]
fn a_jump_to_the_other_branch_is_followed() {
    let model = four_bar(0.2, 0.5, 0.4, 0.5);
    let mut driven = vec![false; model.nv];
    driven[dof(&model, "crank")] = true;
    let mut followed = method("recursive", &model).unwrap();
    let still = vec![0.0; model.nv];
    // The coupler above the rocker's end, then below.
    for q in [[1.2, -0.75, 1.7], [1.2, -2.6, -2.2], [1.2, -0.75, 1.7]] {
        let motion =
            DesiredMotion { q: &q, v: &still, vdot: &still, driven: &driven, external: &[] };
        let [mut tau, mut fresh] = [(); 2].map(|()| vec![f64::NAN; model.nv]);
        let realised = followed.efforts(&model, &motion, &mut tau);
        assert!(realised.loop_gap < 1e-12, "{realised:?}");
        method("recursive", &model).unwrap().efforts(&model, &motion, &mut fresh);
        assert_eq!(tau, fresh, "{q:?}");
    }
}

#[test]
fn the_recursion_on_a_tree_is_newton_and_euler() {
    let model = four_bar(0.2, 0.5, 0.4, 0.5);
    let mut random = Random::new(5);
    let mut tree = model.clone();
    tree.loops.clear();
    for _ in 0..20 {
        let [q, v, vdot] = [(); 3].map(|()| random_vector(tree.nv, &mut random));
        let driven = vec![true; tree.nv];
        let motion = DesiredMotion { q: &q, v: &v, vdot: &vdot, driven: &driven, external: &[] };
        let mut tau = vec![0.0; tree.nv];
        let _ = method("recursive", &tree).unwrap().efforts(&tree, &motion, &mut tau);
        let truth = rnea(&tree, &mut Data::new(&tree), &q, &v, &vdot, &[]).to_vec();
        assert!(difference(&tau, &truth) < 1e-12);
    }
}
