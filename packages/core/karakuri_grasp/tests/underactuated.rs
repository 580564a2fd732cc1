//! The law of an underactuated finger against the physics: its four-bar is a loop, and it presses on balls.

#![expect(clippy::unwrap_used, reason = "a helper of tests may stop them")]

use std::f64::consts::FRAC_PI_2;
use std::sync::Arc;

use karakuri_dynamics::frame_pose;
use karakuri_grasp::underactuated::{BentFinger, FingerTorques, UnderactuatedFinger};
use karakuri_model::{
    Base, Drive, GeometrySpec, JointSpec, Limits, LinkSpec, LoopFrames, LoopSpec, Model,
    ModelBuilder, Shape,
};
use karakuri_physics::{
    BodyDescription, RobotId, SolverSettings, StepOutcome, World, WorldSettings,
};
use karakuri_spatial::{Inertia, Matrix3, Pose, Vector3};

/// Bars at the back, square to the straight finger: ρ = 0.3 there.
const BACK: UnderactuatedFinger = UnderactuatedFinger {
    first_phalanx: 0.05,
    drive_link: 0.05,
    coupler: 0.061_032_778_078_668_51,
    arm: 0.015,
    arm_angle: -FRAC_PI_2,
};
/// Bars at the front, that pull.
const FRONT: UnderactuatedFinger =
    UnderactuatedFinger { coupler: 0.06, arm: 0.02, arm_angle: 0.4, ..BACK };

/// Length of the second phalanx, half the thickness of both, radius of the balls. [m]
const SECOND_PHALANX: f64 = 0.04;
const HALF: f64 = 0.004;
const BALL: f64 = 0.005;
/// Angle of the first phalanx, that nothing depends on. [rad]
const TURNED: f64 = 0.4;
/// Relative error of forces, of which the worst has 3e-14 here; other processors round otherwise.
const TOLERANCE: f64 = 1e-12;

fn bar(name: &str) -> LinkSpec {
    let about_com = Matrix3::identity() * 1e-5;
    LinkSpec::new(name, Inertia { mass: 0.02, com: Vector3::x() * 0.02, about_com })
}

fn along(x: f64) -> Pose {
    Pose::from_translation(Vector3::x() * x)
}

/// A phalanx with a face towards what it touches.
fn phalanx(name: &str, length: f64) -> LinkSpec {
    let size = Vector3::new(length, 2.0 * HALF, 0.02);
    let mut link = bar(name);
    link.collisions.push(GeometrySpec::new(along(0.5 * length), Shape::Box { size }));
    link
}

/// Positions of the joints `first`, `second`, `drive` and `coupler` of the finger with its first phalanx at [`TURNED`]. [rad]
fn posture(finger: &UnderactuatedFinger, bend: f64) -> [(&'static str, f64); 4] {
    let drive = finger.at(bend).unwrap().drive_angle;
    let arm = bend + finger.arm_angle;
    let end = [finger.first_phalanx + finger.arm * arm.cos(), finger.arm * arm.sin()];
    let start = [finger.drive_link * drive.cos(), finger.drive_link * drive.sin()];
    let coupler = (end[1] - start[1]).atan2(end[0] - start[0]) - drive;
    [("first", TURNED), ("second", bend), ("drive", TURNED + drive), ("coupler", coupler)]
}

/// The finger closed as a loop at `bend`, with a stop of joint 2 at `stop` and a spring there of `stiffness` [N·m/rad].
fn model(finger: &UnderactuatedFinger, bend: f64, stop: f64, stiffness: f64) -> Model {
    let hinge = |name, parent, child, x| {
        JointSpec { damping: 0.01, ..JointSpec::revolute(name, parent, child, Vector3::z()) }
            .at(along(x))
    };
    let on_arm = Vector3::new(finger.arm_angle.cos(), finger.arm_angle.sin(), 0.0) * finger.arm;
    let a = along(finger.coupler);
    let closing = LoopSpec {
        name: "pin".into(),
        link_a: "coupler".into(),
        link_b: "second".into(),
        frames: LoopFrames::OnLinks { a, b: Pose::from_translation(on_arm) },
        locked: [false, false, false, true, true, false],
        posture: Some("closed".into()),
    };
    ModelBuilder::new("finger", Base::Fixed(Pose::IDENTITY))
        .link(LinkSpec::new("base", Inertia::ZERO))
        .link(phalanx("first", finger.first_phalanx))
        .link(phalanx("second", SECOND_PHALANX))
        .link(bar("drive"))
        .link(bar("coupler"))
        .joint(hinge("first", "base", "first", 0.0))
        .joint(JointSpec {
            limits: Limits { lower: stop, ..Limits::NONE },
            drive: Some(Drive { stiffness, damping: 0.0 }),
            ..hinge("second", "first", "second", finger.first_phalanx)
        })
        .joint(JointSpec {
            drive: Some(Drive { stiffness: 0.0, damping: 0.0 }),
            ..hinge("drive", "base", "drive", 0.0)
        })
        .joint(hinge("coupler", "drive", "coupler", finger.drive_link))
        .posture("closed", &posture(finger, bend))
        .loop_joint(closing)
        .build()
        .unwrap()
}

/// A finger that presses with its drive's torque on balls that do not move.
struct Cell {
    world: World,
    robot: RobotId,
    finger: UnderactuatedFinger,
    drive: f64,
    stiffness: f64,
}

/// What a cell is made of.
struct Setup {
    finger: UnderactuatedFinger,
    bend: f64,
    /// Distances of the balls from the phalanges' joints. [m]
    contacts: [Option<f64>; 2],
    /// Least angle of joint 2. [rad]
    stop: f64,
    torques: FingerTorques,
}

impl Cell {
    fn new(setup: &Setup) -> Self {
        let Setup { finger, bend, torques, .. } = *setup;
        // At 1 rad from its rest, where the finger begins, it has its torque.
        let stiffness = torques.spring;
        let model = Arc::new(model(&finger, bend, setup.stop, stiffness));
        let settings = WorldSettings {
            gravity: Vector3::zeros(),
            // Forces are as wrong as mass over step lets this be.
            solver: SolverSettings { tolerance: 1e-14, ..SolverSettings::default() },
            ..WorldSettings::default()
        };
        let mut world = World::new(settings);
        let mut q = model.neutral_position();
        for (name, position) in posture(&finger, bend) {
            q[model.joints[model.joint(name).unwrap().0].q_start] = position;
        }
        let robot = world.add_robot("finger", Arc::clone(&model), &q).unwrap();
        let dof = |name| model.joints[model.joint(name).unwrap().0].v_start;
        let drives = world.drive_mut(robot);
        drives.effort[dof("drive")] = torques.drive;
        drives.position[dof("second")] = bend - 1.0;
        let mut cell = Self { world, robot, finger, drive: torques.drive, stiffness };
        for (name, at) in ["first", "second"].into_iter().zip(setup.contacts) {
            let Some(at) = at else { continue };
            let pose = cell.link(name) * Pose::from_translation(Vector3::new(at, HALF + BALL, 0.0));
            let ball = BodyDescription::new(name, Shape::Sphere { radius: BALL }, 1.0, pose);
            let ball = BodyDescription { fixed: true, friction: 0.0, ..ball };
            cell.world.add_body(ball).unwrap();
        }
        cell
    }

    fn link(&self, name: &str) -> Pose {
        let robot = self.world.robot(self.robot);
        frame_pose(robot.model(), robot.data(), robot.model().frame(name).unwrap())
    }

    fn bend(&self) -> f64 {
        let robot = self.world.robot(self.robot);
        robot.q()[robot.model().joints[robot.model().joint("second").unwrap().0].q_start]
    }

    fn run(&mut self, seconds: f64) {
        let end = self.world.time() + seconds;
        while self.world.time() < end {
            let outcome = self.world.step();
            assert!(!matches!(outcome, StepOutcome::NonFinite(_)), "{outcome:?}");
        }
    }

    /// Force of a phalanx on its ball along the phalanx's normal, and how far along the phalanx it acts; no distance where nothing touches. [N], [m]
    fn pressed(&self, name: &str) -> (f64, f64) {
        let ball = self.world.find_part(name).unwrap();
        let link = self.link(name);
        let [mut force, mut at] = [0.0, f64::NAN];
        for contact in self.world.contacts_on(ball) {
            force += contact.force.dot(&link.rotation.column(1));
            at = link.inverse().transform_point(&contact.position).x;
        }
        (force, at)
    }

    /// Distance of a phalanx from its ball. [m]
    fn gap(&self, name: &str) -> f64 {
        let [link, ball] =
            [format!("finger/{name}"), name.into()].map(|x| self.world.find_part(&x).unwrap());
        self.world.closest(link, ball).unwrap().gap
    }

    /// The closed forms' finger and torques, where it is.
    fn law(&self) -> (BentFinger, FingerTorques) {
        let bend = self.bend();
        let robot = self.world.robot(self.robot);
        let model = robot.model();
        let dof = model.joints[model.joint("second").unwrap().0].v_start;
        let spring = self.stiffness * (bend - robot.drives().position[dof]);
        (self.finger.at(bend).unwrap(), FingerTorques { drive: self.drive, spring })
    }
}

#[test]
fn both_phalanges_press_as_the_law_says() {
    for finger in [BACK, FRONT] {
        for (bend, contacts) in [
            (0.5, [0.025, 0.036]),
            (0.8, [0.025, 0.028]),
            (1.2, [0.04, 0.025]),
            (FRAC_PI_2, [0.025, 0.02]),
            (1.8, [0.02, 0.03]),
        ] {
            for (drive, spring) in [(1.0, 0.0), (1.0, 0.05), (0.2, 0.03)] {
                let torques = FingerTorques { drive, spring };
                let contacts = contacts.map(Some);
                let mut cell = Cell::new(&Setup { finger, bend, contacts, stop: -1.0, torques });
                cell.run(0.2);
                let (bent, torques) = cell.law();
                let [first, second] = ["first", "second"].map(|name| cell.pressed(name));
                let law = bent.forces([first.1, second.1], &torques);
                for (measured, law) in [first.0, second.0].into_iter().zip(law) {
                    let error = (measured / law - 1.0).abs();
                    assert!(
                        error < TOLERANCE,
                        "{finger:?} at {bend} rad, {torques:?}: {measured} N, not {law} N: {error:e}"
                    );
                }
            }
        }
    }
}

/// Pinches at 1.001 of the least distance of its contact from joint 2, `l₁ r/(1 − r)` with `r = ρ − T₂/T_a`; curls at 0.999.
#[test]
fn a_straight_finger_pinches_on_its_stop_or_curls_off_it() {
    for (finger, spring) in [(BACK, 0.0), (BACK, 0.05), (FRONT, 0.0), (FRONT, 0.05)] {
        let torques = FingerTorques { drive: 1.0, spring };
        let straight = finger.at(0.0).unwrap();
        let ratio = straight.ratio - spring;
        let least = finger.first_phalanx * ratio / (1.0 - ratio);
        let pinched = |contact: f64, seconds: f64| {
            let contacts = [None, Some(contact)];
            let mut cell = Cell::new(&Setup { finger, bend: 0.0, contacts, stop: 0.0, torques });
            cell.run(seconds);
            (cell.bend(), cell.pressed("second"))
        };
        assert!(straight.pinch_holds(1.001 * least, &torques));
        let (bend, (force, at)) = pinched(1.001 * least, 2.0);
        assert!(bend.abs() < 1e-12, "{finger:?}, {torques:?}: curls by {bend:e} rad");
        let law = torques.drive / (finger.first_phalanx + at);
        assert!((force / law - 1.0).abs() < TOLERANCE, "pinches with {force} N, not {law} N");
        assert!(!straight.pinch_holds(0.999 * least, &torques));
        let (bend, _) = pinched(0.999 * least, 0.2);
        assert!(bend > 1e-3, "{finger:?}, {torques:?}: curls by {bend:e} rad");
    }
}

/// With f₁ positive at 1.001 of the distance `l₁ cos θ₂ ρ/(1 − ρ)` both phalanges press. At 0.999 the first leaves, and the finger curls about the
/// second's contact until f₁ is 0 there.
#[test]
fn the_first_phalanx_leaves_where_its_force_is_negative() {
    for (finger, bend) in [(BACK, 0.2), (BACK, 0.6), (FRONT, 0.3), (FRONT, 0.7)] {
        let torques = FingerTorques { drive: 1.0, spring: 0.0 };
        let bent = finger.at(bend).unwrap();
        let least = finger.first_phalanx * bend.cos() * bent.ratio / (1.0 - bent.ratio);
        let pressing = |contact: f64| {
            let contacts = [Some(0.025), Some(contact)];
            let mut cell = Cell::new(&Setup { finger, bend, contacts, stop: -1.0, torques });
            cell.run(3.0);
            cell
        };
        let cell = pressing(1.001 * least);
        let (curled, (force, _)) = (cell.bend() - bend, cell.pressed("first"));
        assert!(curled.abs() < 1e-12 && force > 0.02, "at {bend} rad: {curled:e} rad, {force} N");
        let cell = pressing(0.999 * least);
        let [(first, _), (second, at)] = ["first", "second"].map(|name| cell.pressed(name));
        let gap = cell.gap("first");
        assert!(first.abs() <= 0.0 && gap > 4e-6, "at {bend} rad: {first} N, {gap:e} m");
        let law = cell.law().0.forces([0.025, at], &torques);
        assert!(law[0].abs() < 1e-6, "at rest at {} rad with {law:?} N", cell.bend());
        assert!((second / law[1] - 1.0).abs() < 1e-6, "{second} N, not {} N", law[1]);
    }
}
