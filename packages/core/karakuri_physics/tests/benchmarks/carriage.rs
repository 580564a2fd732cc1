//! Grasp and hold, section 7, on a carriage that moves: slides along x, y and z that carry the two pads.
//!
//! Three ways to accelerate it:
//!
//! * *prescribed*: every slide has a servo of 1e9 N·s/m and no stiffness, whose target goes up by `a h` a step;
//! * *pushed*: the slides have no servo; on them act the mass of all that they carry, block included, times `a − g`;
//! * *driven*: servos of 500 N/m and 50 N·s/m at limits of effort; their targets of position jump.

use karakuri_physics::{ObjectId, Owner, RobotId, World};
use karakuri_spatial::{Motion, Vector3};

use crate::support::*;

const G: f64 = 9.81;
/// Mass of carriage, pads and block. [kg]
const MASS: f64 = 1.4;
/// `2 μ F / m`: the most of `|a − g|` across the pads. [m/s²]
const HOLD: f64 = 2.0 * 0.6 * 5.0 / 0.2;
/// `2 F / m`: the most along the axis of coupled jaws. [m/s²]
const CLOSING: f64 = 2.0 * 5.0 / 0.2;

/// Largest acceleration upwards, and sideways. [m/s²]
fn limits() -> (f64, f64) {
    let (up, side) = (HOLD - G, (HOLD * HOLD - G * G).sqrt());
    assert!((up - 20.19).abs() < 1e-9 && (side - 28.3507).abs() < 1e-4);
    (up, side)
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Drive {
    Prescribed,
    Pushed,
    Driven,
}

struct Carriage {
    w: World,
    id: RobotId,
    block: ObjectId,
    slides: [usize; 3],
    /// Whether the jaws move as one: the block then has a place along x, too.
    coupled: bool,
    /// Least normal force of a pad in a step so far. [N]
    least: f64,
}

impl Carriage {
    fn new(coupled: bool, dt: f64, drive: Drive) -> Self {
        let mut w = scene_at(if coupled { "carriage_coupled" } else { "carriage" }, dt);
        let (id, block) = (only_robot(&w), w.find_body("block").unwrap());
        let slides = ["slide_x", "slide_y", "slide_z"].map(|name| dof(&w, id, name));
        let (stiffness, damping) = match drive {
            Drive::Prescribed => (0.0, 1e9),
            Drive::Pushed => (0.0, 0.0),
            Drive::Driven => (500.0, 50.0),
        };
        let drives = w.drive_mut(id);
        for k in slides {
            (drives.stiffness[k], drives.damping[k]) = (stiffness, damping);
        }
        Self { w, id, block, slides, coupled, least: f64::INFINITY }
    }

    /// Starts with carriage and block at a velocity. [m/s]
    fn launch(&mut self, velocity: &Vector3) {
        let (q, mut v) = (self.w.robot(self.id).q().to_vec(), self.w.robot(self.id).v().to_vec());
        for (k, v_i) in self.slides.iter().zip(velocity) {
            v[*k] = *v_i;
            self.w.drive_mut(self.id).velocity[*k] = *v_i;
        }
        self.w.set_robot_state(self.id, &q, &v).unwrap();
        let motion = Motion::new(Vector3::zeros(), *velocity);
        self.w.set_body_state(self.block, at(0.0, 0.0, 1.0), motion).unwrap();
    }

    /// Accelerates in the next step, prescribed or pushed. [m/s²]
    fn accelerate(&mut self, drive: Drive, a: &Vector3) {
        let h = self.w.settings().dt;
        let drives = self.w.drive_mut(self.id);
        for (i, &k) in self.slides.iter().enumerate() {
            if drive == Drive::Prescribed {
                drives.velocity[k] += a[i] * h;
            } else {
                drives.effort[k] = MASS * (a[i] + if i == 2 { G } else { 0.0 });
            }
        }
    }

    fn velocity(&self) -> Vector3 {
        Vector3::from(self.slides.map(|k| self.w.robot(self.id).v()[k]))
    }

    fn step(&mut self) {
        step(&mut self.w);
        let mut normals = [0.0; 2];
        for contact in self.w.contacts_on(Owner::Body(self.block)) {
            let push = contact.force.dot(&contact.normal).abs();
            normals
                [usize::from(contact.position.x > self.w.body(self.block).pose().translation.x)] +=
                push;
        }
        self.least = normals.iter().fold(self.least, |least, n| least.min(*n));
    }

    /// How far the block has moved in the carriage; along the rails of free jaws it has no place. [m]
    fn slip(&self) -> f64 {
        let place = point(&self.w, self.id, "carriage", [0.0; 3]);
        let moved = self.w.body(self.block).pose().translation - place;
        if self.coupled { moved.norm() } else { moved.yz().norm() }
    }
}

/// How fast the block leaves its place while the carriage goes with `a`, if that is too much. [m/s²]
fn excess(a: &Vector3) -> f64 {
    if a.x == 0.0 {
        (a + Vector3::z() * G).norm() - HOLD
    } else {
        // The jaws, as heavy as the block, give way with it.
        0.5 * (a.norm() - CLOSING)
    }
}

/// 0.3 s at 0.999 and 1.001 of the limits, from rest in one step; both ways of acceleration.
fn check_limits(coupled: bool, limits: &[(&str, Vector3)]) {
    let seconds = 0.3;
    for (drive, dt) in [Drive::Prescribed, Drive::Pushed]
        .into_iter()
        .flat_map(|drive| [(drive, 1e-3), (drive, 5e-3)])
    {
        for (what, limit) in limits {
            for (factor, holds) in [(0.999, true), (1.001, false)] {
                let (mut carriage, a) = (Carriage::new(coupled, dt, drive), limit * factor);
                for _ in 0..n_steps(&carriage.w, seconds) {
                    carriage.accelerate(drive, &a);
                    carriage.step();
                }
                let (slip, case) = (carriage.slip(), format!("{drive:?} {what}, h = {dt}"));
                let off = (carriage.velocity() - a * seconds).norm();
                println!(
                    "7 carriage {case}: slips by {slip:e} m at {factor} of {:.4} m/s²",
                    limit.norm()
                );
                assert_eq!(slip <= 1e-6, holds, "{case}: slips by {slip:e} m at {factor}");
                if holds || drive == Drive::Prescribed {
                    assert!(off < 1e-6, "{case}: {off:e} m/s off the desired velocity at {factor}");
                }
                if !holds && drive == Drive::Prescribed {
                    let ratio = slip / (0.5 * excess(&a) * seconds * (seconds + dt));
                    assert!((ratio - 1.0).abs() < 1e-2, "{case}: slips by {ratio} of the distance");
                }
            }
        }
    }
}

#[test]
fn a_carriage_lifts_and_goes_sideways_up_to_the_limit() {
    let (up, side) = limits();
    check_limits(false, &[("up", Vector3::z() * up), ("sideways", Vector3::y() * side)]);
    check_limits(
        true,
        &[("up, coupled", Vector3::z() * up), ("sideways, coupled", Vector3::y() * side)],
    );
}

/// With coupled jaws the normal forces are F ± m a / 2.
#[test]
fn a_carriage_with_coupled_jaws_goes_along_their_axis() {
    check_limits(
        true,
        &[("along x", Vector3::x() * CLOSING), ("against x", Vector3::x() * -CLOSING)],
    );
}

#[test]
fn a_carriage_shakes_what_it_holds() {
    let (up, _) = limits();
    for dt in [1e-3, 5e-3] {
        for (factor, holds) in [(0.95, true), (1.1, false)] {
            let (amplitude, mut carriage) = (0.02, Carriage::new(false, dt, Drive::Prescribed));
            let omega = (factor * up / amplitude).sqrt();
            let rate = |t: f64| Vector3::z() * (amplitude * omega * (omega * t).cos());
            carriage.launch(&rate(0.0));
            for _ in 0..n_steps(&carriage.w, 2.0) {
                let t = carriage.w.time();
                carriage.accelerate(Drive::Prescribed, &((rate(t + dt) - rate(t)) / dt));
                carriage.step();
            }
            let (slip, least) = (carriage.slip(), carriage.least);
            println!(
                "7 carriage shakes at {factor}, h = {dt}: slips by {slip:e} m in 2 s, pads press with at least {least} N"
            );
            assert_eq!(slip <= 1e-6, holds, "{factor}, h = {dt}: slips by {slip:e} m");
        }
    }
}

fn axes() -> [(&'static str, bool, Vector3); 6] {
    let (up, side) = limits();
    [
        ("z", false, Vector3::z() * up),
        ("y", false, Vector3::y() * side),
        ("z, coupled", true, Vector3::z() * up),
        ("y, coupled", true, Vector3::y() * side),
        ("x, coupled", true, Vector3::x() * CLOSING),
        ("yz", false, Vector3::new(0.0, 1.0, 1.0) * diagonal_limit()),
    ]
}

/// Acceleration along y and along z at once: `a² + (a + g)² = (2 μ F / m)²`. [m/s²]
fn diagonal_limit() -> f64 {
    0.5 * ((2.0 * HOLD * HOLD - G * G).sqrt() - G)
}

fn check_steps(what: &str, dt: f64, carriage: &Carriage) {
    let (slip, least) = (carriage.slip(), carriage.least);
    println!(
        "7 carriage steps {what}, h = {dt}: slips by {slip:e} m, pads press with at least {least} N"
    );
    assert!(slip <= 1e-6, "{what}, h = {dt}: slips by {slip:e} m");
    assert!(least > 0.0, "{what}, h = {dt}: a pad presses with {least} N");
}

/// Acceleration that jumps between ± 0.9 of the limit.
#[test]
fn a_carriage_steps_its_acceleration() {
    for (what, coupled, limit) in axes() {
        for dt in [1e-3, 5e-3] {
            let mut carriage = Carriage::new(coupled, dt, Drive::Prescribed);
            for i in 0..n_steps(&carriage.w, 2.0) {
                let sign = if i % n_steps(&carriage.w, 0.2) < n_steps(&carriage.w, 0.1) {
                    0.9
                } else {
                    -0.9
                };
                carriage.accelerate(Drive::Prescribed, &(limit * sign));
                carriage.step();
            }
            check_steps(&format!("in acceleration along {what}"), dt, &carriage);
        }
    }
}

/// Targets of position jump by more than the servos' limits of effort let the carriage follow: 0.9 of the limit, on z above the
/// weight, so that the block is pushed as hard down as up.
#[test]
fn a_carriage_steps_its_target() {
    for (what, coupled, limit) in axes() {
        for dt in [1e-3, 5e-3] {
            let mut carriage = Carriage::new(coupled, dt, Drive::Driven);
            let slides = carriage.slides;
            let drives = carriage.w.drive_mut(carriage.id);
            for (i, &k) in slides.iter().enumerate() {
                let weight = if i == 2 { G } else { 0.0 };
                drives.effort[k] = MASS * weight;
                if limit[i] != 0.0 {
                    drives.effort_limit[k] = MASS * (0.9 * limit[i] + weight);
                }
            }
            let (mut most, mut before) = (0.0_f64, carriage.velocity());
            for i in 0..n_steps(&carriage.w, 2.0) {
                let jump = if i % n_steps(&carriage.w, 0.5) < n_steps(&carriage.w, 0.25) {
                    0.3
                } else {
                    -0.3
                };
                for (i, &k) in slides.iter().enumerate().filter(|(i, _)| limit[*i] != 0.0) {
                    carriage.w.drive_mut(carriage.id).position[k] = jump * limit[i].signum();
                }
                carriage.step();
                let a = (carriage.velocity() - before) / dt;
                most = most.max(a.dot(&limit) / limit.norm_squared());
                before = carriage.velocity();
            }
            check_steps(&format!("in target along {what}"), dt, &carriage);
            assert!((most - 0.9).abs() < 1e-6, "{what}, h = {dt}: up to {most} of the limit");
        }
    }
}
