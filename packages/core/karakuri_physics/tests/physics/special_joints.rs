//! Ball joints with limits, gears that come and go, and joints along paths.
#![expect(non_snake_case, reason = "monogram notation, docs/notation.md")]
#![expect(clippy::unwrap_used, reason = "a test says so")]

use std::f64::consts::PI;
use std::sync::Arc;

use karakuri_model::{
    Base, BodyId, Cone, Drive, JointKind, JointSpec, Limits, LinkSpec, MimicSpec, Model,
    ModelBuilder, Path, Shape,
};
use karakuri_physics::{
    BodyDescription, GearDescription, GearEnd, Owner, RobotId, World, WorldError, WorldSettings,
};
use karakuri_spatial::{Inertia, Matrix3, Pose, UnitQuaternion, Vector3};

fn settings(gravity: f64) -> WorldSettings {
    let gravity = Vector3::new(0.0, 0.0, -gravity);
    WorldSettings { gravity, energy_ledger: true, ..WorldSettings::default() }
}

fn run(world: &mut World, duration: f64) {
    let end = world.time() + duration - 0.5 * world.settings().dt;
    while world.time() < end {
        world.step();
    }
}

/// A rod that stands on a ball joint; the joint's frame is turned by `tilt` against the world.
fn rod(cone: Cone, tilt: Pose) -> Arc<Model> {
    let com = tilt.rotation.tr_mul(&Vector3::new(0.0, 0.0, 0.3));
    let about_com = Matrix3::from_diagonal(&Vector3::new(0.02, 0.022, 0.004));
    let about_com = tilt.rotation.transpose() * about_com * tilt.rotation;
    let about_com = (about_com + about_com.transpose()) * 0.5;
    let mut joint = JointSpec::new("ball", "ground", "rod", Some(JointKind::Spherical)).at(tilt);
    joint.cone = Some(Cone { axis: tilt.rotation.tr_mul(&cone.axis), ..cone });
    Arc::new(
        ModelBuilder::new("rod", Base::Fixed(Pose::IDENTITY))
            .link(LinkSpec::new("ground", Inertia::ZERO))
            .link(LinkSpec::new("rod", Inertia { mass: 1.2, com, about_com }))
            .joint(joint)
            .build()
            .unwrap(),
    )
}

/// Swing of the body's `axis` from `axis`, and the twist about it.
fn swing_and_twist(world: &World, id: RobotId, axis: &Vector3) -> (f64, f64) {
    let q = world.robot(id).q();
    let R = UnitQuaternion::from_quaternion(nalgebra::Quaternion::new(q[3], q[0], q[1], q[2]));
    let twist = 2.0 * R.imag().dot(axis).atan2(R.w);
    ((R * axis).angle(axis), twist - 2.0 * PI * (twist / (2.0 * PI)).round())
}

#[test]
fn a_rod_leans_on_its_cone_whichever_way_it_falls() {
    let cone = Cone { axis: Vector3::z(), swing: 0.5, twist: (-PI, PI) };
    for i in 0..8 {
        let angle = f64::from(i) * PI / 4.0 + 0.1;
        let tilt = Pose::from_axis_angle(&Vector3::new(0.36, 0.48, 0.8), 0.7 * f64::from(i));
        let model = rod(cone, tilt);
        let axis = model.joints[0].cone.unwrap().axis;
        let mut world = World::new(settings(9.81));
        let id = world.add_robot("rod", model, &[0.0, 0.0, 0.0, 1.0]).unwrap();
        let push = tilt.rotation.tr_mul(&Vector3::new(angle.cos(), angle.sin(), 0.0));
        world.set_robot_state(id, &[0.0, 0.0, 0.0, 1.0], push.as_slice()).unwrap();
        let start = world.energy().total();
        let (mut highest, mut widest) = (start, 0.0_f64);
        for _ in 0..3000 {
            world.step();
            // What leans on a cone may go round; it gains no energy beyond the step's error, nor leaves the cone.
            highest = highest.max(world.energy().total());
            widest = widest.max(swing_and_twist(&world, id, &axis).0);
        }
        assert!(widest < 0.5 + 2e-5, "case {i}: swings by {widest} rad");
        assert!(highest < start + 2e-4, "case {i}: {highest} J from {start} J");
        let (swing, _) = swing_and_twist(&world, id, &axis);
        assert!((swing - 0.5).abs() < 1e-4, "case {i}: rests at {swing} rad");
    }
}

#[test]
fn a_spinning_rod_stops_at_its_twist() {
    for (spin, limit) in [(2.0, 0.8), (-2.0, -0.3)] {
        let cone = Cone { axis: Vector3::z(), swing: PI, twist: (-0.3, 0.8) };
        let mut world = World::new(settings(0.0));
        let id = world.add_robot("rod", rod(cone, Pose::IDENTITY), &[0.0, 0.0, 0.0, 1.0]).unwrap();
        world.set_robot_state(id, &[0.0, 0.0, 0.0, 1.0], &[0.0, 0.0, spin]).unwrap();
        run(&mut world, 1.0);
        let (swing, twist) = swing_and_twist(&world, id, &Vector3::z());
        assert!(swing < 1e-9 && (twist - limit).abs() < 1e-6, "swing {swing}, twist {twist}");
        assert!(world.robot(id).v()[2].abs() < 1e-9, "an inelastic stop");
        let ledger = world.ledger();
        assert!((ledger.limits + 0.5 * 0.004 * 4.0).abs() < 1e-9, "{ledger:?}");
        assert!(ledger.unexplained.abs() < 1e-12, "{ledger:?}");
    }
}

/// A rod that swings and spins in weightlessness bounces off nothing: within its cone it keeps its energy.
#[test]
fn within_its_limits_a_ball_joint_is_free() {
    let cone = Cone { axis: Vector3::z(), swing: 1.5, twist: (-3.0, 3.0) };
    let mut free = World::new(settings(9.81));
    let mut limited = World::new(settings(9.81));
    let hanging = [1.0, 0.0, 0.0, 0.0];
    let down = Cone { axis: Vector3::new(0.0, 0.0, 1.0), swing: PI, twist: (-PI, PI) };
    let a = free.add_robot("rod", rod(down, Pose::IDENTITY), &hanging).unwrap();
    // The frame is turned upside down with the rod: hanging is no swing.
    let flip = Pose::from_axis_angle(&Vector3::x(), PI);
    let mut model = Model::clone(&rod(cone, Pose::IDENTITY));
    model.joints[0].pose_in_parent = flip;
    let b = limited.add_robot("rod", Arc::new(model), &[0.0, 0.0, 0.0, 1.0]).unwrap();
    let rates = Vector3::new(0.5, 0.3, 1.0);
    free.set_robot_state(a, &hanging, rates.as_slice()).unwrap();
    let turned = flip.rotation.tr_mul(&rates);
    limited.set_robot_state(b, &[0.0, 0.0, 0.0, 1.0], turned.as_slice()).unwrap();
    run(&mut free, 2.0);
    run(&mut limited, 2.0);
    let pose = |world: &World, id| world.robot(id).data().pose_in_world[0].rotation;
    let apart = (pose(&free, a) - pose(&limited, b)).amax();
    assert!(apart < 1e-9, "{apart}");
}

const I_A: f64 = 0.02;
const I_B: f64 = 0.05;

/// Two wheels on one frame, the second geared to the first by mimic where `ratio` is given.
fn wheels(ratio: Option<f64>) -> Arc<Model> {
    let wheel = |moment: f64, arm: f64| Inertia {
        mass: 0.5,
        com: Vector3::new(arm, 0.0, 0.0),
        about_com: Matrix3::identity() * moment,
    };
    let mut b = JointSpec::revolute("b", "frame", "wheel_b", Vector3::y());
    b.mimic = ratio.map(|multiplier| MimicSpec { leader: "a".to_owned(), multiplier, offset: 0.0 });
    Arc::new(
        ModelBuilder::new("wheels", Base::Fixed(Pose::IDENTITY))
            .link(LinkSpec::new("frame", Inertia::ZERO))
            .link(LinkSpec::new("wheel_a", wheel(I_A, 0.0)))
            .link(LinkSpec::new("wheel_b", wheel(I_B, 0.1)))
            .joint(JointSpec::revolute("a", "frame", "wheel_a", Vector3::y()))
            .joint(b.at(Pose::from_translation(Vector3::new(1.0, 0.0, 0.0))))
            .build()
            .unwrap(),
    )
}

fn between(robot: RobotId, ratio: f64, torque: f64) -> GearDescription {
    let [a, b] = [0, 1].map(|i| GearEnd::Joint(robot, BodyId(i)));
    GearDescription { a, b, ratio, torque }
}

#[test]
fn a_gear_is_the_mimic_joint_that_comes_off() {
    let ratio = -1.7;
    let mut geared = World::new(settings(9.81));
    let mut mimic = World::new(settings(9.81));
    let a = geared.add_robot("wheels", wheels(None), &[0.0, 0.0]).unwrap();
    let b = mimic.add_robot("wheels", wheels(Some(ratio)), &[0.0, 0.0]).unwrap();
    // A damper keeps both on the same integrator.
    for (world, id) in [(&mut geared, a), (&mut mimic, b)] {
        let drives = world.drive_mut(id);
        (drives.enabled[0], drives.damping[0]) = (true, 0.02);
    }
    let gear = geared.attach_gear("gear", between(a, ratio, f64::INFINITY)).unwrap();
    for _ in 0..2000 {
        geared.step();
        mimic.step();
    }
    let (q, p) = (geared.robot(a).q(), mimic.robot(b).q());
    assert!((q[0] - p[0]).abs() < 1e-9 && (q[1] - p[1]).abs() < 1e-9, "{q:?} {p:?}");
    assert!((q[1] - ratio * q[0]).abs() < 1e-9, "phase of {q:?}");
    let report = geared.gear(gear).unwrap();
    assert!(report.slip.abs() < 1e-9 && !report.slips && report.torque.abs() > 1e-3, "{report:?}");
    let ledger = geared.ledger();
    assert!(ledger.loops.abs() < 1e-9 && ledger.unexplained.abs() < 1e-9, "{ledger:?}");
    geared.detach_gear(gear);
    assert_eq!(geared.gear(gear), None);
    run(&mut geared, 0.2);
    let q = geared.robot(a).q();
    assert!((q[1] - ratio * q[0]).abs() > 1e-3, "free again: {q:?}");
}

/// Engaging shares the momentum, `I_B ω_B' + λ` and `I_A ω_A' − r λ`; a clutch does it at its torque.
#[test]
fn engaging_a_gear_is_an_inelastic_impact_and_a_clutch_takes_its_time() {
    for torque in [f64::INFINITY, 0.05] {
        let ratio = 2.0;
        let mut world = World::new(settings(0.0));
        let id = world.add_robot("wheels", wheels(None), &[0.0, 0.0]).unwrap();
        world.set_robot_state(id, &[0.0, 0.0], &[3.0, 0.0]).unwrap();
        let gear = world.attach_gear("gear", between(id, ratio, torque)).unwrap();
        let moment_b = I_B + 0.5 * 0.01;
        let end = 3.0 * I_A / (I_A + ratio * ratio * moment_b);
        if torque.is_finite() {
            world.step();
            assert!(world.gear(gear).unwrap().slips);
            let rate = world.robot(id).v()[1];
            assert!((rate - torque * 1e-3 / moment_b).abs() < 1e-9, "{rate}");
            // Until both rates agree.
            run(&mut world, moment_b * ratio * end / torque + 0.01);
        }
        run(&mut world, 0.2);
        let v = world.robot(id).v().to_vec();
        assert!((v[0] - end).abs() < 1e-9 && (v[1] - ratio * end).abs() < 1e-9, "{v:?} {end}");
        assert!(!world.gear(gear).unwrap().slips && world.gear(gear).unwrap().slip.abs() < 1e-9);
    }
}

#[test]
fn a_wheel_of_a_robot_drives_a_free_body() {
    let mut world = World::new(settings(0.0));
    let id = world.add_robot("wheels", wheels(None), &[0.0, 0.0]).unwrap();
    let disc = BodyDescription::new(
        "disc",
        Shape::Cylinder { radius: 0.1, length: 0.02 },
        2.0,
        Pose::from_translation(Vector3::new(0.0, 3.0, 0.0)),
    );
    let disc = world.add_body(disc).unwrap();
    let ends = (GearEnd::Joint(id, BodyId(0)), GearEnd::Turn(Owner::Body(disc), Vector3::z()));
    let description = GearDescription { a: ends.0, b: ends.1, ratio: -0.5, torque: f64::INFINITY };
    let gear = world.attach_gear("belt", description).unwrap();
    {
        let drives = world.drive_mut(id);
        (drives.enabled[0], drives.effort[0]) = (true, 0.3);
    }
    run(&mut world, 1.0);
    let inertia = I_A + 0.25 * (0.5 * 2.0 * 0.01);
    let expected = 0.3 / inertia;
    let (rate, turn) = (world.robot(id).v()[0], world.body(disc).velocity().angular.z);
    assert!((rate - expected).abs() < 1e-6 * expected, "{rate} {expected}");
    assert!((turn + 0.5 * rate).abs() < 1e-8, "{turn} {rate}");
    let torque = world.gear(gear).unwrap().torque;
    assert!((torque + 0.5 * 2.0 * 0.01 * 0.5 * expected).abs() < 1e-6, "{torque}");
    // It goes with what it turned.
    world.remove_body(disc);
    assert_eq!(world.gear(gear), None);
}

#[test]
fn gears_that_cannot_be_are_refused() {
    let mut world = World::new(settings(0.0));
    let id = world.add_robot("wheels", wheels(None), &[0.0, 0.0]).unwrap();
    world.attach_gear("gear", between(id, 1.0, 1.0)).unwrap();
    let error = |world: &mut World, name, gear| world.attach_gear(name, gear).unwrap_err();
    let taken = error(&mut world, "gear", between(id, 1.0, 1.0));
    assert!(matches!(taken, WorldError::JointNameTaken { .. }), "{taken}");
    let bad = [
        (between(id, 0.0, 1.0), "ratio"),
        (between(id, 1.0, -1.0), "torque"),
        (GearDescription { b: between(id, 1.0, 1.0).a, ..between(id, 1.0, 1.0) }, "both ends"),
        (
            GearDescription {
                a: GearEnd::Turn(Owner::Ground, Vector3::z()),
                ..between(id, 1.0, 1.0)
            },
            "cannot turn",
        ),
    ];
    for (gear, word) in bad {
        let text = error(&mut world, "x", gear).to_string();
        assert!(text.contains(word), "{text}");
    }
}

/// A trolley on a helix; its axis points down.
fn trolley(drive: Option<Drive>) -> (Arc<Model>, f64) {
    let points: Vec<Vector3> = (0..60)
        .map(|i| {
            let angle = 0.2 * f64::from(i);
            Vector3::new(0.5 * angle.cos(), 0.5 * angle.sin(), 1.0 - 0.08 * angle)
        })
        .collect();
    let path = Path::new(&points, false, Some(Vector3::z())).unwrap();
    let length = path.length();
    let about_com = Matrix3::from_diagonal(&Vector3::new(2e-3, 3e-3, 4e-3));
    let car = Inertia { mass: 0.8, com: Vector3::new(0.01, 0.02, -0.03), about_com };
    let mut joint =
        JointSpec::new("track", "ground", "car", Some(JointKind::Custom(Arc::new(path))));
    joint.drive = drive;
    joint.limits = Limits { effort: 20.0, ..Limits::NONE };
    let model = ModelBuilder::new("trolley", Base::Fixed(Pose::IDENTITY))
        .link(LinkSpec::new("ground", Inertia::ZERO))
        .link(LinkSpec::new("car", car))
        .joint(joint)
        .build()
        .unwrap();
    (Arc::new(model), length)
}

#[test]
fn a_trolley_rolls_down_its_path_and_stops_at_its_end() {
    let (model, length) = trolley(None);
    assert!((model.joints[0].limits.upper - length).abs() < 1e-15);
    let mut world = World::new(settings(9.81));
    let id = world.add_robot("trolley", model, &[0.3]).unwrap();
    let start = world.energy().total();
    run(&mut world, 1.5);
    let now = world.energy();
    assert!(now.kinetic > 1.0, "{now:?}");
    assert!((now.total() - start).abs() < 5e-5, "{} J from {start} J", now.total());
    run(&mut world, 4.0);
    let (q, v) = (world.robot(id).q()[0], world.robot(id).v()[0]);
    assert!((q - length).abs() < 1e-5 && v.abs() < 1e-9, "at {q} of {length} m, {v} m/s");
}

#[test]
fn a_servo_holds_a_trolley_on_its_path() {
    let (model, _) = trolley(Some(Drive { stiffness: 1e6, damping: 2e3 }));
    let mut world = World::new(settings(9.81));
    let id = world.add_robot("trolley", model, &[2.0]).unwrap();
    for _ in 0..3000 {
        let drives = world.drive_mut(id);
        drives.position[0] = (drives.position[0] + 1e-3).min(4.0);
        drives.velocity[0] = if drives.position[0] < 4.0 { 1.0 } else { 0.0 };
        world.step();
    }
    let view = world.robot(id);
    let slope = view.data().subspace[0];
    assert!((view.q()[0] - 4.0).abs() < 1e-5, "at {} m", view.q()[0]);
    // Against gravity at the centre of mass.
    let com = view.data().pose_in_world[0].transform_point(&view.model().bodies[0].inertia.com);
    let rate = slope.linear + slope.angular.cross(&com);
    let held = 0.8 * 9.81 * rate.z;
    assert!((view.efforts()[0] - held).abs() < 1e-6, "{} N, not {held} N", view.efforts()[0]);
}

/// A puck on a tilted plane: it slides and turns as a free body in the plane does, and its joint carries the rest.
#[test]
fn a_puck_on_a_planar_joint_slides_and_spins_freely() {
    let slope: f64 = 0.3;
    let plane = JointKind::Planar { x: Vector3::x(), y: Vector3::y() };
    let com = Vector3::new(0.02, 0.0, 0.01);
    let about_com = Matrix3::from_diagonal(&Vector3::new(0.01, 0.02, 0.03));
    let model = ModelBuilder::new("puck", Base::Fixed(Pose::IDENTITY))
        .link(LinkSpec::new("ground", Inertia::ZERO))
        .link(LinkSpec::new("puck", Inertia { mass: 2.0, com, about_com }))
        .joint(
            JointSpec::new("plane", "ground", "puck", Some(plane))
                .at(Pose::from_axis_angle(&Vector3::y(), slope)),
        )
        .build()
        .unwrap();
    let mut world = World::new(WorldSettings { dt: 1e-4, ..settings(9.81) });
    let id = world.add_robot("puck", Arc::new(model), &[0.0; 3]).unwrap();
    // About its centre of mass, which rests at first.
    let spin = 3.0;
    world.set_robot_state(id, &[0.0; 3], &[0.0, -com.x * spin, spin]).unwrap();
    run(&mut world, 1.0);
    let q = world.robot(id).q();
    let (s, c) = q[2].sin_cos();
    let x = q[0] + com.x * c - com.x;
    let y = q[1] + com.x * s;
    let fallen = 0.5 * 9.81 * slope.sin();
    assert!((q[2] - spin).abs() < 1e-6, "turned by {} rad", q[2]);
    assert!((x - fallen).abs() < 1e-6 && y.abs() < 1e-6, "slid by {x} {y} m instead of {fallen}");
    let change = world.energy().total()
        - (0.5 * 0.03 * spin * spin + 2.0 * 9.81 * 0.01 * slope.cos()
            - 2.0 * 9.81 * 0.02 * slope.sin());
    assert!(change.abs() < 1e-6, "energy off by {change} J");
}
