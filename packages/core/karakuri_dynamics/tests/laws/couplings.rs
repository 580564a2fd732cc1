//! Mimic joints: the reduced coordinates say the same as the full ones.

use karakuri_dynamics::{
    Data, IkOptions, IkProblem, IkTarget, InverseKinematics, Reduction, crba, forward_kinematics,
    frame_pose,
};
use karakuri_model::{Base, BodyId, Coupling, FrameId, Model};
use karakuri_spatial::Pose;
use karakuri_testkit::{Kind, Random, random_position, random_tree, random_vector};
use nalgebra::{DMatrix, DVector};

/// Joint 2 follows joint 4, joint 1 follows joint 2 (a mimic of a mimic), joint 5 follows joint 0.
fn coupled() -> Model {
    let mut model = random_tree(3, 6, Base::Fixed(Pose::IDENTITY), Kind::ONE_DOF);
    let coupling = |follower, leader, multiplier, offset| Coupling {
        follower: BodyId(follower),
        leader: BodyId(leader),
        multiplier,
        offset,
    };
    model.couplings =
        vec![coupling(1, 2, 2.0, 0.3), coupling(2, 4, -0.5, 0.1), coupling(5, 0, 1.0, 0.0)];
    model
}

#[test]
fn followers_follow_their_leaders_leaders() {
    let model = coupled();
    let reduction = Reduction::new(&model);
    assert_eq!(reduction.n_independent, 3);
    let mut random = Random::new(1);
    let mut q = random_position(&model, &mut random);
    reduction.project_position(&mut q);
    assert!((q[2] - (-0.5 * q[4] + 0.1)).abs() < 1e-15);
    assert!((q[1] - (2.0 * q[2] + 0.3)).abs() < 1e-15);
    for k in 0..model.nv {
        let (r, factor) = reduction.row(k);
        let expected = factor * q[reduction.independent(r)] + reduction.offset(k);
        assert!((q[k] - expected).abs() < 1e-15, "{k}");
    }
}

#[test]
fn reduced_quantities_are_products_with_the_matrix() {
    let model = coupled();
    let reduction = Reduction::new(&model);
    let (S, n, mut random) = (reduction.matrix(), reduction.n_independent, Random::new(2));
    let reduced = random_vector(n, &mut random);
    let mut v = vec![0.0; model.nv];
    reduction.expand_velocity(&reduced, &mut v);
    assert_eq!(DVector::from_vec(v.clone()), &S * DVector::from_vec(reduced));
    let mut projected = v.clone();
    reduction.project_velocity(&mut projected);
    assert_eq!(projected, v);
    let tau = random_vector(model.nv, &mut random);
    let mut tau_r = vec![0.0; n];
    reduction.reduce_effort(&tau, &mut tau_r);
    let expected = S.transpose() * DVector::from_vec(tau);
    assert!((DVector::from_vec(tau_r) - expected).norm() < 1e-14);
    let q = random_position(&model, &mut random);
    let mut data = Data::new(&model);
    let M = crba(&model, &mut data, &q);
    let mut M_r = DMatrix::zeros(n, n);
    reduction.reduce_mass_matrix(M, &mut M_r);
    let expected = S.transpose() * M * &S;
    assert!((&M_r - &expected).norm() < 1e-12 * expected.norm());
}

#[test]
fn inverse_kinematics_moves_followers_with_their_leaders() {
    let model = coupled();
    let reduction = Reduction::new(&model);
    let mut q = random_position(&model, &mut Random::new(5));
    reduction.project_position(&mut q);
    let mut data = Data::new(&model);
    forward_kinematics(&model, &mut data, &q);
    let target = |i: usize| {
        let frame = FrameId(i);
        IkTarget::pose(frame, frame_pose(&model, &data, frame))
    };
    let targets = [target(model.frames.len() - 1), target(model.frames.len() - 2)];
    let start = model.neutral_position();
    let problem = IkProblem { targets: &targets, start: &start, ..IkProblem::default() };
    let mut ik = InverseKinematics::new(&model, 2);
    let outcome = ik.solve(&model, &problem, &IkOptions::default()).unwrap();
    assert!(outcome.converged, "{}", outcome.explain(&model, &targets));
    let mut held = ik.position.clone();
    reduction.project_position(&mut held);
    assert_eq!(held, ik.position);
}
