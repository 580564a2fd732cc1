//! A step whose word is checked: momentum of every body, friction cones, and the outcome against the residual.

use karakuri_physics::{Owner, StepOutcome, World};
use karakuri_spatial::Vector3;

/// Steps, and checks what must hold however hard the contacts are: finite states, impulses inside their cones and
/// on the bodies that they moved, and no residual above the tolerance that is called solved. The residual. [m/s]
pub(crate) fn step(world: &mut World, what: &str) -> f64 {
    let before: Vec<_> = world.body_ids().map(|id| world.body(id).velocity()).collect();
    let outcome = world.step();
    let asked = world.settings().solver.tolerance;
    // More only in crowds that move: a hundredth of what gravity changes in 1 ms, or 3 % of what changes most.
    let tolerance = asked.max(world.statistics().tolerance);
    assert!(tolerance <= asked || world.statistics().n_blocks >= 25, "{what}: {tolerance}");
    let residual = match outcome {
        StepOutcome::Solved { residual, .. } => {
            assert!(residual <= tolerance, "{what}: {outcome:?}");
            residual
        }
        StepOutcome::MaxIterations { residual, .. } => {
            assert!(residual > asked, "{what}: {outcome:?}");
            residual
        }
        StepOutcome::NonFinite(_) => panic!("{what}: {}", world.non_finite_report()),
    };
    assert!(residual.is_finite(), "{what}: {outcome:?}");
    finite(world, what);
    let ids: Vec<_> = world.body_ids().collect();
    let (h, gravity) = (world.settings().dt, world.settings().gravity);
    for (id, before) in ids.into_iter().zip(before) {
        let body = world.body(id);
        let d = body.description();
        // What bounces goes from impact to impact, with several impulses at one contact.
        if d.fixed || d.restitution > 0.0 {
            continue;
        }
        let (mut force, mut sum) = (gravity * d.mass, 0.0);
        for contact in world.contacts() {
            for (owner, sign) in [(contact.a, -1.0), (contact.b, 1.0)] {
                if owner == Owner::Body(id) {
                    force += contact.force * sign;
                    sum += contact.force.norm();
                }
            }
        }
        let change = body.velocity().linear - before.linear;
        let error = (change - force * (h / d.mass)).norm();
        let scale = change.norm() + before.linear.norm() + h * sum / d.mass;
        assert!(error <= 1e-9 * scale, "{what}: `{}` changes by {error} m/s too much", d.name);
    }
    residual
}

/// No number of the world is NaN or infinite.
pub(crate) fn finite(world: &World, what: &str) {
    for id in world.robot_ids() {
        let robot = world.robot(id);
        let numbers = robot.q().iter().chain(robot.v()).chain(robot.efforts());
        assert!(numbers.into_iter().all(|x| x.is_finite()), "{what}: {}", robot.name());
    }
    for id in world.body_ids() {
        let body = world.body(id);
        let (pose, v) = (body.pose(), body.velocity());
        let numbers = pose.translation.iter().chain(&v.linear).chain(&v.angular);
        let all = numbers.chain(pose.rotation.iter()).all(|x| x.is_finite());
        assert!(all, "{what}: {pose:?} {v:?}");
    }
    for contact in world.contacts() {
        assert!(contact.force.iter().all(|x| x.is_finite()), "{what}: {contact:?}");
        let normal = contact.force.dot(&contact.normal);
        assert!(normal >= -1e-9 * contact.force.norm(), "{what}: pulls: {contact:?}");
    }
}

/// Largest speed of a body. [m/s]
pub(crate) fn fastest(world: &World) -> f64 {
    let speeds = world.body_ids().map(|id| world.body(id).velocity().linear);
    speeds.map(|v: Vector3| v.norm()).fold(0.0, f64::max)
}
