//! Centre of mass, momentum about it, and energy.
//!
//! `h_Com = A_Com(q) v` with the centroidal momentum matrix `A_Com`, whose column k is the momentum of the subtree
//! of dof k when it alone moves. [Orin, Goswami & Lee 2013] World axes; only moving bodies count.

use karakuri_model::Model;
use karakuri_spatial::{Force, Vector3};
use nalgebra::{Matrix3xX, Matrix6xX};

use crate::crba::update_composites;
use crate::inertia::RigidInertia;
use crate::{Data, forward_kinematics, update_velocities};

/// Momentum of the whole robot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Momentum {
    /// Linear momentum. [kg·m/s] (3)
    pub linear: Vector3,
    /// Angular momentum about the centre of mass. [kg·m²/s] (3)
    pub angular: Vector3,
}

/// `p_WCom`. NaN if nothing has mass. Needs `forward_kinematics`. [m] (3)
pub fn center_of_mass(model: &Model, data: &Data) -> Vector3 {
    let (mut mass, mut moment) = (0.0, Vector3::zeros());
    for (body, c) in model.bodies.iter().zip(&data.com) {
        mass += body.inertia.mass;
        moment += c * body.inertia.mass;
    }
    data.origin + moment / mass
}

/// Momentum at a position and velocity.
pub fn centroidal_momentum(model: &Model, data: &mut Data, q: &[f64], v: &[f64]) -> Momentum {
    forward_kinematics(model, data, q);
    update_velocities(model, data, v);
    let mut h = Force::default();
    let (mut mass, mut first_moment) = (0.0, Vector3::zeros());
    for (i, body) in model.bodies.iter().enumerate() {
        let (V, c) = (&data.velocity[i], &data.com[i]);
        let R = &data.pose_in_world[i].rotation;
        // h about O: [I ω + c × m v_c; m v_c].
        let linear = (V.linear + V.angular.cross(c)) * body.inertia.mass;
        // The spin in the body's axes, where the inertia is constant: two products with vectors; a rotated inertia takes two of matrices.
        let spin = R * (body.inertia.about_com * R.tr_mul(&V.angular));
        h += Force::new(spin + c.cross(&linear), linear);
        mass += body.inertia.mass;
        first_moment += c * body.inertia.mass;
    }
    // From O to the centre of mass.
    Momentum { linear: h.force, angular: h.moment - (first_moment / mass).cross(&h.force) }
}

/// Centroidal momentum matrix, angular rows first, written to `matrix`. (6 × nv)
pub fn centroidal_momentum_matrix(
    model: &Model,
    data: &mut Data,
    q: &[f64],
    matrix: &mut Matrix6xX<f64>,
) {
    forward_kinematics(model, data, q);
    update_composites(model, data);
    let total = total_inertia(model, data);
    let p_OCom = total.first_moment / total.mass;
    for (k, S) in data.subspace.iter().enumerate() {
        // Momentum of the subtree for a unit rate, moved from O to the centre of mass.
        let h = data.composite[data.topology.dof_body[k]].mul(S);
        let about_com = Force::new(h.moment - p_OCom.cross(&h.force), h.force);
        matrix.set_column(k, &about_com.to_vector());
    }
}

/// Jacobian of the centre of mass, written to `jacobian`. (3 × nv)
pub fn center_of_mass_jacobian(
    model: &Model,
    data: &mut Data,
    q: &[f64],
    jacobian: &mut Matrix3xX<f64>,
) {
    forward_kinematics(model, data, q);
    update_composites(model, data);
    let mass = total_inertia(model, data).mass;
    for k in 0..data.subspace.len() {
        jacobian.set_column(k, &center_of_mass_velocity(data, k, mass));
    }
}

/// Velocity of the centre of mass for a unit velocity of degree of freedom `k`: the linear momentum of its subtree over the mass
/// of the whole robot [kg]. Needs `update_composites`. [m/s] (3)
pub(crate) fn center_of_mass_velocity(data: &Data, k: usize, mass: f64) -> Vector3 {
    data.composite[data.topology.dof_body[k]].mul(&data.subspace[k]).force / mass
}

/// `½ Σ V · I V`, without the rotors' share. Needs `update_velocities`. [J]
pub fn kinetic_energy(model: &Model, data: &Data) -> f64 {
    let twice: f64 = (0..model.bodies.len())
        .map(|i| {
            let inertia = &model.bodies[i].inertia;
            let V = &data.velocity[i];
            // Twice the energy of a body: m |v_c|² + ω · I ω.
            let v_com = V.linear + V.angular.cross(&data.com[i]);
            let w = data.pose_in_world[i].rotation.tr_mul(&V.angular);
            inertia.mass * v_com.norm_squared() + w.dot(&(inertia.about_com * w))
        })
        .sum();
    0.5 * twice
}

/// `−Σ m g · p_WCom`, zero at the world's origin. Needs `forward_kinematics`. [J]
pub fn potential_energy(model: &Model, data: &Data) -> f64 {
    // From the world's origin and not from O, which travels with a floating base: energy from there would not be conserved.
    -model
        .bodies
        .iter()
        .zip(&data.com)
        .map(|(body, c)| body.inertia.mass * data.gravity.dot(&(data.origin + c)))
        .sum::<f64>()
}

/// Inertia of the whole robot, the sum over its roots; needs `update_composites`.
pub(crate) fn total_inertia(model: &Model, data: &Data) -> RigidInertia {
    let mut total = RigidInertia::ZERO;
    for (body, composite) in model.bodies.iter().zip(&data.composite) {
        if body.parent.is_none() {
            total.add(composite);
        }
    }
    total
}
