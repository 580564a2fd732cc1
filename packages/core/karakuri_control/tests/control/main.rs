//! Tests of controllers in one program, a module a subject: one program links once.

mod controller;
mod loops;
mod over_actuated;
mod simulated;
mod two_arms;
mod wall_tracing;
mod worked;
