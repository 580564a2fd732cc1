//! A change under way: one function a phase.

use karakuri_spatial::{Force, Time, Vector3};

use super::plan::{Step, Task, Way};
use super::rack::ToolRack;
use super::types::{
    ToolChangeFailure as Failure, ToolChangeOrder as Order, ToolChangeResult, ToolChangeSettings,
    ToolChangeStage as Stage, ToolChangeView as View, Work,
};
use super::weigh::Weight;

/// Speed of a joint up to which the arm is at rest. [rad/s or m/s]
// That of pick and place, at which an arm has arrived.
const REST_SPEED: f64 = 0.02;
/// Time for which it must be at rest before a coupling is asked, or the tool weighed. [s]
// As long as a grip must be firm in pick and place.
const REST_TIME: f64 = 0.2;
/// Time over which the tool is weighed. [s]
const WEIGH_TIME: f64 = 0.2;
/// Wall time that the robot may take to be back, to be at rest, and to be weighed. [s]
const PATIENCE: f64 = 20.0;
/// Wall time after which a controller that was not seen to go is the one of the new robot. [s]
// Twice what nodes take to start again with another robot.
const EXCHANGED: f64 = 2.0;

/// A change of tools under way.
#[derive(Debug, Clone)]
pub struct ToolChange {
    steps: Vec<Step>,
    next: usize,
    stage: Stage,
    phase: Phase,
    settings: ToolChangeSettings,
    is_canceled: bool,
    /// Since when the arm has been at rest.
    rest: Option<Time>,
    /// Wall time at which the present wait began. [s]
    waiting: f64,
    /// Wall time of the coupling's last answer. [s]
    exchanged: f64,
    /// Height from which on the flange is free of the place in which it is. [m]
    above: f64,
    /// Mass that was felt last. [kg]
    mass: f64,
    /// Failure that ends the change once the flange is up.
    failure: Option<(Failure, String)>,
}

#[derive(Debug, Clone, PartialEq)]
enum Phase {
    /// The next step begins.
    Begin,
    /// The arm follows the step's trajectory.
    Moving,
    /// The arm comes to rest before a coupling is asked.
    Settling,
    /// The coupling works.
    Coupling,
    /// Nodes take up the robot with another tool.
    Returning {
        /// Wall time from which on the controller must be there. [s]
        since: f64,
        /// Whether the controller was seen to go.
        was_away: bool,
    },
    /// Readings of the wrist are added up.
    Weighing(Readings),
    /// The arm brakes after a cancel.
    Stopping,
    /// The flange goes up after a failure.
    Rising,
}

/// Readings of the wrist's force.
#[derive(Debug, Clone, PartialEq, Default)]
struct Readings {
    first: Option<Time>,
    last: Option<Time>,
    sum: Vector3,
    n: u32,
}

impl Readings {
    fn add(&mut self, time: Time, force: &Force) {
        if self.last.is_none_or(|last| time > last) {
            self.first.get_or_insert(time);
            self.last = Some(time);
            self.sum += force.force;
            self.n += 1;
        }
    }

    /// Mean force, once they are long enough. [N] (3)
    fn mean(&self) -> Option<Force> {
        let enough = self.last?.seconds_since(self.first?) >= WEIGH_TIME;
        enough.then(|| Force::new(Vector3::zeros(), self.sum / f64::from(self.n)))
    }
}

impl ToolChange {
    /// Plans a change from what is on the flange to another tool, begun at rest at `q`. (nq)
    ///
    /// # Errors
    /// The failure and its sentence, when a tool is unknown or a place is not reached.
    pub fn start(
        rack: &mut ToolRack,
        [present, desired]: [&str; 2],
        q: &[f64],
        settings: ToolChangeSettings,
    ) -> Result<Self, (Failure, String)> {
        for name in [present, desired] {
            if rack.tool(name).is_none() {
                let known: Vec<_> = rack.names().collect();
                let text = format!("no tool `{name}`; there are: {}", known.join(", "));
                return Err((Failure::UnknownTool, text));
            }
        }
        let steps = rack.steps(present, desired, q, &settings);
        let steps = steps.map_err(|why| (Failure::Unreachable, why))?;
        Ok(Self {
            stage: steps.first().map_or(Stage::Weigh, |step| step.stage),
            steps,
            next: 0,
            phase: Phase::Begin,
            settings,
            is_canceled: false,
            rest: None,
            waiting: 0.0,
            exchanged: 0.0,
            above: 0.0,
            mass: 0.0,
            failure: None,
        })
    }

    /// Stage that it is in.
    pub fn stage(&self) -> Stage {
        self.stage
    }

    /// Cancels: it ends at the next place where nothing is between being coupled and being let go.
    pub fn cancel(&mut self) {
        self.is_canceled = true;
    }

    /// What to do next, if it is something new.
    pub fn tick(&mut self, rack: &mut ToolRack, view: &View<'_>) -> Option<Order> {
        self.watch_rest(view);
        let exchanges = matches!(self.phase, Phase::Coupling | Phase::Returning { .. });
        if view.is_silent && !exchanges {
            return Some(self.lost(view, "joint states do not come any more"));
        }
        match &self.phase {
            Phase::Begin => self.begin(rack, view),
            Phase::Moving => self.moving(view),
            Phase::Settling => self.settling(view),
            Phase::Coupling => self.coupling(rack, view),
            Phase::Returning { .. } => self.returning(view),
            Phase::Weighing(_) => self.weighing(rack, view),
            Phase::Stopping => self.stopping(rack, view),
            Phase::Rising => self.rising(view),
        }
    }

    fn watch_rest(&mut self, view: &View<'_>) {
        let rests = view.v.iter().all(|speed| speed.abs() < REST_SPEED);
        // A clock that jumped back starts a new rest.
        let since = self.rest.filter(|since| *since <= view.time);
        self.rest = rests.then(|| since.unwrap_or(view.time));
    }

    fn is_at_rest(&self, view: &View<'_>) -> bool {
        self.rest.is_some_and(|since| view.time.seconds_since(since) >= REST_TIME)
    }

    fn begin(&mut self, rack: &mut ToolRack, view: &View<'_>) -> Option<Order> {
        self.waiting = view.wall;
        let Some(step) = self.steps.get(self.next) else { return Some(self.succeed(view)) };
        self.stage = step.stage;
        if self.is_canceled {
            match step.task {
                Task::Move(Way::Free | Way::Down { .. }, _) => return Some(self.canceled(view)),
                Task::Couple(_) => {
                    self.failure = Some((Failure::Canceled, self.describe_cancel()));
                    return Some(self.rise(rack, view));
                }
                Task::Move(Way::Up, _) | Task::Weigh => {}
            }
        }
        match &step.task {
            Task::Move(way, trajectory) => {
                if let Way::Down { above } = way {
                    self.above = *above;
                }
                self.phase = Phase::Moving;
                return Some(Order::Follow(trajectory.clone()));
            }
            Task::Couple(_) => self.phase = Phase::Settling,
            Task::Weigh => self.phase = Phase::Weighing(Readings::default()),
        }
        None
    }

    fn moving(&mut self, view: &View<'_>) -> Option<Order> {
        let Task::Move(way, _) = &self.steps[self.next].task else { return None };
        match view.arm {
            Work::Pending if self.is_canceled && *way != Way::Up => {
                self.rest = None;
                self.waiting = view.wall;
                self.phase = Phase::Stopping;
                return Some(Order::Stop);
            }
            Work::Pending => {}
            Work::Done => self.advance(),
            // A controller that was about to go took the trajectory along.
            Work::Lost(_) if self.follows_exchange() && view.wall - self.exchanged < PATIENCE => {
                self.next -= 1;
                self.phase = Phase::Returning { since: view.wall, was_away: false };
            }
            Work::Refused(why) | Work::Lost(why) => {
                let text = format!("the arm did not follow: {why}");
                return Some(self.lost(view, &text));
            }
        }
        None
    }

    fn follows_exchange(&self) -> bool {
        let last = self.next.checked_sub(1).map(|last| &self.steps[last].task);
        matches!(last, Some(Task::Couple(_)))
    }

    fn settling(&mut self, view: &View<'_>) -> Option<Order> {
        let Task::Couple(name) = &self.steps[self.next].task else { return None };
        if self.is_at_rest(view) {
            self.phase = Phase::Coupling;
            return Some(Order::Couple(name.clone()));
        }
        self.is_overdue(view).then(|| self.lost(view, "the arm does not come to rest at the dock"))
    }

    fn coupling(&mut self, rack: &mut ToolRack, view: &View<'_>) -> Option<Order> {
        match view.coupling {
            Work::Pending => None,
            Work::Done => {
                self.exchanged = view.wall;
                self.phase = Phase::Returning { since: view.wall, was_away: false };
                None
            }
            Work::Refused(why) => {
                self.failure = Some((Failure::Refused, format!("in {}: {why}", self.stage)));
                Some(self.rise(rack, view))
            }
            Work::Lost(why) => Some(self.lost(view, why)),
        }
    }

    /// Waits until other nodes have the robot with what is on the flange now.
    fn returning(&mut self, view: &View<'_>) -> Option<Order> {
        let Task::Couple(name) = &self.steps[self.next].task else { return None };
        let Phase::Returning { since, was_away } = &mut self.phase else { return None };
        *was_away |= !view.has_controller;
        let is_new = *was_away || view.wall - *since > EXCHANGED;
        let missing = if view.tool != name {
            format!("`tool` still names `{}`", view.tool)
        } else if view.is_silent || !view.is_its_robot {
            format!("the joint states of the robot with `{name}` do not come")
        } else if !view.has_controller {
            "the arm's controller is not back".to_owned()
        } else {
            if is_new {
                self.advance();
            }
            return None;
        };
        (view.wall - self.exchanged > PATIENCE).then(|| {
            self.lost(view, &format!("{PATIENCE:.0} s after `{name}` was coupled, {missing}"))
        })
    }

    fn weighing(&mut self, rack: &mut ToolRack, view: &View<'_>) -> Option<Order> {
        let is_at_rest = self.is_at_rest(view);
        let Phase::Weighing(readings) = &mut self.phase else { return None };
        if !is_at_rest {
            *readings = Readings::default();
        } else if let Some((time, wrench)) = &view.wrench {
            // Readings from before the rest are of the motion.
            if self.rest.is_some_and(|since| *time >= since.plus_seconds(REST_TIME)) {
                readings.add(*time, wrench);
            }
        }
        if let Some(mean) = readings.mean()
            && let Some(weight) = rack.weight(view.tool, view.q, &mean)
        {
            self.mass = weight.felt;
            if weight.is_right() {
                self.advance();
                return None;
            }
            let text = describe(rack, view.tool, &weight);
            return Some(self.end(view, Some(Failure::ToolLost), &text));
        }
        let overdue = "the arm's rest or the readings of the wrist do not come";
        self.is_overdue(view).then(|| self.lost(view, overdue))
    }

    fn stopping(&mut self, rack: &mut ToolRack, view: &View<'_>) -> Option<Order> {
        if !self.is_at_rest(view) {
            return self.is_overdue(view).then(|| self.lost(view, "the arm does not stop"));
        }
        if matches!(self.steps[self.next].task, Task::Move(Way::Down { .. }, _)) {
            self.failure = Some((Failure::Canceled, self.describe_cancel()));
            return Some(self.rise(rack, view));
        }
        Some(self.canceled(view))
    }

    /// Begins the way up from where the flange is, which ends with the failure.
    fn rise(&mut self, rack: &mut ToolRack, view: &View<'_>) -> Order {
        match rack.rise(view.q, self.above, &self.settings) {
            Ok(trajectory) => {
                self.phase = Phase::Rising;
                Order::Follow(trajectory)
            }
            Err(why) => self.fail(view, &format!("; the arm stays in the dock: {why}")),
        }
    }

    fn rising(&mut self, view: &View<'_>) -> Option<Order> {
        match view.arm {
            Work::Pending => None,
            Work::Done => Some(self.fail(view, "")),
            Work::Refused(why) | Work::Lost(why) => {
                Some(self.fail(view, &format!("; the arm did not come up from the dock: {why}")))
            }
        }
    }

    fn advance(&mut self) {
        self.next += 1;
        self.phase = Phase::Begin;
    }

    fn is_overdue(&self, view: &View<'_>) -> bool {
        view.wall - self.waiting > PATIENCE
    }

    fn describe_cancel(&self) -> String {
        format!("cancelled in {}", self.stage)
    }

    fn succeed(&self, view: &View<'_>) -> Order {
        self.end(view, None, "done")
    }

    fn canceled(&self, view: &View<'_>) -> Order {
        self.end(view, Some(Failure::Canceled), &self.describe_cancel())
    }

    fn lost(&self, view: &View<'_>, why: &str) -> Order {
        self.end(view, Some(Failure::RobotLost), &format!("in {}: {why}", self.stage))
    }

    /// Ends with the failure that was kept.
    fn fail(&mut self, view: &View<'_>, more: &str) -> Order {
        let (failure, text) = self.failure.take().unwrap_or((Failure::RobotLost, String::new()));
        self.end(view, Some(failure), &format!("{text}{more}"))
    }

    fn end(&self, view: &View<'_>, failure: Option<Failure>, text: &str) -> Order {
        let message = format!("{text}; on the flange: `{}`", view.tool);
        Order::End(ToolChangeResult { failure, message, mass: self.mass })
    }
}

fn describe(rack: &ToolRack, tool: &str, weight: &Weight) -> String {
    let Weight { felt, expected } = weight;
    if tool == rack.bare_name() {
        return format!(
            "the wrist still feels {felt:.3} kg where the bare flange has {expected:.3} kg; free the tool that was let go"
        );
    }
    format!(
        "the wrist feels {felt:.3} kg where `{tool}` has {expected:.3} kg; look whether it is on the flange or in its dock"
    )
}
