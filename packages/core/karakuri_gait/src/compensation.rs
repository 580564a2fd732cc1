//! The compensation method: legs and arms move as given, the trunk and the sway of the legs move so
//! that the ZMP follows a prescribed path.
//!
//! Twelve bodies; `M_x = M_y = 0` about the prescribed ZMP is two equations for the sway `θ` of both legs about
//! X and the pitch `φ` of the trunk (four with passive arms). [Kume 1991] after [Vukobratovic 1990].
//!
//! Frames: X forward, Y left, Z up; floor at `Z = 0`; the origin under the left (supporting) ankle.
//! Units: SI, radians. Angles are absolute, not relative.

mod arms;
mod body;
mod cards;
mod continuation;
mod curve;
mod equation;
mod families;
mod gait;
mod jet;
mod linear;
mod march;
mod mechanics;
mod motion;
mod optimize;
mod periodic;
mod posture;
pub mod published;
mod search;
mod survey;
mod transient;

pub use arms::Arms;
pub use body::{BodyData, Lengths, Part};
pub use cards::{CardError, Cards, CardsError};
pub use continuation::{
    Branch, BranchEnd, BranchPoint, ContinuationOptions, Crossing, trace_branch, trace_crossing,
};
pub use curve::{Curve, CurveError};
pub use equation::{Equation, State, eta, state};
pub use families::{Family, FamilyKind, find_families};
pub use gait::{GaitError, Interpolation, Samples, SteadyGait, SteadySpec, ZmpSpec};
pub use jet::Jet;
pub use march::{March, MarchError, STEPS_A_STEP, march, march_in};
pub use mechanics::{BodyMotion, JointMoment, Reaction, joint_moments};
pub use motion::{GaitMotion, MotionSample};
pub use optimize::{OptimizeOptions, Optimum};
pub use periodic::{
    Periodic, PeriodicError, PeriodicOptions, Route, find_main_family, find_periodic,
};
pub use posture::{BODIES, Elbow, LEFT, Point, Posture, RIGHT, Skeleton, skeleton};
pub use search::{Search, SearchOptions, survey_solutions, survey_starts};
pub use survey::{SurveyGrid, SurveyPoint};
pub use transient::{
    Coefficients, Compensation, Curves, Degree, EndJoint, Input, Inputs, Kind, Transient,
    TransientSpec, Verdict,
};
