//! Inverse kinematics: what forward kinematics made is found again; what cannot be reached is said so.

use karakuri_dynamics::{
    Data, IkCenterOfMass, IkError, IkMethod, IkObstacle, IkOptions, IkProblem, IkTarget,
    InverseKinematics, center_of_mass, forward_kinematics, frame_pose, random_position,
};
use karakuri_model::{
    Base, BodyId, JointKind, JointSpec, Limits, LinkSpec, Model, ModelBuilder, NoAssets, Source,
    load,
};
use karakuri_spatial::{Pose, Vector3};
use karakuri_testkit::Random;

fn robot(urdf: &str, base: Base) -> Model {
    load(&Source::urdf("robot.urdf", urdf).with_base(base), &mut NoAssets).unwrap().model
}

fn ur5() -> Model {
    let urdf = include_str!("../../../../../tests/robots/ur5/ur5.urdf");
    robot(urdf, Base::Fixed(Pose::from_xyz_rpy([0.3, -0.2, 0.1], [0.2, 0.1, -0.4])))
}

fn panda() -> Model {
    robot(include_str!("../../../../../tests/robots/panda/panda.urdf"), Base::Fixed(Pose::IDENTITY))
}

fn pose_at(model: &Model, q: &[f64], link: &str) -> Pose {
    let mut data = Data::new(model);
    forward_kinematics(model, &mut data, q);
    frame_pose(model, &data, model.frame(link).unwrap())
}

fn within_limits(model: &Model, q: &[f64]) -> bool {
    model.joints.iter().filter(|j| j.kind.nv() == 1).all(|j| {
        let x = q[j.q_start];
        x >= j.limits.lower - 1e-12 && x <= j.limits.upper + 1e-12
    })
}

/// How many of `n` random poses of `link` are found again.
fn found(model: &Model, link: &str, options: &IkOptions, n: usize) -> usize {
    let mut random = Random::new(7);
    let frame = model.frame(link).unwrap();
    let mut ik = InverseKinematics::new(model, 1);
    let start = model.neutral_position();
    let mut q = start.clone();
    (0..n)
        .filter(|_| {
            random_position(model, &mut || random.uniform(0.0, 1.0), &mut q);
            let goal = pose_at(model, &q, link);
            let targets = [IkTarget::pose(frame, goal)];
            let problem = IkProblem { targets: &targets, start: &start, ..IkProblem::default() };
            let outcome = ik.solve(model, &problem, options).unwrap();
            if !outcome.converged {
                return false;
            }
            let X = pose_at(model, &ik.position, link);
            assert!((X.translation - goal.translation).norm() < 2e-6, "{outcome:?}");
            assert!((X.rotation - goal.rotation).norm() < 4e-6, "{outcome:?}");
            assert!(within_limits(model, &ik.position), "{:?}", ik.position);
            true
        })
        .count()
}

#[test]
fn every_reachable_pose_of_two_arms_is_found() {
    let options = IkOptions::default();
    assert_eq!(found(&ur5(), "tool0", &options, 200), 200);
    assert_eq!(found(&panda(), "panda_hand", &options, 200), 200);
}

#[test]
fn newton_finds_them_too() {
    let options = IkOptions { method: IkMethod::NEWTON, restarts: 50, ..IkOptions::default() };
    let n = found(&ur5(), "tool0", &options, 50);
    assert!(n >= 48, "{n} of 50");
}

/// Half of the error goes a step: 20 steps from order 1 to 1e-6.
#[test]
fn newton_halves_the_error_each_step() {
    let model = ur5();
    let frame = model.frame("tool0").unwrap();
    let start = [0.3, -1.2, 1.4, -1.0, 0.8, 0.2];
    let near: Vec<f64> = start.iter().map(|x| x + 0.1).collect();
    let targets = [IkTarget::pose(frame, pose_at(&model, &near, "tool0"))];
    let problem = IkProblem { targets: &targets, start: &start, ..IkProblem::default() };
    let options = IkOptions { method: IkMethod::NEWTON, restarts: 0, ..IkOptions::default() };
    let outcome = InverseKinematics::new(&model, 1).solve(&model, &problem, &options).unwrap();
    assert!(outcome.converged, "{outcome:?}");
    assert!((15..=22).contains(&outcome.iterations), "{outcome:?}");
}

#[test]
fn damped_least_squares_is_quadratic_near_the_solution() {
    let model = ur5();
    let frame = model.frame("tool0").unwrap();
    let start = [0.3, -1.2, 1.4, -1.0, 0.8, 0.2];
    let near: Vec<f64> = start.iter().map(|x| x + 0.1).collect();
    let targets = [IkTarget::pose(frame, pose_at(&model, &near, "tool0"))];
    let problem = IkProblem { targets: &targets, start: &start, ..IkProblem::default() };
    let mut ik = InverseKinematics::new(&model, 1);
    let outcome = ik.solve(&model, &problem, &IkOptions::default()).unwrap();
    assert!(outcome.converged && outcome.iterations <= 6, "{outcome:?}");
    for (found, near) in ik.position.iter().zip(&near) {
        assert!((found - near).abs() < 1e-4, "{found} {near}");
    }
}

#[test]
fn out_of_reach_gives_the_stretched_arm_and_the_distance() {
    let model = ur5();
    let targets = [IkTarget::position(model.frame("tool0").unwrap(), Vector3::new(3.0, 0.0, 0.5))];
    let start = [0.1; 6];
    let problem = IkProblem { targets: &targets, start: &start, ..IkProblem::default() };
    let mut ik = InverseKinematics::new(&model, 1);
    let options = IkOptions { max_iterations: 300, ..IkOptions::default() };
    let outcome = ik.solve(&model, &problem, &options).unwrap();
    assert!(!outcome.converged);
    let Some(IkObstacle::OutOfReach { distance, reach, .. }) = outcome.obstacle else {
        panic!("{outcome:?}")
    };
    assert!(distance > 2.5 && reach < 1.5, "{outcome:?}");
    // Stretched towards the target: nothing nearer is found by trying 300 random postures.
    let mut random = Random::new(1);
    let mut q = start;
    for _ in 0..300 {
        random_position(&model, &mut || random.uniform(0.0, 1.0), &mut q);
        let p = pose_at(&model, &q, "tool0").translation;
        assert!((p - targets[0].pose_in_world.translation).norm() > outcome.position_error);
    }
    let text = outcome.explain(&model, &targets);
    assert!(text.contains("`tool0` cannot reach it") && text.contains(" m and "), "{text}");
}

/// Two hinges about z, links of 1 m; the elbow bends by at most half a radian.
fn planar(limits: Limits) -> Model {
    let hinge = Some(JointKind::Revolute { axis: Vector3::z() });
    let mass = Random::new(0).inertia();
    let at = |x: f64| Pose::from_translation(Vector3::new(x, 0.0, 0.0));
    ModelBuilder::new("planar", Base::Fixed(Pose::IDENTITY))
        .link(LinkSpec::new("base", mass))
        .link(LinkSpec::new("upper", mass))
        .link(LinkSpec::new("fore", mass))
        .link(LinkSpec::new("tip", mass))
        .joint(JointSpec::new("shoulder", "base", "upper", hinge.clone()))
        .joint(JointSpec {
            limits,
            ..JointSpec::new("elbow", "upper", "fore", hinge.clone()).at(at(1.0))
        })
        .joint(JointSpec::new("wrist", "fore", "tip", None).at(at(1.0)))
        .build()
        .unwrap()
}

#[test]
fn a_limit_in_the_way_is_named() {
    let model = planar(Limits { lower: -0.5, upper: 0.5, ..Limits::NONE });
    // At 0.5 rad the tip is 2 cos(0.25) = 1.938 m from the shoulder; 1 m needs more.
    let targets = [IkTarget::position(model.frame("tip").unwrap(), Vector3::new(1.0, 0.0, 0.0))];
    let problem = IkProblem { targets: &targets, start: &[0.3, 0.1], ..IkProblem::default() };
    let mut ik = InverseKinematics::new(&model, 1);
    let outcome = ik.solve(&model, &problem, &IkOptions::default()).unwrap();
    assert!(!outcome.converged);
    let expected = 2.0 * 0.25_f64.cos() - 1.0;
    assert!((outcome.position_error - expected).abs() < 1e-4, "{outcome:?} {expected}");
    assert!((ik.position[1].abs() - 0.5).abs() < 1e-12, "{:?}", ik.position);
    let elbow = model.joint("elbow").unwrap();
    assert!(
        matches!(outcome.obstacle, Some(IkObstacle::Limit { joint, .. }) if joint == elbow),
        "{outcome:?}"
    );
    let text = outcome.explain(&model, &targets);
    assert!(text.contains("joint `elbow` is at its"), "{text}");
}

#[test]
fn a_stretched_start_gets_out_by_a_random_one() {
    let model = planar(Limits::NONE);
    let targets = [IkTarget::position(model.frame("tip").unwrap(), Vector3::new(1.0, 0.0, 0.0))];
    let problem = IkProblem { targets: &targets, start: &[0.0, 0.0], ..IkProblem::default() };
    let mut ik = InverseKinematics::new(&model, 1);
    let outcome = ik.solve(&model, &problem, &IkOptions::default()).unwrap();
    assert!(outcome.converged, "{outcome:?}");
    assert!((ik.position[1].abs() - std::f64::consts::TAU / 3.0).abs() < 1e-5);
    let alone = IkOptions { restarts: 0, ..IkOptions::default() };
    let outcome = ik.solve(&model, &problem, &alone).unwrap();
    assert_eq!(outcome.obstacle, Some(IkObstacle::Stuck), "{outcome:?}");
}

#[test]
fn locked_joints_stay_and_a_free_axis_stays_free() {
    let model = panda();
    let frame = model.frame("panda_hand").unwrap();
    let home = [0.0, -0.4, 0.0, -2.2, 0.0, 1.9, 0.8, 0.02, 0.02];
    let mut goal = pose_at(&model, &home, "panda_hand");
    goal.translation += Vector3::new(0.05, 0.1, -0.05);
    let free_about_z = Vector3::new(1.0, 1.0, 0.0);
    let target = IkTarget::pose(frame, goal).weighted(Vector3::repeat(1.0), free_about_z);
    let locked: Vec<BodyId> =
        ["panda_joint3", "panda_joint7"].iter().map(|j| model.joint(j).unwrap()).collect();
    let problem =
        IkProblem { targets: &[target], start: &home, locked: &locked, ..IkProblem::default() };
    let mut ik = InverseKinematics::new(&model, 1);
    let outcome = ik.solve(&model, &problem, &IkOptions::default()).unwrap();
    assert!(outcome.converged, "{}", outcome.explain(&model, &[target]));
    for joint in locked {
        let i = model.joints[joint.0].q_start;
        assert_eq!(ik.position[i].to_bits(), home[i].to_bits());
    }
    let X = pose_at(&model, &ik.position, "panda_hand");
    assert!((X.rotation.column(2) - goal.rotation.column(2)).norm() < 1e-5);
    assert!((X.translation - goal.translation).norm() < 1e-5);
}

#[test]
fn two_feet_of_a_floating_robot_are_placed_at_once() {
    let urdf = include_str!("../../../../../tests/robots/solo12/solo12.urdf");
    let model = robot(urdf, Base::Floating);
    let mut random = Random::new(3);
    let mut q = model.neutral_position();
    random_position(&model, &mut || random.uniform(0.0, 1.0), &mut q);
    let targets: Vec<IkTarget> = ["FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT"]
        .iter()
        .map(|link| {
            let p = pose_at(&model, &q, link).translation;
            IkTarget::position(model.frame(link).unwrap(), p)
        })
        .collect();
    let start = model.neutral_position();
    let problem = IkProblem { targets: &targets, start: &start, ..IkProblem::default() };
    let mut ik = InverseKinematics::new(&model, 4);
    let outcome = ik.solve(&model, &problem, &IkOptions::default()).unwrap();
    assert!(outcome.converged, "{}", outcome.explain(&model, &targets));
}

#[test]
fn the_centre_of_mass_moves_over_feet_that_stand() {
    let urdf = include_str!("../../../../../tests/robots/solo12/solo12.urdf");
    let model = robot(urdf, Base::Floating);
    let mut start = model.neutral_position();
    let mut random = Random::new(5);
    random_position(&model, &mut || random.uniform(0.4, 0.6), &mut start);
    let targets: Vec<IkTarget> = ["FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT"]
        .iter()
        .map(|link| {
            let p = pose_at(&model, &start, link).translation;
            IkTarget::position(model.frame(link).unwrap(), p)
        })
        .collect();
    let mut data = Data::new(&model);
    forward_kinematics(&model, &mut data, &start);
    let desired = center_of_mass(&model, &data) + Vector3::new(0.02, -0.01, 0.0);
    // The height is free, and far from the target's.
    let position = desired + Vector3::new(0.0, 0.0, 9.0);
    let over = IkCenterOfMass { position, weight: Vector3::new(1.0, 1.0, 0.0) };
    let problem = IkProblem {
        targets: &targets,
        center_of_mass: Some(over),
        start: &start,
        ..IkProblem::default()
    };
    let mut ik = InverseKinematics::new(&model, 4);
    let options = IkOptions { restarts: 0, ..IkOptions::default() };
    let outcome = ik.solve(&model, &problem, &options).unwrap();
    assert!(outcome.converged, "{}", outcome.explain(&model, &targets));
    // Quadratic convergence: the Jacobian is exact.
    assert!(outcome.iterations <= 8, "{} steps", outcome.iterations);
    forward_kinematics(&model, &mut data, &ik.position);
    let off = center_of_mass(&model, &data) - desired;
    assert!(off.xy().norm() < 1e-6, "{off}");
    for (target, link) in targets.iter().zip(["FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT"]) {
        let p = pose_at(&model, &ik.position, link).translation;
        assert!((p - target.pose_in_world.translation).norm() < 1e-6, "{link}");
    }
}

#[test]
fn the_same_seed_gives_the_same_bits() {
    let model = ur5();
    let frame = model.frame("tool0").unwrap();
    let goal = pose_at(&model, &[1.0, -2.0, 2.0, 0.5, -1.0, 3.0], "tool0");
    let targets = [IkTarget::pose(frame, goal)];
    let problem = IkProblem { targets: &targets, start: &[0.0; 6], ..IkProblem::default() };
    let run = || {
        let mut ik = InverseKinematics::new(&model, 1);
        ik.solve(&model, &problem, &IkOptions::default()).unwrap();
        ik.position
    };
    assert_eq!(run(), run());
}

#[test]
fn senseless_problems_are_refused() {
    let model = ur5();
    let mut ik = InverseKinematics::new(&model, 1);
    let frame = model.frame("tool0").unwrap();
    let mut solve = |targets: &[IkTarget], start: &[f64]| {
        let problem = IkProblem { targets, start, ..IkProblem::default() };
        ik.solve(&model, &problem, &IkOptions::default())
    };
    assert_eq!(solve(&[], &[0.0; 6]), Err(IkError::NoTarget));
    let (one, nan) = (Vector3::repeat(1.0), Vector3::repeat(f64::NAN));
    for (position, weight) in [(nan, one), (one, -one), (one, Vector3::zeros())] {
        let center_of_mass = Some(IkCenterOfMass { position, weight });
        let problem = IkProblem { center_of_mass, start: &[0.0; 6], ..IkProblem::default() };
        let solved =
            InverseKinematics::new(&model, 1).solve(&model, &problem, &IkOptions::default());
        assert_eq!(solved, Err(IkError::BadCenterOfMass));
    }
    let good = IkTarget::position(frame, Vector3::zeros());
    let expected = IkError::BadStart { given: 5, expected: 6 };
    assert_eq!(solve(&[good], &[0.0; 5]), Err(expected));
    let nan = IkTarget::position(frame, Vector3::new(f64::NAN, 0.0, 0.0));
    assert_eq!(solve(&[good, nan], &[0.0; 6]), Err(IkError::BadTarget(1)));
    let empty = good.weighted(Vector3::zeros(), Vector3::zeros());
    assert_eq!(solve(&[empty], &[0.0; 6]), Err(IkError::EmptyTarget(0)));
    let base = IkTarget::position(model.frame("base_link").unwrap(), Vector3::zeros());
    let outcome = solve(&[base], &[0.0; 6]).unwrap();
    assert_eq!(outcome.obstacle, Some(IkObstacle::NothingMoves { target: 0 }));
}
