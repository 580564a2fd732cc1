//! Columns of a trace beside the states: sensors, mimic joints, loops, gears, attached joints, suction cups, energy.

use karakuri_files::Column;
use karakuri_model::{DofKind, SensorKind};
use karakuri_physics::{Energy, Ledger, World, loop_gap};
use karakuri_spatial::Force;

const WRENCH: [(&str, &str); 6] =
    [("fx", "N"), ("fy", "N"), ("fz", "N"), ("mx", "N·m"), ("my", "N·m"), ("mz", "N·m")];
const IMU: [(&str, &str); 10] = [
    ("qx", ""),
    ("qy", ""),
    ("qz", ""),
    ("qw", ""),
    ("wx", "rad/s"),
    ("wy", "rad/s"),
    ("wz", "rad/s"),
    ("ax", "m/s²"),
    ("ay", "m/s²"),
    ("az", "m/s²"),
];

/// Adds the columns that follow the states in every row.
pub(super) fn columns(world: &World, columns: &mut Vec<Column>) {
    let mut add = |name: &str, parts: &[(&str, &str)]| {
        columns
            .extend(parts.iter().map(|(part, unit)| Column::new(format!("{name}.{part}"), *unit)));
    };
    for robot in world.robot_ids().map(|id| world.robot(id)) {
        let (name, model) = (robot.name(), robot.model());
        for sensor in &model.sensors {
            let parts = if sensor.kind == SensorKind::Imu { &IMU[..] } else { &WRENCH[..] };
            add(&format!("{name}.{}", sensor.name), parts);
        }
        for coupling in &model.couplings {
            let follower = &model.joints[coupling.follower.0];
            let slides = follower.kind.single() == Some(DofKind::Length);
            add(
                &format!("{name}.{}", follower.name),
                &[("mimic", if slides { "N" } else { "N·m" })],
            );
        }
        for joint in &model.loops {
            add(&format!("{name}.{}", joint.name), &WRENCH);
        }
        if !model.loops.is_empty() {
            add(name, &[("loop_gap", "m or rad")]);
        }
    }
    for gear in world.gear_names() {
        add(&format!("gear.{gear}"), &[("torque", "N·m or N"), ("slip", "rad or m")]);
    }
    for joint in world.joint_names() {
        add(&format!("joint.{joint}"), &WRENCH);
    }
    for suction in world.suction_names() {
        add(&format!("suction.{suction}"), &WRENCH);
        add(&format!("suction.{suction}"), &[("lip", "N"), ("opening", "m")]);
    }
}

/// Adds the values of these columns in the last step. A joint or gear that was removed gives 0.
pub(super) fn sample(world: &World, row: &mut Vec<f64>) {
    for id in world.robot_ids() {
        let robot = world.robot(id);
        for (i, sensor) in robot.model().sensors.iter().enumerate() {
            if sensor.kind == SensorKind::Imu {
                let imu = world.sensor_imu(id, i);
                row.extend(imu.orientation.coords.iter());
                row.extend(imu.angular_velocity.iter().chain(&imu.linear_acceleration));
            } else {
                add_wrench(row, &world.sensor_wrench(id, i));
            }
        }
        row.extend((0..robot.model().couplings.len()).map(|i| world.mimic_effort(id, i)));
        for i in 0..robot.model().loops.len() {
            add_wrench(row, &world.loop_wrench(id, i));
        }
        if !robot.model().loops.is_empty() {
            row.push(loop_gap(robot.model(), robot.data()));
        }
    }
    for gear in world.gear_names() {
        let report = world.find_gear(gear).and_then(|id| world.gear(id));
        row.extend(report.map_or([0.0; 2], |gear| [gear.torque, gear.slip]));
    }
    for joint in world.joint_names() {
        let report = world.find_joint(joint).and_then(|id| world.joint(id));
        add_wrench(row, &report.map_or_else(Force::default, |joint| joint.wrench));
    }
    for suction in world.suction_names() {
        let report = world.find_suction(suction).and_then(|id| world.suction(id));
        add_wrench(row, &report.map_or_else(Force::default, |suction| suction.wrench));
        row.extend(report.map_or([0.0; 2], |suction| [suction.lip_force, suction.opening]));
    }
}

/// Adds a wrench to a row, force first.
pub(super) fn add_wrench(row: &mut Vec<f64>, wrench: &Force) {
    row.extend(wrench.force.iter().chain(&wrench.moment));
}

/// Adds the columns of the energies, and of the ledger since the start.
pub(super) fn energy_columns(columns: &mut Vec<Column>) {
    let mut names = vec!["kinetic", "potential", "work"];
    names.extend(Ledger::default().causes().map(|(name, _)| name));
    columns.extend(names.iter().map(|name| Column::new(format!("energy.{name}"), "J")));
}

/// Adds the present values of these columns.
pub(super) fn sample_energy(world: &mut World, row: &mut Vec<f64>) {
    let Energy { kinetic, potential } = world.energy();
    row.extend([kinetic, potential, world.work_done()]);
    row.extend(world.ledger().causes().map(|(_, joules)| joules));
}
