//! Materials against closed forms: rolling, spinning, static and dynamic friction, mixing, pairs.

#![expect(clippy::unwrap_used, reason = "a helper of tests may stop them")]
#![expect(non_snake_case, reason = "monogram notation, docs/notation.md")]

use karakuri_model::Shape;
use karakuri_physics::{
    BodyDescription, Mix, Mixing, ObjectId, Owner, SolverSettings, StepOutcome, Surface, World,
    WorldSettings, solver::SOLVERS,
};
use karakuri_spatial::{Force, Motion, Pose, Vector3};
use proptest::prelude::*;

const G: f64 = 9.81;

fn thing(name: &str, shape: Shape, mass: f64, z: f64) -> BodyDescription {
    BodyDescription::new(name, shape, mass, Pose::from_translation(Vector3::new(0.0, 0.0, z)))
}

/// A world whose ground, and the one body in it, are of a material.
fn on_ground(
    settings: WorldSettings,
    surface: Surface,
    body: BodyDescription,
) -> (World, ObjectId) {
    let mut w = World::new(settings);
    w.add_ground(0.5, 0.0);
    let id = w.add_body(body).unwrap();
    let material = w.add_material("stuff", surface).unwrap();
    w.set_material(Owner::Ground, material);
    w.set_material(Owner::Body(id), material);
    (w, id)
}

fn step(w: &mut World) {
    let outcome = w.step();
    assert!(matches!(outcome, StepOutcome::Solved { .. }), "{outcome:?} at {} s", w.time());
}

fn with(method: &'static str) -> WorldSettings {
    let found = SOLVERS.iter().find(|s| s.name == method).unwrap();
    let solver = SolverSettings { method, iterations: found.iterations, ..Default::default() };
    WorldSettings { solver, ..WorldSettings::default() }
}

fn rolling_ball(settings: WorldSettings, R: f64, rolling: f64, v: f64) -> (World, ObjectId) {
    let mut ball = thing("ball", Shape::Sphere { radius: R }, 1.3, R);
    // Along no axis of the contact's frame.
    let along = Vector3::new(0.6, 0.8, 0.0);
    ball.velocity = Motion::new(Vector3::z().cross(&along) * (v / R), along * v);
    on_ground(settings, Surface { rolling, ..Surface::plain(0.6, 0.0) }, ball)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// It slows down by (5/7) g ρ / R, so it stops after v²/2 over that, straight ahead, and stays.
    #[test]
    fn a_rolling_ball_stops_after_the_closed_distance(
        R in 0.03..0.2_f64, part in 0.01..0.1_f64, v in 0.2..1.0_f64,
    ) {
        let rolling = part * R;
        let (mut w, id) = rolling_ball(WorldSettings::default(), R, rolling, v);
        let a = 5.0 / 7.0 * G * rolling / R;
        while w.time() < v / a + 0.2 {
            step(&mut w);
        }
        let (p, velocity) = (w.body(id).pose().translation, w.body(id).velocity());
        let (distance, expected) = (p.xy().norm(), v * v / (2.0 * a));
        // A step's share of the path.
        prop_assert!((distance - expected).abs() <= 1e-3 * v, "{distance} m of {expected}");
        prop_assert!((p.y * 0.6 - p.x * 0.8).abs() <= 1e-7, "leaves its line: {p}");
        prop_assert!(velocity.linear.norm() + velocity.angular.norm() <= 1e-7, "{velocity:?}");
    }

    /// I ω / (ρ m g) of a ball and of a disc on its face: the four points carry a quarter each.
    #[test]
    fn what_spins_stops_after_the_closed_time(
        R in 0.03..0.2_f64, part in 0.02..0.3_f64, spin in 1.0..20.0_f64,
    ) {
        let spinning = part * R;
        let mut ball = thing("ball", Shape::Sphere { radius: R }, 0.7, R);
        ball.velocity.angular.z = spin;
        let surface = Surface { spinning, ..Surface::plain(0.5, 0.0) };
        // The disc's points resist turning by their sliding too: none here.
        let mut disc = thing("disc", Shape::Cylinder { radius: R, length: 0.02 }, 0.7, 0.01);
        disc.velocity.angular.z = spin;
        let smooth = Surface { spinning, ..Surface::default() };
        for (part, surface, body) in [(0.4, surface, ball), (0.5, smooth, disc)] {
            let (mut w, id) = on_ground(WorldSettings::default(), surface, body);
            let expected = part * R * R * spin / (spinning * G);
            while w.body(id).velocity().angular.z > 1e-7 {
                step(&mut w);
                prop_assert!(w.time() < 2.0 * expected + 0.01, "still spins");
            }
            prop_assert!((w.time() - expected).abs() <= 2e-3, "{} s, not {expected}", w.time());
        }
    }

    /// Holds at 0.999 of μ_s m g, slides at 1.001, and then by (F − μ_d m g) / m.
    #[test]
    fn a_block_starts_at_static_and_goes_on_at_dynamic_friction(
        friction in 0.3..1.0_f64, part in 0.4..0.95_f64, azimuth in 0.0..6.0_f64,
    ) {
        let dynamic_friction = part * friction;
        let surface = Surface { dynamic_friction, ..Surface::plain(friction, 0.0) };
        for (factor, slides) in [(0.999, false), (1.001, true)] {
            let size = Vector3::new(0.2, 0.2, 0.02);
            let block = thing("block", Shape::Box { size }, 2.0, 0.01);
            let (mut w, id) = on_ground(WorldSettings::default(), surface, block);
            let push = Vector3::new(azimuth.cos(), azimuth.sin(), 0.0) * (factor * friction * 2.0 * G);
            for _ in 0..400 {
                w.apply_body_wrench(id, Force::new(Vector3::zeros(), push));
                step(&mut w);
            }
            let v = w.body(id).velocity().linear.norm();
            let a = (factor * friction - dynamic_friction) * G;
            if slides {
                prop_assert!((v / (0.4 * a) - 1.0).abs() < 0.02, "{v} m/s, not {}", 0.4 * a);
                // Let go, it is slowed by μ_d alone, and sticks for good when it stands.
                for _ in 0..50 {
                    step(&mut w);
                }
                let slower = v - w.body(id).velocity().linear.norm();
                let expected = (0.05 * dynamic_friction * G).min(v);
                prop_assert!((slower - expected).abs() < 1e-6, "{slower}, not {expected}");
            } else {
                prop_assert!(v < 1e-8, "creeps at {v} m/s");
            }
        }
    }
}

/// Every level that solves to a tolerance finds the same.
#[test]
fn all_solvers_roll_alike() {
    let mut ends = Vec::new();
    for solver in SOLVERS.iter().filter(|s| s.level > 0) {
        let (mut w, id) = rolling_ball(with(solver.name), 0.1, 0.005, 0.3);
        for _ in 0..300 {
            step(&mut w);
        }
        ends.push((solver.name, w.body(id).pose().translation));
    }
    for (name, end) in &ends {
        assert!((end - ends[0].1).norm() < 1e-7, "{name}: {ends:?}");
    }
}

/// A ball holds on a slope up to tan α = ρ / R, and rolls beyond by (5/7) g (sin α − ρ/R cos α).
#[test]
fn rolling_friction_holds_a_ball_on_a_slope() {
    let (R, rolling): (f64, f64) = (0.1, 0.004);
    for factor in [0.99, 1.01] {
        let slope = (factor * rolling / R).atan();
        let gravity = Vector3::new(G * slope.sin(), 0.0, -G * slope.cos());
        let settings = WorldSettings { gravity, ..WorldSettings::default() };
        let (mut w, id) = rolling_ball(settings, R, rolling, 0.0);
        for _ in 0..2000 {
            step(&mut w);
        }
        let x = w.body(id).velocity().linear.x;
        let a = 5.0 / 7.0 * G * (slope.sin() - rolling / R * slope.cos());
        let expected = if factor > 1.0 { 2.0 * a } else { 0.0 };
        assert!((x - expected).abs() < 1e-7, "{factor}: {x} m/s, not {expected}");
    }
}

/// Each rule, at a place where all of them differ.
#[test]
fn each_rule_mixes() {
    let expected = [0.2, 0.8, 0.5, 0.4, 0.16];
    for (mix, expected) in Mix::ALL.into_iter().zip(expected) {
        assert!((mix.of(0.2, 0.8) - expected).abs() < 1e-15, "{mix:?}");
        assert_eq!(mix.of(0.2, 0.8).to_bits(), mix.of(0.8, 0.2).to_bits(), "{mix:?}");
        assert_eq!(Mix::find(mix.name()), Some(mix));
        // The block slides by what the rule says.
        let mut w = World::new(WorldSettings::default());
        w.add_ground(0.2, 0.0);
        w.set_mixing(Mixing { friction: mix, ..Mixing::default() });
        let size = Vector3::new(0.2, 0.2, 0.02);
        let mut block = thing("block", Shape::Box { size }, 2.0, 0.01);
        block.friction = 0.8;
        block.velocity.linear.x = 1.0;
        let id = w.add_body(block).unwrap();
        for _ in 0..100 {
            step(&mut w);
        }
        let slower = 1.0 - w.body(id).velocity().linear.x;
        assert!((slower - 0.1 * expected * G).abs() < 1e-8, "{mix:?}: {slower}");
    }
}

/// A pair's own numbers win over the rules, in either order, and only for that pair.
#[test]
fn a_pair_overrides_the_rules() {
    let mut w = World::new(WorldSettings::default());
    w.add_ground(0.5, 0.0);
    let ice = w.add_material("ice", Surface::plain(0.1, 0.0)).unwrap();
    let steel = w.add_material("steel", Surface::plain(0.4, 0.0)).unwrap();
    w.set_pair(steel, ice, Surface::plain(0.02, 0.0)).unwrap();
    assert_eq!(w.pair(ice, steel), Surface::plain(0.02, 0.0));
    assert_eq!(w.pair(steel, steel), Surface::plain(0.4, 0.0));
    w.set_material(Owner::Ground, ice);
    let size = Vector3::new(0.2, 0.2, 0.02);
    let mut block = thing("block", Shape::Box { size }, 2.0, 0.01);
    block.velocity.linear.x = 1.0;
    let id = w.add_body(block).unwrap();
    w.set_material(Owner::Body(id), steel);
    for _ in 0..100 {
        step(&mut w);
    }
    let slower = 1.0 - w.body(id).velocity().linear.x;
    assert!((slower - 0.1 * 0.02 * G).abs() < 1e-8, "{slower}");
    let above = Surface { dynamic_friction: 0.5, ..Surface::plain(0.4, 0.0) };
    let error = w.add_material("odd", above).unwrap_err().to_string();
    assert!(
        error.starts_with("material `odd`: `dynamic_friction` is above `friction`; "),
        "{error}"
    );
    let error = w.add_material("ice", Surface::default()).unwrap_err().to_string();
    assert!(error.contains("the name is taken"), "{error}");
}

/// The ledger closes with all of it at work, and the contacts take what the ball loses.
#[test]
fn the_ledger_closes_on_materials() {
    let settings = WorldSettings { energy_ledger: true, ..WorldSettings::default() };
    let (mut w, id) = rolling_ball(settings, 0.1, 0.003, 1.0);
    let material = w.find_material("stuff").unwrap();
    let grippy = Surface {
        dynamic_friction: 0.4,
        spinning: 0.01,
        rolling: 0.002,
        ..Surface::plain(0.6, 0.0)
    };
    let other = w.add_material("other", grippy).unwrap();
    for i in 0..3 {
        let mut block =
            thing(&format!("box{i}"), Shape::Box { size: Vector3::repeat(0.1) }, 1.0, 0.07);
        block.pose.translation += Vector3::new(0.02 * f64::from(i), 1.0, 0.12 * f64::from(i));
        block.velocity = Motion::new(Vector3::new(0.5, 0.3, 4.0), Vector3::new(1.0, 0.0, 0.0));
        let id = w.add_body(block).unwrap();
        w.set_material(Owner::Body(id), other);
    }
    w.set_pair(material, other, grippy).unwrap();
    let before = w.body(id).velocity();
    let mut worst: f64 = 0.0;
    for _ in 0..1500 {
        let known = w.ledger().unexplained;
        let outcome = w.step();
        assert!(!matches!(outcome, StepOutcome::NonFinite(_)), "{outcome:?}");
        worst = worst.max((w.ledger().unexplained - known).abs());
    }
    assert!(worst <= 1e-9, "{worst:e} J in a step");
    assert!(w.ledger().contacts < -0.7, "{:?} from {before:?}", w.ledger());
}
