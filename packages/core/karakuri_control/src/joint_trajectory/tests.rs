use super::{
    ErrorCode, Goal, GoalError, GoalStatus, GroupSettings, JointSettings, JointTrajectoryMachine,
    Outcome, Tolerance, brake,
};
use crate::trajectory::{Interpolation, JointSample, JointTrajectory, TrajectoryPoint};
use karakuri_spatial::Time;

const DT: f64 = 0.001;

/// Error of a trajectory.
type Change = fn(&mut JointTrajectory);

fn settings() -> GroupSettings {
    let joint = |name: &str| JointSettings {
        name: name.to_owned(),
        continuous: false,
        lower: -2.0,
        upper: 2.0,
        max_velocity: 3.0,
        path_tolerance: Tolerance::default(),
        goal_tolerance: Tolerance { position: 0.01, ..Tolerance::default() },
        max_deceleration_on_cancel: 10.0,
        max_jerk_on_cancel: 200.0,
        saturation_error: 0.0,
    };
    GroupSettings {
        joints: vec![joint("a"), joint("b")],
        stopped_velocity_tolerance: 0.01,
        goal_time: 0.0,
        allow_partial_joints_goal: false,
        allow_integration_in_goal_trajectories: false,
        allow_nonzero_velocity_at_trajectory_end: false,
        interpolate_from_desired_state: true,
        interpolation: Interpolation::Splines,
        following_tolerance: 0.0,
    }
}

fn to(a: f64, b: f64, time: f64) -> JointTrajectory {
    let zero = vec![0.0; 2];
    JointTrajectory {
        start: None,
        joints: vec!["b".to_owned(), "a".to_owned()],
        points: vec![TrajectoryPoint {
            time_from_start: time,
            positions: vec![b, a],
            velocities: zero.clone(),
            accelerations: zero,
            efforts: Vec::new(),
        }],
    }
}

/// A machine whose robot follows perfectly, or stays where it was.
struct Bench {
    machine: JointTrajectoryMachine,
    now: Time,
    q: [f64; 2],
    v: [f64; 2],
    stuck: bool,
}

impl Bench {
    fn new(settings: GroupSettings) -> Self {
        let machine = JointTrajectoryMachine::new(settings);
        let mut bench = Self { machine, now: Time::ZERO, q: [0.0; 2], v: [0.0; 2], stuck: false };
        bench.step();
        bench
    }

    /// Answer of the machine to a goal.
    fn check_goal(&self, trajectory: &JointTrajectory) -> Result<(), GoalError> {
        let goal = Goal { trajectory: trajectory.clone(), ..Goal::default() };
        self.machine.clone().accept_goal(&goal, self.now).map(|_| ())
    }

    fn step(&mut self) -> Option<Outcome> {
        self.now = self.now.plus_seconds(DT);
        let finished = self.machine.update(self.now, DT, &self.q, &self.v);
        if !self.stuck {
            for (j, command) in self.machine.command().iter().enumerate() {
                (self.q[j], self.v[j]) = (command.position, command.velocity);
            }
        }
        finished.map(|f| f.outcome)
    }

    fn run(&mut self, steps: usize) -> Option<Outcome> {
        (0..steps).find_map(|_| self.step())
    }
}

#[test]
fn a_goal_is_reached_and_held() {
    let mut bench = Bench::new(settings());
    let goal = Goal { trajectory: to(1.0, -0.5, 1.0), ..Goal::default() };
    bench.machine.accept_goal(&goal, bench.now).unwrap();
    let outcome = bench.run(1100).unwrap();
    assert_eq!(outcome, Outcome::Reached);
    assert_eq!(outcome.describe(bench.machine.settings()), "Goal successfully reached!");
    assert!((bench.q[0] - 1.0).abs() < 1e-12 && (bench.q[1] + 0.5).abs() < 1e-12);
}

#[test]
fn every_refusal_names_its_reason() {
    let bench = Bench::new(settings());
    let refusal = |change: Change| {
        let mut trajectory = to(1.0, 0.0, 1.0);
        change(&mut trajectory);
        bench.check_goal(&trajectory).unwrap_err().to_string()
    };
    let cases: [(Change, &str); 9] = [
        (|t| t.points.clear(), "Empty trajectory received."),
        (|t| t.joints[0] = "x".into(), "joint `x` is not in this group; it has: a, b"),
        (|t| t.joints[0] = "a".into(), "joint `a` is named twice"),
        (|t| t.joints = vec!["a".into()], "joint `b` is missing"),
        (|t| t.points[0].time_from_start = -1.0, "point 0: time_from_start -1 s"),
        (|t| t.points[0].velocities = vec![0.0], "point 0: 1 velocities for 2 joints"),
        (|t| t.points[0].positions.clear(), "point 0: no positions"),
        (|t| t.points[0].positions[1] = 2.5, "position 2.5 is outside its limits -2 to 2"),
        (|t| t.points[0].velocities[0] = 0.1, "joint `b` ends with velocity 0.1"),
    ];
    for (change, text) in cases {
        assert!(refusal(change).contains(text), "{} lacks {text}", refusal(change));
    }
    assert!(refusal(|t| t.points[0].positions[0] = f64::NAN).contains("numbers must be finite"));
    assert!(
        refusal(|t| t.start = Some(Time::from_nanoseconds(-2_000_000_000)))
            .contains("ended 1.001 s ago")
    );
    let fresh = JointTrajectoryMachine::new(settings()).accept_goal(&Goal::default(), Time::ZERO);
    assert_eq!(fresh, Err(GoalError::NoState));
}

/// Trajectory from where it is to a place within the limits of 2 rad, through points with velocities.
fn swing(velocity: f64) -> JointTrajectory {
    let mut trajectory = to(1.5, 0.0, 0.5);
    let point = &mut trajectory.points[0];
    point.accelerations.clear();
    point.velocities = vec![0.0, velocity];
    let mut back = point.clone();
    back.time_from_start = 2.5;
    back.velocities = vec![0.0; 2];
    trajectory.points.push(back);
    trajectory
}

#[test]
fn a_goal_that_leaves_what_a_joint_can_do_is_refused_with_the_place() {
    let bench = Bench::new(settings());
    let refusal = |velocity: f64| bench.check_goal(&swing(velocity)).unwrap_err().to_string();
    let fast = refusal(50.0);
    assert!(fast.contains("point 0, joint `a`: velocity 50 is above its limit 3"), "{fast}");
    // by the cubic it is at most at 1.5 + 3 · 2 · 4/27 = 2.39 rad, 2/3 s after the point
    let far = refusal(3.0);
    assert!(far.contains("joint `a`: between points 0 and 1") && far.contains("-2 to 2"), "{far}");
    bench.check_goal(&swing(1.0)).unwrap();
}

#[test]
fn no_command_leaves_the_limits_whatever_a_trajectory_does() {
    let mut bench = Bench::new(settings());
    bench.machine.accept_topic(&swing(3.0), bench.now).unwrap();
    let mut highest = 0.0_f64;
    for _ in 0..3000 {
        bench.step();
        highest = highest.max(bench.q[0]);
    }
    assert!(highest.to_bits() == 2.0_f64.to_bits(), "{highest}");
    assert!((bench.q[0] - 1.5).abs() < 1e-9);
    // found beyond them it is held there, and comes back
    let mut bench = Bench::new(settings());
    bench.now = Time::from_nanoseconds(-10_000_000);
    bench.q[0] = 2.2;
    bench.run(3);
    assert!((bench.q[0] - 2.2).abs() < 1e-12);
    let goal = Goal { trajectory: to(1.0, 0.0, 1.0), ..Goal::default() };
    bench.machine.accept_goal(&goal, bench.now).unwrap();
    let mut last = bench.q[0];
    for _ in 0..1100 {
        bench.step();
        assert!(bench.q[0] <= last + 1e-12);
        last = bench.q[0];
    }
    assert!((last - 1.0).abs() < 1e-9);
}

#[test]
fn tolerances_abort_with_joint_error_and_limit() {
    let mut with_limits = settings();
    with_limits.joints[0].path_tolerance.position = 0.1;
    let mut bench = Bench::new(with_limits);
    bench.stuck = true;
    let goal = Goal { trajectory: to(1.0, 0.0, 1.0), ..Goal::default() };
    bench.machine.accept_goal(&goal, bench.now).unwrap();
    let outcome = bench.run(1000).unwrap();
    assert_eq!(outcome.error_code(), ErrorCode::PathToleranceViolated);
    let text = outcome.describe(bench.machine.settings());
    assert!(text.contains("joint `a`: position error 0.1") && text.contains("0.100000"), "{text}");

    let mut bench = Bench::new(settings());
    bench.stuck = true;
    let goal = Goal { trajectory: to(1.0, 0.0, 0.5), goal_time_tolerance: 0.2, ..Goal::default() };
    bench.machine.accept_goal(&goal, bench.now).unwrap();
    assert_eq!(bench.run(690), None);
    assert_eq!(bench.machine.waiting_for().unwrap().joint, 0);
    let outcome = bench.run(20).unwrap();
    assert_eq!(outcome.error_code(), ErrorCode::GoalToleranceViolated);
}

#[test]
fn a_robot_that_is_not_where_it_is_commanded_is_held_where_it_is() {
    let mut watched = settings();
    watched.following_tolerance = 0.2;
    watched.joints[1].saturation_error = 0.1;
    let mut bench = Bench::new(watched);
    let goal = Goal { trajectory: to(1.0, 1.0, 1.0), ..Goal::default() };
    bench.machine.accept_goal(&goal, bench.now).unwrap();
    assert_eq!(bench.run(600), None);
    let before = bench.q;
    bench.q[1] -= 0.39;
    assert_eq!(bench.step(), None, "within tolerance and twice what saturates the drive");
    bench.q = [0.0; 2];
    let outcome = bench.step().unwrap();
    assert_eq!(outcome.error_code(), ErrorCode::PathToleranceViolated);
    let text = outcome.describe(bench.machine.settings());
    assert!(text.contains("joint `a`") && text.contains("does not follow"), "{text} at {before:?}");
    let held = |q: [f64; 2], at: f64| q.map(f64::to_bits) == [at.to_bits(); 2];
    assert!(held(bench.q, 0.0), "the command of the same tick is where the robot is");
    assert_eq!(bench.run(100), None);
    assert!(held(bench.q, 0.0));
    // without a goal, too: someone moved the robot
    bench.q = [0.5; 2];
    assert_eq!(bench.step(), None);
    assert!(bench.machine.not_following().is_some());
    assert!(held(bench.q, 0.5));
    bench.step();
    assert!(bench.machine.not_following().is_none());
}

#[test]
fn preemption_cancel_and_clock_never_jump() {
    let mut bench = Bench::new(settings());
    let mut last = bench.q;
    for round in 0..40_u32 {
        let target = if round % 2 == 0 { 1.9 } else { -1.9 };
        let goal = Goal { trajectory: to(target, -target, 0.01), ..Goal::default() };
        let (id, _) = bench.machine.accept_goal(&goal, bench.now).unwrap();
        for i in 0..37 {
            bench.step();
            for (q, last) in bench.q.iter().zip(&last) {
                assert!((q - last).abs() <= 3.0 * DT * 1.002, "{q} after {last}");
            }
            last = bench.q;
            if round % 3 == 0 && i == 20 {
                bench.machine.cancel(id);
            }
        }
    }
    let goal = Goal { trajectory: to(0.0, 0.0, 5.0), ..Goal::default() };
    bench.machine.accept_goal(&goal, bench.now).unwrap();
    bench.now = Time::ZERO;
    assert_eq!(bench.step(), Some(Outcome::ClockJumpedBack));
    assert!((bench.q[0] - last[0]).abs() < 1e-12);
}

#[test]
fn a_trajectory_on_the_topic_ends_the_goal_that_it_replaces() {
    let mut bench = Bench::new(settings());
    let goal = Goal { trajectory: to(1.0, 0.0, 1.0), ..Goal::default() };
    let (id, _) = bench.machine.accept_goal(&goal, bench.now).unwrap();
    bench.run(300);
    let replaced = bench.machine.accept_topic(&to(-0.2, 0.0, 0.5), bench.now).unwrap().unwrap();
    assert_eq!(replaced.id, id);
    assert_eq!(replaced.outcome.status(), GoalStatus::Aborted);
    assert_eq!(replaced.outcome.error_code(), ErrorCode::InvalidGoal);
    let text = replaced.outcome.describe(bench.machine.settings());
    assert!(text.contains("preempted by a trajectory on the topic"), "{text}");
    assert_eq!(bench.run(1000), None, "nothing is left that could succeed");
    assert!((bench.q[0] + 0.2).abs() < 1e-9);
    assert_eq!(bench.machine.accept_topic(&to(0.0, 0.0, 0.5), bench.now), Ok(None));
}

#[test]
fn a_point_of_a_stream_that_comes_late_is_followed_at_once() {
    let mut bench = Bench::new(settings());
    bench.run(500);
    let late = |by: f64| {
        let point = to(1e-3, 0.0, DT);
        JointTrajectory { start: Some(bench.now.plus_seconds(-DT - by)), ..point }
    };
    let too_late = bench.machine.clone().accept_topic(&late(0.2), bench.now).unwrap_err();
    assert!(matches!(too_late, GoalError::InThePast { .. }), "{too_late}");
    let goal = Goal { trajectory: late(0.002), ..Goal::default() };
    let goal = bench.machine.accept_goal(&goal, bench.now).unwrap_err();
    assert!(matches!(goal, GoalError::InThePast { .. }), "{goal}");
    let late = late(0.002);
    bench.machine.accept_topic(&late, bench.now).unwrap();
    bench.run(3);
    assert!((bench.q[0] - 1e-3).abs() < 1e-12, "{}", bench.q[0]);
}

#[test]
fn braking_has_bounded_jerk_and_ends() {
    let joint = &settings().joints[0];
    let (largest, jerk) = (joint.max_deceleration_on_cancel, joint.max_jerk_on_cancel);
    let free = JointSettings { lower: -100.0, upper: 100.0, ..joint.clone() };
    for (i, v) in [-3.0, -0.7, -1e-3, 0.0, 1e-6, 0.02, 0.4, 2.9].into_iter().enumerate() {
        for a in [-20.0, -1.0, 0.0, 0.3, 15.0] {
            for dt in [5e-4, DT, 2e-3, 4e-3] {
                let mut command =
                    JointSample { velocity: v, acceleration: a, ..JointSample::default() };
                let mut n = 0;
                while {
                    let last = command.acceleration;
                    let moves = brake(&mut command, &free, dt);
                    let step = (command.acceleration - last).abs();
                    assert!(step <= 2.0 * jerk * dt + 1e-12, "case {i}, {a}, {dt}: {step}");
                    n += 1;
                    moves
                } {
                    assert!(f64::from(n) * dt < 1.0, "case {i}, {a}, {dt}: {command:?}");
                }
                let swings = v + a * a.abs() / (2.0 * jerk);
                let longest = swings.abs() / largest + 4.0 * largest / jerk + a.abs() / jerk;
                assert!(f64::from(n) * dt <= longest + 10.0 * dt, "case {i}, {a}, {dt}: {n}");
                assert_eq!((command.velocity, command.acceleration), (0.0, 0.0));
            }
        }
    }
}

#[test]
fn a_goal_of_one_bare_point_has_no_corners() {
    let bare = |a: f64, time: f64| {
        let mut trajectory = to(a, 0.0, time);
        trajectory.points[0].velocities.clear();
        trajectory.points[0].accelerations.clear();
        Goal { trajectory, ..Goal::default() }
    };
    let mut bench = Bench::new(settings());
    let (mut last, mut largest) = (0.0_f64, 0.0_f64);
    for (target, steps) in [(1.0, 250), (-0.2, 400), (0.5, 1100)] {
        bench.machine.accept_goal(&bare(target, 1.0), bench.now).unwrap();
        for _ in 0..steps {
            bench.step();
            let acceleration = bench.machine.command()[0].acceleration;
            largest = largest.max((acceleration - last).abs());
            last = acceleration;
        }
    }
    assert!((bench.q[0] - 0.5).abs() < 1e-12);
    // 60 rad/s³ for the first motion; preempted in full motion it takes some more.
    assert!(largest < 0.4, "{largest} rad/s² from one command to the next");
    // Too fast for a quintic: the line that joint_trajectory_controller would follow.
    bench.machine.accept_goal(&bare(-0.5, 0.4), bench.now).unwrap();
    bench.step();
    bench.step();
    assert!((bench.machine.command()[0].velocity + 2.5).abs() < 1e-9);
}

#[test]
fn a_goal_beyond_the_speed_of_a_joint_is_followed_late() {
    let mut bench = Bench::new(GroupSettings { following_tolerance: 0.2, ..settings() });
    bench
        .machine
        .accept_goal(&Goal { trajectory: to(1.5, 0.0, 0.1), ..Goal::default() }, bench.now)
        .unwrap();
    for _ in 0..600 {
        bench.step();
        assert_eq!(bench.machine.not_following(), None);
    }
    assert!((bench.q[0] - 1.5).abs() < 1e-9, "{}", bench.q[0]);
}

#[test]
fn a_motion_waits_for_a_robot_that_was_without_commands() {
    let mut bench = Bench::new(settings());
    let goal = Goal { trajectory: to(0.6, -0.3, 1.0), ..Goal::default() };
    bench.machine.accept_goal(&goal, bench.now).unwrap();
    bench.run(400);
    let (held, commanded) = (bench.machine.command()[0], bench.now);
    bench.now = bench.now.plus_seconds(0.3);
    assert_eq!(bench.step(), None);
    let went = bench.machine.desired()[0].position - held.position;
    assert!(went.abs() < 1e-12, "it went on by {went} rad while nothing was commanded");
    // 1 s of motion, 0.3 s of waiting, and a tick on either side
    while bench.step().is_none() {}
    let took = bench.now.seconds_since(commanded);
    assert!((took - 0.9).abs() < 3.0 * DT, "{took}");
}

#[test]
fn a_motion_that_should_have_begun_without_commands_begins_now() {
    let mut bench = Bench::new(settings());
    let mut trajectory = to(0.6, -0.3, 1.0);
    trajectory.start = Some(bench.now.plus_seconds(0.1));
    let goal = Goal { trajectory, ..Goal::default() };
    bench.machine.accept_goal(&goal, bench.now).unwrap();
    bench.now = bench.now.plus_seconds(0.3);
    bench.step();
    assert!(bench.machine.desired()[0].position.abs() < 1e-12);
    let begun = bench.now;
    while bench.step().is_none() {}
    assert!((bench.now.seconds_since(begun) - 1.0).abs() < 3.0 * DT);
}
