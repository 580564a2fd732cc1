//! The step of a Gauss-Jordan elimination; the caller chooses the pivots. [Golub & Van Loan 2013, §3.4]

/// A pivot, and the row that it goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PivotStep {
    /// Row of the pivot, at or below `target`.
    pub row: usize,
    /// Column of the pivot.
    pub column: usize,
    /// Number of pivots taken before: the row that the pivot's row changes places with.
    pub target: usize,
}

/// Makes the pivot 1 and all other entries of its column 0, by row operations on the whole matrix.
///
/// `rows`: row-major, `width` entries a row. (n rows × width)
pub fn reduce_column(rows: &mut [f64], width: usize, step: PivotStep) {
    let PivotStep { row, column, target } = step;
    let (above, from_target) = rows.split_at_mut(target * width);
    let (pivot_row, below) = from_target.split_at_mut(width);
    if row > target {
        pivot_row.swap_with_slice(&mut below[(row - target - 1) * width..][..width]);
    }
    let pivot = pivot_row[column];
    for x in pivot_row.iter_mut() {
        *x /= pivot;
    }
    for other in above.chunks_exact_mut(width).chain(below.chunks_exact_mut(width)) {
        let factor = other[column];
        // Constraint rows are sparse: most others have nothing in this column.
        if factor != 0.0 {
            other.iter_mut().zip(&*pivot_row).for_each(|(x, y)| *x -= factor * y);
            // Round-off in `pivot / pivot` cannot leave anything, but infinities could.
            other[column] = 0.0;
        }
    }
}
