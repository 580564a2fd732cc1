//! Tips of three fingers on an object: three points of contact with Coulomb friction.
//!
//! The hand squeezes with the forces `a_i F`: F is its strength, the thumb's force, and the three are in balance. What the object pulls with is
//! shared among the tips as among springs that are as stiff in all directions. A tip holds where its share `s_i` and its squeeze are together in the cone of
//! friction about the inward normal `n_i` of the object's side,
//!
//! `|a_i F + s_i|² ≤ (1 + μ²) ((a_i F + s_i)·n_i)²`,
//!
//! which for the strength is a quadratic equation. A side that faces up by γ (a cone with its point up, a ball above its equator) turns the normal: above
//! `γ = atan μ` no strength holds, and three tips bear along the tool `ΣH tan(φ − γ)`, `docs/theory/grasping.md` (1).
//!
//! Units: m, rad, N; tool axes, x towards the object and y along the opening.

use karakuri_spatial::{Force, Vector3, Vector6};

use super::hold::{Contact, Fit, Hold, Stop};
use super::pads::{CLEARANCE, Edge, TIP_CLEARANCE, UNIT, ways};
use super::payload::{Law, MOVABLE, Payload, ToolMotion, too_heavy};
use super::springs::{Held, Springs};
use crate::EndEffector;
use crate::end_effector::{Spread, ThreeFingers};
use crate::pick_and_place::PlanError;
use crate::pick_and_place::types::{PickAndPlaceGoal, PickAndPlaceSettings, Profile};
use crate::slip::{friction_for, traction};

/// Distance that a point of contact keeps from the end of a side: errors of the arm and of the object's pose. [m]
pub(super) const MARGIN: f64 = 0.003;

/// Tips of three fingers that hold an object.
#[derive(Debug, Clone)]
pub(crate) struct Tips {
    pub(super) fit: Fit,
    touches: [Touch; 3],
    /// Sum of the tips' horizontal forces over the strength. [-]
    sum: f64,
    /// Angle γ by which the object's side faces up where it is touched. [rad]
    lean: f64,
    springs: Springs,
    held: Held,
}

/// Place at which a tip touches an object, in the tool frame.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tip {
    /// Point of contact. [m] (3)
    pub(super) center: Vector3,
    /// Normal into the object. [-] (3)
    pub(super) normal: Vector3,
}

/// Contact of one tip.
#[derive(Debug, Clone, Copy)]
struct Touch {
    /// Force on the object at a strength of one. [-] (3)
    squeeze: Vector3,
    /// Normal into the object. [-] (3)
    normal: Vector3,
}

/// Where the tips touch an object.
#[derive(Debug, Clone, Copy)]
struct Place {
    spread: Spread,
    /// Height of the tips' middles above the object's centre. [m]
    raise: f64,
    /// Distance of the tips' middles from the object's axis, or its middle plane. [m]
    distance: f64,
    lean: f64,
}

impl Place {
    /// Place on an object that is held across one of its edges.
    fn of(hand: &ThreeFingers, goal: &PickAndPlaceGoal, edge: Edge) -> Result<Self, PlanError> {
        let (tip, height) = (hand.tip_radius(), goal.size.z);
        let radius = 0.5 * edge.of(&goal.size);
        // Level with the centre of mass, higher if the tips would touch the ground, or the object the palm or the fingers.
        let opening = 2.0 * radius + hand.nearer(spread_for(&goal.profile));
        let position = hand.position(opening);
        let above = match goal.profile {
            Profile::Box | Profile::Standing { .. } | Profile::Hull(_) => hand.headroom(position),
            // Only flat and upright sides are as far out at the top.
            Profile::Lying { .. } | Profile::Ball | Profile::Cone => hand.palm_height(position),
        };
        let least = [tip + TIP_CLEARANCE - 0.5 * height, 0.5 * height - above];
        let raise = least.into_iter().fold(-below(goal), f64::max);
        let round = |raise: f64| {
            let lean = (raise / (radius + tip)).clamp(-1.0, 1.0).asin();
            ((radius + tip) * lean.cos(), lean)
        };
        let spread = spread_for(&goal.profile);
        let (half, (distance, lean)) = match goal.profile {
            Profile::Box | Profile::Hull(_) => (0.5 * height, (radius + tip, 0.0)),
            Profile::Standing { straight, .. } => (0.5 * straight, (radius + tip, 0.0)),
            Profile::Lying { .. } | Profile::Ball => (radius + MARGIN, round(raise)),
            Profile::Cone => {
                let slope = (0.5 * goal.size.x).atan2(height);
                // The middle of a tip is its radius from the side.
                let there = 0.5 * goal.size.x * (0.5 - raise / height);
                (0.5 * height, (there + tip / slope.cos(), slope))
            }
        };
        if raise > half - MARGIN {
            return Err(PlanError::Range {
                what: "object_size, its height [m],",
                value: height,
                range: format!(
                    "greater: tips of {tip} m that end {TIP_CLEARANCE} m above its support do not touch its side"
                ),
            });
        }
        Ok(Self { spread, raise, distance, lean })
    }
}

/// How the fingers are spread about what an object offers.
fn spread_for(profile: &Profile) -> Spread {
    match profile {
        Profile::Box | Profile::Lying { .. } | Profile::Hull(_) => Spread::Closed,
        Profile::Standing { .. } | Profile::Ball | Profile::Cone => Spread::Even,
    }
}

/// Height of the middle of an object's box above its centre of mass. [m]
fn below(goal: &PickAndPlaceGoal) -> f64 {
    if goal.profile == Profile::Cone { 0.25 * goal.size.z } else { 0.0 }
}

/// Ways to hold the goal's object, which is no hull.
pub(super) fn holds(
    hand: &ThreeFingers,
    goal: &PickAndPlaceGoal,
    s: &PickAndPlaceSettings,
) -> Result<Vec<Hold>, PlanError> {
    let payload = Payload::of(goal, s);
    let mut refusal = None;
    let mut found = Vec::new();
    // What lies is not held by its ends.
    let lies = matches!(goal.profile, Profile::Lying { .. });
    for (turn, edge) in ways(&goal.profile).filter(|(_, edge)| !(lies && *edge == Edge::X)) {
        match way(hand, goal, &payload, turn, edge) {
            Ok(hold) => found.push(hold),
            Err(why) => _ = refusal.get_or_insert(why),
        }
    }
    refusal.filter(|_| found.is_empty()).map_or(Ok(found), Err)
}

fn way(
    hand: &ThreeFingers,
    goal: &PickAndPlaceGoal,
    payload: &Payload,
    turn: f64,
    edge: Edge,
) -> Result<Hold, PlanError> {
    let place = Place::of(hand, goal, edge)?;
    let Place { spread, raise, distance, lean } = place;
    let largest = payload.largest_lean();
    if lean > largest {
        return Err(PlanError::SlipsOff { lean, friction: payload.friction, largest });
    }
    let (width, other) = (edge.of(&goal.size), edge.other(&goal.size));
    let straight = if let Profile::Lying { straight } = goal.profile { straight } else { other };
    let least = hand.finger_distance() + 2.0 * MARGIN;
    if spread == Spread::Closed && straight < least {
        return Err(PlanError::Range {
            what: "object_size, its side that two fingers press on [m],",
            value: straight,
            range: format!("at least {least:.4}, for both"),
        });
    }
    let between = 2.0 * (distance - hand.tip_radius());
    let (opening, highest) = (between + hand.nearer(spread), hand.opening_range().1);
    // Half of the clearance on each side is the least; the hand opens for all of it where it can.
    if opening + CLEARANCE > highest {
        return Err(PlanError::Range {
            what: "object_size, its width between the tips [m],",
            value: (1e6 * between).round() / 1e6,
            range: format!(
                "below {:.4}, the hand's opening less clearance",
                highest - CLEARANCE - hand.nearer(spread)
            ),
        });
    }
    let position = hand.position(opening);
    let depth = hand.tool_depth(position);
    let fit = Fit {
        width: between,
        open: (opening + 2.0 * CLEARANCE).min(highest),
        opening,
        stop: Stop::Tips { nearer: hand.nearer(spread) },
        pushes_out: lean.abs() > 0.0,
        spread: Some(spread),
    };
    let aside = hand.middle(spread);
    let edges = Vector3::new(goal.size.z, width, other);
    let com = Vector3::new(depth + raise + below(goal), aside, 0.0);
    let tips = Tips::new(hand, &place, fit, depth, Held::new(com, &edges)).ok_or(
        // Three points apart hold in all directions.
        PlanError::Shape { hand: hand.kind(), taken: "what three tips apart can touch" },
    )?;
    let (needed, highest, given) = (tips.at_rest(payload), hand.force_max(), goal.max_grip_force);
    if given > highest || needed > given {
        return Err(too_heavy(payload, needed, [given, highest], UNIT));
    }
    Ok(Hold {
        turn,
        middle: Vector3::zeros(),
        width,
        raise,
        depth,
        aside,
        tip: hand.tip_radius() + 0.01,
        contact: Contact::Tips(tips),
    })
}

impl Tips {
    fn new(hand: &ThreeFingers, place: &Place, fit: Fit, depth: f64, held: Held) -> Option<Self> {
        let Place { spread, distance, lean, .. } = *place;
        let closing = ThreeFingers::closing(spread);
        let beside = hand.beside(spread);
        let tips = core::array::from_fn(|k| {
            let d = closing[k];
            let normal = d * lean.cos() + Vector3::x() * lean.sin();
            let middle = Vector3::new(depth, hand.middle(spread), 0.0) + beside[k];
            Tip { center: middle - d * distance + normal * hand.tip_radius(), normal }
        });
        Self::touching(tips, fit, lean, held)
    }

    /// Tips that touch an object at three points, whose sides lean by `lean` at most. [rad]
    pub(super) fn touching(tips: [Tip; 3], fit: Fit, lean: f64, held: Held) -> Option<Self> {
        let spread = fit.spread.unwrap_or_default();
        let (closing, shares) = (ThreeFingers::closing(spread), ThreeFingers::shares(spread));
        let even = Vector6::new(0.0, 0.0, 0.0, 1.0, 1.0, 1.0);
        let springs = Springs::new(&tips.map(|tip| (even, tip.center)))?;
        let touches = core::array::from_fn(|k| Touch {
            squeeze: closing[k] * shares[k],
            normal: tips[k].normal,
        });
        Some(Self { fit, touches, sum: shares.iter().sum(), lean, springs, held })
    }

    /// Strength that holds the payload at rest, its centre of mass off by the tolerance. [N]
    pub(super) fn at_rest(&self, payload: &Payload) -> f64 {
        let Law { friction, safety } = payload.law(self.lean);
        safety * self.force(friction, &self.held.at_rest(payload))
    }

    /// Strength that carries the payload, and can move it. [N]
    pub(super) fn needed(&self, payload: &Payload) -> f64 {
        MOVABLE * self.at_rest(payload)
    }

    /// Share of the strength that a motion uses. [-]
    pub(super) fn load(&self, payload: &Payload, force: f64, motion: &ToolMotion<'_>) -> f64 {
        let pulls = self.held.moving(payload, motion);
        let Law { friction, safety } = payload.law(self.lean);
        safety * self.force(friction, &pulls) / force
    }

    /// Friction at which a strength just bears a load at rest. [-]
    pub(super) fn friction_at(&self, load: f64, force: f64) -> f64 {
        friction_for(load / (self.sum * force), self.lean)
    }

    /// Friction that makes a strength enough for the payload. [-]
    pub(super) fn friction_enough(&self, payload: &Payload, force: f64) -> f64 {
        let Law { friction, .. } = payload.law(self.lean);
        let bears = traction(friction, self.lean) * self.needed(payload);
        payload.friction / friction * friction_for(bears / force, self.lean)
    }

    /// Strength that bears each of these wrenches about the tool. [N]
    fn force(&self, friction: f64, pulls: &[Force]) -> f64 {
        let mut force: f64 = 0.0;
        for pull in pulls {
            for (touch, share) in self.touches.iter().zip(self.springs.bear(pull)) {
                // The tip bears it by the opposite.
                force = force.max(touch.needed(friction, &-share.force));
            }
        }
        force
    }
}

impl Touch {
    /// Strength at which a force on the object is in the cone of friction together with the squeeze; infinite where none is enough. [N]
    fn needed(&self, friction: f64, force: &Vector3) -> f64 {
        let k = 1.0 + friction * friction;
        let (along, across) = (self.squeeze.dot(&self.normal), force.dot(&self.normal));
        // `a F² + 2 b F + c ≤ 0`; a is negative where the squeeze itself is inside the cone.
        let a = self.squeeze.norm_squared() - k * along * along;
        let b = self.squeeze.dot(force) - k * along * across;
        let c = force.norm_squared() - k * across * across;
        if a >= 0.0 || along <= 0.0 {
            return f64::INFINITY;
        }
        // Beyond the greater root it stays inside. The two are real, as the line passes from one half of the cone to the other.
        ((b + (b * b - a * c).max(0.0).sqrt()) / -a).max(0.0)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use core::f64::consts::TAU;

    use approx::assert_relative_eq;
    use karakuri_model::{BodyId, EndEffector as Config, FrameId};
    use karakuri_spatial::Vector3;

    use super::*;
    use crate::end_effector::KINDS;
    use crate::pick_and_place::types::{ObjectPose, ObjectShape, Part};

    const GRAVITY: f64 = 9.81;
    const FRICTION: f64 = 0.5;

    pub(in crate::hand) fn hand() -> ThreeFingers {
        let kind = KINDS.iter().find(|kind| kind.name == "three_fingers").unwrap();
        ThreeFingers::new(&Config {
            kind: kind.name.to_owned(),
            tool_frame: FrameId(0),
            joints: (0..4).map(BodyId).collect(),
            sensors: Vec::new(),
            parameters: kind.example.iter().map(|(n, v)| ((*n).to_owned(), *v)).collect(),
        })
        .unwrap()
    }

    pub(in crate::hand) fn goal(
        shape: ObjectShape,
        profile: Profile,
        size: [f64; 3],
    ) -> PickAndPlaceGoal {
        let at = ObjectPose { position: Vector3::zeros(), yaw: 0.0 };
        PickAndPlaceGoal {
            part: Part::Whole,
            shape,
            profile,
            size: size.into(),
            mass: 0.1,
            friction: FRICTION,
            pick: at,
            place: at,
            grip_force: 5.0,
            max_grip_force: 25.0,
            approach_height: 0.1,
            grasps: Vec::new(),
        }
    }

    /// The way to hold an object whose centre of mass is where it is expected.
    fn tips(goal: &PickAndPlaceGoal) -> Tips {
        let payload = payload(goal.mass);
        match way(&hand(), goal, &payload, 0.0, Edge::Y).unwrap().contact {
            Contact::Tips(tips) => tips,
            other => panic!("{other:?}"),
        }
    }

    fn payload(mass: f64) -> Payload {
        Payload { mass, friction: FRICTION, safety: 1.0, gravity: GRAVITY }
    }

    const CYLINDER: Profile = Profile::Standing { straight: 0.08, has_flat_ends: true };

    /// `W = ΣH tan(φ − γ)`, the wedge law for a weight that all three share evenly: 15.0, 8.9, 3.5 and 0.8 N for 10 N a finger on cones.
    #[test]
    fn a_weight_is_borne_as_the_wedge_law_says() {
        let cylinder = tips(&goal(ObjectShape::Cylinder, CYLINDER, [0.06, 0.06, 0.08]));
        let bears = |tips: &Tips, force: f64| {
            // Each tip bears a third of the weight.
            let third = -Vector3::x() * (force / 3.0);
            tips.touches.iter().map(|touch| touch.needed(FRICTION, &third)).fold(0.0, f64::max)
        };
        assert_relative_eq!(bears(&cylinder, 15.0), 10.0, max_relative = 1e-12);
        for (slope, weight) in [(10.0_f64, 8.9), (20.0, 3.5), (25.0, 0.8)] {
            let slope = slope.to_radians();
            let height = 0.04 / slope.tan();
            let mut cone = goal(ObjectShape::Cone, Profile::Cone, [0.08, 0.08, height]);
            // Of greater friction it is taken, too; the law is asked for the stated one.
            cone.friction = 0.9;
            let known = 30.0 * (FRICTION.atan() - slope).tan();
            assert!((known - weight).abs() < 0.05, "{known} N");
            let taken = Payload { friction: 0.9, ..payload(0.01) };
            let Contact::Tips(cone) = way(&hand(), &cone, &taken, 0.0, Edge::Y).unwrap().contact
            else {
                panic!("no tips");
            };
            assert_relative_eq!(cone.lean, slope, max_relative = 1e-12);
            assert_relative_eq!(bears(&cone, known), 10.0, max_relative = 1e-9);
            // At the friction at which it just bears the load, the lean is taken off.
            assert_relative_eq!(cone.friction_at(known, 10.0), FRICTION, max_relative = 1e-12);
        }
    }

    /// Above the angle of friction no strength is enough.
    #[test]
    fn a_steep_side_is_not_held_at_all() {
        let cone = goal(ObjectShape::Cone, Profile::Cone, [0.1, 0.1, 0.08]);
        let refused = way(&hand(), &cone, &payload(0.01), 0.0, Edge::Y).unwrap_err();
        assert!(matches!(refused, PlanError::SlipsOff { .. }), "{refused}");
        let touch = Touch {
            squeeze: Vector3::y(),
            normal: Vector3::new(0.5_f64.sin(), 0.5_f64.cos(), 0.0),
        };
        assert!(touch.needed(FRICTION, &Vector3::x()).is_infinite());
        assert!(touch.needed(0.6, &-Vector3::x()).is_finite());
    }

    /// What the tips bear is what the object pulls with, at the strength that is needed one of them is at the edge of its cone, and none outside.
    #[test]
    fn the_needed_strength_brings_one_tip_to_the_edge_of_its_cone() {
        for (shape, profile, size) in [
            (ObjectShape::Cylinder, CYLINDER, [0.06, 0.06, 0.08]),
            (ObjectShape::Box, Profile::Box, [0.06, 0.05, 0.04]),
            (ObjectShape::Ball, Profile::Ball, [0.05; 3]),
            (ObjectShape::Cone, Profile::Cone, [0.06, 0.06, 0.12]),
        ] {
            let tips = tips(&goal(shape.clone(), profile, size));
            for i in 0..24 {
                let (sin, cos) = (f64::from(i) / 24.0 * TAU).sin_cos();
                let force = Vector3::new(2.0 * sin - 1.0, cos, sin * cos + 0.3);
                let pull = Force::new(Vector3::new(0.01 * cos, 0.02 * sin, 0.005), force);
                let shares: Vec<_> = tips.springs.bear(&pull).map(|share| share.force).collect();
                let sum: Vector3 = shares.iter().sum();
                assert!((sum - force).norm() < 1e-12, "{shape:?}: {sum:?}");
                let needed = tips.force(FRICTION, &[pull]);
                // Share of the friction that a tip uses.
                let used = |strength: f64| {
                    let each = tips.touches.iter().zip(&shares).map(|(touch, share)| {
                        let f = touch.squeeze * strength - share;
                        let normal = f.dot(&touch.normal);
                        (f - touch.normal * normal).norm() / (FRICTION * normal.max(1e-12))
                    });
                    each.fold(0.0, f64::max)
                };
                assert!((used(needed) - 1.0).abs() < 1e-9, "{shape:?} {i}: {}", used(needed));
                assert!(used(1.01 * needed) < 1.0 && used(0.99 * needed) > 1.0, "{shape:?} {i}");
            }
        }
    }

    const SPREADS: [Spread; 5] =
        [Spread::Closed, Spread::Between(1), Spread::Between(2), Spread::Between(3), Spread::Even];

    /// Tips that turn about their knuckles are as far from the middle as each other, on the ways on which they close.
    #[test]
    fn the_middle_is_as_far_from_each_tip() {
        let hand = hand();
        let radius = hand.finger_distance() / 3.0_f64.sqrt();
        for spread in SPREADS {
            let (sin, cos) = spread.angle().sin_cos();
            let [thumb, left, right] = ThreeFingers::closing(spread);
            let (beside, middle) = (hand.beside(spread), Vector3::y() * hand.middle(spread));
            for reach in [-0.005, 0.01, 0.03] {
                let knuckle = |side: f64| Vector3::new(0.0, 0.5, side * 0.75_f64.sqrt()) * radius;
                let tip = |side: f64| knuckle(side) + Vector3::new(0.0, cos, side * sin) * reach;
                let known = [Vector3::y() * (-radius - reach), tip(1.0), tip(-1.0)];
                let distance = middle.y + radius + reach;
                for ((closing, beside), known) in [thumb, left, right].iter().zip(beside).zip(known)
                {
                    let off = middle + beside - closing * distance - known;
                    assert!(off.norm() < 1e-12, "{spread:?}, {reach} m: {off}");
                }
                let opening = 2.0 * (radius + reach - hand.tip_radius());
                let nearer = 2.0 * (distance - hand.tip_radius()) + hand.nearer(spread);
                assert!((nearer - opening).abs() < 1e-12, "{spread:?}: {nearer} and {opening} m");
            }
        }
    }

    /// The squeeze alone moves nothing, spread or not.
    #[test]
    fn the_squeeze_is_in_balance() {
        for spread in SPREADS {
            let closing = ThreeFingers::closing(spread);
            let shares = ThreeFingers::shares(spread);
            let sum: Vector3 = closing.iter().zip(shares).map(|(d, share)| d * share).sum();
            assert!(sum.norm() < 1e-15, "{spread:?}: {sum:?}");
        }
    }
}
