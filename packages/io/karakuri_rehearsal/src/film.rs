//! Pictures of a copy.

use karakuri_render::{Camera, Image, Picture, film_strip, render, world_items};

use crate::act::Act;
use crate::cell::Cell;
use crate::error::RehearsalError;
use crate::rehearsal::observe;
use crate::variation::Variation;

/// Width and height of one picture. [pixels]
const PICTURE: [usize; 2] = [640, 480];
/// White gap between pictures. [pixels]
const GAP: usize = 8;

/// What a copy is photographed at.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Film {
    /// Difference of the copy.
    pub variation: Variation,
    /// Times since its beginning, in their order. [s] (3)
    pub instants: [f64; 3],
    /// Longest time of the act. [s]
    pub limit: f64,
    /// Camera that takes the pictures.
    pub camera: Camera,
}

impl Film {
    /// Pictures of a copy of a cell in an act, side by side.
    ///
    /// # Errors
    /// As those of [`rehearse`](crate::rehearse).
    pub fn take(
        &self,
        cell: &Cell,
        object: Option<&str>,
        act: &Act,
    ) -> Result<Image, RehearsalError> {
        let Self { variation, instants, limit, camera } = *self;
        let [width, height] = PICTURE;
        let mut images: Vec<Image> = Vec::new();
        observe(cell, object, act, &variation, limit, |elapsed, cell| {
            while instants.get(images.len()).is_some_and(|&instant| elapsed >= instant) {
                let items = world_items(cell.io.world());
                images.push(render(&Picture { camera, items, floor: Some(0.0) }, width, height));
            }
        })?;
        Ok(film_strip(&images, images.len(), GAP))
    }
}
