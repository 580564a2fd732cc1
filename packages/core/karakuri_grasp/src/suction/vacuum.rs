//! Vacuum of cups on one generator: a node for the manifold and one for each cup, by the flows between them.
//!
//! `V du/dt = p_a (q_out − q_in)` at each node, isothermal, with `u` the vacuum and flows at the atmosphere's pressure. By the implicit
//! Euler method a step of any length is stable, also through wide lines; the flow out of a cup grows with the manifold's vacuum, so that
//! each node has one root, found between 0 and the atmosphere.

use karakuri_model::{ATMOSPHERE, SuctionCup, SuctionUnit, VacuumGenerator};

use super::leak::Leak;
use super::seal::Lip;

/// Flow of a generator at a vacuum [Pa]. [m³/s]
fn flow_of(generator: &VacuumGenerator, vacuum: f64) -> f64 {
    match generator {
        VacuumGenerator::Pump { free_flow, largest } => {
            free_flow * (1.0 - vacuum / largest).max(0.0)
        }
        VacuumGenerator::Table(rows) => {
            let above = rows.partition_point(|[u, _]| *u <= vacuum);
            match (above.checked_sub(1).map(|i| rows[i]), rows.get(above)) {
                (Some([u0, q0]), Some([u1, q1])) => q0 + (q1 - q0) * (vacuum - u0) / (u1 - u0),
                (None, Some([_, first])) => *first,
                (_, None) => 0.0,
            }
        }
    }
}

/// A cup on the manifold.
#[derive(Debug, Clone, PartialEq)]
pub struct CupNode {
    /// Volume of cup, bellows and hose. [m³]
    pub volume: f64,
    /// Flow of its line over the difference of vacuums. [m³/(s·Pa)]
    pub conductance: f64,
    /// Whether a check valve keeps air from the manifold out; it opens for a blow-off.
    pub has_check_valve: bool,
    /// Where air comes in.
    pub leak: Leak,
    /// Vacuum now. [Pa]
    pub vacuum: f64,
}

/// A generator, its manifold, and the cups on it.
#[derive(Debug, Clone, PartialEq)]
pub struct Vacuum {
    /// What makes the vacuum.
    pub generator: VacuumGenerator,
    /// Whether it runs.
    pub is_on: bool,
    /// Flow that is blown in to let go; 0 for none. [m³/s]
    pub blow_off: f64,
    /// Volume of the manifold. [m³]
    pub volume: f64,
    /// Vacuum in the manifold now. [Pa]
    pub vacuum: f64,
    /// The cups.
    pub cups: Vec<CupNode>,
}

impl Vacuum {
    /// A generator with its cups, all at the atmosphere's pressure, at rest.
    pub fn new(unit: &SuctionUnit) -> Self {
        Self {
            generator: unit.generator.clone(),
            is_on: false,
            blow_off: 0.0,
            volume: unit.volume,
            vacuum: 0.0,
            cups: unit.cups.iter().map(CupNode::new).collect(),
        }
    }

    /// Goes on by `dt` [s].
    pub fn step(&mut self, dt: f64) {
        let Self { generator, is_on, blow_off, volume, vacuum, cups } = self;
        let blows = *blow_off > 0.0;
        let balance = |u: f64| {
            let out = if *is_on { flow_of(generator, u) } else { 0.0 };
            let from_cups: f64 =
                cups.iter().map(|cup| cup.line(u, cup.next(u, dt, blows), blows)).sum();
            *volume * (u - *vacuum) / (ATMOSPHERE * dt) - out + from_cups + *blow_off
        };
        let next = root(*vacuum, balance);
        for cup in cups {
            cup.vacuum = cup.next(next, dt, blows);
        }
        *vacuum = next;
    }
}

impl CupNode {
    /// A cup that is open, at the atmosphere's pressure.
    pub fn new(cup: &SuctionCup) -> Self {
        Self {
            volume: cup.volume,
            conductance: cup.conductance,
            has_check_valve: cup.has_check_valve,
            leak: Lip::of(cup).open(),
            vacuum: 0.0,
        }
    }

    /// Flow to the manifold at the vacuums of both. [m³/s]
    fn line(&self, manifold: f64, own: f64, blows: bool) -> f64 {
        let flow = self.conductance * (manifold - own);
        if self.has_check_valve && !blows { flow.max(0.0) } else { flow }
    }

    /// Vacuum after `dt` [s] with the manifold's at the end of it.
    fn next(&self, manifold: f64, dt: f64, blows: bool) -> f64 {
        root(self.vacuum, |u| {
            let change = self.volume * (u - self.vacuum) / (ATMOSPHERE * dt);
            change - self.line(manifold, u, blows) + self.leak.flow(u)
        })
    }
}

/// Part of a vacuum that is held, as vacuum grippers report it: present above a threshold, lost when it falls below that by a
/// hysteresis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Nothing is held.
    Detached,
    /// Something is held.
    Present,
    /// What was held came off by itself.
    Lost,
}

/// Thresholds of [`Part`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PartThreshold {
    /// Vacuum above which a part is present. [Pa]
    pub present: f64,
    /// By how much the vacuum has to fall below that for the part to be lost. [Pa]
    pub hysteresis: f64,
}

impl PartThreshold {
    /// State that follows at a vacuum [Pa]; `releases` while the hand lets go on purpose.
    pub fn next(&self, part: Part, vacuum: f64, releases: bool) -> Part {
        let is_below = vacuum < self.present - self.hysteresis;
        match part {
            _ if vacuum > self.present && !releases => Part::Present,
            Part::Present if is_below => {
                if releases {
                    Part::Detached
                } else {
                    Part::Lost
                }
            }
            Part::Lost if releases => Part::Detached,
            part => part,
        }
    }
}

/// Accuracy of a vacuum. [Pa]
const TOLERANCE: f64 = 1e-6;

/// Root of an increasing function between no vacuum and a complete one, by regula falsi with halved weights (Illinois); an end where there
/// is none between. Near `guess` it is found sooner. [Pa]
fn root(guess: f64, f: impl Fn(f64) -> f64) -> f64 {
    let at_guess = f(guess);
    let (mut low, mut high) = ((0.0, f64::NAN), (ATMOSPHERE, f64::NAN));
    if at_guess > 0.0 {
        high = (guess, at_guess);
        low.1 = f(low.0);
        if low.1 >= 0.0 {
            return low.0;
        }
    } else {
        low = (guess, at_guess);
        high.1 = f(high.0);
        if high.1 <= 0.0 {
            return high.0;
        }
    }
    let mut last = guess;
    for _ in 0..100 {
        let x = (low.0 * high.1 - high.0 * low.1) / (high.1 - low.1);
        if (x - last).abs() < TOLERANCE {
            return x;
        }
        last = x;
        let y = f(x);
        // The end that stays counts half, so that the other one comes near as well.
        if y > 0.0 {
            high = (x, y);
            low.1 *= 0.5;
        } else {
            low = (x, y);
            high.1 *= 0.5;
        }
    }
    last
}

#[cfg(test)]
mod tests;
