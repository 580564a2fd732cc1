//! Joints that come and go while the world runs, and what touches what.

#![expect(clippy::unwrap_used, reason = "a helper of tests may stop them")]
#![expect(non_snake_case, reason = "monogram notation, docs/notation.md")]
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts of steps are small"
)]

use std::sync::Arc;

use karakuri_model::{Base, JointSpec, LinkSpec, ModelBuilder, Shape};
use karakuri_physics::{
    BodyDescription, Failure, JointDescription, ObjectId, Owner, StepOutcome, Strength, World,
    WorldSettings,
};
use karakuri_spatial::{Inertia, Matrix3, Pose, Vector3};

const G: f64 = 9.81;
const RIGID: [bool; 6] = [true; 6];
const BALL: [bool; 6] = [false, false, false, true, true, true];

fn cube(name: &str, mass: f64, position: Vector3) -> BodyDescription {
    BodyDescription::new(
        name,
        Shape::Box { size: Vector3::repeat(0.1) },
        mass,
        Pose::from_translation(position),
    )
}

fn weightless() -> World {
    World::new(WorldSettings { gravity: Vector3::zeros(), ..WorldSettings::default() })
}

fn run(world: &mut World, seconds: f64) {
    for _ in 0..(seconds / world.settings().dt).round() as usize {
        let outcome = world.step();
        assert!(matches!(outcome, StepOutcome::Solved { .. }), "{outcome:?} at {} s", world.time());
    }
}

fn joint(a: Owner, b: Owner, frame: Vector3, locked: [bool; 6]) -> JointDescription {
    JointDescription {
        a,
        b,
        pose_in_a: Pose::from_translation(frame),
        locked,
        bushing: None,
        strength: None,
    }
}

/// Linear momentum and angular momentum about the origin of cubes of edge 0.1 m.
fn momentum(world: &World, ids: &[ObjectId]) -> (Vector3, Vector3) {
    ids.iter().fold(Default::default(), |(p, L), &id| {
        let (body, mass) = (world.body(id), world.body(id).description().mass);
        let (x, V) = (body.pose().translation, body.velocity());
        let spin = V.angular * (mass * 0.01 / 6.0);
        (p + V.linear * mass, L + x.cross(&(V.linear * mass)) + spin)
    })
}

/// Two cubes pass each other and are joined: momentum stays, they turn as one with ω = L/I, and go on when released.
#[test]
fn joining_is_an_inelastic_impact() {
    let mut world = weightless();
    let mut a = cube("a", 1.0, Vector3::new(0.0, -0.2, 0.0));
    a.velocity.linear = Vector3::new(1.0, 0.0, 0.3);
    let b = cube("b", 3.0, Vector3::new(0.0, 0.2, 0.0));
    let ids = [a, b].map(|body| world.add_body(body).unwrap());
    let (p, L) = momentum(&world, &ids);
    let [a, b] = ids.map(Owner::Body);
    let frame = Vector3::new(0.0, 0.3, 0.0);
    let id = world.attach_joint("weld", joint(a, b, frame, RIGID)).unwrap();
    world.step();
    let (p_after, L_after) = momentum(&world, &ids);
    assert!((p_after - p).norm() < 1e-12, "momentum changed by {}", p_after - p);
    // The position moves on with the new velocity: what is left is that of round-off.
    assert!((L_after - L).norm() < 1e-9, "angular momentum changed by {}", L_after - L);
    let [V_a, V_b] = ids.map(|id| world.body(id).velocity());
    assert!((V_a.angular - V_b.angular).norm() < 1e-9);
    // About the common centre of mass, 0.1 m below `b`: I = 4 · 0.01/6 + 1 · 0.3² + 3 · 0.1², L = 1 · 0.3 · 1.
    let inertia = 4.0 * 0.01 / 6.0 + 0.09 + 0.03;
    assert!((V_a.angular.z - 0.3 / inertia).abs() < 1e-9, "turns at {}", V_a.angular);
    run(&mut world, 1.0);
    let [X_A, X_B] = ids.map(|id| world.body(id).pose());
    let apart = (X_A.inverse() * X_B).translation - Vector3::new(0.0, 0.4, 0.0);
    assert!(apart.norm() < 1e-5, "the joint opened by {} m", apart.norm());
    world.detach_joint(id);
    assert_eq!(world.joint(id), None);
    let before = ids.map(|id| world.body(id).velocity().linear);
    run(&mut world, 0.1);
    assert_eq!(ids.map(|id| world.body(id).velocity().linear), before);
}

/// A cube on a ball joint with the world is a pendulum: T = 2π sqrt(I/(m g l)) for small swings.
#[test]
fn a_ball_joint_with_the_world_makes_a_pendulum() {
    let mut world = World::new(WorldSettings::default());
    let (angle, length) = (0.02_f64, 1.0);
    let bob = Vector3::new(angle.sin(), 0.0, -angle.cos()) * length;
    let id = world.add_body(cube("bob", 2.0, bob)).unwrap();
    world
        .attach_joint("pivot", joint(Owner::Ground, Owner::Body(id), Vector3::zeros(), BALL))
        .unwrap();
    let inertia = 2.0 * (0.01 / 6.0 + length * length);
    let period = std::f64::consts::TAU * (inertia / (2.0 * G * length)).sqrt();
    run(&mut world, period);
    let error = world.body(id).pose().translation - bob;
    assert!(error.norm() < 1e-4, "after a period off by {error}");
    assert!((world.body(id).pose().translation.norm() - length).abs() < 1e-6);
}

/// Hangs on a joint that bears a little more or less than its weight.
fn hung(share: f64, failure: Failure) -> (World, ObjectId) {
    let mut world = World::new(WorldSettings::default());
    let id = world.add_body(cube("load", 2.0, Vector3::zeros())).unwrap();
    let strength = Strength { force: share * 2.0 * G, torque: 1.0, failure };
    let mut hook = joint(Owner::Ground, Owner::Body(id), Vector3::zeros(), RIGID);
    hook.strength = Some(strength);
    world.attach_joint("hook", hook).unwrap();
    run(&mut world, 0.5);
    (world, id)
}

#[test]
fn breaks_and_yields_above_its_strength_and_not_below() {
    for failure in [Failure::Breaks, Failure::Yields] {
        let (world, id) = hung(1.001, failure);
        assert!(world.body(id).pose().translation.norm() < 1e-9, "{failure:?} below its strength");
        let report = world.joint(world.find_joint("hook").unwrap()).unwrap();
        assert!((report.wrench.force.z - 2.0 * G).abs() < 1e-5, "{report:?}");
        assert!(!report.broken && !report.yields, "{report:?}");
    }
    let (world, id) = hung(0.999, Failure::Breaks);
    assert!(world.joint(world.find_joint("hook").unwrap()).unwrap().broken);
    // Held for the first two steps.
    let fallen = 0.5 * G * 0.498_f64.powi(2);
    assert!((world.body(id).pose().translation.z + fallen).abs() < 1e-6);
    // Yielding: it sinks with what the joint does not bear, and stays where it is when the load is gone.
    let (mut world, id) = hung(0.9, Failure::Yields);
    let sunk = -world.body(id).pose().translation.z;
    // 499 steps that move by the velocity at their end.
    let expected = 0.5 * 0.1 * G * 0.499 * 0.5;
    assert!((sunk - expected).abs() < 1e-6 * expected, "sank {sunk} m, not {expected} m");
    let settings = WorldSettings { gravity: Vector3::zeros(), ..*world.settings() };
    world.set_settings(settings);
    run(&mut world, 1.0);
    assert!(world.body(id).velocity().linear.norm() < 1e-8, "still bends");
    let rest = world.body(id).pose().translation.z;
    run(&mut world, 1.0);
    assert!((world.body(id).pose().translation.z - rest).abs() < 1e-8, "springs back");
}

/// A slider without a drive that takes a load along: it falls with the load, and carries it.
#[test]
fn a_robot_takes_a_body_along() {
    let mass =
        |mass| Inertia { mass, com: Vector3::zeros(), about_com: Matrix3::identity() * 0.01 };
    let model = ModelBuilder::new("lift", Base::Fixed(Pose::IDENTITY))
        .link(LinkSpec::new("base", Inertia::ZERO))
        .link(LinkSpec::new("plate", mass(1.0)))
        .joint(JointSpec::prismatic("rail", "base", "plate", Vector3::x()))
        .build()
        .unwrap();
    let mut world = weightless();
    let q = model.neutral_position();
    let lift = world.add_robot("lift", Arc::new(model), &q).unwrap();
    let load = world.add_body(cube("load", 3.0, Vector3::new(0.0, 0.5, 0.0))).unwrap();
    world.set_robot_state(lift, &[0.0], &[2.0]).unwrap();
    let plate = world.find_part("lift/plate").unwrap();
    world.attach_joint("grip", joint(plate, Owner::Body(load), Vector3::zeros(), RIGID)).unwrap();
    run(&mut world, 1.0);
    assert!((world.robot(lift).v()[0] - 0.5).abs() < 1e-9, "{:?}", world.robot(lift).v());
    let p = world.body(load).pose().translation;
    assert!((p - Vector3::new(world.robot(lift).q()[0], 0.5, 0.0)).norm() < 1e-9, "load at {p}");
}

#[test]
fn goes_on_from_a_snapshot_and_drops_joints_of_what_is_gone() {
    let mut world = World::new(WorldSettings::default());
    let [a, b] = [0.0, 0.3]
        .map(|x| world.add_body(cube(&format!("at {x}"), 1.0, Vector3::new(x, 0.0, 0.0))).unwrap());
    world
        .attach_joint("pivot", joint(Owner::Ground, Owner::Body(a), Vector3::zeros(), BALL))
        .unwrap();
    world
        .attach_joint("weld", joint(Owner::Body(a), Owner::Body(b), Vector3::zeros(), RIGID))
        .unwrap();
    run(&mut world, 0.2);
    let saved = world.snapshot();
    run(&mut world, 0.2);
    let hash = world.state_hash();
    world.restore(&saved);
    run(&mut world, 0.2);
    assert_eq!(world.state_hash(), hash);
    world.remove_body(b);
    assert_eq!(world.joint_names().collect::<Vec<_>>(), ["pivot"]);
}

#[test]
fn says_what_cannot_be_joined() {
    let mut world = weightless();
    let id = world.add_body(cube("box", 1.0, Vector3::zeros())).unwrap();
    let body = Owner::Body(id);
    let mut say = |d| world.attach_joint("j", d).unwrap_err().to_string();
    let at = Vector3::zeros();
    assert!(say(joint(body, body, at, RIGID)).contains("one rigid body"));
    assert!(say(joint(body, Owner::Ground, at, [false; 6])).contains("holds nothing"));
    assert!(say(joint(Owner::Ground, Owner::Ground, at, RIGID)).contains("neither end can move"));
    assert!(say(joint(body, Owner::Ground, at * f64::NAN, RIGID)).contains("finite"));
    world.attach_joint("j", joint(body, Owner::Ground, at, RIGID)).unwrap();
    let again = world.attach_joint("j", joint(body, Owner::Ground, at, RIGID)).unwrap_err();
    assert_eq!(
        again.to_string(),
        "there is a joint `j` already; detach it first, or choose another name"
    );
    let missing = world.find_part("bax").unwrap_err().to_string();
    assert_eq!(missing, "there is no `bax`; there are: world, box");
}

/// Two boxes on each other: forces by name and by pair, and how far they are apart.
#[test]
fn contacts_and_distances_by_name() {
    let mut world = World::new(WorldSettings::default());
    world.add_ground(0.5, 0.0);
    world.add_body(cube("lower", 1.0, Vector3::new(0.0, 0.0, 0.05))).unwrap();
    world.add_body(cube("upper", 2.0, Vector3::new(0.01, 0.0, 0.15))).unwrap();
    world.add_body(cube("aside", 1.0, Vector3::new(0.5, 0.0, 0.05))).unwrap();
    run(&mut world, 0.5);
    let [ground, lower, upper, aside] =
        ["world", "lower", "upper", "aside"].map(|name| world.find_part(name).unwrap());
    let total = world.contact_wrench(lower).force;
    assert!((total - Vector3::z() * G).norm() < 1e-6, "on `lower` {total}");
    let by_ground = world.pair_wrench(ground, lower);
    assert!((by_ground.force.z - 3.0 * G).abs() < 1e-6, "by the ground {}", by_ground.force);
    let by_lower = world.pair_wrench(lower, upper);
    assert!((by_lower.force.z - 2.0 * G).abs() < 1e-6);
    assert!((by_lower.moment.y + 0.01 * 2.0 * G).abs() < 1e-6, "moment {}", by_lower.moment);
    assert_eq!(world.contacts_on(upper).count(), 4);
    let near = world.closest(lower, aside).unwrap();
    assert!((near.gap - 0.4).abs() < 1e-6, "{} m apart", near.gap);
    assert!((near.points[1].x - near.points[0].x - 0.4).abs() < 1e-6);
    assert_eq!(world.part_name(upper), "upper");
    let (from, down) = (Vector3::new(0.01, 0.02, 1.0), -Vector3::z());
    let hit = world.cast_ray(&from, &down, 2.0).unwrap();
    assert!(hit.part == upper && (hit.normal - Vector3::z()).norm() < 1e-6, "{hit:?}");
    assert!((hit.distance - 0.8).abs() < 1e-4, "{} m", hit.distance);
    assert_eq!(world.cast_ray(&from, &down, 0.7), None, "out of range");
    let beside = world.cast_ray(&Vector3::new(0.3, 0.0, 1.0), &down, 2.0).unwrap();
    assert!(beside.part == ground && (beside.distance - 1.0).abs() < 1e-12);
}

/// A box put on a running belt takes its speed after v/(μ g), and then rides along without creep.
#[test]
fn a_box_on_a_conveyor_takes_its_speed() {
    let (mu, speed) = (0.5, 1.0);
    let mut world = World::new(WorldSettings::default());
    let mut belt = cube("belt", 1.0, Vector3::new(0.0, 0.0, -0.05));
    belt.shape = Shape::Box { size: Vector3::new(10.0, 1.0, 0.1) };
    belt.fixed = true;
    world.add_body(belt).unwrap();
    let id = world.add_body(cube("box", 2.0, Vector3::new(0.0, 0.0, 0.05))).unwrap();
    let belt = world.find_part("belt").unwrap();
    world.set_surface_velocity(belt, Vector3::x() * speed).unwrap();
    let time = speed / (mu * G);
    run(&mut world, 0.5 * time);
    let v = world.body(id).velocity().linear.x;
    assert!((v - mu * G * world.time()).abs() < 1e-6, "halfway at {v} m/s");
    run(&mut world, 0.5 * time + 0.01);
    let (start, from) = (world.body(id).pose().translation.x, world.time());
    assert!((world.body(id).velocity().linear.x - speed).abs() < 1e-8);
    run(&mut world, 1.0);
    let creep = world.body(id).pose().translation.x - start - speed * (world.time() - from);
    assert!(creep.abs() < 1e-8, "creeps by {creep} m");
    assert!(world.set_surface_velocity(belt, Vector3::repeat(f64::NAN)).is_err());
}
