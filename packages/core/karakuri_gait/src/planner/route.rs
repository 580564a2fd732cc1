//! Next footsteps of a command.
//!
//! The step after the current one is committed: a command changes the steps from the one after it on. Preview control answers a
//! change of its reference with ZMP excursions, smaller by `e^{−ωt}` the further ahead the change is.

use std::sync::Arc;

use super::footstep::{self, Clip, ClipKind, Footstep, slid};
use super::place::Place;
use super::settings::WalkSettings;
use super::side::Side;
use super::velocity::Velocity;

/// Feet nearer than this to side by side need no closing step. [m]
// Far above the rounding of planned places, far below what anyone sees.
const PARALLEL: f64 = 1e-3;

/// Heading error up to which a turn is done. [rad]
// 1.7 degrees: less is not worth a turn of the feet.
const TURNED: f64 = 0.03;

/// Largest number of clips that are remembered until they are taken.
// A walk whose clips nobody takes must not fill the memory.
const MOST_CLIPS: usize = 1000;

/// Distance ahead at which a straight walk that has come aside heads for its line. [m]
// Nearer, a small deviation would ask for a large turn, and the walker would weave about the line.
const BACK_IN: f64 = 0.5;

/// Command of a walk.
#[derive(Debug, Clone, PartialEq)]
pub enum WalkCommand {
    /// Close the feet and stand.
    Stop,
    /// Walk at a velocity until the next command.
    Velocity(Velocity),
    /// Make these steps, then stand where the feet are.
    Footsteps(Vec<Footstep>),
    /// Walk along a line, then stand; the measured heading keeps it to the line.
    Straight(StraightWalk),
    /// Turn on the spot, positive to the left, then stand; by the measured heading where the feet slip. [rad]
    Turn(f64),
}

/// A walk along a line.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct StraightWalk {
    /// Distance, negative backward; 0: as far as the steps lead. [m]
    pub distance: f64,
    /// Number of steps, if they are then no longer than the robot's limits; 0: as few as possible. The one that closes the feet
    /// is not counted.
    pub steps: u32,
    /// Greatest speed; 0: the robot's own. [m/s]
    pub speed: f64,
    /// Heading of the line, to the left of the robot's; it turns on the spot first. [rad]
    pub heading: f64,
}

impl From<f64> for StraightWalk {
    /// Straight walk ahead over a distance. [m]
    fn from(distance: f64) -> Self {
        Self { distance, ..Self::default() }
    }
}

/// Aim of the next steps.
#[derive(Debug, Clone, PartialEq)]
enum Aim {
    /// Feet side by side, then standing.
    Close,
    /// Walking at a velocity.
    Velocity {
        /// Desired velocity of the walk.
        velocity: Velocity,
        /// Desired heading now. [rad]
        heading: f64,
    },
    /// The heading to turn to. [rad]
    Heading(f64),
    /// Along a line.
    Straight(Line),
    /// A list of steps, the first of which are committed.
    Steps {
        /// All steps of the list.
        steps: Arc<[Footstep]>,
        /// Number of committed steps.
        done: usize,
    },
}

/// Remaining part of a straight walk, kept to its line by the heading.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Line {
    /// Distance left from the foot that stands then; negative is backward. [m]
    left: f64,
    /// Heading of the line. [rad]
    heading: f64,
    /// Deviation to the left of the line, by the headings of the steps begun. [m]
    aside: f64,
    /// Longest step. [m]
    longest: f64,
    /// Whether the robot still turns to the line's heading.
    is_turning: bool,
}

/// Aim of the steps to come, and the next of them.
#[derive(Debug, Clone)]
pub(super) struct Intent {
    aim: Aim,
    committed: Option<Footstep>,
    /// Side of the next step that is not committed.
    next_side: Side,
}

impl Default for Intent {
    fn default() -> Self {
        Self { aim: Aim::Close, committed: None, next_side: Side::Left }
    }
}

/// Route: footsteps to come, and clips of those that were planned.
#[derive(Debug, Clone, Default)]
pub(super) struct Route {
    intent: Intent,
    clips: Vec<Clip>,
}

/// Footsteps that can be foreseen.
#[derive(Debug, Clone)]
pub(super) struct Ahead {
    pub(super) steps: Vec<Footstep>,
    /// Whether the last of them ends the walk.
    pub(super) ends: bool,
    /// Aim after the first two, which are committed.
    then: Aim,
    /// Clips of the steps that this commits.
    clips: Vec<Clip>,
}

impl Default for Ahead {
    fn default() -> Self {
        Self { steps: Vec::new(), ends: true, then: Aim::Close, clips: Vec::new() }
    }
}

/// State of the robot from which steps are planned.
#[derive(Debug, Clone, Copy)]
pub(super) struct Standing<'a> {
    /// Places of the feet after the current step.
    pub(super) feet: &'a [Place; 2],
    /// Heading less the planned one, positive to the left. [rad]
    pub(super) heading_error: f64,
    pub(super) settings: &'a WalkSettings,
    pub(super) has_yaw: bool,
}

impl Standing<'_> {
    fn heading(&self) -> f64 {
        0.5 * (self.feet[0].yaw + self.feet[1].yaw) + self.heading_error
    }

    fn can_turn(&self) -> bool {
        self.has_yaw || self.settings.slip_turn.is_some()
    }
}

impl Route {
    /// Intent of the route.
    pub(super) fn intent(&self) -> &Intent {
        &self.intent
    }

    /// Goes on with another intent.
    pub(super) fn follow(&mut self, intent: &Intent) {
        self.intent.clone_from(intent);
    }

    /// Sets the side of the next step that is not committed.
    pub(super) fn step_next(&mut self, side: Side) {
        self.intent.next_side = side;
    }

    pub(super) fn command(&mut self, command: WalkCommand, standing: &Standing<'_>) {
        let mut no_yaw = |asked| {
            self.clips.push(Clip { what: ClipKind::NoYaw, asked, done: 0.0 });
        };
        self.intent.aim = match command {
            WalkCommand::Stop => Aim::Close,
            // A velocity of zero is a stop: steps on the spot would go on for ever.
            WalkCommand::Velocity(v) if v == Velocity::default() => Aim::Close,
            WalkCommand::Velocity(mut velocity) => {
                if velocity.turn != 0.0 && !standing.can_turn() {
                    no_yaw(velocity.turn * standing.settings.step_time);
                    velocity.turn = 0.0;
                }
                let heading = match self.intent.aim {
                    // The desired heading goes on, or each new command would forgive the deviation so far.
                    Aim::Velocity { heading, .. } => heading,
                    _ => standing.heading(),
                };
                Aim::Velocity { velocity, heading }
            }
            WalkCommand::Turn(angle) if !standing.can_turn() => {
                no_yaw(angle);
                Aim::Close
            }
            // From the measured heading: a turn asked for now is from where the robot looks now.
            WalkCommand::Turn(angle) => Aim::Heading(standing.heading() + angle),
            WalkCommand::Footsteps(steps) => Aim::Steps { steps: steps.into(), done: 0 },
            WalkCommand::Straight(walk) => {
                let (mut feet, mut side) = (*standing.feet, self.intent.next_side);
                let middle = between(&feet);
                // The committed step is made first; the line begins where it leads.
                if let Some(step) = self.intent.committed {
                    feet = slid(&feet, step.slide);
                    feet[step.side.index()] = step.to;
                    side = step.side.other();
                }
                let foot = feet[side.other().index()];
                // The distance is asked for from the middle of the feet; what is left counts from the foot that stands then.
                let gone = forward(&foot, foot.position) - forward(&foot, middle);
                let mut heading = walk.heading;
                if heading != 0.0 && !standing.can_turn() {
                    no_yaw(heading);
                    heading = 0.0;
                }
                let longest = walk.longest_step(standing.settings);
                let all = f64::from(walk.steps) * longest;
                let distance = if walk.distance == 0.0 { all } else { walk.distance };
                Aim::Straight(Line {
                    left: distance - gone,
                    heading: standing.heading() + heading,
                    aside: 0.0,
                    longest,
                    is_turning: heading != 0.0,
                })
            }
        };
    }

    /// Stands as soon as the feet can.
    pub(super) fn give_up(&mut self) {
        (self.intent.aim, self.intent.committed) = (Aim::Close, None);
    }

    pub(super) fn take_clips(&mut self) -> Vec<Clip> {
        core::mem::take(&mut self.clips)
    }

    /// Takes up that the first of the steps has begun.
    pub(super) fn begin(&mut self, ahead: &Ahead, from: &Standing<'_>) {
        self.intent.aim.clone_from(&ahead.then);
        if self.clips.len() < MOST_CLIPS {
            self.clips.extend_from_slice(&ahead.clips);
        }
        if let Some(step) = ahead.steps.first() {
            self.intent.next_side = step.side.other();
            if let Aim::Straight(line) = &mut self.intent.aim {
                let mut feet = *from.feet;
                feet[step.side.index()] = step.to;
                let gone =
                    forward(&step.to, between(&feet)) - forward(&step.to, between(from.feet));
                // The deviation grows by the distance walked times the sine of the heading off the line.
                line.aside += gone * (from.heading() - line.heading).sin();
            }
        }
        self.intent.committed = ahead.steps.get(1).copied();
    }
}

impl Intent {
    /// Looks at the next steps, `most` at most, into `ahead`.
    pub(super) fn look_ahead(
        &self,
        from: &Standing<'_>,
        is_at_rest: bool,
        most: usize,
        ahead: &mut Ahead,
    ) {
        let (settings, has_yaw) = (from.settings, from.has_yaw);
        let (mut standing, mut heading_error, mut side) =
            (*from.feet, from.heading_error, self.next_side);
        let Ahead { steps, ends, then, clips } = ahead;
        steps.clear();
        clips.clear();
        if let Some(step) = self.committed {
            // A slide that was begun turns the robot before the steps that are looked at now.
            heading_error += turned_by(&step, settings);
            standing = slid(&standing, step.slide);
            standing[step.side.index()] = step.to;
            side = step.side.other();
            steps.push(step);
        // The leading foot goes first; the other one would have to cross it.
        } else if is_at_rest && self.aim.leads_to(side.other()) {
            side = side.other();
        }
        let mut aim = self.aim.clone();
        then.clone_from(&aim);
        while steps.len() < most {
            let at = Standing { feet: &standing, heading_error, ..*from };
            let Some(desired) = aim.next(side, &at) else { break };
            heading_error += turned_by(&desired, settings);
            standing = slid(&standing, desired.slide);
            side = desired.side;
            let n_clips = clips.len();
            let foot = &standing[side.other().index()];
            let step = footstep::clip(&desired, foot, &settings.limits, has_yaw, clips);
            // The first two are committed by this plan, so each step is reported once.
            if steps.len() < 2 {
                then.clone_from(&aim);
            } else {
                clips.truncate(n_clips);
            }
            standing[side.index()] = step.to;
            side = side.other();
            steps.push(step);
        }
        // A list cut at `most` goes on out of sight, and a walk at a velocity has no end.
        *ends = !matches!(aim, Aim::Velocity { .. }) && steps.len() < most;
    }

    /// Moves what is planned against the current step's landing place along with it, by so much forward and left of where it was.
    /// [m] (2)
    pub(super) fn shift(&mut self, landing: &Place, by: [f64; 2]) {
        let turned = |yaw: f64| {
            let (sin, cos) = (landing.yaw - yaw).sin_cos();
            [cos * by[0] - sin * by[1], sin * by[0] + cos * by[1]]
        };
        if let Some(step) = &mut self.committed {
            step.to = step.to.moved(turned(step.to.yaw));
        }
        if let Aim::Straight(line) = &mut self.aim {
            let [forward, left] = turned(line.heading);
            line.left -= forward;
            line.aside += left;
        }
    }
}

impl Aim {
    /// Whether the aim leads to the side of this foot.
    fn leads_to(&self, side: Side) -> bool {
        matches!(self, Self::Velocity { velocity, .. } if velocity.left * side.sign() > 0.0)
    }

    /// The next step towards the aim, which counts as made then.
    fn next(&mut self, side: Side, at: &Standing<'_>) -> Option<Footstep> {
        let (feet, settings) = (at.feet, at.settings);
        let foot = &feet[side.other().index()];
        let now = foot.yaw + at.heading_error;
        let velocity = match self {
            Self::Close => None,
            Self::Velocity { velocity, heading } => Some(keep_heading(velocity, heading, now, at)),
            Self::Heading(goal) => {
                turn_towards(*goal - now, at).map(|turn| Velocity { turn, ..Velocity::default() })
            }
            Self::Straight(line) => line.next(now, at),
            Self::Steps { steps, done } => {
                let before = done.checked_sub(1).and_then(|i| steps.get(i)).map(|step| step.to);
                let step = steps.get(*done).copied()?;
                *done += 1;
                // As listed: a list says places, not velocities.
                return Some(as_heading_error(&step, before, at));
            }
        };
        let Some(mut v) = velocity else { return closing(side, feet, settings) };
        let slide = if at.has_yaw { 0.0 } else { slide(&mut v, feet, settings) };
        if let Self::Straight(line) = self {
            // After the slide, which may have shortened the step.
            line.left -= v.forward * settings.step_time;
        }
        let slid = slid(feet, slide);
        Some(Footstep { slide, ..v.footstep(side, &slid[side.other().index()], settings) })
    }
}

impl StraightWalk {
    /// Longest step of the walk. [m]
    fn longest_step(&self, settings: &WalkSettings) -> f64 {
        let limits = &settings.limits;
        let mut longest = if self.distance < 0.0 { limits.backward } else { limits.forward };
        if self.steps > 0 && self.distance != 0.0 {
            // More steps than needed make each shorter; fewer cannot make it longer than the limit.
            longest = longest.min(self.distance.abs() / f64::from(self.steps));
        }
        // Steps have one duration, so a speed is a length of step.
        if self.speed > 0.0 { longest.min(self.speed * settings.step_time) } else { longest }
    }
}

impl Line {
    /// Velocity of the next step, while there is distance left.
    fn next(&mut self, now: f64, at: &Standing<'_>) -> Option<Velocity> {
        // Steps that are left, if each were the longest.
        let n = (self.left / self.longest).abs();
        if n < 1e-6 || !n.is_finite() {
            return None;
        }
        if self.is_turning {
            if let Some(turn) = turn_towards(self.heading - now, at) {
                return Some(Velocity { turn, ..Velocity::default() });
            }
            self.is_turning = false;
        }
        // Equal steps over what is left; the heading points to the line at a distance of `BACK_IN` ahead.
        // A whole number of steps but for round-off must not become one step more.
        let length = self.left / (n - 1e-6).ceil();
        // Backward the same deviation is undone by the opposite heading.
        let back = (self.aside / BACK_IN).atan() * self.left.signum();
        let off = self.heading - back - now;
        let turn = turn_towards(off, at).filter(|_| at.can_turn() && off.abs() > straight(at));
        let forward = length / at.settings.step_time;
        Some(Velocity { forward, left: 0.0, turn: turn.unwrap_or(0.0) })
    }
}

/// Velocity of the next step, turning to the heading desired by then.
fn keep_heading(desired: &Velocity, heading: &mut f64, now: f64, at: &Standing<'_>) -> Velocity {
    if !at.can_turn() {
        return *desired;
    }
    let time = turning_time(at);
    // To where the heading should be when the step ends, whatever the last steps missed.
    let turn = *heading + desired.turn * time - now;
    let most = match at.settings.slip_turn {
        Some(slip) if !at.has_yaw => slip.rate * time,
        _ => at.settings.limits.turn,
    };
    // A turn beyond the limit is not made up for later.
    *heading = now + turn.clamp(-most, most);
    // A dead band, or noise of the heading would turn the feet in each step.
    let is_straight = desired.turn == 0.0 && turn.abs() <= straight(at);
    Velocity { turn: if is_straight { 0.0 } else { turn / time }, ..*desired }
}

/// Step to a place, by a robot that heads elsewhere than planned: as seen from the standing foot, which should be at `before`,
/// the place is turned back; without yaw joints the feet turn the robot by a slide first, where the floor is level.
fn as_heading_error(step: &Footstep, before: Option<Place>, at: &Standing<'_>) -> Footstep {
    let foot = at.feet[step.side.other().index()];
    if at.has_yaw {
        // The step is relative to the foothold that was meant; the foot itself may stand beside it.
        let meant = before.unwrap_or(foot);
        let (sin, cos) = at.heading_error.sin_cos();
        let [dx, dy, dz] = [0, 1, 2].map(|i| step.to.position[i] - meant.position[i]);
        let [x, y, z] = foot.position;
        let position = [x + cos * dx + sin * dy, y + cos * dy - sin * dx, z + dz];
        let to = Place { position, ..step.to }.headed(step.to.yaw - at.heading_error);
        return Footstep { to, ..*step };
    }
    let is_level = (step.to.position[2] - foot.position[2]).abs() < 1e-6;
    let turn = turn_towards(-at.heading_error, at).filter(|_| at.can_turn() && is_level);
    let mut velocity = Velocity { turn: turn.unwrap_or(0.0), ..Velocity::default() };
    Footstep { slide: slide(&mut velocity, at.feet, at.settings), ..*step }
}

/// Point in the middle of both feet. [m] (3)
fn between([a, b]: &[Place; 2]) -> [f64; 3] {
    core::array::from_fn(|i| 0.5 * (a.position[i] + b.position[i]))
}

/// Coordinate of a point along the heading of a place. [m]
fn forward(place: &Place, [x, y, _]: [f64; 3]) -> f64 {
    let (sin, cos) = place.yaw.sin_cos();
    x * cos + y * sin
}

/// Turn expected of a step's slide. [rad]
pub(super) fn turned_by(step: &Footstep, settings: &WalkSettings) -> f64 {
    settings.slip_turn.map_or(0.0, |slip| {
        let cycle = settings.step_time + slip.time + settings.double_support;
        slip.rate * cycle * step.slide / slip.slide
    })
}

/// Duration of a step with a turn. [s]
fn turning_time(at: &Standing<'_>) -> f64 {
    let settings = at.settings;
    match settings.slip_turn {
        Some(slip) if !at.has_yaw => settings.step_time + slip.time + settings.double_support,
        _ => settings.step_time,
    }
}

/// Heading error up to which a walk straight on is not corrected. [rad]
///
/// A slide takes the time of half a step and the length of a stride, so that feet without yaw joints only slide for what is worth
/// half a slide.
fn straight(at: &Standing<'_>) -> f64 {
    match at.settings.slip_turn {
        Some(slip) if !at.has_yaw => TURNED.max(0.5 * slip.rate * turning_time(at)),
        _ => TURNED,
    }
}

/// Rate of the next step's turn, if one is needed. [rad/s]
fn turn_towards(left: f64, at: &Standing<'_>) -> Option<f64> {
    let settings = at.settings;
    let time = turning_time(at);
    let largest = if at.has_yaw { settings.limits.turn } else { f64::INFINITY };
    (left.abs() > TURNED).then_some(left.clamp(-largest, largest) / time)
}

/// Slide of the feet for a turn, the left one never further before or behind the right one than a step. The feet need not turn
/// then, and steps leave room for the next slide. [m]
fn slide(v: &mut Velocity, feet: &[Place; 2], settings: &WalkSettings) -> f64 {
    let turn = core::mem::take(&mut v.turn);
    let Some(slip) = settings.slip_turn.filter(|_| turn != 0.0) else { return 0.0 };
    let [left, right] = feet;
    let (s, c) = left.yaw.sin_cos();
    let apart =
        c * (left.position[0] - right.position[0]) + s * (left.position[1] - right.position[1]);
    // `|apart + 2 slide|` stays within the longest step, and the step itself leaves room for a whole slide.
    let longest = settings.limits.forward.max(2.0 * slip.slide);
    let room = (longest - 2.0 * slip.slide) / settings.step_time;
    v.forward = v.forward.clamp(-room, room);
    let desired = slip.slide * (turn / slip.rate).clamp(-1.0, 1.0);
    desired.clamp(0.5 * (-longest - apart), 0.5 * (longest - apart))
}

/// Step that puts the feet side by side, if they are not.
fn closing(side: Side, feet: &[Place; 2], settings: &WalkSettings) -> Option<Footstep> {
    let standing = &feet[side.other().index()];
    let desired = Velocity::default().footstep(side, standing, settings);
    let now = feet[side.index()];
    let away = (0..3).map(|i| desired.to.position[i] - now.position[i]);
    // Metres and radians in one sum: a test of nothing left, not a measure.
    let distance = away.map(|d| d * d).sum::<f64>().sqrt() + (desired.to.yaw - now.yaw).abs();
    (distance > PARALLEL).then_some(desired)
}
