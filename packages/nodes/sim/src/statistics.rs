//! `~/statistics`: cost and accuracy of the samples since the last message.

use karakuri_hardware::{Load, RobotIo};
use karakuri_physics::Ledger;
use karakuri_ros::msg::karakuri_msgs::msg::{EnergyLedger, SimStatistics};
use karakuri_ros::msg::std_msgs::msg::Header;
use karakuri_ros::{IntoMessage, Node, Publisher, RosError, qos};
use karakuri_spatial::Time;

use crate::backend::Backend;

/// Publisher of the statistics, and the figures that diagnostics show.
#[derive(Debug)]
pub(crate) struct Statistics {
    publisher: Publisher<SimStatistics>,
    /// Simulated seconds per second of wall time. [-]
    pub(crate) real_time_factor: f64,
    /// Count of steps whose residual exceeds the solver's tolerance and which diagnostics have not reported yet.
    pub(crate) unconverged: u64,
    /// Description of a part that turns too far in a step.
    pub(crate) long_turn: Option<String>,
}

impl Statistics {
    pub(crate) fn new<S: 'static>(node: &mut Node<S>) -> Result<Self, RosError> {
        let publisher = node.publisher("~/statistics", qos::state())?;
        Ok(Self { publisher, real_time_factor: 0.0, unconverged: 0, long_turn: None })
    }

    /// Publishes the statistics of a simulated world.
    pub(crate) fn publish(&mut self, io: &mut Backend, load: &Load, stamp: i64) {
        self.real_time_factor = load.real_time_factor;
        let period = io.period();
        let Some(tally) = io.take_tally() else { return };
        self.unconverged += tally.unconverged;
        let Some(world) = io.world_mut() else { return };
        self.long_turn = world.long_turns().first().map(ToString::to_string);
        let (statistics, energy, dt) = (world.statistics(), world.energy(), world.settings().dt);
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let [collision_time, free_motion_time, rows_time, solve_time, integrate_time] =
            tally.stage_times();
        self.publisher.publish(&SimStatistics {
            header: Header {
                stamp: Time::from_nanoseconds(stamp).to_message(),
                frame_id: "world".to_owned(),
            },
            step: statistics.steps,
            time_step: dt,
            real_time_factor: load.real_time_factor,
            step_time: tally.per_step(load.busy),
            step_time_max: load.longest * dt / period,
            wait_time: tally.per_step(load.idle),
            contacts: count(statistics.n_contacts),
            constraints: count(statistics.n_blocks),
            iterations: count(tally.most_iterations),
            residual: tally.worst_residual,
            unconverged: u32::try_from(tally.unconverged).unwrap_or(u32::MAX),
            collision_time,
            free_motion_time,
            rows_time,
            solve_time,
            integrate_time,
            kinetic_energy: energy.kinetic,
            potential_energy: energy.potential,
            ledger: ledger_message(&world.ledger()),
        });
    }
}

fn ledger_message(ledger: &Ledger) -> EnergyLedger {
    EnergyLedger {
        kinetic: ledger.kinetic,
        potential: ledger.potential,
        servos: ledger.servos,
        external: ledger.external,
        contacts: ledger.contacts,
        limits: ledger.limits,
        friction: ledger.friction,
        dampers: ledger.dampers,
        loops: ledger.loops,
        stabilisation: ledger.stabilisation,
        integration: ledger.integration,
        unexplained: ledger.unexplained,
    }
}
