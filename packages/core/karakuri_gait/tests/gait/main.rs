//! Tests of the planner and of the study in one program, a module a subject: one program links once.

mod capture;
mod families;
mod full_dynamics;
mod periodic;
#[expect(clippy::unwrap_used, reason = "a test")]
#[path = "../robots/mod.rs"]
mod robots;
mod study;
mod variants;
mod walking;
