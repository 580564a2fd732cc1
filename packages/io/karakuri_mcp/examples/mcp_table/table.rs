//! The robot's verbs.

use std::fmt::Write as _;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use karakuri_mcp::{About, Answer, Approval, Call, Content, Principal, Resource, Tool, Verbs};
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::robot::{Ending, Object, Robot};
use crate::tools;

const SCENE: &str = "karakuri://scene.json";

/// A robot at a table.
#[derive(Debug)]
pub(crate) struct Table {
    robot: Robot,
}

impl Table {
    /// A table whose robot's motions take a while.
    pub(crate) fn new(motion: Duration) -> Self {
        Self { robot: Robot::new(motion) }
    }

    fn scene(&self) -> Value {
        let memory = self.robot.memory();
        let object = |object: &Object| json!({"name": object.name, "xy_m": object.xy});
        let objects: Vec<Value> = memory.objects.iter().map(object).collect();
        json!({"objects": objects, "held": memory.held, "moving": memory.is_moving, "stops": memory.stops})
    }

    async fn pick(&self, arguments: &Value, call: &Call) -> Answer {
        let Some(name) = arguments["object"].as_str().filter(|name| is_name(name)) else {
            return refused(
                "BAD_ARGUMENT",
                "object",
                &arguments["object"],
                "Give a name of 1 to 64 letters, digits, `-` and `_`.",
            );
        };
        let known = self
            .robot
            .memory()
            .objects
            .iter()
            .find(|object| object.name == name)
            .map(|object| object.name);
        let Some(name) = known else {
            return refused(
                "UNKNOWN_OBJECT",
                "object",
                &arguments["object"],
                "Call `look` for the names of objects.",
            );
        };
        match &call.approval {
            None => {
                let message = format!("Pick up `{name}`?");
                return Answer::NeedsApproval { message, state: json!({"object": name}) };
            }
            Some(Approval::Declined(_)) => {
                return refused(
                    "DECLINED",
                    "object",
                    &arguments["object"],
                    "The person who was asked said no.",
                );
            }
            Some(Approval::Given(_)) => {}
        }
        let ending = self.robot.go("pick", call).await;
        if ending != Ending::Arrived {
            return ended(ending);
        }
        self.robot.memory().held = Some(name);
        self.robot.notify();
        Answer::Done(json!({"outcome": "HOLDING", "held": name}))
    }

    fn place(&self, arguments: &Value) -> Answer {
        let (x, y) = (arguments["x_m"].as_f64(), arguments["y_m"].as_f64());
        let Some(x) = x.filter(|x| (0.3..=0.7).contains(x)) else {
            return refused(
                "BAD_ARGUMENT",
                "x_m",
                &arguments["x_m"],
                "Give a number from 0.3 to 0.7.",
            );
        };
        let Some(y) = y.filter(|y| (-0.4..=0.4).contains(y)) else {
            return refused(
                "BAD_ARGUMENT",
                "y_m",
                &arguments["y_m"],
                "Give a number from -0.4 to 0.4.",
            );
        };
        let mut bits = [0; 16];
        if getrandom::fill(&mut bits).is_err() {
            return refused(
                "NO_RANDOM_BITS",
                "ticket",
                &Value::Null,
                "The system gives no random numbers.",
            );
        }
        let mut ticket = String::new();
        for byte in bits {
            let _always = write!(ticket, "{byte:02x}");
        }
        self.robot.memory().tickets.insert(ticket.clone(), [x, y]);
        Answer::Done(json!({"outcome": "PLACED", "ticket": ticket}))
    }

    async fn act(&self, arguments: &Value, call: &Call) -> Answer {
        let ticket = arguments["ticket"].as_str().unwrap_or_default();
        let Some(xy) = self.robot.memory().tickets.remove(ticket) else {
            return refused(
                "TICKET_UNKNOWN",
                "ticket",
                &arguments["ticket"],
                "Rehearse again: call `place` for a new ticket.",
            );
        };
        let ending = self.robot.go("act", call).await;
        if ending != Ending::Arrived {
            return ended(ending);
        }
        let mut memory = self.robot.memory();
        if let Some(held) = memory.held.take()
            && let Some(object) = memory.objects.iter_mut().find(|object| object.name == held)
        {
            object.xy = xy;
        }
        drop(memory);
        self.robot.notify();
        Answer::Done(json!({"outcome": "PLACED"}))
    }
}

impl Verbs for Table {
    fn about(&self) -> About {
        About {
            name: "karakuri-table",
            version: env!("CARGO_PKG_VERSION"),
            instructions: "A made-up robot at a table. Call `look` first; `place` gives a ticket for `act`.",
        }
    }

    fn tools(&self, _principal: &Principal) -> Vec<Tool> {
        tools::all()
    }

    fn call<'a>(
        &'a self,
        _principal: &'a Principal,
        tool: &'a str,
        arguments: Value,
        call: &'a Call,
    ) -> BoxFuture<'a, Answer> {
        async move {
            match tool {
                "look" => Answer::Done(self.scene()),
                "pick" => self.pick(&arguments, call).await,
                "place" => self.place(&arguments),
                "act" => self.act(&arguments, call).await,
                _ => {
                    self.robot.stop();
                    Answer::Done(json!({"outcome": "STOPPED"}))
                }
            }
        }
        .boxed()
    }

    fn resources<'a>(&'a self, _principal: &'a Principal) -> BoxFuture<'a, Vec<Resource>> {
        let scene = Resource {
            uri: SCENE.to_owned(),
            name: "scene",
            description: "What is on the table and in the hand.",
            mime_type: "application/json",
            version: self.robot.version(),
        };
        async move { vec![scene] }.boxed()
    }

    fn read<'a>(
        &'a self,
        _principal: &'a Principal,
        _uri: &'a str,
    ) -> BoxFuture<'a, Option<Content>> {
        async move { Some(Content::Text(self.scene().to_string())) }.boxed()
    }

    fn changes(&self) -> watch::Receiver<()> {
        self.robot.changes()
    }
}

fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c))
}

fn refused(code: &str, field: &str, value: &Value, hint: &str) -> Answer {
    Answer::Refused(
        json!({"code": code, "field": field, "value": value, "range": null, "hint": hint}),
    )
}

fn ended(ending: Ending) -> Answer {
    match ending {
        Ending::Busy => {
            refused("BUSY", "", &Value::Null, "Wait until the motion under way has ended.")
        }
        Ending::Stopped => {
            refused("STOPPED", "", &Value::Null, "The motion was stopped by the verb `stop`.")
        }
        Ending::Cancelled | Ending::Arrived => refused(
            "CANCELLED",
            "",
            &Value::Null,
            "The motion was cancelled; the robot has braked.",
        ),
    }
}
