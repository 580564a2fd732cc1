//! Inverse kinematics: joint positions that bring frames and the centre of mass to targets.
//!
//! Minimises `½ |r(q)|²` within the joint limits. `r` stacks each target's weighted error `[log(R_T R_Eᵀ); p_WT − p_WE]` in the
//! target's axes, then, where the centre of mass has a target, `p_WTarget − p_WCom` in the world's axes. With `J` the Jacobian
//! of frames and centre of mass in the same axes, one step is
//!
//! ```text
//! δ = Jᵀ (J Jᵀ + λ 1)⁻¹ r
//! ```
//!
//! * Damped least squares adapts λ (Levenberg-Marquardt): a step that does not reduce the error is taken back and
//!   tried with more damping, so the answer is the nearest that the start leads to. [Nocedal & Wright 2006, §10.3]
//! * Newton takes the fraction `gain` of the undamped step: the update of the KHR-1 programs, with a pseudo-inverse in place of
//!   the inverse, which legs with five and arms with three degrees of freedom do not have.
//!
//! Joints at a limit that the error pushes outwards are frozen for the step; steps end at the limits. Mimic
//! joints move with their leaders. Where one start fails, seeded random ones follow, and the best answer counts.
//!
//! Limits: least squares finds local minima. "Not reached" is proof only when the distance alone shows it
//! ([`IkObstacle::OutOfReach`]); joint limits of joints with several degrees of freedom are not known to the model.

mod outcome;
mod problem;
mod solver;
mod step;

pub use outcome::{IkObstacle, IkOutcome};
pub use problem::{IkCenterOfMass, IkError, IkMethod, IkOptions, IkProblem, IkTarget};
pub use solver::InverseKinematics;
