//! The node: each sample of the robot is one tick of the walk engine.

use std::time::Instant;

use karakuri_gait::planner::{Measured, NotStanding};
use karakuri_ros::msg::geometry_msgs::msg::WrenchStamped;
use karakuri_ros::msg::sensor_msgs::msg::{Imu, JointState};
use karakuri_ros::{
    Advance, FromMessage, Offer, SOURCE_SILENCE, Turn, info, time_from_message, warn,
};
use karakuri_spatial::{Force, Time, UnitQuaternion, Vector3};

use crate::planner::{GaitPlanner, Reading, TICKS_A_REPORT};
use crate::report::code;

/// Age up to which a reading of a foot counts. [s]
const FRESH: f64 = 0.05;

impl GaitPlanner {
    pub(crate) fn on_imu(&mut self, message: &Imu) {
        let orientation = UnitQuaternion::from_message(&message.orientation);
        let angular_velocity = Vector3::from_message(&message.angular_velocity);
        if let (Some(orientation), Some(angular_velocity)) = (orientation, angular_velocity) {
            self.reading = Some(Reading { orientation, angular_velocity });
            if let Some(imu) = self.imu {
                self.gate.hear(imu, time_from_message(&message.header.stamp));
            }
        }
        self.go_on();
    }

    pub(crate) fn on_wrench(&mut self, foot: usize, message: &WrenchStamped) {
        if let (Some(feet), Some(wrench)) = (&mut self.feet, Force::from_message(&message.wrench)) {
            let stamp = time_from_message(&message.header.stamp);
            feet[foot] = Some((stamp, wrench));
            if let Some(input) = self.foot_inputs[foot] {
                self.gate.hear(input, stamp);
            }
        }
        self.go_on();
    }

    pub(crate) fn on_joint_states(&mut self, message: &JointState) {
        if self.reader.read(&self.model, message).is_err() {
            return;
        }
        let stamp = time_from_message(&message.header.stamp);
        if let Offer::Repeated(reference) = self.gate.offer(stamp, &self.reader.q) {
            if let Some(reference) = reference {
                self.output.publish(reference);
            }
            return;
        }
        self.go_on();
    }

    /// Measured wrenches of the feet about the soles' sensors, if both readings are fresh. [N·m; N]
    fn feet_at(&self, stamp: Time) -> Option<[Force; 2]> {
        let fresh =
            |(felt, wrench): (Time, Force)| (stamp.seconds_since(felt) <= FRESH).then_some(wrench);
        let [left, right] = self.feet?;
        Some([left.and_then(fresh)?, right.and_then(fresh)?])
    }

    /// Ticks the newest sample when the readings of its sensors are there.
    pub(crate) fn go_on(&mut self) {
        self.gate.set_lockstep(self.parameters.lockstep.get());
        if let Some(turn) = self.gate.take(Instant::now(), SOURCE_SILENCE) {
            self.tick(turn);
        }
    }

    pub(crate) fn now(&self) -> Time {
        self.gate.newest().unwrap_or(Time::ZERO)
    }

    fn tick(&mut self, Turn { stamp, advance }: Turn) {
        let timeout = self.parameters.state_timeout.get();
        match advance {
            Advance::Backward => self.restart("the clock jumped back"),
            Advance::Forward(gap) if gap > timeout && self.walker.is_engaged() => {
                self.restart("joint states were missing for too long");
            }
            Advance::First | Advance::Forward(_) => {}
        }
        if !self.walker.is_engaged() && !self.engage() {
            return;
        }
        if let Some(why) = self.find_not_following() {
            return self.let_go(&why);
        }
        let period = self.parameters.period.get();
        self.follow_velocity(stamp);
        self.walker.engine.stabilizer_mut().settings = self.gains.get(&self.file_gains);
        let feet = self.feet_at(stamp);
        let measured = self.reading.filter(|_| self.imu.is_some()).map(|reading| Measured {
            q: &self.reader.q,
            v: &self.reader.v,
            orientation: reading.orientation,
            angular_velocity: reading.angular_velocity,
            feet,
        });
        self.walker.engine.advance(period, measured.as_ref());
        self.write_reference(stamp, period);
        if let Some(reference) = self.gate.send(false) {
            self.output.publish(reference);
        }
        self.warn_of_fall();
        if self.has_fallen_by_itself() {
            return;
        }
        self.look_after_walk(stamp, period);
        self.ticks += 1;
        if self.ticks.is_multiple_of(TICKS_A_REPORT) {
            self.report(stamp);
        }
    }

    /// Reason why the robot does not follow the walking engine; a fall is judged by itself.
    fn find_not_following(&mut self) -> Option<String> {
        let is_walking = self.walk.is_some() || self.velocity.is_some();
        let (q, period) = (&self.reader.q, self.parameters.period.get());
        let settings = self.parameters.walk.walker();
        let astray = self.walker.find_not_following(q, is_walking, &settings, period)?;
        Some(astray.describe(&self.model))
    }

    /// Ends a walk that the robot does not carry out.
    fn let_go(&mut self, why: &str) {
        if self.walk.is_none() {
            warn!("cmd_vel: {why}");
        }
        self.restart(why);
    }

    /// Takes the robot over if it stands as the gait begins.
    fn engage(&mut self) -> bool {
        let orientation = self.reading.map(|reading| reading.orientation);
        let settings = self.parameters.walk.walker();
        match self.walker.engage(&self.reader.q, orientation.as_ref(), &settings) {
            Ok(()) => info!("standing; `walk` and `cmd_vel` are heard"),
            Err(_) if !self.hint.ready() => {}
            Err(NotStanding::Leans(leans)) => {
                info!("waiting: the robot leans {leans:.2} rad; set it up first");
            }
            Err(NotStanding::Joint(joint, off)) => {
                let name = &self.model.joints[joint.0].name;
                info!(
                    "waiting: joint `{name}` is {off:.2} from the standing posture; move the robot there first"
                );
            }
        }
        self.walker.is_engaged()
    }

    /// Ends the walk and releases the robot; the controller holds it where it is.
    pub(crate) fn restart(&mut self, why: &str) {
        self.end_walk(code::ROBOT_LOST, why);
        self.walker.release();
        self.velocity = None;
        self.gate.withdraw();
        (self.ticks, self.is_lost) = (0, false);
    }
}
