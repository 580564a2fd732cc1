//! A world behind emulated servos: what they turn are the joints of a simulated robot.
//!
//! Who does what:
//!
//! * The emulated servo has the firmware: it turns goals into a setpoint with its speed code, profile and limits, and says how much
//!   torque there is: stall torque by supply and torque limit, none while limp.
//! * The world has the mechanics: the drive `k·(q_d − q) + d·(v_d − v)` with the gains of the robot YAML and that torque as its limit,
//!   solved implicitly with inertia of the rotor, friction of the gears, gravity, contacts and the limits of the joint. What the drive
//!   exerts goes back to the servo as its load, and with it current, heat and overload.
//! * Between them, motors are direct-current motors: in the direction in which a drive pushes, the torque falls with the speed, to nothing at the
//!   speed without load. The speed is that of the last step, so the limit is behind by one.
//!
//! Until its servos are on, the robot is held in its posture of the scene, as a person would hold it: it would fall otherwise before anybody
//! has opened the port. Limp again, it falls.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use karakuri_gait::planner::RootSign;
use karakuri_hardware::RobotLayout;
use karakuri_hardware::driver::HardwareFile;
use karakuri_model::{Base, Model};
use karakuri_physics::{BodyView, RobotId, StepOutcome, World};
use karakuri_serial::emulator::{Emulation, Object, Plant, Root, Servo, Trouble};

/// How long the robot is still held after the first of its servos is on, for the others. [s]
const HELD: f64 = 0.5;
/// Gains of a shaft that is blocked. [N·m/rad, N·m·s/rad]
const BLOCKED_STIFFNESS: f64 = 1e4;
const BLOCKED_DAMPING: f64 = 10.0;

/// What is done after each step of the world.
pub type Hook = Box<dyn FnMut(&World) + Send>;

/// Why servos cannot turn the joints of a robot.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ServoWorldError {
    /// A servo of the hardware file is not among those of the emulator.
    #[error(
        "the hardware file has servo {id} for joint `{joint}`, the emulator has {known:?}; correct the `id`"
    )]
    NoServo {
        /// Number of the servo.
        id: u8,
        /// Its joint.
        joint: String,
        /// Numbers of the servos that are there.
        known: Vec<u8>,
    },
    /// A joint has no drive that a servo could command.
    #[error("joint `{joint}` has no drive; give it one in `drives` of the robot YAML")]
    NoDrive {
        /// The joint.
        joint: String,
    },
}

/// World that a robot's servos move.
pub struct ServoWorld {
    world: Arc<Mutex<World>>,
    robot: RobotId,
    shafts: Vec<Shaft>,
    /// Time that the world is behind the servos. [s]
    owed: f64,
    /// For how long a servo has been on. [s]
    on_for: f64,
    is_held: bool,
    failure: Option<String>,
    hook: Option<Hook>,
}

impl fmt::Debug for ServoWorld {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServoWorld").field("shafts", &self.shafts).finish_non_exhaustive()
    }
}

/// A servo's shaft and the joint that it turns.
#[derive(Debug, Clone, Copy)]
struct Shaft {
    /// Index of the servo in the emulator.
    servo: usize,
    /// Indices of the joint's position and velocity.
    q: usize,
    v: usize,
    /// Angle of the shaft where the joint is at 0. [rad]
    zero: f64,
    /// Turn of the shaft by that of the joint.
    ratio: f64,
    /// Gains of the drive. [N·m/rad, N·m·s/rad]
    stiffness: f64,
    damping: f64,
    /// Where the servo was said to be. [rad]
    reported: f64,
}

impl Shaft {
    fn joint(&self, shaft: f64) -> f64 {
        (shaft - self.zero) / self.ratio
    }

    fn angle(&self, joint: f64) -> f64 {
        self.zero + self.ratio * joint
    }
}

impl ServoWorld {
    /// Lets servos of an emulator turn the joints of a robot of a world, by the hardware file of the robot.
    ///
    /// # Errors
    /// When a servo is not there, or a joint has no drive.
    pub fn new(
        world: Arc<Mutex<World>>,
        robot: RobotId,
        file: &HardwareFile,
        servos: &[Servo],
    ) -> Result<Self, ServoWorldError> {
        let locked = lock(&world);
        let view = locked.robot(robot);
        let layout = RobotLayout::new(view.name(), Arc::<Model>::clone(view.model()));
        let shafts = file.servos.iter().map(|setup| {
            let joint = &layout.joints[setup.joint];
            let servo = servos.iter().position(|servo| servo.id == setup.id);
            let missing = || ServoWorldError::NoServo {
                id: setup.id,
                joint: joint.name.clone(),
                known: servos.iter().map(|servo| servo.id).collect(),
            };
            if !joint.driven {
                return Err(ServoWorldError::NoDrive { joint: joint.name.clone() });
            }
            let drives = view.drives();
            Ok(Shaft {
                servo: servo.ok_or_else(missing)?,
                q: joint.q,
                v: joint.v,
                zero: setup.shaft(0.0),
                ratio: setup.shaft_ratio(),
                stiffness: drives.stiffness[joint.v],
                damping: drives.damping[joint.v],
                reported: setup.shaft(view.q()[joint.q]),
            })
        });
        let shafts = shafts.collect::<Result<_, _>>()?;
        drop(locked);
        Ok(Self {
            world,
            robot,
            shafts,
            owed: 0.0,
            on_for: 0.0,
            is_held: true,
            failure: None,
            hook: None,
        })
    }

    /// Does something after each step of the world.
    #[must_use]
    pub fn with_hook(mut self, hook: Hook) -> Self {
        self.hook = Some(hook);
        self
    }

    /// Puts a bus on a wire, with this world behind its servos, which are turned to where the robot's joints are.
    pub fn emulate(self, bus: Box<dyn karakuri_serial::emulator::Bus>) -> Emulation {
        let shafts = self.shafts.clone();
        let mut emulation = Emulation::new(bus, Box::new(self));
        for shaft in shafts {
            emulation.place(shaft.servo, shaft.reported);
        }
        emulation
    }

    /// Whether the robot is held for `dt` [s] more.
    fn hold(&mut self, dt: f64, servos: &[Servo]) -> bool {
        if self.is_held {
            let mut driven = self.shafts.iter().map(|shaft| servos[shaft.servo].is_driven());
            if self.on_for > 0.0 || driven.clone().any(|is_driven| is_driven) {
                self.on_for += dt;
            }
            self.is_held = self.on_for < HELD && !driven.all(|is_driven| is_driven);
        }
        self.is_held
    }

    /// Turns joints whose shafts were turned by hand.
    fn turn_by_hand(&self, world: &mut World, servos: &[Servo]) {
        let is_turned =
            |shaft: &&Shaft| servos[shaft.servo].position.to_bits() != shaft.reported.to_bits();
        let turned: Vec<&Shaft> = self.shafts.iter().filter(is_turned).collect();
        if turned.is_empty() {
            return;
        }
        let view = world.robot(self.robot);
        let (mut q, mut v) = (view.q().to_vec(), view.v().to_vec());
        for shaft in turned {
            q[shaft.q] = shaft.joint(servos[shaft.servo].position);
            v[shaft.v] = 0.0;
        }
        // A position that is not finite was refused before; any other is a state.
        let _accepted = world.set_robot_state(self.robot, &q, &v);
    }

    /// Gives the drives what the servos ask for.
    fn drive(&self, world: &mut World, servos: &[Servo]) {
        for shaft in &self.shafts {
            let view = world.robot(self.robot);
            let (position, velocity) = (view.q()[shaft.q], view.v()[shaft.v] * shaft.ratio);
            let drives = world.drive_mut(self.robot);
            let servo = &servos[shaft.servo];
            let v = shaft.v;
            drives.effort[v] = 0.0;
            if servo.has(Trouble::Blocked) {
                (drives.position[v], drives.velocity[v]) = (position, 0.0);
                (drives.stiffness[v], drives.damping[v]) = (BLOCKED_STIFFNESS, BLOCKED_DAMPING);
                drives.effort_limit[v] = f64::INFINITY;
                continue;
            }
            let fastest =
                servo.rating.no_load_speed * servo.voltage.max(0.0) / servo.rating.voltage;
            let ahead = servo.setpoint() - servo.position;
            let along = (velocity * ahead.signum() / fastest).max(0.0);
            let torque = servo.available_torque() * (1.0 - along).clamp(0.0, 1.0);
            let target = servo.setpoint_velocity().clamp(-fastest, fastest);
            drives.position[v] = shaft.joint(servo.setpoint());
            drives.velocity[v] = target / shaft.ratio;
            (drives.stiffness[v], drives.damping[v]) = (shaft.stiffness, shaft.damping);
            drives.effort_limit[v] = torque * shaft.ratio.abs();
        }
    }

    /// Tells the servos what has become of their shafts.
    fn tell(&mut self, world: &World, servos: &mut [Servo]) {
        let view = world.robot(self.robot);
        for shaft in &mut self.shafts {
            let servo = &mut servos[shaft.servo];
            servo.position = shaft.angle(view.q()[shaft.q]);
            shaft.reported = servo.position;
            servo.velocity = if self.is_held { 0.0 } else { shaft.ratio * view.v()[shaft.v] };
            let available = servo.available_torque();
            servo.effort = if available <= 0.0 || self.is_held {
                0.0
            } else if servo.has(Trouble::Blocked) {
                // What holds the shaft is not the motor.
                let desired =
                    shaft.stiffness / shaft.ratio.powi(2) * (servo.setpoint() - servo.position);
                desired.clamp(-available, available)
            } else {
                view.motor_effort(shaft.v) / shaft.ratio
            };
        }
    }
}

impl Plant for ServoWorld {
    fn advance(&mut self, dt: f64, servos: &mut [Servo]) {
        if self.failure.is_some() {
            return;
        }
        let shared = Arc::clone(&self.world);
        let mut world = lock(&shared);
        self.turn_by_hand(&mut world, servos);
        if !self.hold(dt, servos) {
            self.owed += dt;
            let step = world.settings().dt;
            // Half a step early or late is no matter; a rounding must not make it a whole one.
            while self.owed > 0.5 * step {
                self.owed -= step;
                self.drive(&mut world, servos);
                if let StepOutcome::NonFinite(_) = world.step() {
                    self.failure = Some(world.non_finite_report());
                    return;
                }
                self.tell(&world, servos);
                if let Some(hook) = &mut self.hook {
                    hook(&world);
                }
            }
        }
        self.tell(&world, servos);
    }

    fn root(&self) -> Option<Root> {
        let world = lock(&self.world);
        let view = world.robot(self.robot);
        let pose = view.data().pose_in_world[0];
        let [roll, pitch, _] = pose.rpy();
        let is_floating = matches!(view.model().base, Base::Floating);
        Some(Root {
            position: pose.translation.into(),
            orientation: pose.quaternion().coords.into(),
            has_fallen: is_floating && RootSign::Lean([roll, pitch]).has_fallen(),
            is_held: self.is_held,
        })
    }

    fn objects(&self) -> Vec<Object> {
        let world = lock(&self.world);
        let bodies = world.body_ids().map(|id| world.body(id));
        let bodies = bodies.filter(|body| !body.description().fixed);
        let object = |body: BodyView<'_>| Object {
            name: body.description().name.clone(),
            position: body.pose().translation.into(),
            orientation: body.pose().quaternion().coords.into(),
        };
        bodies.map(object).collect()
    }

    fn failure(&self) -> Option<String> {
        self.failure.clone()
    }
}

fn lock(world: &Arc<Mutex<World>>) -> MutexGuard<'_, World> {
    world.lock().unwrap_or_else(PoisonError::into_inner)
}
