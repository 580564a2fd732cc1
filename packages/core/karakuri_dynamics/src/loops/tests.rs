use karakuri_model::{Base, BodyId, LoopJoint, Model};
use karakuri_spatial::Pose;
use karakuri_testkit::{Kind, Random, random_position, random_tree, random_vector};

use super::*;
use crate::{
    Data, OperatorFactor, forward_kinematics, integrate, update_accelerations, update_velocities,
};

const HINGES_AND_SLIDES: &[Kind] = &[Kind::Revolute, Kind::Prismatic];
const WELD: [bool; 6] = [true; 6];
const HINGE: [bool; 6] = [false, true, true, true, true, true];

/// A loop that locks one rotation and all translations, its two axes at right angles and both free angles far from zero.
fn universal(seed: u64, axis: usize) -> (Model, Vec<f64>) {
    let locked = core::array::from_fn(|k| k == axis || k >= 3);
    let (mut model, q) = closed(seed, locked);
    let turn = |axis: usize, angle: f64| {
        let mut rpy = [0.0; 3];
        rpy[axis] = angle;
        Pose::from_xyz_rpy([0.0; 3], rpy)
    };
    // About the axis that A's end keeps, then about the one that B's keeps.
    let [first, second] = [(axis + 2) % 3, (axis + 1) % 3];
    let angle = 0.4 + 0.3 * seed as f64;
    let b = &mut model.loops[0].pose_in_b;
    *b = *b * turn(first, angle) * turn(second, -0.7 * angle);
    (model, q)
}

/// The loops whose rows are tried: welds, hinges at any angle, and universal joints about each axis.
fn loops(seed: u64) -> impl Iterator<Item = (u64, Model, Vec<f64>)> {
    let mut hinge = closed(seed, HINGE);
    let turn = Pose::from_xyz_rpy([0.0; 3], [0.5 * seed as f64, 0.0, 0.0]);
    hinge.0.loops[0].pose_in_b = hinge.0.loops[0].pose_in_b * turn;
    let universal = (0..3).map(move |axis| universal(seed, axis));
    let all = [closed(seed, WELD), hinge].into_iter().chain(universal);
    all.map(move |(model, q)| (seed, model, q))
}

/// A random tree whose last body is joined to another one or to the world, closed at the position that comes with it.
fn closed(seed: u64, locked: [bool; 6]) -> (Model, Vec<f64>) {
    let mut model = random_tree(seed, 9, Base::Fixed(Pose::IDENTITY), HINGES_AND_SLIDES);
    let mut random = Random::new(seed + 100);
    let q = random_position(&model, &mut random);
    let mut data = Data::new(&model);
    forward_kinematics(&model, &mut data, &q);
    let body_b = BodyId(model.bodies.len() - 1);
    let body_a = (!seed.is_multiple_of(3)).then(|| BodyId(random.below(body_b.0)));
    let pose_in_b = random.pose(0.3);
    let X_WB = data.pose_in_world[body_b.0] * pose_in_b;
    let pose_in_a = body_a.map_or(X_WB, |a| data.pose_in_world[a.0].inverse() * X_WB);
    let (body_b, name) = (Some(body_b), "closure".to_owned());
    model.loops.push(LoopJoint { name, body_a, pose_in_a, body_b, pose_in_b, locked });
    (model, q)
}

/// `q ⊕ v t` and the kinematics there.
fn moved(model: &Model, q: &[f64], v: &[f64], t: f64) -> (Vec<f64>, Data) {
    let (mut data, mut there) = (Data::new(model), vec![0.0; model.nq]);
    integrate(model, q, v, t, &mut there);
    forward_kinematics(model, &mut data, &there);
    (there, data)
}

fn product(matrix: &[f64], v: &[f64]) -> Vec<f64> {
    let dot = |row: &[f64]| row.iter().zip(v).map(|(a, b)| a * b).sum();
    matrix.chunks_exact(v.len()).map(dot).collect()
}

/// `ġ = J v`, by central differences.
#[test]
fn the_jacobian_is_the_derivative_of_the_gaps() {
    for (seed, model, q) in (0..12).flat_map(loops) {
        let locked = model.loops[0].locked;
        let v = random_vector(model.nv, &mut Random::new(seed));
        let (_, data) = moved(&model, &q, &v, 0.0);
        let n = n_constraints(&model);
        let mut jacobian = vec![0.0; n * model.nv];
        assert_eq!(constraint_jacobian(&model, &data, &mut jacobian), n);
        let gaps = |t: f64| {
            let (q, data) = moved(&model, &q, &v, t);
            let mut gaps = vec![0.0; n];
            constraint_gaps(&model, &data, &q, &mut gaps);
            let ends = LoopEnds::at(&data, &model.loops[0]).gap();
            let of_ends = ends.iter().zip(&locked).filter(|(_, locked)| **locked);
            for (gap, (of_ends, _)) in gaps.iter().zip(of_ends) {
                assert!((gap - of_ends).abs() < 1e-14, "seed {seed}: {gap} is not {of_ends}");
            }
            gaps
        };
        let (after, before) = (gaps(1e-5), gaps(-1e-5));
        for (i, rate) in product(&jacobian, &v).into_iter().enumerate() {
            let change = (after[i] - before[i]) / 2e-5;
            assert!((rate - change).abs() < 1e-7, "seed {seed}, row {i}: {rate} is not {change}");
        }
    }
}

/// Multipliers do the work of their rows: `S_j · F_k` along the path is the Jacobian's column, with B's sign.
#[test]
fn unit_wrenches_along_the_path_are_the_transposed_jacobian() {
    for (seed, model, q) in (0..12).flat_map(loops) {
        let (_, data) = moved(&model, &q, &vec![0.0; model.nv], 0.0);
        let mut jacobian = vec![0.0; 6 * model.nv];
        constraint_jacobian(&model, &data, &mut jacobian);
        let ends = LoopEnds::at(&data, &model.loops[0]);
        for (i, k) in (0..6).filter(|k| model.loops[0].locked[*k]).enumerate() {
            let F = ends.unit_wrench(k, &data.origin);
            let mut row = vec![0.0; model.nv];
            for PathDof { sign, dof } in loop_path(&model, &model.loops[0]) {
                row[dof] = -sign * data.subspace[dof].dot(&F);
            }
            for (j, (a, b)) in row.iter().zip(&jacobian[i * model.nv..]).enumerate() {
                assert!((a - b).abs() < 1e-12, "seed {seed}, ({k}, {j}): {a} is not {b}");
            }
        }
    }
}

/// `g̈ = Ġ v` while `v̇ = 0`, by second differences of the gap.
#[test]
fn the_convective_acceleration_is_the_second_derivative_of_the_gap() {
    for (seed, model, q) in (0..12).flat_map(loops) {
        if model.loops[0].locked == HINGE {
            continue; // the rate of a tilt is that of the angle only while the velocity closes it, too
        }
        let v = random_vector(model.nv, &mut Random::new(seed));
        let gap = |t: f64| LoopEnds::at(&moved(&model, &q, &v, t).1, &model.loops[0]).gap();
        let (_, mut data) = moved(&model, &q, &v, 0.0);
        update_velocities(&model, &mut data, &v);
        update_accelerations(&model, &mut data, &v, &vec![0.0; model.nv]);
        let ends = LoopEnds::at(&data, &model.loops[0]);
        let expected = ends.convective_acceleration(&data, &model.loops[0]);
        let e = 1e-4;
        let (after, here, before) = (gap(e), gap(0.0), gap(-e));
        for k in (0..6).filter(|k| model.loops[0].locked[*k]) {
            let second = (after[k] - 2.0 * here[k] + before[k]) / (e * e);
            let error = (expected[k] - second).abs();
            assert!(
                error < 1e-5 * (1.0 + second.abs()),
                "seed {seed}, {k}: {expected:?}, {second}"
            );
        }
    }
}

/// A completed motion is closed in position, velocity and acceleration, and `Nᵀ` keeps power: `τ · v = (Nᵀ τ) · v`.
#[test]
fn a_completed_motion_keeps_its_loops_closed_and_its_power() {
    let mut n_moving = 0;
    for seed in 0..12 {
        let (model, start) = closed(seed, [false, false, false, true, true, true]);
        let mut random = Random::new(seed + 7);
        let drift = random_vector(model.nv, &mut random);
        let (mut q, mut data) = moved(&model, &start, &drift, 0.01);
        let mut v = random_vector(model.nv, &mut random);
        let mut vdot = random_vector(model.nv, &mut random);
        let mut embedding = ConstraintEmbedding::new(&model);
        let driven = vec![false; model.nv];
        let motion = MotionMut { q: &mut q, v: &mut v, vdot: &mut vdot };
        let gap = embedding.complete(&model, &mut data, &driven, motion);
        assert!(gap < 1e-12, "seed {seed}: the loop is open by {gap} m");

        forward_kinematics(&model, &mut data, &q);
        let mut jacobian = vec![0.0; 3 * model.nv];
        constraint_jacobian(&model, &data, &mut jacobian);
        let largest = |x: &[f64]| x.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        assert!(largest(&product(&jacobian, &v)) < 1e-10, "seed {seed}: the ends part");
        update_velocities(&model, &mut data, &v);
        update_accelerations(&model, &mut data, &v, &vec![0.0; model.nv]);
        let ends = LoopEnds::at(&data, &model.loops[0]);
        let convective = ends.convective_acceleration(&data, &model.loops[0]);
        for (a, c) in product(&jacobian, &vdot).iter().zip(&convective[3..]) {
            assert!((a + c).abs() < 1e-8 * (1.0 + c.abs()), "seed {seed}: {a} does not undo {c}");
        }

        let tau = random_vector(model.nv, &mut random);
        let mut reduced = tau.clone();
        embedding.reduce_effort(&mut reduced);
        let power = |tau: &[f64]| tau.iter().zip(&v).map(|(t, v)| t * v).sum::<f64>();
        let (before, after) = (power(&tau), power(&reduced));
        assert!((before - after).abs() < 1e-9 * (1.0 + before.abs()), "seed {seed}");
        n_moving += (0..model.nv).filter(|k| embedding.is_dependent(*k)).count();
    }
    assert!(
        n_moving >= 24,
        "most of the loops have three dependent coordinates, {n_moving} in all"
    );
}

/// Joints that carry both bodies of a loop are not on its path.
#[test]
fn common_ancestors_are_not_on_the_path() {
    for seed in 0..12 {
        let (model, q) = closed(seed, [true; 6]);
        let (_, data) = moved(&model, &q, &vec![0.0; model.nv], 0.0);
        let mut jacobian = vec![0.0; 6 * model.nv];
        constraint_jacobian(&model, &data, &mut jacobian);
        let path = loop_path(&model, &model.loops[0]);
        for k in (0..model.nv).filter(|k| path.iter().all(|step| step.dof != *k)) {
            let column = (0..6).map(|row| jacobian[row * model.nv + k]);
            assert!(column.into_iter().all(|x| x == 0.0), "seed {seed}: coordinate {k}");
        }
    }
}

#[test]
fn three_responses_are_projected_as_one_by_one() {
    for (seed, model, q) in (0..8).flat_map(loops) {
        let mut data = Data::new(&model);
        forward_kinematics(&model, &mut data, &q);
        let mut mass = OperatorFactor::new(&model, std::iter::repeat_n(0, model.nv));
        mass.factorize(&model, &mut data, &[]).unwrap();
        let mut projection = LoopProjection::new(&model);
        projection.factorize(&model, &data, &mut mass);
        let mut random = Random::new(seed + 200);
        let mut three = random_vector(3 * model.nv, &mut random);
        let mut each = three.clone();
        projection.project_three_responses(&mut three);
        for x in each.chunks_exact_mut(model.nv) {
            projection.project_response(x);
        }
        let largest = three.iter().zip(&each).fold(0.0_f64, |most, (a, b)| most.max((a - b).abs()));
        assert!(largest <= 1e-14, "seed {seed}: {largest}");
    }
}
