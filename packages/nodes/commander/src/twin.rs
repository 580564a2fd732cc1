//! The robot of the nodes, with a cell that takes each of their samples along.
//!
//! In lockstep the nodes compute what a cell does, to the bit. The twin steps with them from the first sample on, and compares what they measure,
//! command and see with what it has. Between acts time stands still, so that an act begins in the sample in which it was rehearsed.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use karakuri_commander::{OnStop, Order, Robot, of_error};
use karakuri_commands::{Code, Refusal};
use karakuri_grasp::pick_and_place::KnownObject;
use karakuri_rehearsal::{Cell, Ended, RehearsalError};
use karakuri_ros::ClientGoalState;
use karakuri_ros::msg::sensor_msgs::msg::JointState;

use crate::feed::{Answered, Feed, REPEATS};
use crate::goal::{Clients, as_read};
use crate::running::Running;
use crate::settings::NodeSettings;
use crate::time::{SimulationTime, discover, wait_for};

/// Wall time without a sample after which the robot is silent.
const SILENCE: Duration = Duration::from_secs(10);
/// Wall time in which a node takes a goal, ends it or hears that it is to cancel.
const ANSWER_TIME: Duration = Duration::from_secs(10);
/// Wall time between two looks whether time stands still.
const LOOK: Duration = Duration::from_millis(5);
/// Time of samples that may be lost one after the other. [ns]
const LOST: i64 = 200_000_000;
/// Simulated time in which the scene comes to rest at the start. [s]
const SETTLE: f64 = 0.5;
/// Sightings that are kept until those of the nodes come.
const SIGHTINGS: usize = 64;

/// What the twin knows the nodes by.
pub(crate) struct Connections {
    pub(crate) feed: Arc<Feed>,
    pub(crate) clients: Clients,
    pub(crate) time: SimulationTime,
    pub(crate) settings: NodeSettings,
    /// Time between two samples. [ns]
    pub(crate) period: i64,
}

/// The robot of the nodes.
pub(crate) struct Twin {
    nodes: Connections,
    cell: Cell,
    /// The cell before its first sample.
    fresh: Cell,
    /// Stamp of the sample that the cell has answered last; 0: none. [ns]
    at: i64,
    /// Sample that came where those before it were lost.
    ahead: Option<Answered>,
    is_playing: bool,
    n_resets: u64,
    running: Running,
    /// Whether the act that is carried out, or was last, is to end.
    is_cancelled: bool,
    difference: Option<String>,
    /// Sightings of the cell, which those of the nodes are compared with. [ns]
    seen: VecDeque<(i64, Vec<KnownObject>)>,
}

impl Twin {
    /// Twin of nodes, with the cell of their scene before its first sample.
    pub(crate) fn new(cell: Cell, nodes: Connections) -> Self {
        let fresh = cell.clone();
        Self {
            nodes,
            cell,
            fresh,
            at: 0,
            ahead: None,
            is_playing: false,
            n_resets: 0,
            running: Running::default(),
            is_cancelled: false,
            difference: None,
            seen: VecDeque::new(),
        }
    }

    /// Waits for the nodes, takes their first sample, and lets the scene come to rest.
    ///
    /// # Errors
    /// When a node is missing, or time has gone on already.
    pub(crate) fn start(&mut self) -> Result<(), Refusal> {
        let first = discover(|| match self.missing() {
            Some(missing) => Err(missing),
            None => Ok(self.nodes.feed.next(Duration::ZERO)),
        });
        let first = first.ok_or_else(|| {
            let hint = "start `sim`, `feedforward_controller` and `gripper` or `gait_planner` with `lockstep:=true start_paused:=true`";
            Refusal::new(Code::RobotLost, hint).of("missing", self.missing().unwrap_or("samples"))
        })?;
        self.tune()?;
        self.take(&first)?;
        self.known()?;
        self.play()?;
        let end = self.cell.now().plus_seconds(SETTLE);
        while self.cell.now() < end && self.difference.is_none() {
            self.step()?;
        }
        self.hold()
    }

    /// Goal that is carried out.
    pub(crate) fn running(&self) -> Running {
        self.running.clone()
    }

    /// What is not found yet.
    fn missing(&self) -> Option<&'static str> {
        let feed = &self.nodes.feed;
        let controller = "`feedforward_controller`, which must wait for hand and walk in lockstep";
        let is_awaited = feed.are_sources_awaited();
        let waiting =
            "`gripper` or `gait_planner` with `commander/seen` in its parameter `lockstep_sources`";
        let missing = self.nodes.clients.missing();
        missing
            .or_else(|| (!is_awaited).then_some(controller))
            .or_else(|| (!feed.are_nodes_waiting()).then_some(waiting))
            .or_else(|| self.nodes.settings.missing())
    }

    /// Gives the cell the settings that the nodes now have; what has changed, if anything has that counts.
    fn tune(&mut self) -> Result<Option<String>, Refusal> {
        self.nodes.settings.tune(&mut self.cell, &mut self.fresh)
    }

    /// Does so before samples by which somebody else ends that time stands still, or a reset: what was set before counts in them.
    fn tune_for_next(&mut self) -> Result<(), Refusal> {
        if !self.is_playing && self.has_next() {
            self.tune()?;
        }
        Ok(())
    }

    /// Tells with a difference of which parameter it is, if one was set meanwhile.
    fn explain(&mut self) {
        let Self { nodes, cell, difference, .. } = self;
        let Some(difference) = difference else { return };
        if let Some(change) = nodes.settings.explain(cell) {
            *difference = format!("{difference}; {change} since the act began");
        }
    }

    /// Lets time stand still, with the cell as the nodes are; what of their settings has changed.
    fn stand(&mut self) -> Result<Option<String>, Refusal> {
        // A stop may have come after the end of the act.
        self.nodes.feed.open();
        self.tune_for_next()?;
        if self.is_playing || self.has_next() {
            self.nodes.time.pause()?;
            self.is_playing = false;
            self.catch_up()?;
        }
        if let Some(goal) = self.running.goal() {
            // Its last sample was answered: what it ended with is on its way.
            wait_for(ANSWER_TIME, || goal.is_final().then_some(()));
            self.running.set(None);
        }
        self.look();
        self.known()?;
        self.tune()
    }

    fn play(&mut self) -> Result<(), Refusal> {
        self.is_playing = true;
        self.nodes.time.play()
    }

    /// Refuses where the nodes are not as the cell is.
    fn known(&self) -> Result<(), Refusal> {
        let hint = "reset the simulation: the robot or its world is not as rehearsed any more";
        self.difference
            .as_ref()
            .map_or(Ok(()), |why| Err(Refusal::new(Code::RobotLost, hint).of("why", why.as_str())))
    }

    /// Takes a sample along.
    fn take(&mut self, sample: &Answered) -> Result<Option<Ended>, Refusal> {
        let stamp = sample.stamp;
        if stamp == self.nodes.period && self.at != 0 {
            // The simulation was reset, and all nodes with it.
            self.cell = self.fresh.clone();
            (self.at, self.difference) = (0, None);
            self.n_resets += 1;
            self.running.set(None);
            self.seen.clear();
        }
        let expected = self.at + self.nodes.period;
        if self.difference.is_none() && stamp != expected {
            let (stamp, expected) = (1e-9 * stamp as f64, 1e-9 * expected as f64);
            self.difference =
                Some(format!("a sample of {stamp:.3} s came where {expected:.3} s was next"));
        }
        self.at = stamp;
        if self.difference.is_some() {
            return Ok(None);
        }
        let stepped = self.cell.step();
        let result = stepped.map_err(|error| of_error(&self.cell, &RehearsalError::Io(error)))?;
        self.difference = self.compare(sample);
        let (time, objects) = self.cell.seen();
        if time == self.cell.now() {
            self.seen.push_back((stamp, objects.to_vec()));
            if self.seen.len() > SIGHTINGS {
                self.seen.pop_front();
            }
        }
        self.look();
        Ok(result)
    }

    /// The next sample, if it comes in time. One that was lost is known by the next: if the cell was right, that is as the cell has it.
    fn next(&mut self, patience: Duration) -> Option<Answered> {
        let sample = self.ahead.take().or_else(|| self.nodes.feed.next(patience))?;
        let expected = self.at + self.nodes.period;
        let lost = sample.stamp - expected;
        if self.at != 0 && self.difference.is_none() && (1..=LOST).contains(&lost) {
            self.ahead = Some(sample);
            return Some(Answered { stamp: expected, state: None, command: None });
        }
        Some(sample)
    }

    /// Whether a sample waits to be taken along.
    fn has_next(&self) -> bool {
        self.ahead.is_some() || self.nodes.feed.has_next()
    }

    /// First difference of a sample and its answer from those of the cell.
    fn compare(&self, sample: &Answered) -> Option<String> {
        let at = 1e-9 * sample.stamp as f64;
        let moved = sample.state.as_ref().and_then(|state| self.other_position(state));
        let other = moved.or_else(|| self.other_command(sample.command.as_ref()?));
        other.map(|other| format!("at {at:.3} s {other}"))
    }

    /// First joint that is not where the cell has it.
    fn other_position(&self, state: &JointState) -> Option<String> {
        let (layout, own) = (self.cell.layout(), self.cell.sample());
        for (j, joint) in layout.joints.iter().enumerate() {
            let named = state.name.get(j) == Some(&joint.name);
            let measured = state.position.get(j).copied().unwrap_or(f64::NAN);
            if !named || measured.to_bits() != own.position[j].to_bits() {
                let expected = own.position[j];
                let name = &joint.name;
                return Some(format!("joint `{name}` is at {measured} in place of {expected}"));
            }
        }
        None
    }

    /// First number of a command that is not the cell's.
    fn other_command(&self, message: &JointState) -> Option<String> {
        let (layout, sent) = (self.cell.layout(), self.cell.sent());
        message.name.iter().enumerate().find_map(|(i, name)| {
            let read = |values: &[f64]| values.get(i).copied().unwrap_or(f64::NAN);
            let differs = |quantity: &str, read: f64, own: f64| {
                let is_same = read.to_bits() == own.to_bits() || (read.is_nan() && own.is_nan());
                (!is_same)
                    .then(|| format!("the {quantity} of `{name}` is {read} in place of {own}"))
            };
            if let Some(j) = layout.joints.iter().position(|joint| joint.name == *name) {
                return differs("position", read(&message.position), sent.position[j])
                    .or_else(|| differs("velocity", read(&message.velocity), sent.velocity[j]))
                    .or_else(|| differs("effort", read(&message.effort), sent.effort[j]));
            }
            let Some(g) = layout.generators.iter().position(|g| g.name == *name) else {
                return Some(format!("`{name}` is no joint of the cell"));
            };
            let pressure = read(&message.effort) / layout.generators[g].area;
            differs("vacuum", pressure, sent.vacuum[g])
        })
    }

    /// Compares what has come beside samples.
    fn look(&mut self) {
        if let Some(joint) = self.nodes.feed.moved() {
            let why = format!("a service has moved the joint `{joint}`");
            self.difference.get_or_insert(why);
        }
        while let Some((stamp, theirs)) = self.nodes.feed.sighting(self.at) {
            while self.seen.front().is_some_and(|(own, _)| *own < stamp) {
                self.seen.pop_front();
            }
            let own = self.seen.front().filter(|(own, _)| *own == stamp).map(|(_, own)| own);
            let at = 1e-9 * stamp as f64;
            let why = match own {
                Some(own) if *own == theirs => continue,
                // The simulation shows at once what a service has changed.
                None => format!("at {at:.3} s objects are shown out of turn"),
                Some(own) => match own.iter().find(|object| !theirs.contains(object)) {
                    Some(object) => format!("at {at:.3} s `{}` is seen elsewhere", object.name),
                    None => format!("at {at:.3} s other objects are seen"),
                },
            };
            self.difference.get_or_insert(why);
        }
    }

    /// Takes along all samples before the one that is not let go on.
    fn reach_withheld(&mut self) -> Result<(), Refusal> {
        let feed = Arc::clone(&self.nodes.feed);
        let period = self.nodes.period;
        let reached = wait_for(SILENCE, || {
            while let Some(sample) = self.next(Duration::ZERO) {
                if let Err(refusal) = self.take(&sample) {
                    return Some(Err(refusal));
                }
            }
            // What differs is not rehearsed any more: it is cancelled whenever it may be.
            let is_there = self.difference.is_some() || feed.withheld() == Some(self.at + period);
            is_there.then_some(Ok(()))
        });
        reached.unwrap_or_else(|| Err(silent()))
    }

    /// Takes along what comes until a sample is repeated, as is done while time stands still.
    fn catch_up(&mut self) -> Result<(), Refusal> {
        let feed = Arc::clone(&self.nodes.feed);
        let (before, repeats) = feed.newest();
        let mut deadline = Instant::now() + SILENCE;
        while Instant::now() < deadline {
            if let Some(sample) = self.next(LOOK) {
                self.take(&sample)?;
                deadline = Instant::now() + SILENCE;
                continue;
            }
            // Those that were on their way before do not count.
            let (newest, repeated) = feed.newest();
            let counted =
                if newest == before { repeated.saturating_sub(repeats) } else { repeated };
            if !self.has_next() && counted >= REPEATS {
                return Ok(());
            }
        }
        Err(silent())
    }
}

/// Refusal where samples, or their answers, do not come.
fn silent() -> Refusal {
    let hint =
        "look whether `sim`, `feedforward_controller` and `gripper` or `gait_planner` are running";
    Refusal::new(Code::RobotLost, hint)
}

impl Robot for Twin {
    fn cell(&self) -> &Cell {
        &self.cell
    }

    fn hold(&mut self) -> Result<(), Refusal> {
        self.stand().map(|_| ())
    }

    fn follow(&mut self) -> bool {
        let mut has_moved = false;
        // An error is found again when somebody commands.
        let _silent = self.tune_for_next().err();
        while let Some(sample) = self.next(Duration::ZERO) {
            let _silent = self.take(&sample).err();
            has_moved = true;
        }
        if has_moved {
            // Somebody else lets time go on.
            self.is_playing = true;
        }
        has_moved
    }

    fn as_sent(&self, order: Order) -> Result<Order, Refusal> {
        as_read(self.nodes.settings.understood(order)?, &self.cell)
    }

    fn begin(&mut self, order: &Order) -> Result<(), Refusal> {
        if let Some(change) = self.stand()? {
            let hint = "rehearse again: a parameter was set since";
            return Err(Refusal::new(Code::StaleTicket, hint).of("why", change));
        }
        let mut begun = self.cell.clone();
        begun.begin(&order.act).map_err(|error| of_error(&self.cell, &error))?;
        let goal = self.nodes.clients.send(order, &self.cell)?;
        let answered = || (goal.state() != ClientGoalState::Sending).then_some(());
        wait_for(ANSWER_TIME, answered);
        goal.taken()?;
        self.cell = begun;
        self.is_cancelled = false;
        self.running.set(Some(goal));
        self.play()
    }

    fn step(&mut self) -> Result<Option<Ended>, Refusal> {
        let mut sample = self.next(SILENCE);
        if sample.is_none() && self.nodes.feed.is_closed() {
            self.cancel()?;
            sample = self.next(SILENCE);
        }
        self.take(&sample.ok_or_else(silent)?)
    }

    fn on_stop(&self) -> OnStop {
        let feed = Arc::clone(&self.nodes.feed);
        Box::new(move || feed.close())
    }

    fn is_busy(&self) -> bool {
        if self.difference.is_none() {
            return self.cell.is_busy();
        }
        // What the cell does is not what happens any more.
        self.running.goal().is_some_and(|goal| !goal.is_final())
    }

    fn cancel(&mut self) -> Result<(), Refusal> {
        if self.is_cancelled {
            return Ok(());
        }
        self.is_cancelled = true;
        // The nodes and the cell hear of it before the same sample, the next one.
        self.nodes.feed.close();
        let reached = self.reach_withheld();
        if let Some(goal) = self.running.goal() {
            goal.cancel();
            let is_heard = || (goal.is_cancel_answered() || goal.is_final()).then_some(());
            wait_for(ANSWER_TIME, is_heard);
        }
        self.cell.cancel();
        self.nodes.feed.open();
        self.explain();
        reached
    }

    fn difference(&self) -> Option<&str> {
        self.difference.as_deref()
    }

    fn n_resets(&self) -> u64 {
        self.n_resets
    }
}
