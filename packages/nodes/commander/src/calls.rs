//! Verbs of clients of ROS: services at once, actions on threads of their own.

use std::sync::{Arc, OnceLock};
use std::thread;

use karakuri_commander::{Caller, Commander, Flow, Instant, News, Outside as _, Reply, System};
use karakuri_commands::{Code, FunctionCall, Refusal, Verb, View};
use karakuri_ros::msg::karakuri_msgs::action::Command;
use karakuri_ros::msg::karakuri_msgs::srv::{Ask, Decide, Lift, Picture};
use karakuri_ros::{ActiveGoal, GoalRequest, Request, error, warn};
use serde_json::{Value, json};

/// Commander of the nodes, once it has found them; and as whom clients of ROS call it.
#[derive(Debug, Clone)]
pub(crate) struct Desk {
    pub(crate) commander: Arc<OnceLock<Arc<Commander>>>,
    pub(crate) principal: Arc<str>,
    /// Camera whose picture function calls of language models are about.
    pub(crate) view: Option<Arc<View>>,
}

/// What a goal asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asked {
    /// A verb, with its arguments.
    Verb(Verb),
    /// What a function call of a language model means.
    FunctionCall,
}

impl Desk {
    /// Answers a verb, or refuses it; `watch` sees each period of an act, and may cancel it.
    fn call(
        &self,
        verb: Verb,
        arguments: &Value,
        watch: &mut dyn FnMut(&Instant) -> Flow,
    ) -> Result<Value, Value> {
        let refused = |refusal: Refusal| Err(json!(refusal));
        let Some(commander) = self.commander.get() else {
            return refused(Refusal::new(
                Code::Busy,
                "wait until the robot has been found: see the log",
            ));
        };
        let Some(random) = System.random() else {
            return refused(Refusal::new(Code::Busy, "the system gives no random numbers"));
        };
        let caller = Caller { random, ..self.caller() };
        match commander.call(&caller, verb, arguments, watch) {
            Reply::Done(value) => Ok(value),
            Reply::Refused(value) => Err(value),
            Reply::Question(question) => {
                let hint = "have a person at the robot call `decide` with the number of the rehearsal, then act again";
                let refusal = Refusal::new(Code::NeedsApproval, hint);
                let mut answer = json!(refusal.of("rehearsal", question.rehearsal));
                answer["question"] = question.text.into();
                Err(answer)
            }
        }
    }

    /// Caller of what needs no random numbers, who was asked nothing.
    fn caller(&self) -> Caller<'_> {
        let (now, date) = (System.now(), System.date());
        Caller { principal: &self.principal, now, date, random: [0; 16], agreement: None }
    }

    /// Answers a verb that moves nothing.
    pub(crate) fn ask(&self, verb: Verb, request: &Ask::Request) -> Ask::Response {
        let arguments = read(&request.arguments);
        let answer = self.call(verb, &arguments, &mut |_| Flow::GoOn);
        let success = answer.is_ok();
        let (Ok(answer) | Err(answer)) = answer;
        Ask::Response { success, answer: answer.to_string() }
    }

    /// Takes what a person says of a rehearsal.
    pub(crate) fn decide(&self, request: &Decide::Request) -> Decide::Response {
        let commander = self.commander.get();
        let is_known =
            commander.is_some_and(|commander| commander.decide(request.rehearsal, request.approve));
        let message = if is_known {
            String::new()
        } else {
            format!(
                "there is no rehearsal {} whose ticket is open; its number is in the answer to the verb",
                request.rehearsal
            )
        };
        Decide::Response { success: is_known, message }
    }

    /// Lifts the envelope for a while, or ends that.
    pub(crate) fn lift(&self, request: &Lift::Request) -> Lift::Response {
        let hint = "wait until the robot has been found: see the log";
        // Nothing that a lift does is random.
        let caller = self.caller();
        let now = caller.now;
        let commander = self.commander.get().ok_or_else(|| Refusal::new(Code::Busy, hint));
        let lifted = commander.and_then(|it| it.lift(&caller, &request.who, request.lift));
        match lifted {
            Ok(until) => {
                if request.lift {
                    warn!("`{}` has lifted the envelope for {:.0} s", request.who, until - now);
                }
                Lift::Response { success: true, message: String::new(), time_left: until - now }
            }
            Err(refusal) => {
                Lift::Response { success: false, message: refusal.hint.to_string(), time_left: 0.0 }
            }
        }
    }

    /// Answers with the picture of a rehearsal, on a thread of its own: it takes a while, and waits for the end of an act.
    pub(crate) fn draw(&self, request: Request<Picture::Service>) {
        let desk = self.clone();
        spawn("picture", move || {
            let picture = desk.picture(request.message().rehearsal);
            request.respond(picture);
        });
    }

    fn picture(&self, number: u64) -> Picture::Response {
        let picture = self.commander.get().and_then(|commander| commander.picture(number));
        let absent = "there is no rehearsal of this number whose ticket is open; it is in the answer to the verb";
        let png = picture.ok_or_else(|| absent.to_owned());
        match png.and_then(|picture| picture.to_png().map_err(|why| why.to_string())) {
            Ok(png) => Picture::Response { success: true, message: String::new(), png },
            Err(message) => Picture::Response { success: false, message, png: Vec::new() },
        }
    }

    /// Carries out what a goal asks for, on a thread of its own.
    pub(crate) fn begin(&self, asked: Asked, request: GoalRequest<Command::Action>) {
        let (desk, goal) = (self.clone(), request.accept());
        spawn("verb", move || desk.carry_out(asked, goal));
    }

    /// Verb and arguments that a goal means.
    fn meant(&self, asked: Asked, text: &str) -> Result<(Verb, Value), Refusal> {
        let Asked::Verb(verb) = asked else {
            let hint = "write {\"function\": \"move\", \"args\": [x, y, high]}, setGripperState or returnToOrigin";
            let call = serde_json::from_str::<FunctionCall>(text);
            let call = call.map_err(|_| Refusal::new(Code::BadArgument, hint))?;
            let (Some(view), Some(commander)) = (&self.view, self.commander.get()) else {
                let hint =
                    "start the node with the parameter `view`: units of which picture are meant?";
                return Err(Refusal::new(Code::NotAllowed, hint));
            };
            let arguments = view.translate_call(&call, &commander.scene())?.arguments;
            return Ok((arguments.verb(), json!(arguments)));
        };
        Ok((verb, read(text)))
    }

    fn carry_out(&self, asked: Asked, goal: ActiveGoal<Command::Action>) {
        let mut news = News::default();
        let mut watch = |instant: &Instant| {
            if news.is_in(instant) {
                let Instant { progress, stage, holding, .. } = *instant;
                let stage = stage.to_owned();
                goal.publish_feedback(Command::Feedback { stage, progress, holding });
            }
            if goal.is_canceling() { Flow::Cancel } else { Flow::GoOn }
        };
        let meant = self.meant(asked, &goal.goal().arguments);
        let answer = meant
            .map_err(|refusal| json!(refusal))
            .and_then(|(verb, arguments)| self.call(verb, &arguments, &mut watch));
        match answer {
            Ok(value) => {
                goal.succeed(Command::Result { success: true, answer: value.to_string() });
            }
            Err(value) => {
                let is_canceled = goal.is_canceling() && value["code"] == json!(Code::Canceled);
                let result = Command::Result { success: false, answer: value.to_string() };
                if is_canceled { goal.cancel(result) } else { goal.abort(result) }
            }
        }
    }
}

/// Does work on a thread of its own.
fn spawn(name: &str, work: impl FnOnce() + Send + 'static) {
    if let Err(why) = thread::Builder::new().name(name.to_owned()).spawn(work) {
        error!("the system gives no thread: {why}");
    }
}

/// Arguments in JSON. No verb takes null: what is no JSON is a bad argument, in its place among the checks and in the log.
fn read(text: &str) -> Value {
    if text.is_empty() { json!({}) } else { serde_json::from_str(text).unwrap_or(Value::Null) }
}
