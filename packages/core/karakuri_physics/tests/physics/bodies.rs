//! Free bodies against closed forms.

#![expect(clippy::unwrap_used, reason = "a helper of tests may stop them")]
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts of steps are small"
)]

use karakuri_model::Shape;
use karakuri_physics::{
    BodyDescription, ObjectId, Stage, StageObserver, StepOutcome, World, WorldSettings,
};
use karakuri_spatial::{Motion, Pose, Vector3};

fn cube(name: &str, size: f64, mass: f64, position: Vector3) -> BodyDescription {
    BodyDescription::new(
        name,
        Shape::Box { size: Vector3::repeat(size) },
        mass,
        Pose::from_translation(position),
    )
}

fn ball(radius: f64, position: Vector3, velocity: Vector3) -> BodyDescription {
    BodyDescription {
        shape: Shape::Sphere { radius },
        velocity: Motion::new(Vector3::zeros(), velocity),
        ..cube("ball", 1.0, 1.0, position)
    }
}

fn on_ground(friction: f64, bodies: &[BodyDescription]) -> (World, Vec<ObjectId>) {
    let mut world = World::new(WorldSettings::default());
    world.add_ground(friction, 0.0);
    let ids = bodies.iter().map(|b| world.add_body(b.clone()).unwrap()).collect();
    (world, ids)
}

fn run(world: &mut World, seconds: f64) {
    let steps = (seconds / world.settings().dt).round() as usize;
    for _ in 0..steps {
        let outcome = world.step();
        assert!(matches!(outcome, StepOutcome::Solved { .. }), "{outcome:?} at {} s", world.time());
    }
}

#[test]
fn free_fall_is_exact() {
    let mut world = World::new(WorldSettings::default());
    let id = world
        .add_body(ball(0.1, Vector3::new(0.0, 0.0, 10.0), Vector3::new(1.0, 2.0, 3.0)))
        .unwrap();
    run(&mut world, 1.0);
    let expected = Vector3::new(1.0, 2.0, 10.0 + 3.0 - 0.5 * 9.81);
    let error = (world.body(id).pose().translation - expected).norm();
    assert!(error < 1e-11, "off by {error} m after 1 s");
}

#[test]
fn a_cube_rests_where_it_lies() {
    let (mut world, ids) = on_ground(0.5, &[cube("cube", 0.1, 1.0, Vector3::new(0.0, 0.0, 0.05))]);
    run(&mut world, 2.0);
    let p = world.body(ids[0]).pose().translation;
    assert!((p - Vector3::new(0.0, 0.0, 0.05)).norm() < 1.1e-5, "moved to {p}");
    let force: f64 = world.contacts().map(|c| c.force.z).sum();
    assert!((force - 9.81).abs() < 1e-6, "ground carries {force} N of 9.81 N");
}

/// A block on a plane of angle arctan(μ) sticks when the plane is flatter by 0.1 %, and slides when it is steeper,
/// with a = g (sin − μ cos).
#[test]
fn friction_holds_to_a_thousandth_of_its_limit_and_slides_beyond_in_every_direction() {
    for heading in [0.0, 0.3, 0.785, 1.2] {
        for (ratio, slides) in [(0.999, false), (1.001, true)] {
            let mu: f64 = 0.5;
            let angle = (mu * ratio).atan();
            let (mut world, ids) =
                on_ground(mu, &[cube("block", 0.1, 1.0, Vector3::new(0.0, 0.0, 0.05))]);
            let mut settings = *world.settings();
            let downhill = Vector3::new(f64::cos(heading), f64::sin(heading), 0.0);
            settings.gravity = (downhill * angle.sin() - Vector3::z() * angle.cos()) * 9.81;
            world.set_settings(settings);
            // This near the limit the first, cold steps may run out of sweeps; the result must not suffer.
            for _ in 0..2000 {
                let outcome = world.step();
                assert!(!matches!(outcome, StepOutcome::NonFinite(_)), "{outcome:?}");
            }
            let moved = world.body(ids[0]).pose().translation.xy().norm();
            let expected = 0.5 * 9.81 * (angle.sin() - mu * angle.cos()) * 4.0;
            if slides {
                assert!(
                    (moved - expected).abs() < 0.02 * expected,
                    "heading {heading}: slid {moved} m, not {expected} m"
                );
            } else {
                assert!(moved < 1e-6, "heading {heading}: crept {moved} m");
            }
        }
    }
}

/// Sliding ball: slips until v = 5/7 v₀, then rolls.
#[test]
fn a_sliding_ball_comes_to_roll_at_five_sevenths_of_its_speed() {
    let (mut world, ids) =
        on_ground(0.5, &[ball(0.1, Vector3::new(0.0, 0.0, 0.1), Vector3::new(1.0, 0.5, 0.0))]);
    run(&mut world, 1.0);
    let v = world.body(ids[0]).velocity();
    let expected = Vector3::new(1.0, 0.5, 0.0) * (5.0 / 7.0);
    assert!((v.linear - expected).norm() < 1e-3, "{} is not {expected}", v.linear);
    let slip = v.linear + v.angular.cross(&Vector3::new(0.0, 0.0, -0.1));
    assert!(slip.norm() < 1e-9, "slips at {} m/s", slip.norm());
}

#[test]
fn a_ball_bounces_with_its_restitution() {
    let mut bouncy = ball(0.1, Vector3::new(0.0, 0.0, 1.1), Vector3::zeros());
    bouncy.restitution = 0.5;
    let (mut world, ids) = on_ground(0.5, &[bouncy]);
    let impact = (2.0_f64 * 9.81).sqrt();
    while world.body(ids[0]).velocity().linear.z <= 0.0 {
        run(&mut world, 1e-3);
    }
    let v = world.body(ids[0]).velocity().linear.z;
    assert!((v - 0.5 * impact).abs() < 0.01, "left at {v} m/s, not {}", 0.5 * impact);
}

#[test]
fn a_stack_of_ten_stands() {
    let boxes: Vec<_> = (0..10)
        .map(|i| {
            cube(&format!("box{i}"), 0.1, 1.0, Vector3::new(0.0, 0.0, 0.05 + 0.1 * f64::from(i)))
        })
        .collect();
    let (mut world, ids) = on_ground(0.5, &boxes);
    for _ in 0..2000 {
        world.step();
    }
    let top = world.body(ids[9]).pose().translation;
    let sag = Vector3::new(0.0, 0.0, 0.95) - top;
    assert!(sag.norm() < 5e-4, "top box moved by {sag}");
}

/// What rests needs no solving: warm starts that are good enough stay so.
#[test]
fn a_stack_comes_to_rest() {
    let place = |i: usize| Vector3::new(0.0, 0.0, 0.05 + 0.1 * i as f64);
    let boxes: Vec<_> = (0..10).map(|i| cube(&format!("box{i}"), 0.1, 1.0, place(i))).collect();
    let (mut world, _) = on_ground(0.5, &boxes);
    run(&mut world, 1.0);
    let mut iterations = 0;
    for _ in 0..200 {
        world.step();
        iterations += world.statistics().iterations;
    }
    assert!(iterations <= 40, "{iterations} iterations in 200 steps");
}

/// A spinning top without torque keeps momentum and energy for a long time.
#[test]
fn torque_free_spin_does_not_blow_up() {
    let mut world =
        World::new(WorldSettings { gravity: Vector3::zeros(), ..WorldSettings::default() });
    let mut plate = cube("plate", 0.1, 1.0, Vector3::zeros());
    plate.shape = Shape::Box { size: Vector3::new(0.3, 0.2, 0.02) };
    plate.velocity.angular = Vector3::new(0.1, 30.0, 0.2);
    let id = world.add_body(plate).unwrap();
    let start = world.energy().kinetic;
    run(&mut world, 10.0);
    let end = world.energy().kinetic;
    assert!(
        end <= start * (1.0 + 1e-9) && end > 0.5 * start,
        "energy went from {start} to {end} J"
    );
    assert!(world.body(id).velocity().angular.norm() < 60.0);
}

#[test]
fn fifty_bodies_spawned_inside_each_other_stay_finite_and_calm() {
    let boxes: Vec<_> = (0..50)
        .map(|i| cube(&format!("box{i}"), 0.1, 1.0, Vector3::new(0.001 * f64::from(i), 0.0, 0.3)))
        .collect();
    let (mut world, ids) = on_ground(0.5, &boxes);
    for _ in 0..100 {
        let outcome = world.step();
        assert!(!matches!(outcome, StepOutcome::NonFinite(_)), "{outcome:?}");
    }
    for id in ids {
        let v = world.body(id).velocity();
        assert!(v.linear.norm() < 10.0, "flies off at {} m/s", v.linear.norm());
    }
}

#[test]
fn restore_and_step_is_bit_equal() {
    let boxes: Vec<_> = (0..6)
        .map(|i| {
            let mut b = cube(
                &format!("box{i}"),
                0.1,
                1.0,
                Vector3::new(0.03 * f64::from(i), 0.01, 0.1 + 0.11 * f64::from(i)),
            );
            b.velocity.angular = Vector3::new(1.0, f64::from(i), 0.5);
            b
        })
        .collect();
    let (mut world, _) = on_ground(0.5, &boxes);
    for round in 0..60 {
        for _ in 0..7 {
            world.step();
        }
        let saved = world.snapshot();
        for _ in 0..10 {
            world.step();
        }
        let first = world.state_hash();
        world.restore(&saved);
        for _ in 0..10 {
            world.step();
        }
        assert_eq!(world.state_hash(), first, "round {round}");
    }
}

/// Notes the stages.
struct Heard(Vec<Stage>);

impl StageObserver for Heard {
    fn enter(&mut self, stage: Stage) {
        self.0.push(stage);
    }
}

#[test]
fn a_watched_step_tells_its_stages_and_is_the_same_step() {
    let boxes = [cube("cube", 0.1, 1.0, Vector3::new(0.0, 0.0, 0.05))];
    let (mut world, _) = on_ground(0.5, &boxes);
    let (mut watched, _) = on_ground(0.5, &boxes);
    for _ in 0..20 {
        let mut heard = Heard(Vec::new());
        assert_eq!(watched.step_observed(&mut heard), world.step());
        heard.0.dedup();
        assert_eq!(heard.0, Stage::ALL);
        assert_eq!(watched.state_hash(), world.state_hash());
    }
}

/// The first step has no impulse to begin from.
#[test]
fn contacts_of_what_slides_begin_with_the_impulse_of_the_step_before() {
    let slides = BodyDescription {
        velocity: Motion::new(Vector3::zeros(), Vector3::x()),
        ..cube("box", 0.1, 1.0, Vector3::z() * 0.05)
    };
    let (mut world, _) = on_ground(0.3, &[slides]);
    for step in 0..300 {
        run(&mut world, 1e-3);
        let s = world.statistics();
        assert_eq!((s.n_loaded, s.n_warm), (4, if step == 0 { 0 } else { 4 }), "step {step}");
    }
}
