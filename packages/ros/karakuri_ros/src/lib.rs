#![doc = include_str!("../README.md")]

mod action_client;
mod action_server;
mod arguments;
mod backlog;
mod cdr;
pub mod client;
mod clock;
mod convert;
mod declares;
pub mod definition;
mod diagnostics;
mod direct;
mod error;
mod guard;
mod interface;
mod joint_state_reader;
mod lockstep_sources;
mod logging;
mod node;
mod open_files;
mod outbox;
mod overrides;
mod parameter_server;
mod parameter_services;
mod parameter_table;
mod parameter_types;
mod parameters;
mod publisher;
pub mod qos;
mod remote_parameters;
mod restart;
mod robot_parameters;
mod run;
mod sample_gate;
mod service;
mod silence;
mod sole_publisher;
mod stop;
mod subscription;
mod throttle;
mod timer;
mod timing;
mod tools;
mod transforms;
mod type_description;
mod wire;

pub use action_client::{ActionClient, ClientGoal, ClientGoalState};
pub use action_server::{ActiveGoal, GoalRequest};
pub use backlog::Backlog;
pub use clock::{Clock, time_from_message};
pub use convert::{FromMessage, IntoMessage, duration_from_message, duration_to_message};
pub use declares::Declares;
pub use diagnostics::{Level, Status};
pub use direct::NodeWaker;
pub use error::{CallError, RosError};
pub use interface::{Action, Message, Service};
pub use joint_state_reader::{Implausible, JointStateReader, Unread};
pub use lockstep_sources::{SOURCE_SILENCE, follow_sources};
pub use node::{Later, Node};
pub use parameter_types::{ParameterType, Ranged};
pub use parameters::{Parameter, ParameterBuilder};
pub use publisher::Publisher;
pub use remote_parameters::{ParameterCall, ParameterClient, RemoteParameters};
pub use restart::{Restart, Setting};
pub use robot_parameters::{RobotError, RobotFiles, RobotParameters, RobotWithTool, ToolsFile};
pub use run::run;
pub use sample_gate::{Advance, Awaits, InputId, Offer, SampleGate, Turn};
pub use service::{Call, Request, ServiceClient};
pub use silence::is_silent;
pub use sole_publisher::{RivalWatch, SolePublisher};
pub use stop::Stop;
pub use subscription::Latest;
pub use throttle::Throttle;
pub use timer::Timer;
pub use timing::{Stopwatch, Timing};
pub use tracing::{debug, error, info, warn};
pub use transforms::Transforms;
pub use wire::{Audience, Wire, WirePublisher};

/// Message, service and action types that nodes use, by interface package.
pub mod msg {
    pub use r2r::{
        action_msgs, builtin_interfaces, control_msgs, diagnostic_msgs, geometry_msgs,
        karakuri_msgs, moveit_msgs, nav_msgs, rcl_interfaces, rosgraph_msgs, sensor_msgs,
        shape_msgs, simulation_interfaces, std_msgs, std_srvs, tf2_msgs, trajectory_msgs,
        type_description_interfaces, unique_identifier_msgs, visualization_msgs,
    };
}
