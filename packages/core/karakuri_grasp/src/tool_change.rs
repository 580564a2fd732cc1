//! Change of the tool on an arm's flange, at the places of the tools in a dock.
//!
//! `TO_DOCK → LET_GO → WEIGH → TO_NEXT → COUPLE → WEIGH → RETREAT`. Everything is planned before anything moves, for the bare arm, as
//! all robots of a rack are that arm and their flanges move alike. The flange is over a place by a motion of the joints, and goes down and up
//! along the world's vertical. A coupling is asked to let go and to couple; whether it did, the wrist says by the weight that it carries.
//!
//! | trouble | reaction |
//! |---|---|
//! | the coupling refuses | straight up, `REFUSED` |
//! | the wrist does not feel what it should | stays above the place, `TOOL_LOST` |
//! | the robot or its controller is not back after a change | `ROBOT_LOST` |
//! | the controller gives up | `ROBOT_LOST` |
//! | cancel in free motion | the arm stops, `CANCELED` |
//! | cancel on the way down | the arm stops, then straight up, `CANCELED` |
//! | cancel from a coupling until the flange is up | goes on until the tool is weighed, `CANCELED` |
//!
//! Limits: known objects are not looked at; what stands about the dock must leave room to above the places.
//! Units: m, rad, s, N, kg; poses of the flange in the world.

mod plan;
mod rack;
mod run;
mod types;
mod weigh;

pub use rack::{RackError, RackTool, ToolRack};
pub use run::ToolChange;
pub use types::{
    ToolChangeFailure, ToolChangeOrder, ToolChangeResult, ToolChangeSettings, ToolChangeStage,
    ToolChangeView, Work,
};
pub use weigh::Weight;
