//! Curves through keys: position, velocity and acceleration at any time, and where a curve is largest.
//!
//! A key's ease is that of the interval that ends there. Neighbouring intervals of the same spline ease make one spline, whose ends
//! are those of the run; all pieces but Bézier ones are polynomials of the time since their first key. Before the first key and
//! after the last one a curve stands still.
//!
//! Sources: cubic splines [de Boor 1978, ch. IV]; monotone slopes [Fritsch 1984]; minimum jerk [Flash 1985].
//! Units: those of the keys; times in s.

mod bezier;
mod piece;
mod slopes;
mod spline;

use crate::motion::{Ease, Key};

use bezier::Bezier;
use piece::Piece;

/// A state of a curve.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct CurvePoint {
    /// Position. [the keys' unit]
    pub position: f64,
    /// Velocity. [the unit/s]
    pub velocity: f64,
    /// Acceleration. [the unit/s²]
    pub acceleration: f64,
}

/// Least and largest position of a curve, and when it is there first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Extent {
    /// Least position. [the keys' unit]
    pub least: f64,
    /// Its time. [s]
    pub least_at: f64,
    /// Largest position. [the keys' unit]
    pub largest: f64,
    /// Its time. [s]
    pub largest_at: f64,
}

/// A curve through keys.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Curve {
    /// Times of the keys. [s] (n)
    times: Vec<f64>,
    /// Pieces between them. (n − 1)
    pieces: Vec<Piece>,
    /// Position at the first and the last key.
    ends: [f64; 2],
}

impl Curve {
    /// The curve through keys of ascending time; through none it is zero.
    pub fn new(keys: &[Key]) -> Self {
        let (Some(first), Some(last)) = (keys.first(), keys.last()) else { return Self::default() };
        let mut pieces = Vec::with_capacity(keys.len() - 1);
        let mut start = 0;
        while start + 1 < keys.len() {
            // A run is as long as the ease stays the same, since a spline's slopes depend on all keys of its run.
            let ease = keys[start + 1].ease;
            let same = keys[start + 1..].iter().take_while(|key| key.ease == ease).count();
            let run = &keys[start..=start + same];
            pieces.extend(run_of(ease, run));
            start += same;
        }
        let times = keys.iter().map(|key| key.t).collect();
        Self { times, pieces, ends: [first.y, last.y] }
    }

    /// State at a time; at a key that of the interval after it.
    pub fn at(&self, t: f64) -> CurvePoint {
        // A key belongs to the interval after it: one that ends a `hold` shows its new value.
        let after = self.times.partition_point(|&key| key <= t);
        let rest = |position| CurvePoint { position, ..CurvePoint::default() };
        match after.checked_sub(1) {
            None => rest(self.ends[0]),
            Some(piece) => self
                .pieces
                .get(piece)
                .map_or_else(|| rest(self.ends[1]), |p| p.at(t - self.times[piece])),
        }
    }

    /// Velocity just before and just after each key where it jumps, with the key's time: there the acceleration is an impulse.
    pub fn velocity_jumps(&self) -> Vec<VelocityJump> {
        let n = self.times.len();
        let mut jumps = Vec::new();
        for i in 0..n {
            // The robot stands before the first key and after the last one: a curve that begins or ends in motion jumps there.
            let before = i
                .checked_sub(1)
                .map_or(0.0, |k| self.pieces[k].at(self.times[i] - self.times[k]).velocity);
            let after = self.pieces.get(i).map_or(0.0, |piece| piece.at(0.0).velocity);
            let scale = before.abs().max(after.abs());
            // Relative to the larger velocity, but not below 1 unit/s: two velocities that are zero but for rounding do not jump.
            if (after - before).abs() > JUMP * scale.max(1.0) {
                jumps.push(VelocityJump { t: self.times[i], before, after });
            }
        }
        jumps
    }

    /// Keys at which the position leaps, as at the end of a `hold`.
    pub fn position_jumps(&self) -> Vec<PositionJump> {
        let mut jumps = Vec::new();
        for (i, piece) in self.pieces.iter().enumerate() {
            let (start, t) = (self.times[i], self.times[i + 1]);
            let (before, after) = (piece.at(t - start).position, self.at(t).position);
            // As of velocities: pieces meet their keys but for rounding.
            if (after - before).abs() > JUMP * before.abs().max(after.abs()).max(1.0) {
                jumps.push(PositionJump { t, by: after - before });
            }
        }
        jumps
    }

    /// Least and largest position, by the roots of each piece's derivative; `None` of a curve without keys.
    pub fn extent(&self) -> Option<Extent> {
        let t = *self.times.first()?;
        let mut extent =
            Extent { least: self.ends[0], least_at: t, largest: self.ends[0], largest_at: t };
        let mut take = |t: f64, position: f64| {
            if position < extent.least {
                (extent.least, extent.least_at) = (position, t);
            }
            if position > extent.largest {
                (extent.largest, extent.largest_at) = (position, t);
            }
        };
        for (i, piece) in self.pieces.iter().enumerate() {
            let (start, length) = (self.times[i], self.times[i + 1] - self.times[i]);
            // Extremes are where the derivative vanishes or at keys: exact, where samples would cut the peaks of overshoots.
            for s in piece.stationary(length) {
                take(start + s, piece.at(s).position);
            }
            // Not the end of the piece: one that holds is elsewhere there.
            take(self.times[i + 1], self.at(self.times[i + 1]).position);
        }
        Some(extent)
    }

    /// Largest speed and its time: at the ends of pieces and where their acceleration is zero. [the unit/s] and [s]
    pub fn peak_speed(&self) -> Option<Peak> {
        let mut peak: Option<Peak> = None;
        for (i, piece) in self.pieces.iter().enumerate() {
            let (start, length) = (self.times[i], self.times[i + 1] - self.times[i]);
            // The speed is largest where the acceleration vanishes, or at an end of the piece.
            for s in piece.inflections(length).into_iter().chain([0.0, length]) {
                let value = piece.at(s).velocity.abs();
                if peak.is_none_or(|peak| value > peak.value) {
                    peak = Some(Peak { t: start + s, value });
                }
            }
        }
        peak
    }
}

/// Part of a velocity that rounding may change at a key. [-]
// Slopes of a spline are solved for and agree to about 1e-14; the steps of eases that break are of the size of the velocity.
const JUMP: f64 = 1e-9;

/// A jump of the velocity at a key.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VelocityJump {
    /// Time of the key. [s]
    pub t: f64,
    /// Velocity just before. [the unit/s]
    pub before: f64,
    /// Velocity just after. [the unit/s]
    pub after: f64,
}

/// A leap of the position: it is elsewhere all at once.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PositionJump {
    /// Its time. [s]
    pub t: f64,
    /// Position after it less that before it. [the keys' unit]
    pub by: f64,
}

/// A largest value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Peak {
    /// Its time. [s]
    pub t: f64,
    /// The value. [the quantity's unit]
    pub value: f64,
}

/// Pieces of a run of intervals of one ease.
fn run_of(ease: Ease, run: &[Key]) -> Vec<Piece> {
    let slopes = match ease {
        Ease::Natural => spline::slopes(run, spline::Ends::Natural),
        Ease::Clamped => spline::slopes(run, spline::Ends::AtRest),
        Ease::Periodic => spline::slopes(run, spline::Ends::Matching),
        Ease::Monotone => slopes::monotone(run),
        _ => return run.windows(2).map(|pair| simple(ease, pair[0], pair[1])).collect(),
    };
    // Both pieces at a key take its slope, so the velocity is continuous whatever gave the slopes.
    let hermite = |i: usize| {
        let (a, b) = (run[i], run[i + 1]);
        Piece::hermite(b.t - a.t, [a.y, b.y], [slopes[i], slopes[i + 1]])
    };
    (0..run.len() - 1).map(hermite).collect()
}

/// A piece that only its two keys say.
fn simple(ease: Ease, a: Key, b: Key) -> Piece {
    let (length, rise) = (b.t - a.t, b.y - a.y);
    match ease {
        // Constant at the first key's value; the step is at the second key, where the next piece begins.
        Ease::Hold => Piece::of_unit([0.0; 6], length, a.y, 0.0),
        Ease::Linear => Piece::of_unit([0.0, 1.0, 0.0, 0.0, 0.0, 0.0], length, a.y, rise),
        // The curve between two rests with the least integral of squared jerk [Flash 1985].
        Ease::MinimumJerk => Piece::of_unit([0.0, 0.0, 0.0, 10.0, -15.0, 6.0], length, a.y, rise),
        Ease::Bezier(handles) => Piece::Bezier(Bezier { start: a.y, rise, length, handles }),
        // `smooth`: the cubic with zero slope at both ends.
        _ => Piece::of_unit([0.0, 0.0, 3.0, -2.0, 0.0, 0.0], length, a.y, rise),
    }
}

#[cfg(test)]
mod tests;
