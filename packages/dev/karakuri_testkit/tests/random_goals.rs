//! Goals one after the other, at random, cancelled and preempted: `arm6`'s efforts never step.

#![expect(clippy::unwrap_used, reason = "helpers of tests may panic as the tests do")]

use std::{path::Path, sync::Arc};

use karakuri_control::joint_trajectory::Goal;
use karakuri_control::trajectory::{JointTrajectory, TrajectoryPoint};
use karakuri_control::{Command, Controller, FeedforwardController, FeedforwardSettings, State};
use karakuri_model::{Base, Model};
use karakuri_spatial::{Pose, Time};
use karakuri_testkit::Random;

/// Period of the controller. [s]
const PERIOD: f64 = 0.002;
/// Start positions of the arm's joints. [rad]
const START: [f64; 6] = [0.0, -0.4, 1.9, 0.0708, 0.0, 0.0];

fn arm6() -> Model {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let (urdf, yaml) = (root.join("urdf/arm6/arm6.urdf"), root.join("config/arm6.yaml"));
    let base = Base::Fixed(Pose::IDENTITY);
    karakuri_files::load_robot(&urdf, Some(&yaml), Some(base)).unwrap().model
}

/// Goal near the start; half of the goals also have velocities and accelerations at their end, and some return to the start.
fn random_goal(model: &Model, random: &mut Random) -> Goal {
    let place = START.map(|q| q + random.uniform(-0.4, 0.4)).to_vec();
    let says = if random.uniform(0.0, 1.0) < 0.5 { vec![0.0; 6] } else { Vec::new() };
    let point = |time_from_start: f64, positions: Vec<f64>| TrajectoryPoint {
        time_from_start,
        positions,
        velocities: says.clone(),
        accelerations: says.clone(),
        efforts: Vec::new(),
    };
    let mut points = vec![point(random.uniform(0.4, 1.5), place)];
    if random.uniform(0.0, 1.0) < 0.3 {
        points.push(point(3.0, START.to_vec()));
    }
    let joints = model.groups[0].joints.iter().map(|j| model.joints[j.0].name.clone()).collect();
    Goal { trajectory: JointTrajectory { start: None, joints, points }, ..Goal::default() }
}

#[test]
fn random_goals_make_no_steps() {
    let model = Arc::new(arm6());
    let settings = FeedforwardSettings::default();
    let largest = settings.effort_rate * PERIOD;
    let mut controller = FeedforwardController::new(Arc::clone(&model), settings).unwrap();
    let mut command = Command::new(&model);
    let (mut q, mut v) = (model.neutral_position(), vec![0.0; model.nv]);
    let arm = model.groups[0].joints.clone();
    for (id, start) in arm.iter().zip(START) {
        q[model.joints[id.0].q_start] = start;
    }
    let mut random = Random::new(4);
    let now = |n: u32| Time::default().plus_seconds(1.0 + PERIOD * f64::from(n));
    let (mut last, mut n) = (Vec::new(), 0);
    for i in 0..1000 {
        let goal = random_goal(&model, &mut random);
        let machine = controller.machine_mut(0).unwrap();
        let id = (n > 0).then(|| machine.accept_goal(&goal, now(n - 1)).unwrap().0);
        let cancelled = random.below(250);
        for k in 0..=random.below(250) {
            if let Some(id) = id.filter(|_| k == cancelled) {
                controller.machine_mut(0).unwrap().cancel(id);
            }
            // The robot follows perfectly, so that any step of the efforts is the controller's own.
            let state = State { q: &q, v: &v, effort: &[] };
            let status = controller.update(&state, now(n), PERIOD, &mut command);
            assert_eq!(status.not_following, None, "goal {i}");
            n += 1;
            let efforts: Vec<f64> = arm.iter().map(|id| command.effort[id.0]).collect();
            for (id, (now, before)) in arm.iter().zip(efforts.iter().zip(&last)) {
                let joint = &model.joints[id.0];
                let step = f64::abs(now - before) / joint.limits.effort;
                assert!(step <= largest * (1.0 + 1e-9), "goal {i}, `{}`: {step}", joint.name);
                q[joint.q_start] = command.position[id.0];
                v[joint.v_start] = command.velocity[id.0];
            }
            last = efforts;
        }
    }
}
