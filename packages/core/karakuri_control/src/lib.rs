#![doc = include_str!("../README.md")]
#![expect(non_snake_case, reason = "monogram notation, docs/notation.md")]

pub mod cartesian;
mod controller;
pub mod inverse_dynamics;
pub mod joint_trajectory;
pub mod nodal;
pub mod profile;
pub mod realtime;
pub mod trajectory;

pub use controller::{
    Axes, Command, Controller, ControllerError, FeedforwardController, FeedforwardSettings,
    ForceSettings, Gains, Group, GroupEvent, Payload, PreparedSettings, State, Status,
    TargetWrench,
};
