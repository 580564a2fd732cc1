//! Fingers on faces that lean: what three of them carry, and what a scissor squeezes out, by the wedge law.
//!
//! Of a finger that presses horizontally with H on a face whose outward normal points down by λ, the vertical force is from `H tan(λ − φ)`
//! to `H tan(λ + φ)`, φ = atan μ.

#![expect(clippy::unwrap_used, reason = "a helper of tests may stop them")]

use std::f64::consts::{FRAC_PI_3, TAU};
use std::sync::Arc;

use karakuri_model::{
    Base, Convex, Drive, GeometrySpec, JointSpec, LinkSpec, Mesh, Model, ModelBuilder, Shape,
};
use karakuri_physics::{
    BodyDescription, ObjectId, Owner, RobotId, StepOutcome, Surface, World, WorldSettings,
};
use karakuri_spatial::{Force, Inertia, Matrix3, Pose, Vector3};

const G: f64 = 9.81;
const FRICTION: f64 = 0.5;
const MASS: f64 = 0.4;
/// Size of the object at its contacts, and radius of a fingertip. [m]
const RADIUS: f64 = 0.03;
const TIP: f64 = 0.006;

/// What three fingers hold.
#[derive(Debug, Clone, Copy)]
enum Object {
    /// A cylinder, its axis up.
    Cylinder,
    /// A ball, held at a latitude below its equator. [rad]
    Ball(f64),
    /// A pyramid of three faces in place of a cone, half its opening; its point is down, or up where this is negative. [rad]
    Cone(f64),
}

impl Object {
    /// Angle by which the outward normals at the contacts point down. [rad]
    fn lean(self) -> f64 {
        match self {
            Self::Cylinder => 0.0,
            Self::Ball(angle) | Self::Cone(angle) => angle,
        }
    }

    fn shape(self) -> Shape {
        match self {
            Self::Cylinder => Shape::Cylinder { radius: RADIUS, length: 0.08 },
            Self::Ball(_) => Shape::Sphere { radius: RADIUS },
            Self::Cone(angle) => pyramid(angle),
        }
    }

    /// Distance of the contacts from the axis, and their height. [m]
    fn contact(self) -> (f64, f64) {
        match self {
            Self::Ball(angle) => (RADIUS * angle.cos(), -RADIUS * angle.sin()),
            Self::Cylinder | Self::Cone(_) => (RADIUS, 0.0),
        }
    }
}

/// A pyramid cut off at both ends, its faces towards the fingers.
fn pyramid(angle: f64) -> Shape {
    let corner = |z: f64, i: u32| {
        // A corner of a triangle is twice as far out as the middles of its sides.
        let out = 2.0 * (RADIUS + z * angle.tan());
        let azimuth = FRAC_PI_3 + f64::from(i) * TAU / 3.0;
        [out * azimuth.cos(), out * azimuth.sin(), z]
    };
    let vertices = [-0.03, 0.03].iter().flat_map(|z| (0..3).map(|i| corner(*z, i))).collect();
    let (path, triangles) = ("pyramid.stl".into(), vec![[0, 1, 2]]);
    Shape::Mesh(Arc::new(Mesh { path, vertices, triangles, convex: Convex::Hull }))
}

/// A robot of a fixed base, whose links are `fingers`.
fn robot(w: &mut World, fingers: impl IntoIterator<Item = (LinkSpec, JointSpec)>) -> RobotId {
    let root = LinkSpec::new("base", Inertia::ZERO);
    let mut builder = ModelBuilder::new("hand", Base::Fixed(Pose::IDENTITY)).link(root);
    for (link, joint) in fingers {
        builder = builder.link(link).joint(joint);
    }
    let model = Arc::new(builder.build().unwrap());
    w.add_robot("hand", Arc::clone(&model), &model.neutral_position()).unwrap()
}

fn link(name: &str, pose: Pose, shape: Shape) -> LinkSpec {
    let about_com = Matrix3::identity() * 1e-5;
    let mut link = LinkSpec::new(name, Inertia { mass: 0.05, com: Vector3::zeros(), about_com });
    link.collisions.push(GeometrySpec::new(pose, shape));
    link
}

/// All that touches has the same friction.
fn roughen(w: &mut World, hand: RobotId, object: ObjectId, friction: f64) {
    let material = w.add_material("pad", Surface::plain(friction, 0.0)).unwrap();
    w.set_material(Owner::Body(object), material);
    let model: Arc<Model> = Arc::clone(w.robot(hand).model());
    for frame in (0..model.frames.len()).map(karakuri_model::FrameId) {
        w.set_material(Owner::Link { robot: hand, frame }, material);
    }
}

/// An object between three fingers on rails that push with `force` each. [N]
fn three_fingers(object: Object, force: f64) -> (World, ObjectId) {
    let mut w =
        World::new(WorldSettings { gravity: Vector3::z() * -G, ..WorldSettings::default() });
    let ((out, height), lean) = (object.contact(), object.lean());
    let fingers = (0..3_u32).map(|i| {
        let azimuth = f64::from(i) * TAU / 3.0;
        let radial = Vector3::new(azimuth.cos(), azimuth.sin(), 0.0);
        // The tip's centre is off the contact by its radius, along the normal there.
        let normal = radial * lean.cos() - Vector3::z() * lean.sin();
        let centre = radial * out + Vector3::z() * (1.0 + height) + normal * TIP;
        let name = format!("finger{i}");
        let rail = JointSpec {
            drive: Some(Drive { stiffness: 0.0, damping: 0.0 }),
            ..JointSpec::prismatic(&format!("rail{i}"), "base", &name, -radial)
                .at(Pose::from_translation(centre))
        };
        (link(&name, Pose::IDENTITY, Shape::Sphere { radius: TIP }), rail)
    });
    let hand = robot(&mut w, fingers);
    w.drive_mut(hand).effort.fill(force);
    let pose = Pose::from_translation(Vector3::z());
    let body = w.add_body(BodyDescription::new("object", object.shape(), MASS, pose)).unwrap();
    roughen(&mut w, hand, body, FRICTION);
    (w, body)
}

/// How far the object moves in so many seconds, and up. [m]
fn moves(w: &mut World, object: ObjectId, push: Vector3, seconds: f64) -> (f64, f64) {
    let start = w.body(object).pose().translation;
    while w.time() < seconds {
        w.apply_body_wrench(object, Force::new(Vector3::zeros(), push));
        let outcome = w.step();
        assert!(!matches!(outcome, StepOutcome::NonFinite(_)), "{outcome:?}");
    }
    let way = w.body(object).pose().translation - start;
    (way.norm(), way.z)
}

fn held(object: Object, force: f64, seconds: f64) -> (f64, f64) {
    let (mut w, body) = three_fingers(object, force);
    moves(&mut w, body, Vector3::zeros(), seconds)
}

/// `W = 3 H tan(λ + φ)`: at 1.01 of that force held for 10 s within a micrometre, at 0.99 lost.
#[test]
fn three_fingers_carry_what_the_wedge_law_says() {
    let grip = FRICTION.atan();
    for object in [
        Object::Cylinder,
        Object::Ball(-0.3),
        Object::Ball(0.0),
        Object::Ball(0.3),
        Object::Cone(-20_f64.to_radians()),
        Object::Cone(-10_f64.to_radians()),
        Object::Cone(10_f64.to_radians()),
        Object::Cone(20_f64.to_radians()),
    ] {
        let least = MASS * G / (3.0 * (object.lean() + grip).tan());
        let (way, _) = held(object, 1.01 * least, 10.0);
        assert!(way < 1e-6, "{object:?} at 1.01 of {least} N moves by {way:e} m");
        let (_, up) = held(object, 0.99 * least, 0.5);
        assert!(up < -1e-4, "{object:?} at 0.99 of {least} N: {up:e} m");
    }
}

/// A face that leans more than friction holds is squeezed out by a force that is too large: `W ≥ 3 H tan(λ − φ)`.
#[test]
fn a_point_down_cone_is_squeezed_up_by_too_much_force() {
    let grip = FRICTION.atan();
    for object in [Object::Cone(32_f64.to_radians()), Object::Ball(0.6)] {
        let most = MASS * G / (3.0 * (object.lean() - grip).tan());
        let (way, _) = held(object, most / 1.01, 10.0);
        assert!(way < 1e-6, "{object:?} at {most} N / 1.01 moves by {way:e} m");
        let (_, up) = held(object, 1.01 * most, 0.5);
        assert!(up > 1e-4, "{object:?} at 1.01 of {most} N: {up:e} m");
    }
}

/// Point up, with its half angle above that of friction, no force holds it.
#[test]
fn a_steep_standing_cone_slips_down_at_any_force() {
    for force in [10.0, 100.0, 1000.0] {
        let (_, up) = held(Object::Cone(-28_f64.to_radians()), force, 0.5);
        assert!(up < -1e-4, "{force} N: {up:e} m");
    }
}

/// Radius of a rod between two jaws on one pivot, and the torque of each. [m], [N·m]
const ROD: f64 = 0.025;
const TORQUE: f64 = 1.0;

/// A rod at a distance from the pivot of a scissor whose faces go through it.
fn scissor(distance: f64, friction: f64) -> (World, ObjectId) {
    let mut w = World::new(WorldSettings { gravity: Vector3::zeros(), ..WorldSettings::default() });
    let half_angle = (ROD / distance).asin();
    let jaws = [("left", 1.0), ("right", -1.0)].map(|(name, side)| {
        let size = Vector3::new(0.16, 0.01, 0.04);
        let middle = Pose::from_translation(Vector3::new(0.09, side * 0.005, 0.0));
        let pivot = JointSpec {
            drive: Some(Drive { stiffness: 0.0, damping: 0.0 }),
            ..JointSpec::revolute(&format!("pivot_{name}"), "base", name, Vector3::z() * side)
        };
        (link(name, middle, Shape::Box { size }), pivot)
    });
    let hand = robot(&mut w, jaws);
    w.set_robot_state(hand, &[half_angle; 2], &[0.0; 2]).unwrap();
    w.drive_mut(hand).effort.fill(-TORQUE);
    let links = ["left", "right"]
        .map(|name| Owner::Link { robot: hand, frame: w.robot(hand).model().frame(name).unwrap() });
    w.ignore_contacts(links[0], links[1]);
    let pose = Pose::from_translation(Vector3::x() * distance);
    let shape = Shape::Cylinder { radius: ROD, length: 0.06 };
    let rod = w.add_body(BodyDescription::new("rod", shape, 0.2, pose)).unwrap();
    roughen(&mut w, hand, rod, friction);
    (w, rod)
}

/// Pull that the jaws bear: `2 N (μ cos γ − sin γ)`, `N = τ/(d cos γ)`, `sin γ = r/d`. [N]
fn bears(distance: f64) -> f64 {
    let half_angle = (ROD / distance).asin();
    let normal = TORQUE / (distance * half_angle.cos());
    2.0 * normal * (FRICTION * half_angle.cos() - half_angle.sin())
}

/// Near the pivot the jaws bear more the farther out the rod is: pulled by more, it goes on until they bear that.
#[test]
fn a_scissor_bears_a_pull_by_the_wedge_law() {
    for distance in [0.06, 0.07, 0.13] {
        let most = bears(distance);
        let pulled = |force: f64, seconds: f64| {
            let (mut w, rod) = scissor(distance, FRICTION);
            moves(&mut w, rod, Vector3::x() * force, seconds).0
        };
        let way = pulled(most / 1.01, 10.0);
        assert!(way < 1e-6, "{distance} m, {most} N / 1.01: moves by {way:e} m");
        let way = pulled(1.01 * most, 0.5);
        let next = (1..100_000).map(|i| f64::from(i) * 1e-7);
        let least = next.take_while(|x| bears(distance + x) < 1.01 * most).last();
        // Without a place where they bear it, it leaves.
        let least = least.unwrap_or_default().min(1e-3);
        assert!(way > 0.99 * least, "{distance} m, 1.01 of {most} N: {way:e} m, not {least:e}");
        assert!(way > 1e-5, "{distance} m, 1.01 of {most} N: {way:e} m");
    }
}

/// `tan γ ≤ μ`, whatever the torque.
#[test]
fn a_scissor_squeezes_out_what_is_too_near_to_its_pivot() {
    for distance in [0.06_f64, 0.1] {
        let least = (ROD / distance).asin().tan();
        let slips = |friction: f64, seconds: f64| {
            let (mut w, rod) = scissor(distance, friction);
            moves(&mut w, rod, Vector3::zeros(), seconds).0
        };
        let way = slips(1.01 * least, 10.0);
        assert!(way < 1e-6, "{distance} m, friction 1.01 of {least}: {way:e} m");
        let way = slips(0.99 * least, 0.5);
        assert!(way > 1e-4, "{distance} m, friction 0.99 of {least}: {way:e} m");
    }
}
