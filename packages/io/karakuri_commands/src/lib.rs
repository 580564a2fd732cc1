#![doc = include_str!("../README.md")]

mod audit;
mod canonical;
mod check;
mod envelope;
mod forecast;
mod gate;
mod gemini;
mod interval;
mod name;
mod path;
mod rate;
mod refusal;
mod request;
mod scene;
mod schema;
mod ticket;
mod time;
mod typed;
mod verb;

pub use audit::{AuditError, AuditLog, Record, Tail, VerifyError, verify_log};
pub use check::Command;
pub use envelope::{
    Approval, AutoAct, Envelope, FileFacts, FileGuardError, Lift, Limits, Objects, OutOfRange,
    Principal, Region, RehearsalRules, Workspace,
};
pub use forecast::{Answer, Forecast};
pub use gate::Gate;
pub use gemini::{FunctionCall, Translation, View};
pub use name::is_name;
pub use path::ToolSample;
pub use refusal::{Code, Refusal};
pub use request::Earlier;
pub use scene::{Scene, SceneObject};
pub use schema::answers::output_schema;
pub use schema::input_schema;
pub use ticket::{OpenTicket, Present, Redeemed, Rehearsed};
pub use typed::{describe_act, describe_prediction, describe_refusal, parse_command};
pub use verb::Verb;
pub use verb::arguments::{
    Act, Arguments, ChangeTool, Destination, Grip, Height, Home, Log, Look, Move, Pick, Place,
    SetGripper, Status, Stop, Target, WalkTo,
};
