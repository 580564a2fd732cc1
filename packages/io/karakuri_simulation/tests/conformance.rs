//! The simulated and the mocked robot pass the suite of every driver.

#![expect(clippy::unwrap_used, reason = "a helper of tests may stop them")]

use std::sync::Arc;

use karakuri_hardware::conformance::{Trial, check};
use karakuri_hardware::{JointCommand, RobotIo, RobotState};
use karakuri_model::{
    Drive, EndEffector, FrameId, JointSpec, Limits, Linear, LinkSpec, Model, ModelBuilder,
    MotorCommand, MotorSpec,
};
use karakuri_physics::{JointLimits, World, WorldSettings};
use karakuri_simulation::{Mock, SimulatedWorld};
use karakuri_spatial::{Inertia, Matrix3, Pose, Vector3};

/// Two hinged links of 1 kg that lie in the horizontal plane, so that gravity asks nothing of the drives.
fn model() -> Arc<Model> {
    arm(Vector3::z())
}

/// Two hinged links of 1 kg along x, with hinges of this axis.
fn arm(axis: Vector3) -> Arc<Model> {
    let inertia = Inertia {
        mass: 1.0,
        com: Vector3::new(0.1, 0.0, 0.0),
        about_com: Matrix3::identity() * 0.01,
    };
    let hinge = |name: &str, parent: &str, child: &str| {
        let at = Pose::from_translation(Vector3::new(0.2, 0.0, 0.0));
        let mut joint = JointSpec::revolute(name, parent, child, axis).at(at);
        joint.drive = Some(Drive { stiffness: 200.0, damping: 20.0 });
        joint.limits = Limits { lower: -2.0, upper: 2.0, velocity: 5.0, effort: 20.0 };
        joint
    };
    let built = ModelBuilder::new("arm", karakuri_model::Base::Fixed(Pose::IDENTITY))
        .link(LinkSpec::new("base", Inertia::ZERO))
        .link(LinkSpec::new("upper", inertia))
        .link(LinkSpec::new("lower", inertia))
        .joint(hinge("shoulder", "base", "upper"))
        .joint(hinge("elbow", "upper", "lower"))
        .build()
        .unwrap();
    Arc::new(built)
}

fn trial() -> Trial {
    Trial { joint: "elbow".to_owned(), stroke: 0.3, tolerance: 1e-3, settle: 2.0 }
}

/// The same with its elbow as the end effector.
fn hand() -> Arc<Model> {
    let mut model = Arc::unwrap_or_clone(model());
    model.end_effector = Some(EndEffector {
        kind: "any".to_owned(),
        tool_frame: FrameId(2),
        joints: vec![model.joint("elbow").unwrap()],
        sensors: Vec::new(),
        parameters: Vec::new(),
    });
    Arc::new(model)
}

/// Without commands a hand presses on, the arm stops where it is.
fn grips_on(io: &mut dyn RobotIo) {
    let mut state = RobotState::new(&io.robots()[0]);
    let mut command = JointCommand::new(&io.robots()[0]);
    for (gripping, elbow) in [(true, 0.3), (false, 0.0)] {
        command.position.fill(0.0);
        io.write(0, &command).unwrap();
        (0..2000).for_each(|_| io.advance().unwrap());
        command.position.fill(0.3);
        io.write(0, &command).unwrap();
        io.hold(0, gripping);
        (0..2000).for_each(|_| io.advance().unwrap());
        io.read(0, &mut state);
        let expected = [0.0, elbow];
        for (position, expected) in state.position.iter().zip(expected) {
            assert!((position - expected).abs() < 1e-3, "{gripping}: {:?}", state.position);
        }
    }
}

#[test]
fn a_hand_keeps_what_it_grips() {
    let mut world = World::new(WorldSettings::default());
    world.add_robot("arm", hand(), &[0.0, 0.0]).unwrap();
    grips_on(&mut SimulatedWorld::new(world, 2));
    grips_on(&mut Mock::new("arm", &hand(), &[0.0, 0.0], 2e-3));
}

/// Without what feeds its gravity forward, the shoulder would sag by `0.4 m · 9.81 N / 200 N·m/rad`, 20 mrad. A motor beside the
/// drive, here one that gives half of it, gives its own.
#[test]
fn an_arm_at_rest_does_not_sag_when_it_is_held() {
    // Gravity of links with their centres 0.1 m from their hinges, 0.2 m apart.
    let gravity = [-0.4 * 9.81, -0.1 * 9.81];
    for beside in [0.0, 0.5 * gravity[0]] {
        let mut world = World::new(WorldSettings::default());
        let id = world.add_robot("arm", arm(Vector3::y()), &[0.0, 0.0]).unwrap();
        let motor = MotorSpec {
            name: "beside".to_owned(),
            joint: "shoulder".to_owned(),
            law: Arc::new(Linear { stiffness: 0.0, damping: 0.0 }),
            command: MotorCommand { effort: beside, ..MotorCommand::default() },
            effort: 10.0,
        };
        world.add_motor(id, motor).unwrap();
        let mut io = SimulatedWorld::new(world, 2);
        let mut command = JointCommand::new(&io.robots()[0]);
        command.position.fill(0.0);
        command.effort.copy_from_slice(&[gravity[0] - beside, gravity[1]]);
        io.write(0, &command).unwrap();
        (0..2000).for_each(|_| io.advance().unwrap());
        let sag = |io: &SimulatedWorld| {
            io.world().robot(id).q().iter().fold(0.0, |most: f64, q| most.max(q.abs()))
        };
        assert!(sag(&io) < 1e-4, "{}", sag(&io));
        io.hold(0, true);
        (0..2000).for_each(|_| io.advance().unwrap());
        assert!(sag(&io) < 1e-4, "{}", sag(&io));
        // Put elsewhere, it is held without what it gave before.
        io.world_mut().set_robot_state(id, &[1.0, 0.0], &[0.0, 0.0]).unwrap();
        io.hold(0, true);
        assert_eq!(io.world_mut().drive_mut(id).effort, [0.0, 0.0]);
    }
}

#[test]
fn the_simulation_conforms() {
    let mut world = World::new(WorldSettings::default());
    world.add_robot("arm", model(), &[0.0, 0.0]).unwrap();
    let mut simulation = SimulatedWorld::new(world, 2);
    assert!((simulation.period() - 2e-3).abs() < 1e-15);
    check(&mut simulation, &trial()).unwrap();
}

#[test]
fn the_mock_conforms() {
    check(&mut Mock::new("arm", &model(), &[0.0, 0.0], 2e-3), &trial()).unwrap();
}

/// A drive that is sent beyond its joint's limits is sent to the limit: 100 rad would wind up what stands behind it.
#[test]
fn a_target_beyond_the_limits_is_the_limit() {
    let mut world = World::new(WorldSettings::default());
    world.add_robot("arm", model(), &[0.0, 0.0]).unwrap();
    let mut io = SimulatedWorld::new(world, 2);
    let mut command = JointCommand::new(&io.robots()[0]);
    (command.position[0], command.position[1]) = (100.0, -100.0);
    io.write(0, &command).unwrap();
    let world = io.world_mut();
    let id = world.find_robot("arm").unwrap();
    assert_eq!(world.drive_mut(id).position[..2], [2.0, -2.0]);
}

/// Whatever is changed of a robot while it runs, it is the robot that was there, and its commands go to its present limits.
#[test]
fn a_robot_whose_links_limits_or_loops_change_is_still_the_same() {
    let held = Arc::unwrap_or_clone(model());
    let closing = karakuri_model::LoopJoint {
        name: "clasp".to_owned(),
        body_a: held.body("lower"),
        pose_in_a: Pose::from_translation(Vector3::new(0.2, 0.0, 0.0)),
        body_b: None,
        pose_in_b: Pose::from_translation(Vector3::new(0.6, 0.0, 0.0)),
        locked: [false, false, false, true, false, false],
    };
    let mut world = World::new(WorldSettings::default());
    let looped = Arc::new(Model { loops: vec![closing], ..held });
    world.add_robot("arm", looped, &[0.0, 0.0]).unwrap();
    let mut io = SimulatedWorld::new(world, 2);
    let world = io.world_mut();
    let id = world.find_robot("arm").unwrap();
    let upper = world.robot(id).model().body("upper").unwrap();
    let heavy = Inertia { mass: 3.0, ..world.robot(id).model().bodies[upper.0].inertia };
    world.set_link_inertia(id, upper, heavy).unwrap();
    let limits = JointLimits { upper: 0.5, ..world.robot(id).joint_limits(0) };
    world.set_joint_limits(id, 0, limits).unwrap();
    world.open_loop(id, "clasp").unwrap();
    assert!(io.is_present(0), "{:?}", io.fault(0));
    let mut command = JointCommand::new(&io.robots()[0]);
    (command.position[0], command.position[1]) = (100.0, -100.0);
    io.write(0, &command).unwrap();
    assert_eq!(io.world_mut().drive_mut(id).position[..2], [0.5, -2.0]);
    io.advance().unwrap();
    let mut state = RobotState::new(&io.robots()[0]);
    io.read(0, &mut state);
    assert!(state.velocity[0] > 0.0, "it moves as commanded: {:?}", state.velocity);
}
