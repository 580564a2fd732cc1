//! Joints that move as tables say, what mimic joints give, and bounces at limits: by closed forms and inverse dynamics.
#![expect(clippy::unwrap_used, reason = "a test says so")]

use std::sync::Arc;

use karakuri_dynamics::{Data, rnea};
use karakuri_model::{
    Base, BodyId, Drive, GeometrySpec, JointKind, JointSpec, LinkSpec, MimicSpec, Model,
    ModelBuilder, Shape,
};
use karakuri_physics::{
    BodyDescription, MotionTable, Owner, RobotId, Scene, StepOutcome, World, WorldError,
    WorldSettings,
};
use karakuri_spatial::{Inertia, Matrix3, Pose, Vector3};

const G: f64 = 9.81;

fn settings(dt: f64) -> WorldSettings {
    WorldSettings { dt, energy_ledger: true, ..WorldSettings::default() }
}

fn link(name: &str, mass: f64, com: Vector3) -> LinkSpec {
    let about_com = Matrix3::from_diagonal(&Vector3::new(0.02, 0.03, 0.01)) * mass;
    LinkSpec::new(name, Inertia { mass, com, about_com })
}

/// An arm of two links that swings in a vertical plane.
fn arm() -> Arc<Model> {
    let turn = JointKind::Revolute { axis: Vector3::y() };
    let mut shoulder = JointSpec::new("shoulder", "ground", "upper", Some(turn.clone()));
    shoulder.drive = Some(Drive { stiffness: 1000.0, damping: 10.0 });
    let elbow = JointSpec::new("elbow", "upper", "lower", Some(turn))
        .at(Pose::from_xyz_rpy([0.4, 0.0, 0.0], [0.0; 3]));
    Arc::new(
        ModelBuilder::new("arm", Base::Fixed(Pose::IDENTITY))
            .link(LinkSpec::new("ground", Inertia::ZERO))
            .link(link("upper", 2.0, Vector3::new(0.2, 0.0, 0.03)))
            .link(link("lower", 1.0, Vector3::new(0.15, 0.0, 0.0)))
            .joint(shoulder)
            .joint(elbow)
            .build()
            .unwrap(),
    )
}

/// Samples of a law every 0.05 s, for two seconds.
fn table(law: impl Fn(f64) -> f64) -> MotionTable {
    let times: Vec<f64> = (0..=40).map(|i| 0.05 * f64::from(i)).collect();
    let positions = times.iter().map(|t| law(*t)).collect();
    MotionTable::new(times, positions, None).unwrap()
}

fn joint(world: &World, id: RobotId, name: &str) -> BodyId {
    world.robot(id).model().joint(name).unwrap()
}

fn step(world: &mut World) {
    assert!(matches!(world.step(), StepOutcome::Solved { .. }));
}

#[test]
fn a_prescribed_arm_is_where_its_tables_are_and_needs_the_torques_of_inverse_dynamics() {
    let laws: [fn(f64) -> f64; 2] = [|t| 0.8 * (3.0 * t).sin(), |t| 0.5 - 0.6 * (2.0 * t).cos()];
    let errors = [2e-3, 1e-3].map(|dt| {
        let mut world = World::new(settings(dt));
        let id = world.add_robot("arm", arm(), &[0.0; 2]).unwrap();
        for (name, law) in ["shoulder", "elbow"].into_iter().zip(laws) {
            let joint = joint(&world, id, name);
            world.prescribe_joint(id, joint, table(law)).unwrap();
        }
        let model = Arc::clone(world.robot(id).model());
        let (mut data, mut worst) = (Data::new(&model), 0.0_f64);
        while world.time() < 1.9 {
            let (q, v, t) =
                (world.robot(id).q().to_vec(), world.robot(id).v().to_vec(), world.time());
            step(&mut world);
            let robot = world.robot(id);
            for k in 0..2 {
                let off = robot.q()[k] - table(laws[k]).at(world.time()).0;
                assert!(off.abs() < 1e-15, "{t}: {off}");
                assert!((robot.v()[k] - (robot.q()[k] - q[k]) / dt).abs() < 1e-11, "{t}");
            }
            // Of the step itself to rounding, of the law to first order.
            let mean: Vec<f64> = (0..2).map(|k| (robot.v()[k] - v[k]) / dt).collect();
            let tau = rnea(&model, &mut data, &q, &v, &mean, &[]).to_vec();
            let rates = laws.map(|law| table(law).at(t).1);
            let e = 1e-5;
            let accelerations = laws.map(|law| {
                let table = table(law);
                (table.at(t + e).1 - table.at(t - e).1) / (2.0 * e)
            });
            let of_law = rnea(&model, &mut data, &q, &rates, &accelerations, &[]);
            for k in 0..2 {
                let effort = robot.efforts()[k];
                assert!((effort - tau[k]).abs() < 1e-8, "{t}: {effort} {}", tau[k]);
                if t > 0.01 {
                    worst = worst.max((effort - of_law[k]).abs());
                }
            }
        }
        let ledger = world.ledger();
        assert!(ledger.unexplained.abs() < 1e-9 && ledger.loops.abs() < 1e-9, "{ledger:?}");
        assert!((world.work_done() - ledger.servos).abs() < 1e-9, "{ledger:?}");
        worst
    });
    assert!((1.8..2.2).contains(&(errors[0] / errors[1])), "{errors:?}");
}

#[test]
fn samples_are_met_to_the_last_bit() {
    let mut world = World::new(settings(0.05));
    let id = world.add_robot("arm", arm(), &[0.0; 2]).unwrap();
    let law = |t: f64| (5.0 * t).sin();
    let shoulder = joint(&world, id, "shoulder");
    world.prescribe_joint(id, shoulder, table(law)).unwrap();
    for i in 1..=40 {
        world.step();
        assert_eq!(world.robot(id).q()[0].to_bits(), law(0.05 * f64::from(i)).to_bits());
        assert_eq!(world.prescribed_joints(id).collect::<Vec<_>>(), [(shoulder, 0.0)]);
    }
}

/// A table that slides up and down, with a plate of 0.4 m on it.
fn lift(mass: f64) -> Arc<Model> {
    let slide = JointKind::Prismatic { axis: Vector3::z() };
    let mut plate = link("plate", mass, Vector3::zeros());
    let shape = Shape::Box { size: Vector3::new(0.4, 0.4, 0.1) };
    plate.collisions.push(GeometrySpec::new(Pose::IDENTITY, shape));
    let builder = ModelBuilder::new("lift", Base::Fixed(Pose::IDENTITY))
        .link(LinkSpec::new("ground", Inertia::ZERO))
        .link(plate)
        .joint(JointSpec::new("slide", "ground", "plate", Some(slide)));
    Arc::new(builder.build().unwrap())
}

#[test]
fn what_a_prescribed_lift_carries_presses_by_its_weight_and_its_acceleration() {
    let mut world = World::new(settings(1e-3));
    let id = world.add_robot("lift", lift(3.0), &[0.0]).unwrap();
    // It rises with 2 m/s².
    let slide = joint(&world, id, "slide");
    world.prescribe_joint(id, slide, table(|t| t * t)).unwrap();
    let pose = Pose::from_xyz_rpy([0.0, 0.0, 0.1], [0.0; 3]);
    let shape = Shape::Box { size: Vector3::repeat(0.1) };
    let cube = world.add_body(BodyDescription::new("cube", shape, 1.5, pose)).unwrap();
    while world.time() < 1.0 {
        step(&mut world);
        if world.time() < 0.01 {
            continue;
        }
        let force = world.contact_wrench(Owner::Body(cube)).force.z;
        assert!((force - 1.5 * (G + 2.0)).abs() < 1e-6, "{}: {force}", world.time());
        let effort = world.robot(id).efforts()[0];
        assert!((effort - 4.5 * (G + 2.0)).abs() < 1e-6, "{}: {effort}", world.time());
    }
    // Of the height and speed that it gave.
    let given = 4.5 * (G * 1.0 + 0.5 * 4.0);
    assert!((world.work_done() - given).abs() < 5e-3 * given, "{} {given}", world.work_done());
}

/// Two weights that slide up and down, the second by `multiplier` times the first.
fn weights(multiplier: f64) -> Arc<Model> {
    let slide = || Some(JointKind::Prismatic { axis: Vector3::z() });
    let mut follower = JointSpec::new("follower", "ground", "b", slide());
    follower.mimic = Some(MimicSpec { leader: "leader".to_owned(), multiplier, offset: 0.1 });
    Arc::new(
        ModelBuilder::new("weights", Base::Fixed(Pose::IDENTITY))
            .link(LinkSpec::new("ground", Inertia::ZERO))
            .link(link("a", 3.0, Vector3::zeros()))
            .link(link("b", 2.0, Vector3::zeros()))
            .joint(JointSpec::new("leader", "ground", "a", slide()))
            .joint(follower)
            .build()
            .unwrap(),
    )
}

#[test]
fn a_mimic_joint_gives_what_newton_says() {
    for multiplier in [-1.0, 0.5, 2.0] {
        for damping in [0.0, 1e-9] {
            // In free motion, and by the implicit step.
            let mut world = World::new(settings(1e-3));
            let mut model = Model::clone(&weights(multiplier));
            model.joints[0].damping = damping;
            let id = world.add_robot("w", Arc::new(model), &[0.0, 0.1]).unwrap();
            world.record_reactions(true);
            for _ in 0..100 {
                step(&mut world);
                // (m₁ + k² m₂) a = -(m₁ + k m₂) g, and m₂ k a = λ - m₂ g.
                let a = -G * (3.0 + 2.0 * multiplier) / (3.0 + 2.0 * multiplier * multiplier);
                let expected = 2.0 * (multiplier * a + G);
                let effort = world.mimic_effort(id, 0);
                assert!((effort - expected).abs() < 1e-7, "{multiplier}: {effort} {expected}");
            }
            world.record_reactions(false);
            step(&mut world);
            assert!(world.mimic_effort(id, 0).is_nan());
        }
    }
}

#[test]
fn a_mimic_pair_that_is_driven_as_prescribed_shares_its_weights() {
    let mut world = World::new(settings(1e-3));
    let id = world.add_robot("w", weights(2.0), &[0.0, 0.1]).unwrap();
    let leader = joint(&world, id, "leader");
    world.prescribe_joint(id, leader, table(|t| 0.5 * t * t)).unwrap();
    world.record_reactions(true);
    // From rest: half of the first step's span stands still.
    step(&mut world);
    for _ in 0..500 {
        step(&mut world);
        let robot = world.robot(id);
        assert!((robot.q()[1] - 2.0 * robot.q()[0] - 0.1).abs() < 1e-12);
        // a₁ = 1, a₂ = 2 m/s².
        let follower = 2.0 * (G + 2.0);
        assert!((world.mimic_effort(id, 0) - follower).abs() < 1e-6);
        let effort = world.robot(id).efforts()[0];
        assert!((effort - 3.0 * (G + 1.0) - 2.0 * follower).abs() < 1e-6, "{effort}");
    }
}

#[test]
fn joints_that_cannot_be_prescribed_are_named() {
    let mut world = World::new(settings(1e-3));
    let id = world.add_robot("w", weights(2.0), &[0.0, 0.1]).unwrap();
    let follower = joint(&world, id, "follower");
    let refused = world.prescribe_joint(id, follower, table(|_| 0.0)).unwrap_err();
    assert!(matches!(refused, WorldError::Joint { ref name, .. } if name == "follower"));
    assert!(refused.to_string().contains("prescribe the one that leads"), "{refused}");
}

/// A weight on a slide from 0 to 1 m.
fn slider(restitution: f64) -> Arc<Model> {
    let slide = JointKind::Prismatic { axis: Vector3::z() };
    let mut joint = JointSpec::new("slide", "ground", "weight", Some(slide));
    (joint.limits.lower, joint.limits.upper) = (0.0, 1.0);
    joint.limit_restitution = restitution;
    let builder = ModelBuilder::new("slider", Base::Fixed(Pose::IDENTITY))
        .link(LinkSpec::new("ground", Inertia::ZERO))
        .link(link("weight", 2.0, Vector3::zeros()))
        .joint(joint);
    Arc::new(builder.build().unwrap())
}

#[test]
fn a_joint_leaves_its_limits_with_its_part_of_the_speed() {
    let gravity = Vector3::zeros();
    let mut world = World::new(WorldSettings { gravity, ..settings(1e-3) });
    let id = world.add_robot("s", slider(0.6), &[0.5]).unwrap();
    world.set_robot_state(id, &[0.5], &[-2.0]).unwrap();
    let mut speeds = vec![-2.0];
    for _ in 0..5000 {
        step(&mut world);
        let (q, v) = (world.robot(id).q()[0], world.robot(id).v()[0]);
        assert!((-1e-12..1.0 + 1e-12).contains(&q), "{q}");
        if (v - speeds[speeds.len() - 1]).abs() > 1e-9 {
            speeds.push(v);
        }
    }
    let expected = [-2.0, 1.2, -0.72, 0.432, -0.2592];
    assert_eq!(speeds.len(), expected.len(), "{speeds:?}");
    assert!(speeds.iter().zip(expected).all(|(v, e)| (v - e).abs() < 1e-9), "{speeds:?}");
}

#[test]
fn a_dropped_joint_bounces_to_its_height_and_comes_to_rest() {
    let mut world = World::new(settings(1e-4));
    let id = world.add_robot("s", slider(0.7), &[0.4]).unwrap();
    let (mut bounced, mut highest) = (false, 0.0_f64);
    while world.time() < 0.6 {
        step(&mut world);
        let (q, v) = (world.robot(id).q()[0], world.robot(id).v()[0]);
        bounced |= v > 0.0;
        highest = highest.max(if bounced { q } else { 0.0 });
    }
    assert!((highest - 0.49 * 0.4).abs() < 1e-3, "{highest}");
    while world.time() < 4.0 {
        step(&mut world);
    }
    let robot = world.robot(id);
    assert!(
        robot.q()[0].abs() < 1e-9 && robot.v()[0].abs() < 1e-9,
        "{} {}",
        robot.q()[0],
        robot.v()[0]
    );
}

const HEAD: &str = "robots:\n  - {name: r, urdf: r.urdf";

fn scene(text: &str, model: Arc<Model>) -> Result<World, String> {
    let scene = Scene::parse(text, "s.yaml").map_err(|e| e.to_string())?;
    World::from_scene(&scene, &[model]).map_err(|e| e.to_string())
}

#[test]
fn a_scene_prescribes_joints_by_samples() {
    let text = format!(
        "{HEAD}}}\nprescribed:\n  - {{joint: r/shoulder, times: [0, 1, 2], positions: [0.1, 0.6, 0.1]}}\n"
    );
    let mut world = scene(&text, arm()).unwrap();
    let id = world.find_robot("r").unwrap();
    assert!((world.robot(id).q()[0] - 0.1).abs() < 1e-15);
    for _ in 0..1500 {
        step(&mut world);
    }
    // The parabola 0.1 + t - t²/2.
    assert!((world.robot(id).q()[0] - (0.1 + 1.5 - 0.5 * 2.25)).abs() < 1e-12);
    for (motion, what) in [
        ("{joint: r/hip, times: [0], positions: [0]}", "there is no `r/hip`"),
        ("{joint: r/elbow, times: [0]}", "positions"),
        ("{joint: r/elbow, times: [1, 0], positions: [0, 1]}", "do not ascend"),
        ("{joint: r/elbow, table: a.csv, times: [0]}", "in `table` already"),
        ("{joint: r/elbow, table: a.csv}", "was not read"),
    ] {
        let text = format!("{HEAD}}}\nprescribed:\n  - {motion}\n");
        let said = scene(&text, arm()).unwrap_err();
        assert!(said.contains(what) && said.contains("s.yaml:4"), "{said}");
    }
}

#[test]
fn ball_joints_begin_turned_and_with_their_velocity() {
    let ball = JointSpec::new("ball", "ground", "rod", Some(JointKind::Spherical));
    let model = || {
        let builder = ModelBuilder::new("rod", Base::Fixed(Pose::IDENTITY))
            .link(LinkSpec::new("ground", Inertia::ZERO))
            .link(link("rod", 1.0, Vector3::new(0.0, 0.0, 0.3)))
            .joint(ball.clone());
        Arc::new(builder.build().unwrap())
    };
    let text =
        format!("{HEAD}, joints: {{ball: [0, 0.5, 0]}}, velocities: {{ball: [1, 2, 3]}}}}\n");
    let world = scene(&text, model()).unwrap();
    let robot = world.robot(world.find_robot("r").unwrap());
    let expected = [0.0, 0.25_f64.sin(), 0.0, 0.25_f64.cos()];
    assert!(robot.q().iter().zip(expected).all(|(q, e)| (q - e).abs() < 1e-15), "{:?}", robot.q());
    assert_eq!(robot.v(), [1.0, 2.0, 3.0]);
    let said = scene(&format!("{HEAD}, joints: {{ball: 0.5}}}}\n"), model()).unwrap_err();
    assert!(said.contains("has more than one degree of freedom"), "{said}");
    let said = scene(&format!("{HEAD}, joints: {{shoulder: [0, 1, 0]}}}}\n"), arm()).unwrap_err();
    assert!(said.contains("`shoulder` is no ball joint of robot `r`"), "{said}");
}
