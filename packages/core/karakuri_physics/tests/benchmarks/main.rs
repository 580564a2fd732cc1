//! Public benchmarks of robot physics, against published or closed-form values: `docs/physics-benchmarks.md`.
//!
//! The long ones are ignored: `cargo test --release -p karakuri_physics --test benchmarks -- --ignored`.

#![expect(clippy::unwrap_used, reason = "a helper of tests may stop them")]
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "counts of steps are small"
)]
#![expect(clippy::unreadable_literal, reason = "published digits")]
#![expect(clippy::doc_markdown, reason = "names of people's benchmarks")]
#![expect(clippy::print_stdout, reason = "a benchmark shows what it measured")]
#![expect(non_snake_case, reason = "monogram notation, docs/notation.md")]

mod builds;
mod carriage;
mod consistency;
mod crowds;
mod fingers;
mod friction;
mod grasp;
mod heap_cost;
mod heaps;
mod iftomm;
mod impacts;
mod ledger;
mod orders;
mod rattleback;
mod robots;
mod servo;
mod sim_benchmark;
mod spinning;
mod support;
mod turning_arm;
mod variational;
mod work_error;
