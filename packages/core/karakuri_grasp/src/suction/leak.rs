//! Leak of a lip: air through slits, through porous goods, and through what is open.

use karakuri_model::ATMOSPHERE;

/// Viscosity `η` of air at 20 °C. [Pa·s]
const VISCOSITY: f64 = 1.82e-5;
/// Speed of air from the atmosphere at the narrowest place of a sonic flow, by the atmosphere's density, and the share of a slit's
/// height that flows. [m/s], [-]
const SONIC_SPEED: f64 = 199.0;
const CONTRACTION: f64 = 0.8;

/// A slit below a lip.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Slit {
    /// Laminar flow over `p_a² − p²`. [m³/(s·Pa²)]
    laminar: f64,
    /// Flow at the speed of sound, which is never exceeded. [m³/s]
    sonic: f64,
}

/// Where air comes in.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Leak {
    slits: Vec<Slit>,
    /// Flow over the vacuum, of porous goods. [m³/(s·Pa)]
    porous: f64,
}

impl Leak {
    /// No leak.
    pub fn none() -> Self {
        Self::default()
    }

    /// Adds a slit below an arc of the lip: `w g³ (p_a² − p²)/(24 η L p_a)` with the arc's length `w`, the gap `g` and the lip's width
    /// `L`, at most the sonic flow. [m] (3)
    pub fn add_slit(&mut self, length: f64, gap: f64, width: f64) {
        if length > 0.0 && gap > 0.0 {
            let laminar = length * gap.powi(3) / (24.0 * VISCOSITY * width * ATMOSPHERE);
            let sonic = CONTRACTION * length * gap * SONIC_SPEED;
            self.slits.push(Slit { laminar, sonic });
        }
    }

    /// Adds what flows through a porous object: `k A u`, by its permeance `k` [m/(s·Pa)] and the area `A` [m²] below the cup.
    pub fn add_porous(&mut self, permeance: f64, area: f64) {
        self.porous += permeance * area;
    }

    /// The leak of as many times the openings. [-]
    #[must_use]
    pub fn times(&self, factor: f64) -> Self {
        let times =
            |slit: &Slit| Slit { laminar: factor * slit.laminar, sonic: factor * slit.sonic };
        Self { slits: self.slits.iter().map(times).collect(), porous: factor * self.porous }
    }

    /// Flow at a vacuum [Pa]. [m³/s]
    pub fn flow(&self, vacuum: f64) -> f64 {
        let vacuum = vacuum.clamp(0.0, ATMOSPHERE);
        // p_a² − p² with p = p_a − u.
        let squares = vacuum * (2.0 * ATMOSPHERE - vacuum);
        let slits = self.slits.iter().map(|slit| (slit.laminar * squares).min(slit.sonic));
        slits.sum::<f64>() + self.porous * vacuum
    }
}

#[cfg(test)]
mod tests {
    use approx::assert_relative_eq;

    use super::*;

    const LITRE_PER_MINUTE: f64 = 1e-3 / 60.0;

    /// A lip of 40 mm at 60 kPa: 0.18, 1.46 and 11.7 l/min through 5, 10 and 20 µm.
    #[test]
    fn a_slit_leaks_with_the_cube_of_its_gap() {
        for (gap, flow) in [(5e-6, 0.1824), (10e-6, 1.459), (20e-6, 11.67)] {
            let mut leak = Leak::none();
            leak.add_slit(core::f64::consts::PI * 0.04, gap, 1e-3);
            assert_relative_eq!(leak.flow(60e3), flow * LITRE_PER_MINUTE, max_relative = 2e-3);
        }
    }

    #[test]
    fn a_wide_gap_flows_at_the_speed_of_sound() {
        let mut leak = Leak::none();
        leak.add_slit(0.1, 1e-3, 1e-3);
        assert_relative_eq!(leak.flow(60e3), 0.8 * 0.1 * 1e-3 * 199.0);
        assert!(leak.flow(0.0).abs() < 1e-15);
    }

    #[test]
    fn porous_goods_leak_in_proportion() {
        let mut leak = Leak::none();
        leak.add_porous(2e-6, 1e-3);
        assert_relative_eq!(leak.flow(30e3), 2e-9 * 30e3);
    }

    #[test]
    fn twice_the_openings_leak_twice_as_much() {
        let mut leak = Leak::none();
        leak.add_slit(0.1, 1e-3, 1e-3);
        leak.add_slit(0.1, 5e-6, 1e-3);
        leak.add_porous(2e-6, 1e-3);
        assert_relative_eq!(leak.times(2.0).flow(60e3), 2.0 * leak.flow(60e3));
        assert_eq!(leak.times(1.0), leak);
    }
}
