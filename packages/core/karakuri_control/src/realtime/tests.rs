use std::sync::atomic::AtomicBool;

use karakuri_model::{Base, BodyId, JointGroup, JointKind, JointSpec, LinkSpec, ModelBuilder};
use karakuri_spatial::{Inertia, Matrix3, Pose, Vector3};

use super::*;
use crate::joint_trajectory::ErrorCode;
use crate::trajectory::TrajectoryPoint;

const PERIOD: f64 = 1e-3;

/// Two links that swing, each its own group.
fn model() -> Arc<Model> {
    let inertia = Inertia {
        mass: 1.0,
        com: Vector3::new(0.0, 0.0, -0.2),
        about_com: Matrix3::identity() * 1e-2,
    };
    let hinge = || Some(JointKind::Revolute { axis: Vector3::y() });
    let below = Pose::from_translation(Vector3::new(0.0, 0.0, -0.4));
    let built = ModelBuilder::new("double pendulum", Base::Fixed(Pose::IDENTITY))
        .link(LinkSpec::new("base", Inertia::ZERO))
        .link(LinkSpec::new("upper", inertia))
        .link(LinkSpec::new("lower", inertia))
        .joint(JointSpec::new("shoulder", "base", "upper", hinge()))
        .joint(JointSpec::new("elbow", "upper", "lower", hinge()).at(below))
        .build();
    let mut model = built.unwrap();
    for (name, joint) in [("first", 0), ("second", 1)] {
        model.groups.push(JointGroup { name: name.to_owned(), joints: vec![BodyId(joint)] });
    }
    Arc::new(model)
}

fn controller() -> FeedforwardController {
    FeedforwardController::new(model(), FeedforwardSettings::default()).unwrap()
}

fn goal(joint: &str, position: f64, duration: f64) -> Goal {
    let point = TrajectoryPoint {
        time_from_start: duration,
        positions: vec![position],
        ..TrajectoryPoint::default()
    };
    let trajectory =
        JointTrajectory { start: None, joints: vec![joint.to_owned()], points: vec![point] };
    Goal { trajectory, ..Goal::default() }
}

/// A robot that is where it is commanded.
struct Robot {
    q: Vec<f64>,
    v: Vec<f64>,
    n: i64,
}

impl Robot {
    fn new() -> Self {
        Self { q: vec![0.0; 2], v: vec![0.0; 2], n: 0 }
    }

    fn now(&self) -> Time {
        Time::from_nanoseconds(self.n * 1_000_000)
    }

    fn tick(&mut self, updater: &mut Updater) -> bool {
        self.n += 1;
        let state = State { q: &self.q, v: &self.v, effort: &[] };
        let news = updater.update(&state, self.now(), PERIOD);
        self.obey(&updater.command().clone());
        news
    }

    fn obey(&mut self, command: &Command) {
        self.q.copy_from_slice(&command.position);
        self.v.copy_from_slice(&command.velocity);
    }
}

/// All that was reported since.
fn ended(desk: &mut Desk) -> Vec<(GoalId, Outcome)> {
    let mut all = Vec::new();
    while let Some(report) = desk.next_report() {
        all.extend(report.ended.iter().map(|event| (event.finished.id, event.finished.outcome)));
        desk.give_back(report);
    }
    all
}

#[test]
fn the_halves_do_what_the_whole_does() {
    let (mut updater, mut desk) = split(controller());
    let mut whole = controller();
    let (mut robot, mut other) = (Robot::new(), Robot::new());
    let mut command = Command::new(&model());
    let mut active = None;
    for n in 0..3000 {
        // goals that are reached, replaced, cancelled; other settings in between
        match n {
            1 | 1500 => {
                let goal = goal("shoulder", 0.3 * f64::from(n) / 1500.0, 0.5);
                desk.accept_goal(0, &goal).unwrap();
                let machine = whole.machine_mut(0).unwrap();
                active = Some(machine.accept_goal(&goal, other.now()).unwrap().0);
            }
            300 | 1800 => {
                let goal = goal("elbow", -0.8, 0.7);
                desk.accept_goal(1, &goal).unwrap();
                whole.machine_mut(1).unwrap().accept_goal(&goal, other.now()).unwrap();
            }
            1700 => {
                let id = desk.groups[0].active.unwrap();
                desk.cancel(0, id).unwrap();
                whole.machine_mut(0).unwrap().cancel(active.unwrap()).unwrap();
            }
            400 => {
                let settings = FeedforwardSettings {
                    method: "nodal".to_owned(),
                    ..FeedforwardSettings::default()
                };
                desk.set_settings(settings.clone()).unwrap();
                whole.set_settings(settings).unwrap();
            }
            _ => {}
        }
        robot.tick(&mut updater);
        other.n += 1;
        let state = State { q: &other.q, v: &other.v, effort: &[] };
        whole.update(&state, other.now(), PERIOD, &mut command);
        other.obey(&command);
        let bits = |values: &[f64]| values.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        for (a, b) in [
            (&updater.command().position, &command.position),
            (&updater.command().effort, &command.effort),
        ] {
            assert_eq!(bits(a), bits(b), "update {n}");
        }
    }
    assert!(robot.q[1] < -0.79, "it has moved");
}

#[test]
fn a_goal_ends_once_and_the_desk_hears_of_it() {
    let (mut updater, mut desk) = split(controller());
    let mut robot = Robot::new();
    assert_eq!(desk.accept_goal(0, &goal("shoulder", 0.1, 0.1)), Err(GoalError::NoState));
    robot.tick(&mut updater);
    let (first, preempted) = desk.accept_goal(0, &goal("shoulder", 0.1, 0.1)).unwrap();
    assert_eq!(preempted, None);
    let news = (0..200).filter(|_| robot.tick(&mut updater)).count();
    assert_eq!(news, 1, "nobody watches: only the end is reported");
    assert_eq!(ended(&mut desk), [(first, Outcome::Reached)]);
    assert_eq!(desk.cancel(0, first), None, "it is over");

    let (second, _) = desk.accept_goal(0, &goal("shoulder", 0.3, 0.5)).unwrap();
    let (third, preempted) = desk.accept_goal(0, &goal("shoulder", -0.3, 0.5)).unwrap();
    assert_eq!(preempted, Some(FinishedGoal { id: second, outcome: Outcome::Preempted }));
    robot.tick(&mut updater);
    let replaced = desk.accept_topic(0, &goal("shoulder", 0.1, 0.5).trajectory).unwrap();
    assert_eq!(replaced, Some(FinishedGoal { id: third, outcome: Outcome::Replaced }));
    robot.tick(&mut updater);
    let (fourth, preempted) = desk.accept_goal(0, &goal("shoulder", -0.3, 0.5)).unwrap();
    assert_eq!(preempted, None, "it had its result");
    robot.tick(&mut updater);
    let canceled = desk.cancel(0, fourth).unwrap();
    assert_eq!(canceled.outcome, Outcome::Canceled { lacking: None });
    assert_eq!(canceled.outcome.error_code(), ErrorCode::Successful);
    for _ in 0..1000 {
        robot.tick(&mut updater);
    }
    assert_eq!(ended(&mut desk), [], "each had its result");
    assert!(robot.v.iter().all(|v| *v == 0.0), "at rest");
}

#[test]
fn a_watch_reports_as_often_as_asked() {
    let (mut updater, mut desk) = split(controller());
    let mut robot = Robot::new();
    let mut reported = |desk: &mut Desk, n: i64| {
        let before = robot.n;
        let mut stamps = Vec::new();
        for _ in 0..n {
            robot.tick(&mut updater);
            while let Some(report) = desk.next_report() {
                stamps.push(report.stamp.nanoseconds() / 1_000_000 - before);
                desk.give_back(report);
            }
        }
        stamps
    };
    assert_eq!(reported(&mut desk, 50), Vec::<i64>::new());
    desk.watch(0.02);
    assert_eq!(reported(&mut desk, 50), [1, 21, 41]);
    desk.watch(0.0);
    assert_eq!(reported(&mut desk, 50), (1..=50).collect::<Vec<_>>());
    desk.watch(f64::INFINITY);
    assert_eq!(reported(&mut desk, 50), Vec::<i64>::new());
}

#[test]
fn a_late_report_is_not_lost() {
    let (mut updater, mut desk) = split(controller());
    let mut robot = Robot::new();
    robot.tick(&mut updater);
    desk.watch(0.0);
    let (id, _) = desk.accept_goal(0, &goal("shoulder", 0.1, 0.2)).unwrap();
    // far more updates than reports, the goal's end among those that found no room
    for _ in 0..1000 {
        robot.tick(&mut updater);
    }
    assert_eq!(ended(&mut desk), []);
    robot.tick(&mut updater);
    assert_eq!(ended(&mut desk), [(id, Outcome::Reached)]);
}

#[test]
fn while_nothing_is_measured_streams_are_refused_and_a_cancel_is_not() {
    let (mut updater, mut desk) = split(controller());
    let mut robot = Robot::new();
    robot.tick(&mut updater);
    let far = goal("shoulder", 0.5, 5.0);
    let (id, _) = desk.accept_goal(0, &far).unwrap();
    let mut stream = goal("elbow", 0.1, 0.1).trajectory;
    let refused = (0..2 * N_ORDERS).filter(|_| desk.accept_topic(1, &stream).is_err()).count();
    assert_eq!(refused, N_ORDERS + 1);
    assert!(desk.accept_goal(0, &far).unwrap_err().to_string().contains("no joint state"));
    assert!(desk.cancel(0, id).is_some());
    desk.set_group(0, |settings| settings.goal_time = 2.0);
    robot.tick(&mut updater);
    // as a node does now and then
    assert!(ended(&mut desk).is_empty());
    robot.tick(&mut updater);
    assert!(updater.controller.machine_mut(0).unwrap().cancel(id).is_none());
    assert!(updater.controller.groups()[0].machine.settings().goal_time > 1.0);
    stream.points[0].positions[0] = 0.2;
    desk.accept_topic(1, &stream).unwrap();
}

#[test]
fn with_a_thread_on_either_side_every_goal_ends_once() {
    let (mut updater, mut desk) = split(controller());
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut robot = Robot::new();
            while !stop.load(Ordering::Acquire) {
                robot.tick(&mut updater);
            }
        });
        let (mut n_accepted, mut n_ended) = (0_usize, 0);
        let mut active = None;
        while n_accepted < 2000 {
            n_ended += ended(&mut desk).len();
            let target = if n_accepted % 2 == 0 { 0.2 } else { -0.2 };
            match desk.accept_goal(0, &goal("shoulder", target, 0.01 * (n_accepted % 7) as f64)) {
                Ok((id, preempted)) => {
                    n_accepted += 1;
                    n_ended += usize::from(preempted.is_some());
                    active = Some(id);
                }
                Err(GoalError::NoState | GoalError::Busy) => std::thread::yield_now(),
                Err(other) => panic!("{other}"),
            }
            if n_accepted % 5 == 0
                && let Some(id) = active
            {
                n_ended += usize::from(desk.cancel(0, id).is_some());
            }
        }
        while n_ended < n_accepted {
            n_ended += ended(&mut desk).len();
            std::thread::yield_now();
        }
        for _ in 0..100 {
            n_ended += ended(&mut desk).len();
            std::thread::yield_now();
        }
        stop.store(true, Ordering::Release);
        assert_eq!(n_ended, n_accepted);
    });
}

#[test]
fn a_query_gives_the_state_that_was_or_will_be_desired() {
    let (mut updater, mut desk) = split(controller());
    let mut robot = Robot::new();
    robot.tick(&mut updater);
    let ask = |updater: &mut Updater, robot: &mut Robot, desk: &mut Desk, at: Time| {
        desk.query(0, at).unwrap();
        robot.tick(updater);
        desk.next_queried().unwrap()
    };
    let found = ask(&mut updater, &mut robot, &mut desk, Time::ZERO).found;
    assert_eq!(found, Err(NotFollowed::NoTrajectory));
    desk.accept_goal(0, &goal("shoulder", 0.4, 0.5)).unwrap();
    robot.tick(&mut updater);
    let begun = robot.now();
    // the prediction comes true, and stays so
    let soon = begun.plus_seconds(0.2);
    let predicted = ask(&mut updater, &mut robot, &mut desk, soon);
    assert_eq!((predicted.group, predicted.at, predicted.found), (0, soon, Ok(())));
    while robot.now() < soon {
        robot.tick(&mut updater);
    }
    let desired = updater.controller.groups()[0].machine.desired()[0];
    assert_eq!(predicted.state, [desired]);
    robot.tick(&mut updater);
    assert_eq!(ask(&mut updater, &mut robot, &mut desk, soon).state, [desired]);
    for (at, reason) in [
        (begun.plus_seconds(-0.1), NotFollowed::Before),
        (begun.plus_seconds(0.6), NotFollowed::After),
    ] {
        assert_eq!(ask(&mut updater, &mut robot, &mut desk, at).found, Err(reason));
    }
}

#[test]
fn a_goal_of_a_silent_robot_ends_once_and_is_not_carried_on() {
    let (mut updater, mut desk) = split(controller());
    let mut robot = Robot::new();
    robot.tick(&mut updater);
    let (id, _) = desk.accept_goal(0, &goal("shoulder", 1.0, 1.0)).unwrap();
    for _ in 0..300 {
        robot.tick(&mut updater);
    }
    let finished = desk.lose_state(0).unwrap();
    assert_eq!((finished.id, finished.outcome), (id, Outcome::StateLost));
    assert_eq!(finished.outcome.error_code(), ErrorCode::InvalidGoal);
    assert_eq!(desk.lose_state(0), None, "once");
    assert_eq!(desk.lose_state(7), None, "no such group");
    // Samples come again: soon enough for a motion that nobody ended to go on.
    let stopped = robot.q[0];
    for _ in 0..1000 {
        robot.tick(&mut updater);
    }
    assert!((robot.q[0] - stopped).abs() < 0.3, "from {stopped} it went on to {}", robot.q[0]);
    assert!(robot.v[0].abs() < 1e-9, "it rests");
    assert_eq!(ended(&mut desk), [], "no second result");
}
