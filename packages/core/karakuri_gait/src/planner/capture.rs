//! Capturability: the divergent components of motion from which steps bring the walker to rest.
//!
//! While the ZMP stays at `p`, `ξ` arrives at `p + e^{ωt} (ξ − p)` when the foot lands after `t`. So it arrives in a region `B`
//! from `(1 − e^{−ωt}) S + e^{−ωt} B`, where `S` is what stands. It can stay over the soles that stand then, or go on from the
//! foot that has landed with a step less: `B_n = ∪ hull(S, l + S′) ∪ (l + C_{n−1})` over all places `l` within reach.
//! [Koolen 2012, §4]
//!
//! Regions are boxes around the true ones, along the heading of the standing foot: beyond a region no steps help; inside it the
//! number of steps is the least. Frame of a side: from the origin of its sole, forward and towards the other foot.

use serde::Serialize;

use super::place::Place;
use super::settings::Reach;
use super::side::Side;
use crate::geometry::Rectangle;

/// Steps that are looked at; what more of them capture is no larger by `e^{−ωnT}` of the reach.
// ωT is about 3 for khr1 at its most hurried: the tenth step adds less than e⁻²⁵ of the reach.
const MOST_STEPS: u32 = 10;

/// Steps that it takes not to fall.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Capturability {
    /// The feet need not move: `ξ` is over the soles.
    Stand,
    /// Captured by so many steps.
    Steps(u32),
    /// Not captured by any number of steps.
    Falls,
}

/// Capturability of a walker for its measured `ξ`, and its margin.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Capture {
    /// Number of steps to rest.
    pub capturability: Capturability,
    /// Distance of `ξ` to the edge of the region that any number of steps captures; negative outside. [m]
    pub margin: f64,
    /// Excess of `ξ` over that region, in the heading of the standing foot: forward, left. [m] (2)
    pub beyond: [f64; 2],
}

/// A box: from, to along each axis. [m] (2×2)
type Region = [[f64; 2]; 2];

/// Abilities of the feet in a step.
#[derive(Debug, Clone, Copy)]
pub(super) struct Steps {
    /// Outlines of the soles, left and right. [m]
    pub(super) soles: [Rectangle; 2],
    pub(super) reach: Reach,
    pub(super) omega: f64,
    /// Shortest time of a step. [s]
    pub(super) time: f64,
}

/// Feet of an instant, and the time of the next landing.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stance {
    /// The foot that stands until then.
    pub(super) side: Side,
    /// Places of the feet, in the air or not.
    pub(super) feet: [Place; 2],
    /// Time until the other foot lifts; 0 where it swings. [s]
    pub(super) lift: f64,
    /// Time from then until it lands within reach; it may come down at once where it is. [s]
    pub(super) land: f64,
}

impl Steps {
    /// Capturability of ξ. [m] (2)
    pub(super) fn capture(&self, stance: &Stance, dcm: [f64; 2]) -> Capture {
        let Stance { side, feet, lift, land } = *stance;
        let both = (lift > 0.0).then(|| self.stood(side, &feet, self.sole(side.other())));
        // The region captured now: the swinging foot lands within reach after `land`, or comes down at once.
        let now = |then: [Region; 2]| {
            let swinging = arrives(self.sole(side), self.landed(side, then), self.omega * land);
            // A foot may also come down where it is: it gives up reach for time, in which ξ would have grown by `e^{ωt}`.
            let at_once = self.stood(side, &feet, then[side.other().index()]);
            let swinging = bounding_box(swinging, at_once);
            // In double support the walker may stay on both feet, or step later.
            both.map_or(swinging, |both| {
                bounding_box(both, arrives(both, swinging, self.omega * lift))
            })
        };
        let at = seen(side, &feet[side.index()], dcm);
        // Regions that each foot captures with one step less, when it has just landed; at first its sole.
        let mut then = Side::BOTH.map(|side| self.sole(side));
        let mut capturability =
            is_in(both.unwrap_or(self.sole(side)), at).then_some(Capturability::Stand);
        let mut region = now(then);
        // The region only grows with the number of steps, so the first that contains ξ is the least.
        for steps in 1..=MOST_STEPS {
            if capturability.is_none() && is_in(region, at) {
                capturability = Some(Capturability::Steps(steps));
            }
            // One step more: before the step, `(1 − e^{−ωT}) S + e^{−ωT} B` leads into what is captured after it.
            let growth = self.omega * self.time;
            then = Side::BOTH.map(|s| arrives(self.sole(s), self.landed(s, then), growth));
            region = now(then);
        }
        let inside = |[from, to]: [f64; 2], x: f64| (x - from).min(to - x);
        let beyond = [0, 1].map(|i| at[i] - at[i].clamp(region[i][0], region[i][1]));
        let outside = beyond[0].hypot(beyond[1]);
        let margin = inside(region[0], at[0]).min(inside(region[1], at[1]));
        Capture {
            capturability: capturability.unwrap_or(Capturability::Falls),
            // Outside, the distance to the corner counts, not that to the nearest edge's line.
            margin: if outside > 0.0 { -outside } else { margin },
            // Regions count towards the other foot; reports count to the left.
            beyond: [beyond[0], side.other().sign() * beyond[1]],
        }
    }

    /// Region of a sole in the frame of its side. [m]
    fn sole(&self, side: Side) -> Region {
        let outline = self.soles[side.index()];
        [outline.x, mirrored(outline.y, side.other().sign())]
    }

    /// Region of ξ with both feet down where they are, `then` being captured from the other foot. [m]
    fn stood(&self, side: Side, feet: &[Place; 2], then: Region) -> Region {
        let [x, y, _] = feet[side.other().index()].position;
        let at = seen(side, &feet[side.index()], [x, y]);
        let [along, across] = bounding_box(then, self.sole(side.other()));
        let other = [moved(along, at[0]), moved(mirrored(across, -1.0), at[1])];
        bounding_box(self.sole(side), other)
    }

    /// Region of ξ when the other foot has landed within reach of a side, `then` being captured from each foot. [m]
    fn landed(&self, side: Side, then: [Region; 2]) -> Region {
        let Reach { forward, backward, width: [narrow, wide] } = self.reach;
        let [x, y] = bounding_box(then[side.other().index()], self.sole(side.other()));
        // The other foot's frame points back to this one.
        let y = mirrored(y, -1.0);
        let landed = [[x[0] - backward, x[1] + forward], [y[0] + narrow, y[1] + wide]];
        bounding_box(self.sole(side), landed)
    }
}

/// Region from which ξ arrives in another one after `growth = ω t`, with the ZMP anywhere in `stands`.
fn arrives(stands: Region, region: Region, growth: f64) -> Region {
    // The map is affine in ZMP and ξ with positive factors, so boxes map to boxes by their ends. [Koolen 2012, §4]
    let left = (-growth).exp();
    [0, 1].map(|i| [0, 1].map(|end| (1.0 - left) * stands[i][end] + left * region[i][end]))
}

/// Bounding box of two regions.
fn bounding_box(a: Region, b: Region) -> Region {
    [0, 1].map(|i| [a[i][0].min(b[i][0]), a[i][1].max(b[i][1])])
}

fn moved([from, to]: [f64; 2], by: f64) -> [f64; 2] {
    [from + by, to + by]
}

fn mirrored([from, to]: [f64; 2], sign: f64) -> [f64; 2] {
    if sign < 0.0 { [-to, -from] } else { [from, to] }
}

fn is_in(region: Region, at: [f64; 2]) -> bool {
    (0..2).all(|i| (region[i][0]..=region[i][1]).contains(&at[i]))
}

/// A point in the frame of a side whose foot is at a place. [m] (2)
fn seen(side: Side, foot: &Place, [x, y]: [f64; 2]) -> [f64; 2] {
    let (sin, cos) = foot.yaw.sin_cos();
    let (dx, dy) = (x - foot.position[0], y - foot.position[1]);
    [cos * dx + sin * dy, side.other().sign() * (cos * dy - sin * dx)]
}

#[cfg(test)]
mod tests {
    use super::*;

    const OMEGA: f64 = 7.6;
    const TIME: f64 = 0.4;

    /// Steps of soles of 100 × 40 mm, which reach 20 mm inward.
    fn steps() -> Steps {
        let sole = |y| Rectangle { x: [-0.04, 0.06], y };
        let reach = Reach { forward: 0.05, backward: 0.03, width: [0.044, 0.07] };
        let soles = [sole([-0.02, 0.02]), sole([-0.02, 0.02])];
        Steps { soles, reach, omega: OMEGA, time: TIME }
    }

    /// The left foot at the origin stands; the right one lands after so long. [s]
    fn swing(land: f64) -> Stance {
        let feet = [Place::default(), Place::level([0.0, -0.046, 0.0], 0.0)];
        Stance { side: Side::Left, feet, lift: 0.0, land }
    }

    /// Steps of length L, ever again: from the edge of the sole `ξ` may be `e^{−ωt} L/(1 − e^{−ωT})` further.
    #[test]
    fn forward_and_backward_it_is_the_closed_form() {
        let land = 0.15;
        let (now, each) = ((-OMEGA * land).exp(), (-OMEGA * TIME).exp());
        for (sign, edge, length) in [(1.0, 0.06, 0.05), (-1.0, 0.04, 0.03)] {
            let last = sign * (edge + now * length / (1.0 - each));
            let at = |x: f64| steps().capture(&swing(land), [x, 0.0]);
            let (inside, outside) = (at(last - sign * 1e-3), at(last + sign * 1e-3));
            assert!((inside.margin - 1e-3).abs() < 1e-9, "{inside:?}");
            assert!(
                inside.capturability != Capturability::Falls
                    && outside.capturability == Capturability::Falls
            );
            assert!((outside.margin + 1e-3).abs() < 1e-9, "{outside:?}");
            assert!((outside.beyond[0] - sign * 1e-3).abs() < 1e-9 && outside.beyond[1] == 0.0);
            // One step captures what it brings over the sole that lands.
            let one = sign * (edge + now * length);
            assert_eq!(at(one - sign * 1e-6).capturability, Capturability::Steps(1));
            assert_eq!(at(one + sign * 1e-6).capturability, Capturability::Steps(2));
        }
        assert_eq!(steps().capture(&swing(land), [0.02, 0.01]).capturability, Capturability::Stand);
    }

    /// Played with the best that a walker can do to the side: over the standing foot it cannot step, over the other one it can.
    #[test]
    fn to_the_side_a_walker_at_its_best_is_caught_at_the_margin() {
        let plays = |mut y: f64, land: f64, at_once: bool| {
            // ξ to the left of the standing foot; the feet alternate, and each stands as far out as it can.
            let (mut side, mut time, mut foot) = (1.0, if at_once { 0.0 } else { land }, 0.0);
            for _ in 0..40 {
                let edge = foot + 0.02 * f64::signum(y - foot);
                if (y - foot).abs() <= 0.02 {
                    return true;
                }
                y = edge + (OMEGA * time).exp() * (y - edge);
                // The next foot lands on the other side, within reach.
                let reach = [foot - side * 0.044, foot - side * 0.07];
                let (low, high) = (reach[0].min(reach[1]), reach[0].max(reach[1]));
                let next = if at_once && foot == 0.0 { -0.046 } else { y.clamp(low, high) };
                let (a, b) = (foot.min(next) - 0.02, foot.max(next) + 0.02);
                if (a..=b).contains(&y) {
                    return true;
                }
                (foot, side, time) = (next, -side, TIME);
            }
            false
        };
        for land in [0.05, 0.15, 0.3] {
            let (mut caught, mut lost) = (0, 0);
            for k in -200..=200 {
                let y = 1e-3 * f64::from(k);
                let capture = steps().capture(&swing(land), [0.0, y]);
                if capture.margin.abs() < 1e-4 {
                    continue;
                }
                // Lands as far as it reaches, or where the foot is now.
                let is_caught = plays(y, land, false) || plays(y, land, true);
                assert_eq!(is_caught, capture.margin > 0.0, "{y} m, {land} s: {capture:?}");
                (caught, lost) = (caught + i32::from(is_caught), lost + i32::from(!is_caught));
            }
            assert!(caught > 40 && lost > 100, "{caught} {lost}");
        }
    }

    /// With both feet down it holds what is over them, and falls later.
    #[test]
    fn both_feet_hold_more() {
        let stance = Stance { lift: 0.1, land: 0.2, ..swing(0.0) };
        for y in [-0.066, -0.023, 0.02] {
            let capture = steps().capture(&stance, [0.0, y]);
            assert!(
                capture.capturability == Capturability::Stand && capture.margin >= 0.0,
                "{capture:?}"
            );
        }
        // The same place seen by the right foot, mirrored.
        let [left, _] = stance.feet;
        let mirrored = Stance {
            side: Side::Right,
            feet: [Place::level([0.0, 0.046, 0.0], 0.0), left],
            ..stance
        };
        for (x, y) in [(0.03, 0.03), (0.1, -0.1), (-0.09, 0.05)] {
            let (a, b) = (steps().capture(&stance, [x, y]), steps().capture(&mirrored, [x, -y]));
            assert!((a.margin - b.margin).abs() < 1e-12 && a.capturability == b.capturability);
            assert!((a.beyond[1] + b.beyond[1]).abs() < 1e-12);
        }
    }
}
