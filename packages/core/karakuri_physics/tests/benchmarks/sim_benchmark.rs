//! SimBenchmark (Hwangbo, Kang et al., ETH 2018), section 1.

use karakuri_physics::{Integrator, RobotId, World};
use karakuri_spatial::{Force, Motion, Vector3};

use crate::anymal::{START, anymal};
use crate::support::*;

/// The robot with its base at a height, joints in the start pose.
fn robot(dt: f64, gravity: [f64; 3], integrator: Integrator, solid: bool) -> (World, RobotId) {
    let mut w = world(dt, gravity, integrator);
    let (id, model) = add(&mut w, anymal(solid));
    let (mut q, v) = (w.robot(id).q().to_vec(), w.robot(id).v().to_vec());
    q[2] = 2.0;
    for (name, position) in START {
        q[model.joints[model.joint(name).unwrap().0].q_start] = position;
    }
    w.set_robot_state(id, &q, &v).unwrap();
    (w, id)
}

/// 1.6: mean of (E − E₀)² over 2 s of free fall after a throw. [J²]
fn anymal_energy(dt: f64, integrator: Integrator) -> f64 {
    let (mut w, id) = robot(dt, EARTH, integrator, false);
    let root = w.robot(id).model().body("trunk").unwrap();
    let force = Vector3::new(0.0, 0.0, 2.0 * 9.81 * w.robot(id).model().mass());
    for _ in 0..n_steps(&w, 1.0) {
        w.apply_link_wrench(id, root, Force::new(Vector3::zeros(), force));
        step(&mut w);
    }
    let (initial, n) = (energy(&mut w), n_steps(&w, 2.0));
    let mut sum = 0.0;
    for _ in 0..n {
        sum += (energy(&mut w) - initial).powi(2);
        step(&mut w);
    }
    sum / n as f64
}

#[test]
fn anymal_keeps_its_energy() {
    for (integrator, bar) in [(Integrator::Default, 1.2e-2), (Integrator::RungeKutta4, 1e-16)] {
        for dt in [1e-3, 4e-3, 1e-2] {
            let error = anymal_energy(dt, integrator);
            println!("1.6 ANYmal energy, {}, h = {dt}: {error:e} J²", integrator.name());
            assert!(dt > 1e-3 || error <= bar, "{}: {error:e} J²", integrator.name());
        }
    }
}

/// 1.7: mean of |P − P₀|² over 10 s after a ball hits the weightless robot. [(kg m/s)²]
fn anymal_momentum(dt: f64, integrator: Integrator) -> (f64, f64) {
    let (mut w, id) = robot(dt, WEIGHTLESS, integrator, true);
    let mut ball = sphere("ball", 0.2, 10.0, at(0.0, -5.0, 2.0));
    ball.velocity = Motion::new(Vector3::zeros(), Vector3::new(0.0, 5.0, 0.0));
    let ball = w.add_body(ball).unwrap();
    let (mut sum, n) = (0.0, n_steps(&w, 10.0));
    for _ in 0..n {
        let own = karakuri_dynamics::centroidal_momentum(
            &w.robot(id).model().clone(),
            &mut w.robot(id).data().clone(),
            w.robot(id).q(),
            w.robot(id).v(),
        );
        let total = own.linear + w.body(ball).velocity().linear * 10.0;
        sum += (total - Vector3::new(0.0, 50.0, 0.0)).norm_squared();
        step(&mut w);
    }
    (sum / n as f64, w.body(ball).velocity().linear.y)
}

#[test]
fn anymal_keeps_its_momentum() {
    // The best of the class has 4.7e-5; ours loses momentum in the one step of the impact.
    for (integrator, bar) in [(Integrator::Default, 3e-4), (Integrator::Momentum, 1e-20)] {
        for dt in [1e-3, 1e-2] {
            let (error, speed) = anymal_momentum(dt, integrator);
            println!("1.7 ANYmal momentum, {}, h = {dt}: {error:e} kg²m²/s²", integrator.name());
            assert!(speed < 4.0, "the ball hit the robot");
            assert!(dt > 1e-3 || error <= bar, "{}: {error:e}", integrator.name());
        }
    }
}

/// 1.1: 25 balls on a sliding box; mean squared error of the velocities of box and ball. [m²/s²]
fn rolling(direction: Vector3, seconds: f64) -> f64 {
    let mut w = world(1e-3, EARTH, Integrator::Default);
    // Coefficients whose geometric means are the pairs' 0.4, 0.8 and 0.5.
    w.add_ground(0.25, 0.0);
    let depth = 2e-5;
    let mut slab = cuboid("slab", [20.0, 20.0, 1.0], 10.0, at(0.0, 0.0, 0.5 - depth));
    slab.friction = 0.64;
    let slab = w.add_body(slab).unwrap();
    let mut first = None;
    for i in 0..25 {
        let (x, y) = (f64::from(i / 5) * 2.0 - 4.0, f64::from(i % 5) * 2.0 - 4.0);
        let mut ball = sphere(&format!("ball{i}"), 0.5, 1.0, at(x, y, 1.5 - 3.0 * depth));
        ball.friction = 1.0;
        let id = w.add_body(ball).unwrap();
        first.get_or_insert(id);
    }
    let (force, ground): (f64, f64) = (150.0, 0.4 * 35.0 * 9.81);
    let on_ball = (force - ground) / 10.0 / (3.5 + 2.5);
    let a = [(force - ground - 25.0 * on_ball) / 10.0, on_ball];
    assert!((a[0] - 0.7385).abs() < 1e-9 && (a[1] - 0.211).abs() < 1e-9, "{a:?}");
    let (mut sum, n) = (0.0, n_steps(&w, seconds));
    for _ in 0..n {
        for (id, a) in [slab, first.unwrap()].into_iter().zip(a) {
            let wanted = direction * (a * w.time());
            sum += (w.body(id).velocity().linear - wanted).norm_squared();
        }
        w.apply_body_wrench(slab, Force::new(Vector3::zeros(), direction * force));
        step(&mut w);
    }
    sum / n as f64
}

fn check_rolling(seconds: f64) {
    for direction in [Vector3::new(0.0, 1.0, 0.0), Vector3::new(0.5, 0.8660254037844386, 0.0)] {
        let error = rolling(direction, seconds);
        println!("1.1 rolling along {:?}: {error:e} m²/s²", direction.as_slice());
        assert!(error <= 1e-9, "{error:e} m²/s²");
    }
}

#[test]
fn balls_roll_on_a_sliding_box() {
    check_rolling(0.5);
}

#[test]
#[ignore = "8000 steps of 25 balls, 10 s"]
fn balls_roll_on_a_sliding_box_for_four_seconds() {
    check_rolling(4.0);
}

/// 1.8: stands on four feet at h = 5 ms under soft servos; every foot keeps its contact and does not creep.
#[test]
fn anymal_stands_without_creep() {
    let (mut w, id) = robot(5e-3, EARTH, Integrator::Default, true);
    w.add_ground(0.8, 0.0);
    let (mut q, v) = (w.robot(id).q().to_vec(), w.robot(id).v().to_vec());
    q[2] = 0.54;
    w.set_robot_state(id, &q, &v).unwrap();
    let drives = w.drive_mut(id);
    for k in 6..18 {
        (drives.stiffness[k], drives.damping[k], drives.enabled[k]) = (40.0, 1.0, true);
        drives.position[k] = q[k + 1];
    }
    let feet = |w: &World| {
        ["LF", "RF", "LH", "RH"].map(|leg| {
            let view = w.robot(id);
            let foot = view.model().frame(&format!("{leg}_foot")).unwrap();
            karakuri_dynamics::frame_pose(view.model(), view.data(), foot).translation
        })
    };
    run(&mut w, 5.0);
    let start = feet(&w);
    for _ in 0..n_steps(&w, 5.0) {
        step(&mut w);
        assert_eq!(w.contacts().count(), 4, "contacts at {} s", w.time());
    }
    let creep = feet(&w).iter().zip(start).map(|(a, b)| (a - b).norm()).fold(0.0_f64, f64::max);
    println!("1.8 stand: feet creep by {creep:e} m in 5 s, base at {} m", w.robot(id).q()[2]);
    assert!(creep <= 1e-6, "feet creep by {creep:e} m");
    assert!(w.robot(id).q()[2] > 0.3, "stands");
}
