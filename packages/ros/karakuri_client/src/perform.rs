//! `karakuri do`: a command of a person to a running node `commander`, rehearsed before it acts.

use std::fs;
use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use karakuri_commands::{Verb, describe_act, describe_prediction, describe_refusal, parse_command};
use karakuri_files::write_atomic;
use karakuri_ros::client::{Client, ClientError, GoalEvent};
use karakuri_ros::msg::karakuri_msgs::srv::{Ask, Decide, Picture};
use serde_json::{Value, json};

use crate::output::print;

const ACTION: &str = "karakuri_msgs/action/Command";
/// Code of the refusal of an act that a person has not agreed to.
const NEEDS_APPROVAL: &str = "NEEDS_APPROVAL";
/// Time in which a prediction is run again and drawn, on a machine with other work, too.
const PICTURE_TIME: Duration = Duration::from_secs(120);

/// Gives the robot of a running node `commander` a command: it is rehearsed, shown, and carried out if you agree
///
/// Without a terminal, a motion is rehearsed only; `act` with its ticket carries it out. Ctrl-C brakes the robot, which keeps
/// what it holds. Exit code 0: it is done, or rehearsed; 1: there is no such node, verb or argument; 3: it was refused, is
/// predicted to fail, or failed; 130: Ctrl-C.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  karakuri do look
  karakuri do pick cube --pictures predictions
  karakuri do place x_m=0.5 y_m=0.2 --yes
  karakuri do act 5f2c...
  karakuri do stop

Verbs: look, status, log, move, set_gripper, pick, place, home, walk_to, change_tool, act, stop;
`karakuri do --help` has their arguments.

The robot of a scene, without nodes: karakuri do SCENE.yaml --envelope FILE.yaml COMMAND...")]
pub(crate) struct Args {
    /// A verb; they are listed below. Its arguments may be quoted with it, as 'pick cube'
    verb: String,
    /// Arguments of the verb, as `cube` or `x_m=0.5 y_m=0.2`
    arguments: Vec<String>,
    /// The node, if several are called `commander`
    #[arg(long, value_name = "NAME")]
    node: Option<String>,
    /// Agree to the act
    #[arg(long, short)]
    yes: bool,
    /// Rehearse only
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,
    /// Folder for the picture of the prediction: its worst copy at the start, at its worst instant and at its end
    #[arg(long, value_name = "FOLDER")]
    pictures: Option<PathBuf>,
}

/// Runs the command.
pub(crate) fn run(args: &Args, client: &mut Client) -> Result<(), ClientError> {
    let words = args.verb.split_whitespace().chain(args.arguments.iter().map(String::as_str));
    let (verb, arguments) = parse_command(words).map_err(|why| {
        ClientError::Wrong(format!("{why}; for the robot of a scene, give its --envelope"))
    })?;
    let node = match &args.node {
        Some(node) => node.clone(),
        None => client.find_node("commander")?,
    };
    let mut caller = Caller { args, client, node };
    if verb == Verb::Act {
        return caller.act(arguments);
    }
    if !verb.is_rehearsed() {
        let answer = caller.ask(verb, &arguments)?;
        return print(&format!("{}\n", pretty(&answer)));
    }
    let answer = caller.order(verb, &arguments)?.map_err(|refusal| failed(verb, &refusal))?;
    caller.show(verb, &answer)?;
    if args.dry_run || !(args.yes || can_ask()) {
        let ticket = answer["ticket"].as_str().unwrap_or_default();
        return print(&format!("`karakuri do act {ticket}` carries it out\n"));
    }
    caller.act(json!({"ticket": answer["ticket"]}))
}

/// Caller of a node's verbs.
struct Caller<'a> {
    args: &'a Args,
    client: &'a mut Client,
    /// Full name of the node.
    node: String,
}

impl Caller<'_> {
    /// Answer to a verb that moves nothing.
    fn ask(&mut self, verb: Verb, arguments: &Value) -> Result<Value, ClientError> {
        let request = Ask::Request { arguments: arguments.to_string() };
        let service = format!("{}/{verb}", self.node);
        let answer = self.client.call::<Ask::Service>(&service, &request)?;
        let value = read(&answer.answer)?;
        if answer.success { Ok(value) } else { Err(failed(verb, &value)) }
    }

    /// Answer to a verb that takes its time, or its refusal.
    fn order(
        &mut self,
        verb: Verb,
        arguments: &Value,
    ) -> Result<Result<Value, Value>, ClientError> {
        let action = format!("{}/{verb}", self.node);
        let (kind, definition) = self.client.action_server(&action, Some(ACTION))?;
        let goal = json!({"arguments": arguments.to_string()});
        let goal = serde_yaml::to_value(&goal).map_err(|why| unread(&why))?;
        let goal = definition.json(&goal).map_err(ClientError::Wrong)?;
        let mut sent = self.client.send_goal(&action, &kind, goal)?;
        let (mut stage, mut end) = (String::new(), None);
        self.client.follow(&mut sent, |event| {
            match event {
                GoalEvent::Feedback(feedback) => {
                    let now = feedback["stage"].as_str().unwrap_or_default();
                    if now != stage && io::stderr().is_terminal() {
                        let share = 100.0 * feedback["progress"].as_f64().unwrap_or_default();
                        eprintln!("{share:3.0} %  {now}");
                    }
                    now.clone_into(&mut stage);
                }
                GoalEvent::Canceling => eprintln!("braking..."),
                GoalEvent::Ended(_, result) => end = Some(result),
                _ => {}
            }
            Ok(())
        })?;
        if self.client.is_interrupted() {
            return Err(ClientError::Interrupted);
        }
        let result = end.unwrap_or_default();
        let value = read(result["answer"].as_str().unwrap_or_default())?;
        Ok(if result["success"] == true { Ok(value) } else { Err(value) })
    }

    /// Shows a prediction.
    fn show(&mut self, verb: Verb, answer: &Value) -> Result<(), ClientError> {
        print(&format!("{verb}: {}\n", describe_prediction(answer)))?;
        let Some(folder) = &self.args.pictures else { return Ok(()) };
        let rehearsal = answer["rehearsal"].as_u64().unwrap_or_default();
        let request = Picture::Request { rehearsal };
        let service = format!("{}/picture", self.node);
        let Picture::Response { success, message, png } =
            self.client.call_within::<Picture::Service>(&service, &request, PICTURE_TIME)?;
        if !success {
            return Err(ClientError::Failed(message));
        }
        let file = folder.join(format!("{rehearsal}_{verb}.png"));
        fs::create_dir_all(folder).map_err(|why| {
            ClientError::Failed(format!("cannot make {}: {why}", folder.display()))
        })?;
        write_atomic(&file, &png).map_err(|why| ClientError::Failed(why.to_string()))?;
        print(&format!("{}\n", file.display()))
    }

    /// Carries out what a ticket is for, once a person has agreed.
    fn act(&mut self, mut arguments: Value) -> Result<(), ClientError> {
        if arguments["request_id"].is_null() {
            arguments["request_id"] = request_id().into();
        }
        let mut done = self.order(Verb::Act, &arguments)?;
        if let Err(refusal) = &done
            && refusal["code"] == NEEDS_APPROVAL
            && let Some(rehearsal) = refusal["value"].as_u64()
        {
            let question = refusal["question"].as_str().unwrap_or("Carry it out?");
            let is_approved = self.agrees(question)?;
            let request = Decide::Request { rehearsal, approve: is_approved };
            let service = format!("{}/decide", self.node);
            let decided = self.client.call::<Decide::Service>(&service, &request)?;
            if !decided.success {
                return Err(ClientError::Failed(decided.message));
            }
            done = self.order(Verb::Act, &arguments)?;
        }
        let done = done.map_err(|refusal| failed(Verb::Act, &refusal))?;
        print(&format!("{}\n", describe_act(&done)))
    }

    /// Whether the person at the terminal agrees.
    fn agrees(&self, question: &str) -> Result<bool, ClientError> {
        if self.args.yes {
            return Ok(true);
        }
        if !can_ask() {
            let why = "somebody must agree, and nobody can be asked here: agree with --yes";
            return Err(ClientError::Failed(why.to_owned()));
        }
        let cannot = |why: io::Error| ClientError::Failed(format!("cannot ask: {why}"));
        eprint!("{question} [y/N] ");
        io::stderr().flush().map_err(cannot)?;
        let mut answer = String::new();
        io::stdin().lock().read_line(&mut answer).map_err(cannot)?;
        if self.client.is_interrupted() {
            return Err(ClientError::Interrupted);
        }
        Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
    }
}

fn can_ask() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Name of a request, which no other one has.
fn request_id() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("request-{}-{}", std::process::id(), since.as_nanos())
}

fn read(answer: &str) -> Result<Value, ClientError> {
    serde_json::from_str(answer).map_err(|why| unread(&why))
}

fn unread(why: &dyn std::error::Error) -> ClientError {
    ClientError::Failed(format!(
        "the answer is not as a `commander` of this version gives it: {why}"
    ))
}

fn failed(verb: Verb, refusal: &Value) -> ClientError {
    ClientError::Failed(format!("`{verb}`: {}", describe_refusal(refusal)))
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}
