#![doc = include_str!("../README.md")]
#![expect(non_snake_case, reason = "monogram notation, docs/notation.md")]

mod camera;
mod image;
mod light;
mod picture;
mod raster;
mod shade;
mod text;
mod triangles;

pub use camera::Camera;
pub use image::{Image, ImageError, film_strip};
pub use picture::{Item, Picture, robot_items, world_items};
pub use shade::render;
