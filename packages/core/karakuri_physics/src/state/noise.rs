//! Noise of sensors: white, a bias drawn once, and a bias that walks.
//!
//! A reading is the mean over a step `h`, so white noise of density `n` has the deviation `n/√h` in it, and a bias that
//! walks with density `w` moves by `w √h` a step. Every sensor has a source of its own, which a snapshot keeps: a run
//! repeats bit by bit, and sensors do not disturb each other. [Steele et al. 2014] [Box 1958]

use karakuri_model::{Noise, SensorNoise};
use karakuri_spatial::{Force, UnitQuaternion, Vector3};

use crate::state::imu::Imu;

/// Noise of one sensor, with its state.
#[derive(Debug, Clone)]
pub(crate) struct NoiseSource {
    noise: SensorNoise,
    random: Gaussian,
    /// Biases of angular, linear and orientation readings. (3 × 3)
    biases: [Vector3; 3],
}

impl NoiseSource {
    /// `index` of the sensor keeps equal seeds of two sensors apart.
    pub(crate) fn new(noise: SensorNoise, index: usize) -> Self {
        let mut random = Gaussian::new(noise.seed, index);
        let kinds = [noise.angular, noise.linear, noise.orientation];
        // One draw for the whole run: the bias of switching on.
        let biases = kinds.map(|kind| random.vector() * kind.bias);
        Self { noise, random, biases }
    }

    /// Disturbance of a reading that is the mean over `h`; lets the bias walk.
    fn next(&mut self, kind: usize, noise: &Noise, h: f64) -> Vector3 {
        // White noise averaged over h has the deviation `n/√h`; before the walk, so that a reading has the bias of its start.
        let added = self.biases[kind] + self.random.vector() * (noise.white / h.sqrt());
        self.biases[kind] += self.random.vector() * (noise.walk * h.sqrt());
        added
    }

    pub(crate) fn disturb_imu(&mut self, reading: &mut Imu, h: f64) {
        let noise = self.noise;
        reading.angular_velocity += self.next(0, &noise.angular, h);
        reading.linear_acceleration += self.next(1, &noise.linear, h);
        let turn = self.next(2, &noise.orientation, h);
        // No disturbance leaves the bits of the reading.
        if turn != Vector3::zeros() {
            reading.orientation *= UnitQuaternion::from_scaled_axis(turn);
        }
    }

    pub(crate) fn disturb_wrench(&mut self, reading: &mut Force, h: f64) {
        let noise = self.noise;
        reading.moment += self.next(0, &noise.angular, h);
        reading.force += self.next(1, &noise.linear, h);
    }
}

/// Normal deviates of deviation 1.
#[derive(Debug, Clone, Copy)]
struct Gaussian {
    state: u64,
    spare: Option<f64>,
}

impl Gaussian {
    fn new(seed: u64, stream: usize) -> Self {
        let mut start = Self { state: seed, spare: None };
        let scattered = start.bits();
        // Scattered before the index goes in, so that small seeds and small indices do not meet.
        Self { state: scattered ^ (stream as u64).wrapping_mul(0xd1b5_4a32_d192_ed03), spare: None }
    }

    fn bits(&mut self) -> u64 {
        // SplitMix64. [Steele et al. 2014]
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A uniform number in (0, 1].
    fn uniform(&mut self) -> f64 {
        // 53 bits, as many as the mantissa has; above 0, whose logarithm is infinite.
        ((self.bits() >> 11) as f64 + 1.0) / (1_u64 << 53) as f64
    }

    fn next(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        // Two deviates of two uniform numbers; the second waits for the next call. [Box 1958]
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        let (sin, cos) = (std::f64::consts::TAU * self.uniform()).sin_cos();
        self.spare = Some(radius * sin);
        radius * cos
    }

    fn vector(&mut self) -> Vector3 {
        let (x, y, z) = (self.next(), self.next(), self.next());
        Vector3::new(x, y, z)
    }
}
