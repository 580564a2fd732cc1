//! Families of periodic motions over the arms' mass, by pseudo-arclength continuation.
//!
//! Unknown `y = (s_0, ln k)`, `k` the factor of the arms' mass and inertia. From a point and a unit tangent `T`:
//! predict `y + ds T`, then Newton on `s_1 - η s_0 = 0` and `T · (y - y_predicted) = 0`. The second row lets the
//! branch turn round, where `k` goes back. [Keller 1977], [Allgower 1990, §4.3]

use nalgebra::{DMatrix, DVector};

use super::linear::solve;
use super::march::runge_kutta;
use super::{Arms, BodyData, Equation, STEPS_A_STEP, State, SteadyGait, eta};

/// Where to stop, how fine.
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
    /// Of the arms' mass and inertia. [-]
    pub factor: f64,
    /// Start of the step.
    pub start: State,
}

/// A family of periodic motions.
#[derive(Debug, Clone, PartialEq)]
pub struct Branch {
    /// From one end to the other.
    pub points: Vec<BranchPoint>,
    /// Factors at which the branch turns round. [-]
    pub folds: Vec<f64>,
    /// Why each end is one, first and last point.
    pub ends: [BranchEnd; 2],
}

/// Why a branch ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BranchEnd {
    /// At a limit of the factors.
    Limit,
    /// Newton's method finds no next point.
    Lost,
    /// Enough points.
    Count,
}

const N: usize = 8;

fn residual(body: &BodyData, gait: &SteadyGait, y: &DVector<f64>) -> Option<DVector<f64>> {
    let scaled = body.with_arm_factor(y[N].exp());
    let e = Equation { body: &scaled, gait, arms: Arms::Passive };
    let s0 = State::from_fn(|i, _| y[i]);
    let h = SteadyGait::DURATION / STEPS_A_STEP as f64;
    let s1 = (0..STEPS_A_STEP).try_fold(s0, |s, i| runge_kutta(&e, i as f64 * h, &s, h))?;
    let difference = s1 - eta(&s0);
    Some(DVector::from_fn(N, |i, _| difference[i]))
}

fn jacobian(body: &BodyData, gait: &SteadyGait, y: &DVector<f64>) -> Option<DMatrix<f64>> {
    const DIFFERENCE: f64 = 1e-6;
    let mut a = DMatrix::zeros(N, N + 1);
    for column in 0..=N {
        let at = |d: f64| {
            let mut moved = y.clone();
            moved[column] += d;
            residual(body, gait, &moved)
        };
        a.set_column(column, &((at(DIFFERENCE)? - at(-DIFFERENCE)?) / (2.0 * DIFFERENCE)));
    }
    Some(a)
}

/// The unit tangent that goes on along `direction`.
fn tangent(a: &DMatrix<f64>, direction: &DVector<f64>) -> Option<DVector<f64>> {
    let mut right = DVector::zeros(N + 1);
    right[N] = 1.0;
    let t = solve(bordered(a, direction), &right)?;
    let norm = t.norm();
    Some(t / norm)
}

fn bordered(a: &DMatrix<f64>, row: &DVector<f64>) -> DMatrix<f64> {
    let mut whole = a.clone().insert_row(N, 0.0);
    whole.set_row(N, &row.transpose());
    whole
}

/// Newton on the curve and the plane through the prediction; the point and its Jacobian.
fn correct(
    body: &BodyData,
    gait: &SteadyGait,
    predicted: &DVector<f64>,
    t: &DVector<f64>,
) -> Option<(DVector<f64>, DMatrix<f64>, usize)> {
    let mut y = predicted.clone();
    for iteration in 0..8 {
        let r = residual(body, gait, &y)?;
        let a = jacobian(body, gait, &y)?;
        if r.amax() < 1e-9 {
            return Some((y, a, iteration));
        }
        let mut right = -r.insert_row(N, 0.0);
        right[N] = -t.dot(&(&y - predicted));
        let step = solve(bordered(&a, t), &right)?;
        if step.norm() > 2.0 {
            return None;
        }
        y += step;
    }
    None
}

/// Follows the family through a periodic motion with passive arms, in both directions; `None` if the start is none.
pub fn trace_branch(
    body: &BodyData,
    gait: &SteadyGait,
    from: &BranchPoint,
    options: &ContinuationOptions,
) -> Option<Branch> {
    let mut y = DVector::from_fn(N + 1, |i, _| if i < N { from.start[i] } else { 0.0 });
    y[N] = from.factor.ln();
    let mut along = DVector::zeros(N + 1);
    along[N] = 1.0;
    let (y, a, _) = correct(body, gait, &y, &along)?;
    let up = tangent(&a, &along)?;
    let (mut points, end_down, mut folds) = follow(body, gait, &y, &-&up, options);
    points.reverse();
    points.push(point(&y));
    let (more, end_up, folds_up) = follow(body, gait, &y, &up, options);
    points.extend(more);
    folds.reverse();
    folds.extend(folds_up);
    Some(Branch { points, folds, ends: [end_down, end_up] })
}

fn point(y: &DVector<f64>) -> BranchPoint {
    BranchPoint { factor: y[N].exp(), start: State::from_fn(|i, _| y[i]) }
}

fn follow(
    body: &BodyData,
    gait: &SteadyGait,
    from: &DVector<f64>,
    direction: &DVector<f64>,
    options: &ContinuationOptions,
) -> (Vec<BranchPoint>, BranchEnd, Vec<f64>) {
    let (mut y, mut t, mut arc) = (from.clone(), direction.clone(), options.first_arc);
    let (mut points, mut folds) = (Vec::new(), Vec::new());
    let limits = options.factors.map(f64::ln);
    while points.len() < options.max_points {
        let found = correct(body, gait, &(&y + &t * arc), &t).and_then(|(next, a, n)| {
            let onward = tangent(&a, &t)?;
            // A sharp bend is more likely a jump to another branch.
            (onward.dot(&t) > 0.7).then_some((next, onward, n))
        });
        let Some((next, onward, iterations)) = found else {
            arc /= 2.0;
            if arc < 1e-4 {
                return (points, BranchEnd::Lost, folds);
            }
            continue;
        };
        if onward[N] * t[N] < 0.0 {
            folds.push(next[N].exp());
        }
        (y, t) = (next, onward);
        if y[N] < limits[0] || y[N] > limits[1] {
            return (points, BranchEnd::Limit, folds);
        }
        points.push(point(&y));
        if iterations <= 3 {
            arc = (arc * 1.4).min(options.largest_arc);
        }
    }
    (points, BranchEnd::Count, folds)
}
