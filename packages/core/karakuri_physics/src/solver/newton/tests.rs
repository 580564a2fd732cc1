//! A step of Newton's method, by itself.

use super::*;
use crate::solver::RowSpec;
use crate::solver::Side;
use nalgebra::{DMatrix, DVector};
use proptest::prelude::*;

/// A problem of some contacts and a brake on one robot of `n` velocities.
fn problem(n: usize, contacts: usize, friction: f64, numbers: &[f64]) -> Problem {
    let mut numbers = numbers.iter().copied().cycle();
    let mut next = || numbers.next().unwrap_or(0.5);
    let root = DMatrix::from_fn(n, n, |_, _| next());
    let operator = &root * root.transpose() + DMatrix::identity(n, n);
    let factor = operator.clone().cholesky().unwrap();
    let mut problem = Problem {
        velocity: (0..n).map(|_| next()).collect(),
        runs: vec![Run { start: 0, len: n, offset: 0 }],
        inertia: operator.as_slice().to_vec(),
        ..Problem::default()
    };
    let laws = std::iter::repeat_n(Admissible::Cone { friction }, contacts)
        .chain([Admissible::Interval { lower: -0.1, upper: 0.1 }]);
    for admissible in laws {
        let side = Side::new(0, n, problem.jacobian.len());
        let mut block =
            Block { admissible, ..Block::row([side, Side::default()], &RowSpec::default()) };
        for _ in 0..block.rows() {
            let row = DVector::from_fn(n, |_, _| next());
            problem.jacobian.extend(&row);
            problem.response.extend(&factor.solve(&row));
        }
        block.delassus = problem.delassus_of(&block);
        problem.blocks.push(block);
    }
    problem.island_ends.push(problem.blocks.len());
    problem
}

proptest! {
    /// Steps in impulses and steps in velocities end at the same impulses.
    #[test]
    fn both_kinds_of_steps_have_one_solution(
        n in 14..20_usize,
        contacts in 1..5_usize,
        friction in 0.0..1.0_f64,
        numbers in prop::collection::vec(-1.0..1.0_f64, 997),
    ) {
        let settings = SolverSettings { tolerance: 1e-11, ..SolverSettings::default() };
        let solved = [true, false].map(|has_few_rows| {
            let mut problem = problem(n, contacts, friction, &numbers);
            let all = 0..problem.blocks.len();
            let mut newton = Newton { has_few_rows, ..Newton::default() };
            newton.run(&mut problem, all.clone(), &settings);
            let (left, _) = newton.measure(&problem.blocks);
            (left, problem)
        });
        for (left, _) in &solved {
            prop_assert!(*left <= 1e-11, "{left}");
        }
        for (a, b) in solved[0].1.blocks.iter().zip(&solved[1].1.blocks) {
            let off = (a.impulse - b.impulse).amax();
            prop_assert!(off < 1e-8, "{} {}", a.impulse, b.impulse);
        }
    }
}
