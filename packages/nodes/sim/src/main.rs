//! The physics simulation as a ROS 2 node; with `hardware:=mock` a robot that mirrors commands instead.

mod backend;
mod codes;
mod frames;
mod joint_parameters;
mod node;
mod parameters;
mod queries;
mod resource;
mod robot;
mod services;
mod spawn;
mod states;
mod stepping;
mod ties;
mod world;
mod world_parameters;

use std::process::ExitCode;

fn main() -> ExitCode {
    karakuri_ros::run("sim", node::Sim::new)
}
