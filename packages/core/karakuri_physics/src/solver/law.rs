//! The law of a block, and how far a block is from it.

use nalgebra::Vector3;

use super::cone::project_on_cone;
use super::{Admissible, Block, Problem};

/// How far a block is from its law, as a velocity: `‖λ − Π_C(λ − (û + R λ)/g)‖ g` with De Saxcé's
/// `û = u − u* + (μ‖u_t‖, 0, 0)` and `g` the mean diagonal of its Delassus block. [m/s or rad/s]
/// [Acary, Cadoux, Lemaréchal, Malick 2011]
pub fn natural_map(problem: &Problem, block: &Block) -> f64 {
    residual(block, &(problem.velocity_of(block) - block.bias))
}

/// The natural map of a block whose biased velocity is `u`. [m/s or rad/s]
pub(crate) fn residual(block: &Block, u: &Vector3<f64>) -> f64 {
    let g = block.stiffness();
    let normal = u.x + block.compliance * block.impulse.x;
    match block.admissible {
        Admissible::Interval { lower, upper } => {
            let step = block.impulse.x - normal / g;
            (block.impulse.x - step.clamp(lower, upper)).abs() * g
        }
        Admissible::Cone { friction } => {
            let shifted = Vector3::new(normal + friction * u.yz().norm(), u.y, u.z);
            (block.impulse - project_on_cone(&(block.impulse - shifted / g), friction)).norm() * g
        }
    }
}
