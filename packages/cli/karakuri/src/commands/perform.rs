//! `karakuri do`: commands of a person to a scene's robot, each rehearsed before it acts.

use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use karakuri_commander::{
    Agreement, Caller, Commander, Flow, Instant, Outside as _, Reply, System,
};
use karakuri_commands::{
    FunctionCall, Verb, View, describe_act, describe_prediction, describe_refusal, parse_command,
};
use karakuri_files::{read_text, write_atomic};
use serde_json::{Value, json};

use super::Outcome;
use super::command::{CommanderArgs, next_request};
use super::simulate::count;
use crate::dialogue::Dialogue;
use crate::interrupt::{Interrupt, Interrupted};
use crate::output;
use crate::progress;

/// Gives a scene's robot commands: each is rehearsed in copies of the world, shown, and carried out if you agree
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    #[command(flatten)]
    commander: CommanderArgs,
    /// Commands, one after the other: a verb with its arguments, as `pick cube` or `place x_m=0.5 y_m=0.2`; without any they are typed, one a line
    #[arg(value_name = "COMMAND")]
    commands: Vec<String>,
    /// List of function calls of a language model, `move`, `setGripperState` and `returnToOrigin`, before the commands
    #[arg(long, value_name = "FILE.json", requires = "view")]
    calls: Option<PathBuf>,
    /// Camera whose picture the calls are about
    #[arg(long, value_name = "FILE.yaml")]
    view: Option<PathBuf>,
    /// Who commands, by the envelope
    #[arg(long = "as", value_name = "PRINCIPAL", default_value = "local")]
    principal: String,
    /// Agree to each act that is predicted to succeed
    #[arg(long, short)]
    yes: bool,
    /// Rehearse only; what comes after a command is rehearsed as if it had not been
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,
    /// Folder for pictures of the predictions: the worst copy of each, at its start, its worst instant and its end
    #[arg(long, value_name = "FOLDER")]
    pictures: Option<PathBuf>,
}

const HELP: &str = "\
Examples:
  chmod 0444 config/envelopes/table.yaml
  karakuri do config/scenes/pick_and_place.yaml --envelope config/envelopes/table.yaml \\
    'pick cube' 'place on=shelf' home
  karakuri do config/scenes/words.yaml --envelope config/envelopes/words.yaml \\
    --calls config/calls/gemini_overview.json --view config/views/words.yaml --yes
  karakuri do config/scenes/walk.yaml --gait config/gaits/khr1_walk.yaml \\
    --envelope config/envelopes/floor.yaml 'walk_to x_m=0.3 y_m=0.1 yaw_rad=0' look
  karakuri do config/scenes/pick_and_place_tools.yaml --tools config/tools/arm6.yaml \\
    --envelope config/envelopes/tools.yaml 'change_tool cup' 'pick plate' \\
    'place x_m=0.5 y_m=0.2' 'change_tool jaws'

Without scene and envelope, one command goes to the running node `commander`:
  karakuri do pick cube
  karakuri do act TICKET

Verbs: look, status, log, move (x_m, y_m, z_m or high, yaw_rad, speed_scale), set_gripper (opened, width_m or vacuum_kpa, force_n), pick (object, \
or x_m and y_m; force_n), place (x_m, y_m, z_m; or on), home; with --gait walk_to (x_m, y_m, yaw_rad), with --tools change_tool (tool). Values are JSON, or words. What is asked for is inside of the envelope, or refused.

Exit code 3: a command was refused, is predicted to fail, or failed.";

/// Runs the command.
///
/// # Errors
/// When a file or a command is wrong, or an output cannot be written. A refusal is an [`Outcome::Failed`].
pub fn run(args: &Args) -> Result<Outcome> {
    match carry_out(args) {
        Err(error) if error.is::<Interrupted>() => Ok(Outcome::Failed(error.to_string())),
        done => done,
    }
}

fn carry_out(args: &Args) -> Result<Outcome> {
    let commands: Vec<_> = args.commands.iter().map(|text| parsed(text)).collect::<Result<_>>()?;
    let calls = calls(args)?;
    let can_ask = io::stdin().is_terminal() && io::stderr().is_terminal();
    if !(args.yes || args.dry_run || can_ask) {
        bail!("nobody can be asked here: agree to all acts with --yes, or rehearse with --dry-run");
    }
    let interrupt = Interrupt::watch()?;
    let dialogue = Dialogue::new(interrupt.clone(), args.yes);
    let mut shell = Shell { args, interrupt, dialogue, commander: args.commander.open()? };
    let mut steps: Vec<_> = calls.into_iter().map(|(view, call)| Step::Call(view, call)).collect();
    steps.extend(commands.into_iter().map(|(verb, arguments)| Step::Command(verb, arguments)));
    if steps.is_empty() {
        return shell.read_commands();
    }
    for (number, step) in steps.iter().enumerate() {
        if shell.interrupt.is_raised() {
            return Ok(Outcome::Failed("interrupted".to_owned()));
        }
        let (verb, arguments) = match shell.meant(step) {
            Ok(meant) => meant,
            Err(refused) => return Ok(Outcome::Failed(refused)),
        };
        if let Err(refused) = shell.command(number + 1, verb, &arguments)? {
            return Ok(Outcome::Failed(refused));
        }
    }
    Ok(Outcome::Done)
}

/// What is to be done.
enum Step {
    Command(Verb, Value),
    /// A call of a language model, and the camera that it is about.
    Call(View, FunctionCall),
}

fn calls(args: &Args) -> Result<Vec<(View, FunctionCall)>> {
    let (Some(file), Some(view)) = (&args.calls, &args.view) else { return Ok(Vec::new()) };
    let view = View::read(view)?;
    let calls: Vec<FunctionCall> = serde_json::from_str(&read_text(file)?)
        .with_context(|| format!("{}: write a list of calls", file.display()))?;
    Ok(calls.into_iter().map(|call| (view.clone(), call)).collect())
}

/// Verb and arguments of a command as it is typed.
fn parsed(text: &str) -> Result<(Verb, Value)> {
    parse_command(text.split_whitespace()).map_err(|why| anyhow!(why))
}

struct Shell<'a> {
    args: &'a Args,
    interrupt: Interrupt,
    dialogue: Dialogue,
    commander: Commander,
}

impl Shell<'_> {
    /// Verb and arguments of a step; a refusal as a sentence.
    fn meant(&self, step: &Step) -> Result<(Verb, Value), String> {
        match step {
            Step::Command(verb, arguments) => Ok((*verb, arguments.clone())),
            Step::Call(view, call) => {
                let meant = view.translate_call(call, &self.commander.scene());
                let meant = meant.map_err(|refusal| describe_refusal(&json!(refusal)))?;
                Ok((meant.arguments.verb(), json!(meant.arguments)))
            }
        }
    }

    /// Carries out a command of a number; why it was not done, if it was not.
    fn command(
        &mut self,
        number: usize,
        verb: Verb,
        arguments: &Value,
    ) -> Result<Result<(), String>> {
        if verb == Verb::Act {
            return self.act(verb, arguments.clone());
        }
        let answer = match self.call(verb, arguments, None)? {
            Ok(answer) => answer,
            Err(refused) => return Ok(Err(format!("`{verb}`: {refused}"))),
        };
        if !verb.is_rehearsed() {
            output::json(&answer, None)?;
            return Ok(Ok(()));
        }
        output::print(&format!("{verb}: {}\n", describe_prediction(&answer)))?;
        if let Some(folder) = &self.args.pictures {
            self.photograph(&answer, &folder.join(format!("{number}_{verb}.png")))?;
        }
        if self.args.dry_run {
            return Ok(Ok(()));
        }
        self.act(verb, json!({"ticket": answer["ticket"]}))
    }

    /// Carries out what a ticket is for, once the person has agreed; why it was not done, if it was not.
    fn act(&mut self, verb: Verb, mut arguments: Value) -> Result<Result<(), String>> {
        if arguments["request_id"].is_null() {
            arguments["request_id"] = next_request().into();
        }
        let is_agreed = self.args.yes || self.dialogue.agrees(&format!("carry out `{verb}`?"))?;
        let agreement = if is_agreed { Agreement::Operator } else { Agreement::Declined };
        let done = match self.call(Verb::Act, &arguments, Some(agreement))? {
            Ok(done) => done,
            Err(refused) => return Ok(Err(format!("`{verb}`: {refused}"))),
        };
        output::print(&format!("{verb}: {}\n", describe_act(&done)))?;
        Ok(Ok(()))
    }

    /// Carries out what is typed, one command a line. What is refused ends it only where nobody types.
    fn read_commands(&mut self) -> Result<Outcome> {
        let mut number = 0;
        while let Some(line) = self.dialogue.line("> ", &mut || Ok(()))? {
            if line.trim().is_empty() {
                continue;
            }
            number += 1;
            let done = match parsed(&line) {
                Ok((verb, arguments)) => self.command(number, verb, &arguments)?,
                Err(why) => Err(why.to_string()),
            };
            match done {
                Ok(()) => {}
                Err(why) if io::stdin().is_terminal() => eprintln!("{why}"),
                Err(why) => return Ok(Outcome::Failed(why)),
            }
        }
        Ok(Outcome::Done)
    }

    fn call(
        &self,
        verb: Verb,
        arguments: &Value,
        agreement: Option<Agreement>,
    ) -> Result<Result<Value, String>> {
        let random = System.random().context("the system gives no random numbers")?;
        let principal = &self.args.principal;
        let caller =
            Caller { principal, now: System.now(), date: System.date(), random, agreement };
        let bar = progress::bar(1000, verb.name());
        let mut watch = |instant: &Instant| {
            bar.set_position(count(1000.0 * instant.progress));
            if self.interrupt.is_raised() { Flow::Cancel } else { Flow::GoOn }
        };
        let reply = self.commander.call(&caller, verb, arguments, &mut watch);
        bar.finish_and_clear();
        Ok(match reply {
            Reply::Done(value) => Ok(value),
            Reply::Refused(refusal) => Err(describe_refusal(&refusal)),
            Reply::Question(question) => Err(question.text),
        })
    }

    fn photograph(&self, answer: &Value, file: &Path) -> Result<()> {
        let picture = answer["rehearsal"].as_u64().and_then(|n| self.commander.picture(n));
        let picture = picture.ok_or_else(|| anyhow!("the rehearsal has no picture"))?;
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder)
                .with_context(|| format!("cannot make {}", folder.display()))?;
        }
        write_atomic(file, &picture.to_png()?)
            .with_context(|| format!("cannot write {}", file.display()))
    }
}
