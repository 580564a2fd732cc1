#![doc = include_str!("../README.md")]
#![expect(non_snake_case, reason = "monogram notation, docs/notation.md")]

mod articulated;
mod centroidal;
mod couplings;
mod crba;
mod data;
pub mod dense;
mod derivatives;
mod forward;
mod frames;
mod inertia;
mod inverse_kinematics;
mod kinematics;
mod ldl;
pub mod loops;
mod momentum;
mod operator_factor;
mod position;
mod rnea;
mod singular_inertia;
mod topology;

pub use articulated::Articulated;
pub use centroidal::{
    Momentum, center_of_mass, center_of_mass_jacobian, centroidal_momentum,
    centroidal_momentum_matrix, kinetic_energy, potential_energy,
};
pub use couplings::Reduction;
pub use crba::{crba, crba_at_position};
pub use data::{Data, EARTH_GRAVITY};
pub use derivatives::{AbaDerivatives, RneaDerivatives, aba_derivatives, rnea_derivatives};
pub use forward::{aba, aba_at_velocity};
pub use frames::{
    frame_acceleration, frame_jacobian, frame_jacobian_local, frame_jacobian_rate, frame_pose,
    frame_velocity, pose_in_parent_link,
};
pub use inverse_kinematics::{
    IkCenterOfMass, IkError, IkMethod, IkObstacle, IkOptions, IkOutcome, IkProblem, IkTarget,
    InverseKinematics,
};
pub use kinematics::{
    forward_kinematics, forward_kinematics_of, update_accelerations, update_accelerations_of,
    update_velocities,
};
pub use ldl::MassFactor;
pub use momentum::momentum_balance;
pub use operator_factor::OperatorFactor;
pub use position::{difference, integrate, normalize, random_position};
pub use rnea::{bias, gravity_effort, rnea, rnea_at_velocity, take_off_wrench};
pub use singular_inertia::SingularInertia;
