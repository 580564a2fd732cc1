//! Tests of the program's commands, a module a command: one program links once.

mod check;
mod dynamics;
mod gait;
mod ik;
mod inverse_dynamics;
mod launch;
mod motion;
mod moveit;
mod nodes;
mod perform;
mod rehearse;
mod simulate;
mod studio;
mod sweep;
mod traces;
