//! Soft fingers against closed forms: friction and spinning share an ellipse.

#![expect(clippy::unwrap_used, reason = "a helper of tests may stop them")]

use std::sync::Arc;

use karakuri_model::{Base, Drive, GeometrySpec, JointSpec, LinkSpec, ModelBuilder, Shape};
use karakuri_physics::{
    BodyDescription, ObjectId, Owner, SolverSettings, StepOutcome, Surface, World, WorldSettings,
    solver::SOLVERS,
};
use karakuri_spatial::{Force, Inertia, Matrix3, Motion, Pose, Vector3};
use proptest::prelude::*;

const G: f64 = 9.81;
const MASS: f64 = 0.7;

/// A ball of 5 cm that can slide and spin, and is too heavy to roll, on a soft patch.
fn patch(settings: WorldSettings, friction: f64, spinning: f64, inertia: f64) -> (World, ObjectId) {
    let mut w = World::new(settings);
    w.add_ground(0.5, 0.0);
    let ball = BodyDescription {
        inertia: Some(Matrix3::from_diagonal(&Vector3::new(1e6, 1e6, inertia))),
        ..BodyDescription::new(
            "ball",
            Shape::Sphere { radius: 0.05 },
            MASS,
            Pose::from_translation(Vector3::new(0.0, 0.0, 0.05)),
        )
    };
    let id = w.add_body(ball).unwrap();
    let surface = Surface { spinning, soft_finger: true, ..Surface::plain(friction, 0.0) };
    let material = w.add_material("rubber", surface).unwrap();
    w.set_material(Owner::Ground, material);
    w.set_material(Owner::Body(id), material);
    (w, id)
}

fn step(w: &mut World) -> f64 {
    // A contact that is new may stay above the tolerance for a step, and says so.
    match w.step() {
        StepOutcome::Solved { residual, .. } | StepOutcome::MaxIterations { residual, .. } => {
            residual
        }
        StepOutcome::NonFinite(_) => f64::NAN,
    }
}

fn with(method: &'static str) -> WorldSettings {
    let found = SOLVERS.iter().find(|s| s.name == method).unwrap();
    let solver = SolverSettings { method, iterations: found.iterations, ..Default::default() };
    WorldSettings { solver, ..WorldSettings::default() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// With `r² / I = μ² / m` both velocities fall together: `√(μ² u² + r² ω²)` by `μ² g`, and the path is straight.
    #[test]
    fn what_slides_and_spins_stops_with_both_at_once(
        friction in 0.2..1.0_f64, gyration in 0.005..0.05_f64, u in 0.1..2.0_f64, spin in 1.0..40.0_f64,
    ) {
        let spinning = friction * gyration;
        let (mut w, id) = patch(WorldSettings::default(), friction, spinning, MASS * gyration * gyration);
        let pose = w.body(id).pose();
        w.set_body_state(id, pose, Motion::new(Vector3::z() * spin, Vector3::new(0.6, 0.8, 0.0) * u)).unwrap();
        let whole = (friction * u).hypot(spinning * spin);
        let duration = whole / (friction * friction * G);
        while w.time() < 0.9 * duration {
            step(&mut w);
            let left = 1.0 - w.time() / duration;
            let v = w.body(id).velocity();
            prop_assert!((v.linear.xy().norm() - u * left).abs() < 1e-6 * u, "{v:?} at {left}");
            prop_assert!((v.angular.z - spin * left).abs() < 1e-6 * spin, "{v:?} at {left}");
        }
        // What stuck a little off its anchor goes back to it.
        while w.time() < duration + 0.2 {
            step(&mut w);
        }
        let v = w.body(id).velocity();
        prop_assert!(v.linear.norm() + 0.05 * v.angular.norm() < 1e-8, "{v:?}");
    }

    /// A push and a moment inside the ellipse move nothing; outside it they move the patch along its normal.
    #[test]
    fn the_limit_is_an_ellipse(
        friction in 0.2..1.0_f64, spinning in 0.002..0.02_f64, angle in 0.05..1.5_f64, azimuth in 0.0..6.0_f64,
        method in prop::sample::select(&["block_gauss_seidel", "newton", "admm"][..]),
    ) {
        let inertia = 2e-4;
        for part in [0.999, 1.001] {
            let (mut w, id) = patch(with(method), friction, spinning, inertia);
            let load = MASS * G * part;
            let push = Vector3::new(azimuth.cos(), azimuth.sin(), 0.0) * (friction * load * angle.cos());
            let moment = Vector3::z() * (spinning * load * angle.sin());
            for _ in 0..100 {
                w.apply_body_wrench(id, Force::new(moment, push));
                let residual = step(&mut w);
                prop_assert!(residual < 1e-6, "{method}: {residual}");
            }
            let v = w.body(id).velocity();
            if part < 1.0 {
                prop_assert!(v.linear.norm() + 0.05 * v.angular.norm() < 1e-7, "{method}: {v:?}");
            } else {
                prop_assert!(v.linear.xy().norm() > 1e-7 && v.angular.z > 1e-5, "{method}: holds {v:?}");
            }
        }
    }
}

/// A bar pinched by two balls on rails, `off` beside its middle, each pushed with `force`.
fn pinch(dt: f64, force: f64, off: f64) -> (World, ObjectId) {
    let gravity = Vector3::z() * -G;
    let mut w = World::new(WorldSettings { dt, gravity, ..WorldSettings::default() });
    let root = LinkSpec::new("base", Inertia::ZERO);
    let mut builder = ModelBuilder::new("fingers", Base::Fixed(Pose::IDENTITY)).link(root);
    for (name, side) in [("left", -1.0), ("right", 1.0)] {
        let about_com = Matrix3::identity() * 1e-5;
        let mut tip = LinkSpec::new(name, Inertia { mass: 0.05, com: Vector3::zeros(), about_com });
        tip.collisions.push(GeometrySpec::new(Pose::IDENTITY, Shape::Sphere { radius: 0.01 }));
        let rail = JointSpec {
            drive: Some(Drive { stiffness: 0.0, damping: 0.0 }),
            ..JointSpec::prismatic(&format!("rail_{name}"), "base", name, Vector3::x() * -side)
                .at(Pose::from_translation(Vector3::new(0.03 * side, 0.0, 1.0)))
        };
        builder = builder.link(tip).joint(rail);
    }
    let model = Arc::new(builder.build().unwrap());
    let fingers = w.add_robot("fingers", Arc::clone(&model), &model.neutral_position()).unwrap();
    w.drive_mut(fingers).effort.fill(force);
    let bar = BodyDescription::new(
        "bar",
        Shape::Box { size: Vector3::new(0.04, 0.2, 0.03) },
        MASS,
        Pose::from_translation(Vector3::new(0.0, off, 1.0)),
    );
    let bar = w.add_body(bar).unwrap();
    let rubber = Surface { spinning: SPINNING, soft_finger: true, ..Surface::plain(FRICTION, 0.0) };
    let material = w.add_material("rubber", rubber).unwrap();
    w.set_material(Owner::Body(bar), material);
    for name in ["left", "right"] {
        let frame = model.frame(name).unwrap();
        w.set_material(Owner::Link { robot: fingers, frame }, material);
    }
    (w, bar)
}

const FRICTION: f64 = 0.8;
const SPINNING: f64 = 0.006;

/// Each finger carries half the weight and half its moment: `N = (m g/2) √(1/μ² + d²/r²)` is the least force.
#[test]
fn two_soft_fingers_hold_a_bar_beside_its_middle_up_to_the_ellipse() {
    for off in [0.0, 0.003, 0.01, 0.05] {
        let least = 0.5 * MASS * G * (1.0 / FRICTION).hypot(off / SPINNING);
        for dt in [1e-3, 5e-3] {
            let (mut w, bar) = pinch(dt, 1.01 * least, off);
            let start = w.body(bar).pose();
            while w.time() < 5.0 {
                step(&mut w);
            }
            let now = w.body(bar).pose();
            let slip = (now.translation - start.translation).norm();
            let turn = (now.rotation - start.rotation).norm();
            assert!(slip < 1e-6 && turn < 1e-5, "{off} m: slips {slip:e} m, turns {turn:e} rad");
            let (mut w, bar) = pinch(dt, 0.99 * least, off);
            while w.time() < 0.3 {
                step(&mut w);
            }
            let fallen = (w.body(bar).pose().translation - start.translation).norm();
            assert!(fallen > 1e-4, "{off} m: holds at 0.99, {fallen:e} m");
        }
    }
}

/// Found by chance: here the method stops just above its tolerance, and the contact was taken for one that sticks.
#[test]
fn what_slides_is_not_taken_for_sticking() {
    let (friction, gyration, u, spin) =
        (0.949_639_705_983_957, 0.010_132_860_824_530, 0.281_503_910_213_507, 32.894_111_674_428);
    let spinning = friction * gyration;
    let (mut w, id) =
        patch(WorldSettings::default(), friction, spinning, MASS * gyration * gyration);
    let pose = w.body(id).pose();
    let start = Motion::new(Vector3::z() * spin, Vector3::new(0.6, 0.8, 0.0) * u);
    w.set_body_state(id, pose, start).unwrap();
    let duration = (friction * u).hypot(spinning * spin) / (friction * friction * G);
    while w.time() < 0.9 * duration {
        step(&mut w);
        let left = 1.0 - w.time() / duration;
        let v = w.body(id).velocity().linear.xy().norm();
        assert!((v - u * left).abs() < 1e-6 * u, "{v} m/s, not {}", u * left);
    }
}
