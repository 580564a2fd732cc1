//! Faces of a convex object under the tips of three fingers.
//!
//! A tip is a ball that comes along its closing direction `d` and stops on the first face that it meets, where its middle is its radius `ρ` before the face's plane.
//! All fingers close alike: with the middle of the hand at `c`, and `o` the place of a finger beside it, the three tips stop together at the distance `t` where
//!
//! `nᵢ·(c + oᵢ − dᵢ t) = hᵢ + ρ`
//!
//! for the faces `nᵢ·p = hᵢ` that they meet. Spread, the hand finds its middle so; side by side, the two fingers must meet faces that are as far out as each other.
//! A tip may be off by some millimetres: all faces that near to its point of contact must be square enough to its direction.
//!
//! Units: m, rad, N, kg; tool axes from the middle of the object's box, the tool looking down.

use karakuri_collision::HullFace;
use karakuri_spatial::{Matrix3, Vector3};

use super::hold::{Contact, Fit, Hold, Stop, looking_down};
use super::pads::{CLEARANCE, TIP_CLEARANCE, UNIT};
use super::payload::{Payload, too_heavy};
use super::polygon::{between, edges, on_edge};
use super::sides::{Seen, directions};
use super::springs::Held;
use super::stated::Part;
use super::tips::{MARGIN, Tip, Tips};
use crate::EndEffector;
use crate::end_effector::{Spread, ThreeFingers};
use crate::hull::Hull;
use crate::pick_and_place::PlanError;
use crate::pick_and_place::types::Grasp;

/// Most ways to hold an object.
const WAYS: usize = 12;
/// How the fingers are spread about most objects.
const USUAL: [Spread; 2] = [Spread::Closed, Spread::Even];
/// How they are spread about what they do not hold so: about what has eight sides, or lies and is round at its ends.
const BETWEEN: [Spread; 3] = [Spread::Between(1), Spread::Between(2), Spread::Between(3)];
/// Distance by which a tip may stop before or after the others. [m]
const EVEN: f64 = 1e-4;
/// Distance by which a point of contact may be outside of the planes of other faces, beside a blunt edge. [m]
const BESIDE: f64 = 1e-4;
/// Times that the middle of the hand and the faces that the tips meet are found by each other.
const SETTLING: usize = 8;
/// Distance by which an object may be wider above the tips than between them. [m]
const BULGE: f64 = 1e-3;
/// Part of an object that is above the tips at least. [m]
const LEAST_COVER: f64 = 0.008;

/// Cause for which three tips do not hold an object. Later ones come nearer to a grip.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Fault {
    /// A tip meets nothing, or not together with the others.
    Uneven,
    /// The object is wider above the tips than between them.
    Bulges,
    /// Width of it that does not go between the tips. [m]
    Wide(f64),
    /// Angle of a closing direction against the normal of a face near a tip. [rad]
    Leans(f64),
    /// Strength that it needs. [N]
    Heavy(f64),
}

impl Fault {
    /// How near it comes to a grip: first by its kind, then less is nearer.
    fn rank(self) -> [f64; 2] {
        match self {
            Self::Uneven => [0.0, 0.0],
            Self::Bulges => [1.0, 0.0],
            Self::Wide(width) => [2.0, -width],
            Self::Leans(angle) => [3.0, -angle],
            Self::Heavy(needed) => [4.0, -needed],
        }
    }
}

/// A hand with three fingers, and what it is to hold.
#[derive(Clone, Copy)]
pub(super) struct Task<'a> {
    pub(super) hand: &'a ThreeFingers,
    pub(super) hull: &'a Hull,
    pub(super) payload: &'a Payload,
    /// Largest strength that is allowed. [N]
    pub(super) allowed: f64,
    /// Angle between faces below which they stand for one round side; 0 where none do. [rad]
    pub(super) facet: f64,
}

/// Where the hand closes.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// Yaw of the tool against the object. [rad]
    turn: f64,
    spread: Spread,
    /// Middle between the tips. [m] (3)
    middle: Vector3,
}

/// Where a tip stops.
#[derive(Debug, Clone, Copy)]
struct Stopped<'a> {
    face: &'a HullFace,
    /// Distance of its middle from that of the hand, against its closing direction. [m]
    distance: f64,
    /// Point of contact. [m] (3)
    contact: Vector3,
}

impl Task<'_> {
    /// Ways to hold the object, those that need the least strength first.
    pub(super) fn holds(&self) -> Result<Vec<Hold>, PlanError> {
        let found = usual_or_between(|spreads| self.ways(spreads));
        let mut found = found.map_err(|fault| self.refusal(fault))?;
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
        Ok(found.into_iter().take(WAYS).map(|(_, hold)| hold).collect())
    }

    /// Ways to hold it with the fingers spread so, and the strengths by which they compare. [N]
    fn ways(&self, spreads: &[Spread]) -> Result<Vec<(f64, Hold)>, Fault> {
        let mut found: Vec<(f64, Hold)> = Vec::new();
        let mut fault = Fault::Uneven;
        for closing in directions(self.hull) {
            let turn = (-closing.x).atan2(closing.y);
            let seen = Seen::of(self.hull, turn);
            for &spread in spreads {
                for raise in self.heights(&seen) {
                    let middle = Vector3::new(-raise, seen.com.y, seen.com.z);
                    match self.way(&seen, Place { turn, spread, middle }) {
                        Ok(way) => found.push(way),
                        Err(why) if why.rank() > fault.rank() => fault = why,
                        Err(_) => {}
                    }
                }
            }
        }
        if found.is_empty() { Err(fault) } else { Ok(found) }
    }

    /// Tips where a goal's grasp has the tool, in the middle between the sides.
    pub(super) fn given(&self, grasp: &Grasp) -> Result<Hold, PlanError> {
        let seen = Seen::of(self.hull, grasp.turn);
        let best = |spreads: &[Spread]| {
            let found = spreads.iter().map(|spread| self.at(&seen, grasp, *spread));
            found.reduce(better).unwrap_or(Err(Fault::Uneven))
        };
        let found = usual_or_between(best);
        let height = self.hull.size().z;
        let part = |opening: f64| Part {
            name: "tips",
            below: self.hand.tip_radius(),
            room: self.hand.palm_height(self.hand.position(opening)),
        };
        match found {
            Ok((_, hold)) => {
                let opening = hold.contact.fit().map_or(0.0, |fit| fit.opening);
                part(opening).check(hold.raise, height)?;
                Ok(hold)
            }
            Err(fault) => {
                // Where they are too low or too high they meet no sides.
                let opening = seen.width();
                let depth = self.hand.tool_depth(self.hand.position(opening));
                part(opening).check(grasp.position.z - depth, height)?;
                Err(self.refusal(fault))
            }
        }
    }

    /// A way to hold it with the fingers spread so, and the strength by which it compares. [N]
    fn at(&self, seen: &Seen, grasp: &Grasp, spread: Spread) -> Result<(f64, Hold), Fault> {
        let (hand, turn) = (self.hand, grasp.turn);
        let (fingers, tool) =
            (Fingers::of(hand, spread), looking_down(turn).transpose() * grasp.position);
        let place = |opening: f64| {
            let depth = hand.tool_depth(hand.position(opening));
            Place { turn, spread, middle: tool + Vector3::new(depth, hand.middle(spread), 0.0) }
        };
        // Where the tips are on the tool depends on the opening, and where they stop on where they are.
        let widest = hand.opening_range().1;
        let mut opening = (seen.width() + hand.nearer(spread)).min(widest);
        for _ in 0..SETTLING {
            let (_, [tip, ..]) = fingers.settled(seen, place(opening))?;
            opening = (2.0 * (tip.distance - hand.tip_radius()) + hand.nearer(spread)).min(widest);
        }
        self.way(seen, place(opening))
    }

    /// Heights of the tips' middles above that of the box: level with the centre of mass, half way up from there, and near the top; higher if the tips
    /// would touch the support, or the object the palm. [m]
    fn heights(&self, seen: &Seen) -> [f64; 3] {
        let (half, tip) = (0.5 * self.hull.size().z, self.hand.tip_radius());
        let width = 2.0 * self.hull.size().xy().norm();
        let above = self.hand.palm_height(self.hand.position(width));
        let least = (tip + TIP_CLEARANCE - half).max(half - above);
        let most = (half - LEAST_COVER).max(least);
        let com = -seen.com.x;
        [com, 0.5 * (com + half), most].map(|raise| raise.clamp(least, most))
    }

    /// A way to hold it at a height, and the strength by which it compares. [N]
    fn way(&self, seen: &Seen, place: Place) -> Result<(f64, Hold), Fault> {
        let Task { hand, payload, allowed, facet, .. } = *self;
        let fingers = Fingers::of(hand, place.spread);
        let (place, stopped) = fingers.settled(seen, place)?;
        let distance = stopped[0].distance;
        if stopped.iter().any(|tip| (tip.distance - distance).abs() > EVEN) {
            return Err(Fault::Uneven);
        }
        let lean = fingers.lean(seen, &stopped, facet);
        if lean > payload.largest_lean() {
            return Err(Fault::Leans(lean));
        }
        let between = 2.0 * (distance - hand.tip_radius());
        let nearer = hand.nearer(place.spread);
        let (opening, (lowest, highest)) = (between + nearer, hand.opening_range());
        // Half of the clearance on each side is the least; the hand opens for all of it where it can.
        if opening + CLEARANCE > highest {
            return Err(Fault::Wide(between));
        }
        if opening < lowest {
            return Err(Fault::Uneven);
        }
        let is_wide = |more: f64| fingers.bulges(seen, &place.middle, 0.5 * between + more);
        // What is as wide further up meets the fingers' bars, which lean inwards.
        let above = 0.5 * self.hull.size().z + place.middle.x;
        if is_wide(BULGE) || (is_wide(-BULGE) && above > hand.headroom(hand.position(opening))) {
            return Err(Fault::Bulges);
        }
        let fit = Fit {
            width: between,
            open: (opening + 2.0 * CLEARANCE).min(highest),
            opening,
            stop: Stop::Tips { nearer },
            pushes_out: lean > 0.0,
            spread: Some(place.spread),
        };
        let hold = self.hold(seen, place, fit, &stopped, lean).ok_or(Fault::Uneven)?;
        let needed = hold.contact.at_rest(payload);
        if needed > allowed || allowed > hand.force_max() {
            return Err(Fault::Heavy(needed));
        }
        Ok((needed, hold))
    }

    fn hold(
        &self,
        seen: &Seen,
        place: Place,
        fit: Fit,
        stopped: &[Stopped<'_>; 3],
        lean: f64,
    ) -> Option<Hold> {
        let hand = self.hand;
        let Place { turn, spread, middle } = place;
        let (depth, aside) = (hand.tool_depth(hand.position(fit.opening)), hand.middle(spread));
        let at = Vector3::new(depth, aside, 0.0) - middle;
        let touches = stopped.map(|tip| Tip { center: at + tip.contact, normal: -tip.face.normal });
        let held = Held::solid(at + seen.com, seen.gyration);
        let across = looking_down(turn) * Vector3::new(0.0, middle.y, middle.z);
        Some(Hold {
            turn,
            middle: across,
            width: fit.width,
            raise: -middle.x,
            depth,
            aside,
            tip: hand.tip_radius() + 0.01,
            contact: Contact::Tips(Tips::touching(touches, fit, lean, held)?),
        })
    }

    fn refusal(&self, fault: Fault) -> PlanError {
        let Task { hand, payload, .. } = *self;
        let why = match fault {
            Fault::Uneven => format!(
                "its sides offer no three places where the thumb and the fingers, spread or {:.1} mm beside each other, touch together; turn it over, or use level pads or cups",
                1e3 * hand.finger_distance()
            ),
            Fault::Bulges => {
                "it is wider above the tips than between them; turn it over".to_owned()
            }
            Fault::Wide(width) => format!(
                "it is {:.1} mm wide between the tips, and the hand opens to {:.1} mm with its clearance",
                1e3 * width,
                1e3 * (hand.opening_range().1 - CLEARANCE)
            ),
            Fault::Leans(angle) => format!(
                "a face within {:.0} mm of a tip is {:.1} degrees off square to the tip's direction, and friction {} holds up to {:.1}; turn it over, or use fingers with more friction",
                1e3 * MARGIN,
                angle.to_degrees(),
                payload.friction,
                payload.largest_lean().to_degrees()
            ),
            Fault::Heavy(needed) => {
                return too_heavy(payload, needed, [self.allowed, hand.force_max()], UNIT);
            }
        };
        PlanError::NoGrip { why }
    }
}

/// What the usual spreads give, or those in between; where neither does, the fault of the usual ones.
fn usual_or_between<T>(of: impl Fn(&[Spread]) -> Result<T, Fault>) -> Result<T, Fault> {
    of(&USUAL).or_else(|fault| of(&BETWEEN).map_err(|_| fault))
}

/// Of two ways to hold an object that with less strength, or of two faults that nearer to a grip.
fn better(
    a: Result<(f64, Hold), Fault>,
    b: Result<(f64, Hold), Fault>,
) -> Result<(f64, Hold), Fault> {
    match (a, b) {
        (Ok(a), Ok(b)) => Ok(if b.0 < a.0 { b } else { a }),
        (Ok(found), Err(_)) | (Err(_), Ok(found)) => Ok(found),
        (Err(a), Err(b)) => Err(if b.rank() > a.rank() { b } else { a }),
    }
}

/// Three fingers that close.
struct Fingers {
    tip_radius: f64,
    /// Directions in which they close. [-] (3 each)
    closing: [Vector3; 3],
    /// Places beside the middle of the hand. [m] (3 each)
    beside: [Vector3; 3],
}

impl Fingers {
    fn of(hand: &ThreeFingers, spread: Spread) -> Self {
        let (closing, beside) = (ThreeFingers::closing(spread), hand.beside(spread));
        Self { tip_radius: hand.tip_radius(), closing, beside }
    }

    /// The place with its middle where the tips stop together, and where they stop.
    fn settled<'a>(
        &self,
        seen: &'a Seen,
        mut place: Place,
    ) -> Result<(Place, [Stopped<'a>; 3]), Fault> {
        for _ in 0..SETTLING {
            let stopped = self.stop(seen, &place.middle)?;
            place.middle = self.settle(&stopped, place)?;
        }
        let stopped = self.stop(seen, &place.middle)?;
        Ok((place, stopped))
    }

    /// Where the tips stop, with the middle of the hand there. [m] (3)
    fn stop<'a>(&self, seen: &'a Seen, middle: &Vector3) -> Result<[Stopped<'a>; 3], Fault> {
        let [a, b, c] =
            [0, 1, 2].map(|k| self.stop_one(seen, &(middle + self.beside[k]), &self.closing[k]));
        Ok([a?, b?, c?])
    }

    fn stop_one<'a>(
        &self,
        seen: &'a Seen,
        from: &Vector3,
        closing: &Vector3,
    ) -> Result<Stopped<'a>, Fault> {
        let plane = |face: &HullFace| {
            face.corners.first().map_or(f64::INFINITY, |corner| corner.dot(&face.normal))
        };
        let offset = |face: &HullFace| plane(face) + self.tip_radius - face.normal.dot(from);
        // On its way in it is outside until it is less than its radius before every plane.
        let faced = seen.faces.iter().filter(|face| face.normal.dot(closing) < -1e-9);
        let first = faced
            .map(|face| (offset(face) / -face.normal.dot(closing), face))
            .min_by(|a, b| a.0.total_cmp(&b.0));
        let (distance, face) = first.ok_or(Fault::Uneven)?;
        let tip = from - closing * distance;
        let contact = tip - face.normal * self.tip_radius;
        // The point is on the face, and not beside it: there the tip would touch an edge, or nothing.
        let is_beside =
            seen.faces.iter().any(|other| other.normal.dot(&contact) > plane(other) + BESIDE);
        if is_beside {
            return Err(Fault::Uneven);
        }
        Ok(Stopped { face, distance, contact })
    }

    /// Middle of the hand with which the tips stop together on these faces. [m] (3)
    fn settle(&self, stopped: &[Stopped<'_>; 3], place: Place) -> Result<Vector3, Fault> {
        // Each tip stays on its plane: `n·(shift − d (t − tᵢ)) = 0`, for the shift of the middle in the horizontal plane and the common distance t.
        let row = |k: usize| {
            let (n, d) = (stopped[k].face.normal, self.closing[k]);
            (Vector3::new(n.y, n.z, -n.dot(&d)), -n.dot(&d) * stopped[k].distance)
        };
        let [a, b, c] = [0, 1, 2].map(row);
        let mut middle = place.middle;
        match place.spread {
            Spread::Between(_) | Spread::Even => {
                let rows = Matrix3::from_rows(&[a.0.transpose(), b.0.transpose(), c.0.transpose()]);
                let right = Vector3::new(a.1, b.1, c.1);
                let inverse = rows.try_inverse().ok_or(Fault::Uneven)?;
                let solved = inverse * right;
                (middle.y, middle.z) = (middle.y + solved.x, middle.z + solved.y);
            }
            Spread::Closed => {
                // Beside the middle as before; the two fingers as one.
                let both = ((b.0 + c.0) * 0.5, 0.5 * (b.1 + c.1));
                let determinant = a.0.x * both.0.z - both.0.x * a.0.z;
                if determinant.abs() < 1e-9 {
                    return Err(Fault::Uneven);
                }
                middle.y += (a.1 * both.0.z - both.1 * a.0.z) / determinant;
            }
        }
        Ok(middle)
    }

    /// Largest angle of a closing direction against the inward normal of a face that is near the tip, but of those that stand for one round side with the
    /// face that it meets: they differ by less than `facet` from it. [rad]
    fn lean(&self, seen: &Seen, stopped: &[Stopped<'_>; 3], facet: f64) -> f64 {
        let mut lean: f64 = 0.0;
        for (tip, closing) in stopped.iter().zip(&self.closing) {
            let is_apart = |face: &HullFace| face.normal.dot(&tip.face.normal) < facet.cos();
            let near = |face: &&HullFace| {
                let touches = |(p, q): (&Vector3, &Vector3)| {
                    (on_edge(&tip.contact, p, q) - tip.contact).norm() < MARGIN
                };
                core::ptr::eq(*face, tip.face)
                    || ((facet <= 0.0 || is_apart(face)) && edges(&face.corners).any(touches))
            };
            for face in seen.faces.iter().filter(near) {
                let cos = -face.normal.dot(closing);
                lean = lean.max(cos.clamp(-1.0, 1.0).acos());
            }
        }
        lean
    }

    /// Whether the object reaches further than a distance from the middle, against a closing direction, above the tips. [m]
    fn bulges(&self, seen: &Seen, middle: &Vector3, most: f64) -> bool {
        let above = [f64::NEG_INFINITY, middle.x];
        let parts = seen.faces.iter().flat_map(|face| between(&face.corners, &Vector3::x(), above));
        let mut corners = parts.map(|corner| corner - middle);
        corners.any(|corner| self.closing.iter().any(|closing| -corner.dot(closing) > most))
    }
}

#[cfg(test)]
mod tests {
    use core::f64::consts::TAU;

    use approx::assert_relative_eq;
    use karakuri_spatial::Vector3;

    use super::*;
    use crate::hand::revolved::{self, as_hull};
    use crate::hand::tips;
    use crate::hand::tips::tests::{goal, hand};
    use crate::pick_and_place::PickAndPlaceSettings;
    use crate::pick_and_place::types::{ObjectShape, PickAndPlaceGoal, Profile};

    fn prism(sides: u32, radius: f64, height: f64) -> Vec<Vector3> {
        let ring = |z: f64| {
            (0..sides).map(move |i| {
                let (sin, cos) = (TAU * f64::from(i) / f64::from(sides)).sin_cos();
                Vector3::new(radius * cos, radius * sin, z)
            })
        };
        ring(0.0).chain(ring(height)).collect()
    }

    fn holds(points: &[Vector3]) -> Result<Vec<Hold>, PlanError> {
        let hull = Hull::around(points).unwrap();
        Task { hand: &hand(), hull: &hull, payload: &payload(), allowed: 25.0, facet: 0.0 }.holds()
    }

    fn payload() -> Payload {
        let PickAndPlaceSettings { slip_safety: safety, gravity, .. } =
            PickAndPlaceSettings::default();
        Payload { mass: 0.2, friction: 0.5, safety, gravity }
    }

    fn strength(hold: &Hold) -> f64 {
        hold.contact.at_rest(&payload())
    }

    /// The corners of a box, and the same object as a box: the same ways, as strongly.
    #[test]
    fn a_hull_of_a_box_is_held_as_the_box() {
        let size = [0.06, 0.05, 0.04];
        let corner = |i: u8| {
            let side = |axis: u8| f64::from((i >> axis) & 1) * size[usize::from(axis)];
            Vector3::new(side(0), side(1), side(2))
        };
        let as_hull = holds(&(0..8).map(corner).collect::<Vec<_>>()).unwrap();
        let goal = PickAndPlaceGoal { mass: 0.2, ..goal(ObjectShape::Box, Profile::Box, size) };
        let as_box = tips::holds(&hand(), &goal, &PickAndPlaceSettings::default()).unwrap();
        assert!(as_box.len() >= 4);
        for known in &as_box {
            let is_same = |hold: &&Hold| {
                let turn = (hold.turn - known.turn) / TAU;
                let spread = |hold: &Hold| hold.contact.fit().unwrap().spread;
                (turn - turn.round()).abs() < 1e-9
                    && spread(hold) == spread(known)
                    && (hold.raise - known.raise).abs() < 1e-12
            };
            let same = as_hull.iter().find(is_same).unwrap();
            assert_relative_eq!(strength(same), strength(known), max_relative = 1e-9);
            assert_relative_eq!(
                same.contact.fit().unwrap().width,
                known.width,
                max_relative = 1e-9
            );
            assert!((same.middle - known.middle).norm() < 1e-12, "{:?}", same.middle);
            assert!(
                (same.depth - known.depth).abs() < 1e-12
                    && (same.aside - known.aside).abs() < 1e-12
            );
        }
    }

    /// Three fingers, spread, centre themselves on what has three equal sides.
    #[test]
    fn a_prism_of_three_sides_is_held_about_its_axis() {
        for (sides, radius) in [(3, 0.04), (6, 0.025)] {
            let found = holds(&prism(sides, radius, 0.05)).unwrap();
            let spread: Vec<_> = found
                .iter()
                .filter(|hold| hold.contact.fit().unwrap().spread == Some(Spread::Even))
                .collect();
            assert!(!spread.is_empty(), "{sides} sides: {found:?}");
            let hull = Hull::around(&prism(sides, radius, 0.05)).unwrap();
            for hold in spread {
                // The axis of the prism from the middle of its box, and the ball that is in it.
                let off = hold.middle - hull.com().xy().push(0.0);
                assert!(off.norm() < 1e-9, "{sides} sides: {off:?}");
                let ball = 2.0 * radius * (0.5 * TAU / f64::from(sides)).cos();
                assert_relative_eq!(hold.width, ball, max_relative = 1e-9);
            }
        }
    }

    /// Two fingers 41.6 mm beside each other pass a bar that is narrower, or meet its edges.
    #[test]
    fn fingers_beside_a_face_do_not_touch_it() {
        for width in [0.024, 0.032, 0.040, 0.046, 0.0477] {
            let corner = |i: u8| {
                let bit = |axis: u8| f64::from((i >> axis) & 1);
                Vector3::new(width * bit(0), width * bit(1), 0.06 * bit(2))
            };
            let found = holds(&(0..8).map(corner).collect::<Vec<_>>());
            assert_eq!(found.is_ok(), width > 0.0476, "{width} m: {found:?}");
        }
    }

    /// What lies and is shorter than the fingers' distance: a capsule by its round ends, a puck by its flat ones.
    #[test]
    fn what_lies_and_is_short_is_held_by_its_ends() {
        for (size, straight) in [
            ([0.068, 0.032, 0.032], 0.036),
            ([0.06, 0.04, 0.04], 0.02),
            ([0.03, 0.052, 0.052], 0.03),
        ] {
            let lies = goal(ObjectShape::Capsule, Profile::Lying { straight }, size);
            assert!(tips::holds(&hand(), &lies, &PickAndPlaceSettings::default()).is_err());
            let (hull, facet) = (as_hull(&lies).unwrap(), revolved::facet(&lies.profile));
            let payload = Payload { mass: 0.05, friction: 0.6, ..payload() };
            let task = Task { hand: &hand(), hull: &hull, payload: &payload, allowed: 25.0, facet };
            let found = task.holds();
            assert!(found.is_ok(), "{straight} m: {:?}", found.err());
            for hold in found.unwrap() {
                // Across its middle, as it is the same at both ends.
                assert!(hold.middle.x.hypot(hold.middle.y) < 0.005, "{straight}: {}", hold.middle);
            }
        }
    }

    #[test]
    fn what_three_tips_do_not_hold_is_refused_for_its_cause() {
        let cone: Vec<_> =
            prism(12, 0.04, 0.0).into_iter().take(12).chain([Vector3::z() * 0.06]).collect();
        for (points, words) in [
            (prism(6, 0.08, 0.05), "mm wide between the tips"),
            (cone, "degrees off square to the tip's direction"),
        ] {
            let refused = holds(&points).unwrap_err().to_string();
            assert!(refused.contains(words), "{refused}");
        }
    }
}
