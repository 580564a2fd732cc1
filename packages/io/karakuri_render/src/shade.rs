//! Shading of triangles to pixels: the item at each pixel, its light, and the mean over nine samples.

use karakuri_spatial::Vector3;
use rayon::prelude::*;

use crate::light::{Light, lights};
use crate::raster::{Buffer, NOTHING, View};
use crate::triangles::{Triangle, bounds, triangulate};
use crate::{Image, Item, Picture};

/// Samples along an edge of a pixel.
const SAMPLES: usize = 3;
/// Direction of the sun, seen from the scene.
const SUN_DIRECTION: [f64; 3] = [0.45, -0.55, 0.95];
/// Colours of the sky at the horizon and above, and of the floor. Linear red, green, blue.
const HORIZON: [f64; 3] = [0.86, 0.89, 0.93];
const ZENITH: [f64; 3] = [0.52, 0.64, 0.80];
const FLOOR: [f64; 3] = [0.52, 0.54, 0.57];
/// Distance between the floor's lines, and their width. [m]
const GRID: f64 = 0.25;
const GRID_LINE: f64 = 0.004;

/// Object that a sample sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    Sky,
    Floor,
    /// Index of the item, and of its triangle.
    Item(usize, u32),
}

struct Scene<'a> {
    items: &'a [Item],
    floor: Option<f64>,
    triangles: Vec<Triangle>,
    lights: Vec<Light>,
    buffer: Buffer,
    /// Distance beyond which the floor fades into the horizon. [m]
    haze: f64,
    eye: Vector3,
}

/// Point of a surface to be lit.
struct Surface {
    p_W: Vector3,
    normal: Vector3,
    /// Colour in linear red, green, blue.
    color: [f64; 3],
    /// Strength of the reflection of the sun. [-]
    gloss: f64,
}

/// Renders the picture.
pub fn render(picture: &Picture, width: usize, height: usize) -> Image {
    let triangles = triangulate(&picture.items);
    let ball = bounds(&picture.items);
    let camera = &picture.camera;
    let view = View {
        origin: camera.eye,
        axes: camera.axes(),
        scale: (height * SAMPLES) as f64 / 2.0 / (camera.field_of_view / 2.0).tan(),
        perspective: true,
        width: width * SAMPLES,
        height: height * SAMPLES,
    };
    let scene = Scene {
        items: &picture.items,
        floor: picture.floor,
        lights: lights(&triangles, ball, Vector3::from(SUN_DIRECTION).normalize(), height),
        buffer: Buffer::new(view, &triangles),
        triangles,
        haze: 2.0 * (camera.eye - ball.center).norm() + 3.0 * ball.radius,
        eye: camera.eye,
    };
    let pixels = (0..width * height).into_par_iter().map(|i| scene.pixel(i % width, i / width));
    Image { width, height, pixels: pixels.collect() }
}

impl Scene<'_> {
    /// Colour of a pixel, the mean of its samples; those that see the same item are lit once, at the sample nearest to the
    /// middle.
    fn pixel(&self, column: usize, row: usize) -> [u8; 4] {
        let mut groups: Vec<(Seen, f64, f64, f64)> = Vec::with_capacity(4);
        for k in 0..SAMPLES * SAMPLES {
            // The middle sample first: it is lit for its whole group.
            let k = (k + SAMPLES * SAMPLES / 2) % (SAMPLES * SAMPLES);
            let (x, y) = (column * SAMPLES + k % SAMPLES, row * SAMPLES + k / SAMPLES);
            let seen = self.seen(x, y);
            let same = |a: Seen, b: Seen| match (a, b) {
                (Seen::Item(a, _), Seen::Item(b, _)) => a == b,
                _ => a == b,
            };
            match groups.iter_mut().find(|g| same(g.0, seen)) {
                Some(group) => group.3 += 1.0,
                None => groups.push((seen, x as f64 + 0.5, y as f64 + 0.5, 1.0)),
            }
        }
        let mut mean = [0.0; 3];
        for (seen, x, y, weight) in groups {
            // Tone mapped before the mean, so that edges of bright things stay smooth.
            let color = self.color(seen, x, y).map(tone);
            for (mean, c) in mean.iter_mut().zip(color) {
                *mean += weight / (SAMPLES * SAMPLES) as f64 * c;
            }
        }
        let [r, g, b] = mean.map(byte);
        [r, g, b, 255]
    }

    fn seen(&self, x: usize, y: usize) -> Seen {
        let triangle = self.buffer.triangle(x, y);
        let Some(floor) = self.floor else {
            return self.item(triangle);
        };
        let ray = self.buffer.view.ray(x as f64 + 0.5, y as f64 + 0.5);
        let distance = (floor - self.eye.z) / ray.z;
        let hit = distance.is_finite() && distance > 0.0;
        if hit && -1.0 / distance < self.buffer.depth(x, y) {
            Seen::Floor
        } else {
            self.item(triangle)
        }
    }

    fn item(&self, triangle: u32) -> Seen {
        if triangle == NOTHING {
            Seen::Sky
        } else {
            Seen::Item(self.triangles[triangle as usize].item, triangle)
        }
    }

    fn color(&self, seen: Seen, x: f64, y: f64) -> [f64; 3] {
        let ray = self.buffer.view.ray(x, y);
        match seen {
            Seen::Sky => sky(&ray),
            Seen::Floor => self.floor_color(&ray),
            Seen::Item(item, triangle) => {
                let surface = self.surface(item, &self.triangles[triangle as usize], &ray);
                self.lit(&surface)
            }
        }
    }

    /// Intersection of the ray with the triangle, and the normal interpolated between those of its corners.
    fn surface(&self, item: usize, triangle: &Triangle, ray: &Vector3) -> Surface {
        let [a, b, c] = triangle.corners;
        let face = (b - a).cross(&(c - a));
        // Intersection of the ray with the plane of the triangle, whose normal is `face`.
        let distance = (a - self.eye).dot(&face) / ray.dot(&face);
        let p_W = self.eye + ray * distance;
        let area = face.norm_squared();
        // Barycentric coordinates of the point interpolate the normals of the corners.
        let v = (c - b).cross(&(p_W - b)).dot(&face) / area;
        let w = (a - c).cross(&(p_W - c)).dot(&face) / area;
        let [n_a, n_b, n_c] = triangle.normals;
        let normal = n_a * v + n_b * w + n_c * (1.0 - v - w);
        let normal = normal.try_normalize(1e-9).unwrap_or(face / area.sqrt());
        let normal = if face.dot(ray) > 0.0 && normal.dot(ray) > 0.0 { -normal } else { normal };
        let [r, g, b, _] = self.items[item].color;
        Surface { p_W, normal, color: [r, g, b].map(|c| f64::from(c).powf(2.2)), gloss: 0.22 }
    }

    fn floor_color(&self, ray: &Vector3) -> [f64; 3] {
        let floor = self.floor.unwrap_or(0.0);
        let distance = (floor - self.eye.z) / ray.z;
        let p_W = self.eye + ray * distance;
        // Width of a pixel on the floor, along the direction of view: lines thinner than it fade.
        let footprint =
            distance / self.buffer.view.scale * SAMPLES as f64 * (ray.norm() / -ray.z).abs();
        let line = |x: f64| {
            let off = (x / GRID - (x / GRID).round()).abs() * GRID;
            let soft = f64::midpoint(footprint, GRID_LINE);
            (1.0 - off / soft).max(0.0) * (GRID_LINE / (footprint + GRID_LINE))
        };
        let ink = line(p_W.x).max(line(p_W.y)) * 0.5;
        let color = FLOOR.map(|c| c * (1.0 - ink));
        let normal = Vector3::z() * if ray.z < 0.0 { 1.0 } else { -1.0 };
        let lit = self.lit(&Surface { p_W, normal, color, gloss: 0.0 });
        let fade = (distance * ray.norm() / self.haze).powi(2);
        let clear = (-fade).exp();
        let far = sky(&Vector3::new(ray.x, ray.y, 0.0));
        std::array::from_fn(|i| lit[i] * clear + far[i] * (1.0 - clear))
    }

    /// Light of a surface: diffuse light of all directions, a highlight of the sun, a brighter rim.
    fn lit(&self, surface: &Surface) -> [f64; 3] {
        let Surface { p_W, normal, color, gloss } = surface;
        let to_eye = (self.eye - p_W).try_normalize(1e-9).unwrap_or(*normal);
        // The floor reflects a part of the light from below.
        let bounce = 0.16 * (1.0 - normal.z) / 2.0;
        let mut diffuse = [bounce; 3];
        let mut glitter = [0.0; 3];
        for light in &self.lights {
            let cosine = normal.dot(&light.towards);
            // The density of the sky's directions follows their cosine with z, which is divided out here.
            let weight =
                if light.is_sun { cosine } else { cosine / light.towards.z.max(0.15) * 0.5 };
            if cosine <= 0.0 {
                continue;
            }
            let part = light.reaches(p_W, normal);
            if part == 0.0 {
                continue;
            }
            // The highlight peaks where the normal is halfway between the light and the eye.
            let half = (light.towards + to_eye).try_normalize(1e-9).unwrap_or(*normal);
            let shine =
                if light.is_sun { gloss * normal.dot(&half).max(0.0).powi(48) } else { 0.0 };
            for i in 0..3 {
                diffuse[i] += light.radiance[i] * part * weight;
                glitter[i] += light.radiance[i] * part * shine;
            }
        }
        // The rim grows towards grazing angles of view.
        let rim = gloss * 0.35 * (1.0 - normal.dot(&to_eye).max(0.0)).powi(4);
        std::array::from_fn(|i| color[i] * diffuse[i] * 0.62 + glitter[i] + rim * HORIZON[i])
    }
}

fn sky(ray: &Vector3) -> [f64; 3] {
    let height = (ray.z / ray.norm()).clamp(0.0, 1.0).sqrt();
    std::array::from_fn(|i| HORIZON[i] + (ZENITH[i] - HORIZON[i]) * height)
}

/// Screen value of linear light: bright parts roll off, as in film, then the curve of sRGB.
fn tone(light: f64) -> f64 {
    let rolled = light * (1.0 + light / 9.0) / (1.0 + light * 0.55);
    rolled.clamp(0.0, 1.0).powf(1.0 / 2.2)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped to a byte's range"
)]
fn byte(value: f64) -> u8 {
    (value * 255.0).round().clamp(0.0, 255.0) as u8
}
