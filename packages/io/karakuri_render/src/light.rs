//! Light from many directions, each with its own shadow map: a sun of some width, and a sky.

use karakuri_spatial::Vector3;
use rayon::prelude::*;

use crate::camera::axes_along;
use crate::raster::{Buffer, View, whole};
use crate::triangles::{Ball, Triangle};

/// Number of directions of the sun, and the radius of their disc. [-]
const SUN_SAMPLES: usize = 12;
const SUN_WIDTH: f64 = 0.035;
/// Number of directions of the sky.
const SKY_SAMPLES: usize = 40;
/// Light of the sun, warm, and of the sky, cool. Linear red, green, blue.
const SUN: [f64; 3] = [2.75, 2.58, 2.3];
const SKY: [f64; 3] = [0.92, 1.0, 1.12];

/// Light from one direction.
#[derive(Debug)]
pub(crate) struct Light {
    /// Unit vector towards the light.
    pub(crate) towards: Vector3,
    /// Radiance in linear red, green, blue.
    pub(crate) radiance: [f64; 3],
    /// Whether it is the sun, which also causes highlights.
    pub(crate) is_sun: bool,
    shadows: Buffer,
}

/// All lights for items within a ball, with shadows as fine as a picture of `height` [pixels] shows.
pub(crate) fn lights(
    triangles: &[Triangle],
    Ball { center, radius }: Ball,
    sun: Vector3,
    height: usize,
) -> Vec<Light> {
    let (sun_map, sky_map) = ((3 * height / 2).clamp(128, 1536), (height / 2).clamp(96, 512));
    let axes = axes_along(&sun);
    let sun_directions = (0..SUN_SAMPLES).map(|i| {
        let (x, y) = disc(i, SUN_SAMPLES);
        (sun + (axes.right * x + axes.down * y) * SUN_WIDTH).normalize()
    });
    let sky_directions = (0..SKY_SAMPLES).map(|i| {
        // A disc lifted to the half ball above it: the density of directions follows their cosine with z.
        let (x, y) = disc(i, SKY_SAMPLES);
        Vector3::new(x, y, (1.0 - x * x - y * y).max(0.02).sqrt()).normalize()
    });
    let of = |n: usize, light: [f64; 3]| light.map(|l| l / n as f64);
    let suns = sun_directions.map(|d| (d, of(SUN_SAMPLES, SUN), sun_map, true));
    let skies = sky_directions.map(|d| (d, of(SKY_SAMPLES, SKY), sky_map, false));
    let directions: Vec<_> = suns.chain(skies).collect();
    directions
        .into_par_iter()
        .map(|(towards, radiance, size, is_sun)| {
            let view = View {
                origin: center + towards * (2.0 * radius),
                axes: axes_along(&-towards),
                scale: size as f64 / (2.0 * radius),
                perspective: false,
                width: size,
                height: size,
            };
            Light { towards, radiance, is_sun, shadows: Buffer::new(view, triangles) }
        })
        .collect()
}

/// Point i of n points spread evenly over the unit disc (Vogel's spiral).
fn disc(i: usize, n: usize) -> (f64, f64) {
    let radius = ((i as f64 + 0.5) / n as f64).sqrt();
    let (sin, cos) = (i as f64 * 2.399_963_229_728_653).sin_cos();
    (radius * cos, radius * sin)
}

impl Light {
    /// Part of the light that reaches a point of a surface with this normal, 0 to 1, smooth between map pixels.
    pub(crate) fn reaches(&self, p_W: &Vector3, normal: &Vector3) -> f64 {
        let view = &self.shadows.view;
        // The point is moved off the surface by more than a map pixel, or it would shade itself.
        let p = view.local(&(p_W + normal * (1.6 / view.scale)));
        let [column, row, depth] = view.project(&p);
        let (x, y) = (column - 0.5, row - 0.5);
        if x < 0.0 || y < 0.0 {
            return 1.0;
        }
        // Bilinear interpolation between the four nearest pixels of the shadow map.
        let (left, top) = (whole(x), whole(y));
        let lit = |dx: usize, dy: usize| {
            if self.shadows.depth(left + dx, top + dy) < depth { 0.0 } else { 1.0 }
        };
        let (fx, fy) = (x - left as f64, y - top as f64);
        let upper = lit(0, 0) * (1.0 - fx) + lit(1, 0) * fx;
        let lower = lit(0, 1) * (1.0 - fx) + lit(1, 1) * fx;
        upper * (1.0 - fy) + lower * fy
    }
}
