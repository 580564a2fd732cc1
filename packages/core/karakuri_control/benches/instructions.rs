//! Instructions a torque vector takes, counted by valgrind: a number that a busy machine does not disturb.
//!
//! Each case runs twice in a process of its own under callgrind; the difference leaves the calls alone. Fails when the scheme
//! takes more than it should: a motion less than the recursive algorithm, an update at most 1.5 times as much, the recursive algorithm with
//! loops at most twice what it takes without.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a bench says so")]

mod support;

use std::hint::black_box;
use std::sync::Arc;

use karakuri_control::inverse_dynamics::{DesiredMotion, method};
use karakuri_control::nodal::Nodes;
use karakuri_control::trajectory::{JointTrajectory, TrajectoryPoint};
use karakuri_control::{Command, Controller, FeedforwardController, FeedforwardSettings, State};
use karakuri_dynamics::{Data, rnea};
use karakuri_model::Model;
use karakuri_spatial::Time;
use karakuri_testkit::{can_count_instructions, instructions};
use support::{Plan, SAMPLES, robots};

const CASES: [&str; 5] = ["rnea", "recursive", "motion com", "motion point", "update nodal"];
/// Samples by which the robot lags behind its command in the case `controller`.
const LAG: usize = 5;

/// A trajectory of all groups through the plan's points, each answered while the robot lags behind; the number of samples.
fn control(model: &Model, plan: &Plan, rounds: usize) -> usize {
    let n = SAMPLES - LAG;
    let settings = FeedforwardSettings::default();
    let mut controller = FeedforwardController::new(Arc::new(model.clone()), settings).unwrap();
    let mut command = Command::new(model);
    let mut now = Time::ZERO;
    for sample in 0..n * rounds {
        now = now.plus_seconds(1e-3);
        let [q, v, _] = plan.sample(sample % n);
        if sample % n == 1 {
            for group in 0..model.groups.len() {
                let joints: Vec<_> =
                    model.groups[group].joints.iter().map(|j| &model.joints[j.0]).collect();
                let point = |i: usize| {
                    let [q, v, _] = plan.sample(i);
                    // Ends at rest.
                    let scale = if i + 50 < SAMPLES { 1.0 } else { 0.0 };
                    TrajectoryPoint {
                        time_from_start: (i - LAG) as f64 * 1e-3,
                        positions: joints.iter().map(|j| q[j.q_start]).collect(),
                        velocities: joints.iter().map(|j| scale * v[j.v_start]).collect(),
                        ..TrajectoryPoint::default()
                    }
                };
                let trajectory = JointTrajectory {
                    start: None,
                    joints: joints.iter().map(|j| j.name.clone()).collect(),
                    points: (LAG + 50..SAMPLES).step_by(50).map(point).collect(),
                };
                let machine = controller.machine_mut(group).unwrap();
                machine.accept_topic(&trajectory, now).unwrap();
            }
        }
        black_box(controller.update(&State { q, v, effort: &[] }, now, 1e-3, &mut command));
    }
    n
}

/// Computes `rounds` times the torques of the whole motion.
fn run(case: &str, model: &Model, rounds: usize) {
    let nodes = if case == "motion point" { Nodes::Point } else { Nodes::Com };
    let plan = Plan::new(model, nodes);
    let driven = plan.scheme.mechanism.driven.clone();
    let mut data = Data::new(model);
    let mut tau = vec![0.0; model.nv];
    let mut by_method = |method_name: &str| {
        let mut method = method(method_name, model).unwrap();
        for i in 0..SAMPLES * rounds {
            let [q, v, vdot] = plan.sample(i % SAMPLES);
            method.efforts(
                model,
                &DesiredMotion { q, v, vdot, driven: &driven, external: &[] },
                &mut tau,
            );
        }
    };
    match case {
        "rnea" => {
            for i in 0..SAMPLES * rounds {
                let [q, v, vdot] = plan.sample(i % SAMPLES);
                black_box(rnea(model, &mut data, q, v, vdot, &[]));
            }
        }
        "recursive" => by_method("recursive"),
        "update nodal" => by_method("nodal"),
        "controller" => {
            control(model, &plan, rounds);
        }
        _ => (0..rounds).for_each(|_| {
            black_box(plan.scheme.torques(&plan.target()).unwrap());
        }),
    }
}

/// Instructions of a process that runs the case.
fn count(robot: &str, case: &str, rounds: usize) -> f64 {
    instructions(&["--case", robot, case, &rounds.to_string()])
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    if let [_, flag, robot, case, rounds] = &args[..]
        && flag == "--case"
    {
        let (_, model) = robots().into_iter().find(|(name, _)| name == robot).unwrap();
        return run(case, &model, rounds.parse().unwrap());
    }
    if !can_count_instructions() {
        println!("valgrind is not installed; without it nothing is counted");
        return;
    }
    println!(
        "instructions per torque vector, over rnea's, and over those of `recursive`, which closes loops"
    );
    for (robot, model) in robots() {
        let each =
            CASES.map(|case| (count(robot, case, 2) - count(robot, case, 1)) / SAMPLES as f64);
        for (case, n) in CASES.iter().zip(each) {
            println!("{robot:12} {case:16} {n:8.0} {:6.2} {:6.2}", n / each[0], n / each[1]);
        }
        let [rnea, recursive, motion, _, update] = each;
        if !model.groups.is_empty() {
            let case = "controller";
            let updates = (SAMPLES - LAG) as f64;
            let n = (count(robot, case, 2) - count(robot, case, 1)) / updates;
            println!("{robot:12} {case:16} {n:8.0} {:6.2} {:6.2}", n / each[0], n / each[1]);
        }
        assert!(recursive < 2.0 * rnea, "{robot}: closing loops takes more than all the rest");
        assert!(motion < recursive, "{robot}: a motion takes more than the recursion");
        assert!(update < 1.5 * recursive, "{robot}: an update takes over 1.5 times as much");
        // A tree without loops and mimic joints: RNEA is all there is to do.
        assert!(robot != "ur5" || (motion < rnea && update < 1.5 * rnea), "{robot}: beside RNEA");
    }
}
