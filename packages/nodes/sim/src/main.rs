//! The physics simulation as a ROS 2 node; with `hardware:=mock` a robot that mirrors commands instead.

mod answer;
mod backend;
mod codes;
mod diagnosis;
mod frames;
mod inertias;
mod joint_parameters;
mod node;
mod parameters;
mod pending;
mod queries;
mod resource;
mod robot;
mod services;
mod simulation;
mod spawn;
mod springs;
mod states;
mod statistics;
mod stepping;
mod ties;
mod tools;
mod world;
mod world_parameters;

use std::process::ExitCode;

fn main() -> ExitCode {
    karakuri_ros::run("sim", node::new)
}
