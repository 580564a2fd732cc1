//! The ZMP of solved motions, computed again by the full rigid-body dynamics of the robot `anthropomorphic`:
//! the wrench on its floating pelvis that inverse dynamics asks for is what the floor has to give.

#![expect(clippy::unwrap_used, reason = "a test")]

use karakuri_dynamics::{Data, rnea};
use karakuri_gait::compensation::*;
use karakuri_model::{Base, Model, NoAssets, Source, load};
use serde::Deserialize;

#[derive(Deserialize)]
struct File {
    steady: SteadySpec,
}

fn model() -> Model {
    let text = include_str!("../../../../urdf/anthropomorphic/anthropomorphic.urdf");
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
    let tau = rnea(model, data, &q, &v, &a, &[]);
    let (force, moment) = ([tau[0], tau[1], tau[2]], [tau[3], tau[4]]);
    // Moment about the point under the pelvis, on the floor.
    let [mx, my] = [moment[0] - q[2] * force[1], moment[1] + q[2] * force[0]];
    [q[0] - my / force[2], q[1] + mx / force[2]]
}

#[test]
fn full_dynamics_see_the_prescribed_zmp() {
    let model = model();
    let mut data = Data::new(&model);
    let body = BodyData::default();
    assert!((model.mass() - body.mass()).abs() < 1e-6);
    let h9 = include_str!("../../../../config/gaits/h9.yaml");
    let h2 = include_str!("../../../../config/gaits/h2.yaml");
    for (name, text) in [("h9", h9), ("h2", h2)] {
        let gait = SteadyGait::new(&serde_yaml::from_str::<File>(text).unwrap().steady).unwrap();
        for arms in [Arms::Fixed, Arms::Active, Arms::Passive] {
            let e = Equation { body: &body, gait: &gait, arms };
            let motion =
                find_periodic(&e, &State::zeros(), &PeriodicOptions::default()).unwrap().motion;
            let mut worst = 0.0_f64;
            for i in 0..=300 {
                let s = motion.sample(&body, f64::from(i) / 300.0);
                let [x, y] = zmp(&model, &mut data, &body, &s.posture);
                worst = worst.max((x - s.zmp[0]).abs()).max((y - s.zmp[1]).abs());
            }
            assert!(worst < 1e-6, "{name} {arms:?}: {worst} m");
        }
    }
}
