//! Posed colliders, and the contacts among them.

use karakuri_spatial::{Pose, Vector3};

use crate::bounds::Bounds;
use crate::broad_phase::{BroadPhase, Pair, merge, order_of, pair_of};
use crate::collider::{Collider, ColliderId, Placed};
use crate::manifold::{Manifold, Manifolds};
use crate::narrow::{Named, Narrow};
use crate::pair_set::PairSet;
use crate::shape::ShapeError;
use crate::solid::Solid;
use crate::sweep::{self, Impact, Moving, Swept, Window};

/// Change of a position's coordinate [m], or of an entry of a rotation, that counts as none.
const STILL: f64 = 1e-11;

fn nearly_equal(a: &Pose, b: &Pose) -> bool {
    // Componentwise: an angle from a quaternion would have half the digits near zero.
    (a.translation - b.translation).amax() <= STILL && (a.rotation - b.rotation).amax() <= STILL
}

/// Colliders and their contacts.
#[derive(Clone, Default)]
pub struct CollisionScene {
    colliders: Vec<Option<Placed>>,
    /// Pairs that never touch.
    ignored: PairSet,
    bounds: Vec<Option<Bounds>>,
    pairs: Vec<Pair>,
    /// Pairs of a half-space, in order.
    on_planes: Vec<Pair>,
    manifolds: Manifolds,
    /// Contacts of the last update.
    before: Manifolds,
    /// Prediction distance of the last update. [m]
    prediction: f64,
    broad: BroadPhase,
    narrow: Narrow,
}

impl std::fmt::Debug for CollisionScene {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CollisionScene")
            .field("manifolds", &self.manifolds())
            .finish_non_exhaustive()
    }
}

impl CollisionScene {
    /// Adds a collider whose shape is known to be good; see [`Self::try_add`].
    ///
    /// # Panics
    /// When the shape has no volume.
    #[expect(clippy::panic, reason = "documented; for shapes written in code")]
    pub fn add(&mut self, collider: &Collider) -> ColliderId {
        match self.try_add(collider) {
            Ok(id) => id,
            Err(e) => panic!("{e}"),
        }
    }

    /// Adds a collider.
    ///
    /// # Errors
    /// When the shape cannot be built: a size that is not positive, points in one plane, a vertex that is not finite,
    /// a damaged mesh.
    pub fn try_add(&mut self, collider: &Collider) -> Result<ColliderId, ShapeError> {
        let built = collider.shape.build()?;
        let id = ColliderId(self.colliders.len());
        let mut placed = Placed {
            solid: built.solid,
            parry: built.shape,
            frame: built.frame,
            pose_in_world: collider.pose,
            bounds: None,
            fixed: collider.fixed,
            jointed: collider.jointed,
            changed: true,
        };
        placed.place(&collider.pose);
        self.colliders.push(Some(placed));
        Ok(id)
    }

    /// Removes a collider; its id stays unused.
    pub fn remove(&mut self, id: ColliderId) {
        self.colliders[id.0] = None;
        self.ignored.remove(id);
    }

    /// Moves a collider to the pose `X_WC`. One that rests within 1e-11 of it stays where it is, and so do its contacts.
    pub fn set_pose(&mut self, id: ColliderId, X_WC: &Pose) {
        if let Some(placed) = &mut self.colliders[id.0]
            && !nearly_equal(&placed.pose_in_world, X_WC)
        {
            placed.place(X_WC);
        }
    }

    /// Lets a collider count as fixed, or as moving again.
    pub fn set_fixed(&mut self, id: ColliderId, fixed: bool) {
        if let Some(placed) = &mut self.colliders[id.0] {
            // Two fixed colliders had no manifold that could be kept.
            placed.changed |= placed.fixed != fixed;
            placed.fixed = fixed;
        }
    }

    /// The pose `X_WC` of a collider that is there.
    pub fn pose(&self, id: ColliderId) -> Option<Pose> {
        self.colliders.get(id.0)?.as_ref().map(|c| c.pose_in_world)
    }

    /// Half the least width of a collider's shape: 0 of a mesh's surface, infinite of a half-space. [m]
    pub fn half_width(&self, id: ColliderId) -> Option<f64> {
        self.get(id).map(|c| c.solid.half_width())
    }

    /// Farthest distance of a collider's surface from its frame's origin; infinite of a mesh or half-space. [m]
    pub fn radius(&self, id: ColliderId) -> Option<f64> {
        self.get(id).map(|c| c.solid.radius())
    }

    #[cfg(test)]
    pub(crate) fn parts(&mut self) -> (&[Option<Placed>], &mut Narrow) {
        (&self.colliders, &mut self.narrow)
    }

    pub(crate) fn get(&self, id: ColliderId) -> Option<&Placed> {
        self.colliders.get(id.0)?.as_ref()
    }

    pub(crate) fn placed(&self) -> impl Iterator<Item = (ColliderId, &Placed)> {
        self.colliders.iter().enumerate().filter_map(|(i, c)| Some((ColliderId(i), c.as_ref()?)))
    }

    /// Lets two colliders pass through each other.
    pub fn ignore(&mut self, a: ColliderId, b: ColliderId) {
        self.ignored.insert(a, b);
    }

    /// Finds all contacts whose gap is at most `prediction`. [m]
    ///
    /// Those of two colliders that stayed where they were are those of the last update, if it had the same prediction.
    pub fn update(&mut self, prediction: f64) {
        self.find(prediction, true);
    }

    /// [`Self::update`] once more at the same time, when it was said of more colliders that they are fixed or that they move.
    pub fn update_again(&mut self, prediction: f64) {
        self.find(prediction, false);
    }

    fn find(&mut self, prediction: f64, time_went_on: bool) {
        let grow = |bounds: Bounds| bounds.grown(0.5 * prediction);
        self.bounds.clear();
        self.bounds
            .extend(self.colliders.iter().map(|c| c.as_ref().and_then(|c| c.bounds).map(grow)));
        // By id: `before` is walked in step with the pairs, and the order must not depend on how they were found.
        self.pairs.clear();
        self.broad.find(&self.bounds, &mut self.pairs);
        self.pair_half_spaces(prediction);
        merge(&mut self.pairs, &self.on_planes);
        // Links of one robot overlap all the time: what cannot touch is dropped.
        let is_fixed = |id: ColliderId| self.colliders[id.0].as_ref().is_some_and(|c| c.fixed);
        let (pairs, ignored) = (&mut self.pairs, &self.ignored);
        pairs.retain(|&(a, b)| !(ignored.contains(a, b) || is_fixed(a) && is_fixed(b)));
        core::mem::swap(&mut self.manifolds, &mut self.before);
        self.manifolds.clear();
        // Kept contacts lack the gaps between a smaller prediction and this one.
        let refresh = prediction.to_bits() != self.prediction.to_bits();
        self.prediction = prediction;
        let mut before = self.before.as_slice();
        for &(a, b) in &self.pairs {
            let (Some(placed_a), Some(placed_b)) = (&self.colliders[a.0], &self.colliders[b.0])
            else {
                continue;
            };
            // Both lists are sorted by pair, so each is walked once.
            let is_earlier = |m: &&Manifold| (m.a, m.b) < (a, b);
            before = &before[before.iter().take_while(is_earlier).count()..];
            let is_same = |m: &&Manifold| (m.a, m.b) == (a, b);
            let known;
            (known, before) = before.split_at(before.iter().take_while(is_same).count());
            if !(refresh || placed_a.changed || placed_b.changed) {
                self.manifolds.add_known(known, time_went_on);
                continue;
            }
            let a = Named { id: a, placed: placed_a };
            let b = Named { id: b, placed: placed_b };
            self.narrow.collide(a, b, prediction, known, &mut self.manifolds);
        }
        for placed in self.colliders.iter_mut().flatten() {
            placed.changed = false;
        }
    }

    fn pair_half_spaces(&mut self, prediction: f64) {
        self.on_planes.clear();
        for (i, plane) in self.colliders.iter().enumerate() {
            let is_plane = |c: &&Placed| matches!(c.solid, Solid::HalfSpace);
            let Some(plane) = plane.as_ref().filter(is_plane) else { continue };
            let normal: Vector3 = plane.pose_in_world.rotation.column(2).into();
            // The boxes are grown by half the prediction already.
            let height = normal.dot(&plane.pose_in_world.translation) + 0.5 * prediction;
            for (j, bounds) in self.bounds.iter().enumerate() {
                if bounds.as_ref().is_some_and(|b| b.lowest(&normal) <= height) {
                    self.on_planes.push(pair_of(i, j));
                }
            }
        }
        self.on_planes.sort_unstable_by_key(order_of);
    }

    /// Contacts of the last [`Self::update`], ordered by pair.
    pub fn manifolds(&self) -> &[Manifold] {
        self.manifolds.as_slice()
    }

    /// First time in `[0, duration]` [s] at which two moving colliders are within `touch` [m] (1e-6, say) of each other
    /// and approach. Where the scene has them does not matter: each goes its sweep. Below 0 `touch` is a depth: they may
    /// be deeper by a tenth at that time.
    ///
    /// `None`: they do not touch; or one is gone, or both are half-spaces or meshes. An overlap from the start is an
    /// impact at time 0 if its nearest points approach. Allocates nothing once warm.
    pub fn time_of_impact(
        &mut self,
        a: Swept,
        b: Swept,
        duration: f64,
        touch: f64,
    ) -> Option<Impact> {
        let placed = |id: ColliderId| self.colliders.get(id.0)?.as_ref();
        let a = Moving { placed: placed(a.collider)?, sweep: a.sweep };
        let b = Moving { placed: placed(b.collider)?, sweep: b.sweep };
        sweep::time_of_impact(&mut self.narrow, a, b, Window { duration, touch })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::ColliderShape;

    /// Contacts stay with what stays, and follow what moves, however little it moves in a step.
    #[test]
    fn contacts_are_recomputed_where_something_moved() {
        let cube = ColliderShape::Box { half_extents: Vector3::repeat(0.5) };
        let mut scene = CollisionScene::default();
        scene.add(&Collider::fixed(ColliderShape::HalfSpace, Pose::IDENTITY));
        let at = |z: f64| Pose::from_translation(Vector3::new(0.0, 0.0, z));
        let id = scene.add(&Collider::moving(cube, at(0.5)));
        let mut gap = |z: f64, prediction: f64| {
            scene.set_pose(id, &at(z));
            scene.update(prediction);
            scene.manifolds().first().map(|m| m.points()[0].gap)
        };
        assert_eq!(gap(0.5, 1e-3), Some(0.0));
        assert_eq!(gap(0.5 + 0.5 * STILL, 1e-3), Some(0.0));
        for k in 0..1000 {
            let z = 0.5 + 0.3 * STILL * f64::from(k);
            let found = gap(z, 1e-3).unwrap();
            assert!((found - (z - 0.5)).abs() <= 1.01 * STILL, "{found} at {z}");
        }
        assert_eq!(gap(0.502, 1e-3), None);
        assert_eq!(gap(0.502, 1e-3), None);
        assert!((gap(0.502, 1e-2).unwrap() - 0.002).abs() < 1e-15);
    }
}
