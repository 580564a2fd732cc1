//! Rotations that are too long for a step.

use std::f64::consts::PI;
use std::fmt;

use super::World;

/// Rotation in a step beyond which it means nothing: after more than half a turn a body looks as if it had turned the other
/// direction by less. [rad]
const LONGEST_TURN: f64 = PI;

/// A body or a joint that turned by more than half a turn in a step.
#[derive(Debug, Clone, PartialEq)]
pub struct LongTurn {
    /// Name of the robot or body.
    pub owner: String,
    /// Name of the robot's joint.
    pub joint: Option<String>,
    /// The largest rotation in a step so far. [rad]
    pub angle: f64,
    /// Time step of the world. [s]
    pub dt: f64,
}

impl fmt::Display for LongTurn {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Self { owner, joint, angle, dt } = self;
        match joint {
            Some(joint) => write!(f, "robot `{owner}`: joint `{joint}`")?,
            None => write!(f, "body `{owner}`")?,
        }
        write!(
            f,
            " turned by up to {angle:.1} rad in a step of {dt} s; beyond half a turn its attitude means nothing and contacts \
             miss what it passes; take a `dt` below {:.1e} s",
            dt * LONGEST_TURN / angle,
        )
    }
}

impl World {
    /// Bodies and joints that turned by more than half a turn in a step so far, one a body and one a robot.
    pub fn long_turns(&self) -> Vec<LongTurn> {
        let dt = self.settings.dt;
        let robots = self.state.robots.iter().flatten().map(|robot| LongTurn {
            owner: robot.name.clone(),
            // A robot without joints has none to name.
            joint: robot.model.joints.get(robot.longest_turn.joint).map(|j| j.name.clone()),
            angle: robot.longest_turn.angle,
            dt,
        });
        let bodies = self.state.bodies.iter().flatten().map(|body| LongTurn {
            owner: body.description.name.clone(),
            joint: None,
            angle: body.longest_turn,
            dt,
        });
        robots.chain(bodies).filter(|turn| turn.angle > LONGEST_TURN).collect()
    }
}
