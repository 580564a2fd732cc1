use nalgebra::{DMatrix, DVector};
use proptest::prelude::*;

use super::*;

proptest! {
    /// The solution equals that of nalgebra's factor.
    #[test]
    fn gaussian_elimination_equals_nalgebra(n in 1..20_usize, seed in prop::collection::vec(-1.0..1.0_f64, 421)) {
        let entry = |i: usize| seed[i * 31 % 421];
        let A = DMatrix::from_fn(n, n, |i, j| entry(i * n + j));
        let b = DVector::from_fn(n, |i, _| entry(i + 400));
        let Some(expected) = A.clone().lu().solve(&b) else { return Ok(()) };
        prop_assume!(expected.amax() < 1e3);
        // Room after each row, with anything in it.
        let mut rows = vec![7.0; n * general_stride(n)];
        for (row, entries) in rows.chunks_exact_mut(general_stride(n)).zip(A.row_iter()) {
            row[..n].iter_mut().zip(entries.iter()).for_each(|(to, from)| *to = *from);
        }
        let mut x = b.as_slice().to_vec();
        prop_assert!(solve_general(&mut rows, &mut x));
        let error = (DVector::from_vec(x) - &expected).amax();
        prop_assert!(error < 1e-9, "{error}");
    }
}

#[test]
fn a_singular_system_is_refused() {
    let singular = &mut [1.0, 2.0, 0.0, 0.0, 2.0, 4.0, 0.0, 0.0];
    assert!(!solve_general(singular, &mut [1.0, 1.0]));
    assert!(!solve_general(&mut [f64::NAN, 0.0, 0.0, 0.0], &mut [1.0]));
}

/// `A x = b` holds for every `b` in the range of a rank-2 matrix of order 4.
#[test]
fn redundant_rows_are_dropped_and_consistent_systems_solved() {
    let rows = [[1.0, 2.0], [0.5, -1.0], [1.5, 1.0], [2.0, 4.0]];
    let mut a = vec![0.0; 16];
    for i in 0..4 {
        for j in 0..4 {
            a[i * 4 + j] = rows[i][0] * rows[j][0] + rows[i][1] * rows[j][1];
        }
    }
    let mut factor = PivotedCholesky::new(4);
    factor.factorize(&a);
    assert_eq!(factor.rank(), 2);
    let b: Vec<f64> = (0..4).map(|i| a[i * 4] * 3.0 - a[i * 4 + 2]).collect();
    let mut x = b.clone();
    factor.solve(&mut x);
    for i in 0..4 {
        let ax: f64 = (0..4).map(|j| a[i * 4 + j] * x[j]).sum();
        assert!((ax - b[i]).abs() < 1e-12, "row {i}: {ax} is not {}", b[i]);
    }
}

proptest! {
    /// Three right sides side by side have the solutions that they have one by one, to the bit, whatever the rank.
    #[test]
    fn three_right_sides_are_solved_as_one_by_one(
        n in 1..12_usize,
        rank in 1..12_usize,
        numbers in prop::collection::vec(-1.0..1.0_f64, 397),
    ) {
        let root = DMatrix::from_fn(n, rank, |i, j| numbers[(i * rank + j) * 31 % 397]);
        let A = &root * root.transpose();
        let mut factor = PivotedCholesky::new(n);
        factor.factorize(A.as_slice());
        let mut three: Vec<[f64; 3]> =
            (0..n).map(|i| std::array::from_fn(|r| numbers[(7 * i + r) % 397])).collect();
        let mut each: [Vec<f64>; 3] =
            std::array::from_fn(|r| three.iter().map(|x| x[r]).collect());
        factor.solve_three(&mut three);
        for (r, x) in each.iter_mut().enumerate() {
            factor.solve(x);
            for (x, three) in x.iter().zip(&three) {
                prop_assert_eq!(x.to_bits(), three[r].to_bits());
            }
        }
    }
}
