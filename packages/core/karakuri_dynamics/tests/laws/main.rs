//! Laws of mechanics as properties of random robots.
#![expect(non_snake_case, reason = "monogram notation, docs/notation.md")]

mod common;
mod derivatives;
mod dynamics;
