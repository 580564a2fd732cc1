//! Momentum in generalized coordinates, and its rate.
//!
//! ```text
//! p_k = S_k · H_i = (M v)_k,      ṗ_k = Ṡ_k · H_i + S_k · G_i + τ_k,      Ṡ_k = C_i × S_k + S°_k
//! ```
//!
//! with `H_i` the momentum and `G_i` the wrench of gravity and of the surroundings, both about O, of the subtree
//! of dof k, and `C_i` as in [`crate::update_velocities`]. These are Lagrange's equations without an
//! acceleration: for a coordinate that is no angle of rotation vectors, `ṗ_k − τ_k = ∂L/∂q_k`. [Featherstone 2008,
//! §2.13; Hairer 2006, §VI.1]
//!
//! Limits: rigid bodies only, as [`crate::rnea`]; a rotor's share, `armature · v`, is to be added.

use karakuri_model::Model;
use karakuri_spatial::{Force, Motion};

use crate::Data;

/// Generalized momentum `p` and its rate without joint efforts, `ṗ − τ`, at the position and velocity `v` of the last
/// `forward_kinematics` and `update_velocities`. (nv each)
///
/// `external`: wrench on every body at its frame's origin, in world axes, or empty. [N·m; N] (n bodies)
pub fn momentum_balance(
    model: &Model,
    data: &mut Data,
    external: &[Force],
    momentum: &mut [f64],
    rate: &mut [f64],
) {
    // Momentum and weight of each body about O.
    for (i, body) in model.bodies.iter().enumerate() {
        let (V, c) = (&data.velocity[i], data.com[i]);
        let R = &data.pose_in_world[i].rotation;
        // About O: [R I Rᵀ ω + c × m v_c; m v_c].
        let linear = (V.linear + V.angular.cross(&c)) * body.inertia.mass;
        let spin = R * (body.inertia.about_com * R.tr_mul(&V.angular));
        data.joint_momentum[i] = Force::new(spin + c.cross(&linear), linear);
        let weight = data.gravity * body.inertia.mass;
        data.joint_force[i] = Force::new(c.cross(&weight), weight);
    }
    for (i, F) in external.iter().enumerate() {
        let p_OB = data.pose_in_world[i].translation - data.origin;
        data.joint_force[i] += Force::new(F.moment + p_OB.cross(&F.force), F.force);
    }
    // From the tips to the root: subtrees, and what they have along each degree of freedom.
    for (i, body) in model.bodies.iter().enumerate().rev() {
        let (H, G) = (data.joint_momentum[i], data.joint_force[i]);
        for k in data.topology.dofs(i) {
            let S = data.subspace[k];
            // Empty without custom joints: no other joint has columns with a rate of their own.
            let own = data.subspace_rate.get(k).copied().unwrap_or_default();
            // Ṡ_k = C_i × S_k + S°_k.
            let turning: Motion = data.carrier[i].cross_motion(&S) + own;
            momentum[k] = S.dot(&H);
            rate[k] = turning.dot(&H) + S.dot(&G);
        }
        if let Some(p) = body.parent {
            data.joint_momentum[p.0] += H;
            data.joint_force[p.0] += G;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{aba, crba, forward_kinematics, integrate, update_velocities};
    use karakuri_model::Base;
    use karakuri_testkit::{Kind, Random, random_position, random_tree, random_vector};

    /// `p = M v`, and its rate in free motion is that of differences along the motion.
    #[test]
    fn the_momentum_is_the_mass_matrix_times_the_rates_and_its_rate_is_its_change() {
        for seed in 0..10 {
            let model = random_tree(seed, 8, Base::Floating, Kind::ALL);
            let (mut data, mut random) = (Data::new(&model), Random::new(seed));
            let q = random_position(&model, &mut random);
            let v = random_vector(model.nv, &mut random);
            let mut balance = |q: &[f64], v: &[f64]| {
                let (mut p, mut rate) = (vec![0.0; model.nv], vec![0.0; model.nv]);
                forward_kinematics(&model, &mut data, q);
                update_velocities(&model, &mut data, v);
                momentum_balance(&model, &mut data, &[], &mut p, &mut rate);
                (p, rate)
            };
            let (p, rate) = balance(&q, &v);
            let e = 1e-4;
            let mut other = Data::new(&model);
            let vdot = aba(&model, &mut other, &q, &v, &vec![0.0; model.nv], &[]).unwrap().to_vec();
            let mut ahead = |e: f64| {
                let mut next = vec![0.0; model.nq];
                let mean: Vec<f64> = v.iter().zip(&vdot).map(|(v, a)| v + 0.5 * e * a).collect();
                integrate(&model, &q, &mean, e, &mut next);
                let rates: Vec<f64> = v.iter().zip(&vdot).map(|(v, a)| v + e * a).collect();
                balance(&next, &rates).0
            };
            let (after, before) = (ahead(e), ahead(-e));
            let M = crba(&model, &mut other, &q);
            for k in 0..model.nv {
                let product: f64 = (0..model.nv).map(|j| M[(k, j)] * v[j]).sum();
                assert!((p[k] - product).abs() < 1e-10 * (1.0 + product.abs()), "seed {seed}, {k}");
                let change = (after[k] - before[k]) / (2.0 * e);
                let error = (rate[k] - change).abs();
                assert!(
                    error < 1e-4 * (1.0 + change.abs()),
                    "seed {seed}, {k}: {} {change}",
                    rate[k]
                );
            }
        }
    }
}
