//! From commands to the next footsteps.
//!
//! The step after the one under way is committed: a command changes the steps from the one after it on. Preview control
//! answers a change of what it looked forward to by throwing the ZMP about, by `e^{−ωt}` less the further away it is.

use super::footstep::slid;
use super::{Clip, ClipKind, Footstep, Place, Side, Velocity, WalkSettings, footstep};

/// Feet nearer than this to side by side need no closing step. [m]
const PARALLEL: f64 = 1e-3;

/// A turn is done when no more than this is left. [rad]
const TURNED: f64 = 0.03;

/// What to do.
#[derive(Debug, Clone, PartialEq)]
pub enum WalkCommand {
    /// Close the feet and stand.
    Stop,
    /// Walk at a velocity until told otherwise.
    Velocity(Velocity),
    /// Make these steps, then stand where the feet are.
    Footsteps(Vec<Footstep>),
    /// Walk straight over a distance, negative is backward, then stand. [m]
    Distance(f64),
    /// Turn on the spot, positive is left, then stand; by the measured heading where the feet slip. [rad]
    Turn(f64),
}

/// Footsteps to come.
#[derive(Debug, Clone)]
pub(super) struct Route {
    /// At which to walk; none is standing, or the steps of the queue.
    velocity: Option<Velocity>,
    /// The heading to turn to. [rad]
    goal: Option<f64>,
    /// Close the feet when nothing else is to be done.
    closes: bool,
    /// Steps of a command that are not committed yet.
    queue: Vec<Footstep>,
    committed: Option<Footstep>,
    next_side: Side,
    clips: Vec<Clip>,
}

/// The steps that can be seen from here.
#[derive(Debug, Clone)]
pub(super) struct Ahead {
    pub(super) steps: Vec<Footstep>,
    /// The last of them is the last one.
    pub(super) ends: bool,
    /// How many of the first two are from the queue.
    from_queue: usize,
}

impl Route {
    pub(super) fn new() -> Self {
        Self {
            velocity: None,
            goal: None,
            closes: true,
            queue: Vec::new(),
            committed: None,
            next_side: Side::Left,
            clips: Vec::new(),
        }
    }

    /// With the feet as they will stand after the step under way.
    pub(super) fn command(
        &mut self,
        command: WalkCommand,
        feet: &[Place; 2],
        (settings, has_yaw): (&WalkSettings, bool),
        heading: f64,
    ) {
        (self.velocity, self.goal, self.closes) = (None, None, false);
        self.queue.clear();
        match command {
            WalkCommand::Stop => self.closes = true,
            WalkCommand::Velocity(v) if v == Velocity::default() => self.closes = true,
            WalkCommand::Velocity(mut v) => {
                if v.turn != 0.0 && !has_yaw && settings.slip_turn.is_none() {
                    let asked = v.turn * settings.step_time;
                    self.clips.push(Clip { what: ClipKind::NoYaw, asked, done: 0.0 });
                    v.turn = 0.0;
                }
                self.velocity = Some(v);
            }
            WalkCommand::Turn(angle) if !has_yaw && settings.slip_turn.is_none() => {
                self.clips.push(Clip { what: ClipKind::NoYaw, asked: angle, done: 0.0 });
                self.closes = true;
            }
            WalkCommand::Turn(angle) => self.goal = Some(heading + angle),
            WalkCommand::Footsteps(steps) => self.queue = steps,
            WalkCommand::Distance(distance) => {
                let (mut feet, mut side) = (*feet, self.next_side);
                if let Some(step) = self.committed {
                    feet = slid(&feet, step.slide);
                    feet[step.side.index()] = step.to;
                    side = step.side.other();
                }
                let limits = &settings.limits;
                let longest = if distance < 0.0 { limits.backward } else { limits.forward };
                self.queue = footstep::straight(distance, longest, &feet, side);
            }
        }
    }

    /// Stands as soon as the feet can.
    pub(super) fn give_up(&mut self) {
        (self.velocity, self.goal, self.closes, self.committed) = (None, None, true, None);
        self.queue.clear();
    }

    pub(super) fn take_clips(&mut self) -> Vec<Clip> {
        core::mem::take(&mut self.clips)
    }

    /// The next steps, `most` at most.
    pub(super) fn ahead(
        &mut self,
        feet: &[Place; 2],
        (settings, has_yaw): (&WalkSettings, bool),
        (is_at_rest, most, heading): (bool, usize, f64),
    ) -> Ahead {
        let mut standing = *feet;
        let mut heading = heading;
        let mut side = self.next_side;
        let mut steps = Vec::new();
        if let Some(step) = self.committed {
            heading += turned_by(&step, settings);
            standing = slid(&standing, step.slide);
            standing[step.side.index()] = step.to;
            side = step.side.other();
            steps.push(step);
        } else if is_at_rest && self.velocity.is_some_and(|v| v.left * side.sign() < 0.0) {
            side = side.other();
        }
        let n_committed = steps.len();
        let mut from_queue = 0;
        while steps.len() < most {
            let turn = self.goal.map(|goal| {
                let now = if has_yaw { standing[side.other().index()].yaw } else { heading };
                turn_towards(goal - now, has_yaw, settings)
            });
            let velocity = turn.map_or(self.velocity, |turn| turn);
            let wanted = if let Some(mut v) = velocity {
                let slide = if has_yaw { 0.0 } else { slide(&mut v, &standing, settings) };
                standing = slid(&standing, slide);
                let step = v.footstep(side, &standing[side.other().index()], settings);
                let step = Footstep { slide, ..step };
                heading += turned_by(&step, settings);
                Some(step)
            } else if self.closes || self.goal.is_some() {
                closing(side, &standing, settings)
            } else {
                self.queue.get(steps.len() - n_committed).copied()
            };
            let Some(wanted) = wanted else { break };
            side = wanted.side;
            let mut clips = Vec::new();
            let limits = (&settings.limits, has_yaw);
            let step = footstep::clip(&wanted, &standing[side.other().index()], limits, &mut clips);
            // The first two are committed by this plan, so each step is told of once.
            if steps.len() < 2 {
                self.clips.extend(clips);
                from_queue += usize::from(!self.queue.is_empty());
            }
            standing[side.index()] = step.to;
            side = side.other();
            steps.push(step);
        }
        let ends = self.velocity.is_none() && steps.len() < most;
        Ahead { steps, ends, from_queue }
    }

    /// The first of the steps is under way.
    pub(super) fn begin(&mut self, ahead: &Ahead) {
        if let Some(step) = ahead.steps.first() {
            self.next_side = step.side.other();
        }
        self.committed = ahead.steps.get(1).copied();
        self.queue.drain(..ahead.from_queue.min(self.queue.len()));
    }
}

/// What is expected of a step's slide. [rad]
pub(super) fn turned_by(step: &Footstep, settings: &WalkSettings) -> f64 {
    settings.slip_turn.map_or(0.0, |slip| {
        let cycle = settings.step_time + slip.time + settings.double_support;
        slip.rate * cycle * step.slide / slip.slide
    })
}

/// The velocity of the next step of a turn, if one is needed.
fn turn_towards(left: f64, has_yaw: bool, settings: &WalkSettings) -> Option<Velocity> {
    let time = match settings.slip_turn {
        Some(slip) if !has_yaw => settings.step_time + slip.time + settings.double_support,
        _ => settings.step_time,
    };
    let largest = if has_yaw { settings.limits.turn } else { f64::INFINITY };
    let turn = left.clamp(-largest, largest) / time;
    (left.abs() > TURNED).then_some(Velocity { turn, ..Velocity::default() })
}

/// How far the feet slide for a turn, the left one never further before or behind the right one than a step; none of the turn is left for
/// the feet, and steps leave room for the next slide. [m]
fn slide(v: &mut Velocity, feet: &[Place; 2], settings: &WalkSettings) -> f64 {
    let turn = core::mem::take(&mut v.turn);
    let Some(slip) = settings.slip_turn.filter(|_| turn != 0.0) else { return 0.0 };
    let [left, right] = feet;
    let (s, c) = left.yaw.sin_cos();
    let apart =
        c * (left.position[0] - right.position[0]) + s * (left.position[1] - right.position[1]);
    let longest = settings.limits.forward.max(2.0 * slip.slide);
    let room = (longest - 2.0 * slip.slide) / settings.step_time;
    v.forward = v.forward.clamp(-room, room);
    let wanted = slip.slide * (turn / slip.rate).clamp(-1.0, 1.0);
    wanted.clamp(0.5 * (-longest - apart), 0.5 * (longest - apart))
}

/// The step that puts the feet side by side, if they are not.
fn closing(side: Side, feet: &[Place; 2], settings: &WalkSettings) -> Option<Footstep> {
    let standing = &feet[side.other().index()];
    let wanted = Velocity::default().footstep(side, standing, settings);
    let now = feet[side.index()];
    let away = (0..3).map(|i| wanted.to.position[i] - now.position[i]);
    let distance = away.map(|d| d * d).sum::<f64>().sqrt() + (wanted.to.yaw - now.yaw).abs();
    (distance > PARALLEL).then_some(wanted)
}
