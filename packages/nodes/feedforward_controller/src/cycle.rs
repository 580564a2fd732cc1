//! Cycle of one sample, on the thread that receives it: a sample in, a command out, and a report to the node when something
//! happened.

use std::sync::Arc;

use karakuri_control::realtime::Updater;
use karakuri_control::{Command, State};
use karakuri_model::Model;
use karakuri_ros::msg::sensor_msgs::msg::JointState;
use karakuri_ros::{
    Implausible, IntoMessage, JointStateReader, NodeWaker, Parameter, Stopwatch, Unread,
    WirePublisher, time_from_message,
};
use karakuri_spatial::Time;
use rtrb::Producer;

use crate::convert::control_time;
use crate::vacuums::Vacuums;

/// Reason why a sample is not answered.
#[derive(Debug)]
pub(crate) enum NotRead {
    /// Joints that the sample lacks.
    Missing(Vec<String>),
    /// A number that no robot measures.
    Implausible(Implausible),
}

/// Cycle that answers samples; see the module.
#[derive(Debug)]
pub(crate) struct Cycle {
    pub(crate) model: Arc<Model>,
    pub(crate) updater: Updater,
    pub(crate) reader: JointStateReader,
    pub(crate) output: WirePublisher<JointState>,
    pub(crate) message: JointState,
    /// Joints of the message, as indices of the command's arrays.
    pub(crate) commanded: Vec<usize>,
    /// Vacuum generators, after the joints in the message.
    pub(crate) vacuums: Vacuums,
    pub(crate) period: Parameter<f64>,
    pub(crate) stopwatch: Stopwatch,
    /// Reasons why samples were not answered, for the node.
    pub(crate) unread: Producer<NotRead>,
    pub(crate) waker: NodeWaker,
}

impl Cycle {
    /// Takes over a sample; its stamp, or `None` when the sample lacks joints or has implausible numbers.
    pub(crate) fn read(&mut self, sample: &JointState) -> Option<Time> {
        self.stopwatch.arrived();
        match self.reader.read(&self.model, sample) {
            Ok(()) => Some(time_from_message(&sample.header.stamp)),
            // A full queue means that the node has not read the last reason yet.
            Err(_) if self.unread.is_full() => None,
            Err(why) => {
                let why = match why {
                    Unread::Missing(missing) => NotRead::Missing(missing.to_vec()),
                    Unread::Implausible(implausible) => NotRead::Implausible(implausible),
                };
                if self.unread.push(why).is_ok() {
                    self.waker.wake();
                }
                None
            }
        }
    }

    /// Answers the sample that was read last with a command.
    pub(crate) fn answer(&mut self, stamp: Time) {
        let JointStateReader { q, v, effort, .. } = &self.reader;
        let state = State { q, v, effort };
        let period = self.period.get();
        let has_news = self.updater.update(&state, control_time(stamp), period);
        fill(&mut self.message, self.updater.command(), &self.commanded);
        for force in self.vacuums.forces() {
            self.message.position.push(f64::NAN);
            self.message.velocity.push(f64::NAN);
            self.message.effort.push(force);
        }
        self.message.header.stamp = stamp.to_message();
        self.output.publish(&self.message);
        self.stopwatch.answered();
        if has_news {
            self.waker.wake();
        }
    }
}

fn fill(message: &mut JointState, command: &Command, commanded: &[usize]) {
    for (target, values) in [
        (&mut message.position, &command.position),
        (&mut message.velocity, &command.velocity),
        (&mut message.effort, &command.effort),
    ] {
        target.clear();
        target.extend(commanded.iter().map(|&j| values[j]));
    }
}
