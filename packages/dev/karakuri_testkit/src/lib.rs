#![doc = include_str!("../README.md")]
#![expect(non_snake_case, reason = "monogram notation, docs/notation.md")]

mod chain;
mod cpu_time;
mod heap;
mod instructions;
mod random;

pub use chain::chain;
pub use cpu_time::{CpuTime, cpu_seconds};
pub use heap::{CountingHeap, heap_requests};
pub use instructions::{can_count_instructions, instructions};
pub use random::{Kind, Random, Saddle, random_position, random_tree, random_vector};
