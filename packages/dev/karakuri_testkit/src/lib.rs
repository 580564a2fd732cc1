#![doc = include_str!("../README.md")]
#![expect(non_snake_case, reason = "monogram notation, docs/notation.md")]

mod random;

pub use random::{Kind, Random, random_position, random_tree, random_vector};
