//! Copies of a cell that differ a little: what is not known exactly.

use std::f64::consts::TAU;

use karakuri_hardware::RobotIo;
use karakuri_physics::{JointDynamics, Owner, World};
use karakuri_spatial::{Motion, Pose, Vector3};

use crate::Cell;
use crate::error::RehearsalError;

/// Largest differences of copies from what is stated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// Of the object's mass, as a share of it. [-]
    pub mass: f64,
    /// Of the object's friction, of a robot that walks that of its soles, as a share of it. [-]
    pub friction: f64,
    /// Of the object's place from where it is seen, along x and along y. [m]
    pub place: f64,
    /// Of the object's yaw from that with which it is seen. [rad]
    pub yaw: f64,
    /// Of the leak of suction lips: between this times as much and as little. [-]
    pub leak: f64,
    /// Of the friction of the robot's joints, dry and viscous, as a share of it. [-]
    pub joint_friction: f64,
    /// Whether the sensors' noise is that of another run.
    pub noise: bool,
}

impl Default for Spread {
    fn default() -> Self {
        Self {
            mass: 0.15,
            friction: 0.2,
            place: 0.002,
            yaw: 2.0 / 360.0 * TAU,
            leak: 2.0,
            joint_friction: 0.2,
            noise: true,
        }
    }
}

/// Difference of a copy from what is stated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Variation {
    /// Mass of the object over the stated one. [-]
    pub mass: f64,
    /// Friction of the object over the stated one. [-]
    pub friction: f64,
    /// Place of the object from where it is seen, along x and y. [m] (2)
    pub place: [f64; 2],
    /// Yaw of the object from that with which it is seen. [rad]
    pub yaw: f64,
    /// Leak of suction lips over that of the model. [-]
    pub leak: f64,
    /// Friction of the robot's joints over that of the model. [-]
    pub joint_friction: f64,
    /// Run of the sensors' noise; 0 is the one that goes on.
    pub noise: u64,
}

/// Number of copies before the random ones: the nominal one and the corners of mass and friction.
pub(crate) const STATED: usize = 5;

impl Variation {
    /// As stated.
    pub const NONE: Self = Self {
        mass: 1.0,
        friction: 1.0,
        place: [0.0; 2],
        yaw: 0.0,
        leak: 1.0,
        joint_friction: 1.0,
        noise: 0,
    };

    /// Variation of a copy of a number: the first one has none, the next four are the corners of mass and friction, the others are random. Equal seeds give
    /// equal variations, in any order.
    pub fn of_copy(copy: usize, spread: &Spread, seed: u64) -> Self {
        let Spread { mass, friction, place, yaw, leak, joint_friction, noise } = *spread;
        let corner = |m: f64, f: f64| Self {
            mass: 1.0 + m * mass,
            friction: 1.0 + f * friction,
            ..Self::NONE
        };
        match copy {
            0 => Self::NONE,
            1 => corner(1.0, -1.0),
            2 => corner(-1.0, 1.0),
            3 => corner(1.0, 1.0),
            4 => corner(-1.0, -1.0),
            _ => {
                let draw = |quantity: u64| between(seed, copy as u64, quantity);
                Self {
                    mass: 1.0 + mass * draw(0),
                    friction: 1.0 + friction * draw(1),
                    place: [place * draw(2), place * draw(3)],
                    yaw: yaw * draw(4),
                    leak: leak.powf(draw(5)),
                    joint_friction: 1.0 + joint_friction * draw(6),
                    noise: if noise { random_bits(seed, copy as u64, 7) } else { 0 },
                }
            }
        }
    }

    /// The same with the object where it is seen.
    pub(crate) fn in_place(self) -> Self {
        Self { place: [0.0; 2], yaw: 0.0, ..self }
    }
}

/// Probability of success above which a task is with a confidence of 95 %, when all of `n` random copies succeeded. [-]
pub fn least_probability(n: usize) -> f64 {
    if n == 0 { 0.0 } else { 0.05_f64.powf(1.0 / n as f64) }
}

/// A number between −1 and 1 for a quantity of a copy.
fn between(seed: u64, copy: u64, quantity: u64) -> f64 {
    2.0 * (random_bits(seed, copy, quantity) >> 11) as f64 / (1_u64 << 53) as f64 - 1.0
}

/// Random bits (`SplitMix64`) for a quantity of a copy.
fn random_bits(seed: u64, copy: u64, quantity: u64) -> u64 {
    const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
    let mixed = |state: u64| {
        let mut z = state.wrapping_add(STEP);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    mixed(mixed(mixed(seed) ^ copy) ^ quantity)
}

/// Whether a quantity is another one.
fn differs(value: f64, from: f64) -> bool {
    (value - from).abs() > 0.0
}

impl Cell {
    /// Makes the robot, and an object, if there is one, differ from what is stated; it is seen as before. What does not differ is not touched: a copy
    /// without a variation goes on to the same bits.
    ///
    /// # Errors
    /// When there is no such body, it is fixed, or a mass or a friction would be none.
    pub fn vary(
        &mut self,
        object: Option<&str>,
        variation: &Variation,
    ) -> Result<(), RehearsalError> {
        self.vary_robot(variation)?;
        self.vary_soles(variation.friction)?;
        object.map_or(Ok(()), |object| self.vary_object(object, variation))
    }

    fn vary_robot(&mut self, variation: &Variation) -> Result<(), RehearsalError> {
        let Variation { leak, joint_friction, noise, .. } = *variation;
        if differs(leak, 1.0) {
            self.io.scale_leaks(self.robot, leak);
        }
        let name = self.io.robots()[self.robot].name.clone();
        let world = self.io.world_mut();
        let Some(id) = world.find_robot(&name) else { return Ok(()) };
        if noise != 0 {
            world.restart_noise(id, noise);
        }
        if differs(joint_friction, 1.0) {
            for dof in 0..self.model.nv {
                let JointDynamics { armature, viscous, friction } =
                    world.robot(id).joint_dynamics(dof);
                let [viscous, friction] = [viscous, friction].map(|x| joint_friction * x);
                world.set_joint_dynamics(id, dof, JointDynamics { armature, viscous, friction })?;
            }
        }
        Ok(())
    }

    fn vary_soles(&mut self, friction: f64) -> Result<(), RehearsalError> {
        let Some(gait) = self.gait.as_ref().filter(|_| differs(friction, 1.0)) else {
            return Ok(());
        };
        let soles = gait.soles(&self.model);
        let name = self.io.robots()[self.robot].name.clone();
        let world = self.io.world_mut();
        let Some(robot) = world.find_robot(&name) else { return Ok(()) };
        for frame in soles {
            vary_friction(world, Owner::Link { robot, frame }, friction)?;
        }
        Ok(())
    }

    fn vary_object(&mut self, object: &str, variation: &Variation) -> Result<(), RehearsalError> {
        let Variation { mass, friction, place, yaw, .. } = *variation;
        let world = self.io.world_mut();
        let Some(id) = world.find_body(object) else {
            return Err(RehearsalError::NoObject { name: object.to_owned() });
        };
        let (pose, stated) = (world.body(id).pose(), world.body(id).description().mass);
        let part = Owner::Body(id);
        if differs(friction, 1.0) {
            vary_friction(world, part, friction)?;
        }
        if differs(mass, 1.0) {
            world.set_mass(id, mass * stated)?;
        }
        if place.iter().any(|&off| differs(off, 0.0)) || differs(yaw, 0.0) {
            let turn = Pose::from_axis_angle(&Vector3::z(), yaw);
            let shift = Vector3::new(place[0], place[1], 0.0);
            let there = Pose::new(turn.rotation * pose.rotation, pose.translation + shift);
            world.set_body_state(id, there, Motion::default())?;
            self.sight_error = Some((object.to_owned(), there.inverse() * pose));
        }
        Ok(())
    }
}

/// Multiplies the friction of a part. [-]
fn vary_friction(world: &mut World, part: Owner, factor: f64) -> Result<(), RehearsalError> {
    let Some(mut surface) = world.surface(part) else { return Ok(()) };
    surface.friction *= factor;
    surface.dynamic_friction *= factor;
    Ok(world.set_surface(part, surface)?)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn equal_seeds_give_equal_copies_within_the_spread() {
        let spread = Spread::default();
        let copies = |seed| (0..64).map(move |copy| Variation::of_copy(copy, &spread, seed));
        assert!(copies(1).eq(copies(1)) && !copies(1).eq(copies(2)));
        for Variation { mass, friction, place, yaw, leak, joint_friction, .. } in copies(3) {
            assert!((mass - 1.0).abs() < 0.15 + 1e-12 && (friction - 1.0).abs() < 0.2 + 1e-12);
            assert!((0.5..=2.0).contains(&leak) && (joint_friction - 1.0).abs() < 0.2 + 1e-12);
            assert!(place.iter().all(|off| off.abs() <= 0.002) && yaw.abs() <= spread.yaw);
        }
        let noises: BTreeSet<_> = copies(3).map(|copy| copy.noise).collect();
        assert_eq!(noises.len(), 60, "the nominal one and the corners go on with the same");
        let mean = copies(4).skip(5).map(|copy| copy.mass).sum::<f64>() / 59.0;
        assert!((mean - 1.0).abs() < 0.05, "{mean}");
    }

    /// 8, 16 and 59 random copies.
    #[test]
    fn copies_that_succeed_bound_the_probability() {
        for (n, known) in [(8, 0.69), (16, 0.83), (59, 0.95)] {
            assert!((least_probability(n) - known).abs() < 0.005, "{n}");
        }
        assert!(least_probability(0) <= 0.0);
    }
}
