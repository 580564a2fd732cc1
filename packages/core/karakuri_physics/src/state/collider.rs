//! Colliders as the world knows them.

use karakuri_spatial::{Motion, Vector3};

use super::materials::{MaterialId, Materials, Surface, sorted};
use super::mover::{Mover, Owner};

/// A collider as the world knows it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Attachment {
    pub(crate) owner: Owner,
    pub(crate) mover: Mover,
    pub(crate) surface: Surface,
    /// Material it came from.
    pub(crate) material: Option<MaterialId>,
    /// Velocity of the surface against its owner, in world axes: a running belt. [m/s] (3)
    pub(crate) surface_velocity: Vector3,
    /// Twist of a body that moves as prescribed, about the world's origin. [rad/s; m/s]
    pub(crate) carried: Motion,
}

impl Attachment {
    /// Whether it is the end of a constraint: what moves by its mover, what stands by its owner.
    fn is_end(&self, mover: Mover, owner: Owner) -> bool {
        match mover {
            // The ground and fixed bodies are one mover: only owners tell them apart.
            Mover::Fixed => self.owner == owner,
            mover => self.mover == mover,
        }
    }

    /// Whether a constraint with these ends joins two colliders' owners, in either order.
    pub(crate) fn are_ends(pair: [&Self; 2], movers: [Mover; 2], owners: [Owner; 2]) -> bool {
        let are =
            |[a, b]: [&Self; 2]| a.is_end(movers[0], owners[0]) && b.is_end(movers[1], owners[1]);
        are(pair) || are([pair[1], pair[0]])
    }
}

impl Materials {
    /// Material law of the pair of two colliders.
    pub(crate) fn between(&self, a: &Attachment, b: &Attachment) -> Surface {
        // Most worlds have no pairs with numbers of their own: no search.
        if !self.pairs.is_empty()
            && let (Some(one), Some(other)) = (a.material, b.material)
            && let Ok(at) = self.pairs.binary_search_by_key(&sorted(one, other), |(pair, _)| *pair)
        {
            return self.pairs[at].1;
        }
        self.mixing.of(&a.surface, &b.surface)
    }
}

/// Velocity of `b` against `a` at a point with which their contact neither closes, opens nor slips. [m/s] (3)
pub(crate) fn prescribed_velocity_at(a: &Attachment, b: &Attachment, point: &Vector3) -> Vector3 {
    // Twists about the world's origin: `v_p = v_O + ω × p`.
    let at = |twist: &Motion| twist.linear + twist.angular.cross(point);
    // What `a`'s surface does, `b` has to do; what `b`'s does, is done.
    at(&a.carried) - at(&b.carried)
}
