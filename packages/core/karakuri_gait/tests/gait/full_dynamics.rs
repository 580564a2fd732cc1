//! The ZMP of solved motions, computed again by the full rigid-body dynamics of the robot `anthropomorphic`:
//! the wrench on its floating pelvis that inverse dynamics asks for is what the floor has to give.

#![expect(clippy::unwrap_used, reason = "a test")]

use karakuri_dynamics::Data;
use karakuri_gait::compensation::*;
use karakuri_gait::zmp::{WholeBodyMotion, whole_body_zmp};
use karakuri_model::{Base, Model, NoAssets, Source, load};
use karakuri_spatial::Vector3;
use karakuri_testkit::Random;
use serde::Deserialize;

#[derive(Deserialize)]
struct File {
    steady: Option<SteadySpec>,
    transient: Option<TransientSpec>,
}

fn model() -> Model {
    let text = include_str!("../../../../../urdf/anthropomorphic/anthropomorphic.urdf");
    let source = Source::urdf("anthropomorphic.urdf", text).with_base(Base::Floating);
    load(&source, &mut NoAssets).unwrap().model
}

/// Relative joint angles from the study's absolute ones; the pelvis never turns.
fn joints(p: &Posture, elbow: [f64; 2]) -> Vec<(String, Jet)> {
    let mut joints = vec![("waist_pitch".to_owned(), p.pitch)];
    for (i, side) in ["left", "right"].iter().enumerate() {
        let (thigh, shank) = (p.thigh[i], p.shank[i]);
        joints.extend(
            [
                ("shoulder_pitch", p.arm[i] - p.pitch),
                ("elbow_pitch", Jet::constant(-elbow[i])),
                ("hip_roll", p.sway),
                ("hip_pitch", thigh),
                ("knee_pitch", shank - thigh),
                ("ankle_pitch", -shank),
                ("ankle_roll", -p.sway),
            ]
            .map(|(name, jet)| (format!("{side}_{name}"), jet)),
        );
    }
    joints
}

/// ZMP on the floor from the full model. [m] (2)
fn zmp(model: &Model, data: &mut Data, body: &BodyData, p: &Posture) -> [f64; 2] {
    let (mut q, mut v, mut a) =
        (model.neutral_position(), vec![0.0; model.nv], vec![0.0; model.nv]);
    let pelvis = skeleton(body, p).center[2];
    for (i, jet) in [pelvis.x, pelvis.y, pelvis.z].into_iter().enumerate() {
        (q[i], v[i], a[i]) = (jet.value, jet.rate, jet.acceleration);
    }
    for (name, jet) in joints(p, p.elbow.forward) {
        let joint = &model.joints[model.joint(&name).unwrap().0];
        q[joint.q_start] = jet.value;
        v[joint.v_start] = jet.rate;
        a[joint.v_start] = jet.acceleration;
    }
    whole_body_zmp(model, data, &WholeBodyMotion { q: &q, v: &v, vdot: &a }, 0.0).zmp
}

/// The robot with other arms and another pelvis. [-, m]
fn model_of(body: &BodyData, factor: f64) -> Model {
    let mut model = model();
    let width = body.lengths.half_pelvis_width;
    for i in 0..model.joints.len() {
        let name = model.joints[i].name.clone();
        if name.ends_with("shoulder_pitch") || name.ends_with("elbow_pitch") {
            let inertia = &mut model.bodies[i].inertia;
            inertia.mass *= factor;
            inertia.about_com *= factor;
        }
        if name.ends_with("hip_roll") {
            let y = &mut model.joints[i].pose_in_parent.translation.y;
            *y = y.signum() * width;
        }
    }
    assert!((model.mass() / body.mass() - 1.0).abs() < 1e-9, "{} {}", model.mass(), body.mass());
    model
}

/// Largest distance between the prescribed ZMP and that of the full model, at 301 times of a step. [m]
fn worst(body: &BodyData, factor: f64, motion: &GaitMotion) -> f64 {
    let model = model_of(body, factor);
    let mut data = Data::new(&model);
    let at = |i: i32| {
        let s = motion.sample(body, f64::from(i) / 300.0);
        let [x, y] = zmp(&model, &mut data, body, &s.posture);
        (x - s.zmp[0]).abs().max((y - s.zmp[1]).abs())
    };
    (0..=300).map(at).fold(0.0, f64::max)
}

fn spec(name: &str) -> SteadySpec {
    let text = match name {
        "h9" => include_str!("../../../../../config/gaits/h9.yaml"),
        _ => include_str!("../../../../../config/gaits/h2.yaml"),
    };
    serde_yaml::from_str::<File>(text).unwrap().steady.unwrap()
}

fn gait(name: &str) -> SteadyGait {
    SteadyGait::new(&spec(name)).unwrap()
}

fn wide(width: f64, factor: f64) -> BodyData {
    let mut body = BodyData::default().with_arm_factor(factor);
    body.lengths.half_pelvis_width = width;
    body
}

#[test]
fn full_dynamics_see_the_prescribed_zmp() {
    let options = PeriodicOptions::default();
    for name in ["h9", "h2"] {
        let gait = gait(name);
        for (arms, width, factor) in [
            (Arms::Fixed, 0.085, 1.0),
            (Arms::Active, 0.085, 1.0),
            (Arms::Fixed, 0.17, 1.0),
            (Arms::Active, 0.17, 1.0),
            (Arms::Fixed, 0.085, 20.0),
            (Arms::Active, 0.085, 20.0),
            (Arms::Passive, 0.17, 1.0),
            (Arms::Passive, 0.085, 0.1),
            (Arms::Passive, 0.085, 1.0),
            (Arms::Passive, 0.085, 10.0),
            (Arms::Passive, 0.085, 20.0),
            (Arms::Passive, 0.085, 50.0),
        ] {
            let body = wide(width, factor);
            let e = Equation { body: &body, gait: &gait, arms };
            let motion = find_main_family(&e, &options).unwrap().motion;
            let worst = worst(&body, factor, &motion);
            assert!(worst < 1e-6, "{name} {arms:?} D {width} factor {factor}: {worst} m");
        }
    }
}

/// The other families of passive arms: a motion of each, from its start as printed by `karakuri gait study`.
#[test]
fn full_dynamics_see_the_prescribed_zmp_of_all_families() {
    let body = wide(0.085, 100.0);
    // B, D, CL, CR of each gait.
    for (name, start) in [
        ("h9", [0.002, -0.124, -0.127, -0.127, -0.284, 0.364, -0.463, -0.463]),
        ("h9", [0.005, -0.199, -0.267, -0.267, -0.288, -1.527, -4.341, -4.341]),
        ("h9", [0.006, 0.036, 0.359, 0.068, -0.330, 3.915, 6.860, 6.666]),
        ("h9", [0.007, 0.039, 0.079, 0.364, -0.247, 3.899, 6.644, 6.838]),
        ("h2", [0.001, -0.083, -0.163, -0.163, -0.283, 0.465, -0.527, -0.527]),
        ("h2", [0.007, -0.236, -0.441, -0.441, -0.283, -0.875, -3.424, -3.424]),
        ("h2", [0.004, 0.201, 0.711, 0.223, -0.337, 3.099, 5.885, 5.164]),
        ("h2", [0.011, 0.207, 0.239, 0.723, -0.224, 3.047, 5.091, 5.800]),
    ] {
        let (gait, start) = (gait(name), State::from(start));
        let e = Equation { body: &body, gait: &gait, arms: Arms::Passive };
        let found = find_periodic(&e, &start, &PeriodicOptions::default()).unwrap();
        let gap = (found.states[0] - start).amax();
        let worst = worst(&body, 100.0, &found.motion);
        assert!(worst < 1e-6 && gap < 0.05, "{name} {start}: {worst} m, {gap} away");
    }
}

/// Both arms swinging together, so many times as far as the trunk does with fixed arms: the study's figure 3.9.
#[test]
fn full_dynamics_see_the_prescribed_zmp_of_arms_that_swing_together() {
    let body = BodyData::default();
    for (name, gain) in [("h9", -2.0), ("h9", 2.0), ("h2", -2.0), ("h2", 2.0)] {
        let solve = |gait: &SteadyGait, arms| {
            let e = Equation { body: &body, gait, arms };
            find_periodic(&e, &State::zeros(), &PeriodicOptions::default()).unwrap()
        };
        let (fixed, spec) = (solve(&gait(name), Arms::Fixed), spec(name));
        // A gait's samples are of two steps, from its left foot's stance on.
        let sample = |k: u32| {
            let of_step = (k + 60 - spec.stance_sample) % 30;
            (k, gain * fixed.states[of_step as usize][1])
        };
        let arm = (1..=61).map(sample).collect();
        let swinging = SteadySpec { arm, arm_factor: 1.0, ..spec.clone() };
        let solved = solve(&SteadyGait::new(&swinging).unwrap(), Arms::Active);
        let worst = worst(&body, 1.0, &solved.motion);
        assert!(worst < 1e-6, "{name}, {gain} times the trunk: {worst} m");
    }
}

/// Starts and stops have no prescribed ZMP: theirs, on which their stability rests, is that of the full model.
#[test]
fn full_dynamics_see_the_zmp_of_starts_and_stops() {
    let start = include_str!("../../../../../config/gaits/ah2_start.yaml");
    let stop = include_str!("../../../../../config/gaits/h2_stop.yaml");
    let body = BodyData::default();
    let model = model();
    let mut data = Data::new(&model);
    for (name, text) in [("start", start), ("stop", stop)] {
        let spec = serde_yaml::from_str::<File>(text).unwrap().transient.unwrap();
        let transient = Transient::new(&spec, &body).unwrap();
        for best in [
            transient.minimize_off_center(&OptimizeOptions::default()),
            transient.maximize_margin(&OptimizeOptions::default()),
        ] {
            let compensation = transient.compensation(best.coefficients);
            for (time, ours, _) in transient.zmp_path(best.coefficients) {
                let posture = transient.posture(&compensation, time);
                let full = zmp(&model, &mut data, &body, &posture);
                let gap = (ours[0] - full[0]).abs().max((ours[1] - full[1]).abs());
                assert!(gap < 1e-6, "{name} at {time} s: {gap} m");
            }
        }
    }
}

/// A jet of any size that a gait has.
fn random_jet(random: &mut Random) -> Jet {
    let mut part = |size: f64| random.uniform(-size, size);
    Jet::new(part(0.6), part(3.0), part(20.0))
}

/// Joint moments against the wrenches that the recursion of the full model hands through its joints.
#[test]
fn joint_moments_are_those_of_the_full_model() {
    let model = model();
    let mut data = Data::new(&model);
    let body = BodyData::default();
    let mut random = Random::new(7);
    for _ in 0..50 {
        let mut jet = || random_jet(&mut random);
        let posture = Posture {
            sway: jet(),
            pitch: jet(),
            thigh: [jet(), jet()],
            shank: [jet(), jet()],
            arm: [jet(), jet()],
            foot: Jet::default(),
            elbow: Elbow { inward: 0.0, forward: [0.15, 0.4] },
        };
        zmp(&model, &mut data, &body, &posture);
        let places = skeleton(&body, &posture);
        for (moment, (joint, place, is_support)) in joint_moments(&body, &posture).iter().zip([
            ("left_ankle_roll", places.ankle[LEFT], true),
            ("left_knee_pitch", places.knee[LEFT], true),
            ("left_hip_roll", places.hip[LEFT], true),
            ("waist_pitch", places.waist, false),
            ("left_shoulder_pitch", places.shoulder[LEFT], false),
            ("left_elbow_pitch", places.elbow[LEFT], false),
            ("right_shoulder_pitch", places.shoulder[RIGHT], false),
            ("right_elbow_pitch", places.elbow[RIGHT], false),
            ("right_hip_roll", places.hip[RIGHT], false),
            ("right_knee_pitch", places.knee[RIGHT], false),
            ("right_ankle_roll", places.ankle[RIGHT], false),
        ]) {
            let through = data.joint_force[model.joint(joint).unwrap().0];
            // The floor holds the left foot: what is beyond its joints is all but the leg below.
            let beyond = if is_support { data.joint_force[0] - through } else { through };
            let arm = Vector3::from(place.position()) - data.origin;
            let about = beyond.moment - arm.cross(&beyond.force);
            for axis in 0..2 {
                let gap = (about[axis] - moment.moment[axis]).abs();
                assert!(gap < 1e-8 * (1.0 + about.norm()), "{}: {gap} N·m", moment.joint);
            }
        }
    }
}
