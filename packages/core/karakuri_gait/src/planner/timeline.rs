//! Phases of walking: which feet stand where, which one swings, where the ZMP shall be. Counted in samples.

use karakuri_spatial::{Pose, Vector3};

use super::footstep::{slid, turned};
use super::{Footstep, Place, Side, WalkSettings};

/// Steps lower than this are flat. [m]
const FLAT: f64 = 1e-4;
/// Part of the advance in which the foot gathers speed, and loses it. Shorter asks for more torque, longer for more speed of the
/// servos: 1.9 times the mean with a quintic, 1.4 with 0.3. [-]
const RAMP: f64 = 0.3;

/// What stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Support {
    /// Both feet.
    Both,
    /// One foot.
    One(Side),
}

impl Support {
    /// Whether a foot stands.
    pub fn stands(self, side: Side) -> bool {
        self == Self::Both || self == Self::One(side)
    }
}

/// A stretch of time with the same contacts.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Phase {
    /// First sample, and the first of the next phase.
    span: [u64; 2],
    /// ZMP at both ends. [m] (2×2)
    zmp: [[f64; 2]; 2],
    /// Feet at its start.
    feet: [Place; 2],
    /// The foot that moves.
    swing: Option<Footstep>,
    /// Both feet slide, the left one forward. [m]
    slide: f64,
}

/// Phases, one after the other; before the first and after the last all stands still.
#[derive(Debug, Clone, PartialEq)]
pub struct Timeline {
    phases: Vec<Phase>,
    step_height: f64,
}

/// From 0 to 1 with no rate and acceleration at the ends. [-]
fn quintic(u: f64) -> f64 {
    let u = u.clamp(0.0, 1.0);
    u * u * u * (10.0 + u * (6.0 * u - 15.0))
}

/// From 0 to 1 at an even rate, gathered and lost smoothly: no acceleration at the ends. [-]
fn advance(u: f64) -> f64 {
    let u = u.clamp(0.0, 1.0);
    let ramp = |u: f64| {
        let x = u / RAMP;
        RAMP * x * x * x * (1.0 - 0.5 * x) / (1.0 - RAMP)
    };
    if u < RAMP {
        ramp(u)
    } else if u > 1.0 - RAMP {
        1.0 - ramp(1.0 - u)
    } else {
        (u - 0.5 * RAMP) / (1.0 - RAMP)
    }
}

/// Parts of the swing in which the foot goes forth, and up or down: up before forth, down after it, so that an edge is
/// cleared; on the flat it comes straight down at the end. (2×2)
fn swing_windows(rise: f64) -> [[f64; 2]; 2] {
    if rise > FLAT {
        [[0.3, 0.95], [0.0, 0.45]]
    } else if rise < -FLAT {
        [[0.05, 0.7], [0.55, 1.0]]
    } else {
        [[0.0, 0.95], [0.0, 1.0]]
    }
}

fn blend(a: f64, b: f64, k: f64) -> f64 {
    a + k * (b - a)
}

/// ZMP at rest in a foot. [m] (2)
pub(super) fn resting_zmp(settings: &WalkSettings, side: Side, place: &Place) -> [f64; 2] {
    let [forward, outward] = settings.zmp_in_sole;
    place.point([forward, side.sign() * outward])
}

/// ZMP at rest between the feet. [m] (2)
pub(super) fn middle(settings: &WalkSettings, feet: &[Place; 2]) -> [f64; 2] {
    let [l, r] = Side::BOTH.map(|side| resting_zmp(settings, side, &feet[side.index()]));
    [0.5 * (l[0] + r[0]), 0.5 * (l[1] + r[1])]
}

impl Timeline {
    /// From feet at a sample, the ZMP at `zmp` [m], over steps, to rest if `ends`. The first double support is as long
    /// as the start where `from_rest`.
    pub fn new(
        settings: &WalkSettings,
        (start, feet, zmp): (u64, [Place; 2], [f64; 2]),
        steps: &[Footstep],
        (from_rest, ends): (bool, bool),
    ) -> Self {
        let mut timeline = Self { phases: Vec::new(), step_height: settings.step_height };
        let (mut at, mut feet, mut zmp) = (start, feet, zmp);
        let mut push = |len: f64, feet: [Place; 2], zmp: [[f64; 2]; 2], swing, slide| {
            let span = [at, at + settings.samples(len) as u64];
            at = span[1];
            timeline.phases.push(Phase { span, zmp, feet, swing, slide });
        };
        for (i, step) in steps.iter().enumerate() {
            let standing = step.side.other();
            if let Some(slip) = settings.slip_turn.filter(|_| step.slide != 0.0) {
                let halfway = middle(settings, &feet);
                if i > 0 || !from_rest {
                    push(settings.double_support, feet, [zmp, halfway], None, 0.0);
                }
                push(slip.time, feet, [halfway, halfway], None, step.slide);
                feet = slid(&feet, step.slide);
                zmp = middle(settings, &feet);
            }
            let rest = resting_zmp(settings, standing, &feet[standing.index()]);
            if i == 0 && from_rest {
                // The centre of mass must set out the other way before the ZMP can go to the standing foot.
                push(0.5 * settings.start_time, feet, [zmp, zmp], None, 0.0);
                push(0.5 * settings.start_time, feet, [zmp, rest], None, 0.0);
            } else {
                push(settings.double_support, feet, [zmp, rest], None, 0.0);
            }
            push(
                settings.step_time - settings.double_support,
                feet,
                [rest, rest],
                Some(*step),
                0.0,
            );
            feet[step.side.index()] = step.to;
            zmp = rest;
        }
        if ends || steps.is_empty() {
            let rest = middle(settings, &feet);
            push(settings.stop_time, feet, [zmp, rest], None, 0.0);
        }
        timeline
    }

    fn phase(&self, index: u64) -> (&Phase, f64) {
        let i = self.phases.partition_point(|p| p.span[1] <= index).min(self.phases.len() - 1);
        let phase = &self.phases[i];
        let [from, to] = phase.span;
        let part = index.saturating_sub(from) as f64 / (to - from) as f64;
        (phase, part.min(1.0))
    }

    /// First sample after the step that is under way or about to be made; after the whole if there is none.
    pub fn end_of_step(&self, index: u64) -> u64 {
        let ends = |p: &&Phase| p.swing.is_some() && p.span[1] > index;
        let last = self.phases.last().map_or(index, |p| p.span[1]);
        self.phases.iter().find(ends).map_or(last, |p| p.span[1])
    }

    /// What stands.
    pub fn support(&self, index: u64) -> Support {
        let (phase, _) = self.phase(index);
        match phase.swing {
            Some(step) if index < phase.span[1] => Support::One(step.side.other()),
            _ => Support::Both,
        }
    }

    /// Where the ZMP shall be. [m] (2)
    pub fn zmp(&self, index: u64) -> [f64; 2] {
        let (phase, part) = self.phase(index);
        let k = part * part * (3.0 - 2.0 * part);
        let [a, b] = phase.zmp;
        [blend(a[0], b[0], k), blend(a[1], b[1], k)]
    }

    /// Where the feet stand, a swinging one where it will.
    pub fn places(&self, index: u64) -> [Place; 2] {
        let (phase, _) = self.phase(index);
        let mut feet = slid(&phase.feet, phase.slide);
        if let Some(step) = phase.swing {
            feet[step.side.index()] = step.to;
        }
        feet
    }

    /// `X_WSole` of both feet.
    pub fn feet(&self, index: u64) -> [Pose; 2] {
        let (phase, part) = self.phase(index);
        let mut poses = slid(&phase.feet, phase.slide * quintic(part)).map(|place| place.pose());
        if let Some(step) = phase.swing {
            let from = phase.feet[step.side.index()];
            let (a, b) = (Vector3::from(from.position), Vector3::from(step.to.position));
            let [forth, rise] =
                swing_windows(b.z - a.z).map(|[from, to]| (part - from) / (to - from));
            let k = advance(forth);
            let mut p = a.lerp(&b, k);
            let bell = 16.0 * (part * (1.0 - part)).powi(2);
            p.z = blend(a.z, b.z, quintic(rise)) + self.step_height * bell;
            poses[step.side.index()] = Pose::new(turned(blend(from.yaw, step.to.yaw, k)), p);
        }
        poses
    }

    /// Heading of the trunk, and the floor's height under it. [rad, m]
    pub fn trunk(&self, index: u64) -> (f64, f64) {
        let (phase, part) = self.phase(index);
        let mean = |feet: &[Place; 2]| {
            let [l, r] = feet;
            (0.5 * (l.yaw + r.yaw), 0.5 * (l.position[2] + r.position[2]))
        };
        let (yaw, floor) = mean(&phase.feet);
        if phase.swing.is_none() {
            return (yaw, floor);
        }
        let (next_yaw, next_floor) = mean(&self.places(index));
        (blend(yaw, next_yaw, quintic(part)), blend(floor, next_floor, quintic(part)))
    }

    /// Height of the floor that carries. [m]
    pub fn floor(&self, index: u64) -> f64 {
        let places = self.places(index);
        match self.support(index) {
            Support::One(side) => places[side.index()].position[2],
            Support::Both => 0.5 * (places[0].position[2] + places[1].position[2]),
        }
    }
}
