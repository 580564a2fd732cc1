//! Conversion of `walk` and `cmd_vel` messages to goals of the engine.

use karakuri_gait::planner::{
    Footstep, Place, Side, StraightWalk, Velocity, WalkCommand, WalkGoal,
};
use karakuri_ros::FromMessage;
use karakuri_ros::msg::geometry_msgs::msg::Twist;
use karakuri_ros::msg::karakuri_msgs::action::Walk;
use karakuri_ros::msg::karakuri_msgs::msg::Footstep as FootstepMessage;
use karakuri_spatial::{Motion, Vector3};

/// Sides of `karakuri_msgs/msg/Footstep`.
const LEFT: u8 = 0;
const RIGHT: u8 = 1;
/// Longest walk of one goal. [m]
const LONGEST: f64 = 1000.0;
/// Largest turn of one goal. [rad]
const LARGEST: f64 = 100.0;
/// Most steps of one goal.
const MOST_STEPS: u32 = 10_000;

/// Steepest floor. [rad]
const STEEPEST: f64 = 0.5;

/// Goal of the engine for a message, or the reason why it is refused.
pub(crate) fn goal(goal: &Walk::Goal) -> Result<WalkGoal, String> {
    let duration = match goal.duration {
        0.0 => None,
        d if d > 0.0 && d.is_finite() => Some(d),
        d => return Err(format!("duration is {d} s; it must be 0 (until canceled) or above")),
    };
    let velocity = velocity(&goal.velocity)?;
    let is_straight = goal.distance != 0.0 || goal.steps != 0;
    let asked = [
        (if goal.distance == 0.0 { "steps" } else { "distance" }, is_straight),
        // After a line it is where the robot looks in the end.
        ("turn", goal.turn != 0.0 && !is_straight),
        ("velocity", velocity != Velocity::default()),
        ("footsteps", !goal.footsteps.is_empty()),
    ];
    let mut asked = asked.iter().filter(|(_, given)| *given).map(|(name, _)| *name);
    let (first, second) = (asked.next(), asked.next());
    if let (Some(a), Some(b)) = (first, second) {
        return Err(format!("both {a} and {b} are given; give one of them"));
    }
    for (name, value) in [("speed", goal.speed), ("heading", goal.heading)] {
        if value != 0.0 && !is_straight {
            return Err(format!(
                "{name} is given without distance or steps; give one of them, too"
            ));
        }
    }
    let within = |name: &str, value: f64, most: f64, unit: &str| {
        let fits = value.abs() <= most;
        fits.then_some(value)
            .ok_or_else(|| format!("{name} is {value} {unit}; it must be from -{most} to {most}"))
    };
    let command = match first {
        Some("footsteps") => {
            let steps = goal.footsteps.iter().enumerate().map(|(i, step)| footstep(i, step));
            WalkCommand::Footsteps(steps.collect::<Result<_, _>>()?)
        }
        Some("velocity") => {
            let command = WalkCommand::Velocity(velocity);
            return Ok(WalkGoal { command, turn: None, duration });
        }
        Some("turn") => WalkCommand::Turn(within("turn", goal.turn, LARGEST, "rad")?),
        Some(_) => {
            if goal.steps > MOST_STEPS {
                let steps = goal.steps;
                return Err(format!("steps is {steps}; it must be at most {MOST_STEPS}"));
            }
            if !(goal.speed >= 0.0 && goal.speed.is_finite()) {
                let speed = goal.speed;
                return Err(format!(
                    "speed is {speed} m/s; it must be 0 (the robot's own) or above"
                ));
            }
            WalkCommand::Straight(StraightWalk {
                distance: within("distance", goal.distance, LONGEST, "m")?,
                steps: goal.steps,
                speed: goal.speed,
                heading: within("heading", goal.heading, LARGEST, "rad")?,
            })
        }
        None => {
            return Err("distance is 0 m, and nothing else is asked for; give distance, steps, turn, velocity or footsteps".to_owned());
        }
    };
    let turn = is_straight && goal.turn != 0.0;
    let turn = turn.then(|| within("turn", goal.turn, LARGEST, "rad")).transpose()?;
    Ok(WalkGoal { command, turn, duration: None })
}

/// Velocity in the plane of a message, or the reason why it is refused.
pub(crate) fn velocity(message: &Twist) -> Result<Velocity, String> {
    let Motion { linear, angular } =
        Motion::from_message(message).ok_or("velocity is not finite; give six numbers")?;
    if linear.z != 0.0 || angular.x != 0.0 || angular.y != 0.0 {
        return Err("velocity: linear.z, angular.x and angular.y must be 0; walking has linear.x, linear.y and angular.z".to_owned());
    }
    Ok(Velocity { forward: linear.x, left: linear.y, turn: angular.z })
}

fn footstep(i: usize, message: &FootstepMessage) -> Result<Footstep, String> {
    let side = match message.side {
        LEFT => Side::Left,
        RIGHT => Side::Right,
        other => {
            return Err(format!("footsteps[{i}].side is {other}; write LEFT (0) or RIGHT (1)"));
        }
    };
    let position = Vector3::from_message(&message.position)
        .filter(|_| message.yaw.is_finite())
        .ok_or_else(|| format!("footsteps[{i}] is not finite; give a position and a yaw"))?;
    let tilt = [message.roll, message.pitch];
    if !tilt.iter().all(|angle| angle.abs() <= STEEPEST) {
        return Err(format!(
            "footsteps[{i}] stands on a slope of roll {} and pitch {} rad; they must be from -{STEEPEST} to {STEEPEST}",
            message.roll, message.pitch
        ));
    }
    let to = Place { position: position.into(), yaw: message.yaw, tilt };
    Ok(Footstep { side, to, slide: 0.0 })
}
