//! Suction cups of a simulated robot: where a lip seals, what its vacuum is, and with what force it holds.
//!
//! A cup that is evacuated and has a surface before all of its lip seals on it (`World::attach_suction`). From then on the world has the contact
//! of lip and surface, and its vacuum the force; the leak stays that of the first touch. A lip that comes off is open. What is let go of is
//! free when the vacuum is gone.
//!
//! A lip on bellows lies on a surface that is nearer than its free length, up to the stroke, and tilted by as much as one side shortens by
//! the stroke while the other one does not. It presses from when it seals.

use core::f64::consts::TAU;

use karakuri_dynamics::frame_pose;
use karakuri_grasp::suction::seal::{Lip, Rays, Seal};
use karakuri_grasp::suction::vacuum::Vacuum;
use karakuri_model::{Bellows, SuctionCup, SuctionUnit};
use karakuri_physics::{Owner, RobotId, SuctionDescription, SuctionId, World};
use karakuri_spatial::{Pose, UnitQuaternion, Vector3};

/// Rays around a lip: one of 24 points lets a hole of an eighth of the lip's diameter pass.
const RAYS: usize = 24;
/// Depth to which a lip may be pressed into a surface when it begins to seal. [m]
const PRESSED: f64 = 3e-3;
/// Distance beyond its flexion at which a lip is drawn to a surface. [m]
const DRAWN: f64 = 5e-4;
/// Vacuum at which a cup that lets go is free. [Pa]
const FREE: f64 = 500.0;

/// The cups of a robot, with their generators.
#[derive(Debug, Clone, Default)]
pub(crate) struct SuctionCups {
    units: Vec<Unit>,
}

/// A generator and its cups.
#[derive(Debug, Clone)]
struct Unit {
    vacuum: Vacuum,
    /// Vacuum that is desired; 0 lets go. [Pa]
    desired: f64,
    /// Flow that is blown in to let go. [m³/s]
    blow_off: f64,
    /// Leak of a lip over that of its seal by the model. [-]
    leak: f64,
    cups: Vec<Cup>,
}

#[derive(Debug, Clone)]
struct Cup {
    /// Name in the world.
    name: String,
    data: SuctionCup,
    lip: Lip,
    sealed: Option<SuctionId>,
}

impl SuctionCups {
    pub(crate) fn new(robot: &str, units: &[SuctionUnit]) -> Self {
        let cup = |cup: &SuctionCup| Cup {
            name: format!("{robot}/{}", cup.name),
            lip: Lip::of(cup),
            data: cup.clone(),
            sealed: None,
        };
        let unit = |unit: &SuctionUnit| Unit {
            vacuum: Vacuum::new(unit),
            desired: 0.0,
            blow_off: unit.blow_off,
            leak: 1.0,
            cups: unit.cups.iter().map(cup).collect(),
        };
        Self { units: units.iter().map(unit).collect() }
    }

    /// Whether the robot has none.
    pub(crate) fn is_empty(&self) -> bool {
        self.units.is_empty()
    }

    /// Sets the vacuum that a generator makes; at 0 it lets go. [Pa]
    pub(crate) fn command(&mut self, generator: usize, vacuum: f64) {
        self.units[generator].desired = vacuum.max(0.0);
    }

    /// Multiplies the leak of each lip that seals, now and later. [-]
    pub(crate) fn scale_leaks(&mut self, factor: f64) {
        for unit in &mut self.units {
            unit.leak *= factor;
            for (cup, node) in unit.cups.iter().zip(&mut unit.vacuum.cups) {
                if cup.sealed.is_some() {
                    node.leak = node.leak.times(factor);
                }
            }
        }
    }

    /// Vacuums in all cups, generator by generator. [Pa]
    pub(crate) fn vacuums(&self) -> impl Iterator<Item = f64> {
        self.units.iter().flat_map(|unit| &unit.vacuum.cups).map(|cup| cup.vacuum)
    }

    /// Goes on by a step of the world, before the world does.
    pub(crate) fn step(&mut self, world: &mut World, robot: RobotId) {
        for unit in &mut self.units {
            unit.step(world, robot);
        }
    }
}

impl Unit {
    fn step(&mut self, world: &mut World, robot: RobotId) {
        let pulls = self.desired > 0.0;
        for (cup, node) in self.cups.iter_mut().zip(&mut self.vacuum.cups) {
            if cup.comes_off(world) {
                node.leak = cup.lip.open();
            }
            if pulls
                && cup.sealed.is_none()
                && let Some(seal) = cup.seal(world, robot)
            {
                node.leak = seal.leak.times(self.leak);
            }
        }
        // A vacuum switch: the generator runs below what is desired.
        self.vacuum.is_on = pulls && self.vacuum.vacuum < self.desired;
        let is_evacuated = self.vacuum.cups.iter().any(|cup| cup.vacuum > 0.0);
        self.vacuum.blow_off = if !pulls && is_evacuated { self.blow_off } else { 0.0 };
        self.vacuum.step(world.settings().dt);
        for (cup, node) in self.cups.iter_mut().zip(&mut self.vacuum.cups) {
            let Some(id) = cup.sealed else { continue };
            if !pulls && node.vacuum < FREE {
                world.detach_suction(id);
                cup.sealed = None;
                node.leak = cup.lip.open();
            } else {
                // It is there, and the force is that of a vacuum between 0 and the atmosphere.
                let _attached = world.set_suction(id, cup.data.area * node.vacuum);
            }
        }
    }
}

impl Cup {
    /// Whether the lip has come off what it held, or that is gone; a world that was set back may hold something again.
    fn comes_off(&mut self, world: &mut World) -> bool {
        let held = world.find_suction(&self.name);
        let is_lost = held.and_then(|id| world.suction(id)).is_some_and(|report| report.lost);
        if let Some(id) = held.filter(|_| is_lost) {
            world.detach_suction(id);
        }
        let before = self.sealed.is_some();
        self.sealed = held.filter(|_| !is_lost);
        before && self.sealed.is_none()
    }

    /// Seals the lip on what lies before all of it.
    fn seal(&mut self, world: &mut World, robot: RobotId) -> Option<Seal> {
        let view = world.robot(robot);
        let X_WL = frame_pose(view.model(), view.data(), self.data.link) * self.data.lip;
        let axis = X_WL.rotation.column(2).into_owned();
        let own = Owner::Link { robot, frame: self.data.link };
        // All links of its body: a palm to which the cup is fixed may reach beside the lip.
        let model = view.model();
        let body = model.frames[self.data.link.0].body;
        let is_own = |part: Owner| match part {
            Owner::Link { robot: other, frame } => {
                other == robot && model.frames[frame.0].body == body
            }
            _ => false,
        };
        // Bellows reach around where they are fixed: up to the stroke, and by their tilt to both sides.
        let [stroke, tilted] = self.data.bellows.map_or([0.0; 2], |b| [b.stroke, 0.5 * b.stroke]);
        let pressed = PRESSED.max(stroke) + tilted;
        let range = pressed + self.lip.flexion + self.lip.room + DRAWN + tilted;
        let look = |world: &World, across: Vector3| {
            let origin = X_WL.transform_point(&across) - axis * pressed;
            let hit = world.cast_ray_past(&origin, &axis, range, is_own)?;
            Some((hit.part, hit.distance - pressed))
        };
        // Mostly there is nothing: one ray says so.
        let (object, center) = look(world, Vector3::zeros())?;
        let mut ring = [None; RAYS];
        for (i, distance) in ring.iter_mut().enumerate() {
            let (sin, cos) = (TAU * i as f64 / RAYS as f64).sin_cos();
            let across = Vector3::new(cos, sin, 0.0) * self.lip.radius;
            // What belongs to something else is no part of this surface.
            *distance = look(world, across).filter(|(part, _)| *part == object).map(|hit| hit.1);
        }
        let rays = Rays { ring: &ring, center: Some(center) };
        let seal = Seal::of(&self.lip, rays, self.data.roughness);
        let lies_on = seal.open == 0.0 && seal.excess == 0.0;
        // Half of the stroke either way at the lip's circle: then one side is free, the other at the stop.
        let tilt = self.lip.radius * seal.slope[0].hypot(seal.slope[1]);
        if !lies_on || self.data.bellows.is_some_and(|bellows| tilt > 0.5 * bellows.stroke) {
            return None;
        }
        if seal.distance > self.lip.flexion + DRAWN {
            return None;
        }
        let description = SuctionDescription {
            cup: own,
            object,
            pose_in_cup: self.data.lip,
            radius: self.lip.radius,
            friction: self.data.friction,
            flexion: self.lip.flexion.max(DRAWN),
        };
        // Refused where both are one rigid body, as the floor and a link that is fixed to it: nothing is held.
        self.sealed = match self.data.bellows {
            Some(bellows) => {
                let lip = lip_on(&seal, &bellows);
                world.attach_suction_on_bellows(&self.name, description, bellows, &lip).ok()
            }
            None => world.attach_suction(&self.name, description).ok(),
        };
        self.sealed.map(|_| seal)
    }
}

/// Lip on a surface, in the frame that it has without force.
fn lip_on(seal: &Seal, bellows: &Bellows) -> Pose {
    let [along_x, along_y] = seal.slope;
    let normal = Vector3::new(-along_x, -along_y, 1.0);
    // By the way that is shortest: nothing twists it. Half a turn apart they never are.
    let turn = UnitQuaternion::rotation_between(&Vector3::z(), &normal).unwrap_or_default();
    // Over a gap it is the lip that reaches out.
    let shortened = seal.distance.clamp(-bellows.stroke, 0.0);
    Pose::from_quaternion(&turn, Vector3::z() * shortened)
}
