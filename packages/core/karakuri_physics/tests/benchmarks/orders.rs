//! Orders of convergence, as `docs/theory/integrators.md` promises them.

use karakuri_physics::{BodyDescription, Integrator, RobotId, World, WorldSettings};
use karakuri_spatial::{Motion, Vector3};

use crate::support::*;

/// Order of a quantity by its values at steps `h`, `h/2`, `h/4`.
fn order(name: &str, at: impl Fn(f64) -> f64, h: f64) -> f64 {
    let values = [h, 0.5 * h, 0.25 * h].map(at);
    let [first, second] = [values[0] - values[1], values[1] - values[2]];
    let order = (first / second).abs().log2();
    println!("order of {name}: {order:.2} (changes {first:.1e}, {second:.1e})");
    order
}

/// A scene at a step, by an integrator.
fn scene_by(name: &str, dt: f64, integrator: Integrator) -> World {
    let mut w = scene_at(name, dt);
    w.set_settings(WorldSettings { integrator, ..*w.settings() });
    w
}

/// Mechanisms with loops are of second order, `rk4` too, which is the default there.
#[test]
fn a_mechanism_with_a_loop_is_of_second_order() {
    for integrator in Integrator::ALL {
        let crank = |dt: f64| {
            let mut w = scene_by("slider_crank", dt, integrator);
            run(&mut w, 1.0);
            joint(&w, only_robot(&w), "crank")
        };
        let found = order(&format!("a slider-crank, {}", integrator.name()), crank, 1e-4);
        assert!((1.9..2.1).contains(&found));
        let off = (crank(2.5e-4) - 13.111_568_327_13).abs();
        println!("a slider-crank, {}, h = 0.25 ms: {off:.1e} rad", integrator.name());
        assert!(off < 2e-5);
        let w = scene_by("slider_crank", 1e-3, integrator);
        let used = w.integrator_of(only_robot(&w));
        assert_eq!(used == integrator, integrator != Integrator::RungeKutta4);
    }
}

/// Servos and dampers: first order by the default's implicit law, of which the published table of `servo.rs` is, fourth by
/// `rk4` and second by `variational` while they are soft.
#[test]
fn soft_servos_have_the_order_of_their_integrator() {
    let drive = |w: &mut World, id: RobotId| {
        let drives = w.drive_mut(id);
        for k in 0..drives.enabled.len() {
            (drives.enabled[k], drives.stiffness[k], drives.damping[k]) = (true, 20.0, 0.5);
            drives.effort_limit[k] = f64::INFINITY;
        }
    };
    let orders = [
        (Integrator::Default, 0.9, 1.1),
        (Integrator::Momentum, 0.9, 1.1),
        (Integrator::Variational, 1.9, 2.1),
        (Integrator::RungeKutta4, 3.8, 4.2),
    ];
    for (integrator, least, most) in orders {
        let angle = |dt: f64| {
            let mut w = scene_by("rods", dt, integrator);
            let id = only_robot(&w);
            drive(&mut w, id);
            run(&mut w, 0.5);
            w.robot(id).q()[0]
        };
        let found = order(&format!("rods with servos, {}", integrator.name()), angle, 1e-3);
        assert!((least..most).contains(&found), "{}", integrator.name());
    }
}

/// Friction acts against the slip at the end of the step: of first order.
#[test]
fn what_slides_in_a_bend_is_of_first_order() {
    let slide = |dt: f64| {
        let (s, c) = 0.4_f64.sin_cos();
        let mut w = world(dt, [9.81 * s, 0.0, -9.81 * c], Integrator::Default);
        w.add_ground(0.3, 0.0);
        let ball = sphere("puck", 0.1, 1.0, at(0.0, 0.0, 0.1));
        let heavy = karakuri_spatial::Matrix3::identity() * 1e6;
        let velocity = Motion::new(Vector3::zeros(), Vector3::new(0.0, 2.0, 0.0));
        let puck = BodyDescription { inertia: Some(heavy), velocity, friction: 0.3, ..ball };
        let id = w.add_body(puck).unwrap();
        run(&mut w, 0.512);
        w.body(id).pose().translation.y
    };
    let found = order("a puck that slides in a bend", slide, 4e-3);
    assert!((0.9..1.1).contains(&found));
}

/// What rolls goes through the step by its midpoint.
#[test]
fn a_disc_that_rolls_on_its_rim_is_of_second_order() {
    let tilt = |dt: f64, duration: f64| {
        let mut w = scene_at("euler_disc", dt);
        let start = energy(&mut w);
        run(&mut w, duration);
        let disc = w.body_ids().next().unwrap();
        let tilt = w.body(disc).pose().rotation[(2, 2)].acos().to_degrees();
        (tilt, energy(&mut w) / start - 1.0)
    };
    let found = order("a disc that rolls on its rim", |dt| tilt(dt, 2.0).0, 2e-3);
    assert!((1.9..2.1).contains(&found), "{found}");
    let (tilt, growth) = tilt(1e-3, 2.0);
    println!("tilt after 2 s at 1 ms: {tilt}°, energy {growth:e}");
    assert!((tilt - 25.0).abs() < 0.02 && growth < 1e-6 && growth > -1e-3, "{tilt}°, {growth}");
}
