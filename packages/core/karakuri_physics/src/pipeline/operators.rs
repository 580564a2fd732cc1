//! The operators `Â` of the robots and bodies that rows touch, for solvers that make directions from them.

use crate::constraint::row::Row;
use crate::solver::{Problem, Run};
use crate::state::body::Body;
use crate::state::mover::NO_MOVER;
use crate::state::robot::Robot;

/// Hands `Â` of every mover with a row to the problem, ascending by its start in the velocity vector; not where there are
/// few rows.
pub(crate) fn fill_operators(
    robots: &mut [Option<Robot>],
    bodies: &[Option<Body>],
    rows: &[Row],
    touched: &mut Vec<bool>,
    problem: &mut Problem,
) {
    touched.clear();
    touched.resize(robots.len() + bodies.len(), false);
    let mut start = 0;
    for &end in &problem.island_ends {
        let island = start..end;
        start = end;
        // With few rows the solver works in impulses, and asks for responses only.
        if !problem.has_few_rows(island.clone()) {
            for &mover in
                rows[island].iter().flat_map(|row| &row.movers).filter(|&&m| m != NO_MOVER)
            {
                touched[mover] = true;
            }
        }
    }
    problem.runs.clear();
    problem.inertia.clear();
    // Robots before bodies, as their velocities are: runs ascend by start.
    let (of_robots, of_bodies) = touched.split_at(robots.len());
    let robots = robots.iter_mut().zip(of_robots).filter(|(_, t)| **t);
    for robot in robots.filter_map(|(r, _)| r.as_mut()) {
        let out = add_run(problem, robot.start, robot.v.len());
        robot.operator(out);
    }
    for body in bodies.iter().zip(of_bodies).filter(|(_, t)| **t).filter_map(|(b, _)| b.as_ref()) {
        let out = add_run(problem, body.start, 6);
        body.operator(out);
    }
}

/// Room for the `Â` of a run, filled with zeros. (len × len)
fn add_run(problem: &mut Problem, start: usize, len: usize) -> &mut [f64] {
    let offset = problem.inertia.len();
    problem.runs.push(Run { start, len, offset });
    // Zeros, as a body fills two of its four quarters only.
    problem.inertia.resize(offset + len * len, 0.0);
    &mut problem.inertia[offset..]
}
