//! The variational integrator: order, momentum, energy and the symplectic form over long runs.

use std::sync::Arc;

use karakuri_dynamics::{Data, centroidal_momentum, crba, difference};
use karakuri_model::{Base, BodyId, JointKind, JointSpec, LinkSpec, Model, ModelBuilder};
use karakuri_physics::{GearDescription, GearEnd, Integrator, RobotId, World, WorldSettings};
use karakuri_spatial::{Pose, Vector3};
use karakuri_testkit::{Kind, Random, random_position, random_tree, random_vector};

use crate::support::*;

const LONG: usize = 100_000;
const INTEGRATORS: [Integrator; 3] =
    [Integrator::Default, Integrator::RungeKutta4, Integrator::Variational];

/// A robot of a model in a world without contacts, at a position and velocity.
fn alone(model: &Arc<Model>, state: (&[f64], &[f64]), settings: WorldSettings) -> (World, RobotId) {
    let mut w = World::new(settings);
    let id = w.add_robot("robot", Arc::clone(model), state.0).unwrap();
    w.set_robot_state(id, state.0, state.1).unwrap();
    (w, id)
}

fn settings(dt: f64, gravity: [f64; 3], integrator: Integrator) -> WorldSettings {
    *world(dt, gravity, integrator).settings()
}

/// Largest distance of two states of a model.
fn distance(model: &Model, a: (&[f64], &[f64]), b: (&[f64], &[f64])) -> f64 {
    let mut dq = vec![0.0; model.nv];
    difference(model, a.0, b.0, &mut dq);
    let dv = a.1.iter().zip(b.1).map(|(a, b)| a - b);
    dq.iter().copied().chain(dv).fold(0.0, |most: f64, x| most.max(x.abs()))
}

/// Soft servos and dampers on all joints of one degree of freedom.
fn hold_softly(w: &mut World, id: RobotId) {
    let model = Arc::clone(w.robot(id).model());
    let drives = w.drive_mut(id);
    for joint in model.joints.iter().filter(|joint| joint.kind.single().is_some()) {
        let k = joint.v_start;
        (drives.enabled[k], drives.stiffness[k], drives.damping[k]) = (true, 20.0, 0.5);
        (drives.position[k], drives.effort_limit[k]) = (0.3, f64::INFINITY);
    }
}

#[test]
fn the_error_falls_with_the_square_of_the_step() {
    const KINDS: &[Kind] = &[Kind::Revolute, Kind::Prismatic, Kind::Spherical];
    for seed in 0..6 {
        let base = if seed % 2 == 0 { Base::Floating } else { Base::Fixed(Pose::IDENTITY) };
        let model = Arc::new(random_tree(seed, 7, base, KINDS));
        let mut random = Random::new(seed);
        let q = random_position(&model, &mut random);
        let v = random_vector(model.nv, &mut random);
        let after = |dt: f64, integrator| {
            let (mut w, id) = alone(&model, (&q, &v), settings(dt, EARTH, integrator));
            if seed >= 3 {
                hold_softly(&mut w, id);
            }
            run(&mut w, 0.2);
            (w.robot(id).q().to_vec(), w.robot(id).v().to_vec())
        };
        let exact = after(1e-4, Integrator::RungeKutta4);
        let error = |dt| {
            let state = after(dt, Integrator::Variational);
            distance(&model, (&state.0, &state.1), (&exact.0, &exact.1))
        };
        let (coarse, fine) = (error(2e-3), error(1e-3));
        println!("variational, tree {seed}: {coarse:e} at 2 ms, {fine:e} at 1 ms");
        assert!((3.8..4.2).contains(&(coarse / fine)), "tree {seed}: {coarse:e} {fine:e}");
    }
}

/// Momentum about the world's origin: linear, angular.
fn momentum(model: &Model, data: &mut Data, q: &[f64], v: &[f64]) -> (Vector3, Vector3) {
    let own = centroidal_momentum(model, data, q, v);
    let com = karakuri_dynamics::center_of_mass(model, data);
    (own.linear, own.angular + com.cross(&own.linear))
}

#[test]
fn a_tumbling_tree_keeps_its_momentum() {
    let model = Arc::new(random_tree(3, 6, Base::Floating, &[Kind::Revolute, Kind::Spherical]));
    let mut random = Random::new(3);
    let q = random_position(&model, &mut random);
    let mut v = random_vector(model.nv, &mut random);
    v[..6].copy_from_slice(&[0.0, 0.0, 0.0, 1.0, 2.0, 2.0]);
    let mut data = Data::new(&model);
    // Its centre of mass goes 5 m: farther away, the rounding of its position would turn the momentum about the origin.
    let (P, _) = momentum(&model, &mut data, &q, &v);
    let mass: f64 = model.bodies.iter().map(|body| body.inertia.mass).sum();
    let shift = Vector3::new(0.03, 0.04, 0.0) - P * (1.0 / mass);
    v[..3].copy_from_slice(shift.as_slice());
    for (integrator, n_steps) in [(Integrator::Default, LONG / 10), (Integrator::Variational, LONG)]
    {
        let (mut w, id) = alone(&model, (&q, &v), settings(1e-3, [0.0; 3], integrator));
        let (P, L) = momentum(&model, &mut data, &q, &v);
        let (mut linear, mut angular): (f64, f64) = (0.0, 0.0);
        for i in 0..n_steps {
            step(&mut w);
            if i % 100 == 99 {
                let view = w.robot(id);
                let (p, l) = momentum(&model, &mut data, view.q(), view.v());
                linear = linear.max((p - P).norm() / P.norm());
                angular = angular.max((l - L).norm() / L.norm());
            }
        }
        println!(
            "tumbling tree, {}, {n_steps} steps: linear momentum {linear:e}, angular {angular:e}",
            integrator.name()
        );
        if integrator == Integrator::Variational {
            assert!(linear <= 1e-12 && angular <= 1e-12, "{linear:e} {angular:e}");
        }
    }
}

/// Largest error of a floating tree in 5 s of flight: of its centre of mass against the parabola, relative to 1 m and the path,
/// and of the angular momentum about it.
fn flight_errors(mut w: World) -> [f64; 2] {
    let id = only_robot(&w);
    let model = &Arc::clone(w.robot(id).model());
    let gravity = w.settings().gravity;
    let mut data = Data::new(model);
    let start = centroidal_momentum(model, &mut data, w.robot(id).q(), w.robot(id).v());
    let com = karakuri_dynamics::center_of_mass(model, &data);
    let mass: f64 = model.bodies.iter().map(|body| body.inertia.mass).sum();
    let mut off = [0.0_f64; 2];
    for _ in 0..n_steps(&w, 5.0) {
        step(&mut w);
        let (view, t) = (w.robot(id), w.time());
        let now = centroidal_momentum(model, &mut data, view.q(), view.v());
        let path = start.linear * (t / mass) + gravity * (0.5 * t * t);
        let moved = karakuri_dynamics::center_of_mass(model, &data) - com;
        off[0] = off[0].max((moved - path).norm() / (1.0 + path.norm()));
        let turned = (now.angular - start.angular).norm() / start.angular.norm();
        off[1] = off[1].max(turned);
    }
    off
}

/// Couples the rates of the first two hinges of a tree, if it has two.
fn gear_two_hinges(world: &mut World, id: RobotId) {
    let model = Arc::clone(world.robot(id).model());
    let is_hinge = |i: &usize| matches!(model.joints[*i].kind, JointKind::Revolute { .. });
    let mut hinges =
        (0..model.joints.len()).filter(is_hinge).map(|i| GearEnd::Joint(id, BodyId(i)));
    if let (Some(a), Some(b)) = (hinges.next(), hinges.next()) {
        let gear = GearDescription { a, b, ratio: 0.5, torque: f64::INFINITY };
        world.attach_gear("gear", gear).unwrap();
    }
}

/// Trees that tumble in flight, with and without soft servos or a gear, weightless and on a parabola of 120 m.
#[test]
fn the_center_of_mass_of_a_tree_in_flight_stays_on_its_path() {
    const KINDS: &[Kind] = &[Kind::Revolute, Kind::Prismatic, Kind::Spherical];
    for integrator in [Integrator::Default, Integrator::Momentum, Integrator::Variational] {
        for gravity in [[0.0; 3], EARTH] {
            let mut flights = Vec::new();
            for seed in 0..6 {
                let model = Arc::new(random_tree(seed, 6, Base::Floating, KINDS));
                let mut random = Random::new(seed);
                let q = random_position(&model, &mut random);
                let v = random_vector(model.nv, &mut random);
                flights.push(alone(&model, (&q, &v), settings(1e-3, gravity, integrator)).0);
                let (mut held, id) = alone(&model, (&q, &v), settings(1e-3, gravity, integrator));
                hold_softly(&mut held, id);
                flights.push(held);
                let (mut geared, id) = alone(&model, (&q, &v), settings(1e-3, gravity, integrator));
                gear_two_hinges(&mut geared, id);
                flights.push(geared);
            }
            let mut chain = scene("flying_chain");
            chain.set_settings(settings(1e-3, gravity, integrator));
            flights.push(chain);
            let errors: Vec<[f64; 2]> = flights.into_iter().map(flight_errors).collect();
            let [com, spin] = [0, 1].map(|k| errors.iter().map(|e| e[k]).fold(0.0, f64::max));
            let name = integrator.name();
            println!("flight, {name}, g = {}: centre {com:.1e}, momentum {spin:.1e}", gravity[2]);
            assert!(integrator == Integrator::Default || (com < 2e-12 && spin < 2e-12), "{name}");
        }
    }
}

/// Two rods of 1 kg and 1 m on hinges about y.
fn double_pendulum() -> Arc<Model> {
    let rod = || diagonal(1.0, [0.0, 0.0, -0.5], [1.0 / 12.0, 1.0 / 12.0, 1e-3]);
    let builder = ModelBuilder::new("double_pendulum", Base::Fixed(Pose::IDENTITY))
        .link(base())
        .link(LinkSpec::new("upper", rod()))
        .link(LinkSpec::new("lower", rod()))
        .joint(JointSpec::revolute("shoulder", "base", "upper", Vector3::y()))
        .joint(JointSpec::revolute("elbow", "upper", "lower", Vector3::y()).at(at(0.0, 0.0, -1.0)));
    Arc::new(builder.build().unwrap())
}

/// A free body of inertia (1, 2, 3) as a floating tree of one link.
fn free_body() -> Arc<Model> {
    let body = diagonal(1.0, [0.0; 3], [1.0, 2.0, 3.0]);
    Arc::new(
        ModelBuilder::new("body", Base::Floating)
            .link(LinkSpec::new("body", body))
            .build()
            .unwrap(),
    )
}

/// How far the energy's mean over the last tenth of a long run is from that over the first, and its span. [J]
fn drift(w: &mut World) -> (f64, f64) {
    let initial = energy(w);
    let (mut means, mut lowest, mut highest) = ([0.0; 2], 0.0_f64, 0.0_f64);
    for i in 0..LONG {
        step(w);
        let error = energy(w) - initial;
        (lowest, highest) = (lowest.min(error), highest.max(error));
        if i < LONG / 10 {
            means[0] += error / (LONG / 10) as f64;
        } else if i >= LONG / 10 * 9 {
            means[1] += error / (LONG / 10) as f64;
        }
    }
    (means[1] - means[0], highest - lowest)
}

fn check_drift(name: &str, model: &Arc<Model>, state: (&[f64], &[f64]), dt: f64) {
    for integrator in [Integrator::Default, Integrator::Variational] {
        let (mut w, _) = alone(model, state, settings(dt, EARTH, integrator));
        let (drift, span) = drift(&mut w);
        println!("{name}, {}: drift {drift:e} J, span {span:e} J", integrator.name());
        if integrator == Integrator::Variational {
            assert!(drift.abs() < 0.05 * span, "{name}: {drift:e} J of {span:e} J");
        }
    }
}

#[test]
fn energy_does_not_drift_over_long_runs() {
    check_drift("double pendulum", &double_pendulum(), (&[2.5, 1.0], &[0.0, 0.0]), 5e-3);
    let spin = (&[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], &[0.0, 0.0, 0.0, 1e-3, 5.0, 1e-3]);
    check_drift("Dzhanibekov", &free_body(), (spin.0, spin.1), 1e-2);
}

/// The step maps (q, p) so that dq ∧ dp stays: `Jᵀ Ω J = Ω`, derivatives by central differences.
#[test]
fn a_step_keeps_the_symplectic_form() {
    let model = double_pendulum();
    let mut data = Data::new(&model);
    let n = 2;
    let start = [2.0, 1.0, 1.5, -0.7];
    for integrator in INTEGRATORS {
        let mut map = |x: &[f64; 4]| -> [f64; 4] {
            let M = crba(&model, &mut data, &x[..n]).clone();
            let v = M.clone().try_inverse().unwrap() * nalgebra::DVector::from_row_slice(&x[n..]);
            let (mut w, id) =
                alone(&model, (&x[..n], v.as_slice()), settings(0.02, EARTH, integrator));
            step(&mut w);
            let view = w.robot(id);
            let M = crba(&model, &mut data, view.q()).clone();
            let p = M * nalgebra::DVector::from_row_slice(view.v());
            [view.q()[0], view.q()[1], p[0], p[1]]
        };
        let e = 1e-4;
        let mut J = nalgebra::Matrix4::zeros();
        for j in 0..4 {
            let mut at = |d: f64| {
                let mut x = start;
                x[j] += d;
                map(&x)
            };
            let (a, b, c, d) = (at(e), at(-e), at(2.0 * e), at(-2.0 * e));
            for i in 0..4 {
                J[(i, j)] = (8.0 * (a[i] - b[i]) - (c[i] - d[i])) / (12.0 * e);
            }
        }
        let omega = nalgebra::Matrix4::new(
            0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, -1.0, 0.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0,
        );
        let error = (J.transpose() * omega * J - omega).amax();
        println!("symplectic form, {}: changed by {error:e}", integrator.name());
        if integrator == Integrator::Variational {
            assert!(error < 1e-10, "{error:e}");
        }
    }
}

#[test]
fn a_step_too_coarse_for_it_keeps_the_momentum_all_the_same() {
    let model = free_body();
    let (q, v) = ([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 30.0, 400.0, 20.0]);
    let (mut w, id) = alone(&model, (&q, &v), settings(1e-2, EARTH, Integrator::Variational));
    let mut data = Data::new(&model);
    let spin = centroidal_momentum(&model, &mut data, &q, &v).angular;
    run(&mut w, 1.0);
    let view = w.robot(id);
    let after = centroidal_momentum(&model, &mut data, view.q(), view.v()).angular;
    assert!((after - spin).norm() < 1e-10 * spin.norm(), "{after:?} {spin:?}");
}

/// Mechanisms with closed loops, one through singular positions, one redundant, for 30 s.
#[test]
fn loops_stay_closed_and_keep_their_energy() {
    for (name, allowed) in [("a02_two_windows", 1e-4), ("a04_bricard", 2e-5)] {
        let mut w = scene(name);
        w.set_settings(WorldSettings { integrator: Integrator::Variational, ..*w.settings() });
        let id = only_robot(&w);
        let model = Arc::clone(w.robot(id).model());
        let initial = energy(&mut w);
        let (mut worst, mut gap): (f64, f64) = (0.0, 0.0);
        for _ in 0..n_steps(&w, 30.0) {
            step(&mut w);
            worst = worst.max((energy(&mut w) - initial).abs());
            gap = gap.max(karakuri_physics::loop_gap(&model, w.robot(id).data()));
        }
        println!("{name}, variational, 30 s: energy within {worst:e} J, gap {gap:e} m");
        assert!(gap <= 1e-11 && worst < allowed, "{name}: {gap:e} m, {worst:e} J");
    }
}

#[test]
fn the_error_of_a_mechanism_falls_with_the_square_of_the_step() {
    let after = |dt: f64, integrator| {
        let mut w = scene_at("a04_bricard", dt);
        w.set_settings(WorldSettings { integrator, ..*w.settings() });
        run(&mut w, 1.0);
        let view = w.robot(only_robot(&w));
        (view.q().to_vec(), view.v().to_vec())
    };
    let model = Arc::clone(scene("a04_bricard").robot(RobotId(0)).model());
    let exact = after(1e-4, Integrator::Default);
    let error = |dt| {
        let state = after(dt, Integrator::Variational);
        distance(&model, (&state.0, &state.1), (&exact.0, &exact.1))
    };
    let (coarse, fine) = (error(4e-3), error(2e-3));
    println!("Bricard, variational: {coarse:e} at 4 ms, {fine:e} at 2 ms");
    assert!((3.6..4.4).contains(&(coarse / fine)), "{coarse:e} {fine:e}");
}
