//! Random robots and states for property tests: the same seed gives the same robot on every machine.

use std::sync::Arc;

use karakuri_model::{
    Base, DofKind, JointKind, JointMotion, JointSpec, LinkSpec, Model, ModelBuilder, Path,
};
use karakuri_spatial::{Inertia, Matrix3, Motion, Pose, Vector3};

/// Generator `SplitMix64`. [Steele et al. 2014, Fig. 10]
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// Generator of this seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Next 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Uniform number in `low..high`.
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        // The upper 53 bits fill the significand of a double.
        let unit = (self.bits() >> 11) as f64 / (1_u64 << 53) as f64;
        low + (high - low) * unit
    }

    /// Uniform integer in `0..n`.
    pub fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.bits() % n.max(1) as u64).unwrap_or(0)
    }

    /// Uniform vector in the cube from -`size` to `size`. (3)
    pub fn vector(&mut self, size: f64) -> Vector3 {
        Vector3::from_fn(|_, _| self.uniform(-size, size))
    }

    /// Uniform direction, by rejection outside the unit ball. (3)
    pub fn unit_vector(&mut self) -> Vector3 {
        loop {
            let v = self.vector(1.0);
            if (0.01..1.0).contains(&v.norm_squared()) {
                return v.normalize();
            }
        }
    }

    /// Unit axis, half the time along x, y or z of either sign, as in most robots' files. (3)
    pub fn axis(&mut self) -> Vector3 {
        let direction = self.unit_vector();
        if self.below(2) == 0 {
            return direction;
        }
        let mut along = Vector3::zeros();
        along[self.below(3)] = direction.x.signum();
        along
    }

    /// Pose of any orientation, with its origin in a cube of half-edge `size`. [m]
    pub fn pose(&mut self, size: f64) -> Pose {
        let axis = self.unit_vector();
        let angle = self.uniform(-3.1, 3.1);
        Pose { translation: self.vector(size), ..Pose::from_axis_angle(&axis, angle) }
    }

    /// Inertia of a mass of 0.1 to 5 kg with the principal moments of a box with edges of 0.05 to 0.5 m, in any orientation.
    pub fn inertia(&mut self) -> Inertia {
        let mass = self.uniform(0.1, 5.0);
        let edges = Vector3::from_fn(|_, _| self.uniform(0.05, 0.5));
        let squares = edges.component_mul(&edges);
        let moments = Vector3::from_fn(|i, _| mass / 12.0 * (squares.sum() - squares[i]));
        let R = self.pose(0.0).rotation;
        let about_com = R * Matrix3::from_diagonal(&moments) * R.transpose();
        // Exactly symmetric, as the six numbers of a file are.
        let about_com = (about_com + about_com.transpose()) * 0.5;
        Inertia { mass, com: self.vector(0.2), about_com }
    }
}

/// Kinds of joints to draw from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Rotation about a random axis.
    Revolute,
    /// Translation along a random axis.
    Prismatic,
    /// Rotation about a point, in three degrees of freedom.
    Spherical,
    /// Motion in a random plane.
    Planar,
    /// Free motion with six degrees of freedom.
    Floating,
    /// Motion along a closed curve, with which the body turns.
    Path,
    /// Custom joint with two degrees of freedom on a curved surface: [`Saddle`].
    Saddle,
    /// Fixed joint: the link is merged into its parent.
    Fixed,
}

/// Joint as a user would write it: the body glides on `z = bend · x y` and turns about z by `x + twist · y²`.
#[derive(Debug, Clone, Copy)]
pub struct Saddle {
    /// Curvature of the surface. [1/m]
    pub bend: f64,
    /// Rate of the turn. [rad/m²]
    pub twist: f64,
}

impl JointMotion for Saddle {
    fn name(&self) -> &'static str {
        "saddle"
    }

    fn dof_kinds(&self) -> &[DofKind] {
        &[DofKind::Length, DofKind::Length]
    }

    fn pose(&self, q: &[f64]) -> Pose {
        let angle = q[0] + self.twist * q[1] * q[1];
        let turned = Pose::from_axis_angle(&Vector3::z(), angle);
        Pose { translation: Vector3::new(q[0], q[1], self.bend * q[0] * q[1]), ..turned }
    }

    fn subspace(&self, q: &[f64], columns: &mut [Motion]) {
        let z = Vector3::z();
        columns[0] = Motion::new(z, Vector3::new(1.0, 0.0, self.bend * q[1]));
        columns[1] =
            Motion::new(z * (2.0 * self.twist * q[1]), Vector3::new(0.0, 1.0, self.bend * q[0]));
    }

    fn subspace_rate(&self, _: &[f64], v: &[f64], columns: &mut [Motion]) {
        let z = Vector3::z();
        columns[0] = Motion::new(Vector3::zeros(), z * (self.bend * v[1]));
        columns[1] = Motion::new(z * (2.0 * self.twist * v[1]), z * (self.bend * v[0]));
    }
}

impl Kind {
    /// Kinds with one degree of freedom.
    pub const ONE_DOF: &[Self] = &[Self::Revolute, Self::Prismatic];
    /// Every kind of joint.
    pub const ALL: &[Self] = &[
        Self::Revolute,
        Self::Prismatic,
        Self::Spherical,
        Self::Planar,
        Self::Floating,
        Self::Path,
        Self::Saddle,
        Self::Fixed,
    ];

    fn joint(self, random: &mut Random) -> Option<JointKind> {
        let axis = random.axis();
        match self {
            Self::Revolute => Some(JointKind::Revolute { axis }),
            Self::Prismatic => Some(JointKind::Prismatic { axis }),
            Self::Spherical => Some(JointKind::Spherical),
            Self::Planar => {
                let y = axis.cross(&random.unit_vector()).normalize();
                Some(JointKind::Planar { x: axis, y })
            }
            Self::Floating => Some(JointKind::Floating),
            Self::Path => {
                let up = axis.cross(&random.unit_vector()).normalize();
                // A bent ring about `up`, so that the tangent is never along it.
                let ring = |i: usize| {
                    let angle = std::f64::consts::TAU * i as f64 / 7.0;
                    let (e, f) = (axis, up.cross(&axis));
                    e * angle.cos() + f * angle.sin() + up * (0.2 * (2.0 * angle).sin())
                };
                let points: Vec<Vector3> = (0..7).map(ring).collect();
                let path = Path::new(&points, true, Some(up)).ok()?;
                Some(JointKind::Custom(Arc::new(path)))
            }
            Self::Saddle => {
                let (bend, twist) = (random.uniform(-1.0, 1.0), random.uniform(-1.0, 1.0));
                Some(JointKind::Custom(Arc::new(Saddle { bend, twist })))
            }
            Self::Fixed => None,
        }
    }
}

/// Random tree of `n` links below the root: each hangs on a random earlier one, with chains and branches alike.
///
/// Link `i` is `link{i}` and its joint `joint{i}`, `i` from 1; the root is `link0`.
///
/// # Panics
/// Never: every tree it draws is valid.
#[expect(clippy::expect_used, reason = "a random robot is valid by construction")]
pub fn random_tree(seed: u64, n: usize, base: Base, kinds: &[Kind]) -> Model {
    let mut random = Random::new(seed);
    let mut builder = ModelBuilder::new(&format!("random{seed}"), base)
        .link(LinkSpec::new("link0", random.inertia()));
    for i in 1..=n {
        // Half of the links continue a chain, the others branch anywhere.
        let parent = if random.below(2) == 0 { i - 1 } else { random.below(i) };
        let kind = kinds[random.below(kinds.len())].joint(&mut random);
        let name = format!("link{i}");
        let joint = JointSpec::new(&format!("joint{i}"), &format!("link{parent}"), &name, kind);
        builder =
            builder.link(LinkSpec::new(&name, random.inertia())).joint(joint.at(random.pose(0.5)));
    }
    builder.build().expect("every joint carries a positive inertia")
}

/// Random position with unit quaternions; other coordinates between -1 and 1. [rad or m] (nq)
pub fn random_position(model: &Model, random: &mut Random) -> Vec<f64> {
    let mut q = random_vector(model.nq, random);
    for joint in &model.joints {
        let quaternion = match joint.kind {
            JointKind::Floating => 3..7,
            JointKind::Spherical => 0..4,
            _ => continue,
        };
        let [x, y, z, w]: [f64; 4] = random.pose(0.0).quaternion().coords.into();
        q[joint.q_start + quaternion.start..joint.q_start + quaternion.end]
            .copy_from_slice(&[x, y, z, w]);
    }
    q
}

/// Uniform numbers between -1 and 1. (n)
pub fn random_vector(n: usize, random: &mut Random) -> Vec<f64> {
    (0..n).map(|_| random.uniform(-1.0, 1.0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_seed_gives_a_valid_robot_and_always_the_same() {
        for seed in 0..50 {
            let model = random_tree(seed, 12, Base::Floating, Kind::ALL);
            assert_eq!(model.frames.len(), 13);
            let again = random_tree(seed, 12, Base::Floating, Kind::ALL);
            assert_eq!(format!("{model:?}"), format!("{again:?}"));
            let q = random_position(&model, &mut Random::new(seed));
            assert_eq!(q.len(), model.nq);
        }
    }
}
