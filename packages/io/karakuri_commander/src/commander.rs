//! The commander: a robot that takes commands that were rehearsed.

use std::fmt;
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use karakuri_commands::{
    Act, Approval, Arguments, Code, Command, Earlier, Envelope, Gate, Present, Refusal, Rehearsed,
    Scene, Tail, Verb,
};
use karakuri_rehearsal::{Act as Motion, Cell};
use karakuri_render::Image;
use karakuri_simulation::Digest;
use serde_json::{Value, json};

use crate::caller::{Agreement, Caller, Flow, Instant, Question, Reply};
use crate::desk::{Desk, Kept, Trace};
use crate::grasps::graspable_by;
use crate::order::{self, Memory, loose_at};
use crate::preview::{Preview, film, preview};
use crate::robot::{OnStop, Robot};
use crate::run::{Ended, run};
use crate::seen::Seen;

/// Distances up to which a rehearsal is repeated where the world is another: of joints [rad or m], of objects [m], and of their angles [rad]. (3)
const NEAR: [f64; 3] = [1e-3, 1e-3, 0.5_f64.to_radians()];
/// Loss of margin at which a repeated rehearsal is not the same any more. [-]
const WORSE: f64 = 0.1;
/// Opening beyond the commanded one at which fingers have closed on something. [m]
// Twice the tolerance with which a gripper command is reached.
const CLOSED_ON: f64 = 0.002;
/// Periods between two looks at the cell while an act is under way.
const LOOKS: u64 = 50;

/// What a commander is made of.
pub struct Settings {
    /// The robot, at rest.
    pub robot: Box<dyn Robot>,
    /// Its URDF, for clients that look at it.
    pub urdf: String,
    /// Limits that a person has set.
    pub envelope: Envelope,
    /// Where the audit log goes on.
    pub log: Box<dyn Write + Send>,
    /// Its end so far.
    pub tail: Tail,
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings").field("tail", &self.tail).finish_non_exhaustive()
    }
}

/// A robot that takes commands.
pub struct Commander {
    robot: Mutex<Box<dyn Robot>>,
    urdf: String,
    /// Verbs that the robot carries out, or that need none.
    verbs: Vec<Verb>,
    desk: Mutex<Desk>,
    /// Number of calls of `stop`.
    stops: AtomicU64,
    on_stop: OnStop,
}

impl fmt::Debug for Commander {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Commander").field("desk", &self.desk).finish_non_exhaustive()
    }
}

/// Ends the time in which a commander is busy.
struct Busy<'a>(&'a Commander);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        let mut desk = self.0.desk();
        (desk.is_busy, desk.is_acting) = (false, false);
    }
}

impl Commander {
    /// Commander of a robot.
    pub fn new(settings: Settings) -> Self {
        let Settings { robot, urdf, envelope, log, tail } = settings;
        let cell = robot.cell();
        let model = Digest::of(cell.model());
        let build = format!("{model}-{}", env!("CARGO_PKG_VERSION"));
        let mut desk = Desk::new(Gate::new(envelope), log, tail, build);
        desk.seen = Seen::of(cell, None, true);
        let (verbs, desk) = (order::verbs(cell), Mutex::new(desk));
        let (on_stop, stops) = (robot.on_stop(), AtomicU64::new(0));
        Self { robot: Mutex::new(robot), urdf, verbs, desk, stops, on_stop }
    }

    /// Verbs that a principal may call here, in the order in which tools are listed.
    pub fn verbs(&self, principal: &str) -> Vec<Verb> {
        let desk = self.desk();
        let is_allowed = |verb: &Verb| desk.gate.envelope().allows(principal, *verb);
        self.verbs.iter().copied().filter(is_allowed).collect()
    }

    /// URDF of the robot.
    pub fn urdf(&self) -> &str {
        &self.urdf
    }

    /// Limits that are in force.
    pub fn envelope(&self) -> Envelope {
        self.desk().gate.envelope().clone()
    }

    /// Answers a call. An act takes its time: `watch` sees each period of it, and may cancel it.
    pub fn call(
        &self,
        caller: &Caller<'_>,
        verb: Verb,
        arguments: &Value,
        watch: &mut dyn FnMut(&Instant) -> Flow,
    ) -> Reply {
        let mut desk = self.desk();
        let mut scene = desk.seen.scene.clone();
        scene.is_busy = desk.is_busy;
        let checked = desk.gate.check(caller.principal, verb, arguments, &scene, caller.now);
        let command = match checked {
            Ok(command) => command,
            Err(refusal) => return refuse(&mut desk, caller, verb, arguments, &refusal),
        };
        match &command.arguments {
            Arguments::Look(look) => {
                // Whoever rehearses or acts has the robot: nobody waits for that.
                let robot = self.robot.try_lock().ok();
                let (names, limits) = (look.objects.as_deref(), &desk.gate.envelope().limits);
                let hands = robot.map(|robot| graspable_by(robot.cell(), limits, names));
                Reply::Done(desk.seen.look(names, hands.as_ref()))
            }
            Arguments::Status(_) => Reply::Done(desk.status(caller.now)),
            Arguments::Log(log) => Reply::Done(desk.lines(log.since)),
            Arguments::Stop(_) => self.stop(desk, caller, &command),
            Arguments::Act(act) => self.act(desk, caller, act, watch),
            _ => self.rehearse(desk, caller, command),
        }
    }

    /// The scene as it was seen last, without what is in the hand: what calls of language models are about.
    pub fn scene(&self) -> Scene {
        let desk = self.desk();
        let mut scene = desk.seen.scene.clone();
        scene.objects.retain(|object| desk.memory.in_hand() != Some(object.name.as_str()));
        scene
    }

    /// The cell as it is now, once no act is under way.
    pub fn with_cell<T>(&self, see: impl FnOnce(&Cell) -> T) -> T {
        see(self.robot().cell())
    }

    /// Picture of the worst copy of a rehearsal whose ticket was not used: its start, its worst instant and its end; `None` where there is no such
    /// rehearsal. It waits for the end of an act.
    pub fn picture(&self, number: u64) -> Option<Image> {
        let kept = self.desk().kept(number).cloned()?;
        // A copy: an act that begins meanwhile need not wait.
        let cell = self.with_cell(Cell::clone);
        film(&cell, &kept.preview).ok()
    }

    /// Numbers of the rehearsals that have a picture.
    pub fn pictures(&self) -> Vec<u64> {
        self.desk().numbers()
    }

    /// What a person at the robot says of a rehearsal that is to be carried out; whether there is one of this number.
    pub fn decide(&self, number: u64, is_approved: bool) -> bool {
        self.desk().decide(number, is_approved)
    }

    /// Lifts the envelope for its time, or ends that, as a person at the robot wants it; the reading of the clock at which it holds again. [s]
    ///
    /// # Errors
    /// When the envelope does not name the person, or nothing is written to the log.
    pub fn lift(&self, caller: &Caller<'_>, who: &str, is_lifted: bool) -> Result<f64, Refusal> {
        let mut desk = self.desk();
        let lifted = if is_lifted {
            desk.gate.lift(who, caller.now)
        } else {
            desk.gate.lower();
            Ok(caller.now)
        };
        let result = match &lifted {
            Ok(until) => json!({"for_s": until - caller.now}),
            Err(refusal) => json!(refusal),
        };
        let arguments = json!({"lift": is_lifted, "who": who}).to_string();
        let written = desk.write(caller, "lift", &arguments, &result, Trace::default());
        if written.is_err() {
            desk.gate.lower();
        }
        written.and(lifted)
    }

    /// Follows a robot whose time goes on though nothing is under way.
    pub fn follow(&self) {
        // Whoever rehearses or acts has it.
        let Ok(mut robot) = self.robot.try_lock() else { return };
        if robot.follow() {
            self.notice_reset(&**robot);
            let mut desk = self.desk();
            let held = desk.memory.held.clone();
            desk.seen = Seen::of(robot.cell(), held.as_deref(), true);
        }
    }

    /// Forgets what was in the hand of a robot that was put back to its start.
    fn notice_reset(&self, robot: &dyn Robot) {
        let mut desk = self.desk();
        if desk.n_resets != robot.n_resets() {
            desk.n_resets = robot.n_resets();
            desk.memory = Memory::default();
            desk.seen = Seen::of(robot.cell(), None, true);
        }
    }

    fn stop(
        &self,
        mut desk: MutexGuard<'_, Desk>,
        caller: &Caller<'_>,
        command: &Command,
    ) -> Reply {
        self.stops.fetch_add(1, Ordering::SeqCst);
        if desk.is_acting {
            (self.on_stop)();
        }
        let stopped = json!({"stopped": desk.is_acting});
        let arguments = command.arguments.canonical();
        // It stops whether it is written or not.
        let _unwritten =
            desk.write(caller, Verb::Stop.name(), &arguments, &stopped, Trace::default()).err();
        Reply::Done(stopped)
    }

    fn rehearse(
        &self,
        mut desk: MutexGuard<'_, Desk>,
        caller: &Caller<'_>,
        command: Command,
    ) -> Reply {
        desk.is_busy = true;
        let busy = Busy(self);
        let envelope = desk.gate.envelope().clone();
        drop(desk);
        let mut robot = self.robot();
        let verb = command.arguments.verb();
        let arguments = command.arguments.canonical();
        let held = robot.hold();
        self.notice_reset(&**robot);
        let memory = self.desk().memory.clone();
        let previewed = held.and_then(|()| preview_of(&**robot, &envelope, &memory, &command));
        let mut desk = self.desk();
        let reply = match previewed {
            Ok(preview) => issue(&mut desk, caller, command, robot.cell(), preview),
            Err(refusal) => refused(&mut desk, caller, verb, &arguments, &refusal),
        };
        drop(desk);
        drop(robot);
        drop(busy);
        reply
    }

    fn act(
        &self,
        mut desk: MutexGuard<'_, Desk>,
        caller: &Caller<'_>,
        act: &Act,
        watch: &mut dyn FnMut(&Instant) -> Flow,
    ) -> Reply {
        let arguments = arguments_of(act);
        let refuse =
            |desk: &mut Desk, refusal| refused(desk, caller, Verb::Act, &arguments, refusal);
        let asked = ask(&desk, caller, act);
        let approval = match asked {
            Ok(Asked::Settled(approval)) => approval,
            Ok(Asked::Question(question)) => return Reply::Question(question),
            Err(refusal) => return refuse(&mut desk, &refusal),
        };
        match desk.gate.begin(caller.principal, act) {
            Err(refusal) => return refuse(&mut desk, &refusal),
            Ok(Earlier::Running) => {
                let hint = "wait for the answer to the same request";
                return refuse(&mut desk, &Refusal::new(Code::Busy, hint));
            }
            Ok(Earlier::Answered(answer)) => return again(answer),
            Ok(Earlier::Nothing) => {}
        }
        let stops = self.stops.load(Ordering::SeqCst);
        // From here on a stop brakes it, in its first period at the latest.
        (desk.is_busy, desk.is_acting) = (true, true);
        let busy = Busy(self);
        // The robot first, then the desk: whoever holds both takes them so.
        drop(desk);
        let mut robot = self.robot();
        let held = robot.hold();
        self.notice_reset(&**robot);
        let begun = held.and_then(|()| self.begin(caller, act, &**robot));
        let mut desk = self.desk();
        let kept = begun.and_then(|kept| {
            let trace = Trace {
                world: Some(kept.seen.world.clone()),
                prediction: Some(json!(kept.preview.forecast)),
                approval: approval.map(str::to_owned),
                command_hash: None,
            };
            let result = json!({"begins": true});
            desk.write(caller, Verb::Act.name(), &arguments, &result, trace).map(|()| kept)
        });
        let kept = match kept {
            Ok(kept) => kept,
            Err(refusal) => {
                desk.gate.finish(caller.principal, &act.request_id, json!(refusal));
                let reply = refuse(&mut desk, &refusal);
                drop(desk);
                drop(busy);
                return reply;
            }
        };
        drop(desk);
        let ended = self.carry_out(&mut **robot, &kept, stops, watch);
        let mut desk = self.desk();
        remember(&mut desk, robot.cell(), &kept);
        // Of a robot that is not the cell to the bit nobody knows them.
        let command_hash = robot.positions().is_none().then(|| ended.commands.to_string());
        let commands = command_hash.clone().unwrap_or_default();
        let trace = Trace { command_hash, ..Trace::default() };
        let mut answer = match &ended.answer {
            Ok(value) => value.clone(),
            Err(refusal) => json!(refusal),
        };
        if ended.answer.is_ok() {
            answer["commands"] = commands.into();
        }
        desk.gate.finish(caller.principal, &act.request_id, answer.clone());
        // It has been done: the next act will find that nothing is written any more.
        let _unwritten = desk.write(caller, Verb::Act.name(), &arguments, &answer, trace).err();
        drop(desk);
        drop(robot);
        drop(busy);
        again(answer)
    }

    /// Uses the ticket of an act up, and repeats the rehearsal where the world is a little different.
    fn begin(&self, caller: &Caller<'_>, act: &Act, robot: &dyn Robot) -> Result<Kept, Refusal> {
        let cell = robot.cell();
        let stale = |hint| Refusal::new(Code::StaleTicket, hint).of("ticket", "world");
        let world = cell.digest().to_string();
        let mut desk = self.desk();
        let open = desk.gate.find(caller.principal, &act.ticket);
        let number = open.map(|open| open.rehearsed.number);
        let kept = number.and_then(|number| desk.kept(number));
        let is_near = kept.is_some_and(|kept| near(kept, cell));
        let present = Present { world, build: desk.build().to_owned(), is_near };
        let redeemed = desk.gate.redeem(caller.principal, &act.ticket, &present, caller.now)?;
        let kept = desk.take(redeemed.rehearsed.number);
        let kept = kept.ok_or_else(|| stale("rehearse again: the rehearsal was forgotten"))?;
        if !redeemed.is_to_repeat {
            return Ok(kept);
        }
        let (envelope, memory) = (desk.gate.envelope().clone(), desk.memory.clone());
        // Others look, and stop, while it is rehearsed.
        drop(desk);
        let again = preview_of(robot, &envelope, &memory, &redeemed.rehearsed.command);
        let before = kept.preview.forecast.margin;
        match again {
            Ok(preview) if preview.forecast.margin >= before - WORSE => {
                Ok(Kept { preview, ..kept })
            }
            _ => Err(stale("rehearse again: what has moved since makes it another act")),
        }
    }

    /// Carries out what was rehearsed, until it ends, is cancelled, or somebody calls `stop`.
    fn carry_out(
        &self,
        robot: &mut dyn Robot,
        kept: &Kept,
        stops: u64,
        watch: &mut dyn FnMut(&Instant) -> Flow,
    ) -> Ended {
        let mut n = 0;
        run(robot, &kept.preview, &mut |instant, cell| {
            n += 1;
            if n % LOOKS == 0 {
                let mut desk = self.desk();
                let held = desk.memory.held.clone();
                desk.seen = Seen::of(cell, held.as_deref(), false);
                desk.seen.progress = instant.progress;
            }
            let flow = watch(instant);
            // After that, as it may take its time: the next period already brakes.
            let is_stopped = self.stops.load(Ordering::SeqCst) != stops;
            if is_stopped { Flow::Cancel } else { flow }
        })
    }

    fn desk(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn robot(&self) -> MutexGuard<'_, Box<dyn Robot>> {
        self.robot.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Rehearses a command in the cell of a robot that holds.
fn preview_of(
    robot: &dyn Robot,
    envelope: &Envelope,
    memory: &Memory,
    command: &Command,
) -> Result<Preview, Refusal> {
    let cell = robot.cell();
    let order = order::order(cell, envelope, memory, command)?;
    preview(cell, &robot.as_sent(order)?, envelope)
}

/// Whether somebody has to be asked before an act.
enum Asked {
    /// No; who approved.
    Settled(Option<&'static str>),
    /// Yes, this.
    Question(Question),
}

fn ask(desk: &Desk, caller: &Caller<'_>, act: &Act) -> Result<Asked, Refusal> {
    let open = desk.gate.find(caller.principal, &act.ticket);
    // A ticket that is none, or was used, is refused by the gate.
    let Some(open) = open else { return Ok(Asked::Settled(None)) };
    let decided = desk.kept(open.rehearsed.number).and_then(|kept| kept.decided);
    let operator = decided.map(
        |is_approved| {
            if is_approved { Agreement::Operator } else { Agreement::Declined }
        },
    );
    match (open.approval, operator.or(caller.agreement)) {
        (_, Some(Agreement::Declined)) => {
            Err(Refusal::new(Code::Declined, "ask the person what to do instead"))
        }
        (_, Some(Agreement::Operator)) => Ok(Asked::Settled(Some("operator"))),
        (Approval::None, _) => Ok(Asked::Settled(None)),
        (Approval::Elicitation, Some(Agreement::Client)) => Ok(Asked::Settled(Some("client"))),
        (Approval::Elicitation, None) => {
            let rehearsal = open.rehearsed.number;
            let text = question(&open.rehearsed.command, desk.kept(rehearsal));
            Ok(Asked::Question(Question { rehearsal, text }))
        }
        (Approval::Operator, _) => {
            let hint = "ask the operator at the robot: no client can approve this";
            Err(Refusal::new(Code::NeedsApproval, hint).of("rehearsal", open.rehearsed.number))
        }
    }
}

/// Question to a person, of constant words, numbers and names.
fn question(command: &Command, kept: Option<&Kept>) -> String {
    let object = command.object.as_ref().map(|name| format!(" `{name}`")).unwrap_or_default();
    let verb = command.arguments.verb();
    let Some(kept) = kept else { return format!("Carry out `{verb}`{object}?") };
    let forecast = &kept.preview.forecast;
    format!(
        "Carry out `{verb}`{object}? All of {} copies succeed, in {:.1} s at most, with a margin of {:.2} and forces up to {:.1} N.",
        forecast.copies, forecast.duration_s, forecast.margin, forecast.contact_force_n
    )
}

/// Whether the robot and all objects are nearly where they were in a rehearsal.
fn near(kept: &Kept, cell: &Cell) -> bool {
    let [joint, place, angle] = NEAR;
    let now = Seen::of(cell, None, false);
    let joints = kept.joints.iter().zip(&cell.sample().position);
    let (before, after) = (&kept.seen.scene.objects, &now.scene.objects);
    let is_same = before.len() == after.len();
    is_same
        && joints.into_iter().all(|(before, after)| (before - after).abs() < joint)
        && before.iter().zip(after).all(|(before, after)| {
            let moved = before.position_m.iter().zip(&after.position_m);
            before.name == after.name
                && moved.map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt() < place
                && (before.yaw_rad - after.yaw_rad).abs() < angle
        })
}

/// Ticket for what was rehearsed.
fn issue(
    desk: &mut Desk,
    caller: &Caller<'_>,
    command: Command,
    cell: &Cell,
    preview: Preview,
) -> Reply {
    let (verb, arguments) = (command.arguments.verb(), command.arguments.canonical());
    let (number, seed) = (desk.next_number(), desk.gate.envelope().rehearsal.seed);
    let world = cell.digest().to_string();
    let rehearsed = Rehearsed {
        number,
        principal: caller.principal.to_owned(),
        command,
        world: world.clone(),
        build: desk.build().to_owned(),
        seed,
    };
    let issued = desk.gate.issue(rehearsed, preview.forecast.clone(), caller.random, caller.now);
    let answer = match issued {
        Ok(answer) => answer,
        Err(refusal) => return refused(desk, caller, verb, &arguments, &refusal),
    };
    let trace =
        Trace { world: Some(world), prediction: Some(json!(preview.forecast)), ..Trace::default() };
    // Without the ticket: logs are read by others.
    let result = json!({"rehearsal": number, "approval": answer.approval});
    if let Err(refusal) = desk.write(caller, verb.name(), &arguments, &result, trace) {
        return Reply::Refused(json!(refusal));
    }
    let held = desk.memory.held.clone();
    let seen = Seen::of(cell, held.as_deref(), true);
    let joints = cell.sample().position.clone();
    desk.keep(Kept { number, preview, seen, joints, decided: None });
    Reply::Done(json!(answer))
}

/// Remembers what an act has left in the hand, and what is seen now.
fn remember(desk: &mut Desk, cell: &Cell, kept: &Kept) {
    let memory = &mut desk.memory;
    let order = &kept.preview.order;
    let holds = cell.is_holding();
    memory.held = match (holds, &order.object) {
        (true, Some(object)) => Some(object.clone()),
        (true, None) => memory.held.take(),
        (false, _) => None,
    };
    let at_tool = loose_at(cell, &cell.tool_pose().translation).map(|object| object.name);
    let is_taken = match &order.act {
        // Of a cup position 0 evacuates; fingers that closed on something are wider open than they were to be.
        Motion::SetGripper(command) if cell.cup_area().is_some() => command.position <= 0.0,
        Motion::SetGripper(command) => cell
            .machine()
            .is_some_and(|machine| command.position + CLOSED_ON < machine.feedback().opening),
        // What was lost on the way is not there any more.
        _ => memory.gripped.is_some() && memory.gripped == at_tool,
    };
    memory.gripped = at_tool.filter(|_| is_taken && !holds);
    let held = memory.held.clone();
    desk.seen = Seen::of(cell, held.as_deref(), true);
}

/// An answer that was given before.
fn again(answer: Value) -> Reply {
    if answer.get("code").is_some() { Reply::Refused(answer) } else { Reply::Done(answer) }
}

/// Canonical arguments of an act for the log: without the ticket, which others could read.
fn arguments_of(act: &Act) -> String {
    json!({"request_id": act.request_id}).to_string()
}

fn refuse(
    desk: &mut Desk,
    caller: &Caller<'_>,
    verb: Verb,
    arguments: &Value,
    refusal: &Refusal,
) -> Reply {
    // What was sent is not repeated: it may be anything, of any length.
    let read = Arguments::read(verb, arguments);
    let text = match &read {
        Ok(Arguments::Act(act)) => arguments_of(act),
        Ok(arguments) => arguments.canonical(),
        Err(_) => String::new(),
    };
    refused(desk, caller, verb, &text, refusal)
}

fn refused(
    desk: &mut Desk,
    caller: &Caller<'_>,
    verb: Verb,
    arguments: &str,
    refusal: &Refusal,
) -> Reply {
    let answer = json!(refusal);
    match desk.write(caller, verb.name(), arguments, &answer, Trace::default()) {
        Ok(()) => Reply::Refused(answer),
        Err(unwritten) => Reply::Refused(json!(unwritten)),
    }
}
