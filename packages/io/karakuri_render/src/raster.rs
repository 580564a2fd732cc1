//! Rasterisation of triangles into a depth buffer, for both cameras and lights.

use karakuri_spatial::Vector3;

use crate::camera::CameraAxes;
use crate::triangles::Triangle;

/// Near plane: least distance of a visible point. [m]
const NEAR: f64 = 0.01;
/// Index of no triangle.
pub(crate) const NOTHING: u32 = u32::MAX;

/// Projection of points of the world to pixels.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View {
    pub(crate) origin: Vector3,
    pub(crate) axes: CameraAxes,
    /// Pixels per metre, at unit distance (perspective) or anywhere (parallel).
    pub(crate) scale: f64,
    pub(crate) perspective: bool,
    pub(crate) width: usize,
    pub(crate) height: usize,
}

/// Nearest triangle of each pixel in a view.
#[derive(Debug)]
pub(crate) struct Buffer {
    pub(crate) view: View,
    /// Depth, which grows with distance and is linear on the screen: −1/distance (perspective) or distance [m].
    depth: Vec<f64>,
    triangles: Vec<u32>,
}

impl View {
    /// Coordinates of a point along right, down and forward. [m]
    pub(crate) fn local(&self, p_W: &Vector3) -> Vector3 {
        let p = p_W - self.origin;
        Vector3::new(p.dot(&self.axes.right), p.dot(&self.axes.down), p.dot(&self.axes.forward))
    }

    /// Column, row and depth of a point in local axes. [pixels]
    pub(crate) fn project(&self, local: &Vector3) -> [f64; 3] {
        let (scale, depth) = if self.perspective {
            (self.scale / local.z, -1.0 / local.z)
        } else {
            (self.scale, local.z)
        };
        let middle = [self.width as f64 / 2.0, self.height as f64 / 2.0];
        [middle[0] + scale * local.x, middle[1] + scale * local.y, depth]
    }

    /// Direction (not unit) of the ray through a point of the picture. [pixels]
    pub(crate) fn ray(&self, column: f64, row: f64) -> Vector3 {
        let x = (column - self.width as f64 / 2.0) / self.scale;
        let y = (row - self.height as f64 / 2.0) / self.scale;
        self.axes.forward + self.axes.right * x + self.axes.down * y
    }
}

impl Buffer {
    pub(crate) fn new(view: View, triangles: &[Triangle]) -> Self {
        let n = view.width * view.height;
        let mut buffer = Self { view, depth: vec![f64::INFINITY; n], triangles: vec![NOTHING; n] };
        for (index, triangle) in (0..NOTHING).zip(triangles) {
            let local = triangle.corners.map(|p| view.local(&p));
            if !view.perspective || local.iter().all(|p| p.z >= NEAR) {
                buffer.fill(local, index);
            } else {
                buffer.fill_clipped(local, index);
            }
        }
        buffer
    }

    /// Index of the nearest triangle at a pixel.
    pub(crate) fn triangle(&self, column: usize, row: usize) -> u32 {
        self.triangles[row * self.view.width + column]
    }

    /// Depth at a pixel; infinite outside and where no triangle is.
    pub(crate) fn depth(&self, column: usize, row: usize) -> f64 {
        if column < self.view.width && row < self.view.height {
            self.depth[row * self.view.width + column]
        } else {
            f64::INFINITY
        }
    }

    /// Fills the part of a triangle in front of the near plane: a triangle or a quadrangle.
    fn fill_clipped(&mut self, local: [Vector3; 3], index: u32) {
        let mut polygon = Vec::with_capacity(4);
        for i in 0..3 {
            let (a, b) = (local[i], local[(i + 1) % 3]);
            if a.z >= NEAR {
                polygon.push(a);
            }
            if (a.z >= NEAR) != (b.z >= NEAR) {
                polygon.push(a + (b - a) * ((NEAR - a.z) / (b.z - a.z)));
            }
        }
        for i in 2..polygon.len() {
            self.fill([polygon[0], polygon[i - 1], polygon[i]], index);
        }
    }

    /// Fills the pixels of a triangle, which is visible from both sides.
    fn fill(&mut self, local: [Vector3; 3], index: u32) {
        let [a, b, c] = local.map(|p| self.view.project(&p));
        let area = edge(&a, &b, c[0], c[1]);
        if area == 0.0 || !area.is_finite() {
            return;
        }
        let range = |k: usize, n: usize| {
            let low = a[k].min(b[k]).min(c[k]);
            let high = a[k].max(b[k]).max(c[k]);
            cell(low - 0.5).min(n)..cell(high + 0.5).min(n)
        };
        for row in range(1, self.view.height) {
            for column in range(0, self.view.width) {
                let (x, y) = (column as f64 + 0.5, row as f64 + 0.5);
                // The barycentric coordinates of a pixel's middle are not negative inside, and interpolate the depth. Most
                // pixels are outside, which signs tell without a division.
                let (at_a, at_b) = (edge(&b, &c, x, y), edge(&c, &a, x, y));
                if at_a * area < 0.0 || at_b * area < 0.0 {
                    continue;
                }
                let (u, v) = (at_a / area, at_b / area);
                let w = 1.0 - u - v;
                if u < 0.0 || v < 0.0 || w < 0.0 {
                    continue;
                }
                let depth = u * a[2] + v * b[2] + w * c[2];
                let pixel = row * self.view.width + column;
                if depth < self.depth[pixel] {
                    self.depth[pixel] = depth;
                    self.triangles[pixel] = index;
                }
            }
        }
    }
}

/// Twice the area of the triangle a, b, (x, y), signed.
fn edge(a: &[f64; 3], b: &[f64; 3], x: f64, y: f64) -> f64 {
    (b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0])
}

/// Index of the cell that holds a coordinate; 0 below zero.
fn cell(coordinate: f64) -> usize {
    whole(coordinate.max(0.0).ceil())
}

/// Whole part of a coordinate that is not negative; 0 below.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "`as` saturates, as a pixel must"
)]
pub(crate) fn whole(coordinate: f64) -> usize {
    coordinate as usize
}
