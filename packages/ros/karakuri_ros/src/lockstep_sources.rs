//! Sources of lockstep that only let time go on: nodes that publish the header of each sample once they have seen it.

use std::time::Duration;

use karakuri_spatial::Time;

use crate::clock::time_from_message;
use crate::msg::std_msgs::msg::Header;
use crate::{Awaits, InputId, Node, RosError, SampleGate, qos};

/// Wall time after which a silent source is not waited for any more: longer than a busy machine holds a message back, shorter than the nodes that
/// wait for the answers of this one wait for them.
pub const SOURCE_SILENCE: Duration = Duration::from_secs(5);

/// Subscribes to topics of `std_msgs/Header` whose messages each answer of a gate waits for in lockstep, from the first one on; `hear` notes them.
///
/// # Errors
/// When a topic has no valid name.
pub fn follow_sources<S: 'static, Answer>(
    node: &mut Node<S>,
    gate: &mut SampleGate<Answer>,
    topics: &[String],
    hear: fn(&mut S, InputId, Time),
) -> Result<(), RosError> {
    for topic in topics.iter().filter(|topic| !topic.is_empty()) {
        let input = gate.add_input(topic, Awaits::OnceHeard);
        node.subscribe(topic, qos::state(), move |state: &mut S, header: &Header| {
            hear(state, input, time_from_message(&header.stamp));
        })?;
    }
    Ok(())
}
