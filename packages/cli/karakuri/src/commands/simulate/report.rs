//! Report of a run: final states, energies, contacts, residuals, speed.

use std::collections::BTreeMap;

use karakuri_physics::{Energy, Ledger, RobotId, Stage, World, loop_gap};
use karakuri_spatial::{Motion, Pose};
use serde::Serialize;

use super::forces::{
    Contacts, GearForce, JointForce, Wrench, gear_forces, joint_forces, mimic_efforts,
    sensor_wrenches,
};
use super::trace::{base_state, joints};
use super::{Args, Run};

#[derive(Serialize)]
pub(super) struct Report {
    scene: String,
    result: String,
    simulated_s: f64,
    dt_s: f64,
    integrator: &'static str,
    steps: u64,
    steps_per_second: f64,
    real_time_factor: f64,
    /// Mean wall time of a step by stage, and the content of each; measured when a report is asked for.
    #[serde(rename = "stages_us", skip_serializing_if = "Option::is_none")]
    stages: Option<BTreeMap<&'static str, f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stages_hold: Option<BTreeMap<&'static str, &'static str>>,
    /// Reasons to doubt the run; empty if there are none.
    warnings: Vec<String>,
    solver: Solver,
    contacts: Contacts,
    #[serde(rename = "energy_J")]
    energy: BTreeMap<&'static str, Joules>,
    /// Work of drives, motors, pushes and belts on the world.
    #[serde(rename = "work_J")]
    work: f64,
    /// Largest growth of the energy beyond that work: energy that the simulation created.
    #[serde(rename = "energy_growth_J")]
    growth: f64,
    /// Ledger of the energy by cause, kept when it is asked for.
    #[serde(rename = "energy_ledger_J", skip_serializing_if = "Option::is_none")]
    ledger: Option<Ledger>,
    /// Forces of the attached joints in the last step.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    joints: BTreeMap<String, JointForce>,
    /// Loads of the gears in the last step.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    gears: BTreeMap<String, GearForce>,
    robots: BTreeMap<String, Robot>,
    bodies: BTreeMap<String, State>,
    state_hash: String,
}

#[derive(Serialize)]
struct Solver {
    method: &'static str,
    iterations_limit: usize,
    tolerance: f64,
    iterations_mean: f64,
    iterations_max: usize,
    residual_max: f64,
    unconverged_steps: u64,
    /// Share of the unconverged steps in all steps.
    unconverged_share: f64,
}

#[derive(Serialize)]
struct Joules {
    kinetic: f64,
    potential: f64,
}

#[derive(Serialize)]
struct State {
    position_m: [f64; 3],
    quaternion_xyzw: [f64; 4],
    linear_velocity_m_s: [f64; 3],
    angular_velocity_rad_s: [f64; 3],
}

#[derive(Serialize)]
struct Robot {
    /// Integrator of its free motion.
    integrator: &'static str,
    base: State,
    joints: BTreeMap<String, Joint>,
    /// Readings in the last step, in the links' axes.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    sensors: BTreeMap<String, Wrench>,
    loop_gap_m: f64,
    /// Efforts of couplings on mimic joints in the last step.
    #[serde(rename = "mimic_Nm_or_N", skip_serializing_if = "BTreeMap::is_empty")]
    mimic: BTreeMap<String, f64>,
    /// Distance of joints with prescribed motion from their tables.
    #[serde(rename = "prescribed_off_rad_or_m", skip_serializing_if = "BTreeMap::is_empty")]
    prescribed: BTreeMap<String, f64>,
}

#[derive(Serialize)]
struct Joint {
    q: Vec<f64>,
    v: Vec<f64>,
    tau: Vec<f64>,
}

/// Report of a run that ended in the state of `world`.
pub(super) fn of(world: &mut World, args: &Args, run: &Run, warnings: Vec<String>) -> Report {
    let tally = &run.tally;
    let settings = *world.settings();
    let joules = |e: Energy| Joules { kinetic: e.kinetic, potential: e.potential };
    let energy =
        BTreeMap::from([("initial", joules(run.initial)), ("final", joules(world.energy()))]);
    let wall = run.wall.max(f64::MIN_POSITIVE);
    let microseconds = tally.stage_times().map(|mean| 1e6 * mean);
    let stages = Stage::ALL.map(Stage::name).into_iter().zip(microseconds).collect();
    Report {
        scene: args.scene.display().to_string(),
        result: run.failure.clone().unwrap_or_else(|| "done".to_owned()),
        simulated_s: world.time(),
        dt_s: settings.dt,
        integrator: settings.integrator.name(),
        steps: tally.steps,
        steps_per_second: tally.steps as f64 / wall,
        real_time_factor: world.time() / wall,
        stages: args.report.as_ref().map(|_| stages),
        stages_hold: args.report.as_ref().map(|_| Stage::ALL.map(|s| (s.name(), s.holds())).into()),
        warnings,
        solver: Solver {
            method: settings.solver.method,
            iterations_limit: settings.solver.iterations,
            tolerance: settings.solver.tolerance,
            iterations_mean: tally.all_iterations as f64 / tally.steps.max(1) as f64,
            iterations_max: tally.most_iterations,
            residual_max: tally.worst_residual,
            unconverged_steps: tally.unconverged,
            unconverged_share: tally.unconverged as f64 / tally.steps.max(1) as f64,
        },
        contacts: run.contacts.report(world, tally.steps),
        energy,
        work: world.work_done(),
        growth: run.watch.growth(),
        ledger: settings.energy_ledger.then(|| world.ledger()),
        joints: joint_forces(world),
        gears: gear_forces(world),
        robots: world.robot_ids().map(|id| robot(world, id)).collect(),
        bodies: world
            .body_ids()
            .map(|id| world.body(id))
            .map(|b| (b.description().name.clone(), state(&b.pose(), &b.velocity())))
            .collect(),
        state_hash: format!("{:016x}", world.state_hash()),
    }
}

fn robot(world: &World, id: RobotId) -> (String, Robot) {
    let view = world.robot(id);
    let (pose, velocity) = base_state(view);
    let joints = joints(view.model()).map(|joint| {
        let (q, v) = (joint.q_start, joint.v_start);
        let (nq, nv) = (joint.kind.nq(), joint.kind.nv());
        let state = Joint {
            q: view.q()[q..q + nq].to_vec(),
            v: view.v()[v..v + nv].to_vec(),
            tau: view.efforts()[v..v + nv].to_vec(),
        };
        (joint.name.clone(), state)
    });
    let robot = Robot {
        integrator: world.integrator_of(id).name(),
        base: state(&pose, &velocity),
        joints: joints.collect(),
        sensors: sensor_wrenches(world, id),
        loop_gap_m: loop_gap(view.model(), view.data()),
        mimic: mimic_efforts(world, id),
        prescribed: world
            .prescribed_joints(id)
            .map(|(joint, off)| (view.model().joints[joint.0].name.clone(), off))
            .collect(),
    };
    (view.name().to_owned(), robot)
}

fn state(pose: &Pose, velocity: &Motion) -> State {
    State {
        position_m: pose.translation.into(),
        quaternion_xyzw: pose.quaternion().coords.into(),
        linear_velocity_m_s: velocity.linear.into(),
        angular_velocity_rad_s: velocity.angular.into(),
    }
}
