//! The coupling, as a client of the service that couples tools and lets them go.

use std::time::Duration;

use karakuri_grasp::tool_change::Work;
use karakuri_ros::msg::karakuri_msgs::srv::SetTool;
use karakuri_ros::{Call, CallError, ServiceClient};

type Set = SetTool::Service;

/// Wall time in which the service must answer.
// A pneumatic coupling takes less than a second; a simulation builds another robot.
const ANSWER_TIME: Duration = Duration::from_secs(10);

/// Client of the coupling's service, and its last call.
pub(crate) struct Changer {
    client: ServiceClient<Set>,
    call: Option<Call<Set>>,
    answer: Option<Answer>,
}

/// Answer to the last call.
enum Answer {
    Done,
    Refused(String),
    Lost(String),
}

impl From<Result<SetTool::Response, CallError>> for Answer {
    fn from(answer: Result<SetTool::Response, CallError>) -> Self {
        match answer {
            Ok(response) if response.success => Self::Done,
            Ok(response) => Self::Refused(response.message),
            Err(error) => Self::Lost(error.to_string()),
        }
    }
}

impl Changer {
    pub(crate) fn new(client: ServiceClient<Set>) -> Self {
        Self { client, call: None, answer: None }
    }

    /// Asks for a tool; the name of the bare arm lets go.
    pub(crate) fn couple(&mut self, tool: String) {
        self.answer = None;
        self.call = Some(self.client.call(SetTool::Request { tool }, ANSWER_TIME));
    }

    /// What became of the last request.
    pub(crate) fn work(&mut self) -> Work<'_> {
        if let Some(answer) = self.call.as_ref().and_then(Call::take) {
            self.call = None;
            self.answer = Some(answer.into());
        }
        match &self.answer {
            None => Work::Pending,
            Some(Answer::Done) => Work::Done,
            Some(Answer::Refused(why)) => Work::Refused(why),
            Some(Answer::Lost(why)) => Work::Lost(why),
        }
    }
}
