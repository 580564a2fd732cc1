//! No method of inverse dynamics allocates once it exists, nor does the controller's update: every request to the heap
//! is counted.

use std::sync::Arc;

use karakuri_control::inverse_dynamics::{DesiredMotion, METHODS, method};
use karakuri_control::joint_trajectory::Goal;
use karakuri_control::realtime::split;
use karakuri_control::trajectory::{JointTrajectory, TrajectoryPoint};
use karakuri_control::{
    Command, Controller, FeedforwardController, FeedforwardSettings, Gains, Payload, State,
    TargetWrench,
};
use karakuri_model::{Base, BodyId, JointGroup};
use karakuri_spatial::{Force, Pose, Time, Vector3};
use karakuri_testkit::{
    CountingHeap, Kind, Random, heap_requests, random_position, random_tree, random_vector,
};

#[global_allocator]
static HEAP: CountingHeap = CountingHeap;

#[test]
fn no_method_allocates() {
    let model = random_tree(3, 12, Base::Fixed(Pose::IDENTITY), Kind::ALL);
    let mut random = Random::new(3);
    let q = random_position(&model, &mut random);
    let [v, vdot] = [(); 2].map(|()| random_vector(model.nv, &mut random));
    let (driven, mut tau) = (vec![true; model.nv], vec![0.0; model.nv]);
    for name in METHODS {
        let mut method = method(name, &model).unwrap();
        let before = heap_requests();
        method.efforts(
            &model,
            &DesiredMotion { q: &q, v: &v, vdot: &vdot, driven: &driven, external: &[] },
            &mut tau,
        );
        assert_eq!(heap_requests() - before, 0, "{name} allocates");
    }
}

#[test]
fn the_update_allocates_nothing() {
    let mut model = random_tree(5, 6, Base::Fixed(Pose::IDENTITY), &[Kind::Revolute]);
    model.groups.push(JointGroup { name: "arm".to_owned(), joints: (0..6).map(BodyId).collect() });
    let link = model.frames[model.frames.len() - 1].name.clone();
    let model = Arc::new(model);
    for method in METHODS {
        let settings = FeedforwardSettings {
            method: (*method).to_owned(),
            payload: Some(Payload { link: link.clone(), mass: 1.0, com: Vector3::zeros() }),
            gains: vec![Gains { p: 1.0, i: 1.0, d: 1.0, i_clamp: 0.0 }; 6],
            ..FeedforwardSettings::default()
        };
        let mut controller = FeedforwardController::new(Arc::clone(&model), settings).unwrap();
        let point = controller.add_force_point(&link).unwrap();
        let mut command = Command::new(&model);
        let mut q = vec![0.1; 6];
        let state = State { q: &q, v: &[0.0; 6], effort: &[] };
        controller.update(&state, Time::from_nanoseconds(1_000_000), 1e-3, &mut command);
        q.fill(0.11);
        let state = State { q: &q, v: &[0.0; 6], effort: &[] };
        let wrench = Force::new(Vector3::zeros(), Vector3::x());
        let target = TargetWrench { wrench, ..TargetWrench::default() };
        let before = heap_requests();
        controller.set_target_wrench(point, target, Time::from_nanoseconds(2_000_000));
        controller.set_measured_wrench(point, wrench, Time::from_nanoseconds(2_000_000));
        controller.update(&state, Time::from_nanoseconds(2_000_000), 1e-3, &mut command);
        assert_eq!(heap_requests() - before, 0, "{method}");
    }
}

#[test]
fn nor_does_the_half_that_updates_whatever_is_ordered() {
    let mut model = random_tree(5, 6, Base::Fixed(Pose::IDENTITY), &[Kind::Revolute]);
    model.groups.push(JointGroup { name: "arm".to_owned(), joints: (0..6).map(BodyId).collect() });
    let link = model.frames[model.frames.len() - 1].name.clone();
    let joints: Vec<_> = model.joints.iter().map(|j| j.name.clone()).collect();
    let model = Arc::new(model);
    let settings = FeedforwardSettings::default();
    let controller = FeedforwardController::new(Arc::clone(&model), settings.clone()).unwrap();
    let (mut updater, mut desk) = split(controller);
    let (mut q, mut v) = (vec![0.1; 6], vec![0.0; 6]);
    let (mut n_ended, mut goals) = (0, 0);
    for n in 1..4000_i32 {
        let point = |positions: f64| TrajectoryPoint {
            time_from_start: 0.2,
            positions: vec![positions; 6],
            ..TrajectoryPoint::default()
        };
        let towards = if n % 200 < 100 { 0.2 } else { 0.0 };
        let points = vec![point(towards)];
        let trajectory = JointTrajectory { start: None, joints: joints.clone(), points };
        match n % 500 {
            10 | 60 | 400 => {
                desk.accept_goal(0, &Goal { trajectory, ..Goal::default() }).unwrap();
                goals += 1;
            }
            440 => assert!(desk.accept_topic(0, &trajectory).unwrap().is_some()),
            450 => desk.watch(if n < 2000 { 0.0 } else { 0.01 }),
            460 => desk.set_group(0, |settings| settings.goal_time += 0.1),
            470 => {
                let method = METHODS[usize::try_from(n).unwrap() / 500 % METHODS.len()];
                let payload = Payload { link: link.clone(), mass: f64::from(n), com: Vector3::x() };
                let settings = FeedforwardSettings {
                    method: method.to_owned(),
                    payload: Some(payload),
                    ..settings.clone()
                };
                desk.set_settings(settings).unwrap();
            }
            _ => {}
        }
        let state = State { q: &q, v: &v, effort: &[] };
        let before = heap_requests();
        updater.update(&state, Time::from_nanoseconds(i64::from(n) * 1_000_000), 1e-3);
        assert_eq!(heap_requests() - before, 0, "update {n}");
        q.copy_from_slice(&updater.command().position);
        v.copy_from_slice(&updater.command().velocity);
        while let Some(report) = desk.next_report() {
            n_ended += report.ended.len();
            desk.give_back(report);
        }
    }
    assert_eq!((goals, n_ended), (24, 8), "those of 60 end by themselves");
}
