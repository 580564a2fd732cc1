//! Numbers that are none are refused, and the refusal names what they were given to.

use std::sync::Arc;

use karakuri_physics::{StepOutcome, World, WorldError, WorldSettings};
use karakuri_spatial::{Force, Matrix3, Vector3};

use crate::worlds::{body, crowd, four_bar};
use karakuri_model::Shape;

const BAD: [f64; 3] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];

fn message(result: Result<impl std::fmt::Debug, WorldError>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn a_body_with_any_number_that_is_none() {
    for bad in BAD {
        for what in 0..8 {
            let size = if what == 0 { bad } else { 0.1 };
            let mut wrong =
                body("crate", Shape::Box { size: Vector3::repeat(size) }, 1.0, Vector3::z());
            match what {
                1 => wrong.mass = bad,
                2 => wrong.pose.translation.y = bad,
                3 => wrong.pose.rotation[(1, 2)] = bad,
                4 => wrong.velocity.angular.x = bad,
                5 => wrong.velocity.linear.z = bad,
                6 => wrong.inertia = Some(Matrix3::identity() * bad),
                7 => wrong.friction = bad,
                _ => {}
            }
            let mut world = World::new(WorldSettings::default());
            let message = message(world.add_body(wrong));
            assert!(message.contains("`crate`"), "{what}, {bad}: {message}");
            assert_eq!(world.body_ids().count(), 0);
        }
    }
}

#[test]
fn a_state_with_any_number_that_is_none() {
    for bad in BAD {
        let mut world = crowd(1);
        let hash = world.state_hash();
        let id = world.find_body("body0").unwrap();
        let (mut pose, velocity) = (world.body(id).pose(), world.body(id).velocity());
        pose.translation.x = bad;
        assert!(message(world.set_body_state(id, pose, velocity)).contains("`body0`"));
        let robot = world.find_robot("arm").unwrap();
        let mut q = world.robot(robot).q().to_vec();
        let v = world.robot(robot).v().to_vec();
        q[1] = bad;
        assert!(message(world.set_robot_state(robot, &q, &v)).contains("`arm`"));
        assert_eq!(world.state_hash(), hash, "a refused state changed something");
        let model = Arc::new(four_bar());
        assert!(message(world.add_robot("other", model, &[bad, 0.0, 0.0])).contains("`other`"));
    }
}

/// What is given between steps is found in the step, which then changes nothing.
#[test]
fn commands_and_pushes_that_are_none_leave_the_world_as_it_was() {
    for bad in BAD {
        for what in 0..6 {
            let mut world = crowd(1);
            world.step();
            let robot = world.find_robot("arm").unwrap();
            let driven = world.robot(robot).drives().enabled.iter().position(|&x| x).unwrap();
            let saved = world.robot(robot).drives().clone();
            let (body, hash) = (world.find_body("body0").unwrap(), world.state_hash());
            let drives = world.drive_mut(robot);
            let name = match what {
                0 => {
                    drives.position[driven] = bad;
                    "`arm`"
                }
                1 => {
                    drives.velocity[driven] = bad;
                    "`arm`"
                }
                2 => {
                    drives.effort[driven] = bad;
                    "`arm`"
                }
                3 => {
                    drives.damping[driven] = bad;
                    "`arm`"
                }
                4 => {
                    let push = Force::new(Vector3::zeros(), Vector3::x() * bad);
                    world.apply_link_wrench(robot, karakuri_model::BodyId(0), push);
                    "`arm`"
                }
                _ => {
                    world.apply_body_wrench(body, Force::new(Vector3::x() * bad, Vector3::zeros()));
                    "`body0`"
                }
            };
            let outcome = world.step();
            assert!(matches!(outcome, StepOutcome::NonFinite(_)), "{what}, {bad}: {outcome:?}");
            let report = world.non_finite_report();
            assert!(report.contains(name), "{what}, {bad}: {report}");
            assert_eq!(world.state_hash(), hash, "{what}, {bad}: the refused step moved something");
            *world.drive_mut(robot) = saved;
            let outcome = world.step();
            assert!(
                !matches!(outcome, StepOutcome::NonFinite(_)),
                "{what}, {bad}: {outcome:?} after"
            );
        }
    }
}

/// Gives one setting a value.
type Spoil = fn(&mut WorldSettings, f64);

#[test]
fn settings_that_no_step_can_use() {
    let good = WorldSettings::default();
    for bad in BAD.into_iter().chain([0.0, -1e-3]) {
        let mut world = crowd(1);
        let hash = world.state_hash();
        world.set_settings(WorldSettings { dt: bad, ..good });
        assert!(matches!(world.step(), StepOutcome::NonFinite(_)), "dt = {bad}");
        assert!(world.non_finite_report().contains("`dt`"), "{}", world.non_finite_report());
        assert_eq!(world.state_hash(), hash);
    }
    let spoil: [(&str, Spoil, f64); 8] = [
        ("gravity", |s, x| s.gravity.y = x, f64::INFINITY),
        ("solver.tolerance", |s, x| s.solver.tolerance = x, -1.0),
        ("restitution_threshold", |s, x| s.restitution_threshold = x, -1.0),
        ("penetration_slop", |s, x| s.penetration_slop = x, f64::INFINITY),
        ("penetration_rate", |s, x| s.penetration_rate = x, 1.5),
        ("penetration_step", |s, x| s.penetration_step = x, -1e-3),
        ("anchor_rate", |s, x| s.anchor_rate = x, -0.1),
        ("dt", |s, x| s.dt = x, f64::NEG_INFINITY),
    ];
    let mut world = crowd(1);
    for (name, spoil, worst) in spoil {
        for bad in [f64::NAN, worst] {
            let mut settings = good;
            spoil(&mut settings, bad);
            world.set_settings(settings);
            assert!(matches!(world.step(), StepOutcome::NonFinite(_)), "{name} = {bad}");
            let report = world.non_finite_report();
            assert!(report.contains(&format!("`{name}`")), "{name} = {bad}: {report}");
        }
    }
    world.set_settings(good);
    assert!(!matches!(world.step(), StepOutcome::NonFinite(_)));
}
