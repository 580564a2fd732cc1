//! Walks to a place.

use std::f64::consts::{PI, TAU};

use karakuri_commands::{Code, Limits, Refusal, WalkTo};
use karakuri_gait::planner::{StraightWalk, WalkCommand, WalkGoal};
use karakuri_rehearsal::{Act, Cell, Gait};

use crate::order::Order;
use crate::seen::yaw;

/// Distance from its aim at which a robot need not walk. [m]
// Less than half a step of the smallest robot, and more than a walk is off.
const THERE: f64 = 0.01;

/// Walk of a robot to a place: it turns there, walks along a line, and turns as is desired in the end.
///
/// # Errors
/// When it stands there already.
pub(crate) fn walk_to(
    cell: &Cell,
    gait: &Gait,
    limits: &Limits,
    aim: &WalkTo,
) -> Result<Order, Refusal> {
    let stance = cell.stance(gait);
    let (heading, from) = (yaw(&stance), stance.translation);
    let (dx, dy) = (aim.x_m - from.x, aim.y_m - from.y);
    let distance = dx.hypot(dy);
    let goal = if distance > THERE {
        let line = dy.atan2(dx);
        let command = WalkCommand::Straight(StraightWalk {
            distance,
            steps: 0,
            speed: limits.walk_speed_m_s,
            heading: wrapped(line - heading),
        });
        // A turn of zero is none: the goal of the nodes knows no other.
        let turn = aim.yaw_rad.map(|yaw| wrapped(yaw - line)).filter(|turn| turn.abs() > 0.0);
        WalkGoal { turn, ..command.into() }
    } else {
        let there = || {
            let hint = "choose another place: the robot stands there";
            Refusal::new(Code::InvalidGoal, hint).of("x_m", aim.x_m)
        };
        WalkCommand::Turn(wrapped(aim.yaw_rad.ok_or_else(there)? - heading)).into()
    };
    Ok(Order::new(Act::Walk(goal), None))
}

/// The same angle, from half a turn to the right to half a turn to the left. [rad]
fn wrapped(angle: f64) -> f64 {
    (angle + PI).rem_euclid(TAU) - PI
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn angles_are_at_most_half_a_turn() {
        for (angle, expected) in
            [(0.0, 0.0), (3.5, 3.5 - TAU), (-6.0, TAU - 6.0), (9.5, 9.5 - 2.0 * TAU)]
        {
            assert!((wrapped(angle) - expected).abs() < 1e-12, "{angle}");
        }
    }
}
