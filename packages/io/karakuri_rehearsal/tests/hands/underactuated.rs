//! Underactuated fingers: straight while their tips hold; about what is deep in the hand both phalanges press by the law of their four-bars.

use std::sync::Arc;

use karakuri_dynamics::frame_pose;
use karakuri_files::load_robot;
use karakuri_grasp::pick_and_place::Stage;
use karakuri_grasp::underactuated::UnderactuatedFinger;
use karakuri_model::{Base, Model, Shape};
use karakuri_physics::{BodyDescription, Owner, SolverSettings, World, WorldSettings};
use karakuri_spatial::{Pose, Vector3};

use crate::cell::{Cell, root};

const ROBOT: &str = "arm6_underactuated";
const FINGERS: [&str; 3] = ["thumb", "left", "right"];
/// Place of joint 2 in the proximal link: along the finger, and outwards. [m]
const JOINT_2: [f64; 2] = [0.05, 0.018];

#[test]
fn fingers_stay_straight_while_they_hold() {
    let mut cell = Cell::new(ROBOT, "start1", |body| body.friction = 0.6);
    let (goal, _) = crate::three_fingers::cone();
    cell.start(&goal).unwrap();
    let mut bent = 0.0_f64;
    let result = cell.run(|cell| {
        let stage = cell.machine().feedback().stage;
        if cell.machine().feedback().holding && stage != Stage::Open {
            for finger in FINGERS {
                bent = bent.max(position(cell, &format!("{finger}_distal_joint")).abs());
            }
        }
    });
    assert!(result.failure.is_none(), "{result:?}");
    assert!(bent < 1e-4, "bent by {bent:e} rad");
}

fn position(cell: &Cell, joint: &str) -> f64 {
    let id = cell.io.world().robot_ids().next().unwrap();
    cell.io.world().robot(id).q()[cell.model().joints[cell.model().joint(joint).unwrap().0].q_start]
}

/// Robot without what hides the statics: dry friction of joints, and the servos of the fingers.
fn model() -> Arc<Model> {
    let files = [format!("urdf/arm6/{ROBOT}.urdf"), format!("config/{ROBOT}.yaml")];
    let [urdf, yaml] = files.map(|file| root().join(file));
    let mut model =
        load_robot(&urdf, Some(&yaml), Some(Base::Fixed(Pose::IDENTITY))).unwrap().model;
    for joint in &mut model.joints {
        joint.friction = 0.0;
    }
    for finger in FINGERS {
        let bar = model.joint(&format!("{finger}_bar_joint")).unwrap();
        let drive = model.joints[bar.0].drive.as_mut().unwrap();
        (drive.stiffness, drive.damping) = (0.0, 0.5);
    }
    Arc::new(model)
}

/// Bars as they are: outwards of the line from knuckle to tip, which is where the law's angles are counted from.
fn law() -> UnderactuatedFinger {
    let [along, out] = JOINT_2;
    UnderactuatedFinger {
        first_phalanx: along.hypot(out),
        drive_link: 0.025,
        coupler: 0.05_f64.hypot(0.0005),
        arm: 0.0075,
        arm_angle: -core::f64::consts::FRAC_PI_2 + out.atan2(along),
    }
}

#[test]
fn both_phalanges_press_as_the_law_says() {
    const TORQUE: f64 = 0.8;
    let model = model();
    let mut world = World::new(WorldSettings {
        gravity: Vector3::zeros(),
        solver: SolverSettings { tolerance: 1e-14, ..SolverSettings::default() },
        ..WorldSettings::default()
    });
    let home = model.postures.iter().find(|posture| posture.name == "home").unwrap();
    let mut q = model.neutral_position();
    for (joint, value) in &home.positions {
        q[model.joints[joint.0].q_start] = *value;
    }
    // The right spread mimics the left.
    let [left, right] = ["left_spread_joint", "right_spread_joint"]
        .map(|name| model.joints[model.joint(name).unwrap().0].q_start);
    q[right] = q[left];
    let robot = world.add_robot("arm", Arc::clone(&model), &q).unwrap();
    for joint in model.joints.iter().filter(|joint| joint.drive.is_some()) {
        world.drive_mut(robot).position[joint.v_start] = q[joint.q_start];
    }
    for finger in FINGERS {
        let bar = model.joint(&format!("{finger}_bar_joint")).unwrap();
        world.drive_mut(robot).effort[model.joints[bar.0].v_start] = -TORQUE;
    }
    let tool = frame_pose(&model, world.robot(robot).data(), model.frame("tool").unwrap());
    // Knuckles are 90 mm behind the tool: the middle of a ball of 80 mm is 30 mm before them.
    let pose = tool * Pose::from_translation(Vector3::x() * -0.06);
    let ball = BodyDescription::new("ball", Shape::Sphere { radius: 0.04 }, 1.0, pose);
    world.add_body(BodyDescription { fixed: true, friction: 0.0, ..ball }).unwrap();
    for _ in 0..4000 {
        world.step();
    }
    let view = world.robot(robot);
    let ball = world.find_part("ball").unwrap();
    for finger in FINGERS {
        let frame = |part: &str| model.frame(&format!("{finger}_{part}")).unwrap();
        let angle = |part: &str| {
            view.q()
                [model.joints[model.joint(&format!("{finger}_{part}_joint")).unwrap().0].q_start]
        };
        let [proximal, distal] =
            ["proximal", "distal"].map(|part| frame_pose(&model, view.data(), frame(part)));
        // The joints of a finger close about −z of their links, of the thumb about z.
        let opens = proximal.rotation.column(2) * if finger == "thumb" { -1.0 } else { 1.0 };
        let mut moments = [0.0; 2];
        let mut pressed = [0.0; 2];
        for contact in world.contacts_on(ball) {
            let Owner::Link { frame: link, .. } = contact.a else { continue };
            let is = |part: &str| link == frame(part);
            let is_distal = is("distal") || is("tip");
            if !is_distal && !is("proximal") {
                continue;
            }
            let about = |joint: &Pose| {
                (contact.position - joint.translation).cross(&-contact.force).dot(&opens)
            };
            moments[0] += about(&proximal);
            if is_distal {
                moments[1] += about(&distal);
            }
            pressed[usize::from(is_distal)] += contact.force.norm();
        }
        assert!(pressed[0] > 1.0 && pressed[1] > 1.0, "{finger}: {pressed:?} N");
        let bend = -angle("distal");
        let spring = 0.04 + 0.02 * bend;
        let ratio = law().at(bend).unwrap().ratio;
        // About joint 1 the drive alone has a moment from outside the finger; about joint 2 what gets there of it, and the spring.
        let off = [moments[0] - TORQUE, moments[1] - (ratio * TORQUE - spring)];
        assert!(
            off.iter().all(|off| off.abs() < 1e-9 * TORQUE),
            "{finger}: off by {off:?} N·m at {bend} rad, {pressed:?} N"
        );
    }
}
