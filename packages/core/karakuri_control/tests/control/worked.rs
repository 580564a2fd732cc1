//! `[L][T]{P}` of three rods, of a branch and of random trees; nodes of beams; forces beside dynamics; steps of simulation.
#![expect(
    clippy::unwrap_used,
    clippy::unreadable_literal,
    reason = "a test says so, with printed numbers"
)]

use std::f64::consts::PI;
use std::sync::Arc;

use approx::assert_abs_diff_eq;
use karakuri_control::nodal::{
    ForcePoint, Mechanism, NodalError, Nodes, Part, Payload, Product, Rule, Scheme, Target, Variant,
};
use karakuri_dynamics::{Data, rnea};
use karakuri_model::{Base, BodyId, JointKind, JointSpec, LinkSpec, ModelBuilder};
use karakuri_spatial::{Inertia, Matrix3, Pose, Vector3};
use karakuri_testkit::{Kind, Random, random_position, random_tree, random_vector};

const DOWN: Vector3 = Vector3::new(0.0, -9.81, 0.0);

/// Uniform slender rod along x. [kg], [m]
fn rod(mass: f64, length: f64) -> Inertia {
    let i = mass * length * length / 12.0;
    let about_com = Matrix3::from_diagonal(&Vector3::new(0.0, i, i));
    Inertia { mass, com: Vector3::new(0.5 * length, 0.0, 0.0), about_com }
}

/// Hinged rods: parent (0 is the ground), place on it, mass and length.
fn rods(links: &[(usize, f64, f64, f64)]) -> Mechanism {
    let mut builder = ModelBuilder::new("rods", Base::Fixed(Pose::IDENTITY))
        .link(LinkSpec::new("0", Inertia::ZERO));
    for (i, (parent, x, mass, length)) in links.iter().enumerate() {
        let name = (i + 1).to_string();
        let hinge = Some(JointKind::Revolute { axis: Vector3::z() });
        let at = Pose::from_translation(Vector3::new(*x, 0.0, 0.0));
        builder = builder
            .link(LinkSpec::new(&name, rod(*mass, *length)))
            .joint(JointSpec::new(&name, &parent.to_string(), &name, hinge).at(at));
    }
    Mechanism { gravity: DOWN, ..Mechanism::new(Arc::new(builder.build().unwrap())) }
}

fn three_rods() -> Mechanism {
    rods(&[(0, 0.0, 1.0, 0.5), (1, 0.5, 0.8, 0.4), (2, 0.4, 0.5, 0.3)])
}

const THREE: [[f64; 3]; 3] = [[0.5, -0.8, 0.6], [1.2, -0.7, 0.9], [2.0, 3.0, -1.5]];

/// A link's numbers in a row of columns.
fn of(product: &Product, body: usize, values: &[f64]) -> Vec<f64> {
    let own = product.columns.iter().zip(values).filter(|((b, _), _)| *b == body);
    own.map(|(_, x)| *x).collect()
}

fn assert_all(values: &[f64], expected: &[f64]) {
    assert_eq!(values.len(), expected.len(), "{values:?} {expected:?}");
    for (a, b) in values.iter().zip(expected) {
        assert_abs_diff_eq!(a, b, epsilon = 6e-7);
    }
}

/// Row `i` of `[L]`.
fn row(product: &Product, i: usize) -> &[f64] {
    &product.lengths[i * product.columns.len()..][..product.columns.len()]
}

#[test]
fn three_rods_written_out() {
    // By hand, in the notation of [Isobe 2003].
    let mut m = three_rods();
    let product = m.product(THREE.each_ref().map(|x| &x[..]), &[]);
    assert!(product.planar);
    let turned = product.turned();
    let upper = [4.343165, 9.109085, 0.041667, 6.314732, 14.096916];
    assert_all(&of(&product, 0, &turned), &upper);
    assert_all(&of(&product, 1, &turned), &[-3.334431, 8.441649, 0.053333, -2.378562, 5.909679]);
    assert_all(&of(&product, 2, &turned), &[1.373744, 6.220506, 0.013125]);
    assert_all(&of(&product, 0, &product.forces)[3..], &[-1.216723, 15.398652]);
    assert_all(&of(&product, 1, &product.forces)[3..], &[-0.525898, 6.348645]);
    let lengths =
        [vec![0.0, 0.25, 1.0, 0.0, 0.5], vec![0.0, 0.2, 1.0, 0.0, 0.4], vec![0.0, 0.15, 1.0]];
    for i in 0..3 {
        for (j, expected) in lengths.iter().enumerate() {
            // Upper triangular, the same block in every row of a column.
            let block = if j < i { vec![0.0; expected.len()] } else { expected.clone() };
            assert_all(&of(&product, j, row(&product, i)), &block);
        }
    }
    assert_all(&product.tau, &[14.419132, 5.051735, 0.946201]);
    // The tip exerts (3, -1) N.
    let point = Vector3::new(0.3, 0.0, 0.0);
    m.force_points.push(ForcePoint { name: "tip".to_owned(), body: BodyId(2), point });
    let pushes = m.product(THREE.each_ref().map(|x| &x[..]), &[3.0, -1.0, 0.0]);
    assert_all(&of(&pushes, 2, row(&pushes, 0)), &[0.0, 0.15, 1.0, 0.0, 0.3]);
    assert_all(&of(&pushes, 2, &pushes.forces)[3..], &[3.0, -1.0]);
    assert_all(&pushes.tau, &[12.681123, 4.471656, 0.393632]);
    let part: Vec<f64> = pushes.tau.iter().zip(&product.tau).map(|(a, b)| a - b).collect();
    assert_all(&part, &[-1.738009, -0.580079, -0.552569]);
}

#[test]
fn a_branch_written_out() {
    let m =
        rods(&[(0, 0.0, 1.0, 0.5), (1, 0.5, 0.8, 0.4), (1, 0.3, 0.6, 0.35), (3, 0.35, 0.4, 0.25)]);
    let body = |name: &str| m.model.body(name).unwrap().0;
    let order = ["1", "2", "3", "4"].map(body);
    let mut motion = [[0.0; 4]; 3];
    let given = [[0.5, -0.8, 1.1, -0.4], [1.2, -0.7, 0.5, 0.8], [2.0, 3.0, -1.0, 1.5]];
    for (to, from) in motion.iter_mut().zip(given) {
        order.iter().zip(from).for_each(|(&i, x)| to[i] = x);
    }
    let product = m.product(motion.each_ref().map(|x| &x[..]), &[]);
    let turned = product.turned();
    let [one, two, three, four] = order;
    let upper = of(&product, one, &turned);
    assert_all(&upper[..3], &[4.343165, 9.109085, 0.041667]);
    // One pair a child, in the order of the bodies.
    let mut children = [(two, [3.732548, 8.273328], 0.5), (three, [3.412110, 8.583484], 0.3)];
    children.sort_by_key(|(body, ..)| *body);
    for (k, (_, beyond, lever)) in children.iter().enumerate() {
        assert_all(&upper[3 + 2 * k..][..2], beyond);
        assert_all(&of(&product, one, row(&product, one))[3 + 2 * k..][..2], &[0.0, *lever]);
    }
    assert_all(&of(&product, two, &turned), &[-3.334431, 8.441649, 0.053333]);
    assert_all(&of(&product, three, &turned), &[5.783303, 0.327427, 0.006125, 3.414081, 0.525111]);
    assert_all(&of(&product, four, &turned), &[2.940089, 1.813165, 0.005208]);
    assert_all(&of(&product, three, row(&product, one)), &[0.0, 0.175, 1.0, 0.0, 0.35]);
    assert_all(&of(&product, two, row(&product, three)), &[0.0, 0.0, 0.0]);
    let tau = order.map(|i| product.tau[i]);
    assert_all(&tau, &[11.251377, 1.741663, 0.479067, 0.231854]);
}

#[test]
fn the_product_of_random_trees_is_newton_and_euler() {
    let mut random = Random::new(21);
    for trial in 0..60 {
        let base = if trial % 3 == 0 { Base::Floating } else { Base::Fixed(Pose::IDENTITY) };
        let model = Arc::new(random_tree(trial, 6, base, Kind::ALL));
        let mut m = Mechanism::new(Arc::clone(&model));
        m.gravity = random.vector(10.0);
        let (body, point, mass) = (BodyId(model.bodies.len() - 1), random.vector(0.3), 0.7);
        m.payloads.push(Payload { body, point, mass });
        let q = random_position(&model, &mut random);
        let [v, vdot] = [(); 2].map(|()| random_vector(model.nv, &mut random));
        let product = m.product([&q, &v, &vdot], &[]);
        assert!(product.columns.iter().any(|(_, part)| *part == Part::Beyond));
        let loaded = m.loaded_model();
        let mut data = Data::new(&loaded);
        data.gravity = m.gravity;
        let exact = rnea(&loaded, &mut data, &q, &v, &vdot, &[]);
        let scale = exact.iter().fold(1.0, |s: f64, x| s.max(x.abs()));
        for (a, b) in product.tau.iter().zip(exact) {
            assert!((a - b).abs() < 1e-11 * scale, "trial {trial}: {:?} {exact:?}", product.tau);
        }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few thousand")]
fn steps(duration: f64, dt: f64) -> u32 {
    (duration / dt).round() as u32
}

/// Positions, velocities and accelerations of `q_k = at_k + size_k (1 - cos w t)`.
fn swing(nv: usize, dt: f64, duration: f64) -> [Vec<f64>; 3] {
    let mut motion = [(); 3].map(|()| Vec::new());
    for i in 0..=steps(duration, dt) {
        for k in 0..nv {
            let (at, size) = ([0.5, -0.8, 0.6][k % 3], [0.4, -0.3, 0.5][k % 3]);
            let w = PI * [1.0, 2.0, 1.5][k % 3];
            let (sin, cos) = (w * f64::from(i) * dt).sin_cos();
            motion[0].push(at + size * (1.0 - cos));
            motion[1].push(size * w * sin);
            motion[2].push(size * w * w * cos);
        }
    }
    motion
}

/// Largest error of the inside over the largest exact effort.
fn error(scheme: &Scheme, dt: f64) -> f64 {
    let nv = scheme.mechanism.model.nv;
    let [q, v, vdot] = swing(nv, dt, 2.0);
    let target = Target { dt, q: &q, v: &v, vdot: &vdot, forces: &[] };
    let exact = scheme.exact(&target).unwrap().tau;
    let tau = scheme.torques(&target).unwrap().tau;
    let scale = exact.iter().fold(0.0, |s: f64, x| s.max(x.abs()));
    let inside = nv..tau.len() - nv;
    let pairs = tau[inside.clone()].iter().zip(&exact[inside]);
    pairs.fold(0.0, |e: f64, (t, x)| e.max((t - x).abs())) / scale
}

#[test]
fn consistent_beams_are_exact_and_lumped_ones_are_not() {
    for elements in [1, 2, 3] {
        for variant in [Variant::Central, Variant::Newmark] {
            let nodes = Nodes::Beam { elements, lumped: false };
            let scheme = Scheme { nodes, variant, ..Scheme::new(three_rods()) };
            let errors = [10e-3, 5e-3, 2.5e-3].map(|dt| error(&scheme, dt));
            let orders = [0, 1].map(|i| (errors[i] / errors[i + 1]).log2());
            assert!(orders.iter().all(|o| (1.9..2.1).contains(o)), "{elements}: {errors:?}");
            assert!(errors[0] < 1e-3, "{elements}: {errors:?}");
        }
    }
    // The rotary inertia is too large by m l²/(6 n²), whatever the step.
    for elements in [1, 2, 3] {
        let m = three_rods();
        let nodes = Nodes::Beam { elements, lumped: true };
        let lumped = Scheme { nodes, ..Scheme::new(m.clone()) };
        let errors = [10e-3, 2.5e-3].map(|dt| error(&lumped, dt));
        assert!((errors[0] / errors[1] - 1.0).abs() < 0.1 && errors[0] > 5e-4, "{errors:?}");
        let (dt, nv) = (1e-3, m.model.nv);
        let [q, v, vdot] = swing(nv, dt, 0.5);
        let target = Target { dt, q: &q, v: &v, vdot: &vdot, forces: &[] };
        let [tau, exact] = [lumped.torques(&target), lumped.exact(&target)].map(|t| t.unwrap().tau);
        let at = 200 * nv;
        let alpha: f64 = vdot[at..at + nv].iter().sum();
        let excess = 0.5 * 0.3 * 0.3 / (6.0 * (elements * elements) as f64);
        assert_abs_diff_eq!(tau[at + 2] - exact[at + 2], excess * alpha, epsilon = 1e-5);
    }
}

#[test]
fn beams_are_for_rods() {
    let model = random_tree(3, 4, Base::Fixed(Pose::IDENTITY), Kind::ALL);
    let nodes = Nodes::Beam { elements: 2, lumped: false };
    let scheme = Scheme { nodes, ..Scheme::new(Mechanism::new(Arc::new(model))) };
    let q = scheme.mechanism.model.neutral_position().repeat(9);
    let target = Target { dt: 0.01, q: &q, ..Target::default() };
    let error = scheme.torques(&target).unwrap_err();
    assert!(matches!(error, NodalError::NoRod(_)), "{error}");
}

#[test]
fn several_increments_are_the_scheme_at_the_shorter_step() {
    // 10 ms in five increments of 2 ms: the errors of 2 ms.
    for variant in [Variant::Central, Variant::Newmark] {
        let scheme = Scheme { variant, ..Scheme::new(three_rods()) };
        let (one, five) = (error(&scheme, 10e-3), error(&scheme, 2e-3));
        assert!((one / five / 25.0 - 1.0).abs() < 0.1, "{one} {five}");
    }
}

#[test]
fn dynamics_and_force_add_up() {
    let mut m = three_rods();
    let point = Vector3::new(0.3, 0.0, 0.0);
    m.force_points.push(ForcePoint { name: "tip".to_owned(), body: BodyId(2), point });
    let (dt, nv) = (5e-3, m.model.nv);
    let [q, v, vdot] = swing(nv, dt, 1.0);
    let forces = [3.0, -1.0, 0.0].repeat(q.len() / nv);
    let still = Target { dt, q: &q, v: &v, vdot: &vdot, forces: &[] };
    let pushes = Target { forces: &forces, ..still };
    let scheme = Scheme::new(m.clone());
    let all = scheme.torques(&pushes).unwrap().tau;
    let dynamics = scheme.without_forces().torques(&still).unwrap().tau;
    for i in 0..q.len() / nv {
        let (mut x, mut y, mut turn) = (0.0, 0.0, 0.0);
        let mut joints = Vec::new();
        for (k, length) in [0.5, 0.4, 0.3].into_iter().enumerate() {
            joints.push([x, y]);
            turn += q[i * nv + k];
            (x, y) = (x + length * f64::cos(turn), y + length * f64::sin(turn));
        }
        for (k, [x_k, y_k]) in joints.iter().enumerate() {
            // J^T F.
            let force = -(x - x_k) - 3.0 * (y - y_k);
            let sum = dynamics[i * nv + k] + force;
            assert_abs_diff_eq!(all[i * nv + k], sum, epsilon = 1e-12);
        }
    }
}

#[test]
fn steps_of_simulation_give_the_same() {
    let mut random = Random::new(22);
    for seed in 0..20 {
        let model = Arc::new(random_tree(seed, 5, Base::Fixed(Pose::IDENTITY), &[Kind::Revolute]));
        let mut m = Mechanism::new(model);
        m.gravity = random.vector(10.0);
        m.payloads.push(Payload { body: BodyId(4), point: random.vector(0.2), mass: 0.5 });
        m.force_points.push(ForcePoint {
            name: "push".to_owned(),
            body: BodyId(4),
            point: random.vector(0.2),
        });
        let (dt, nv) = (10e-3, m.model.nv);
        let [q, v, vdot] = swing(nv, dt, 0.3);
        let forces = [1.0, 2.0, -3.0].repeat(q.len() / nv);
        let target = Target { dt, q: &q, v: &v, vdot: &vdot, forces: &forces };
        let scheme = Scheme::new(m);
        let [exact, simulated] =
            [scheme.exact(&target), scheme.simulated(&target)].map(|t| t.unwrap().tau);
        let scale = exact.iter().fold(1.0, |s: f64, x| s.max(x.abs()));
        for (a, b) in simulated.iter().zip(&exact) {
            assert!((a - b).abs() < 1e-8 * scale, "{seed}: {a} {b}");
        }
    }
    let m = Mechanism { rule: Rule::NoForce, ..three_rods() };
    let [q, v, vdot] = swing(3, 0.01, 0.1);
    let target = Target { dt: 0.01, q: &q, v: &v, vdot: &vdot, forces: &[] };
    assert!(matches!(Scheme::new(m).simulated(&target), Err(NodalError::Rule(_))));
}
