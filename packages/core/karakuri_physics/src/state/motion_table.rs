//! A motion as a table over time, interpolated by a cubic spline.
//!
//! Between the samples position, velocity and acceleration are continuous: slopes `s_i` solve the tridiagonal system of
//! the C² cubic, its end slopes being those of the parabola through the first and last three samples. Before the first
//! sample and after the last it stands still. [de Boor 1978, ch. IV]

/// Positions over time; at a sample time exactly the sample.
#[derive(Debug, Clone, PartialEq)]
pub struct MotionTable {
    /// Times of the samples, ascending. [s] (n)
    times: Vec<f64>,
    /// Positions at the samples. [rad or m] (n)
    positions: Vec<f64>,
    /// Velocities at the samples. [rad/s or m/s] (n)
    slopes: Vec<f64>,
}

impl MotionTable {
    /// Makes a table of samples; their velocities, where they are given, or those of the spline.
    /// [s; rad or m; rad/s or m/s] (n each)
    ///
    /// # Errors
    /// When there are no samples, the lengths differ, a number is not finite, or the times do not ascend.
    pub fn new(
        times: Vec<f64>,
        positions: Vec<f64>,
        velocities: Option<Vec<f64>>,
    ) -> Result<Self, &'static str> {
        let lengths = velocities.as_ref().map_or(times.len(), Vec::len);
        if times.is_empty() {
            return Err("the table has no samples; write one at least");
        }
        if positions.len() != times.len() || lengths != times.len() {
            return Err("the table needs a position, and a velocity or none, for each time");
        }
        let all = times.iter().chain(&positions).chain(velocities.iter().flatten());
        if !all.into_iter().all(|x| x.is_finite()) {
            return Err("the table has a number that is not finite; write finite numbers");
        }
        if times.windows(2).any(|pair| pair[1] <= pair[0]) {
            return Err("the times of the table do not ascend; sort them, each once");
        }
        let slopes = velocities.unwrap_or_else(|| spline_slopes(&times, &positions));
        Ok(Self { times, positions, slopes })
    }

    /// Position and velocity at a time. [rad or m; rad/s or m/s]
    pub fn at(&self, time: f64) -> (f64, f64) {
        let n = self.times.len();
        // The samples themselves belong to the motion, rounding of the time included.
        let slack = 1e-9 * (self.times[n - 1] - self.times[0]);
        if time < self.times[0] - slack || n == 1 {
            return (self.positions[0], 0.0);
        }
        if time > self.times[n - 1] + slack {
            return (self.positions[n - 1], 0.0);
        }
        // The interval that begins at or before the time; at the last sample, the one that ends there.
        let i = self.times.partition_point(|t| *t <= time).clamp(1, n - 1) - 1;
        let width = self.times[i + 1] - self.times[i];
        let s = ((time - self.times[i]) / width).clamp(0.0, 1.0);
        // At a sample exactly the sample, whatever the cubic rounds.
        if s <= 0.0 || s >= 1.0 {
            let at = i + usize::from(s >= 1.0);
            return (self.positions[at], self.slopes[at]);
        }
        let (a, b) = (self.positions[i], self.positions[i + 1]);
        let (da, db) = (width * self.slopes[i], width * self.slopes[i + 1]);
        // Hermite, from the sample on: a + s (da + s (c2 + s c3)).
        let (c2, c3) = (3.0 * (b - a) - 2.0 * da - db, 2.0 * (a - b) + da + db);
        (a + s * (da + s * (c2 + s * c3)), (da + s * (2.0 * c2 + 3.0 * s * c3)) / width)
    }
}

/// Slopes of the C² cubic through the samples; of a line through two.
fn spline_slopes(t: &[f64], x: &[f64]) -> Vec<f64> {
    let n = t.len();
    let chord = |i: usize| (x[i + 1] - x[i]) / (t[i + 1] - t[i]);
    match n {
        0 | 1 => return vec![0.0; n],
        2 => return vec![chord(0); 2],
        _ => {}
    }
    // Slope of the parabola through three samples at the first (sign +1) or last of them.
    let parabola = |near: f64, far: f64, h: f64, k: f64| near + (near - far) * h / (h + k);
    let width = |i: usize| t[i + 1] - t[i];
    let mut slopes = vec![0.0; n];
    slopes[0] = parabola(chord(0), chord(1), width(0), width(1));
    slopes[n - 1] = parabola(chord(n - 2), chord(n - 3), width(n - 2), width(n - 3));
    // Diagonally dominant, so elimination needs no pivots.
    // h_i s_{i-1} + 2 (h_{i-1} + h_i) s_i + h_{i-1} s_{i+1} = 3 (h_i d_{i-1} + h_{i-1} d_i), by elimination.
    let (mut upper, mut right) = (vec![0.0; n], vec![0.0; n]);
    right[0] = slopes[0];
    for i in 1..n - 1 {
        let (before, after) = (width(i - 1), width(i));
        let pivot = 2.0 * (before + after) - after * upper[i - 1];
        upper[i] = before / pivot;
        let sum = 3.0 * (after * chord(i - 1) + before * chord(i));
        right[i] = (sum - after * right[i - 1]) / pivot;
    }
    for i in (1..n - 1).rev() {
        slopes[i] = right[i] - upper[i] * slopes[i + 1];
    }
    slopes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_met_exactly_and_parabolas_everywhere() {
        let times = vec![0.0, 0.3, 0.4, 1.0, 1.7];
        let law = |t: f64| 2.0 - 3.0 * t + 1.5 * t * t;
        let positions: Vec<f64> = times.iter().map(|t| law(*t)).collect();
        let table = MotionTable::new(times.clone(), positions.clone(), None).unwrap();
        for (t, x) in times.iter().zip(&positions) {
            assert_eq!(table.at(*t).0.to_bits(), x.to_bits());
        }
        for i in 0..=170 {
            let t = 0.01 * f64::from(i);
            let (x, v) = table.at(t);
            assert!((x - law(t)).abs() < 1e-13 && (v - (3.0 * t - 3.0)).abs() < 1e-12, "{t}");
        }
        assert_eq!(table.at(-1.0), (law(0.0), 0.0));
        assert_eq!(table.at(9.0), (positions[4], 0.0));
    }

    #[test]
    fn a_sine_is_met_to_the_fourth_order() {
        let error = |n: i32| {
            let times: Vec<f64> = (0..=n).map(|i| f64::from(i) * 6.0 / f64::from(n)).collect();
            let positions = times.iter().map(|t| t.sin()).collect();
            let table = MotionTable::new(times, positions, None).unwrap();
            let instants = (100..500).map(|i| 0.01 * f64::from(i));
            instants.map(|t| (table.at(t).0 - t.sin()).abs()).fold(0.0, f64::max)
        };
        let order = (error(20) / error(40)).log2();
        assert!(order > 3.5, "{order}");
    }

    #[test]
    fn tables_that_are_none_are_refused() {
        for (times, positions, what) in [
            (vec![], vec![], "no samples"),
            (vec![0.0, 1.0], vec![0.0], "for each time"),
            (vec![0.0, 0.0], vec![0.0, 1.0], "do not ascend"),
            (vec![0.0, f64::NAN], vec![0.0, 1.0], "not finite"),
        ] {
            assert!(MotionTable::new(times, positions, None).unwrap_err().contains(what));
        }
    }
}
