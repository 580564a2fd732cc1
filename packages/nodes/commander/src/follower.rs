//! The robot of nodes that do not answer in lockstep, as those of a real one, with a cell that is made to be as it is.
//!
//! Before each rehearsal the cell is put where joints and objects are measured. While an act goes on the cell does the same, and the joints must stay
//! in the band of all copies.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use karakuri_commander::{OnStop, Order, Robot, of_error};
use karakuri_commands::{Code, Refusal};
use karakuri_grasp::pick_and_place::KnownObject;
use karakuri_rehearsal::{Cell, Ended, RehearsalError};
use karakuri_ros::msg::sensor_msgs::msg::JointState;
use karakuri_ros::{ClientGoalState, warn};
use karakuri_spatial::Time;

use crate::goal::{ANSWER_TIME, Clients, Goal, as_read};
use crate::running::Running;
use crate::settings::NodeSettings;
use crate::time::{discover, wait_for};

/// Wall time without a sample after which the robot is silent.
const SILENCE: Duration = Duration::from_secs(2);
/// Wall time in which a node that starts again with another tool is there, and tells its settings.
const RETURN_TIME: Duration = Duration::from_secs(10);
/// Wall time in which parameters are found that are there, also on a busy machine.
const PRESENCE: Duration = Duration::from_secs(1);
/// Wall time in which a robot comes to rest.
const REST: Duration = Duration::from_secs(5);
/// Speed of a joint up to which a robot is at rest. [rad/s or m/s]
const AT_REST: f64 = 0.02;
/// Distances from which on the cell is put where the robot is: of joints [rad or m], of objects [m]. (2)
const ELSEWHERE: [f64; 2] = [2e-3, 1e-3];
/// Distance of a joint from where the cell was put at which it does not stand there. [rad or m]
const ASTRAY: f64 = 0.02;
/// Time for which a cell that was put somewhere comes to rest. [s]
const SETTLE: f64 = 0.3;
/// Longest time by which the cell ends an act later than the robot. [s]
const LATER: f64 = 5.0;
/// Longest time that the cell is run between two looks at the robot. [s]
const LONGEST_STEP: f64 = 0.02;

/// What was heard last.
#[derive(Debug, Default)]
pub(crate) struct Latest {
    heard: Mutex<Heard>,
    news: Condvar,
}

#[derive(Debug, Default, Clone)]
struct Heard {
    /// Stamp of the last sample. [ns]
    stamp: i64,
    state: JointState,
    objects: Vec<KnownObject>,
    /// Whether the hand carries what it has picked.
    carries: Option<bool>,
    /// Largest normal force of a finger. [N]
    finger_force: f64,
    /// Name of what is on the flange.
    tool: Option<String>,
}

impl Latest {
    fn lock(&self) -> MutexGuard<'_, Heard> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn hear_state(&self, stamp: i64, state: &JointState) {
        let mut heard = self.lock();
        heard.stamp = stamp;
        heard.state.clone_from(state);
        self.news.notify_all();
    }

    pub(crate) fn hear_objects(&self, objects: Vec<KnownObject>) {
        self.lock().objects = objects;
    }

    /// Takes whether the hand carries what it has picked, and the largest normal force of a finger. [N]
    pub(crate) fn hear_hand(&self, carries: bool, finger_force: f64) {
        let mut heard = self.lock();
        (heard.carries, heard.finger_force) = (Some(carries), finger_force);
    }

    /// Takes the name of what is on the flange, with which hands have just started.
    pub(crate) fn hear_tool(&self, tool: &str) {
        let mut heard = self.lock();
        heard.tool = Some(tool.to_owned());
        (heard.carries, heard.finger_force) = (None, 0.0);
    }

    /// What was heard, once a sample of another stamp has come.
    fn other_than(&self, stamp: i64, patience: Duration) -> Option<Heard> {
        let deadline = Instant::now() + patience;
        let mut heard = self.lock();
        while heard.stamp == stamp {
            let left = deadline.checked_duration_since(Instant::now())?;
            heard = self.news.wait_timeout(heard, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        Some(heard.clone())
    }
}

/// The robot of nodes that do not answer in lockstep.
pub(crate) struct Follower {
    latest: Arc<Latest>,
    clients: Clients,
    settings: NodeSettings,
    cell: Cell,
    /// The cell at the start.
    fresh: Cell,
    heard: Heard,
    /// Positions of the joints, in the order of the cell's layout. [rad or m] (n joints)
    positions: Vec<f64>,
    n_resets: u64,
    running: Running,
    /// End of the act in the cell.
    own_end: Option<Ended>,
    /// Time by which the cell is behind the robot in an act. [s]
    behind: f64,
}

impl Follower {
    /// Robot of nodes, with the cell of their scene at rest.
    pub(crate) fn new(
        cell: Cell,
        clients: Clients,
        settings: NodeSettings,
        latest: Arc<Latest>,
    ) -> Self {
        Self {
            latest,
            clients,
            settings,
            fresh: cell.clone(),
            positions: cell.sample().position.clone(),
            cell,
            heard: Heard::default(),
            n_resets: 0,
            running: Running::default(),
            own_end: None,
            behind: 0.0,
        }
    }

    /// Goal that is carried out.
    pub(crate) fn running(&self) -> Running {
        self.running.clone()
    }

    /// Waits for the nodes.
    ///
    /// # Errors
    /// When a node is missing, or the robot is not where its cell can be.
    pub(crate) fn start(&mut self) -> Result<(), Refusal> {
        let found = discover(|| self.missing().map_or(Ok(Some(())), Err));
        found.ok_or_else(|| {
            let hint =
                "start `sim` or `driver`, `feedforward_controller` and `gripper` or `gait_planner`";
            Refusal::new(Code::RobotLost, hint).of("missing", self.missing().unwrap_or("samples"))
        })?;
        // Nodes of other names are commanded, too.
        self.lacks_settings(RETURN_TIME);
        self.hold()
    }

    /// Gives the cell the settings that the nodes now have; what has changed, if anything has that counts. Nodes that do not tell theirs, as while they start
    /// again with another tool, have those that they had.
    fn tune(&mut self) -> Option<String> {
        if let Some(missing) = self.lacks_settings(PRESENCE) {
            warn!("settings that are rehearsed with may be others: {missing} are not there");
            return None;
        }
        let tuned = self.settings.tune(&mut self.cell, &mut self.fresh);
        tuned.unwrap_or_else(|refusal| {
            let why = refusal.value.map(|value| format!(" ({value})")).unwrap_or_default();
            warn!("settings that are rehearsed with may be others: {}{why}", refusal.hint);
            None
        })
    }

    /// Parameters that are not there within a wall time.
    fn lacks_settings(&self, patience: Duration) -> Option<&'static str> {
        wait_for(patience, || self.settings.missing().is_none().then_some(()));
        self.settings.missing()
    }

    fn missing(&self) -> Option<&'static str> {
        let is_silent = self.latest.lock().stamp == 0;
        self.clients.missing().or_else(|| is_silent.then_some("`joint_states`"))
    }

    /// Takes a sample.
    fn take(&mut self, heard: Heard) -> Result<(), Refusal> {
        if heard.stamp < self.heard.stamp {
            // The simulation was reset.
            self.cell = self.fresh.clone();
            self.n_resets += 1;
            self.running.set(None);
        }
        if let Some(tool) = &heard.tool
            && self.cell.tool() != Some(tool)
            && !self.is_changing()
        {
            // Somebody else has changed it, or it is not the one that the last change was to bring.
            warn!("`{tool}` is on the flange");
            let put = self.cell.put_tool(tool);
            put.map_err(|error| {
                let hint = "look whether the tools file is that of the robot";
                Refusal::new(Code::RobotLost, hint).of("tool", error.to_string())
            })?;
        }
        self.heard = heard;
        self.measure()
    }

    /// Whether a change of tools is under way. Robot and cell couple at moments of their own: for some time each has joints that the other lacks.
    fn is_changing(&self) -> bool {
        matches!(self.running.goal(), Some(Goal::Change(_)))
    }

    /// Takes the positions of the cell's joints from what was heard last.
    fn measure(&mut self) -> Result<(), Refusal> {
        let (state, is_changing) = (&self.heard.state, self.is_changing());
        let own = &self.cell.sample().position;
        let measured = self.cell.layout().joints.iter().zip(own).map(|(joint, own)| {
            let index = state.name.iter().position(|name| *name == joint.name);
            let measured = index.and_then(|i| state.position.get(i)).copied();
            let known = measured.or(is_changing.then_some(*own)).filter(|at| at.is_finite());
            known.ok_or_else(|| {
                let hint = "look at the driver: a joint of the scene's robot is not measured";
                Refusal::new(Code::RobotLost, hint).of("joint", joint.name.as_str())
            })
        });
        self.positions = measured.collect::<Result<_, _>>()?;
        Ok(())
    }

    /// Largest distance of a joint from where the cell has it. [rad or m]
    fn off(&self) -> f64 {
        let pairs = self.positions.iter().zip(&self.cell.sample().position);
        pairs.map(|(measured, own)| (measured - own).abs()).fold(0.0, f64::max)
    }

    /// Puts the cell where the robot and its objects are, if they are elsewhere; whether they were.
    fn adjust(&mut self) -> Result<bool, Refusal> {
        if self.heard.carries == Some(false) && self.cell.is_holding() {
            warn!("the hand has lost what it held");
            let renewed = self.cell.start_again();
            renewed.map_err(|error| {
                let hint = "look whether the scene is that of the robot";
                Refusal::new(Code::RobotLost, hint).of("hand", error.to_string())
            })?;
        }
        let [joint, object] = ELSEWHERE;
        let own = self.cell.objects();
        let is_elsewhere = |seen: &KnownObject| {
            own.iter().find(|own| own.name == seen.name).is_some_and(|own| {
                let (a, b) = (&own.pose, &seen.pose);
                let off = (a.translation - b.translation).norm();
                off > object || (a.rotation - b.rotation).norm() > 10.0 * object
            })
        };
        if self.off() <= joint && !self.heard.objects.iter().any(is_elsewhere) {
            return Ok(false);
        }
        let put = self.cell.put(&self.positions, &self.heard.objects);
        put.map_err(|error| of_error(&self.cell, &error))?;
        self.run_cell(SETTLE, false)?;
        let off = self.off();
        if off > ASTRAY {
            let hint = "look whether the scene is that of the robot: its cell does not stand where it does";
            return Err(Refusal::new(Code::RobotLost, hint).of("joint", off));
        }
        Ok(true)
    }

    /// Runs the cell alone for a time [s], or until its act ends.
    fn run_cell(&mut self, time: f64, until_end: bool) -> Result<(), Refusal> {
        let end = self.cell.now().plus_seconds(time);
        while self.cell.now() < end && (self.cell.is_busy() || !until_end) {
            self.step_cell()?;
        }
        Ok(())
    }

    fn step_cell(&mut self) -> Result<(), Refusal> {
        let stepped = self.cell.step();
        let ended = stepped.map_err(|error| of_error(&self.cell, &RehearsalError::Io(error)))?;
        if ended.is_some() {
            self.own_end = ended;
        }
        Ok(())
    }

    /// Takes up how the robot ended its act.
    fn end(&mut self, goal: &Goal) -> Result<Ended, Refusal> {
        self.running.set(None);
        if goal.state() != ClientGoalState::Succeeded {
            self.cell.cancel();
        }
        // The hand of the cell then knows what it holds.
        self.run_cell(LATER + self.behind, true)?;
        Ok(goal.ended(self.own_end.take().as_ref()))
    }
}

fn silent() -> Refusal {
    let hint = "look whether `sim` or `driver` is running: no sample comes";
    Refusal::new(Code::RobotLost, hint)
}

impl Robot for Follower {
    fn cell(&self) -> &Cell {
        &self.cell
    }

    fn hold(&mut self) -> Result<(), Refusal> {
        let moves = |heard: &Heard| heard.state.velocity.iter().any(|v| v.abs() > AT_REST);
        let deadline = Instant::now() + REST;
        loop {
            let heard = self.latest.other_than(self.heard.stamp, SILENCE).ok_or_else(silent)?;
            let is_moving = moves(&heard);
            self.take(heard)?;
            if !is_moving {
                break;
            }
            if Instant::now() > deadline {
                let hint = "wait until the robot is at rest: somebody else moves it";
                return Err(Refusal::new(Code::Busy, hint));
            }
        }
        self.tune();
        self.adjust().map(|_| ())
    }

    fn follow(&mut self) -> bool {
        let moves = self.latest.lock().state.velocity.iter().any(|v| v.abs() > AT_REST);
        let Some(heard) = self.latest.other_than(self.heard.stamp, Duration::ZERO) else {
            return false;
        };
        // An error is found again when somebody commands.
        let before = self.n_resets;
        let taken = self.take(heard).is_ok();
        let adjusted = taken && !moves && self.adjust().unwrap_or(false);
        adjusted || self.n_resets != before
    }

    fn as_sent(&self, order: Order) -> Result<Order, Refusal> {
        as_read(self.settings.understood(order)?, &self.cell)
    }

    fn begin(&mut self, order: &Order) -> Result<(), Refusal> {
        (self.own_end, self.behind) = (None, 0.0);
        if let Some(change) = self.tune() {
            let hint = "rehearse again: a parameter was set since";
            return Err(Refusal::new(Code::StaleTicket, hint).of("why", change));
        }
        let mut begun = self.cell.clone();
        begun.begin(&order.act).map_err(|error| of_error(&self.cell, &error))?;
        // What has started again with another tool may not be there yet.
        wait_for(RETURN_TIME, || self.clients.missing().is_none().then_some(()));
        let goal = self.clients.send(order, &self.cell)?;
        // A stop that comes meanwhile cancels it.
        self.running.set(Some(goal.clone()));
        wait_for(ANSWER_TIME, || (goal.state() != ClientGoalState::Sending).then_some(()));
        goal.taken().inspect_err(|_| self.running.set(None))?;
        self.cell = begun;
        // From here on it moves.
        let heard = self.latest.other_than(self.heard.stamp, Duration::ZERO);
        heard.map_or(Ok(()), |heard| self.take(heard))
    }

    fn step(&mut self) -> Result<Option<Ended>, Refusal> {
        let before = self.heard.stamp;
        let heard = self.latest.other_than(before, SILENCE);
        let Some(heard) = heard else {
            if let Some(goal) = self.running.goal() {
                goal.cancel();
            }
            return Err(silent());
        };
        let elapsed = Time::from_nanoseconds(heard.stamp - before).seconds();
        self.take(heard)?;
        // The robot is watched more closely than the cell keeps up with it on a busy machine.
        let cell_before = self.cell.now();
        self.behind += elapsed.max(0.0);
        self.run_cell(self.behind.min(LONGEST_STEP), false)?;
        self.behind -= self.cell.now().seconds_since(cell_before);
        self.measure()?;
        let ended = self.running.goal().filter(Goal::is_final);
        ended.map(|goal| self.end(&goal)).transpose()
    }

    fn is_busy(&self) -> bool {
        self.running.goal().is_some()
    }

    fn cancel(&mut self) -> Result<(), Refusal> {
        if let Some(goal) = self.running.goal() {
            goal.cancel();
        }
        self.cell.cancel();
        Ok(())
    }

    fn now(&self) -> Time {
        Time::from_nanoseconds(self.heard.stamp)
    }

    fn on_stop(&self) -> OnStop {
        let running = self.running();
        Box::new(move || {
            if let Some(goal) = running.goal() {
                goal.cancel();
            }
        })
    }

    fn positions(&self) -> Option<&[f64]> {
        Some(&self.positions)
    }

    fn finger_force(&self) -> Option<f64> {
        Some(self.heard.finger_force)
    }

    fn n_resets(&self) -> u64 {
        self.n_resets
    }
}
