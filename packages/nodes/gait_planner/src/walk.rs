//! The action `walk` and the topic `cmd_vel`.

use karakuri_gait::planner::{Fall, Progress, Walk as Run, WalkCommand, WalkFailure};
use karakuri_ros::msg::geometry_msgs::msg::Twist;
use karakuri_ros::msg::karakuri_msgs::action::Walk;
use karakuri_ros::{GoalRequest, info, warn};
use karakuri_spatial::Time;

use crate::goal;
use crate::planner::{GaitPlanner, TICKS_A_REPORT};
use crate::report::{self, Ending, code};

impl GaitPlanner {
    pub(crate) fn on_walk(&mut self, request: GoalRequest<Walk::Action>) {
        if !self.walker.is_engaged() {
            return request.reject(
                "the robot does not stand as the gait begins, or its joint states or inertial readings have not come yet",
            );
        }
        if self.walk.is_some() {
            return request.reject("a walk is under way; cancel it first");
        }
        if self.output.n_subscribers() == 0 {
            return request.reject(
                "nobody takes `joint_trajectory` yet; is the controller (feedforward_controller) running?",
            );
        }
        self.velocity = None;
        let active = request.accept();
        match goal::goal(active.goal()) {
            Ok(goal) => {
                let run = Run::start(&mut self.walker.engine, goal);
                self.walk = Some((active, run, Vec::new()));
            }
            Err(message) => {
                warn!("walk: {message}");
                active.abort(report::refusal(message, self.now()));
            }
        }
    }

    pub(crate) fn look_after_walk(&mut self, stamp: Time, period: f64) {
        let Some((goal, mut run, mut clips)) = self.walk.take() else { return };
        for clip in self.walker.engine.take_clips() {
            info!("walk: {clip}");
            clips.push(clip);
        }
        if goal.is_canceling() {
            run.stop(&mut self.walker.engine);
        }
        let progress = run.tick(&mut self.walker.engine, period);
        if progress == Progress::Walking {
            // Each step is reported when it begins.
            let has_begun = core::mem::replace(&mut self.begun, self.walker.engine.steps())
                != self.walker.engine.steps();
            if has_begun || self.ticks.is_multiple_of(TICKS_A_REPORT) {
                goal.publish_feedback(report::feedback(&run, &self.walker.engine));
            }
            self.walk = Some((goal, run, clips));
            return;
        }
        let ending = report::ending(progress, &self.model);
        let message = ending.message.clone();
        let mut result = report::result(&run, &self.walker.engine, ending, &clips, stamp);
        for excess in self.walker.engine.take_excesses() {
            let text = excess.describe(&self.walker.engine.generator().biped.model);
            warn!("walk: {text}");
            result.clipped.push(text);
        }
        match progress {
            Progress::Failed(failure) => {
                warn!("walk: {message}");
                goal.abort(result);
                if let WalkFailure::Fell(_) = failure {
                    self.last_fall = Some(message);
                    self.restart("fell");
                }
            }
            Progress::Stopped if goal.is_canceling() => goal.cancel(result),
            Progress::Stopped => goal.abort(result),
            Progress::Done | Progress::Walking => goal.succeed(result),
        }
    }

    pub(crate) fn end_walk(&mut self, error_code: u8, why: &str) {
        if let Some((goal, run, clips)) = self.walk.take() {
            warn!("walk: {why}");
            let ending = Ending { error_code, message: why.to_owned() };
            goal.abort(report::result(&run, &self.walker.engine, ending, &clips, self.now()));
        }
    }

    pub(crate) fn on_velocity(&mut self, message: &Twist) {
        if !self.walker.is_engaged() || self.walk.is_some() {
            if self.hint.ready() {
                warn!(
                    "cmd_vel is not heard: the robot does not stand ready, or a walk is under way"
                );
            }
            return;
        }
        match goal::velocity(message) {
            Ok(velocity) => {
                if self.velocity.map(|(v, _)| v) != Some(velocity) {
                    self.walker.engine.command(WalkCommand::Velocity(velocity));
                }
                let timeout = self.parameters.velocity_timeout.get();
                self.velocity = Some((velocity, self.now().plus_seconds(timeout)));
            }
            Err(why) => warn!("cmd_vel: {why}"),
        }
    }

    /// Stops the walk when `cmd_vel` has fallen silent.
    pub(crate) fn follow_velocity(&mut self, now: Time) {
        if self.velocity.take_if(|(_, until)| now > *until).is_some() {
            self.walker.engine.command(WalkCommand::Stop);
        }
    }

    /// Releases a robot that fell while no goal was active; true if it fell.
    pub(crate) fn has_fallen_by_itself(&mut self) -> bool {
        let fall = Fall::of(&self.walker.engine, self.walker.engine.time())
            .filter(|_| self.walk.is_none());
        let Some(fall) = fall else { return false };
        let fall = fall.describe(&self.model);
        warn!("{fall}");
        self.last_fall = Some(fall);
        self.restart("fell");
        true
    }

    /// Warns once that no step can prevent a fall.
    pub(crate) fn warn_of_fall(&mut self) {
        let lost = self.walker.engine.lost();
        if let Some(lost) = lost.filter(|_| !self.is_lost) {
            warn!("no step can save the robot, by the pendulum: {}", lost.describe(&self.model));
        }
        self.is_lost = lost.is_some();
    }
}

impl Drop for GaitPlanner {
    /// Aborts the active walk with its reason, so that its client does not wait in vain.
    fn drop(&mut self) {
        self.end_walk(
            code::ROBOT_LOST,
            "the planner was stopped before the walk ended; the controller holds the robot where it is",
        );
    }
}
