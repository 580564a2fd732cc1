//! Opposite sides of a convex object between two pads.
//!
//! Pads close along the tool's y on what of the object is above their lower ends: on a face, along an edge, or, where the object is wider below, along their own lower
//! ends on a face that looks up. Two such contacts that overlap, seen along the closing direction, hold where that direction is inside the cone of friction
//! of both [Nguyen 1988]; its larger angle against a side's normal counts as the lean of a pair of fingers: `docs/theory/grasping.md`.
//!
//! Pads of fingers that lean by γ stop at what comes furthest along `(−tan γ, ±1, 0)`, across their faces: of an upright side at its upper edge. There the closing
//! direction is γ off their normal, which is the lean of the pair at least.
//!
//! Units: m, rad, N, kg; tool axes from the middle of the object's box, the tool looking down.

use karakuri_collision::HullFace;
use karakuri_spatial::{Matrix3, Motion, Pose, Vector3};

use super::hold::{Stop, looking_down};
use super::pads::{CLEARANCE, Pads, TIP_CLEARANCE, UNIT};
use super::payload::{COM_TOLERANCE, Payload, ToolMotion, too_heavy};
use super::polygon::{Patches, between, clip, edges};
use super::springs::Held;
use super::stated::Part;
use crate::EndEffector;
use crate::end_effector::Reach;
use crate::hull::Hull;
use crate::pick_and_place::PlanError;
use crate::pick_and_place::types::Grasp;
use crate::slip::Patch;

/// Distance from a pad's plane within which a side touches it. [m]
// What soft pads yield by: faces that are off by a degree touch along 6 mm.
const YIELD: f64 = 1e-4;
/// The same of what resists turning. [m]
// As rigid pads: near a blunt corner much is within what soft pads yield by, and in the physics, whose pads are rigid, stones turned about such corners.
const FIRM: f64 = 1e-5;
/// Height over which the slope of a side is measured where a pad's lower end touches it. [m]
const SLOPE: f64 = 1e-3;
/// Slope of a side above which the object pitches about an end of the line on which a pad's lower end touches it: there the side goes away from the
/// pad. [-]
// In the physics pyramids of 4.8 and 5.5 degrees are held, and one of 14.5 is not.
const PITCH: f64 = 0.1;
/// Effective radius of a contact below which the object turns about it: that of a line of 8 mm. [m]
// In the physics, whose pads are rigid, a stone on spots of 1.5 mm turned out of them.
const LEAST_RADIUS: f64 = 2e-3;
/// Part of an object that pads cover at least, from its top. [m]
pub(super) const LEAST_COVER: f64 = 0.008;
/// Angle between two closing directions below which the second one is left out. [rad]
const APART: f64 = 0.05;
/// Most closing directions that are tried, those across the largest faces.
const DIRECTIONS: usize = 48;
/// Sine of the angle between a face's normal and the vertical below which it is no side. [-]
const LEVEL: f64 = 0.2;
/// Times that the place of the pads and the width between them are found by each other: a linkage moves its pads by a tenth of the opening.
const SETTLING: usize = 4;
/// Most ways to hold an object.
const WAYS: usize = 12;
/// Acceleration along the pads, in gravities, at which ways are compared: lever arms count. [-]
const COMPARED: f64 = 0.3;

/// Where pads close on an object.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// Yaw of the tool against the object. [rad]
    turn: f64,
    /// Height of the pads' middle above that of the object's box. [m]
    raise: f64,
    /// Place of the pads' middle along the tool's z; `None`: where it is best. [m]
    beside: Option<f64>,
}

/// Pads about a convex object.
#[derive(Debug, Clone, Copy)]
pub(super) struct Grip {
    pub(super) turn: f64,
    pub(super) pads: Pads,
    /// Middle of the pads beside the object's vertical axis, in the object's frame. [m] (3)
    pub(super) middle: Vector3,
}

/// Cause for which pads do not hold an object. Later ones come nearer to a grip.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Fault {
    /// Nothing of it is between the pads.
    Misses,
    /// It is wider above the pads than between them.
    Bulges,
    /// Width of it that does not go between the fingers. [m]
    Wide(f64),
    /// Distance of its two sides beside each other, seen along the closing direction. [m]
    Apart(f64),
    /// It touches at points.
    Turns,
    /// Angle of the closing direction against a side's normal. [rad]
    Leans(f64),
    /// Angle by which both sides look up where the lower ends of the pads touch them. [rad]
    Pitches(f64),
    /// Force of a finger that it needs. [N]
    Heavy(f64),
}

impl Fault {
    /// How near it comes to a grip: first by its kind, then less is nearer.
    fn rank(self) -> [f64; 2] {
        match self {
            Self::Misses => [0.0, 0.0],
            Self::Bulges => [1.0, 0.0],
            Self::Wide(width) => [2.0, -width],
            Self::Apart(distance) => [3.0, -distance],
            Self::Turns => [4.0, 0.0],
            Self::Leans(angle) => [5.0, -angle],
            Self::Pitches(angle) => [6.0, -angle],
            Self::Heavy(needed) => [7.0, -needed],
        }
    }

    fn is_nearer_than(self, other: Self) -> bool {
        self.rank() > other.rank()
    }
}

/// A hand with level pads, and what it is to hold.
#[derive(Clone, Copy)]
pub(super) struct Task<'a> {
    pub(super) hand: &'a dyn EndEffector,
    pub(super) hull: &'a Hull,
    pub(super) payload: &'a Payload,
    /// Largest force of a finger that is allowed. [N]
    pub(super) allowed: f64,
}

impl Task<'_> {
    /// Ways to hold the object, those that need the least force first.
    pub(super) fn grips(&self) -> Result<Vec<Grip>, PlanError> {
        let mut found: Vec<(f64, Grip)> = Vec::new();
        let mut fault = Fault::Misses;
        for closing in directions(self.hull) {
            match self.best_across(closing) {
                Ok(grip) => found.push(grip),
                Err(why) if why.is_nearer_than(fault) => fault = why,
                Err(_) => {}
            }
        }
        if found.is_empty() {
            return Err(self.refusal(fault));
        }
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
        Ok(found.into_iter().take(WAYS).map(|(_, grip)| grip).collect())
    }

    /// Pads where a goal's grasp has the tool, in the middle between the sides.
    pub(super) fn given(&self, grasp: &Grasp) -> Result<Grip, PlanError> {
        let (hand, turn) = (self.hand, grasp.turn);
        let (sin, cos) = turn.sin_cos();
        let beside = grasp.position.dot(&Vector3::new(cos, sin, 0.0));
        // Where the pads are on the tool depends on the opening, and what is between them on where they are.
        let mut width = hand.opening_range().1;
        let mut raise = 0.0;
        let seen = Seen::of(self.hull, turn);
        for _ in 0..SETTLING {
            raise = grasp.position.z - hand.tool_depth(hand.position(width));
            let squeeze = self.squeeze(&seen, Place { turn, raise, beside: Some(beside) });
            width = squeeze.map_err(|fault| self.refusal(fault))?.width;
        }
        Part {
            name: "pads",
            below: 0.5 * hand.pad_depth(),
            room: hand.headroom(hand.position(width)),
        }
        .check(raise, self.hull.size().z)?;
        let grip = self.grip(Place { turn, raise, beside: Some(beside) });
        Ok(grip.map_err(|fault| self.refusal(fault))?.1)
    }

    /// The best of some heights of the pads that close along a direction (3), and the force by which it compares. [N]
    fn best_across(&self, closing: Vector3) -> Result<(f64, Grip), Fault> {
        let turn = (-closing.x).atan2(closing.y);
        let mut best = Err(Fault::Misses);
        for raise in self.heights(turn) {
            let found = self.grip(Place { turn, raise, beside: None });
            best = match (best, found) {
                (Ok(a), Ok(b)) => Ok(if b.0 < a.0 { b } else { a }),
                (Err(a), Err(b)) => Err(if b.is_nearer_than(a) { b } else { a }),
                (Ok(found), Err(_)) | (Err(_), Ok(found)) => Ok(found),
            };
        }
        best
    }

    /// Heights of the pads' middle above that of the box: level with the centre of mass, with their lower ends there, and with their upper ends at the
    /// top; all higher if the fingertips would touch the ground, or the object the palm. [m]
    fn heights(&self, turn: f64) -> [f64; 3] {
        let (half, depth) = (0.5 * self.hull.size().z, self.hand.pad_depth());
        let seen = Seen::of(self.hull, turn);
        let width = seen.width();
        let ground = 0.5 * depth + TIP_CLEARANCE - half;
        let least = ground.max(half - self.hand.headroom(self.hand.position(width)));
        let most = (half + 0.5 * depth - LEAST_COVER).max(least);
        let com = self.hull.com().z;
        [com, com + 0.5 * depth, half - 0.5 * depth].map(|raise| raise.clamp(least, most))
    }

    /// What the pads touch at a place, as far open as that has them.
    fn squeeze(&self, seen: &Seen, place: Place) -> Result<Squeeze, Fault> {
        let hand = self.hand;
        let size = [hand.pad_depth(), hand.pad_width()];
        let lean = |width: f64| hand.lean(hand.position(width));
        let first = lean(seen.width());
        let mut squeeze = seen.squeeze(size, place, first)?;
        // What fingers touch that lean depends on how far they are open.
        let rounds = if first.abs() > 0.0 { SETTLING } else { 0 };
        for _ in 0..rounds {
            squeeze = seen.squeeze(size, place, lean(squeeze.width))?;
        }
        Ok(squeeze)
    }

    fn grip(&self, place: Place) -> Result<(f64, Grip), Fault> {
        let Task { hand, hull, payload, allowed } = *self;
        let Place { turn, raise, .. } = place;
        let seen = Seen::of(hull, turn);
        let squeeze = self.squeeze(&seen, place)?;
        let Squeeze { width, center, radius, lean, strip, .. } = squeeze;
        // The width is that between the middles of the pads, whatever of the object is between them.
        let reach = Reach { inward: 0.0, outward: 0.0 };
        let widest = hand.opening_range().1;
        // Half of the clearance on each side is the least; the hand opens for all of it where it can.
        if hand.opening_about(width + CLEARANCE, reach) > widest {
            return Err(Fault::Wide(width));
        }
        if lean > payload.largest_lean() {
            return Err(Fault::Leans(lean));
        }
        if let Strip::Both { slope } = strip {
            return Err(Fault::Pitches(slope));
        }
        if radius < LEAST_RADIUS {
            return Err(Fault::Turns);
        }
        // It hangs on an end of the one strip.
        let off = if let Strip::One { half } = strip { half } else { 0.0 };
        let opening = hand.opening_about(width, reach);
        let depth = hand.tool_depth(hand.position(opening));
        // The middle of the object's box, seen from the tool.
        let middle = Vector3::new(depth + raise, -squeeze.aside, -squeeze.beside);
        let pads = Pads {
            width,
            raise,
            depth,
            stop: Stop::Pads(reach),
            open: hand.opening_about(width + 2.0 * CLEARANCE, reach).min(widest),
            opening,
            lean,
            patch: Patch {
                radius,
                offset: Vector3::new(seen.com.x - center.x, 0.0, seen.com.z - center.z),
                uncertainty: COM_TOLERANCE + off,
                width,
            },
            held: Held::solid(middle + seen.com, seen.gyration),
            is_low: false,
            turns: false,
        };
        let needed = pads.at_rest(payload);
        if needed > allowed || allowed > hand.force_max() {
            return Err(Fault::Heavy(needed));
        }
        let (sin, cos) = turn.sin_cos();
        let middle = Vector3::new(-sin, cos, 0.0) * squeeze.aside
            + Vector3::new(cos, sin, 0.0) * squeeze.beside;
        Ok((compared(&pads, payload), Grip { turn, pads, middle }))
    }

    fn refusal(&self, fault: Fault) -> PlanError {
        let payload = self.payload;
        let why = match fault {
            Fault::Misses => format!(
                "nothing of it is between pads that end {TIP_CLEARANCE} m above its support; use a hand of suction cups"
            ),
            Fault::Bulges => {
                "it is wider above the pads than between them; turn it over".to_owned()
            }
            Fault::Wide(width) => format!(
                "it is {:.1} mm wide where it is narrow, and the hand opens to {:.1} mm with its clearance",
                1e3 * width,
                1e3 * (self.hand.opening_range().1 - CLEARANCE)
            ),
            Fault::Apart(distance) => format!(
                "its two sides are {:.1} mm beside each other, seen along the closing direction; turn it over",
                1e3 * distance
            ),
            Fault::Turns => {
                "two opposite sides of it touch the pads at points, about which it would turn"
                    .to_owned()
            }
            Fault::Leans(angle) => format!(
                "no two opposite sides of it are steep enough: they look up by {:.1} degrees where the pads touch them, and friction {} holds up to {:.1}; turn it over, or use pads with more friction",
                angle.to_degrees(),
                payload.friction,
                payload.largest_lean().to_degrees()
            ),
            Fault::Pitches(angle) => format!(
                "both pads touch sides that look up by {:.1} degrees with their lower ends, at most {:.1}, and it would pitch about them; turn it over",
                angle.to_degrees(),
                PITCH.atan().to_degrees()
            ),
            Fault::Heavy(needed) => {
                return too_heavy(payload, needed, [self.allowed, self.hand.force_max()], UNIT);
            }
        };
        PlanError::NoGrip { why }
    }
}

/// Force of a finger that moves the object along the pads. [N]
fn compared(pads: &Pads, payload: &Payload) -> f64 {
    let R_WT = Matrix3::from_columns(&[-Vector3::z(), Vector3::y(), Vector3::x()]);
    let X_WT = Pose::new(R_WT, Vector3::zeros());
    let A = Motion::new(Vector3::zeros(), Vector3::x() * (COMPARED * payload.gravity));
    let motion = ToolMotion { X_WT: &X_WT, V: &Motion::default(), A: &A };
    pads.load(payload, 1.0, &motion)
}

/// Closing directions in the object's frame: across faces that are sides, larger ones first, and across horizontal edges between a face that looks up
/// and one that looks down. (3 each)
pub(super) fn directions(hull: &Hull) -> Vec<Vector3> {
    let mut faces: Vec<(f64, Vector3)> = Vec::new();
    let mut rims: Vec<(f64, Vector3)> = Vec::new();
    for HullFace { normal, corners } in hull.faces() {
        let level = Vector3::new(normal.x, normal.y, 0.0);
        if level.norm() > LEVEL {
            let fan = corners.windows(2).map(|pair| pair[0].cross(&pair[1]));
            let area: Vector3 =
                fan.chain(corners.last().zip(corners.first()).map(|(p, q)| p.cross(q))).sum();
            faces.push((area.norm(), level.normalize()));
        }
        for (p, q) in edges(corners) {
            // A shorter one does not keep the object from turning.
            if (q - p).norm() < 4.0 * LEAST_RADIUS {
                continue;
            }
            let across = Vector3::new(q.y - p.y, p.x - q.x, 0.0);
            let Some(across) = across.try_normalize(1e-6) else { continue };
            let level = hull.reach(&across) - YIELD;
            if p.dot(&across) > level && q.dot(&across) > level {
                rims.push(((q - p).norm(), across));
            }
        }
    }
    faces.sort_by(|a, b| b.0.total_cmp(&a.0));
    rims.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut apart: Vec<Vector3> = Vec::new();
    for (_, direction) in faces.into_iter().chain(rims) {
        // From either side: the hand may be turned by half a turn.
        for closing in [direction, -direction] {
            if apart.len() < DIRECTIONS
                && apart.iter().all(|other| other.dot(&closing) < APART.cos())
            {
                apart.push(closing);
            }
        }
    }
    apart
}

/// All of an object along the tool's x. [m]
const ALL: [f64; 2] = [f64::NEG_INFINITY, f64::INFINITY];

/// A convex object along the tool's axes.
pub(super) struct Seen {
    pub(super) faces: Vec<HullFace>,
    /// Centre of mass. [m] (3)
    pub(super) com: Vector3,
    /// Inertia about it of a kilogram. [m²] (3×3)
    pub(super) gyration: Matrix3,
}

/// Side of an object that a pad touches.
struct Side {
    /// Distance of the pad's face from the middle. [m]
    reach: f64,
    touches: Patches,
    /// Part of it that resists turning.
    firm: Patches,
    /// Angle by which it looks up, against the pad, where the pad's lower end touches it. [rad]
    slope: f64,
}

impl Side {
    /// Whether the object pitches about an end of what the pad bears on.
    fn pitches(&self) -> bool {
        self.slope.tan() > PITCH
    }
}

/// Sides that pads touch along strips only.
#[derive(Debug, Clone, Copy)]
enum Strip {
    Neither,
    /// Half the length of the strip. [m]
    One {
        half: f64,
    },
    /// The lesser slope of the two. [rad]
    Both {
        slope: f64,
    },
}

/// Two sides between pads.
struct Squeeze {
    /// Distance of the pads' faces. [m]
    width: f64,
    /// Middle between them along y. [m]
    aside: f64,
    /// Middle of the pads along z. [m]
    beside: f64,
    /// Middle of the contact. [m] (3)
    center: Vector3,
    /// Effective radius of the contact. [m]
    radius: f64,
    /// Largest angle of the closing direction against a side's normal. [rad]
    lean: f64,
    strip: Strip,
}

impl Seen {
    pub(super) fn of(hull: &Hull, turn: f64) -> Self {
        let R_TO = looking_down(turn).transpose();
        let faces = hull.faces().iter().map(|face| HullFace {
            normal: R_TO * face.normal,
            corners: face.corners.iter().map(|corner| R_TO * corner).collect(),
        });
        let gyration = R_TO * hull.unit_inertia() * R_TO.transpose();
        Self { faces: faces.collect(), com: R_TO * hull.com(), gyration }
    }

    /// Its width along y. [m]
    pub(super) fn width(&self) -> f64 {
        self.reach(&Vector3::y(), ALL) + self.reach(&-Vector3::y(), ALL)
    }

    /// Reach along a direction (3) of what is between two places along x; −∞ where nothing is. [m]
    fn reach(&self, outward: &Vector3, x: [f64; 2]) -> f64 {
        let parts = self.faces.iter().flat_map(|face| between(&face.corners, &Vector3::x(), x));
        parts.map(|p| p.dot(outward)).fold(f64::NEG_INFINITY, f64::max)
    }

    /// Side that a pad touches which covers a range along x [m]; outwards across its face, by 1 along y, is `outward`. [-] (3)
    fn side(&self, outward: &Vector3, x: [f64; 2]) -> Result<Side, Fault> {
        let [top, low] = x;
        let reach = self.reach(outward, x);
        if reach.is_infinite() {
            return Err(Fault::Misses);
        }
        if self.reach(outward, [f64::NEG_INFINITY, top]) > reach + YIELD {
            return Err(Fault::Bulges);
        }
        let fronts: Vec<_> =
            self.faces.iter().filter(|face| face.normal.dot(outward) > 0.0).collect();
        let within = |depth: f64| {
            let parts = fronts.iter().map(|face| {
                let part =
                    clip(&between(&face.corners, &Vector3::x(), x), &-outward, depth - reach);
                part.into_iter().map(|p| Vector3::new(p.x, 0.0, p.z)).collect::<Vec<_>>()
            });
            Patches(parts.filter(|part| !part.is_empty()).collect())
        };
        // What is wider below is touched by the pad's lower end.
        let slope = if self.reach(outward, ALL) > reach + YIELD {
            let above = self.reach(outward, [f64::NEG_INFINITY, low - SLOPE]);
            (reach - above).atan2(SLOPE)
        } else {
            0.0
        };
        Ok(Side { reach, touches: within(YIELD), firm: within(FIRM), slope })
    }

    /// Sides between pads of a depth and a width [m] (2), whose faces lean. [rad]
    fn squeeze(&self, [depth, width]: [f64; 2], place: Place, lean: f64) -> Result<Squeeze, Fault> {
        let (sin, cos) = lean.sin_cos();
        let tan = sin / cos;
        let x = [-0.5, 0.5].map(|share| share * depth * cos - place.raise);
        let outward = [1.0, -1.0].map(|side| Vector3::new(-tan, side, 0.0));
        let sides = [self.side(&outward[0], x)?, self.side(&outward[1], x)?];
        let z = Vector3::z();
        let [[a, b], [c, d]] = [&sides[0], &sides[1]].map(|side| side.touches.range(&z));
        let (from, to) = (a.max(c), b.min(d));
        // Level with the centre of mass, where the pads have room for all of their width there.
        let inset = (0.5 * width).min(0.5 * (to - from).abs());
        let best = if from < to {
            self.com.z.max(from + inset).min(to - inset)
        } else {
            0.5 * (from + to)
        };
        let beside = place.beside.unwrap_or(best);
        let strip = [-0.5, 0.5].map(|share| share * width + beside);
        let [front, back] = sides.each_ref().map(|side| side.touches.between(&z, strip));
        let firm = sides.each_ref().map(|side| side.firm.between(&z, strip));
        let common = firm[0].common(&firm[1]).disc().or_else(|| front.common(&back).disc());
        let Some((center, _)) = common else {
            let pair =
                front.nearest(&back).filter(|_| front.disc().is_some() && back.disc().is_some());
            let [p, q] = pair.ok_or(Fault::Misses)?;
            return Err(Fault::Apart((p - q).norm()));
        };
        // A side that the object pitches about does not resist turning.
        let bears = sides.iter().zip(&firm).filter(|(side, _)| !side.pitches());
        let radius = 0.5 * bears.map(|(_, firm)| firm.radius_about(&center)).sum::<f64>();
        let [front, back] = sides;
        // A side that looks up by more than a pad leans is touched by the pad's lower end, across its own normal.
        let against = |side: &Side| (side.slope.tan() + tan).atan();
        let is_level = lean.abs() <= 0.0;
        let lean_of_pair = if is_level {
            front.slope.max(back.slope)
        } else {
            against(&front).max(against(&back)).max(lean.abs())
        };
        let strip = match [&front, &back].map(Side::pitches) {
            [true, true] => Strip::Both { slope: front.slope.min(back.slope) },
            [false, false] => Strip::Neither,
            _ => Strip::One { half: 0.5 * width.min((to - from).abs()) },
        };
        Ok(Squeeze {
            width: front.reach + back.reach - 2.0 * tan * place.raise,
            aside: 0.5 * (front.reach - back.reach),
            beside,
            center,
            radius,
            lean: lean_of_pair,
            strip,
        })
    }
}

#[cfg(test)]
mod tests {
    use core::f64::consts::{FRAC_PI_3, FRAC_PI_4, TAU};

    use approx::assert_relative_eq;
    use karakuri_model::{BodyId, EndEffector as Config, FrameId};

    use super::*;
    use crate::end_effector::{KINDS, LEAN_SHARE};
    use crate::slip::{effective_radius, required_force};

    const FRICTION: f64 = 0.5;
    /// Pads of the hand. [m]
    const PADS: [f64; 2] = [0.02, 0.02];

    fn hand() -> Box<dyn EndEffector> {
        hand_of("parallel_slide")
    }

    fn hand_of(name: &str) -> Box<dyn EndEffector> {
        let kind = KINDS.iter().find(|kind| kind.name == name).unwrap();
        (kind.make)(&Config {
            kind: kind.name.to_owned(),
            tool_frame: FrameId(0),
            joints: vec![BodyId(0)],
            sensors: Vec::new(),
            parameters: kind.example.iter().map(|(n, v)| ((*n).to_owned(), *v)).collect(),
        })
        .unwrap()
    }

    fn grips(points: &[Vector3], friction: f64, mass: f64) -> Result<Vec<Grip>, PlanError> {
        let hull = Hull::around(points).unwrap();
        let payload = Payload { mass, friction, safety: 1.0, gravity: 9.81 };
        Task { hand: hand().as_ref(), hull: &hull, payload: &payload, allowed: 70.0 }.grips()
    }

    fn tapered(sides: u32, [base, top]: [f64; 2], height: f64) -> Vec<Vector3> {
        let ring = |radius: f64, z: f64| {
            (0..sides).map(move |i| {
                let (sin, cos) = (TAU * f64::from(i) / f64::from(sides)).sin_cos();
                Vector3::new(radius * cos, radius * sin, z)
            })
        };
        ring(base, 0.0).chain(ring(top, height)).collect()
    }

    /// A section in the plane of y and z, drawn out along x. [m]
    fn bar(section: &[[f64; 2]], [from, to]: [f64; 2]) -> Vec<Vector3> {
        section.iter().flat_map(|[y, z]| [from, to].map(|x| Vector3::new(x, *y, *z))).collect()
    }

    #[test]
    fn a_prism_is_held_across_its_faces() {
        let found = grips(&tapered(6, [0.03; 2], 0.05), FRICTION, 0.2).unwrap();
        assert_eq!(found.len(), 6, "{found:?}");
        let radius = effective_radius(PADS[0], PADS[1]);
        for Grip { turn, pads, middle } in found {
            assert_relative_eq!(pads.width, 0.03 * 3.0_f64.sqrt(), max_relative = 1e-12);
            assert_relative_eq!(pads.patch.radius, radius, max_relative = 1e-9);
            // Across a face, half way between two corners.
            let sixth = (turn / FRAC_PI_3).rem_euclid(1.0);
            assert!(sixth.min(1.0 - sixth) < 1e-9, "{turn} rad");
            assert!(pads.lean.abs() + pads.lever().abs() + middle.norm() < 1e-12, "{pads:?}");
            assert!(pads.patch.offset.norm() < 1e-12);
        }
    }

    /// `2 H tan(φ − γ)` for a side that faces up by γ: (1) of the theory. Between 0.8 φ and φ nothing is left to carry with.
    #[test]
    fn a_pyramid_leans_by_the_slope_of_its_sides() {
        let (base, top, height) = (0.04, 0.034, 0.05_f64);
        let slope = (FRAC_PI_4.cos() * (base - top) / height).atan();
        let found = grips(&tapered(4, [base, top], height), FRICTION, 0.2).unwrap();
        assert_eq!(found.len(), 4, "{found:?}");
        for Grip { pads, .. } in found {
            assert_relative_eq!(pads.lean, slope, max_relative = 1e-9);
            // The lower ends of the pads touch it.
            let low = pads.raise - 0.5 * PADS[0] + 0.5 * height;
            let width = 2.0 * FRAC_PI_4.cos() * (base - (base - top) * low / height);
            assert_relative_eq!(pads.width, width, max_relative = 1e-9);
            // Without an error of the centre of mass, the wedge law.
            let sure = Pads { patch: Patch { uncertainty: 0.0, ..pads.patch }, ..pads };
            let payload = Payload { mass: 0.2, friction: FRICTION, safety: 1.0, gravity: 9.81 };
            let known = 0.2 * 9.81 / (2.0 * (FRICTION.atan() - slope).tan());
            assert_relative_eq!(sure.at_rest(&payload), known, max_relative = 1e-6);
            // (13): the safety factor leaves enough for friction that is less by as much.
            let safe = Payload { safety: 1.5, ..payload };
            let known = 0.2 * 9.81 / (2.0 * ((FRICTION / 1.5).atan() - slope).tan());
            assert_relative_eq!(sure.at_rest(&safe), known, max_relative = 1e-6);
        }
        let least = (slope / LEAN_SHARE).tan();
        assert!(grips(&tapered(4, [base, top], height), 1.001 * least, 0.01).is_ok());
        let refused = grips(&tapered(4, [base, top], height), 0.999 * least, 0.01).unwrap_err();
        let text = format!("{:.1} degrees where the pads touch", slope.to_degrees());
        assert!(refused.to_string().contains(&text), "{refused}");
    }

    /// Sides that look up by more than pads yield to: the pads' lower ends are lines on them. With one such side the other one bears the turning.
    #[test]
    fn a_pad_s_lower_end_does_not_keep_a_side_from_pitching() {
        let refused = grips(&tapered(4, [0.04, 0.02], 0.05), FRICTION, 0.05).unwrap_err();
        assert!(refused.to_string().contains("look up by 15.8 degrees"), "{refused}");
        let section = [[0.0, 0.0], [0.04, 0.0], [0.026, 0.05], [0.0, 0.05]];
        let found = grips(&bar(&section, [0.0, 0.06]), FRICTION, 0.05).unwrap();
        let across = found.iter().filter(|grip| grip.pads.lean > 0.0);
        let pads: Vec<_> = across.map(|grip| grip.pads).collect();
        assert_eq!(pads.len(), 2, "{found:?}");
        for Pads { lean, patch, .. } in pads {
            assert_relative_eq!(lean, (0.014_f64 / 0.05).atan(), max_relative = 1e-9);
            assert_relative_eq!(patch.radius, 0.125 * PADS[1], max_relative = 1e-3);
            assert_relative_eq!(patch.uncertainty, COM_TOLERANCE + 0.5 * PADS[1]);
        }
    }

    /// A bar that leans over: one pad touches its upper edge, the other one its side with its lower end, 17 mm below.
    #[test]
    fn sides_beside_each_other_are_no_grip() {
        let section = [[0.0, 0.0], [0.03, 0.0], [0.032, 0.02], [0.002, 0.02]];
        let refused = grips(&bar(&section, [0.0, 0.09]), 2.0, 0.05).unwrap_err().to_string();
        assert!(refused.contains("mm beside each other"), "{refused}");
    }

    /// A bar that is held towards an end: the centre of mass is beside the pads, and twists them.
    #[test]
    fn a_lever_arm_needs_more_force() {
        let section = [[-0.01, 0.0], [0.01, 0.0], [0.01, 0.03], [-0.01, 0.03]];
        let hull = Hull::around(&bar(&section, [-0.06, 0.06])).unwrap();
        let payload = Payload { mass: 0.1, friction: FRICTION, safety: 1.0, gravity: 9.81 };
        let hand = hand();
        let task = Task { hand: hand.as_ref(), hull: &hull, payload: &payload, allowed: 70.0 };
        let radius = effective_radius(PADS[0], PADS[1]);
        for lever in [0.0, 0.02, -0.03] {
            let place = Place { turn: 0.0, raise: 0.0, beside: Some(lever) };
            let (_, Grip { pads, middle, .. }) = task.grip(place).unwrap();
            assert_relative_eq!(pads.lever(), -lever, epsilon = 1e-12);
            assert_relative_eq!(middle.x, lever, epsilon = 1e-12);
            let twist = (f64::abs(lever) + COM_TOLERANCE) / radius;
            let known = required_force(0.1, FRICTION, 1.0, 9.81) * twist.hypot(1.0);
            assert_relative_eq!(pads.at_rest(&payload), known, max_relative = 1e-9);
        }
    }

    /// The corners of a box between scissors: they stop as about the box, at its upper edges. Where these are not level, pads touch their ends alone.
    #[test]
    fn fingers_that_lean_stop_at_the_edges_of_upright_sides() {
        let hand = hand_of("scissor");
        let payload = Payload { mass: 0.1, friction: FRICTION, safety: 1.0, gravity: 9.81 };
        let section = [[-0.02, 0.0], [0.02, 0.0], [0.02, 0.03], [-0.02, 0.03]];
        let corners = bar(&section, [-0.04, 0.04]);
        let grips = |points: &[Vector3]| {
            let hull = Hull::around(points).unwrap();
            Task { hand: hand.as_ref(), hull: &hull, payload: &payload, allowed: 30.0 }.grips()
        };
        let found = grips(&corners).unwrap();
        let across: Vec<_> = found.iter().filter(|grip| grip.turn.sin().abs() < 1e-9).collect();
        assert_eq!(across.len(), 2, "{found:?}");
        for Grip { pads, middle, .. } in across {
            let reach = Reach { inward: 0.015 - pads.raise, outward: 0.015 + pads.raise };
            assert_relative_eq!(pads.opening, hand.opening_about(0.04, reach), max_relative = 1e-6);
            let lean = hand.lean(hand.position(pads.opening));
            assert!(lean > 0.1 && (pads.lean - lean).abs() < 1e-6, "{} and {lean} rad", pads.lean);
            assert_relative_eq!(pads.patch.radius, 0.25 * hand.pad_width(), max_relative = 1e-2);
            assert!(middle.norm() < 1e-9, "{middle}");
        }
        let tilt = Pose::from_axis_angle(&Vector3::y(), 0.06);
        let tilted: Vec<_> = corners.iter().map(|p| tilt.rotation * p).collect();
        let refused = grips(&tilted).unwrap_err().to_string();
        assert!(refused.contains("touch the pads at points"), "{refused}");
    }

    /// Two pyramids, base on base: the pads press on the edges between them, along the width of a pad.
    #[test]
    fn a_rim_is_held_along_its_edges() {
        let octahedron: Vec<_> =
            (0..3).flat_map(|k| [0.02, -0.02].map(|s| Vector3::ith(k, s))).collect();
        let found = grips(&octahedron, FRICTION, 0.05).unwrap();
        assert_eq!(found.len(), 4, "{found:?}");
        for Grip { pads, .. } in found {
            assert!(pads.lean.abs() < 1e-12 && pads.lever().abs() < 1e-12, "{pads:?}");
            assert_relative_eq!(pads.patch.radius, 0.25 * PADS[1], max_relative = 1e-3);
        }
    }

    #[test]
    fn what_is_not_held_is_refused_by_what_comes_nearest() {
        for (points, mass, words) in [
            (tapered(6, [0.06; 2], 0.05), 0.2, "it is 103.9 mm wide where it is narrow"),
            (tapered(6, [0.03; 2], 0.004), 0.2, "nothing of it is between pads"),
            (tapered(4, [0.04, 0.004], 0.03), 0.1, "no two opposite sides of it are steep enough"),
            (tapered(6, [0.03; 2], 0.05), 20.0, "raise max_grip_force or take less"),
        ] {
            let refused = grips(&points, FRICTION, mass).unwrap_err().to_string();
            assert!(refused.contains(words), "{refused}");
        }
    }
}
