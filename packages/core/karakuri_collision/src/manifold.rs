//! Contacts of two shapes: one normal, a few points.

use karakuri_spatial::Vector3;

use crate::collider::ColliderId;

/// Most points of a manifold: the corners of the contact patch that carry any load its whole area could.
pub(crate) const MAX_POINTS: usize = 4;

/// Most points where the surfaces turn against each other: all that the overlap of two faces of four corners has.
pub(crate) const MAX_TURNING: usize = 8;

/// A place where two surfaces are near or overlap.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ContactPoint {
    /// Identity by the vertices or edges that make the point; the same from step to step while they do.
    pub feature: u64,
    /// Middle between the two surfaces, in the world. [m] (3)
    pub position: Vector3,
    /// Distance of the surfaces along the normal; negative where they overlap. [m]
    pub gap: f64,
}

impl ContactPoint {
    // NaN, so that a point read beyond `len` shows.
    const NONE: Self = Self {
        feature: u64::MAX,
        position: Vector3::new(f64::NAN, f64::NAN, f64::NAN),
        gap: f64::NAN,
    };
}

/// Memory that decides between equals in the next step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Memory {
    /// Angles of the first rim points on A and B; NaN where there is no rim. [rad]
    pub(crate) rims: [f64; 2],
    /// Number of the separating axis of two boxes.
    pub(crate) axis: u8,
}

impl Memory {
    pub(crate) const NONE: Self = Self { rims: [f64::NAN; 2], axis: 0 };
}

/// The contact of two colliders, `a < b`.
// In this order: what is read of every manifold lies before points of which most have no use.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Manifold {
    /// First of the two colliders.
    pub a: ColliderId,
    /// Second of the two colliders.
    pub b: ColliderId,
    /// Unit vector from A to B, in world axes. (3)
    pub normal: Vector3,
    /// Whether neither collider moved since the last update, and all is as it was.
    pub kept: bool,
    len: usize,
    /// Number of points with those that were left out, behind the others.
    n_found: usize,
    pub(crate) memory: Memory,
    points: [ContactPoint; MAX_TURNING],
}

impl Manifold {
    const NONE: Self = Self {
        a: ColliderId(0),
        b: ColliderId(0),
        normal: Vector3::new(f64::NAN, f64::NAN, f64::NAN),
        kept: false,
        len: 0,
        n_found: 0,
        memory: Memory::NONE,
        points: [ContactPoint::NONE; MAX_TURNING],
    };

    /// The points: one to eight, to four where the surfaces do not turn against each other.
    #[inline]
    pub fn points(&self) -> &[ContactPoint] {
        &self.points[..self.len]
    }

    /// Corners of the patch that carry no load which the [points](Self::points) could not carry, the nearest first: none where joints
    /// hold a collider.
    #[inline]
    pub fn left_out(&self) -> &[ContactPoint] {
        &self.points[self.len..self.n_found]
    }

    /// Takes points, of which the first `n` are to carry load; those that find no room are dropped.
    pub(crate) fn fill(&mut self, points: impl Iterator<Item = ContactPoint>, n: usize) {
        self.n_found = 0;
        for (place, point) in self.points.iter_mut().zip(points) {
            *place = point;
            self.n_found += 1;
        }
        self.len = n.min(self.n_found);
    }
}

/// The manifolds of an update, in the order of their pairs. Their places are written over in the next: few have all the points that
/// there is room for, and to clear and copy the others would cost as much as to find them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Manifolds {
    places: Vec<Manifold>,
    len: usize,
}

impl Manifolds {
    pub(crate) fn as_slice(&self) -> &[Manifold] {
        &self.places[..self.len]
    }

    pub(crate) fn clear(&mut self) {
        self.len = 0;
    }

    /// Adds the manifold of a pair, whose normal and points are still to come.
    pub(crate) fn add(&mut self, a: ColliderId, b: ColliderId, memory: Memory) -> &mut Manifold {
        if self.len == self.places.len() {
            self.places.push(Manifold::NONE);
        }
        let manifold = &mut self.places[self.len];
        self.len += 1;
        (manifold.a, manifold.b, manifold.kept, manifold.memory) = (a, b, false, memory);
        (manifold.len, manifold.n_found) = (0, 0);
        manifold
    }

    /// Adds those of a pair again that stayed where it was.
    pub(crate) fn add_known(&mut self, known: &[Manifold], kept: bool) {
        for known in known {
            let manifold = self.add(known.a, known.b, known.memory);
            manifold.normal = known.normal;
            manifold.kept = known.kept || kept;
            let found = known.points[..known.n_found].iter().copied();
            manifold.fill(found, known.len);
        }
    }
}
