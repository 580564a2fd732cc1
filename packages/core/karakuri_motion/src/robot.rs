//! The robot of a document, as sampling and checks need it: its model, the feet it stands on, its mirror table.

use std::sync::Arc;

use karakuri_gait::planner::Leg;
use karakuri_model::{Base, BodyId, DofKind, Model};

use crate::document::AngleUnit;
use crate::mirror::Mirror;

/// Names of links that are feet: left, right; the first pair that a robot has, with soles, is taken.
// Soles before feet, whose frames are often at the ankle. `left_ankle_roll_link` is of g1, `leg_left_6_link` of talos.
const FEET: [[&str; 2]; 7] = [
    ["l_sole", "r_sole"],
    ["l_foot", "r_foot"],
    ["left_sole", "right_sole"],
    ["left_foot", "right_foot"],
    ["left_ankle_roll_link", "right_ankle_roll_link"],
    ["leg_left_6_link", "leg_right_6_link"],
    ["L_FOOT", "R_FOOT"],
];

/// A robot that performs motions.
#[derive(Debug, Clone)]
pub struct Performer {
    /// Model of the robot.
    pub model: Arc<Model>,
    /// Left and right leg of a robot that stands on two feet.
    pub legs: Option<[Leg; 2]>,
    /// Mirror table by the axes of its joints.
    pub mirror: Mirror,
}

impl Performer {
    /// Finds feet and mirror table of a robot. A robot with a fixed base, or without soles, has no legs here.
    pub fn new(model: Arc<Model>) -> Self {
        let legs = (model.base == Base::Floating).then(|| {
            FEET.iter().find_map(|[left, right]| {
                let leg = |link: &str| Leg::find(&model, link).ok();
                Some([leg(left)?, leg(right)?])
            })
        });
        let mirror = Mirror::of(&model);
        Self { legs: legs.flatten(), mirror, model }
    }

    /// The joint of one degree of freedom that has a name and follows no other one.
    pub fn joint(&self, name: &str) -> Option<BodyId> {
        let id = self.model.joint(name)?;
        // Curves are of one number: a ball joint has none. A follower's position is its leader's business.
        let is_single = self.model.joints[id.0].kind.single().is_some();
        (is_single && self.leader(id).is_none()).then_some(id)
    }

    /// The joint that a mimic joint follows.
    pub fn leader(&self, joint: BodyId) -> Option<BodyId> {
        let coupling = self.model.couplings.iter().find(|coupling| coupling.follower == joint);
        coupling.map(|coupling| coupling.leader)
    }

    /// Joints that a motion can move, base to tip.
    pub fn joints(&self) -> impl Iterator<Item = BodyId> + '_ {
        let all = (0..self.model.joints.len()).map(BodyId);
        all.filter(|id| {
            self.model.joints[id.0].kind.single().is_some() && self.leader(*id).is_none()
        })
    }

    /// A document's number of a joint, in SI units. [rad or m]
    pub fn to_si(&self, joint: BodyId, unit: AngleUnit, value: f64) -> f64 {
        if self.is_angle(joint) { unit.to_rad(value) } else { value }
    }

    /// A joint's position [rad or m] as a document's number.
    pub fn from_si(&self, joint: BodyId, unit: AngleUnit, value: f64) -> f64 {
        if self.is_angle(joint) { unit.from_rad(value) } else { value }
    }

    fn is_angle(&self, joint: BodyId) -> bool {
        self.model.joints[joint.0].kind.single() == Some(DofKind::Angle)
    }
}
