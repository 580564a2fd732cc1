//! Forces for the report: contacts by pair, attached joints, force sensors; means over the last step.

use std::collections::BTreeMap;

use karakuri_model::SensorKind;
use karakuri_physics::{GearReport, RobotId, World};
use karakuri_spatial::Force;
use serde::Serialize;

/// Counts of contact points over a run.
#[derive(Debug, Default)]
pub(super) struct Counts {
    most: usize,
    all: usize,
}

impl Counts {
    pub(super) fn count(&mut self, now: usize) {
        self.most = self.most.max(now);
        self.all += now;
    }

    pub(super) fn report(&self, world: &World, steps: u64) -> Contacts {
        Contacts {
            mean: self.all as f64 / steps.max(1) as f64,
            max: self.most,
            last: world.statistics().n_contacts,
            pairs: pairs(world),
        }
    }
}

#[derive(Serialize)]
pub(super) struct Contacts {
    mean: f64,
    max: usize,
    #[serde(rename = "final")]
    last: usize,
    pairs: Vec<Pair>,
}

/// Sum of all contacts of two things that carry force.
#[derive(Serialize)]
struct Pair {
    by: String,
    on: String,
    points: usize,
    #[serde(rename = "force_N")]
    force: [f64; 3],
}

/// Wrench at the origin that the field's documentation names, in N·m and N.
#[derive(Serialize)]
pub(super) struct Wrench {
    #[serde(rename = "force_N")]
    force: [f64; 3],
    #[serde(rename = "moment_Nm")]
    moment: [f64; 3],
}

impl From<Force> for Wrench {
    fn from(wrench: Force) -> Self {
        Self { force: wrench.force.into(), moment: wrench.moment.into() }
    }
}

/// Wrench on the second end of an attached joint, at its place, in world axes.
#[derive(Serialize)]
pub(super) struct JointForce {
    #[serde(flatten)]
    wrench: Wrench,
    yields: bool,
    broken: bool,
}

fn pairs(world: &World) -> Vec<Pair> {
    let mut pairs: Vec<Pair> = Vec::new();
    for contact in world.contacts() {
        let (by, on) = (world.part_name(contact.a), world.part_name(contact.b));
        let force: [f64; 3] = contact.force.into();
        match pairs.iter_mut().find(|p| p.by == by && p.on == on) {
            Some(pair) => {
                pair.points += 1;
                pair.force.iter_mut().zip(force).for_each(|(sum, f)| *sum += f);
            }
            None => pairs.push(Pair { by, on, points: 1, force }),
        }
    }
    pairs
}

pub(super) fn joint_forces(world: &World) -> BTreeMap<String, JointForce> {
    let force = |name: &str| {
        let report = world.joint(world.find_joint(name)?)?;
        let (yields, broken) = (report.yields, report.broken);
        Some((name.to_owned(), JointForce { wrench: report.wrench.into(), yields, broken }))
    };
    world.joint_names().filter_map(force).collect()
}

/// Load of a gear in the last step.
#[derive(Serialize)]
pub(super) struct GearForce {
    /// Effort on the driven side.
    #[serde(rename = "torque_Nm_or_N")]
    torque: f64,
    #[serde(rename = "slip_rad_or_m")]
    slip: f64,
    slips: bool,
}

pub(super) fn gear_forces(world: &World) -> BTreeMap<String, GearForce> {
    let force = |name: &str| {
        let GearReport { torque, slip, slips } = world.gear(world.find_gear(name)?)?;
        Some((name.to_owned(), GearForce { torque, slip, slips }))
    };
    world.gear_names().filter_map(force).collect()
}

/// Efforts that couplings exert on their followers.
pub(super) fn mimic_efforts(world: &World, id: RobotId) -> BTreeMap<String, f64> {
    let model = world.robot(id).model();
    let couplings = model.couplings.iter().enumerate();
    let effort = |(i, coupling): (usize, &karakuri_model::Coupling)| {
        (model.joints[coupling.follower.0].name.clone(), world.mimic_effort(id, i))
    };
    couplings.map(effort).collect()
}

pub(super) fn sensor_wrenches(world: &World, id: RobotId) -> BTreeMap<String, Wrench> {
    let sensors = world.robot(id).model().sensors.iter().enumerate();
    let forces = sensors.filter(|(_, sensor)| sensor.kind != SensorKind::Imu);
    forces.map(|(i, sensor)| (sensor.name.clone(), world.sensor_wrench(id, i).into())).collect()
}
