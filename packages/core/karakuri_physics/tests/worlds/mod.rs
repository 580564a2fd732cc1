//! Random worlds full of contacts: trees that stand, lie and fall among bodies that overlap, and all that ties them.

#![expect(clippy::unwrap_used, reason = "a helper of tests may stop them")]

use std::sync::Arc;

use karakuri_model::{
    Base, BodyId, Drive, FrameId, GeometrySpec, JointSpec, Limits, Linear, LinkSpec, LoopFrames,
    LoopSpec, Model, ModelBuilder, MotorCommand, MotorLaw, MotorSpec, Shape, Viscoelastic,
};
use karakuri_physics::{
    Anchor, BodyDescription, Bushing, Failure, GearDescription, GearEnd, Integrator,
    JointDescription, ObjectId, Owner, Push, RobotId, Spring, Strength, Surface, World,
    WorldSettings,
};
use karakuri_spatial::{Force, Inertia, Matrix3, Motion, Pose, Vector3};
use karakuri_testkit::Random;

pub(crate) fn body(name: &str, shape: Shape, mass: f64, position: Vector3) -> BodyDescription {
    BodyDescription::new(name, shape, mass, Pose::from_translation(position))
}

/// A box, ball, cylinder or capsule about `size` large. [m]
pub(crate) fn shape(random: &mut Random, size: f64) -> Shape {
    let mut length = || random.uniform(0.5, 1.0) * size;
    let (x, y, z) = (length(), length(), length());
    match random.below(4) {
        0 => Shape::Box { size: Vector3::new(x, y, z) },
        1 => Shape::Sphere { radius: 0.5 * x },
        2 => Shape::Cylinder { radius: 0.5 * x, length: y },
        _ => Shape::Capsule { radius: 0.3 * x, length: y },
    }
}

/// A tree of `n` links with shapes, drives, limits and dry friction.
pub(crate) fn tree(random: &mut Random, name: &str, n: usize, base: Base) -> Model {
    let mut builder = ModelBuilder::new(name, base);
    for i in 0..=n {
        let inertia = Inertia { com: Vector3::zeros(), ..random.inertia() };
        let mut link = LinkSpec::new(&format!("link{i}"), inertia);
        let geometry = GeometrySpec::new(Pose::IDENTITY, shape(random, 0.15));
        link.collisions.push(GeometrySpec { friction: random.uniform(0.0, 1.0), ..geometry });
        builder = builder.link(link);
    }
    for i in 1..=n {
        let parent = if random.below(2) == 0 { i - 1 } else { random.below(i) };
        let (parent, child) = (format!("link{parent}"), format!("link{i}"));
        let drive = Drive { stiffness: random.uniform(0.0, 100.0), damping: 1.0 };
        let joint = JointSpec {
            drive: (random.below(2) == 0).then_some(drive),
            limits: Limits { lower: -0.5, upper: 0.5, effort: 5.0, velocity: 10.0 },
            friction: random.uniform(0.0, 0.1),
            ..JointSpec::revolute(&format!("joint{i}"), &parent, &child, random.axis())
        };
        builder = builder.joint(joint.at(random.pose(0.15)));
    }
    // Hard worlds: what overlaps by default touches.
    for i in 0..=n {
        for j in 0..i {
            builder = builder.keep_contact(&format!("link{i}"), &format!("link{j}"));
        }
    }
    builder.build().unwrap()
}

/// A parallelogram of hinges about y, flat at zero: there its loop is singular.
pub(crate) fn four_bar() -> Model {
    let bar = |mass: f64| Inertia {
        mass,
        com: Vector3::x() * 0.1,
        about_com: Matrix3::identity() * (mass * 4e-3),
    };
    let link = |name: &str| {
        let mut link = LinkSpec::new(name, bar(0.3));
        let tip = Pose::from_translation(Vector3::x() * 0.2);
        link.collisions.push(GeometrySpec::new(tip, Shape::Sphere { radius: 0.02 }));
        link
    };
    let at = |x: f64| Pose::from_translation(Vector3::x() * x);
    let closing = LoopSpec {
        name: "closing".into(),
        link_a: "coupler".into(),
        link_b: "follower".into(),
        frames: LoopFrames::OnLinks { a: at(0.2), b: at(0.2) },
        locked: [false, false, false, true, false, true],
        posture: None,
    };
    ModelBuilder::new("four_bar", Base::Fixed(Pose::from_translation(Vector3::z() * 0.3)))
        .link(LinkSpec::new("base", Inertia::ZERO))
        .link(link("crank"))
        .link(link("coupler"))
        .link(link("follower"))
        .joint(JointSpec::revolute("a", "base", "crank", Vector3::y()))
        .joint(JointSpec::revolute("b", "crank", "coupler", Vector3::y()).at(at(0.2)))
        .joint(JointSpec::revolute("c", "base", "follower", Vector3::y()).at(at(0.2)))
        .loop_joint(closing)
        .build()
        .unwrap()
}

/// Two trees, a four-bar and up to seven bodies on the ground and in each other.
pub(crate) fn crowd(seed: u64) -> World {
    let mut random = Random::new(seed);
    let integrator = Integrator::ALL[random.below(Integrator::ALL.len())];
    let mut world = World::new(WorldSettings { integrator, ..WorldSettings::default() });
    world.add_ground(random.uniform(0.2, 1.0), 0.0);
    let robots = [
        tree(&mut random, "walker", 5, Base::Floating),
        tree(&mut random, "arm", 4, Base::Fixed(Pose::from_translation(Vector3::z() * 0.2))),
        four_bar(),
    ];
    for model in robots {
        let model = Arc::new(model);
        let mut q = model.neutral_position();
        if model.base == Base::Floating {
            q[2] = 0.2;
        }
        let id = world.add_robot(&model.name, Arc::clone(&model), &q).unwrap();
        let v: Vec<f64> = (0..model.nv).map(|_| random.uniform(-1.0, 1.0)).collect();
        world.set_robot_state(id, &q, &v).unwrap();
    }
    for i in 0..3 + random.below(5) {
        let position = random.vector(0.25) + Vector3::z() * 0.27;
        let shape = shape(&mut random, 0.15);
        let mass = random.uniform(0.1, 5.0);
        let mut description = body(&format!("body{i}"), shape, mass, position);
        description.velocity = Motion::new(random.vector(5.0), random.vector(1.0));
        description.restitution = if random.below(3) == 0 { 0.5 } else { 0.0 };
        world.add_body(description).unwrap();
    }
    if seed % 2 == 1 {
        coat(&mut world);
    }
    world
}

/// A crowd whose things are tied to each other by joints that break and yield, bushings, a gear and a spring, pushed and moved by
/// motors, on a ground that runs.
pub(crate) fn tied_crowd(seed: u64) -> World {
    let mut world = crowd(seed);
    let mut random = Random::new(!seed);
    let [walker, arm, four_bar] = [0, 1, 2].map(RobotId);
    let bodies: Vec<ObjectId> = world.body_ids().collect();
    let link = |robot, frame| Owner::Link { robot, frame: FrameId(frame) };
    let mut joint = |a, b, locked, failure| {
        let six =
            |random: &mut Random, most: f64| std::array::from_fn(|_| random.uniform(0.0, most));
        JointDescription {
            a,
            b,
            pose_in_a: Pose::IDENTITY,
            locked,
            bushing: Some(Bushing {
                stiffness: six(&mut random, 300.0),
                damping: six(&mut random, 3.0),
            }),
            strength: Some(Strength { force: 30.0, torque: 3.0, failure }),
        }
    };
    let ball = [false, false, false, true, true, true];
    for (name, description) in [
        ("hook", joint(link(arm, 2), Owner::Body(bodies[0]), ball, Failure::Breaks)),
        ("mount", joint(Owner::Ground, Owner::Body(bodies[1]), [false; 6], Failure::Yields)),
        ("hand", joint(link(walker, 3), Owner::Body(bodies[2]), [false; 6], Failure::Breaks)),
    ] {
        world.attach_joint(name, description).unwrap();
    }
    let turns = |robot, body| GearEnd::Joint(robot, BodyId(body));
    let gear =
        GearDescription { a: turns(arm, 0), b: turns(four_bar, 0), ratio: -0.5, torque: 2.0 };
    world.attach_gear("belt", gear).unwrap();
    let leash = Spring {
        a: Anchor::World(Vector3::z()),
        b: Anchor::Link(walker, BodyId(0), Vector3::zeros()),
        stiffness: random.uniform(0.0, 200.0),
        damping: 1.0,
        rest_length: 0.5,
    };
    world.add_spring(leash).unwrap();
    let (point, until) = (random.vector(0.05), 0.02);
    let wrench = Force::new(random.vector(0.5), random.vector(20.0));
    let part = Owner::Body(bodies[0]);
    world.add_push(Push { part, point, wrench, from: 0.0, until }).unwrap();
    let elastic = Linear { stiffness: 20.0, damping: 0.5 };
    let laws: [(&str, &str, Arc<dyn MotorLaw>); 2] = [
        ("servo", "joint1", Arc::new(elastic)),
        (
            "rubber",
            "joint2",
            Arc::new(Viscoelastic { stiffness: 10.0, damping: 0.2, second_damping: 5.0 }),
        ),
    ];
    for (name, joint, law) in laws {
        let command =
            MotorCommand { position: random.uniform(-0.5, 0.5), ..MotorCommand::default() };
        let (name, joint) = (name.to_owned(), joint.to_owned());
        world.add_motor(arm, MotorSpec { name, joint, law, command, effort: 3.0 }).unwrap();
    }
    world.set_surface_velocity(Owner::Ground, Vector3::x() * 0.1).unwrap();
    world
}

/// Gives everything a material that resists rolling and spinning, and slides more easily than it sticks.
fn coat(world: &mut World) {
    let surface = Surface {
        dynamic_friction: 0.3,
        rolling: 2e-3,
        spinning: 5e-3,
        ..Surface::plain(0.6, 0.0)
    };
    let material = world.add_material("felt", surface).unwrap();
    let links = world.robot_ids().flat_map(|robot| {
        let n = world.robot(robot).model().frames.len();
        (0..n).map(move |frame| Owner::Link { robot, frame: FrameId(frame) })
    });
    let bodies = world.body_ids().map(Owner::Body);
    let parts: Vec<_> = links.chain(bodies).chain([Owner::Ground]).collect();
    for part in parts {
        world.set_material(part, material);
    }
}
