//! Measures the round trip of a `JointState` of 8 joints between two processes, as lockstep simulation sees it.
//!
//! ```sh
//! ros_fixture &
//! ros_ping    # publishes `ping`, waits for `pong`, 10 000 times
//! ```

use std::{
    process::ExitCode,
    time::{Duration, Instant},
};

use karakuri_ros::{
    Node, Publisher, RosError, Stop, info,
    msg::{sensor_msgs::msg::JointState, std_msgs::msg::Header},
    qos,
};

const WARM_UP: usize = 500;
const ROUNDS: usize = 10_000;

struct RoundTrip {
    ping: Publisher<JointState>,
    message: JointState,
    sent: Instant,
    round_trips: Vec<Duration>,
    stop: Stop,
}

impl RoundTrip {
    fn new(node: &mut Node<Self>) -> Result<Self, RosError> {
        node.subscribe("pong", qos::state(), Self::on_pong)?;
        node.wall_timer(Duration::from_millis(500), Self::start_again);
        let header = Header { frame_id: "world".to_owned(), ..Header::default() };
        let name = (1..=8).map(|joint| format!("joint_{joint}")).collect();
        let (position, velocity, effort) = (vec![0.1; 8], vec![0.2; 8], vec![0.3; 8]);
        Ok(Self {
            ping: node.publisher("ping", qos::command())?,
            message: JointState { header, name, position, velocity, effort },
            sent: Instant::now(),
            round_trips: Vec::new(),
            stop: node.stop(),
        })
    }

    /// The first ping may precede discovery.
    fn start_again(&mut self) {
        if self.sent.elapsed() > Duration::from_millis(400) {
            self.send();
        }
    }

    fn send(&mut self) {
        self.sent = Instant::now();
        self.ping.publish(&self.message);
    }

    fn on_pong(&mut self, _: &JointState) {
        self.round_trips.push(self.sent.elapsed());
        if self.round_trips.len() == WARM_UP + ROUNDS {
            return self.report();
        }
        self.send();
    }

    fn report(&mut self) {
        let times = &mut self.round_trips[WARM_UP..];
        times.sort_unstable();
        let at = |share: f64| {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index")]
            let index = (share * (times.len() - 1) as f64) as usize;
            times[index].as_secs_f64() * 1e6
        };
        let (p50, p90, p99, max) = (at(0.5), at(0.9), at(0.99), at(1.0));
        info!("round trip: p50 {p50:.0} us, p90 {p90:.0} us, p99 {p99:.0} us, max {max:.0} us");
        self.stop.stop();
    }
}

fn main() -> ExitCode {
    karakuri_ros::run("ping", RoundTrip::new)
}
