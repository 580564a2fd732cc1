//! Laws of spatial algebra on random poses, motions, forces and inertias.
#![expect(non_snake_case, reason = "monogram notation, docs/notation.md")]

use karakuri_spatial::{
    Force, Inertia, InertiaError, Matrix3, Matrix6, Motion, Pose, Vector3, Vector6, skew,
    tangent_frame,
};
use proptest::prelude::*;

/// A handful of products of numbers of order 10.
const ROUND_OFF: f64 = 1e-12;

fn vector() -> impl Strategy<Value = Vector3> {
    prop::array::uniform3(-3.0..3.0).prop_map(Vector3::from)
}

fn pose() -> impl Strategy<Value = Pose> {
    (vector(), vector()).prop_map(|(p, rpy)| Pose::from_xyz_rpy(p.into(), rpy.into()))
}

fn motion() -> impl Strategy<Value = Motion> {
    (vector(), vector()).prop_map(|(w, v)| Motion::new(w, v))
}

fn force() -> impl Strategy<Value = Force> {
    (vector(), vector()).prop_map(|(n, f)| Force::new(n, f))
}

/// Of point masses, so that every one is real.
fn inertia() -> impl Strategy<Value = Inertia> {
    (0.1..5.0, vector(), vector(), vector()).prop_map(|(mass, com, a, b)| {
        let second = (a * a.transpose() + b * b.transpose()) * 0.1;
        let about_com = Matrix3::identity() * second.trace() - second;
        Inertia { mass, com, about_com }
    })
}

fn near(a: &Vector6, b: &Vector6) -> bool {
    (a - b).norm() <= ROUND_OFF * (1.0 + a.norm() + b.norm())
}

/// The 6×6 matrix of `f`.
fn matrix(f: impl Fn(&Motion) -> Vector6) -> Matrix6 {
    Matrix6::from_fn(|i, j| f(&Motion::from_vector(&Vector6::ith(j, 1.0)))[i])
}

proptest! {
    /// A tangent frame is right-handed and orthonormal, whichever way its normal points.
    #[test]
    fn a_tangent_frame_is_right_handed(
        direction in vector().prop_filter("no direction", |v| v.norm() > 1e-3),
    ) {
        let n = direction.normalize();
        let [t1, t2] = tangent_frame(&n);
        let R = Matrix3::from_columns(&[t1, t2, n]);
        prop_assert!((R.transpose() * R - Matrix3::identity()).norm() < 1e-14);
        prop_assert!((t1.cross(&t2) - n).norm() < 1e-14);
    }

    #[test]
    fn poses_form_a_group(X_AB in pose(), X_BC in pose(), p in vector()) {
        let X_AC = X_AB * X_BC;
        let there = X_AC.transform_point(&p);
        let in_turn = X_AB.transform_point(&X_BC.transform_point(&p));
        prop_assert!((there - in_turn).norm() < 100.0 * ROUND_OFF);
        let back = X_AB * X_AB.inverse();
        prop_assert!((back.rotation - Matrix3::identity()).norm() < ROUND_OFF);
        prop_assert!(back.translation.norm() < 10.0 * ROUND_OFF);
    }

    #[test]
    fn rotations_survive_quaternions_and_angles(X in pose()) {
        let again = Pose::from_quaternion(&X.quaternion(), X.translation);
        prop_assert!((again.rotation - X.rotation).norm() < ROUND_OFF);
        let again = Pose::from_xyz_rpy(X.translation.into(), X.rpy());
        // Roll and yaw merge as pitch nears a right angle, where the cosine loses half of the digits.
        prop_assert!((again.rotation - X.rotation).norm() < 1e-7);
    }

    #[test]
    fn an_axis_keeps_its_place(axis in vector(), angle in -3.0..3.0_f64) {
        prop_assume!(axis.norm() > 0.1);
        let axis = axis.normalize();
        let R = Pose::from_axis_angle(&axis, angle).rotation;
        prop_assert!((R * axis - axis).norm() < ROUND_OFF);
        prop_assert!((R.trace() - (1.0 + 2.0 * angle.cos())).abs() < ROUND_OFF);
        prop_assert!((R.determinant() - 1.0).abs() < ROUND_OFF);
    }

    #[test]
    fn power_is_the_same_in_every_frame(X in pose(), V in motion(), F in force()) {
        let there = X.transform_motion(&V).dot(&X.transform_force(&F));
        prop_assert!((there - V.dot(&F)).abs() < 1000.0 * ROUND_OFF, "{there}");
        prop_assert!(near(&X.inverse_transform_motion(&X.transform_motion(&V)).to_vector(), &V.to_vector()));
        prop_assert!(near(&X.inverse_transform_force(&X.transform_force(&F)).to_vector(), &F.to_vector()));
        prop_assert!(near(&X.inverse().transform_motion(&V).to_vector(), &X.inverse_transform_motion(&V).to_vector()));
    }

    #[test]
    fn crosses_are_dual_and_obey_jacobi(A in motion(), B in motion(), C in motion(), F in force()) {
        // (A × B) · F = −B · (A ×* F)
        let sum = A.cross_motion(&B).dot(&F) + B.dot(&A.cross_force(&F));
        prop_assert!(sum.abs() < 1000.0 * ROUND_OFF, "{sum}");
        let jacobi = A.cross_motion(&B.cross_motion(&C))
            + B.cross_motion(&C.cross_motion(&A))
            + C.cross_motion(&A.cross_motion(&B));
        prop_assert!(jacobi.to_vector().norm() < 1000.0 * ROUND_OFF);
        prop_assert!(A.cross_motion(&A).to_vector().norm() < ROUND_OFF);
        prop_assert!((skew(&A.angular) * B.linear - A.angular.cross(&B.linear)).norm() < ROUND_OFF);
    }

    #[test]
    fn an_inertia_is_symmetric_positive_and_moves_with_its_body(
        M in inertia(), X in pose(), V in motion()
    ) {
        prop_assert_eq!(M.validate(), Ok(()));
        let full = M.to_matrix();
        prop_assert!((full - full.transpose()).norm() < ROUND_OFF * full.norm());
        prop_assert!(near(&(full * V.to_vector()), &M.mul_motion(&V).to_vector()));
        prop_assert!(V.dot(&M.mul_motion(&V)) >= 0.0);
        let adjoint = matrix(|V| X.inverse_transform_motion(V).to_vector());
        let moved = adjoint.transpose() * full * adjoint;
        prop_assert!((M.transformed(&X).to_matrix() - moved).norm() < 10.0 * ROUND_OFF * moved.norm());
    }

    #[test]
    fn welded_bodies_have_the_sum_of_their_matrices(M in inertia(), N in inertia()) {
        let sum = M.to_matrix() + N.to_matrix();
        prop_assert!((M.combined(&N).to_matrix() - sum).norm() < 10.0 * ROUND_OFF * sum.norm());
        prop_assert_eq!(Inertia::ZERO.combined(&Inertia::ZERO), Inertia::ZERO);
    }
}

#[test]
fn six_numbers_that_no_body_has_are_refused_by_cause() {
    let body = |mass: f64, xx: f64, yy: f64, zz: f64| Inertia {
        mass,
        com: Vector3::zeros(),
        about_com: Matrix3::from_diagonal(&Vector3::new(xx, yy, zz)),
    };
    assert_eq!(body(1.0, 1.0, 1.0, 2.0).validate(), Ok(()), "a flat disc is allowed");
    assert_eq!(body(f64::NAN, 1.0, 1.0, 1.0).validate(), Err(InertiaError::NotFinite));
    assert_eq!(body(-1.0, 1.0, 1.0, 1.0).validate(), Err(InertiaError::NegativeMass(-1.0)));
    let negative = body(1.0, -1.0, 1.0, 1.0).validate();
    assert_eq!(negative, Err(InertiaError::NegativeMoment(-1.0)));
    let impossible = body(1.0, 1.0, 1.0, 3.0).validate();
    assert_eq!(impossible, Err(InertiaError::TriangleInequality(3.0, 2.0)));
}

/// A quarter about z takes x to y, worked by hand.
#[test]
fn a_quarter_turn() {
    let X = Pose::from_xyz_rpy([1.0, 2.0, 3.0], [0.0, 0.0, std::f64::consts::FRAC_PI_2]);
    let p = X.transform_point(&Vector3::x());
    assert!((p - Vector3::new(1.0, 3.0, 3.0)).norm() < ROUND_OFF, "{p}");
    // A push of 1 N along the turned x at (1, 2, 3) has the moment p × y = (−3, 0, 1) about the origin.
    let F = X.transform_force(&Force::new(Vector3::zeros(), Vector3::x()));
    assert!((F.force - Vector3::y()).norm() < ROUND_OFF, "{F:?}");
    assert!((F.moment - Vector3::new(-3.0, 0.0, 1.0)).norm() < ROUND_OFF, "{F:?}");
}
