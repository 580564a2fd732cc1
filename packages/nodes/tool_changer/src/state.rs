//! State of the node: the robots of all tools, what is known of the present one, and the goal under way.

use std::time::{Duration, Instant};

use karakuri_grasp::tool_change::{
    ToolChange, ToolChangeFailure, ToolChangeOrder, ToolChangeResult, ToolChangeStage,
    ToolChangeView, ToolRack,
};
use karakuri_hand_goals::tool_failure_code;
use karakuri_ros::msg::karakuri_msgs::action::ChangeTool;
use karakuri_ros::{ActiveGoal, Clock, IntoMessage, JointStateReader, info, is_silent};
use karakuri_spatial::{Force, Time};

use crate::arm::Arm;
use crate::changer::Changer;
use crate::convert;
use crate::parameters::Parameters;

/// Wall time from one feedback to the next.
const FEEDBACK_PERIOD: Duration = Duration::from_millis(100);

/// State of the node.
pub(crate) struct ToolChanger {
    pub(crate) parameters: Parameters,
    pub(crate) rack: ToolRack,
    pub(crate) arm: Arm,
    pub(crate) changer: Changer,
    pub(crate) reader: JointStateReader,
    /// Stamp of the newest joint states.
    pub(crate) time: Option<Time>,
    /// When joint states came last.
    pub(crate) heard: Instant,
    /// Names of the last joint states.
    pub(crate) names: Vec<String>,
    pub(crate) wrench: Option<(Time, Force)>,
    /// Name of what is on the flange.
    pub(crate) tool: Option<String>,
    /// Whether the hand holds something.
    pub(crate) holds: bool,
    pub(crate) clock: Clock,
    /// Where wall time begins.
    pub(crate) began: Instant,
    pub(crate) active: Option<Active>,
}

/// Goal under way.
pub(crate) struct Active {
    pub(crate) goal: ActiveGoal<ChangeTool::Action>,
    pub(crate) change: ToolChange,
    /// When feedback was sent last, and the stage in it.
    pub(crate) reported: Option<(Instant, ToolChangeStage)>,
}

impl ToolChanger {
    /// Plans a change; the code of a refusal and its sentence.
    pub(crate) fn start(&mut self, goal: &ChangeTool::Goal) -> Result<ToolChange, (u8, String)> {
        if let Some(why) = self.not_ready() {
            return Err((ChangeTool::Result::ROBOT_LOST as u8, why.to_owned()));
        }
        if self.holds {
            let why = "the hand holds an object; put it down first".to_owned();
            return Err((ChangeTool::Result::OBJECT_HELD as u8, why));
        }
        let present = self.tool.clone().unwrap_or_default();
        let settings = convert::limited(self.parameters.change.settings(), goal)?;
        let q = &self.reader.q;
        ToolChange::start(&mut self.rack, [&present, &goal.tool], q, settings)
            .map_err(|(failure, why)| (tool_failure_code(Some(failure)), why))
    }

    /// Reason why no goal can be taken now.
    pub(crate) fn not_ready(&self) -> Option<&'static str> {
        if self.time.is_none() {
            Some("no joint_states of the arm have come yet")
        } else if self.is_silent() {
            Some("joint_states do not come any more; see in the driver's diagnostics why")
        } else if self.tool.is_none() {
            Some("nobody says on `tool` what is on the flange")
        } else {
            None
        }
    }

    fn is_silent(&self) -> bool {
        is_silent(self.heard, false, &self.clock)
    }

    pub(crate) fn advance(&mut self, change: &mut ToolChange) -> Option<ToolChangeOrder> {
        let tool = self.tool.as_deref().unwrap_or_default();
        let view = ToolChangeView {
            wall: self.began.elapsed().as_secs_f64(),
            time: self.time.unwrap_or(Time::ZERO),
            q: &self.reader.q,
            v: &self.reader.v,
            is_silent: self.is_silent(),
            wrench: self.wrench,
            has_controller: self.arm.is_ready(),
            arm: self.arm.work(),
            coupling: self.changer.work(),
            tool,
            is_its_robot: self.rack.is_robot_of(tool, &self.names),
        };
        change.tick(&mut self.rack, &view)
    }

    /// Sends feedback now and then, and when the stage changes.
    pub(crate) fn tell(&self, active: &mut Active) {
        let stage = active.change.stage();
        let is_fresh =
            |(at, reported): (Instant, _)| at.elapsed() < FEEDBACK_PERIOD && reported == stage;
        if active.reported.is_some_and(is_fresh) {
            return;
        }
        active.reported = Some((Instant::now(), stage));
        active.goal.publish_feedback(ChangeTool::Feedback {
            state: stage.name().to_owned(),
            tool: self.tool.clone().unwrap_or_default(),
            elapsed: self.clock.now().seconds_since(active.goal.stamp()),
        });
    }

    pub(crate) fn end(&self, active: Active, ended: ToolChangeResult) {
        let Active { goal, .. } = active;
        let code = tool_failure_code(ended.failure);
        let mut result = self.result(goal.stamp(), code, ended.message);
        result.mass = ended.mass;
        info!("change_tool: {}", result.message);
        match ended.failure {
            None => goal.succeed(result),
            Some(ToolChangeFailure::Canceled) => goal.cancel(result),
            Some(_) => goal.abort(result),
        }
    }

    /// Result of a goal that was accepted at a time.
    pub(crate) fn result(
        &self,
        accepted: Time,
        error_code: u8,
        message: String,
    ) -> ChangeTool::Result {
        let now = self.clock.now();
        ChangeTool::Result {
            success: error_code == ChangeTool::Result::NONE as u8,
            error_code,
            message,
            tool: self.tool.clone().unwrap_or_default(),
            elapsed: now.seconds_since(accepted),
            stamp: now.to_message(),
            ..ChangeTool::Result::default()
        }
    }
}

impl Drop for ToolChanger {
    /// Aborts the goal under way with its reason, so that its client does not wait in vain.
    fn drop(&mut self) {
        if let Some(Active { goal, .. }) = self.active.take() {
            self.arm.stop();
            let why = "the tool changer was stopped; look what is on the flange".to_owned();
            let result = self.result(goal.stamp(), ChangeTool::Result::ROBOT_LOST as u8, why);
            goal.abort(result);
        }
    }
}
