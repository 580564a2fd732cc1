//! Surfaces with a spring and a damper against the closed form of a step, and of rest.

#![expect(clippy::unwrap_used, reason = "a helper of tests may stop them")]

use karakuri_model::{Bumper, Shape};
use karakuri_physics::{
    BodyDescription, ObjectId, Owner, SolverSettings, StepOutcome, Surface, World, WorldSettings,
    solver::SOLVERS,
};
use karakuri_spatial::{Force, Pose, Vector3};
use proptest::prelude::*;

const G: f64 = 9.81;
const RADIUS: f64 = 0.1;

fn soft(stiffness: f64, damping: f64) -> Surface {
    Surface { bumper: Some(Bumper { stiffness, damping }), ..Surface::plain(0.5, 0.0) }
}

/// A body on the ground, each of its surface.
fn on_ground(
    settings: WorldSettings,
    (ground, own): (Surface, Surface),
    (shape, mass, z): (Shape, f64, f64),
) -> (World, ObjectId) {
    let mut w = World::new(settings);
    w.add_ground(0.5, 0.0);
    let body = BodyDescription::new(
        "body",
        shape,
        mass,
        Pose::from_translation(Vector3::new(0.0, 0.0, z)),
    );
    let id = w.add_body(body).unwrap();
    w.set_surface(Owner::Ground, ground).unwrap();
    w.set_surface(Owner::Body(id), own).unwrap();
    (w, id)
}

fn ball(mass: f64, gap: f64) -> (Shape, f64, f64) {
    (Shape::Sphere { radius: RADIUS }, mass, RADIUS + gap)
}

fn step(w: &mut World) {
    let outcome = w.step();
    let solved = match outcome {
        StepOutcome::Solved { .. } => true,
        StepOutcome::MaxIterations { residual, .. } => residual <= 1e-7,
        StepOutcome::NonFinite(_) => false,
    };
    assert!(solved, "{outcome:?} at {} s", w.time());
}

/// `c` of a spring and mass that come to rest soonest. [N·s/m]
fn critical(stiffness: f64, mass: f64) -> f64 {
    2.0 * (stiffness * mass).sqrt()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Every step of a ball that falls on a soft ground, bounces and falls again is backward Euler of spring and damper,
    /// `F = max(0, −K gap' − D v')`, no matter how stiff.
    #[test]
    fn every_step_is_backward_euler(
        mass in 0.1..10.0_f64, log_stiffness in 1.0..10.0_f64, part in 0.0..1.0_f64, log_dt in -4.0..-1.5_f64,
    ) {
        let (stiffness, h) = (10f64.powf(log_stiffness), 10f64.powf(log_dt));
        let damping = part * critical(stiffness, mass);
        let settings = WorldSettings { dt: h, ..WorldSettings::default() };
        let rigid = Surface::plain(0.5, 0.0);
        let (mut w, id) = on_ground(settings, (soft(stiffness, damping), rigid), ball(mass, 0.01));
        let mut touched = false;
        for _ in 0..300 {
            let (v, gap) = (w.body(id).velocity().linear.z, w.body(id).pose().translation.z - RADIUS);
            step(&mut w);
            let after = w.body(id).velocity().linear.z;
            let free = v - h * G;
            let pushes = |after: f64| h * (-stiffness * (gap + h * after) - damping * after);
            // Before it touches the damper does nothing: the spring's row begins where the gap closes.
            let gain = h * stiffness + damping;
            let target = if gap > 0.0 { -gap / h } else { -stiffness * gap / gain };
            let expected = (mass * free + h * gain * target) / (mass + h * gain);
            let expected = if free > target { free } else { expected };
            prop_assert!((after - expected).abs() <= 1e-7 * (1.0 + v.abs()), "{after}, not {expected}, at {gap} m");
            if gap <= 0.0 && after > free {
                touched = true;
                let error = mass * (after - free) - pushes(after);
                prop_assert!(error.abs() <= 1e-7 * (1.0 + v.abs()) * (mass + h * gain), "{error} N·s");
            }
        }
        prop_assert!(touched || h < 3e-4, "never touched");
    }

    /// At rest the spring bears the weight: `m g / K`; two soft surfaces are springs in series; and a face gives way as far as a
    /// point, for its corners share the spring.
    #[test]
    fn rests_where_the_spring_bears_the_weight(
        mass in 0.1..10.0_f64, of_ground in 2e4..1e6_f64, of_body in 2e4..1e6_f64, both in any::<bool>(), boxed in any::<bool>(),
    ) {
        let size = Vector3::new(0.3, 0.2, 2.0 * RADIUS);
        let shape = if boxed { Shape::Box { size } } else { Shape::Sphere { radius: RADIUS } };
        let own = if both { soft(of_body, critical(of_body, mass)) } else { Surface::plain(0.5, 0.0) };
        let compliance = 1.0 / of_ground + if both { 1.0 / of_body } else { 0.0 };
        let ground = soft(of_ground, critical(of_ground, mass));
        let (mut w, id) = on_ground(WorldSettings::default(), (ground, own), (shape, mass, RADIUS));
        for _ in 0..2000 {
            step(&mut w);
        }
        let depth = RADIUS - w.body(id).pose().translation.z;
        let expected = mass * G * compliance;
        // What rests is looked at again when it has moved by 1e-11 m: more is not known of a gap.
        let known = 1e-11;
        prop_assert!((depth - expected).abs() <= 1e-6 * expected + known, "{depth} m deep, not {expected}");
        let force: f64 = w.contacts().map(|c| c.force.z.abs()).sum();
        prop_assert!((force - mass * G).abs() <= 1e-6 * mass * G, "{force} N");
        prop_assert!(w.body(id).velocity().linear.norm() <= 1e-8);
    }
}

/// On a soft ground a box holds up to `μ m g`, at every height of its load, and every level of the ladder says so.
#[test]
fn friction_on_soft_ground_is_that_of_the_load() {
    let size = Vector3::new(0.4, 0.4, 0.1);
    for solver in SOLVERS.iter().filter(|s| s.level > 0) {
        for (factor, slides) in [(0.999, false), (1.001, true)] {
            let found = SolverSettings {
                method: solver.name,
                iterations: solver.iterations,
                ..SolverSettings::default()
            };
            let settings = WorldSettings { solver: found, ..WorldSettings::default() };
            let both = (soft(1e5, 600.0), Surface::plain(0.5, 0.0));
            let (mut w, id) = on_ground(settings, both, (Shape::Box { size }, 2.0, 0.05));
            for _ in 0..1000 {
                step(&mut w);
            }
            // Slowly, so that nothing bounces.
            let push = Vector3::new(0.6, 0.8, 0.0) * (factor * 0.5 * 2.0 * G);
            let mut start = w.body(id).pose().translation;
            for i in 1..=1000 {
                let part = f64::from(i).min(600.0) / 600.0;
                w.apply_body_wrench(id, Force::new(Vector3::zeros(), push * part));
                step(&mut w);
                if i == 700 {
                    start = w.body(id).pose().translation;
                }
            }
            let v = w.body(id).velocity().linear;
            let expected = if slides { 0.4 * (factor - 1.0) * 0.5 * G } else { 0.0 };
            let along = v.dot(&Vector3::new(0.6, 0.8, 0.0));
            assert!(
                (along - expected).abs() < 2e-2 * expected + 1e-7,
                "{}: {along} m/s, not {expected}",
                solver.name
            );
            let distance = (w.body(id).pose().translation - start).xy().norm();
            assert!(slides || distance < 1e-6, "{} creeps {distance} m", solver.name);
        }
    }
}

/// A spring gives back what it took, less with a damper, and never more, at any stiffness and step.
#[test]
fn no_soft_contact_gains_energy() {
    for stiffness in [1e2, 1e4, 1e6, 1e9, 1e12] {
        for h in [1e-4, 1e-3, 1e-2, 1e-1] {
            let settings = WorldSettings { dt: h, ..WorldSettings::default() };
            let (mut w, id) = on_ground(
                settings,
                (soft(stiffness, 0.0), Surface::plain(0.5, 0.0)),
                ball(1.0, 0.5),
            );
            let until = (5000.0 * h).min(5.0);
            let mut highest = 0.5 + RADIUS;
            let mut sank = false;
            while w.time() < until {
                step(&mut w);
                let z = w.body(id).pose().translation.z;
                sank |= z < RADIUS;
                if sank {
                    assert!(z <= highest + 1e-9, "{z} m at K = {stiffness:e}, h = {h}");
                }
                highest = highest.max(z);
            }
        }
    }
}

/// What no surface has is refused by name.
#[test]
fn unusable_bumpers_are_refused() {
    let mut w = World::new(WorldSettings::default());
    for (stiffness, damping) in
        [(0.0, 1.0), (-1.0, 0.0), (f64::NAN, 0.0), (1.0, -1.0), (f64::INFINITY, 0.0)]
    {
        let error = w.add_material("felt", soft(stiffness, damping)).unwrap_err().to_string();
        assert!(error.contains("`felt`") && error.contains("stiffness"), "{error}");
    }
    let both = Surface { restitution: 0.5, ..soft(1.0, 1.0) };
    let error = w.add_material("felt", both).unwrap_err().to_string();
    assert!(error.contains("bounces by its spring"), "{error}");
}
