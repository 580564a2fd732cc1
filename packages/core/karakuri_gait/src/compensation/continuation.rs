//! Families of periodic motions over the arms' mass, by pseudo-arclength continuation.
//!
//! Unknown `y = (s_0, ln k)`, `k` the factor of the arms' mass and inertia. From a point and a unit tangent `T`:
//! predict `y + ds T`, then Newton on `s_1 - η s_0 = 0` and `T · (y - y_predicted) = 0`. The second row lets the
//! branch turn round, where `k` goes back. [Keller 1977], [Allgower 1990, §4.3]
//!
//! Where the determinant of the bordered matrix, Jacobian over `Tᵀ`, changes its sign, another branch crosses. It is
//! located by false position; the null vector of that matrix is the other branch's direction. [Allgower 1990, §8.1]

use nalgebra::{SMatrix, SVector};

use super::families::between;
use super::march::runge_kutta;
use super::{Arms, BodyData, Equation, STEPS_A_STEP, State, SteadyGait, eta};

/// Bounds of a continuation and its step along the arc.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ContinuationOptions {
    /// Least and greatest factor. [-] (2)
    pub factors: [f64; 2],
    /// First arclength; halved where Newton fails, grown where it is easy. [-]
    pub first_arc: f64,
    /// Largest arclength. [-]
    pub largest_arc: f64,
    /// Points in each direction.
    pub max_points: usize,
}

impl Default for ContinuationOptions {
    fn default() -> Self {
        Self { factors: [0.1, 50.0], first_arc: 0.1, largest_arc: 0.6, max_points: 150 }
    }
}

/// One periodic motion of a family.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BranchPoint {
    /// Factor of the arms' mass and inertia. [-]
    pub factor: f64,
    /// Start of the step.
    pub start: State,
}

impl BranchPoint {
    /// Largest difference between the starts. Arms that are both a whole turn further are where they were.
    /// [rad, rad/s]
    pub fn distance(&self, start: &State) -> f64 {
        let mut difference = self.start - start;
        // By the left arm alone: with one arm a turn further and the other not, the motions differ.
        let turn = (difference[2] / core::f64::consts::TAU).round() * core::f64::consts::TAU;
        difference[2] -= turn;
        difference[3] -= turn;
        difference.amax()
    }
}

/// A periodic motion through which two branches go.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Crossing {
    /// Location of the crossing.
    pub point: BranchPoint,
    /// Direction of the other branch: change of the start and of the factor's logarithm, of unit length. [rad, rad/s, -] (9)
    pub direction: SVector<f64, 9>,
}

/// A family of periodic motions.
#[derive(Debug, Clone, PartialEq)]
pub struct Branch {
    /// Periodic motions, from one end to the other.
    pub points: Vec<BranchPoint>,
    /// Factors at which the branch turns round. [-]
    pub folds: Vec<f64>,
    /// Crossings with other branches.
    pub crossings: Vec<Crossing>,
    /// Causes of the ends, at the first and the last point.
    pub ends: [BranchEnd; 2],
}

impl Branch {
    /// Least and greatest factor. [-] (2)
    pub fn factors(&self) -> [f64; 2] {
        let factors = || self.points.iter().map(|p| p.factor);
        [factors().fold(f64::INFINITY, f64::min), factors().fold(0.0, f64::max)]
    }

    /// Motions of the branch at a factor, each from a straight line between two points: guesses, near the solutions.
    pub fn at(&self, factor: f64) -> Vec<State> {
        between(&self.points, factor).collect()
    }

    /// Whether the branch passes within a distance of a point. [rad, rad/s]
    pub fn passes_near(&self, point: &BranchPoint, distance: f64) -> bool {
        self.at(point.factor).iter().any(|start| point.distance(start) < distance)
    }
}

/// Cause of a branch's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BranchEnd {
    /// A limit of the factors.
    Limit,
    /// Newton's method finds no next point.
    Lost,
    /// The number of points that was asked for.
    Count,
}

const N: usize = 8;
/// Unknown `y = (s_0, ln k)`. [rad, rad/s, -] (9)
type Unknown = SVector<f64, 9>;
type Jacobian = SMatrix<f64, 8, 9>;
type Bordered = SMatrix<f64, 9, 9>;

/// The problem of a continuation: body, gait and options.
struct Continuation<'a> {
    body: &'a BodyData,
    gait: &'a SteadyGait,
    options: &'a ContinuationOptions,
}

/// A point of a branch with its unit tangent.
#[derive(Clone, Copy)]
struct Station {
    y: Unknown,
    tangent: Unknown,
    /// Determinant of the bordered matrix, Jacobian over `Tᵀ`.
    determinant: f64,
    /// Newton steps from the prediction to the point.
    iterations: usize,
}

/// Half of a branch, from its first point in one direction.
struct HalfBranch {
    points: Vec<BranchPoint>,
    folds: Vec<f64>,
    crossings: Vec<Crossing>,
    end: BranchEnd,
}

fn unknown(p: &BranchPoint) -> Unknown {
    // The logarithm, as the mass goes over decades: equal arcs are then equal ratios.
    p.start.push(p.factor.ln())
}

fn point(y: &Unknown) -> BranchPoint {
    BranchPoint { factor: y[N].exp(), start: y.fixed_rows::<N>(0).into_owned() }
}

fn bordered(a: &Jacobian, row: &Unknown) -> Bordered {
    let mut whole = a.insert_row(N, 0.0);
    whole.set_row(N, &row.transpose());
    whole
}

impl Continuation<'_> {
    fn residual(&self, y: &Unknown) -> Option<State> {
        let BranchPoint { factor, start } = point(y);
        let scaled = self.body.with_arm_factor(factor);
        let e = Equation { body: &scaled, gait: self.gait, arms: Arms::Passive };
        // One Runge-Kutta step an interval, as quick searches do: a branch is a guess, which `find_periodic` refines.
        let h = SteadyGait::DURATION / STEPS_A_STEP as f64;
        let end = (0..STEPS_A_STEP).try_fold(start, |s, i| runge_kutta(&e, i as f64 * h, &s, h))?;
        Some(end - eta(&start))
    }

    fn jacobian(&self, y: &Unknown) -> Option<Jacobian> {
        // Rounding leaves 1e-10 of the slopes, truncation 1e-12 of them: far below what Newton's method needs.
        const DIFFERENCE: f64 = 1e-6;
        let mut a = Jacobian::zeros();
        for column in 0..=N {
            let at = |d: f64| {
                let mut moved = *y;
                moved[column] += d;
                self.residual(&moved)
            };
            // Central differences: their truncation error is of second order in the difference.
            a.set_column(column, &((at(DIFFERENCE)? - at(-DIFFERENCE)?) / (2.0 * DIFFERENCE)));
        }
        Some(a)
    }

    /// Newton on the curve and the plane through the prediction, normal to `direction`.
    fn correct(&self, predicted: &Unknown, direction: &Unknown) -> Option<Station> {
        let mut y = *predicted;
        // Quadratic convergence needs few from a good prediction; where more are needed, a shorter arc is better.
        for iterations in 0..8 {
            let r = self.residual(&y)?;
            let a = self.jacobian(&y)?;
            if r.amax() < 1e-9 {
                // The tangent is what leaves the residual as it is and goes on along `direction`.
                let ahead = bordered(&a, direction).lu().solve(&Unknown::ith(N, 1.0))?;
                let tangent = ahead.normalize();
                let determinant = bordered(&a, &tangent).determinant();
                return Some(Station { y, tangent, determinant, iterations });
            }
            // Newton's step of both rows: the residual vanishes, and `y` stays in the plane through the prediction.
            let right = (-r).push(-direction.dot(&(y - predicted)));
            let step = bordered(&a, direction).lu().solve(&right)?;
            // A step far beyond the arc's length leads to another branch, or nowhere.
            if step.norm() > 2.0 {
                return None;
            }
            y += step;
        }
        None
    }

    /// Next point at an arclength; `None` where there is none so far away.
    fn ahead(&self, from: &Station, arc: f64) -> Option<Station> {
        let next = self.correct(&(from.y + from.tangent * arc), &from.tangent)?;
        // A sharp bend is more likely a jump to another branch.
        (next.tangent.dot(&from.tangent) > 0.7).then_some(next)
    }

    /// Crossing between two points, where the determinant vanishes, up to `arc` from the first.
    fn crossing(&self, from: &Station, arc: f64, to: &Station) -> Option<Crossing> {
        // Newton's method is blind at the crossing itself; this near, a straight line will do.
        const NEAR: f64 = 1e-3;
        let (mut low, mut high) = ((0.0, *from), (arc, *to));
        let (mut weight_low, mut weight_high) = (from.determinant, to.determinant);
        while high.0 - low.0 > NEAR {
            let part = weight_low / (weight_low - weight_high);
            // Kept off the ends, where false position can stall.
            let middle = low.0 + (high.0 - low.0) * part.clamp(0.05, 0.95);
            let Some(found) = self.ahead(from, middle) else { break };
            // The Illinois rule: the end that stays counts half.
            if (found.determinant < 0.0) == (from.determinant < 0.0) {
                (low, weight_low, weight_high) =
                    ((middle, found), found.determinant, weight_high / 2.0);
            } else {
                (high, weight_high, weight_low) =
                    ((middle, found), found.determinant, weight_low / 2.0);
            }
        }
        let (low, high) = (low.1, high.1);
        let part = low.determinant / (low.determinant - high.determinant);
        let (y, tangent) = (low.y.lerp(&high.y, part), low.tangent.lerp(&high.tangent, part));
        // Regula falsi gives the point; the null vector there, of the least singular value, is the other branch's direction.
        let svd = bordered(&self.jacobian(&y)?, &tangent).svd(false, true);
        let direction = svd.v_t?.row(svd.singular_values.imin()).transpose();
        Some(Crossing { point: point(&y), direction })
    }

    fn follow(&self, from: &Unknown, direction: &Unknown) -> HalfBranch {
        let mut half = HalfBranch {
            points: Vec::new(),
            folds: Vec::new(),
            crossings: Vec::new(),
            end: BranchEnd::Count,
        };
        // A determinant of 0 changes no sign: the first point is compared with nothing.
        let mut here = Station { y: *from, tangent: *direction, determinant: 0.0, iterations: 0 };
        let mut arc = self.options.first_arc;
        let [least, greatest] = self.options.factors.map(f64::ln);
        while half.points.len() < self.options.max_points {
            let Some(next) = self.ahead(&here, arc) else {
                arc /= 2.0;
                // A thousandth of the first arc: there is no next point, or the branch bends too sharply to be followed.
                if arc < 1e-4 {
                    half.end = BranchEnd::Lost;
                    break;
                }
                continue;
            };
            // The tangent's `ln k` changes its sign: the branch turns round between these points.
            if next.tangent[N] * here.tangent[N] < 0.0 {
                let turn = if here.tangent[N] > 0.0 { f64::max } else { f64::min };
                half.folds.push(turn(here.y[N], next.y[N]).exp());
            }
            // The determinant changes its sign: another branch crosses between these points.
            if next.determinant * here.determinant < 0.0 {
                half.crossings.extend(self.crossing(&here, arc, &next));
            }
            here = next;
            if !(least..=greatest).contains(&here.y[N]) {
                half.end = BranchEnd::Limit;
                break;
            }
            half.points.push(point(&here.y));
            // Quick convergence of Newton's method means a nearly straight branch, which allows a longer arc.
            if here.iterations <= 3 {
                arc = (arc * 1.4).min(self.options.largest_arc);
            }
        }
        half
    }

    /// The branch on both sides of a point.
    fn both_directions(&self, from: &Unknown, direction: &Unknown) -> Branch {
        let (back, on) = (self.follow(from, &-direction), self.follow(from, direction));
        let join = |back: Vec<_>, on: Vec<_>| back.into_iter().rev().chain(on).collect();
        // The first point belongs to both halves and stands once.
        let points = back.points.into_iter().rev().chain([point(from)]).chain(on.points);
        Branch {
            points: points.collect(),
            folds: join(back.folds, on.folds),
            crossings: back.crossings.into_iter().rev().chain(on.crossings).collect(),
            ends: [back.end, on.end],
        }
    }
}

/// Follows the family through a periodic motion with passive arms, in both directions; `None` if the start is none.
pub fn trace_branch(
    body: &BodyData,
    gait: &SteadyGait,
    from: &BranchPoint,
    options: &ContinuationOptions,
) -> Option<Branch> {
    let continuation = Continuation { body, gait, options };
    // In the plane of this factor: the first point keeps the mass that was asked for.
    let at = continuation.correct(&unknown(from), &Unknown::ith(N, 1.0))?;
    Some(continuation.both_directions(&at.y, &at.tangent))
}

/// Follows the other branch through a crossing, in both directions.
pub fn trace_crossing(
    body: &BodyData,
    gait: &SteadyGait,
    crossing: &Crossing,
    options: &ContinuationOptions,
) -> Branch {
    let continuation = Continuation { body, gait, options };
    continuation.both_directions(&unknown(&crossing.point), &crossing.direction)
}
