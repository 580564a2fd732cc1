//! Numbers of a world that a user changes while it runs.

use karakuri_physics::{ObjectId, Owner, RobotId, World, WorldSettings};

use crate::wire::{Code, Parameter, ParameterValue, WireError};

/// Largest gain, effort, inertia and friction.
const LARGEST: f64 = 1e9;
/// Largest acceleration of gravity. [m/s²]
const LARGEST_GRAVITY: f64 = 1e3;
/// Largest coefficient of friction, and of rolling and spinning [m].
const LARGEST_FRICTION: f64 = 10.0;

/// A number of a world.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Number {
    /// Name, as `khr1.drives.l_knee_pitch.stiffness`.
    pub(super) name: String,
    place: Place,
    unit: &'static str,
    range: (f64, f64),
    text: &'static str,
}

/// Where a number is.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Place {
    Drive { robot: RobotId, dof: usize, what: DriveNumber },
    Joint { robot: RobotId, dof: usize, what: JointNumber },
    Surface { part: Owner, what: SurfaceNumber },
    Body { body: ObjectId, what: BodyNumber },
    World(WorldNumber),
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum DriveNumber {
    Stiffness,
    Damping,
    Effort,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum JointNumber {
    Armature,
    Viscous,
    Friction,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum SurfaceNumber {
    Friction,
    Restitution,
    Rolling,
    Spinning,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum BodyNumber {
    Mass,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum WorldNumber {
    Gravity(usize),
    Iterations,
    RestitutionThreshold,
    PenetrationSlop,
    PenetrationRate,
    PenetrationStep,
    AnchorRate,
}

/// Parameters of a world, with what they were in the scene.
pub(crate) fn list(world: &World, initial: &World) -> Vec<Parameter> {
    numbers(world).iter().map(|number| number.report(world, initial)).collect()
}

/// All numbers of a world.
pub(super) fn numbers(world: &World) -> Vec<Number> {
    let mut all = Vec::new();
    for robot in world.robot_ids() {
        robot_numbers(world, robot, &mut all);
    }
    for body in world.body_ids() {
        let view = world.body(body);
        let name = view.description().name.clone();
        surface_numbers(&name, Owner::Body(body), &mut all);
        if !view.description().fixed {
            all.push(Number {
                name: format!("{name}.mass"),
                place: Place::Body { body, what: BodyNumber::Mass },
                unit: "kg",
                range: (1e-9, LARGEST),
                text: "Mass; the inertia changes with it. Its energy jumps.",
            });
        }
    }
    if world.surface(Owner::Ground).is_some() {
        surface_numbers("ground", Owner::Ground, &mut all);
    }
    world_numbers(&mut all);
    all
}

fn robot_numbers(world: &World, robot: RobotId, all: &mut Vec<Number>) {
    let view = world.robot(robot);
    let (model, name) = (view.model(), view.name());
    for joint in model.joints.iter().filter(|j| j.kind.single().is_some()) {
        let dof = joint.v_start;
        let mut add = |key: &str, place, unit, text| {
            let name = format!("{name}.{key}");
            all.push(Number { name, place, unit, range: (0.0, LARGEST), text });
        };
        let key = |group: &str, what: &str| format!("{group}.{}.{what}", joint.name);
        if view.drives().enabled[dof] {
            let drive = |what| Place::Drive { robot, dof, what };
            let stiffness = drive(DriveNumber::Stiffness);
            add(&key("drives", "stiffness"), stiffness, "N·m/rad or N/m", "Of the drive.");
            let damping = drive(DriveNumber::Damping);
            add(&key("drives", "damping"), damping, "N·m·s/rad or N·s/m", "Of the drive.");
            if view.drives().effort_limit[dof] <= LARGEST {
                let effort = drive(DriveNumber::Effort);
                let text = "Largest effort of the drive.";
                add(&key("drives", "effort"), effort, "N·m or N", text);
            }
        }
        let own = |what| Place::Joint { robot, dof, what };
        let text = "Inertia of rotor and gear, as the joint feels it.";
        add(&key("joints", "armature"), own(JointNumber::Armature), "kg·m² or kg", text);
        let viscous = own(JointNumber::Viscous);
        add(&key("joints", "viscous"), viscous, "N·m·s/rad or N·s/m", "Effort over velocity.");
        add(&key("joints", "friction"), own(JointNumber::Friction), "N·m or N", "Dry friction.");
    }
    let mut links: Vec<usize> = model.collisions.iter().map(|g| g.frame.0).collect();
    links.sort_unstable();
    links.dedup();
    for link in links {
        let part = Owner::Link { robot, frame: karakuri_model::FrameId(link) };
        surface_numbers(&format!("{name}.surfaces.{}", model.frames[link].name), part, all);
    }
}

fn surface_numbers(name: &str, part: Owner, all: &mut Vec<Number>) {
    let rows = [
        ("friction", SurfaceNumber::Friction, "", LARGEST_FRICTION, "Coulomb coefficient."),
        ("restitution", SurfaceNumber::Restitution, "", 1.0, "Part of an impact given back."),
        ("rolling", SurfaceNumber::Rolling, "m", LARGEST_FRICTION, "Rolling friction."),
        ("spinning", SurfaceNumber::Spinning, "m", LARGEST_FRICTION, "Torsional friction."),
    ];
    for (key, what, unit, most, text) in rows {
        let (name, place) = (format!("{name}.{key}"), Place::Surface { part, what });
        all.push(Number { name, place, unit, range: (0.0, most), text });
    }
}

fn world_numbers(all: &mut Vec<Number>) {
    let mut add = |name: &str, what, unit, range, text| {
        let (name, place) = (format!("world.{name}"), Place::World(what));
        all.push(Number { name, place, unit, range, text });
    };
    let gravity = (-LARGEST_GRAVITY, LARGEST_GRAVITY);
    for (i, axis) in ["x", "y", "z"].into_iter().enumerate() {
        let what = WorldNumber::Gravity(i);
        add(&format!("gravity.{axis}"), what, "m/s²", gravity, "Gravitational acceleration.");
    }
    let text = "Most iterations of the contact solver.";
    add("solver.iterations", WorldNumber::Iterations, "", (1.0, 1e6), text);
    let text = "Impacts slower than this do not bounce.";
    add("restitution_threshold", WorldNumber::RestitutionThreshold, "m/s", (0.0, 1e3), text);
    let text = "Penetration that is left alone.";
    add("penetration.slop", WorldNumber::PenetrationSlop, "m", (0.0, 1.0), text);
    let text = "Part of a penetration that is undone a step.";
    add("penetration.rate", WorldNumber::PenetrationRate, "", (0.0, 1.0), text);
    let text = "Most that a penetration is undone a step.";
    add("penetration.step", WorldNumber::PenetrationStep, "m", (0.0, 1.0), text);
    let text = "Part of the drift of a sticking contact that is undone a step.";
    add("anchor_rate", WorldNumber::AnchorRate, "", (0.0, 1.0), text);
}

impl Number {
    /// The number as clients get it.
    pub(super) fn report(&self, world: &World, initial: &World) -> Parameter {
        let value = |of: &World| ParameterValue::Number(self.get(of).unwrap_or(0.0));
        Parameter {
            name: self.name.clone(),
            value: value(world),
            initial: value(initial),
            unit: self.unit.to_owned(),
            min: Some(self.range.0),
            max: Some(self.range.1),
            text: self.text.to_owned(),
        }
    }

    /// Value in a world; `None` where that has no such thing.
    pub(super) fn get(&self, world: &World) -> Option<f64> {
        match self.place {
            Place::Drive { robot, dof, what } => {
                let drives = world.robot(robot).drives();
                Some(match what {
                    DriveNumber::Stiffness => drives.stiffness[dof],
                    DriveNumber::Damping => drives.damping[dof],
                    DriveNumber::Effort => drives.effort_limit[dof],
                })
            }
            Place::Joint { robot, dof, what } => {
                let dynamics = world.robot(robot).joint_dynamics(dof);
                Some(match what {
                    JointNumber::Armature => dynamics.armature,
                    JointNumber::Viscous => dynamics.viscous,
                    JointNumber::Friction => dynamics.friction,
                })
            }
            Place::Surface { part, what } => {
                let surface = world.surface(part)?;
                Some(match what {
                    SurfaceNumber::Friction => surface.friction,
                    SurfaceNumber::Restitution => surface.restitution,
                    SurfaceNumber::Rolling => surface.rolling,
                    SurfaceNumber::Spinning => surface.spinning,
                })
            }
            Place::Body { body, what: BodyNumber::Mass } => {
                Some(world.body(body).description().mass)
            }
            Place::World(what) => Some(world_number(world.settings(), what)),
        }
    }

    /// Sets the value in a world.
    pub(super) fn set(&self, world: &mut World, value: f64) -> Result<(), WireError> {
        let (least, most) = self.range;
        if !(least..=most).contains(&value) {
            let text = format!("{value} is out of range");
            let hint = format!("write a number from {least} to {most}");
            return Err(WireError::new(Code::Limit, text, hint).at(&self.name));
        }
        let refused = |error| WireError::from_text(Code::Invalid, &error).at(&self.name);
        match self.place {
            Place::Drive { robot, dof, what } => {
                let drives = world.drive_mut(robot);
                match what {
                    DriveNumber::Stiffness => drives.stiffness[dof] = value,
                    DriveNumber::Damping => drives.damping[dof] = value,
                    DriveNumber::Effort => drives.effort_limit[dof] = value,
                }
                Ok(())
            }
            Place::Joint { robot, dof, what } => {
                let mut dynamics = world.robot(robot).joint_dynamics(dof);
                match what {
                    JointNumber::Armature => dynamics.armature = value,
                    JointNumber::Viscous => dynamics.viscous = value,
                    JointNumber::Friction => dynamics.friction = value,
                }
                world.set_joint_dynamics(robot, dof, dynamics).map_err(refused)
            }
            Place::Surface { part, what } => {
                let mut surface = world.surface(part).unwrap_or_default();
                match what {
                    SurfaceNumber::Friction => {
                        // Sliding goes along: a surface whose two coefficients were equal keeps one.
                        let same = surface.dynamic_friction >= surface.friction;
                        surface.friction = value;
                        surface.dynamic_friction =
                            if same { value } else { surface.dynamic_friction.min(value) };
                    }
                    SurfaceNumber::Restitution => surface.restitution = value,
                    SurfaceNumber::Rolling => surface.rolling = value,
                    SurfaceNumber::Spinning => surface.spinning = value,
                }
                world.set_surface(part, surface).map_err(refused)
            }
            Place::Body { body, what: BodyNumber::Mass } => {
                world.set_mass(body, value).map_err(refused)
            }
            Place::World(what) => {
                let mut settings = *world.settings();
                set_world_number(&mut settings, what, value);
                world.set_settings(settings);
                Ok(())
            }
        }
    }
}

fn world_number(settings: &WorldSettings, what: WorldNumber) -> f64 {
    match what {
        WorldNumber::Gravity(axis) => settings.gravity[axis],
        WorldNumber::Iterations => settings.solver.iterations as f64,
        WorldNumber::RestitutionThreshold => settings.restitution_threshold,
        WorldNumber::PenetrationSlop => settings.penetration_slop,
        WorldNumber::PenetrationRate => settings.penetration_rate,
        WorldNumber::PenetrationStep => settings.penetration_step,
        WorldNumber::AnchorRate => settings.anchor_rate,
    }
}

fn set_world_number(settings: &mut WorldSettings, what: WorldNumber, value: f64) {
    match what {
        WorldNumber::Gravity(axis) => settings.gravity[axis] = value,
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "1 to 1e6")]
        WorldNumber::Iterations => settings.solver.iterations = value.round() as usize,
        WorldNumber::RestitutionThreshold => settings.restitution_threshold = value,
        WorldNumber::PenetrationSlop => settings.penetration_slop = value,
        WorldNumber::PenetrationRate => settings.penetration_rate = value,
        WorldNumber::PenetrationStep => settings.penetration_step = value,
        WorldNumber::AnchorRate => settings.anchor_rate = value,
    }
}
