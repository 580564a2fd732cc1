//! A node that uses everything `karakuri_ros` offers; `tests/ros` drives it with rclpy.
//!
//! | entity | what it does |
//! |---|---|
//! | topics `ping`, `pong` | echoes `JointState`s at once |
//! | topics `burst`, `~/received` | says how many came and whether they came in order |
//! | topic `~/ticks` | counts a 10 Hz timer in ROS time |
//! | action `~/count` | `GripperCommand`: counts to `position`; `max_effort` picks the [`Ending`]; goals run side by side |
//! | action `~/exclusive` | `FollowJointTrajectory`: one goal at a time, a new one aborts the old with -1 |
//! | services `~/send`, `~/cancel`, topic `~/goal` | an action client of `remote` |
//! | service `~/ask`, topic `~/answer` | a client of the service `oracle` |
//! | service `~/misbehave` | publishes what message types do not allow, and a warning |
//! | service `~/grow` | opens the topic `~/grown` |
//! | service `~/fail` | ends the node as failed |
//! | service `~/let_go` | ends the goals that linger |
//! | service `~/newest` | the newest name on `ping`, answered a moment later |
//! | service `~/values` | the parameters as the node sees them |

use std::{process::ExitCode, time::Duration};

use karakuri_ros::{
    ActionClient, ActiveGoal, Call, ClientGoal, GoalRequest, Later, Latest, Node, Parameter,
    Publisher, Request, RosError, ServiceClient, Status, Stop,
    msg::{
        control_msgs::action::{FollowJointTrajectory, GripperCommand},
        sensor_msgs::msg::{Imu, JointState},
        std_msgs::msg::{Int64, String as Text},
        std_srvs::srv::Trigger,
    },
    qos, warn,
};

type Count = GripperCommand::Action;
type Exclusive = FollowJointTrajectory::Action;

/// How a counting goal ends, picked by `max_effort`.
#[derive(Clone, Copy, PartialEq)]
enum Ending {
    Succeed,
    Abort,
    Drop,
    /// Succeeds although canceled meanwhile.
    Refuse,
    /// Is canceling until the service `~/let_go` is called.
    Linger,
}

struct Counting {
    goal: ActiveGoal<Count>,
    ending: Ending,
    count: f64,
}

struct Fixture {
    rate: Parameter<f64>,
    gains: Parameter<Vec<f64>>,
    mode: Parameter<String>,
    n_changes: i64,
    pong: Publisher<JointState>,
    received: Publisher<Text>,
    n_received: i64,
    n_out_of_order: i64,
    last_received: i64,
    ticks: Publisher<Int64>,
    n_ticks: i64,
    n_jumps_back: i64,
    counting: Vec<Counting>,
    let_go: bool,
    exclusive: Option<ActiveGoal<Exclusive>>,
    remote: ActionClient<Count>,
    remote_goal: Option<ClientGoal<Count>>,
    remote_state: Publisher<Text>,
    oracle: ServiceClient<Trigger::Service>,
    question: Option<Call<Trigger::Service>>,
    answer: Publisher<Text>,
    imu: Publisher<Imu>,
    newest: Latest<JointState>,
    asked: Vec<Request<Trigger::Service>>,
    later: Later<Self>,
    stop: Stop,
}

impl Fixture {
    fn new(node: &mut Node<Self>) -> Result<Self, RosError> {
        node.subscribe("ping", qos::state(), Self::on_ping)?;
        node.subscribe("burst", qos::tf(), Self::on_burst)?;
        node.timer(Duration::from_millis(100), Self::on_tick);
        node.wall_timer(Duration::from_millis(10), Self::drive_goals);
        node.after_events(Self::watch_remote);
        node.on_time_jump_back(|s| s.n_jumps_back += 1);
        node.action_server("~/count", Self::on_count)?;
        node.action_server("~/exclusive", Self::on_exclusive)?;
        node.service::<Trigger::Service>("~/send", |s, _| s.send())?;
        node.service::<Trigger::Service>("~/cancel", |s, _| s.cancel())?;
        node.service::<Trigger::Service>("~/ask", |s, _| s.ask())?;
        node.service::<Trigger::Service>("~/misbehave", |s, _| s.misbehave())?;
        node.service::<Trigger::Service>("~/values", |s, _| s.values())?;
        node.service::<Trigger::Service>("~/grow", |s, _| s.grow())?;
        node.service::<Trigger::Service>("~/let_go", |s, _| {
            s.let_go = true;
            Trigger::Response::default()
        })?;
        node.service::<Trigger::Service>("~/fail", |s, _| s.fail())?;
        node.service_later::<Trigger::Service>("~/newest", |s, request| s.asked.push(request))?;
        node.diagnose("counting", |s| Status::ok("well").value("n_goals", s.counting.len()));
        node.parameter("flag", false).declare()?;
        node.parameter("count", 5_i64).range(0..=10).declare()?;
        node.parameter("names", vec!["a".to_owned()]).declare()?;
        node.parameter("frame", "world".to_owned())
            .describe("Frame of the output.")
            .read_only()
            .declare()?;
        node.on_parameters_changed(|s| s.n_changes += 1);
        Ok(Self {
            rate: node
                .parameter("rate", 50.0)
                .describe("Rate. [Hz]")
                .range(1.0..=1000.0)
                .declare()?,
            gains: node.parameter("gains", vec![1.0, 2.0]).range(0.0..=100.0).declare()?,
            mode: node
                .parameter("mode", "slow".to_owned())
                .validate("slow or fast", check_mode)
                .declare()?,
            n_changes: 0,
            pong: node.publisher("pong", qos::state())?,
            received: node.publisher("~/received", qos::latched())?,
            n_received: 0,
            n_out_of_order: 0,
            last_received: 0,
            ticks: node.publisher("~/ticks", qos::state())?,
            n_ticks: 0,
            n_jumps_back: 0,
            counting: Vec::new(),
            let_go: false,
            exclusive: None,
            remote: node.action_client("remote")?,
            remote_goal: None,
            remote_state: node.publisher("~/goal", qos::latched())?,
            oracle: node.service_client("oracle")?,
            question: None,
            answer: node.publisher("~/answer", qos::latched())?,
            imu: node.publisher("imu", qos::state())?,
            newest: node.latest("ping", qos::state())?,
            asked: Vec::new(),
            later: node.later(),
            stop: node.stop(),
        })
    }

    fn on_ping(&mut self, message: &JointState) {
        self.pong.publish(message);
    }

    fn on_burst(&mut self, message: &Int64) {
        self.n_received += 1;
        self.n_out_of_order += i64::from(message.data < self.last_received);
        self.last_received = message.data;
        let data = format!("{} {}", self.n_received, self.n_out_of_order);
        self.received.publish(&Text { data });
    }

    fn on_tick(&mut self) {
        for request in self.asked.drain(..) {
            let message = self.newest.get().map_or_else(String::new, |m| m.name.join(" "));
            request.respond(Trigger::Response { success: true, message });
        }
        self.n_ticks += 1;
        self.ticks.publish(&Int64 { data: self.n_ticks });
    }

    fn on_count(&mut self, request: GoalRequest<Count>) {
        let command = &request.goal().command;
        let ending = match command.max_effort {
            1.0 => Ending::Abort,
            2.0 => Ending::Drop,
            3.0 => Ending::Refuse,
            4.0 => Ending::Linger,
            _ => Ending::Succeed,
        };
        if command.position < 0.0 {
            return request.reject("cannot count below zero");
        }
        let goal = request.accept();
        goal.set_cancelable(ending != Ending::Refuse);
        self.counting.extend(Counting { goal, ending, count: 0.0 }.advance());
    }

    fn on_exclusive(&mut self, request: GoalRequest<Exclusive>) {
        if let Some(old) = self.exclusive.take() {
            let error_string = "Current goal preempted by new incoming action.".to_owned();
            old.abort(FollowJointTrajectory::Result { error_code: -1, error_string });
        }
        self.exclusive = Some(request.accept());
    }

    fn drive_goals(&mut self) {
        let let_go = std::mem::take(&mut self.let_go);
        let ready =
            |c: &mut Counting| let_go || c.ending != Ending::Linger || !c.goal.is_canceling();
        let moved: Vec<_> = self.counting.extract_if(.., ready).collect();
        self.counting.extend(moved.into_iter().filter_map(Counting::advance));
        if let Some(goal) = self.exclusive.take_if(|goal| goal.is_canceling()) {
            goal.cancel(FollowJointTrajectory::Result::default());
        }
    }

    fn watch_remote(&mut self) {
        if let Some(goal) = &self.remote_goal {
            let feedback = goal.feedback().map(|f| f.position);
            let result = goal.result().map(|r| r.position);
            self.remote_state
                .publish(&Text { data: format!("{:?} {feedback:?} {result:?}", goal.state()) });
        }
        if let Some(outcome) = self.question.as_ref().and_then(Call::take) {
            let data = outcome.map_or_else(|error| error.to_string(), |response| response.message);
            self.answer.publish(&Text { data });
            self.question = None;
        }
    }

    fn send(&mut self) -> Trigger::Response {
        let mut goal = GripperCommand::Goal::default();
        goal.command.position = 1e9;
        self.remote_goal = Some(self.remote.send(goal, Duration::from_secs(5)));
        Trigger::Response { success: self.remote.is_ready(), message: String::new() }
    }

    fn cancel(&mut self) -> Trigger::Response {
        if let Some(goal) = &self.remote_goal {
            goal.cancel();
        }
        Trigger::Response::default()
    }

    fn ask(&mut self) -> Trigger::Response {
        self.question = Some(self.oracle.call(Trigger::Request::default(), Duration::from_secs(3)));
        Trigger::Response::default()
    }

    fn misbehave(&mut self) -> Trigger::Response {
        self.imu.publish(&Imu { orientation_covariance: vec![0.0; 3], ..Imu::default() });
        self.answer.publish(&Text { data: "nul \0 inside".to_owned() });
        warn!("misbehaved");
        Trigger::Response { success: true, message: "nul \0 inside".to_owned() }
    }

    fn grow(&mut self) -> Trigger::Response {
        self.later.run(|node, _| match node.publisher("~/grown", qos::latched()) {
            Ok(grown) => grown.publish(&Text { data: "grown".to_owned() }),
            Err(error) => warn!("failed to {error}"),
        });
        Trigger::Response::default()
    }

    fn fail(&mut self) -> Trigger::Response {
        self.stop.fail("asked to fail");
        Trigger::Response::default()
    }

    fn values(&mut self) -> Trigger::Response {
        let (rate, gains, mode) = (self.rate.get(), self.gains.get(), self.mode.get());
        let message = format!("{rate} {gains:?} {mode} {} {}", self.n_changes, self.n_jumps_back);
        Trigger::Response { success: true, message }
    }
}

fn check_mode(mode: &String) -> Result<(), String> {
    if mode == "slow" || mode == "fast" {
        Ok(())
    } else {
        Err(format!("`{mode}` is neither slow nor fast"))
    }
}

impl Counting {
    fn advance(mut self) -> Option<Self> {
        let result =
            GripperCommand::Result { position: self.count, ..GripperCommand::Result::default() };
        if self.goal.is_canceling() {
            self.goal.cancel(result);
            return None;
        }
        if self.count >= self.goal.goal().command.position {
            match self.ending {
                Ending::Succeed | Ending::Refuse | Ending::Linger => self.goal.succeed(result),
                Ending::Abort => self.goal.abort(result),
                Ending::Drop => drop(self.goal),
            }
            return None;
        }
        self.count += 1.0;
        let feedback = GripperCommand::Feedback {
            position: self.count,
            ..GripperCommand::Feedback::default()
        };
        self.goal.publish_feedback(feedback);
        Some(self)
    }
}

fn main() -> ExitCode {
    karakuri_ros::run("fixture", Fixture::new)
}
