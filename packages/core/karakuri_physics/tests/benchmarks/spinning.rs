//! Spinning bodies, section 5.

use karakuri_spatial::{Matrix3, Vector3};

use crate::support::*;

/// Flips about the intermediate axis: energy and world momentum stay, whatever the step.
#[test]
fn a_free_asymmetric_body_keeps_energy_and_momentum() {
    for dt in [1e-3, 1e-2, 5e-2] {
        let mut w = scene_at("flips", dt);
        let id = w.find_body("body").unwrap();
        let I = Matrix3::from_diagonal(&Vector3::new(1.0, 2.0, 3.0));
        let momentum = |w: &karakuri_physics::World| {
            let R = w.body(id).pose().rotation;
            R * I * R.transpose() * w.body(id).velocity().angular
        };
        let (L, E) = (momentum(&w), energy(&mut w));
        let (mut flips, mut up) = (0, true);
        let (mut off, mut points) = ([0.0_f64; 2], Vec::new());
        for _ in 0..n_steps(&w, 50.0) {
            step(&mut w);
            assert!(
                (momentum(&w) - L).norm() < 1e-10 * L.norm(),
                "{:e} at {} s",
                (momentum(&w) - L).norm(),
                w.time()
            );
            assert!((energy(&mut w) - E).abs() < 1e-10 * E, "at {} s", w.time());
            let now = [(momentum(&w) - L).norm() / L.norm(), (energy(&mut w) - E).abs() / E];
            off = [off[0].max(now[0]), off[1].max(now[1])];
            let rate = w.body(id).pose().rotation.tr_mul(&w.body(id).velocity().angular).y;
            if w.time() < 25.0 && w.time() > 0.1 * points.len() as f64 {
                points.push((w.time(), rate));
            }
            if (rate > 0.0) != up {
                (up, flips) = (rate > 0.0, flips + 1);
            }
        }
        println!("asymmetric body, h = {dt}: {flips} flips in 50 s");
        println!("5 free body, h = {dt}: momentum off by {:e}, energy by {:e}", off[0], off[1]);
        plot("flips", &format!("h = {:.0} ms", 1e3 * dt), &points);
        assert!(flips >= 5, "{flips} flips in 50 s");
    }
}
