//! Joints of other kinds: along a path, a screw, and one of a user's own.

use std::sync::Arc;

use karakuri_dynamics::{Data, aba, bias, crba, forward_kinematics, integrate};
use karakuri_model::{
    Base, JointKind, JointMotion, JointSpec, LinkSpec, Model, ModelBuilder, Path, PathError, Screw,
};
use karakuri_spatial::{Inertia, Matrix3, Motion, Pose, Vector3};
use karakuri_testkit::{Random, Saddle};

const GRAVITY: Vector3 = Vector3::new(0.0, 0.0, -9.81);

fn helix(radius: f64, pitch: f64, n: usize) -> Vec<Vector3> {
    (0..n)
        .map(|i| {
            let angle = 0.2 * i as f64;
            Vector3::new(radius * angle.cos(), radius * angle.sin(), pitch * angle)
        })
        .collect()
}

fn kinds() -> Vec<Box<dyn JointMotion>> {
    let points = [
        Vector3::new(0.0, 0.0, 0.0),
        Vector3::new(0.4, 0.1, 0.05),
        Vector3::new(0.5, 0.6, -0.1),
        Vector3::new(-0.1, 0.7, 0.2),
    ];
    let up = Some(Vector3::new(0.1, 0.0, 1.0));
    vec![
        Box::new(Path::new(&points, false, None).unwrap()),
        Box::new(Path::new(&points, false, up).unwrap()),
        Box::new(Path::new(&points, true, None).unwrap()),
        Box::new(Path::new(&points, true, up).unwrap()),
        Box::new(Screw { axis: Vector3::new(0.6, 0.0, 0.8), pitch: 0.05 }),
        Box::new(Saddle { bend: 0.7, twist: -0.4 }),
    ]
}

fn columns(motion: &dyn JointMotion, q: &[f64]) -> Vec<Motion> {
    let mut columns = vec![Motion::default(); q.len()];
    motion.subspace(q, &mut columns);
    columns
}

/// `[ω; ṗ]` by central differences of the pose along `v`.
fn velocity(motion: &dyn JointMotion, q: &[f64], v: &[f64]) -> Motion {
    const STEP: f64 = 1e-5;
    let at = |t: f64| motion.pose(&q.iter().zip(v).map(|(q, v)| q + t * v).collect::<Vec<_>>());
    let (a, b) = (at(-STEP), at(STEP));
    let turn = Pose::new(b.rotation * a.rotation.transpose(), Vector3::zeros()).quaternion();
    Motion::new(turn.scaled_axis(), b.translation - a.translation) * (0.5 / STEP)
}

#[test]
fn subspaces_are_the_poses_derivatives() {
    let mut random = Random::new(1);
    for motion in kinds() {
        for _ in 0..50 {
            let n = motion.dof_kinds().len();
            let q: Vec<f64> = (0..n).map(|_| random.uniform(0.05, 1.2)).collect();
            let v: Vec<f64> = (0..n).map(|_| random.uniform(-1.0, 1.0)).collect();
            let sum = |S: &[Motion]| {
                S.iter().zip(&v).fold(Motion::default(), |sum, (S, v)| sum + *S * *v)
            };
            let given = sum(&columns(motion.as_ref(), &q)).to_vector();
            let found = velocity(motion.as_ref(), &q, &v).to_vector();
            let name = motion.name();
            assert!((given - found).amax() < 1e-7, "{name} at {q:?}: {given} {found}");
            let mut rates = vec![Motion::default(); n];
            motion.subspace_rate(&q, &v, &mut rates);
            let at = |t: f64| {
                let moved: Vec<f64> = q.iter().zip(&v).map(|(q, v)| q + t * v).collect();
                columns(motion.as_ref(), &moved)
            };
            for ((rate, b), a) in rates.iter().zip(at(1e-6)).zip(at(-1e-6)) {
                let found = (b.to_vector() - a.to_vector()) * 0.5e6;
                let error = (rate.to_vector() - found).amax();
                assert!(error < 1e-6 * (1.0 + found.amax()), "{name} at {q:?}: {rate:?} {found}");
            }
        }
    }
}

#[test]
fn the_coordinate_of_a_path_is_its_length() {
    for closed in [false, true] {
        let n = 60;
        let ring = |i: usize| {
            let angle = std::f64::consts::TAU * i as f64 / n as f64;
            Vector3::new(angle.cos(), angle.sin(), 0.0)
        };
        let points: Vec<Vector3> = (0..n).map(ring).collect();
        let path = Path::new(&points, closed, None).unwrap();
        let exact =
            if closed { std::f64::consts::TAU } else { std::f64::consts::TAU / n as f64 * 59.0 };
        // Natural ends are straighter than the circle.
        let tolerance = if closed { 2e-6 } else { 1e-3 };
        assert!((path.length() - exact).abs() < tolerance, "{} {exact}", path.length());
        for i in 0..1000 {
            let s = path.length() * (f64::from(i) / 999.0 - if closed { 1.0 } else { 0.0 });
            let tangent = columns(&path, &[s])[0].linear;
            assert!((tangent.norm() - 1.0).abs() < 1e-14);
        }
        let ends = (path.pose(&[0.0]).translation - path.pose(&[path.length()]).translation).norm();
        assert!(ends < 1e-12 || !closed, "a closed path closes: {ends}");
    }
    // The distance from point to point of a straight line, at any spacing.
    let line = [0.0, 0.1, 0.15, 1.0].map(|x| Vector3::new(x, 2.0 * x, 0.0));
    let path = Path::new(&line, false, None).unwrap();
    assert!((path.length() - 5.0_f64.sqrt()).abs() < 1e-14);
    let middle = path.pose(&[0.5 * path.length()]).translation;
    assert!((middle - Vector3::new(0.5, 1.0, 0.0)).norm() < 1e-14, "{middle}");
}

#[test]
fn paths_that_cannot_be_are_refused() {
    let p = |x: f64| Vector3::new(x, 0.0, 0.0);
    let up = Some(Vector3::x());
    let error = |points: &[Vector3], closed, up| Path::new(points, closed, up).unwrap_err();
    assert_eq!(error(&[p(0.0)], false, None), PathError::TooFewPoints { got: 1 });
    assert_eq!(error(&[p(0.0), p(1.0)], true, None), PathError::TooFewPoints { got: 2 });
    assert_eq!(error(&[p(0.0), p(0.0)], false, None), PathError::BadPoint { index: 1 });
    assert_eq!(error(&[p(0.0), p(f64::NAN)], false, None), PathError::BadPoint { index: 1 });
    assert_eq!(error(&[p(0.0), p(1.0)], false, up), PathError::AlongUp { length: 0.0 });
}

/// A body on a joint of any kind, under gravity.
fn one(kind: Arc<dyn JointMotion>, inertia: Inertia) -> Model {
    ModelBuilder::new("one", Base::Fixed(Pose::IDENTITY))
        .link(LinkSpec::new("ground", Inertia::ZERO))
        .link(LinkSpec::new("body", inertia))
        .joint(JointSpec::new("joint", "ground", "body", Some(JointKind::Custom(kind))))
        .build()
        .unwrap()
}

#[test]
fn a_bead_on_a_wire_falls_along_it() {
    let path = Arc::new(Path::new(&helix(0.3, 0.1, 40), false, None).unwrap());
    let bead = Inertia { mass: 0.2, com: Vector3::zeros(), about_com: Matrix3::identity() * 1e-6 };
    let model = one(path.clone(), bead);
    let mut data = Data::new(&model);
    for i in 1..20 {
        let (q, v) = ([0.1 * f64::from(i)], [0.7 * f64::from(i) - 5.0]);
        let tangent = columns(path.as_ref(), &q)[0].linear;
        let found = aba(&model, &mut data, &q, &v, &[0.0], &[]).unwrap()[0];
        let exact = GRAVITY.dot(&tangent);
        assert!((found - exact).abs() < 1e-12, "at {} m, {} m/s: {found} {exact}", q[0], v[0]);
    }
}

#[test]
fn a_screw_shares_its_energy() {
    let (pitch, mass, moment) = (0.02, 1.5, 3e-3);
    let nut = Inertia { mass, com: Vector3::zeros(), about_com: Matrix3::identity() * moment };
    let model = one(Arc::new(Screw { axis: Vector3::z(), pitch }), nut);
    let mut data = Data::new(&model);
    let found = aba(&model, &mut data, &[0.3], &[2.0], &[0.0], &[]).unwrap()[0];
    let exact = -mass * 9.81 * pitch / (moment + mass * pitch * pitch);
    assert!((found - exact).abs() < 1e-12, "{found} {exact}");
}

/// With one degree of freedom: `c = ½ M' v² + U'`, with the derivatives by differences.
#[test]
fn a_body_that_turns_along_obeys_lagrange() {
    const STEP: f64 = 1e-5;
    let mut random = Random::new(7);
    let path = Path::new(&helix(0.3, 0.1, 40), false, Some(Vector3::z())).unwrap();
    let model = one(Arc::new(path), random.inertia());
    let mut data = Data::new(&model);
    let mass = model.bodies[0].inertia.mass;
    let at = |q: f64, data: &mut Data| {
        let M = crba(&model, data, &[q])[(0, 0)];
        forward_kinematics(&model, data, &[q]);
        let com = data.pose_in_world[0].transform_point(&model.bodies[0].inertia.com);
        (M, -mass * GRAVITY.dot(&com))
    };
    for i in 1..15 {
        let (q, v) = (0.13 * f64::from(i), 3.0);
        let (a, b) = (at(q - STEP, &mut data), at(q + STEP, &mut data));
        let exact = 0.5 * (b.0 - a.0) / (2.0 * STEP) * v * v + (b.1 - a.1) / (2.0 * STEP);
        let found = bias(&model, &mut data, &[q], &[v])[0];
        assert!((found - exact).abs() < 1e-7 * (1.0 + exact.abs()), "at {q}: {found} {exact}");
    }
}

#[test]
fn coordinates_are_plain() {
    let model = one(Arc::new(Saddle { bend: 1.0, twist: 1.0 }), Random::new(3).inertia());
    let mut q = [0.0; 2];
    integrate(&model, &[0.5, -0.5], &[1.0, 2.0], 0.1, &mut q);
    assert!((q[0] - 0.6).abs() < 1e-15 && (q[1] + 0.3).abs() < 1e-15, "{q:?}");
}
