//! Seal of a lip on a surface, by rays from the lip's circle along its axis.
//!
//! Rays that miss, or meet another body, are open arc. The bellows turns with the surface: what is left after the plane through all
//! points has to be bridged by the lip's flexion `δ`. Of the rest and of the surface's roughness `h₀` gaps remain,
//! `g = max(0, |r| − δ) + h₀`.
//!
//! On a cylinder of radius `ρ` the circle of radius `R` lies within `±σ/2` of a plane, on a ball it is flat but has a dome of height
//! `σ(ρ) = ρ − √(ρ² − R²)` within. So the least radius of a data sheet gives `δ = σ/2`, and `σ` as the room within the lip.

use core::f64::consts::TAU;

use karakuri_model::SuctionCup;
use karakuri_spatial::{Matrix3, Vector3};

use super::leak::Leak;

/// Gap of an arc that has nothing below it, as a multiple of the lip's width: wide enough that its flow is sonic.
const OPEN: f64 = 1.0;

/// Lip of a cup.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lip {
    /// Radius `R` of the ring on which it rests. [m]
    pub radius: f64,
    /// Distance `δ` from a plane that it bridges. [m]
    pub flexion: f64,
    /// Height of a dome that has room within. [m]
    pub room: f64,
    /// Width `L` of the lip, across which air leaks. [m]
    pub width: f64,
}

impl Lip {
    /// Lip of a cup.
    pub fn of(cup: &SuctionCup) -> Self {
        Self::down_to(cup.radius, cup.least_radius, cup.lip_width)
    }

    /// Leak of a lip with nothing before it.
    pub fn open(&self) -> Leak {
        let mut leak = Leak::none();
        leak.add_slit(TAU * self.radius, OPEN * self.width, self.width);
        leak
    }

    /// Lip of radius `R` for cylinders and balls down to a radius `ρ ≥ R`, as a data sheet states it. [m]
    pub fn down_to(radius: f64, least: f64, width: f64) -> Self {
        let room = sagitta(least, radius);
        Self { radius, flexion: 0.5 * room, room, width }
    }
}

/// What the rays of a lip meet: distances from the plane of the lip along its axis, negative where the surface is above it, none where
/// a ray misses the object. [m]
#[derive(Debug, Clone, Copy)]
pub struct Rays<'a> {
    /// From the lip's circle, at equal angles. [m]
    pub ring: &'a [Option<f64>],
    /// From its centre. [m]
    pub center: Option<f64>,
}

/// How a lip lies on a surface.
#[derive(Debug, Clone, PartialEq)]
pub struct Seal {
    /// Distance of the surface from the lip, its mean over the circle. [m]
    pub distance: f64,
    /// Rise of that distance along the lip's x and y: the tilt of the plane that it turns to. [-] (2)
    pub slope: [f64; 2],
    /// Air that comes in below the lip.
    pub leak: Leak,
    /// Share of the lip's arc with nothing below it. [-]
    pub open: f64,
    /// Largest distance that the lip does not bridge, roughness apart. [m]
    pub largest_gap: f64,
    /// Height of the dome within the lip above its room. [m]
    pub excess: f64,
}

impl Seal {
    /// Seal of a lip on a surface with gaps of `roughness` [m].
    pub fn of(lip: &Lip, rays: Rays<'_>, roughness: f64) -> Self {
        let n = rays.ring.len().max(1) as f64;
        let plane = plane_through(rays.ring);
        let (leak, distance) = (Leak::none(), plane.x);
        let slope = [plane.y / lip.radius, plane.z / lip.radius];
        let mut seal = Self { leak, distance, slope, open: 0.0, largest_gap: 0.0, excess: 0.0 };
        let arc = TAU * lip.radius / n;
        for (direction, distance) in directions(rays.ring) {
            let Some(distance) = distance else {
                seal.open += 1.0 / n;
                seal.leak.add_slit(arc, OPEN * lip.width, lip.width);
                continue;
            };
            let gap = ((distance - plane.dot(&direction)).abs() - lip.flexion).max(0.0);
            seal.largest_gap = seal.largest_gap.max(gap);
            seal.leak.add_slit(arc, gap + roughness, lip.width);
        }
        // A dome that finds no room lifts the whole lip.
        let dome = rays.center.map_or(0.0, |center| plane.x - center);
        seal.excess = (dome - lip.room).max(0.0);
        if seal.excess > 0.0 {
            seal.leak.add_slit(TAU * lip.radius, seal.excess, lip.width);
        }
        seal
    }

    /// Whether nothing is open and the lip bridges all that it lies on.
    pub fn is_tight(&self) -> bool {
        self.open == 0.0 && self.largest_gap == 0.0 && self.excess == 0.0
    }
}

/// Height of the part of a ball or cylinder of radius `ρ` within a circle of radius `R ≤ ρ` [m]; infinite where the circle does not fit
/// on it. [m]
pub fn sagitta(radius: f64, circle: f64) -> f64 {
    if radius < circle { f64::INFINITY } else { radius - (radius.powi(2) - circle.powi(2)).sqrt() }
}

/// `(1, cos θ, sin θ)` of each ray of the ring, and its distance.
fn directions(ring: &[Option<f64>]) -> impl Iterator<Item = (Vector3, Option<f64>)> {
    let n = ring.len().max(1) as f64;
    ring.iter().enumerate().map(move |(i, distance)| {
        let (sin, cos) = (TAU * i as f64 / n).sin_cos();
        (Vector3::new(1.0, cos, sin), *distance)
    })
}

/// The plane `c + a cos θ + b sin θ` nearest to all distances: `(c, a, b)`. Level where they determine no tilt.
fn plane_through(ring: &[Option<f64>]) -> Vector3 {
    let hits = || directions(ring).filter_map(|(direction, d)| d.map(|d| (direction, d)));
    let normal = hits().fold(Matrix3::zeros(), |sum, (d, _)| sum + d * d.transpose());
    let right = hits().fold(Vector3::zeros(), |sum, (direction, d)| sum + direction * d);
    let n = hits().count().max(1) as f64;
    // Fewer than three points, or all on one side, leave a tilt open.
    let level = Vector3::new(right.x / n, 0.0, 0.0);
    normal.cholesky().map_or(level, |factor| factor.solve(&right))
}

#[cfg(test)]
mod tests {
    use approx::assert_relative_eq;

    use super::*;

    const N: usize = 24;
    const RADIUS: f64 = 0.0191;

    fn lip() -> Lip {
        Lip::down_to(RADIUS, 0.06, 1e-3)
    }

    fn seal(surface: impl Fn(f64, f64) -> Option<f64>) -> Seal {
        let ring: Vec<Option<f64>> = (0..N)
            .map(|i| {
                let (sin, cos) = (TAU * i as f64 / N as f64).sin_cos();
                surface(RADIUS * cos, RADIUS * sin)
            })
            .collect();
        Seal::of(&lip(), Rays { ring: &ring, center: surface(0.0, 0.0) }, 5e-6)
    }

    fn cylinder(radius: f64) -> Seal {
        seal(|x, _| Some(0.01 + radius - (radius * radius - x * x).sqrt()))
    }

    fn ball(radius: f64) -> Seal {
        seal(|x, y| Some(0.01 + radius - (radius * radius - x * x - y * y).sqrt()))
    }

    #[test]
    fn a_plane_of_any_tilt_is_sealed() {
        let tilted = seal(|x, y| Some(0.01 + 0.3 * x - 0.2 * y));
        assert!(tilted.is_tight(), "{tilted:?}");
        assert_relative_eq!(tilted.slope[0], 0.3, max_relative = 1e-12);
        assert_relative_eq!(tilted.slope[1], -0.2, max_relative = 1e-12);
        // The leak of its roughness alone: 0.182 l/min of a lip of 40 mm at 60 kPa.
        assert_relative_eq!(tilted.leak.flow(60e3), 3.04e-6 * RADIUS / 0.02, max_relative = 2e-3);
    }

    #[test]
    fn cylinders_and_balls_are_sealed_down_to_the_least_radius() {
        assert!(cylinder(0.06 * 1.02).is_tight() && !cylinder(0.06 * 0.98).is_tight());
        assert!(ball(0.06 * 1.001).is_tight() && !ball(0.06 * 0.98).is_tight());
    }

    #[test]
    fn over_an_edge_the_lip_is_open() {
        let edge = seal(|x, _| (x < 0.5 * RADIUS).then_some(0.01));
        // Beyond the edge are the angles below 60 degrees: 7 to 9 of 24 rays.
        assert!((7.0 / 24.0..=9.0 / 24.0).contains(&edge.open) && !edge.is_tight());
        assert!(edge.leak.flow(1e3) > 100.0 * seal(|_, _| Some(0.01)).leak.flow(1e3));
    }

    #[test]
    fn a_lip_in_the_air_is_open_all_around() {
        let none = seal(|_, _| None);
        assert_relative_eq!(none.open, 1.0, epsilon = 1e-12);
    }
}
