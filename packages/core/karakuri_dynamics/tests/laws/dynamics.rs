//! Laws of mechanics on random trees with every kind of joint.

use crate::common::{any_tree, forces, from_to, list, moved, position, relative_error};
use karakuri_dynamics::{
    Articulated, Data, MassFactor, aba, bias, center_of_mass, center_of_mass_jacobian,
    centroidal_momentum, centroidal_momentum_matrix, crba, forward_kinematics, frame_acceleration,
    frame_jacobian, frame_jacobian_local, frame_jacobian_rate, frame_pose, frame_velocity,
    gravity_effort, kinetic_energy, potential_energy, rnea, take_off_wrench, update_accelerations,
    update_velocities,
};
use karakuri_model::{Base, BodyId, FrameId, Model};
use karakuri_spatial::{Force, Motion, Pose, Vector3};
use nalgebra::{DMatrix, DVector, Matrix3xX, Matrix6xX};
use proptest::prelude::*;

/// Round-off of O(n) sums of numbers of order 1 to 100, amplified by the condition of M.
const ROUND_OFF: f64 = 1e-9;
/// Central differences with step 1e-6: truncation 1e-12, cancellation 1e-10, both times third derivatives.
const FINITE: f64 = 2e-7;
const STEP: f64 = 1e-6;

fn values(motion: Motion) -> Vec<f64> {
    motion.to_vector().as_slice().to_vec()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn integrate_undoes_difference(seed: u64) {
        let (model, mut random) = any_tree(seed);
        let (q0, q1) = (position(&model, &mut random), position(&model, &mut random));
        let back = moved(&model, &q0, &from_to(&model, &q0, &q1), 1.0);
        let rest = from_to(&model, &q1, &back);
        prop_assert!(rest.iter().all(|x| x.abs() < 1e-12), "{rest:?}");
        let v = list(&mut random, model.nv, 1.0);
        let there = from_to(&model, &q0, &moved(&model, &q0, &v, 1.0));
        prop_assert!(relative_error(there, v) < 1e-12);
    }

    #[test]
    fn forward_dynamics_undoes_inverse_dynamics(seed: u64) {
        let (model, mut random) = any_tree(seed);
        let mut data = Data::new(&model);
        let q = position(&model, &mut random);
        let (v, a) = (list(&mut random, model.nv, 2.0), list(&mut random, model.nv, 2.0));
        let forces = forces(&model, &mut random);
        let tau = rnea(&model, &mut data, &q, &v, &a, &forces).to_vec();
        let back = aba(&model, &mut data, &q, &v, &tau, &forces).unwrap();
        let error = relative_error(back.iter().copied(), a);
        prop_assert!(error < 1e-8, "{error:e}");
    }

    #[test]
    fn wrenches_may_be_taken_off_afterwards(seed: u64) {
        let (model, mut random) = any_tree(seed);
        let mut data = Data::new(&model);
        let q = position(&model, &mut random);
        let (v, a) = (list(&mut random, model.nv, 2.0), list(&mut random, model.nv, 2.0));
        let forces = forces(&model, &mut random);
        let at_once = rnea(&model, &mut data, &q, &v, &a, &forces).to_vec();
        rnea(&model, &mut data, &q, &v, &a, &[]);
        for (i, F) in forces.iter().enumerate() {
            let p_OB = data.pose_in_world[i].translation - data.origin;
            let about_O = Force::new(F.moment + p_OB.cross(&F.force), F.force);
            take_off_wrench(&mut data, BodyId(i), &about_O);
        }
        prop_assert!(relative_error(data.effort.iter().copied(), at_once) < ROUND_OFF);
    }

    #[test]
    fn inverse_dynamics_is_mass_matrix_times_acceleration_plus_bias(seed: u64) {
        let (model, mut random) = any_tree(seed);
        let mut data = Data::new(&model);
        let q = position(&model, &mut random);
        let (v, a) = (list(&mut random, model.nv, 2.0), list(&mut random, model.nv, 2.0));
        let M = crba(&model, &mut data, &q).clone();
        let c = bias(&model, &mut data, &q, &v).to_vec();
        let g = gravity_effort(&model, &mut data, &q).to_vec();
        let rest = bias(&model, &mut data, &q, &vec![0.0; model.nv]).to_vec();
        prop_assert!(relative_error(g, rest) < ROUND_OFF);
        let expected = M * DVector::from_vec(a.clone()) + DVector::from_vec(c);
        let tau = rnea(&model, &mut data, &q, &v, &a, &[]);
        let error = relative_error(tau.iter().copied(), expected.iter().copied());
        prop_assert!(error < ROUND_OFF, "{error:e}");
    }

    #[test]
    fn mass_matrix_is_symmetric_and_positive(seed: u64) {
        let (model, mut random) = any_tree(seed);
        let q = position(&model, &mut random);
        let mut data = Data::new(&model);
        let M = crba(&model, &mut data, &q).clone();
        prop_assert!(M == M.transpose());
        prop_assert!(M.clone().cholesky().is_some());
        // Kinetic energy is its quadratic form.
        let v = DVector::from_vec(list(&mut random, model.nv, 2.0));
        forward_kinematics(&model, &mut data, &q);
        update_velocities(&model, &mut data, v.as_slice());
        let energy = kinetic_energy(&model, &data);
        let expected = 0.5 * v.dot(&(&M * &v));
        prop_assert!((energy - expected).abs() < ROUND_OFF * expected.max(1.0), "{energy} {expected}");
    }

    #[test]
    fn articulated_and_sparse_factors_agree(seed: u64) {
        let (model, mut random) = any_tree(seed);
        let q = position(&model, &mut random);
        let extra: Vec<f64> = (0..model.nv).map(|_| random.uniform(0.0, 1.0)).collect();
        let rhs = list(&mut random, model.nv, 5.0);
        let mut data = Data::new(&model);
        let M = crba(&model, &mut data, &q).clone();
        let mut sparse = MassFactor::new(&model);
        sparse.factorize(&M, &extra).unwrap();
        let mut x = rhs.clone();
        sparse.solve(&mut x);
        let mut articulated = Articulated::new(&model);
        articulated.factorize(&model, &mut data, &extra).unwrap();
        let mut y = rhs.clone();
        articulated.apply_inverse(&model, &mut y);
        let error = relative_error(x.iter().copied(), y.iter().copied());
        prop_assert!(error < ROUND_OFF, "{error:e}");
        let full = M + DMatrix::from_diagonal(&DVector::from_vec(extra));
        let back = full * DVector::from_vec(x);
        prop_assert!(relative_error(back.iter().copied(), rhs) < ROUND_OFF);
    }

    #[test]
    fn impulse_response_is_inverse_mass_times_jacobian_transpose(seed: u64) {
        let (model, mut random) = any_tree(seed);
        let q = position(&model, &mut random);
        let mut data = Data::new(&model);
        forward_kinematics(&model, &mut data, &q);
        let mut factor = Articulated::new(&model);
        factor.factorize(&model, &mut data, &[]).unwrap();
        let body = random.below(model.bodies.len());
        let target = random.below(model.bodies.len());
        let impulse = Force::new(random.vector(1.0), random.vector(1.0));
        let mut dv = vec![f64::NAN; model.nv];
        factor.impulse_response(&model, BodyId(body), &impulse, &mut dv);

        let main_frame = |body: usize| model.frame(&model.bodies[body].name).unwrap();
        let mut J = Matrix6xX::zeros(model.nv);
        frame_jacobian(&model, &data, main_frame(body), &mut J);
        let mut expected = (J.transpose() * impulse.to_vector()).as_slice().to_vec();
        factor.apply_inverse(&model, &mut expected);
        prop_assert!(relative_error(dv.iter().copied(), expected) < ROUND_OFF);

        let seen = factor.body_response(BodyId(body), &impulse, BodyId(target));
        frame_jacobian(&model, &data, main_frame(target), &mut J);
        let at_target = J * DVector::from_vec(dv);
        prop_assert!(relative_error(values(seen), at_target.iter().copied()) < ROUND_OFF);
    }

    #[test]
    fn jacobians_are_what_frames_do(seed: u64) {
        let (model, mut random) = any_tree(seed);
        let q = position(&model, &mut random);
        let (v, a) = (list(&mut random, model.nv, 1.0), list(&mut random, model.nv, 1.0));
        let frame = FrameId(random.below(model.frames.len()));
        let mut data = Data::new(&model);
        forward_kinematics(&model, &mut data, &q);
        update_velocities(&model, &mut data, &v);
        update_accelerations(&model, &mut data, &v, &a);
        let V = frame_velocity(&model, &data, frame);
        let A = frame_acceleration(&model, &data, frame);
        let rate = frame_jacobian_rate(&model, &data, frame, &v);
        let mut J = Matrix6xX::zeros(model.nv);
        frame_jacobian(&model, &data, frame, &mut J);
        let v_vector = DVector::from_vec(v.clone());
        prop_assert!(relative_error(values(V), (&J * &v_vector).iter().copied()) < ROUND_OFF);
        let JA = &J * DVector::from_vec(a.clone());
        let expected = values(rate).into_iter().zip(JA.iter()).map(|(x, y)| x + y);
        prop_assert!(relative_error(values(A), expected) < ROUND_OFF);
        let R = frame_pose(&model, &data, frame).rotation;
        let mut local = Matrix6xX::zeros(model.nv);
        frame_jacobian_local(&model, &data, frame, &mut local);
        let turned = R * (&local * &v_vector).fixed_rows::<3>(0);
        prop_assert!((turned - V.angular).norm() < ROUND_OFF * (1.0 + V.angular.norm()));

        // Velocity and acceleration are the derivatives of pose and velocity along q ⊕ v t.
        let mut at = |t: f64| {
            let q = moved(&model, &q, &v, t);
            let v: Vec<f64> = v.iter().zip(&a).map(|(v, a)| v + a * t).collect();
            forward_kinematics(&model, &mut data, &q);
            update_velocities(&model, &mut data, &v);
            (frame_pose(&model, &data, frame), frame_velocity(&model, &data, frame))
        };
        let ((X1, V1), (X0, V0)) = (at(STEP), at(-STEP));
        let linear = (X1.translation - X0.translation) / (2.0 * STEP);
        prop_assert!((linear - V.linear).norm() < FINITE * (1.0 + A.linear.norm()), "{linear} {V:?}");
        let turn = (X1.rotation - X0.rotation) / (2.0 * STEP);
        let spin = karakuri_spatial::skew(&V.angular) * R;
        prop_assert!((turn - spin).norm() < FINITE * (1.0 + V.angular.norm_squared()));
        let change = (V1 - V0) * (0.5 / STEP);
        let error = relative_error(values(change), values(A));
        prop_assert!(error < FINITE, "{error:e}");
    }

    #[test]
    fn power_in_is_energy_gained(seed: u64) {
        let (model, mut random) = any_tree(seed);
        let q = position(&model, &mut random);
        let (v, tau) = (list(&mut random, model.nv, 1.0), list(&mut random, model.nv, 5.0));
        let mut data = Data::new(&model);
        let a = aba(&model, &mut data, &q, &v, &tau, &[]).unwrap().to_vec();
        let power: f64 = v.iter().zip(&tau).map(|(v, tau)| v * tau).sum();
        // Along the motion: position and velocity both advance.
        let mut energy = |t: f64| {
            forward_kinematics(&model, &mut data, &moved(&model, &q, &v, t));
            let v: Vec<f64> = v.iter().zip(&a).map(|(v, a)| v + a * t).collect();
            update_velocities(&model, &mut data, &v);
            kinetic_energy(&model, &data) + potential_energy(&model, &data)
        };
        // A path has a jump in its curvature at each of its knots: a difference over one says nothing, a shorter one does.
        let rates = [STEP, 1e-2 * STEP].map(|t| (energy(t) - energy(-t)) / (2.0 * t));
        let error = rates.iter().fold(f64::INFINITY, |least, r| least.min((r - power).abs()));
        let scale = a.iter().fold(1.0 + power.abs() + energy(0.0).abs(), |m, a| m.max(a.abs()));
        prop_assert!(error < 1e-6 * scale, "{rates:?} {power}");
    }

    #[test]
    fn momentum_is_its_matrix_times_velocity(seed: u64) {
        let (model, mut random) = any_tree(seed);
        let q = position(&model, &mut random);
        let v = list(&mut random, model.nv, 2.0);
        let mut data = Data::new(&model);
        let h = centroidal_momentum(&model, &mut data, &q, &v);
        let mut A = Matrix6xX::zeros(model.nv);
        centroidal_momentum_matrix(&model, &mut data, &q, &mut A);
        let product = A * DVector::from_vec(v.clone());
        let direct = h.angular.iter().chain(h.linear.iter()).copied();
        prop_assert!(relative_error(direct, product.iter().copied()) < ROUND_OFF);
        let mut J = Matrix3xX::zeros(model.nv);
        center_of_mass_jacobian(&model, &mut data, &q, &mut J);
        let v_com = J * DVector::from_vec(v.clone());
        let mut com = |t: f64| {
            forward_kinematics(&model, &mut data, &moved(&model, &q, &v, t));
            center_of_mass(&model, &data)
        };
        let finite = (com(STEP) - com(-STEP)) / (2.0 * STEP);
        prop_assert!((finite - v_com).norm() < FINITE * (1.0 + v_com.norm()) * 10.0);
    }

    #[test]
    fn a_moved_world_changes_nothing_inside(seed: u64) {
        let (mut model, mut random) = any_tree(seed);
        let mut q = position(&model, &mut random);
        let v = list(&mut random, model.nv, 1.0);
        let a = list(&mut random, model.nv, 1.0);
        let tau = rnea(&model, &mut Data::new(&model), &q, &v, &a, &[]).to_vec();
        // Move everything by X: gravity turns along, and so do the world-axis rates of a floating base.
        let X = random.pose(1.0);
        let floating = matches!(model.base, Base::Floating);
        let (mut v2, mut a2) = (v.clone(), a.clone());
        let turn = |list: &mut [f64], R: &karakuri_spatial::Matrix3| {
            for part in list[..6].chunks_mut(3) {
                let turned = R * Vector3::new(part[0], part[1], part[2]);
                part.copy_from_slice(turned.as_slice());
            }
        };
        if floating {
            let p = X.transform_point(&Vector3::new(q[0], q[1], q[2]));
            let r = X.quaternion()
                * nalgebra::UnitQuaternion::new_normalize(nalgebra::Quaternion::new(
                    q[6], q[3], q[4], q[5],
                ));
            q[..3].copy_from_slice(p.as_slice());
            q[3..7].copy_from_slice(r.coords.as_slice());
            turn(&mut v2, &X.rotation);
            turn(&mut a2, &X.rotation);
        } else {
            move_fixed(&mut model, &X);
        }
        let mut data = Data::new(&model);
        data.gravity = X.rotation * data.gravity;
        let mut moved_tau = rnea(&model, &mut data, &q, &v2, &a2, &[]).to_vec();
        if floating {
            turn(&mut moved_tau, &X.rotation.transpose());
        }
        prop_assert!(relative_error(tau, moved_tau) < ROUND_OFF);
    }
}

fn move_fixed(model: &mut Model, X: &Pose) {
    if let Base::Fixed(pose) = &mut model.base {
        *pose = *X * *pose;
    }
    for (body, joint) in model.bodies.iter().zip(&mut model.joints) {
        if body.parent.is_none() {
            joint.pose_in_parent = *X * joint.pose_in_parent;
        }
    }
}
