//! Divergent component of motion: the point over which the walker would come to rest.
//!
//! `ξ = c + ċ/ω`, `ξ̇ = ω (ξ − p)`, `ċ = ω (ξ − c)`, `ω = √(g/z_c)`. For a ZMP that moves straight,
//! `ξ(0) = p₀ + ṗ/ω + e^{−ωt} (ξ(t) − p(t) − ṗ/ω)`: planned backwards from rest, errors die out.
//! [Takenaka 2009], [Englsberger 2015]

/// Natural frequency `ω = √(g/z_c)` of the pendulum. [1/s]
pub fn natural_frequency(com_height: f64, gravity: f64) -> f64 {
    (gravity / com_height).sqrt()
}

/// The ZMP that brings `ξ` to `target` within a time. Along one axis. [m]
pub fn zmp_to_reach(dcm: f64, target: f64, time: f64, omega: f64) -> f64 {
    // `target = p + e^{ωt} (ξ − p)`, solved for p.
    let growth = (omega * time).exp();
    // The denominator is 0 for a time of 0, when no ZMP moves ξ any more: callers leave a sample at least.
    (target - growth * dcm) / (1.0 - growth)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OMEGA: f64 = 7.6;

    /// `ξ` at the samples of a ZMP path (straight between samples), the last at rest on its ZMP. Along one axis. [m] (n)
    fn plan_backwards(zmp: &[f64], period: f64, omega: f64) -> Vec<f64> {
        let mut dcm = zmp.to_vec();
        let decay = (-omega * period).exp();
        for k in (0..zmp.len().saturating_sub(1)).rev() {
            let slope = (zmp[k + 1] - zmp[k]) / (period * omega);
            dcm[k] = zmp[k] + slope + decay * (dcm[k + 1] - zmp[k + 1] - slope);
        }
        dcm
    }

    #[test]
    fn backwards_from_rest() {
        // A step of the ZMP after 0.4 s: before it ξ nears the new place with e^{ωt}.
        let zmp: Vec<f64> = (0..=80).map(|k| if k <= 40 { 0.0 } else { 0.04 }).collect();
        let dcm = plan_backwards(&zmp, 0.01, OMEGA);
        assert!((dcm[80] - 0.04).abs() < 1e-15 && (dcm[45] - 0.04).abs() < 1e-15);
        let ratio = dcm[20] / dcm[10];
        assert!((ratio - (OMEGA * 0.1).exp()).abs() < 1e-9, "{ratio}");
    }

    #[test]
    fn steady_offset_is_the_closed_form() {
        // ξ₀ − p = L/(e^{ωT} − 1)
        let (step, time) = (0.04, 0.4);
        let zmp: Vec<f64> = (0..4000).map(|k| step * f64::from(k / 400)).collect();
        let dcm = plan_backwards(&zmp, time / 400.0, OMEGA);
        let desired = step / ((OMEGA * time).exp() - 1.0);
        assert!((dcm[400] - zmp[400] - desired).abs() < 0.02 * desired, "{}", dcm[400] - zmp[400]);
    }

    #[test]
    fn zmp_that_arrives() {
        let (mut dcm, dt) = (0.01, 1e-4);
        let zmp = zmp_to_reach(dcm, -0.02, 0.3, OMEGA);
        for _ in 0..3000 {
            dcm = zmp + (dcm - zmp) * (OMEGA * dt).exp();
        }
        assert!((dcm + 0.02).abs() < 1e-9);
    }
}
