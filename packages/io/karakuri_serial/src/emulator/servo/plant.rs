//! What the shafts of servos turn.

use super::{Mode, Servo, Trouble};

/// Time in which a shaft follows its setpoint. [s]
pub(super) const LAG: f64 = 0.01;

/// Bodies on the shafts of servos: takes setpoints and torques, gives motion.
///
/// A world of physics can stand here. For each servo, in their order, it reads [`Servo::setpoint`],
/// [`Servo::setpoint_velocity`] and [`Servo::available_torque`], and writes `position`, `velocity` and `effort`.
pub trait Plant: Send {
    /// Move the shafts on by `dt` [s].
    fn advance(&mut self, dt: f64, servos: &mut [Servo]);

    /// The root link of the robot that the servos move; none where they move no robot.
    fn root(&self) -> Option<Root> {
        None
    }

    /// Things that are not of the robot, and where they are.
    fn objects(&self) -> Vec<Object> {
        Vec::new()
    }

    /// Why it cannot move on; none as long as it can.
    fn failure(&self) -> Option<String> {
        None
    }
}

/// A thing in the robot's surroundings.
#[derive(Debug, Clone, PartialEq)]
pub struct Object {
    /// Its name.
    pub name: String,
    /// Position of its frame in the world. [m] (3)
    pub position: [f64; 3],
    /// Orientation in the world: x, y, z, w. [-] (4)
    pub orientation: [f64; 4],
}

/// Where the root link of a robot is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Root {
    /// Position in the world. [m] (3)
    pub position: [f64; 3],
    /// Orientation in the world: x, y, z, w. [-] (4)
    pub orientation: [f64; 4],
    /// Whether the robot lies on the ground.
    pub has_fallen: bool,
    /// Whether something holds it until its servos are on.
    pub is_held: bool,
}

/// Each shaft by itself, without gravity: it follows its setpoint with a lag of 10 ms, within the motor's speed and
/// acceleration, and its effort is that of a spring between setpoint and shaft. A limp shaft stays where it is, as gears do.
#[derive(Debug, Clone, Copy, Default)]
pub struct FreeMotion;

impl Plant for FreeMotion {
    fn advance(&mut self, dt: f64, servos: &mut [Servo]) {
        for servo in servos {
            turn(servo, dt);
        }
    }
}

fn turn(servo: &mut Servo, dt: f64) {
    /// Error of position at which a drive exerts all its torque. [rad]
    const FULL_TORQUE: f64 = 0.2;
    let rating = servo.rating;
    let available = servo.available_torque();
    let behind = servo.setpoint() - servo.position;
    let fastest = rating.no_load_speed * servo.voltage.max(0.0) / rating.voltage;
    let desired = if available > 0.0 {
        (servo.setpoint_velocity() + behind / LAG.max(dt)).clamp(-fastest, fastest)
    } else {
        0.0
    };
    let largest_change = rating.acceleration * dt;
    let mut velocity =
        servo.velocity + (desired - servo.velocity).clamp(-largest_change, largest_change);
    if servo.mode == Mode::Position && available > 0.0 && (behind * velocity) >= 0.0 {
        // Within one step of the setpoint a shaft arrives: it does not swing around it.
        velocity = velocity
            .abs()
            .min(behind.abs() / dt + servo.setpoint_velocity().abs())
            .copysign(velocity);
    }
    // By hand it may have been turned beyond a stop, which gives way no more than a drive gets through it.
    let stopped = |position: f64| position.clamp(rating.stops[0], rating.stops[1]);
    let from = stopped(servo.position);
    let position = if servo.has(Trouble::Blocked) { from } else { stopped(from + velocity * dt) };
    servo.velocity = (position - from) / dt;
    servo.position = position;
    servo.effort = match servo.mode {
        _ if available <= 0.0 => 0.0,
        Mode::Position => {
            let share = (servo.setpoint() - position) / FULL_TORQUE;
            (share * rating.stall_torque).clamp(-available, available)
        }
        // What of the speed is missing is torque.
        Mode::Velocity | Mode::Duty => {
            let missing = (servo.setpoint_velocity() - servo.velocity) / rating.no_load_speed;
            let drive = if servo.mode == Mode::Velocity { missing * 10.0 } else { missing };
            (drive * rating.stall_torque).clamp(-available, available)
        }
    };
}
