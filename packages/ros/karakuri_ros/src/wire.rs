//! Messages of 1 kHz, read from the middleware's bytes and written to them.
//!
//! Through rcl and r2r a message is built in C and again in Rust: a string for every joint, an array for every quantity, all
//! freed again. Here it is read into a message that is kept, and written to bytes that are kept; once the names are known
//! nothing is allocated. The bytes are those of DDS, plain CDR: a header of four bytes that gives the order of bytes, then the
//! fields, each aligned to its size counted from behind the header; strings and arrays follow their length. A middleware that
//! writes other bytes is detected at the start, and its messages go through r2r.
//! [OMG DDSI-RTPS 2.3, §10.2; OMG CORBA 3.3, part 2, §9.3]

use std::{fmt, sync::Arc, time::Duration};

use crate::{
    Message, Throttle,
    msg::{builtin_interfaces::msg::Time, rosgraph_msgs::msg::Clock, sensor_msgs::msg::JointState},
    warn,
};

/// Header of written messages: plain CDR, least significant byte first.
const HEADER: [u8; 4] = [0, 1, 0, 0];

/// Message type that is read and written in place.
pub trait Wire: Message + PartialEq {
    /// Name of the type, as `sensor_msgs/msg/JointState`.
    const TYPE: &'static str;

    /// Message with a value in every field, to test the middleware with.
    fn example() -> Self;

    /// Reads the message from bytes; `None` when they are not such a message, which is then left half read.
    fn read(&mut self, bytes: &[u8]) -> Option<()>;

    /// Writes the message, replacing `bytes`.
    fn write(&self, bytes: &mut Vec<u8>);
}

/// Whether the middleware reads the bytes that are written here, and writes those that are read here.
pub(crate) fn is_understood<T: Wire>() -> bool {
    let (message, mut read, mut bytes) = (T::example(), T::default(), Vec::new());
    message.write(&mut bytes);
    let Ok(theirs) = message.to_serialized_bytes() else { return false };
    let reads = T::from_serialized_bytes(&bytes).is_ok_and(|read| read == message);
    reads && read.read(&theirs).is_some() && read == message
}

struct Reader<'a> {
    body: &'a [u8],
    at: usize,
    least_first: bool,
}

impl<'a> Reader<'a> {
    fn new(bytes: &'a [u8]) -> Option<Self> {
        let (header, body) = bytes.split_at_checked(HEADER.len())?;
        let least_first = match header {
            [0, 1, ..] => true,
            [0, 0, ..] => false,
            _ => return None,
        };
        Some(Self { body, at: 0, least_first })
    }

    fn take(&mut self, n: usize, alignment: usize) -> Option<&'a [u8]> {
        let start = self.at.next_multiple_of(alignment);
        let taken = self.body.get(start..start.checked_add(n)?)?;
        self.at = start + n;
        Some(taken)
    }

    fn u32(&mut self) -> Option<u32> {
        let bytes = self.take(4, 4)?.try_into().ok()?;
        Some(if self.least_first { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) })
    }

    fn length(&mut self) -> Option<usize> {
        usize::try_from(self.u32()?).ok()
    }

    fn stamp(&mut self) -> Option<Time> {
        Some(Time { sec: self.u32()?.cast_signed(), nanosec: self.u32()? })
    }

    fn text(&mut self, into: &mut String) -> Option<()> {
        let n = self.length()?;
        let bytes = self.take(n, 1)?;
        let text = str::from_utf8(bytes.strip_suffix(&[0]).unwrap_or(bytes)).ok()?;
        if into != text {
            into.clear();
            into.push_str(text);
        }
        Some(())
    }

    fn texts(&mut self, into: &mut Vec<String>) -> Option<()> {
        let n = self.length()?;
        into.truncate(n);
        for i in 0..n {
            if into.len() == i {
                into.push(String::new());
            }
            self.text(&mut into[i])?;
        }
        Some(())
    }

    fn numbers(&mut self, into: &mut Vec<f64>) -> Option<()> {
        let n = self.length()?;
        into.clear();
        if n == 0 {
            return Some(());
        }
        let bytes = self.take(n.checked_mul(8)?, 8)?;
        let read = if self.least_first { f64::from_le_bytes } else { f64::from_be_bytes };
        into.extend(bytes.as_chunks().0.iter().map(|bytes| read(*bytes)));
        Some(())
    }
}

/// Writer that appends to bytes which begin with the header.
struct Writer<'a>(&'a mut Vec<u8>);

impl<'a> Writer<'a> {
    fn new(bytes: &'a mut Vec<u8>) -> Self {
        bytes.clear();
        bytes.extend_from_slice(&HEADER);
        Self(bytes)
    }

    fn align(&mut self, alignment: usize) {
        let body = self.0.len() - HEADER.len();
        self.0.resize(HEADER.len() + body.next_multiple_of(alignment), 0);
    }

    fn u32(&mut self, value: u32) {
        self.align(4);
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    /// Writes a length. The middleware cuts off what exceeds the longest message, not this function.
    fn length(&mut self, n: usize) {
        self.u32(u32::try_from(n).unwrap_or(u32::MAX));
    }

    fn stamp(&mut self, stamp: &Time) {
        self.u32(stamp.sec.cast_unsigned());
        self.u32(stamp.nanosec);
    }

    fn text(&mut self, text: &str) {
        self.length(text.len() + 1);
        self.0.extend_from_slice(text.as_bytes());
        self.0.push(0);
    }

    fn numbers(&mut self, numbers: &[f64]) {
        self.length(numbers.len());
        if !numbers.is_empty() {
            self.align(8);
            self.0.extend(numbers.iter().flat_map(|x| x.to_le_bytes()));
        }
    }
}

impl Wire for Clock {
    const TYPE: &'static str = "rosgraph_msgs/msg/Clock";

    fn example() -> Self {
        Self { clock: Time { sec: -2, nanosec: 3 } }
    }

    fn read(&mut self, bytes: &[u8]) -> Option<()> {
        self.clock = Reader::new(bytes)?.stamp()?;
        Some(())
    }

    fn write(&self, bytes: &mut Vec<u8>) {
        Writer::new(bytes).stamp(&self.clock);
    }
}

impl Wire for JointState {
    const TYPE: &'static str = "sensor_msgs/msg/JointState";

    fn example() -> Self {
        let mut message = Self {
            name: ["a", "", "of seven"].map(str::to_owned).to_vec(),
            position: vec![1.0, f64::MIN_POSITIVE, -3.0],
            velocity: Vec::new(),
            effort: vec![f64::INFINITY],
            ..Self::default()
        };
        message.header.stamp = Time { sec: -2, nanosec: 3 };
        message.header.frame_id.push_str("base");
        message
    }

    fn read(&mut self, bytes: &[u8]) -> Option<()> {
        let mut reader = Reader::new(bytes)?;
        self.header.stamp = reader.stamp()?;
        reader.text(&mut self.header.frame_id)?;
        reader.texts(&mut self.name)?;
        for array in [&mut self.position, &mut self.velocity, &mut self.effort] {
            reader.numbers(array)?;
        }
        Some(())
    }

    fn write(&self, bytes: &mut Vec<u8>) {
        let mut writer = Writer::new(bytes);
        writer.stamp(&self.header.stamp);
        writer.text(&self.header.frame_id);
        writer.length(self.name.len());
        self.name.iter().for_each(|name| writer.text(name));
        for array in [&self.position, &self.velocity, &self.effort] {
            writer.numbers(array);
        }
    }
}

/// Publisher of one topic from one place, without allocating. After the node has stopped it does nothing.
pub struct WirePublisher<T: Wire> {
    publisher: RosPublisher<T>,
    bytes: Vec<u8>,
    topic: Arc<str>,
    refused: Throttle,
}

/// Subscribers of a [`WirePublisher`], as seen from elsewhere.
pub struct Audience<T: Wire>(RosPublisher<T>);

/// Path of a message to the middleware.
#[derive(Clone)]
pub(crate) enum RosPublisher<T: Wire> {
    /// The message goes as bytes that are written here.
    Bytes(r2r::PublisherUntyped),
    /// The message goes as the middleware serializes it.
    Ordinary(r2r::Publisher<T>),
}

impl<T: Wire> fmt::Debug for WirePublisher<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WirePublisher").field("topic", &self.topic).finish_non_exhaustive()
    }
}

impl<T: Wire> WirePublisher<T> {
    pub(crate) fn new(publisher: RosPublisher<T>, topic: &str) -> Self {
        let refused = Throttle::new(Duration::from_secs(5));
        Self { publisher, bytes: Vec::new(), topic: topic.into(), refused }
    }

    /// Sends `message` to all subscribers.
    pub fn publish(&mut self, message: &T) {
        let sent = match &self.publisher {
            RosPublisher::Bytes(publisher) => {
                message.write(&mut self.bytes);
                publisher.publish_raw(&self.bytes)
            }
            RosPublisher::Ordinary(publisher) => publisher.publish(message),
        };
        match sent {
            // the node is gone: it is stopping
            Ok(()) | Err(r2r::Error::RCL_RET_PUBLISHER_INVALID) => {}
            Err(error) => {
                if self.refused.ready() {
                    warn!("topic `{}`: message not sent: {error}", self.topic);
                }
            }
        }
    }

    /// Subscribers of the topic, for threads that do not publish.
    pub fn audience(&self) -> Audience<T> {
        Audience(self.publisher.clone())
    }
}

impl<T: Wire> fmt::Debug for Audience<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Audience").field("n_subscribers", &self.n_subscribers()).finish()
    }
}

impl<T: Wire> Audience<T> {
    /// Number of subscribers matched now.
    pub fn n_subscribers(&self) -> usize {
        let counted = match &self.0 {
            RosPublisher::Bytes(publisher) => publisher.get_inter_process_subscription_count(),
            RosPublisher::Ordinary(publisher) => publisher.get_inter_process_subscription_count(),
        };
        counted.unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use r2r::WrappedTypesupport;

    use super::*;

    #[test]
    fn the_bytes_are_the_middlewares() {
        assert!(is_understood::<JointState>());
        assert!(is_understood::<Clock>());
        for n in 0..9 {
            let mut message = JointState::example();
            message.header.frame_id = "x".repeat(n);
            message.name = (0..n).map(|i| "joint".repeat(i)).collect();
            message.velocity = vec![-0.5; n];
            let mut bytes = Vec::new();
            message.write(&mut bytes);
            assert_eq!(JointState::from_serialized_bytes(&bytes).unwrap(), message, "{n}");
            // what is between the fields is anything
            let theirs = message.to_serialized_bytes().unwrap();
            for bytes in [&bytes, &theirs] {
                let mut read = JointState::example();
                assert_eq!(read.read(bytes), Some(()), "{n}");
                assert_eq!(read, message);
            }
        }
    }

    #[test]
    fn what_is_cut_off_or_foreign_is_refused() {
        let mut bytes = Vec::new();
        JointState::example().write(&mut bytes);
        for n in 0..bytes.len() {
            assert_eq!(
                JointState::default().read(&bytes[..n]),
                None,
                "{n} of {} bytes",
                bytes.len()
            );
        }
        // lengths that no message has
        for i in (4..bytes.len()).step_by(4) {
            let mut broken = bytes.clone();
            broken[i..].iter_mut().take(4).for_each(|byte| *byte = 0xff);
            let _ = JointState::default().read(&broken);
        }
        bytes[1] = 7;
        assert_eq!(JointState::default().read(&bytes), None, "another representation");
    }

    #[test]
    fn the_other_order_of_bytes_is_read() {
        let bytes = [0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 9];
        let mut clock = Clock::default();
        assert_eq!(clock.read(&bytes), Some(()));
        assert_eq!(clock.clock, Time { sec: 258, nanosec: 9 });
    }
}
