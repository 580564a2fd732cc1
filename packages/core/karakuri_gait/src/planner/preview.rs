//! Preview control: the motion of the centre of mass that puts the ZMP on a path known in advance.
//!
//! Cart-table along one axis, state `x = (c, ċ, c̈)`, input jerk `u`, output `p = c − (z_c/g) c̈`; minimises
//! `Σ Q_e (p − p_ref)² + R u²` with the integral of the error as a state:
//! `u_k = −G_i Σ(p_j − p_ref,j) − G_x x_k − Σ_i G_d(i) p_ref,k+i`. [Kajita 2003], [Katayama 1985]
//!
//! Units: SI. Limits: a point mass at constant height; the second pass corrects the difference.

use nalgebra::{Matrix3, Matrix4, RowVector3, RowVector4, Vector3, Vector4};

/// Parameters of a design.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PreviewDesign {
    /// Height of the centre of mass above the floor. [m]
    pub com_height: f64,
    /// Time between two samples. [s]
    pub period: f64,
    /// Gravitational acceleration. [m/s²]
    pub gravity: f64,
    /// `Q_e`: weight of the ZMP's squared error. [1/m²]
    pub error_weight: f64,
    /// R: weight of the squared jerk. [s⁶/m²]
    pub jerk_weight: f64,
    /// Number of samples looked ahead.
    pub n_ahead: usize,
}

/// Gains of preview control, with its model.
#[derive(Debug, Clone, PartialEq)]
pub struct PreviewGains {
    /// Gain of the error's integral, `G_i`. [1/s³]
    pub integral: f64,
    /// Gains of the state, `G_x`: position, velocity, acceleration. [1/s³, 1/s², 1/s] (3)
    pub state: [f64; 3],
    /// Gains of the ZMP ahead, `G_d`, from the next sample on. [1/s³] (n)
    pub ahead: Vec<f64>,
    transition: Matrix3<f64>,
    input: Vector3<f64>,
    /// Lever `z_c/g` of the acceleration. [s²]
    lever: f64,
}

/// State of the cart-table along one axis.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct CartState {
    /// Position of the centre of mass. [m]
    pub position: f64,
    /// Velocity of the centre of mass. [m/s]
    pub velocity: f64,
    /// Acceleration of the centre of mass. [m/s²]
    pub acceleration: f64,
    /// Sum of the ZMP's errors, Σ (p − `p_ref`). [m]
    pub error_sum: f64,
}

impl CartState {
    /// Cart at rest. [m]
    pub fn at(position: f64) -> Self {
        Self { position, ..Self::default() }
    }
}

impl PreviewGains {
    /// Solves the Riccati equation; `None` where it has no solution (a height, period or weight that is not positive).
    pub fn new(design: &PreviewDesign) -> Option<Self> {
        let (dt, lever) = (design.period, design.com_height / design.gravity);
        let positive = [dt, lever, design.error_weight, design.jerk_weight];
        // A jerk without weight would be unbounded, an error without weight ignored.
        if !positive.iter().all(|x| x.is_finite() && *x > 0.0) {
            return None;
        }
        // Discrete model of a constant jerk over the period, `x_{k+1} = A x_k + b u_k`, `p = c x`.
        let transition = Matrix3::new(1.0, dt, dt * dt / 2.0, 0.0, 1.0, dt, 0.0, 0.0, 1.0);
        let input = Vector3::new(dt.powi(3) / 6.0, dt * dt / 2.0, dt);
        let output = RowVector3::new(1.0, 0.0, -lever);
        // State (e, x): e_{k+1} = e_k + p_{k+1}.
        let mut a = Matrix4::identity();
        a.fixed_view_mut::<1, 3>(0, 1).copy_from(&(output * transition));
        a.fixed_view_mut::<3, 3>(1, 1).copy_from(&transition);
        let mut b = Vector4::zeros();
        // The error after the step is what counts, so a jerk enters it at once: `e_{k+1} = e_k + c (A x + b u) − p_ref`.
        b[0] = (output * input)[0];
        b.fixed_rows_mut::<3>(1).copy_from(&input);
        let mut q = Matrix4::zeros();
        // Of the state only the error has a weight: position and velocity may be what the ZMP asks for.
        q[(0, 0)] = design.error_weight;
        let p = riccati(&a, &b, &q, design.jerk_weight)?;
        // `K = (R + Bᵀ P B)⁻¹ Bᵀ P A`: the first entry is `G_i`, the others are `G_x`.
        let weight = design.jerk_weight + (b.transpose() * p * b)[0];
        let row: RowVector4<f64> = b.transpose() * p / weight;
        let gain = row * a;
        let closed = a - b * gain;
        // `G_d(1) = −G_i`, `G_d(i) = (R + Bᵀ P B)⁻¹ Bᵀ X_{i−1}` with `X_1 = −A_cᵀ P e₁`, `X_i = A_cᵀ X_{i−1}`, `A_c = A − B K`.
        let unit = Vector4::new(1.0, 0.0, 0.0, 0.0);
        let mut carried = -(closed.transpose() * p * unit);
        let mut ahead = vec![-gain[0]];
        while ahead.len() < design.n_ahead {
            ahead.push((b.transpose() * carried)[0] / weight);
            carried = closed.transpose() * carried;
        }
        let state = [gain[1], gain[2], gain[3]];
        Some(Self { integral: gain[0], state, ahead, transition, input, lever })
    }

    /// Number of samples looked ahead.
    pub fn n_ahead(&self) -> usize {
        self.ahead.len()
    }

    /// ZMP of a cart. [m]
    pub fn zmp(&self, cart: &CartState) -> f64 {
        cart.position - self.lever * cart.acceleration
    }

    /// Cart one period on; `desired`: ZMP from the next period on, whose last value goes on for ever. [m] (n)
    #[must_use]
    pub fn step(&self, cart: &CartState, desired: &[f64]) -> CartState {
        let x = Vector3::new(cart.position, cart.velocity, cart.acceleration);
        let [gx, gv, ga] = self.state;
        let (seen, beyond) = self.ahead.split_at(desired.len().min(self.ahead.len()));
        let last = desired.last().copied().unwrap_or(cart.position);
        let ahead: f64 = seen.iter().zip(desired).map(|(g, p)| g * p).sum();
        // A reference that ends goes on as it is; taken as zero, it would pull the walker back to the origin.
        let ahead = ahead + beyond.iter().sum::<f64>() * last;
        // Integral of the ZMP error, feedback of the state, feed-forward of the ZMP ahead [Kajita 2003].
        let jerk = -self.integral * cart.error_sum - gx * x[0] - gv * x[1] - ga * x[2] - ahead;
        let next = self.transition * x + self.input * jerk;
        // `p = c − (z_c/g) c̈`, the cart-table [Kajita 2003].
        let zmp = next[0] - self.lever * next[2];
        CartState {
            position: next[0],
            velocity: next[1],
            acceleration: next[2],
            error_sum: cart.error_sum + zmp - desired.first().unwrap_or(&last),
        }
    }
}

/// Solves `P = Q + Aᵀ P (A − B (R + Bᵀ P B)⁻¹ Bᵀ P A)` by that iteration from Q: the costs of ever longer walks. Doubling needs
/// a hundredth of the steps, but loses all digits to the triple integrator. [Katayama 1985]
fn riccati(a: &Matrix4<f64>, b: &Vector4<f64>, q: &Matrix4<f64>, r: f64) -> Option<Matrix4<f64>> {
    const MOST_ITERATIONS: usize = 100_000;
    let mut p = *q;
    for _ in 0..MOST_ITERATIONS {
        let gain = b.transpose() * p * a / (r + (b.transpose() * p * b)[0]);
        let next = q + a.transpose() * p * (a - b * gain);
        let moved = (next - p).amax();
        p = next;
        // Relative, because the size of P depends on the weights and the period.
        if moved < 1e-13 * p.amax() {
            return Some(p);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn design(com_height: f64, period: f64, n_ahead: usize) -> PreviewDesign {
        let (error_weight, jerk_weight) = (1.0, 1e-6);
        PreviewDesign { com_height, period, gravity: 9.81, error_weight, jerk_weight, n_ahead }
    }

    /// Gains computed independently with `Q_e` = 1, R = 1e-6.
    #[test]
    fn gains_are_the_golden_ones() {
        for (z, dt, integral, state, ahead) in [
            (
                0.814,
                0.005,
                618.702,
                [72719.44, 21549.60, 177.013],
                [-618.702, -777.507, -952.261, -1082.277],
            ),
            (
                0.200,
                0.010,
                678.288,
                [21533.62, 3525.81, 71.263],
                [-678.288, -772.008, -888.292, -987.023],
            ),
            (
                0.170,
                0.010,
                692.376,
                [20608.54, 3170.11, 67.569],
                [-692.376, -775.369, -881.308, -974.635],
            ),
            (
                0.170,
                0.020,
                570.791,
                [8923.80, 1484.39, 47.959],
                [-570.791, -683.274, -785.178, -829.453],
            ),
        ] {
            let gains = PreviewGains::new(&design(z, dt, 4)).unwrap();
            let desired = [integral].into_iter().chain(state).chain(ahead);
            let have = [gains.integral].into_iter().chain(gains.state).chain(gains.ahead);
            for (w, h) in desired.zip(have) {
                assert!((w - h).abs() < 1e-5 * w.abs(), "z {z}, dt {dt}: {h} for {w}");
            }
        }
    }

    /// The check run of the KHR-1's numbers: steps of 40 mm, feet 23 mm off the middle, 0.4 s of which 0.1 s on both.
    #[test]
    fn zmp_follows_steps_within_millimetres() {
        let gains = PreviewGains::new(&design(0.17, 0.01, 80)).unwrap();
        let reference = |k: usize, axis: usize| {
            let step = k.saturating_sub(100) / 40;
            let part = ((k.saturating_sub(100) % 40) as f64 / 10.0).min(1.0);
            let foot = |n: usize| {
                if n == 0 {
                    0.0
                } else if axis == 0 {
                    0.04 * (n - 1) as f64
                } else if n.is_multiple_of(2) {
                    0.023
                } else {
                    -0.023
                }
            };
            if k < 100 { 0.0 } else { foot(step) + part * (foot(step + 1) - foot(step)) }
        };
        for (axis, limit) in [(0, 0.0036), (1, 0.0041)] {
            let mut cart = CartState::default();
            let mut worst = 0.0_f64;
            let desired: Vec<f64> = (0..700).map(|k| reference(k, axis)).collect();
            for k in 1..600 {
                cart = gains.step(&cart, &desired[k..]);
                worst = worst.max((gains.zmp(&cart) - desired[k]).abs());
            }
            assert!(worst < limit, "axis {axis}: {worst}");
        }
    }

    #[test]
    fn nonsense_has_no_gains() {
        assert!(PreviewGains::new(&design(-1.0, 0.01, 4)).is_none());
        assert!(PreviewGains::new(&design(0.2, f64::NAN, 4)).is_none());
    }
}
