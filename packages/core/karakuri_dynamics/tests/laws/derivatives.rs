//! Analytic derivatives against central differences, on random trees with every kind of joint.

use crate::common::{any_tree, list, moved, position, relative_error};
use karakuri_dynamics::{
    AbaDerivatives, Data, RneaDerivatives, aba, aba_derivatives, crba, rnea, rnea_derivatives,
};
use karakuri_model::{JointKind, Model};
use karakuri_spatial::{Motion, Vector3};
use nalgebra::DMatrix;
use proptest::prelude::*;

/// Differences in q: truncation step² times third derivatives, cancellation 1e-16/step times the condition of M.
const STEP: f64 = 1e-5;
const TOLERANCE: f64 = 1e-6;
/// Efforts and accelerations are quadratic in v and linear in τ, so central differences are exact at any step.
const ANY_STEP: f64 = 1.0;
const ROUND_OFF: f64 = 1e-9;

/// Central differences of `f` along each of `n` directions.
fn finite(n: usize, step: f64, mut f: impl FnMut(&[f64], f64) -> Vec<f64>) -> DMatrix<f64> {
    let mut result = DMatrix::zeros(n, n);
    for k in 0..n {
        let mut direction = vec![0.0; n];
        direction[k] = 1.0;
        let (ahead, behind) = (f(&direction, step), f(&direction, -step));
        for j in 0..n {
            result[(j, k)] = (ahead[j] - behind[j]) / (2.0 * step);
        }
    }
    result
}

fn along(x: &[f64], direction: &[f64], t: f64) -> Vec<f64> {
    x.iter().zip(direction).map(|(x, d)| x + d * t).collect()
}

/// Whether custom joints are smooth as far as differences reach: at a spline's points its third derivative jumps.
fn is_smooth(model: &Model, q: &[f64]) -> bool {
    model.joints.iter().all(|joint| {
        let JointKind::Custom(motion) = &joint.kind else { return true };
        let n = motion.dof_kinds().len();
        let rate = |i: usize, steps: f64| {
            let mut at = q[joint.q_start..joint.q_start + n].to_vec();
            at[i] += steps * 1e-3;
            let mut columns = vec![Motion::default(); n];
            motion.subspace_rate(&at, &vec![1.0; n], &mut columns);
            columns.iter().flat_map(|c| [c.angular, c.linear]).sum::<Vector3>()
        };
        let weights = [(-2.0, 1.0), (-1.0, -4.0), (0.0, 6.0), (1.0, -4.0), (2.0, 1.0)];
        let fourth_difference =
            |i| weights.iter().map(|&(steps, weight)| rate(i, steps) * weight).sum::<Vector3>();
        (0..n).all(|i| fourth_difference(i).amax() < 1e-7)
    })
}

fn error(analytic: &DMatrix<f64>, finite: &DMatrix<f64>) -> f64 {
    relative_error(analytic.iter().copied(), finite.iter().copied())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn inverse_dynamics(seed: u64) {
        let (model, mut random) = any_tree(seed);
        let nv = model.nv;
        let q = position(&model, &mut random);
        prop_assume!(is_smooth(&model, &q));
        let (v, a) = (list(&mut random, nv, 2.0), list(&mut random, nv, 2.0));
        let mut data = Data::new(&model);
        let mut out = RneaDerivatives::new(&model);
        rnea_derivatives(&model, &mut data, &q, &v, &a, &mut out);
        let by_q = finite(nv, STEP, |d, t| {
            rnea(&model, &mut data, &moved(&model, &q, d, t), &v, &a, &[]).to_vec()
        });
        let e = error(&out.by_position, &by_q);
        prop_assert!(e < TOLERANCE, "by position: {e:e}\n{}{}", out.by_position, by_q);
        let by_v = finite(nv, ANY_STEP, |d, t| {
            rnea(&model, &mut data, &q, &along(&v, d, t), &a, &[]).to_vec()
        });
        let e = error(&out.by_velocity, &by_v);
        prop_assert!(e < ROUND_OFF, "by velocity: {e:e}\n{}{}", out.by_velocity, by_v);
        let M = crba(&model, &mut data, &q);
        prop_assert!(error(&out.by_acceleration, M) < 1e-12);
    }

    #[test]
    fn forward_dynamics(seed: u64) {
        let (model, mut random) = any_tree(seed);
        let nv = model.nv;
        let q = position(&model, &mut random);
        prop_assume!(is_smooth(&model, &q));
        let (v, tau) = (list(&mut random, nv, 1.0), list(&mut random, nv, 1.0));
        let mut data = Data::new(&model);
        let mut out = AbaDerivatives::new(&model);
        aba_derivatives(&model, &mut data, &q, &v, &tau, &mut out).unwrap();
        let by_q = finite(nv, STEP, |d, t| {
            aba(&model, &mut data, &moved(&model, &q, d, t), &v, &tau, &[]).unwrap().to_vec()
        });
        let e = error(&out.by_position, &by_q);
        prop_assert!(e < 10.0 * TOLERANCE, "by position: {e:e}");
        let by_v = finite(nv, ANY_STEP, |d, t| {
            aba(&model, &mut data, &q, &along(&v, d, t), &tau, &[]).unwrap().to_vec()
        });
        let e = error(&out.by_velocity, &by_v);
        prop_assert!(e < 10.0 * ROUND_OFF, "by velocity: {e:e}");
        let by_tau = finite(nv, ANY_STEP, |d, t| {
            aba(&model, &mut data, &q, &v, &along(&tau, d, t), &[]).unwrap().to_vec()
        });
        let e = error(&out.by_effort, &by_tau);
        prop_assert!(e < 10.0 * ROUND_OFF, "by effort: {e:e}");
    }
}
