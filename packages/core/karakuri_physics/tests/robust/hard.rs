//! Cases by hand that break engines.

use std::sync::Arc;

use karakuri_model::{
    Base, Convex, Drive, JointKind, JointSpec, LinkSpec, Mesh, ModelBuilder, Shape,
};
use karakuri_physics::{Culprit, SolverSettings, StepOutcome, World, WorldError, WorldSettings};
use karakuri_spatial::{Inertia, Matrix3, Motion, Pose, Vector3};
use karakuri_testkit::Random;

use crate::honest::{fastest, step};
use crate::worlds::{body, crowd, four_bar, shape};

fn world(dt: f64) -> World {
    let mut world = World::new(WorldSettings { dt, ..WorldSettings::default() });
    world.add_ground(0.5, 0.0);
    world
}

fn cube(size: f64) -> Shape {
    Shape::Box { size: Vector3::repeat(size) }
}

fn up(z: f64) -> Vector3 {
    Vector3::z() * z
}

#[test]
fn mass_ratios_up_to_a_million_both_ways() {
    for ratio in [1e2, 1e4, 1e6] {
        for masses in [[1.0, ratio], [1.0, 1.0 / ratio], [ratio, 1.0], [1e-3, 1e-3 * ratio]] {
            let mut w = world(1e-3);
            let ids = [0, 1].map(|i| {
                let z = 0.05 + 0.1 * i as f64;
                w.add_body(body(&format!("box{i}"), cube(0.1), masses[i], up(z))).unwrap()
            });
            let what = format!("masses {masses:?} kg");
            for _ in 0..100 {
                step(&mut w, &what);
            }
            let sag = 0.15 - w.body(ids[1]).pose().translation.z;
            assert!(sag.abs() < 1e-4, "{what}: the upper box sank by {sag} m");
        }
    }
}

#[test]
fn a_gram_carries_a_ton() {
    let mut w = world(1e-3);
    w.add_body(body("gram", cube(0.1), 1e-3, up(0.05))).unwrap();
    let ton = w.add_body(body("ton", cube(0.1), 1e3, up(0.15))).unwrap();
    for _ in 0..300 {
        step(&mut w, "a gram under a ton");
    }
    let z = w.body(ton).pose().translation.z;
    assert!((z - 0.15).abs() < 1e-4, "the ton is at {z} m");
}

#[test]
fn coincident_bodies_come_apart_or_stay_but_never_fly() {
    let mut random = Random::new(3);
    for kind in 0..8 {
        let shape = shape(&mut random, 0.1);
        let mut w = world(1e-3);
        for i in 0..8 {
            w.add_body(body(&format!("twin{i}"), shape.clone(), 1.0, up(0.3))).unwrap();
        }
        for _ in 0..200 {
            step(&mut w, &format!("coincident {kind}: {shape:?}"));
        }
        let speed = fastest(&w);
        assert!(speed < 10.0, "{shape:?}: {speed} m/s");
    }
}

#[test]
fn a_thousand_bodies_spawned_inside_each_other() {
    let mut random = Random::new(11);
    let mut w = world(1e-3);
    // A crowd of this size is to be stepped, not to be solved to the last digit.
    let solver = SolverSettings {
        method: "accelerated_gradient",
        iterations: 50,
        tolerance: 1e-6,
        escalate: false,
        ..SolverSettings::default()
    };
    w.set_settings(WorldSettings { solver, ..*w.settings() });
    for i in 0..1000 {
        let position = random.vector(0.5) + up(0.7);
        let shape = shape(&mut random, 0.12);
        w.add_body(body(&format!("body{i}"), shape, random.uniform(0.01, 10.0), position)).unwrap();
    }
    for k in 0..5 {
        step(&mut w, &format!("a thousand bodies, step {k}"));
    }
    assert!(w.statistics().n_contacts > 3000, "{:?}", w.statistics());
    let speed = fastest(&w);
    assert!(speed < 10.0, "{speed} m/s");
}

#[test]
fn steps_from_a_microsecond_to_a_tenth_of_a_second() {
    for dt in [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1] {
        for seed in 1..4 {
            let mut w = crowd(seed);
            w.set_settings(WorldSettings { dt, ..*w.settings() });
            for _ in 0..10 {
                step(&mut w, &format!("world {seed}, step of {dt} s"));
            }
        }
    }
}

/// Painlevé's rod: where friction is high, rigid mechanics has no or several answers to a sliding tip.
#[test]
fn painleve_rods_of_any_angle_gain_no_energy() {
    for friction in [0.5, 4.0 / 3.0, 2.0, 10.0] {
        for degrees in [1.0_f64, 20.0, 45.0, 60.0, 80.0, 89.9] {
            for speed in [-1e3, -1.0, 1e-9, 1.0, 1e3] {
                let angle = degrees.to_radians();
                let mut w = World::new(WorldSettings::default());
                w.add_ground(friction, 0.0);
                let turn =
                    Pose::from_axis_angle(&Vector3::y(), angle - std::f64::consts::FRAC_PI_2);
                let rod = Shape::Capsule { radius: 0.005, length: 1.0 };
                let mut rod = body("rod", rod, 1.0, up(0.5 * angle.sin() + 0.005));
                rod.pose = Pose { translation: rod.pose.translation, ..turn };
                rod.friction = friction;
                rod.velocity = Motion::new(Vector3::zeros(), Vector3::x() * speed);
                w.add_body(rod).unwrap();
                let what = format!("friction {friction}, {degrees} degrees, {speed} m/s");
                let start = w.energy().kinetic + w.energy().potential;
                for _ in 0..50 {
                    step(&mut w, &what);
                    let now = w.energy().kinetic + w.energy().potential;
                    let allowed = 1e-3 * start.abs() + 1e-6;
                    assert!(now <= start + allowed, "{what}: energy from {start} to {now} J");
                }
            }
        }
    }
}

/// A flat parallelogram can move on in two ways, and its loop equations lose their rank.
#[test]
fn a_loop_at_its_singular_position() {
    for rate in [0.0, 1e-9, 1.0, 100.0] {
        let mut w = world(1e-3);
        let model = Arc::new(four_bar());
        let id = w.add_robot("four_bar", Arc::clone(&model), &model.neutral_position()).unwrap();
        w.set_robot_state(id, &[0.0; 3], &[rate, -rate, rate]).unwrap();
        for _ in 0..500 {
            step(&mut w, &format!("flat four-bar at {rate} rad/s"));
            let gap = karakuri_physics::loop_gap(&model, w.robot(id).data());
            assert!(gap <= 1e-6, "{rate} rad/s: gap {gap} m");
        }
    }
}

/// A ball joint at half a turn, where its rotation vector has two values, and an arm at full stretch against a wall.
#[test]
fn joints_at_their_singular_positions() {
    let inertia = Inertia { mass: 1.0, com: up(-0.2), about_com: Matrix3::identity() * 1e-2 };
    let mut pendulum = LinkSpec::new("rod", inertia);
    let tip = Pose::from_translation(up(-0.4));
    pendulum
        .collisions
        .push(karakuri_model::GeometrySpec::new(tip, Shape::Sphere { radius: 0.05 }));
    let model = ModelBuilder::new("ball", Base::Fixed(Pose::from_translation(up(0.44))))
        .link(LinkSpec::new("base", Inertia::ZERO))
        .link(pendulum)
        .joint(JointSpec::new("ball", "base", "rod", Some(JointKind::Spherical)))
        .build()
        .unwrap();
    let model = Arc::new(model);
    for q in
        [[0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, -1.0]]
    {
        let mut w = world(1e-3);
        let id = w.add_robot("ball", Arc::clone(&model), &q).unwrap();
        w.set_robot_state(id, &q, &[0.1, 20.0, 30.0]).unwrap();
        for _ in 0..300 {
            step(&mut w, &format!("ball joint at {q:?}"));
        }
    }
}

#[test]
fn a_link_without_mass_is_refused_by_name_unless_something_gives_it_inertia() {
    let build = |armature: f64| {
        let solid = Inertia { mass: 1.0, com: up(-0.2), about_com: Matrix3::identity() * 1e-2 };
        ModelBuilder::new("arm", Base::Fixed(Pose::IDENTITY))
            .link(LinkSpec::new("base", Inertia::ZERO))
            .link(LinkSpec::new("upper", solid))
            .link(LinkSpec::new("ghost", Inertia::ZERO))
            .joint(JointSpec::revolute("shoulder", "base", "upper", Vector3::y()))
            .joint(JointSpec {
                armature,
                drive: Some(Drive { stiffness: 0.0, damping: 0.0 }),
                ..JointSpec::revolute("elbow", "upper", "ghost", Vector3::y())
            })
            .build()
    };
    match build(0.0) {
        Err(report) => assert!(format!("{report:?}").contains("ghost"), "{report:?}"),
        Ok(model) => {
            let mut w = world(1e-3);
            w.add_robot("arm", Arc::new(model), &[0.0; 2]).unwrap();
            let outcome = w.step();
            let expected = StepOutcome::NonFinite(Culprit::MassMatrix { robot: 0, dof: 1 });
            assert_eq!(outcome, expected);
            assert!(w.non_finite_report().contains("`elbow`"), "{}", w.non_finite_report());
        }
    }
    let mut w = world(1e-3);
    w.add_robot("arm", Arc::new(build(1e-6).unwrap()), &[0.5, 0.5]).unwrap();
    for _ in 0..300 {
        step(&mut w, "massless link with armature");
    }
}

#[test]
fn huge_velocities_are_stepped_or_refused_by_name() {
    // Robots that move limp are solved to a part of their change of velocity by default, else all to all digits.
    huge_velocities("automatic", |w| w.statistics().tolerance);
    huge_velocities("newton", |_| 1e-9);
}

fn huge_velocities(method: &'static str, tolerance: impl Fn(&World) -> f64) {
    for speed in [1e3, 1e6, 1e9, 1e100, 1e200] {
        for spin in [0.0, 1e3, 1e6] {
            let mut w = crowd(5);
            let mut settings = *w.settings();
            settings.solver.method = method;
            w.set_settings(settings);
            let id = w.find_body("body0").unwrap();
            let pose = w.body(id).pose();
            let velocity =
                Motion::new(Vector3::repeat(spin), Vector3::new(speed, 0.5 * speed, -speed));
            w.set_body_state(id, pose, velocity).unwrap();
            for _ in 0..4 {
                match w.step() {
                    StepOutcome::NonFinite(_) => {
                        let report = w.non_finite_report();
                        assert!(report.contains('`'), "{speed} m/s, {spin} rad/s: {report}");
                    }
                    outcome => assert!(
                        outcome_is_honest(outcome, tolerance(&w)),
                        "{speed} m/s, {spin} rad/s: {outcome:?}"
                    ),
                }
                crate::honest::finite(&w, &format!("{speed} m/s, {spin} rad/s"));
            }
        }
    }
}

/// Whether the outcome says on which side of its tolerance the residual is.
fn outcome_is_honest(outcome: StepOutcome, tolerance: f64) -> bool {
    match outcome {
        StepOutcome::Solved { residual, .. } => residual <= tolerance,
        StepOutcome::MaxIterations { residual, .. } => residual > tolerance,
        StepOutcome::NonFinite(_) => true,
    }
}

fn mesh(vertices: Vec<[f64; 3]>, triangles: Vec<[u32; 3]>, convex: Convex) -> Shape {
    Shape::Mesh(Arc::new(Mesh { path: "bad.stl".into(), vertices, triangles, convex }))
}

#[test]
fn degenerate_meshes_are_refused_by_name_or_used() {
    let square = vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]];
    let two = vec![[0, 1, 2], [0, 2, 3]];
    let tetrahedron = vec![[0.0, 0.0, 0.0], [0.1, 0.0, 0.0], [0.0, 0.1, 0.0], [0.0, 0.0, 0.1]];
    let faces = vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
    let mut not_finite = tetrahedron.clone();
    not_finite[2][1] = f64::NAN;
    let sliver: Vec<_> = tetrahedron.iter().map(|v| [v[0], v[1], 1e-12 * v[2]]).collect();
    let doubled: Vec<_> = tetrahedron.iter().chain(&tetrahedron).copied().collect();
    let cases = [
        ("nothing", vec![], vec![]),
        ("a point", vec![[0.0; 3]], vec![[0, 0, 0]]),
        ("one point often", vec![[0.1; 3]; 12], faces.clone()),
        (
            "a line",
            vec![[0.0; 3], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0], [3.0, 0.0, 0.0]],
            faces.clone(),
        ),
        ("a square", square, two),
        ("a sliver", sliver, faces.clone()),
        ("not finite", not_finite, faces.clone()),
        ("a corner that is not there", tetrahedron.clone(), vec![[0, 1, 9]]),
        ("no area", tetrahedron.clone(), vec![[0, 0, 1], [1, 1, 1], [0, 1, 2]]),
        (
            "doubled",
            doubled,
            [faces.clone(), faces.iter().map(|t| t.map(|i| i + 4)).collect()].concat(),
        ),
        ("inside out", tetrahedron, faces.iter().map(|t| [t[0], t[2], t[1]]).collect()),
    ];
    for (name, vertices, triangles) in cases {
        for fixed in [false, true] {
            for convex in [Convex::Hull, Convex::Decompose { tolerance: None }] {
                let shape = mesh(vertices.clone(), triangles.clone(), convex.clone());
                let mut w = world(1e-3);
                let mut thing = body("thing", shape, 1.0, up(0.2));
                thing.fixed = fixed;
                let what = format!("{name}, fixed: {fixed}, {convex:?}");
                match w.add_body(thing) {
                    Ok(_) => {}
                    Err(error @ (WorldError::Shape { .. } | WorldError::Inertia { .. })) => {
                        assert!(error.to_string().contains("`thing`"), "{what}: {error}");
                        continue;
                    }
                    Err(error) => panic!("{what}: {error}"),
                }
                w.add_body(body("ball", Shape::Sphere { radius: 0.05 }, 1.0, up(0.3))).unwrap();
                for _ in 0..100 {
                    step(&mut w, &what);
                }
            }
        }
    }
}
