//! Nothing fast passes through what is thin, be it a body or a robot's link.

#![expect(clippy::unwrap_used, reason = "a helper of tests may stop them")]
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts of steps are small"
)]

use std::sync::Arc;

use karakuri_model::{Base, GeometrySpec, JointSpec, LinkSpec, Model, ModelBuilder, Shape};
use karakuri_physics::{BodyDescription, ObjectId, RobotId, World, WorldSettings};
use karakuri_spatial::{Inertia, Matrix3, Motion, Pose, Vector3};
use karakuri_testkit::Random;

/// Where the walls begin. [m]
const FACE: f64 = 1.0;
const THICKNESS: f64 = 0.005;

fn body(name: &str, shape: Shape) -> BodyDescription {
    BodyDescription { friction: 0.3, ..BodyDescription::new(name, shape, 0.1, Pose::IDENTITY) }
}

fn weightless(dt: f64) -> World {
    let gravity = Vector3::zeros();
    World::new(WorldSettings { dt, gravity, ..WorldSettings::default() })
}

fn add_wall(world: &mut World) {
    let mut wall = body("wall", Shape::Box { size: Vector3::new(THICKNESS, 200.0, 200.0) });
    wall.pose = Pose::from_translation(Vector3::new(FACE + 0.5 * THICKNESS, 0.0, 0.0));
    wall.fixed = true;
    world.add_body(wall).unwrap();
}

/// Shapes and half of their least widths. [m]
fn shapes() -> [(Shape, f64); 6] {
    let cuboid = |x: f64, y: f64, z: f64| Shape::Box { size: Vector3::new(x, y, z) };
    [
        (Shape::Sphere { radius: 0.02 }, 0.02),
        (cuboid(0.04, 0.03, 0.02), 0.01),
        (cuboid(0.2, 0.2, 0.004), 0.002),
        (cuboid(0.3, 0.01, 0.01), 0.005),
        (Shape::Cylinder { radius: 0.02, length: 0.05 }, 0.02),
        (Shape::Capsule { radius: 0.01, length: 0.1 }, 0.01),
    ]
}

fn random_vector(random: &mut Random, most: f64) -> Vector3 {
    Vector3::from_fn(|_, _| random.uniform(-most, most))
}

/// Something thrown at the wall, anyhow turned and turning.
fn thrown(shape: &Shape, speed: f64, spin: f64, random: &mut Random) -> BodyDescription {
    let mut thrown = body("thrown", shape.clone());
    let rpy = random_vector(random, 3.0);
    thrown.pose = Pose::from_xyz_rpy([random.uniform(-0.3, 0.3), 0.0, 0.0], rpy.into());
    let mut linear = random_vector(random, 0.3) * speed;
    linear.x = speed;
    thrown.velocity = Motion::new(random_vector(random, spin), linear);
    thrown
}

/// Steps until it has gone 1.5 m, and a few more; the deepest contact. [m]
fn fly(world: &mut World, speed: f64) -> f64 {
    let steps = (1.5 / speed / world.settings().dt).ceil() as usize + 5;
    let mut deepest: f64 = 0.0;
    for _ in 0..steps {
        world.step();
        deepest = world.contacts().map(|c| c.gap).fold(deepest, f64::min);
    }
    deepest
}

/// At up to 8 m a step, nothing comes out on the other side of 5 mm, and nothing is deeper in the wall than half of both.
#[test]
fn nothing_thrown_passes_a_thin_wall() {
    let mut random = Random::new(7);
    for (shape, half_width) in shapes() {
        for dt in [1e-3, 1.0 / 60.0] {
            for speed in [10.0, 100.0, 500.0] {
                for spin in [0.0, 30.0, 300.0] {
                    for _ in 0..6 {
                        let mut world = weightless(dt);
                        add_wall(&mut world);
                        let id = world.add_body(thrown(&shape, speed, spin, &mut random)).unwrap();
                        let deepest = fly(&mut world, speed);
                        let what = format!("{shape:?} at {speed} m/s, {spin} rad/s, {dt} s");
                        let x = world.body(id).pose().translation.x;
                        assert!(x < FACE + 0.5 * THICKNESS, "{what}: at {x} m");
                        let most = half_width + 0.5 * THICKNESS;
                        assert!(deepest > -most, "{what}: {deepest} m deep");
                    }
                }
            }
        }
    }
}

/// Stopping in the middle of a step takes time from a body, never momentum: without friction its speed along the wall stays.
#[test]
fn what_is_stopped_keeps_its_momentum() {
    let mut random = Random::new(3);
    for _ in 0..20 {
        let mut world = weightless(1.0 / 60.0);
        add_wall(&mut world);
        let rod = Shape::Box { size: Vector3::new(0.3, 0.01, 0.01) };
        let mut rod = thrown(&rod, 100.0, 300.0, &mut random);
        rod.friction = 0.0;
        let along = rod.velocity.linear.yz();
        let id = world.add_body(rod).unwrap();
        fly(&mut world, 100.0);
        let change = world.body(id).velocity().linear.yz() - along;
        assert!(change.norm() < 1e-9, "{change}");
    }
}

/// Two balls of 1 cm thrown at each other meet head-on: neither comes into the other, and they go on together.
#[test]
fn two_fast_bodies_do_not_pass_each_other() {
    let mut random = Random::new(5);
    for dt in [1e-3, 1.0 / 60.0] {
        for _ in 0..20 {
            let mut world = weightless(dt);
            let ids: [ObjectId; 2] = [-1.0, 1.0].map(|side| {
                let name = if side < 0.0 { "left" } else { "right" };
                let mut ball = body(name, Shape::Sphere { radius: 0.01 });
                ball.pose = Pose::from_translation(Vector3::new(side, 0.0, 0.0));
                ball.velocity.linear.x = -side * random.uniform(20.0, 300.0);
                world.add_body(ball).unwrap()
            });
            let meet = 1.0 / 20.0 / dt;
            for _ in 0..meet.ceil() as usize + 2 {
                world.step();
                let [left, right] = ids.map(|id| world.body(id).pose().translation);
                let apart = (right - left).norm();
                assert!(apart > 0.018, "{apart} m apart at {} s, step {dt} s", world.time());
            }
            let [left, right] = ids.map(|id| world.body(id).velocity().linear.x);
            assert!((left - right).abs() < 1e-6, "{left} m/s and {right} m/s, step {dt} s");
        }
    }
}

/// A rod that spins in its place meets a thin post beside it: the tip comes round, and does not jump over it.
#[test]
fn a_spinning_rod_meets_the_post_beside_it() {
    for dt in [1e-3, 5e-3] {
        let mut world = weightless(dt);
        let mut rod = body("rod", Shape::Box { size: Vector3::new(0.3, 0.01, 0.01) });
        rod.velocity.angular.z = 100.0;
        let rod = world.add_body(rod).unwrap();
        let mut post = body("post", Shape::Cylinder { radius: 0.003, length: 0.5 });
        post.pose = Pose::from_translation(Vector3::new(0.0, 0.13, 0.0));
        post.fixed = true;
        world.add_body(post).unwrap();
        // A quarter of a turn, less what the two are thick.
        for _ in 0..(0.05 / dt).round() as usize {
            world.step();
        }
        let spin = world.body(rod).velocity().angular.z;
        assert!(spin < 50.0, "it turns on at {spin} rad/s, step {dt} s");
    }
}

/// Half the width of the links of a flail. [m]
const ROD: f64 = 0.004;
/// Length of each. [m]
const LINK: f64 = 0.3;

/// Thin rods one behind the other, on hinges about z or on any axes, hanging at `origin`.
fn flail(n_links: usize, origin: Vector3, axes: impl Fn(usize) -> Vector3) -> Arc<Model> {
    let middle = Pose::from_translation(Vector3::new(0.5 * LINK, 0.0, 0.0));
    let size = Vector3::new(LINK - 4.0 * ROD, 2.0 * ROD, 2.0 * ROD);
    let base = Base::Fixed(Pose::from_translation(origin));
    let mut builder = ModelBuilder::new("flail", base).link(LinkSpec::new("base", Inertia::ZERO));
    let mut parent = "base".to_owned();
    for i in 0..n_links {
        let name = format!("rod{i}");
        let about_com = Matrix3::from_diagonal(&Vector3::new(1e-5, 8e-4, 8e-4));
        let inertia = Inertia { mass: 0.1, com: middle.translation, about_com };
        let mut rod = LinkSpec::new(&name, inertia);
        rod.collisions.push(GeometrySpec::new(middle, Shape::Box { size }));
        let at = Vector3::new(if i == 0 { 0.0 } else { LINK }, 0.0, 0.0);
        let joint = JointSpec::revolute(&format!("hinge{i}"), &parent, &name, axes(i));
        builder = builder.link(rod).joint(joint.at(Pose::from_translation(at)));
        parent = name;
    }
    Arc::new(builder.build().unwrap())
}

/// A flail of up to three rods that whirls beside a thin wall, by up to 0.4 rad a step: no rod comes through, and none is deeper in
/// the wall than half of both.
#[test]
fn no_link_of_a_flail_passes_a_thin_wall() {
    let mut random = Random::new(11);
    for n_links in [1, 2, 3] {
        for dt in [1e-3, 1.0 / 60.0] {
            for turn in [0.02, 0.1, 0.4] {
                // Of the last rod in a step, at most.
                let rate = turn / dt / n_links as f64;
                for _ in 0..20 {
                    let mut world = weightless(dt);
                    add_wall(&mut world);
                    let reach = n_links as f64 * LINK;
                    let origin = Vector3::new(FACE - random.uniform(0.2, 0.9) * reach, 0.0, 0.0);
                    let tilts: Vec<_> = (0..n_links)
                        .map(|_| (Vector3::z() + random_vector(&mut random, 0.3)).normalize())
                        .collect();
                    let model = flail(n_links, origin, |i| tilts[i]);
                    // Pointing away from the wall.
                    let mut q = vec![0.0; n_links];
                    q[0] = std::f64::consts::PI;
                    let id = world.add_robot("flail", model, &q).unwrap();
                    let v: Vec<_> = (0..n_links).map(|_| random.uniform(-rate, rate)).collect();
                    world.set_robot_state(id, &q, &v).unwrap();
                    let what = format!("{n_links} rods at up to {rate} rad/s, {dt} s");
                    let mut deepest: f64 = 0.0;
                    for _ in 0..200 {
                        world.step();
                        let deep = world.contacts().map(|c| c.gap).fold(0.0, f64::min);
                        deepest = deepest.min(deep);
                        let tip = tip_of(&world, id);
                        assert!(tip < FACE + 0.5 * THICKNESS + ROD, "{what}: a tip at {tip} m");
                    }
                    assert!(deepest > -(ROD + 0.5 * THICKNESS), "{what}: {deepest} m deep");
                }
            }
        }
    }
}

/// How far the rods reach along x. [m]
fn tip_of(world: &World, id: RobotId) -> f64 {
    let end = Vector3::new(LINK - 2.0 * ROD, 0.0, 0.0);
    let rods = &world.robot(id).data().pose_in_world;
    rods.iter().map(|pose| pose.transform_point(&end).x).fold(f64::NEG_INFINITY, f64::max)
}

/// A rod on a hinge that comes round meets a thin post, at whatever angle the steps leave it.
#[test]
fn a_turning_link_meets_the_post_in_its_way() {
    let mut random = Random::new(2);
    for dt in [1e-3, 5e-3, 1.0 / 60.0] {
        for _ in 0..20 {
            let mut world = weightless(dt);
            let id = world
                .add_robot("flail", flail(1, Vector3::zeros(), |_| Vector3::z()), &[0.0])
                .unwrap();
            let rate = random.uniform(20.0, 120.0);
            world.set_robot_state(id, &[0.0], &[rate]).unwrap();
            let angle: f64 = random.uniform(1.0, 5.0);
            let mut post = body("post", Shape::Cylinder { radius: 0.003, length: 0.5 });
            let at = Vector3::new(angle.cos(), angle.sin(), 0.0) * random.uniform(0.05, 0.28);
            post.pose = Pose::from_translation(at);
            post.fixed = true;
            world.add_body(post).unwrap();
            for _ in 0..(12.0 / rate / dt).ceil() as usize {
                world.step();
                let q = world.robot(id).q()[0];
                assert!(q < angle, "at {q} rad beyond the post at {angle}, {rate} rad/s, {dt} s");
            }
            let v = world.robot(id).v()[0];
            assert!(v.abs() < 1e-6, "goes on at {v} rad/s, {dt} s");
        }
    }
}
