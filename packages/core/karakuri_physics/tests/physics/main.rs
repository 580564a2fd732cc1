//! Tests of the world in one program, a module a subject: one program links once.
//!
//! Those that count allocations, the benchmarks and the robustness tests are programs of their own.

mod bellows;
mod bodies;
mod budget;
mod bushings;
mod carried;
mod concave;
mod grasp;
mod impacts;
mod joints;
mod laws;
mod materials;
mod motors;
mod noise;
mod overlaps;
mod prescribed;
#[path = "../problems/mod.rs"]
mod problems;
mod random_heaps;
mod random_impacts;
mod rest;
#[path = "../scenes/mod.rs"]
mod scenes;
mod sensors;
mod sleeping;
mod soft_contact;
mod soft_finger;
mod solvers;
mod special_joints;
mod spinning;
mod springs;
mod suction;
mod tuning;
mod tunnelling;
mod wedge;
mod work;
