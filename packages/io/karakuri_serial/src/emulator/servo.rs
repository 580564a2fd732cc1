//! Electromechanics that servos of all buses share.
//!
//! A servo's firmware turns its goal into a setpoint that keeps the limits of speed and acceleration; a [`Plant`] turns setpoints
//! into motion; load, current and heat follow from the effort. Angles are those of the output shaft, with the bus's own zero.

mod plant;

pub use plant::{FreeMotion, Object, Plant, Root};

/// Temperature of the surroundings. [°C]
const AMBIENT: f64 = 25.0;
/// By how much a servo with the fault [`Trouble::Hot`] is above its limit. [°C]
const TOO_HOT: f64 = 5.0;

/// What a drive follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// The goal position, by a profile of speed and acceleration.
    Position,
    /// The goal velocity.
    Velocity,
    /// The goal duty: a share of the supply, which is a speed without load and a torque at standstill.
    Duty,
}

/// What a type of servo can do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rating {
    /// Speed without load at the nominal voltage. [rad/s]
    pub no_load_speed: f64,
    /// Torque at standstill at the nominal voltage. [N·m]
    pub stall_torque: f64,
    /// Current at standstill at the nominal voltage. [A]
    pub stall_current: f64,
    /// Nominal voltage. [V]
    pub voltage: f64,
    /// Largest acceleration of the shaft without load. [rad/s²]
    pub acceleration: f64,
    /// Least and greatest position that the gears allow; infinite for one that turns without end. [rad]
    pub stops: [f64; 2],
}

impl Rating {
    /// A small servo on three lithium cells, as STS3215 and XL430 are: 5 rad/s, 2 N·m, 2 A at 12 V.
    pub const SMALL: Self = Self {
        no_load_speed: 5.0,
        stall_torque: 2.0,
        stall_current: 2.0,
        voltage: 12.0,
        acceleration: 300.0,
        stops: [f64::NEG_INFINITY, f64::INFINITY],
    };
}

/// Limits at which a servo raises an alarm; a bus sets them from its registers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Highest temperature. [°C]
    pub temperature: f64,
    /// Least and greatest voltage. [V]
    pub voltage: [f64; 2],
    /// Highest current. [A]
    pub current: f64,
    /// Load that counts as an overload when it lasts, as a share of the stall torque. [-]
    pub overload: f64,
    /// How long it has to last. [s]
    pub overload_time: f64,
}

impl Default for Limits {
    /// Those of an STS3215 as it leaves the factory, for 12 V.
    fn default() -> Self {
        Self {
            temperature: 70.0,
            voltage: [4.0, 14.0],
            current: f64::INFINITY,
            overload: 0.8,
            overload_time: 2.0,
        }
    }
}

/// A condition that a servo reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alarm {
    /// The supply is outside of its limits.
    Voltage,
    /// The angle sensor fails.
    Sensor,
    /// Above its temperature limit.
    Heat,
    /// Above its current limit.
    Current,
    /// The load was too high for too long; stays until [`Servo::clear_overload`].
    Overload,
}

impl Alarm {
    /// Every alarm.
    pub const ALL: [Self; 5] =
        [Self::Voltage, Self::Sensor, Self::Heat, Self::Current, Self::Overload];

    /// Its name: one word in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Self::Voltage => "voltage",
            Self::Sensor => "sensor",
            Self::Heat => "heat",
            Self::Current => "current",
            Self::Overload => "overload",
        }
    }
}

/// A fault of one servo that stays until it is switched off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// Its cable is out: it neither hears nor answers, and is limp.
    Gone,
    /// It reports an overload at once and again after each reset.
    Overload,
    /// It is above its temperature limit.
    Hot,
    /// Its torque goes off by itself, and stays off.
    TorqueLost,
    /// Its angle sensor fails.
    Sensor,
    /// Its shaft cannot turn.
    Blocked,
}

/// One servo: what its bus commands, what its plant does, and what it feels of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Servo {
    /// Number on the bus.
    pub id: u8,
    /// Board that it is plugged into; 0 where servos are on the wire themselves.
    pub board: usize,
    /// What its type can do.
    pub rating: Rating,
    /// When it raises alarms.
    pub limits: Limits,
    /// What its drive follows.
    pub mode: Mode,
    /// Whether the drive is on; off, the shaft is limp.
    pub torque_on: bool,
    /// Where to go, in [`Mode::Position`]. [rad]
    pub goal: f64,
    /// How fast to turn, in [`Mode::Velocity`]. [rad/s]
    pub goal_velocity: f64,
    /// Share of the supply, in [`Mode::Duty`], from -1 to 1. [-]
    pub goal_duty: f64,
    /// Greatest speed of the setpoint; infinite for none. [rad/s]
    pub speed_limit: f64,
    /// Greatest acceleration of the setpoint; infinite for none. [rad/s²]
    pub acceleration_limit: f64,
    /// Greatest torque, as a share of the stall torque. [-]
    pub torque_limit: f64,
    /// Position of the shaft. [rad]
    pub position: f64,
    /// Velocity of the shaft. [rad/s]
    pub velocity: f64,
    /// Torque that the motor exerts on the shaft. [N·m]
    pub effort: f64,
    /// Current, of the sign of the effort. [A]
    pub current: f64,
    /// Temperature of the motor. [°C]
    pub temperature: f64,
    /// Supply. [V]
    pub voltage: f64,
    /// Where the profile is. [rad]
    setpoint: f64,
    /// How fast it goes. [rad/s]
    setpoint_velocity: f64,
    /// For how long the load has been too high. [s]
    overloaded_for: f64,
    overload: bool,
    troubles: u8,
}

impl Servo {
    /// Limp, at position 0, at ambient temperature and nominal voltage, without limits of speed.
    pub fn new(id: u8, rating: Rating) -> Self {
        Self {
            id,
            board: 0,
            rating,
            limits: Limits::default(),
            mode: Mode::Position,
            torque_on: false,
            goal: 0.0,
            goal_velocity: 0.0,
            goal_duty: 0.0,
            speed_limit: f64::INFINITY,
            acceleration_limit: f64::INFINITY,
            torque_limit: 1.0,
            position: 0.0,
            velocity: 0.0,
            effort: 0.0,
            current: 0.0,
            temperature: AMBIENT,
            voltage: rating.voltage,
            setpoint: 0.0,
            setpoint_velocity: 0.0,
            overloaded_for: 0.0,
            overload: false,
            troubles: 0,
        }
    }

    /// Put the shaft, the goal and the profile at `position` [rad], at rest.
    pub fn place(&mut self, position: f64) {
        (self.goal, self.position, self.setpoint) = (position, position, position);
        (self.velocity, self.setpoint_velocity) = (0.0, 0.0);
    }

    /// Where the profile is: what a plant has to follow. [rad]
    pub fn setpoint(&self) -> f64 {
        self.setpoint
    }

    /// How fast the profile goes. [rad/s]
    pub fn setpoint_velocity(&self) -> f64 {
        self.setpoint_velocity
    }

    /// Torque of the motor as a share of its stall torque, of its sign. [-]
    pub fn load(&self) -> f64 {
        self.effort / self.rating.stall_torque
    }

    /// Torque that the drive may exert now. [N·m]
    pub fn available_torque(&self) -> f64 {
        if self.is_driven() {
            self.torque_limit * self.rating.stall_torque * self.supply()
        } else {
            0.0
        }
    }

    /// Whether the drive exerts torque: switched on, and on the line.
    pub fn is_driven(&self) -> bool {
        self.torque_on && !self.has(Trouble::Gone)
    }

    /// Whether a fault is switched on.
    pub fn has(&self, trouble: Trouble) -> bool {
        self.troubles & (1 << trouble as u8) != 0
    }

    /// Switch a fault on or off.
    pub fn set(&mut self, trouble: Trouble, on: bool) {
        let bit = 1 << trouble as u8;
        self.troubles = if on { self.troubles | bit } else { self.troubles & !bit };
        if trouble == Trouble::Hot && !on {
            self.temperature = AMBIENT;
        }
    }

    /// Whether a condition is reported now.
    pub fn is_raised(&self, alarm: Alarm) -> bool {
        match alarm {
            Alarm::Voltage => {
                self.voltage < self.limits.voltage[0] || self.voltage > self.limits.voltage[1]
            }
            Alarm::Sensor => self.has(Trouble::Sensor),
            Alarm::Heat => self.temperature > self.limits.temperature,
            Alarm::Current => self.current.abs() > self.limits.current,
            Alarm::Overload => self.overload || self.has(Trouble::Overload),
        }
    }

    /// Forget an overload, as a reboot or switching the torque on again does.
    pub fn clear_overload(&mut self) {
        (self.overload, self.overloaded_for) = (false, 0.0);
    }

    /// Supply as a share of the nominal one. [-]
    fn supply(&self) -> f64 {
        self.voltage / self.rating.voltage
    }

    /// Move the profile on by `dt` [s].
    fn follow_goal(&mut self, dt: f64) {
        if self.has(Trouble::TorqueLost) {
            self.torque_on = false;
        }
        if !self.is_driven() {
            (self.setpoint, self.setpoint_velocity) = (self.position, 0.0);
            return;
        }
        let largest_change = self.acceleration_limit * dt;
        let desired = match self.mode {
            Mode::Position => {
                let ahead = self.goal - self.setpoint;
                // The fastest from which the rest of the path is enough to stop, less what this step itself covers.
                let half = 0.5 * largest_change;
                let stopping = if half.is_finite() {
                    (half * half + 2.0 * self.acceleration_limit * ahead.abs()).sqrt() - half
                } else {
                    f64::INFINITY
                };
                stopping.min(self.speed_limit).min(ahead.abs() / dt).copysign(ahead)
            }
            Mode::Velocity => self.goal_velocity.clamp(-self.speed_limit, self.speed_limit),
            Mode::Duty => {
                self.goal_duty.clamp(-1.0, 1.0) * self.rating.no_load_speed * self.supply()
            }
        };
        let change = (desired - self.setpoint_velocity).clamp(-largest_change, largest_change);
        self.setpoint_velocity += change;
        self.setpoint += self.setpoint_velocity * dt;
        if self.mode != Mode::Position {
            // A shaft that is held back is not caught up with later.
            let lead = plant::LAG * self.rating.no_load_speed;
            self.setpoint = self.setpoint.clamp(self.position - lead, self.position + lead);
        }
    }

    /// Load, current and heat after `dt` [s] with the effort that the plant has found.
    fn feel(&mut self, dt: f64) {
        /// Heating by the current at standstill, were it to last. [°C]
        const STALL_HEATING: f64 = 120.0;
        /// Time constant of motor and case. [s]
        const HEAT_TIME: f64 = 60.0;
        /// Share of the stall current that electronics and friction take at any speed. [-]
        const IDLE: f64 = 0.02;
        let load = self.load();
        // Friction takes it against the motion; at rest what is left of it bears the load.
        let direction = if self.velocity == 0.0 { load } else { self.velocity };
        let share = if self.is_driven() { load + IDLE.copysign(direction) } else { 0.0 };
        self.current = share * self.rating.stall_current;
        let settled = AMBIENT + STALL_HEATING * share * share;
        self.temperature += (settled - self.temperature) * (1.0 - (-dt / HEAT_TIME).exp());
        if self.has(Trouble::Hot) {
            self.temperature = self.temperature.max(self.limits.temperature + TOO_HOT);
        }
        let too_much = self.is_driven() && load.abs() > self.limits.overload;
        self.overloaded_for = if too_much { self.overloaded_for + dt } else { 0.0 };
        self.overload |= too_much && self.overloaded_for >= self.limits.overload_time;
    }
}

/// Move servos on by `dt` [s], a millisecond or less: their profiles, the plant, and what they feel.
pub fn move_servos(servos: &mut [Servo], plant: &mut dyn Plant, dt: f64) {
    for servo in &mut *servos {
        servo.follow_goal(dt);
    }
    plant.advance(dt, servos);
    for servo in servos {
        servo.feel(dt);
    }
}

#[cfg(test)]
mod tests;
