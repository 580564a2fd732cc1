//! Surfaces, and the law of two of them together.
//!
//! A pair of surfaces has two coefficients of Coulomb friction (of sticking and of sliding, no curve between), a coefficient
//! of restitution, and two lengths: at a contact point with the normal force `N` the moment about the normal is at
//! most `spinning · N`, the moment about the tangents at most `rolling · N`. Each number of a pair is mixed by a rule from those
//! of the two surfaces, unless the pair of their materials has numbers of its own.
//!
//! A ball of radius `R` that rolls slows down by `(5/7) g · rolling / R`; a length is half the width of the patch over
//! which the pressure is uneven, so it belongs to the pair of materials, not to the shape. The limits of spinning, rolling and
//! sliding are apart: a sliding contact keeps the whole of its moment about the normal. Those of a soft finger are not: there a
//! surface that holds half of one can hold `√3/2` of the other.
//!
//! A surface is rigid unless it has a [`Bumper`]: then a patch of contact is a spring and a damper along its normal, backward
//! Euler as the limits of joints, so any stiffness is stable at any step. The points of a patch share them, and two soft
//! surfaces are two springs one behind the other. A soft pair bounces by its spring: it has no restitution.

use karakuri_model::Bumper;

use crate::errors::WorldError;

/// Material law of a surface.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Surface {
    /// Coulomb coefficient of sticking. [-]
    pub friction: f64,
    /// Coulomb coefficient of sliding, at most [`Self::friction`]. [-]
    pub dynamic_friction: f64,
    /// Coefficient of restitution. [-]
    pub restitution: f64,
    /// Moment against rolling for a unit of normal force. [m]
    pub rolling: f64,
    /// Moment against spinning about the normal for a unit of normal force. [m]
    pub spinning: f64,
    /// Whether friction and spinning share one limit, an ellipse; see [`crate::solver::SoftFinger`].
    pub soft_finger: bool,
    /// Spring and damper of a patch of contact along its normal; rigid without.
    pub bumper: Option<Bumper>,
}

impl Surface {
    /// One coefficient of friction, no resistance to rolling and spinning.
    pub fn plain(friction: f64, restitution: f64) -> Self {
        Self { friction, dynamic_friction: friction, restitution, ..Self::default() }
    }
}

/// Rule by which a number of a pair comes from those of its surfaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mix {
    /// The smaller of both.
    Min,
    /// The larger of both.
    Max,
    /// Arithmetic mean `(a + b) / 2`.
    Mean,
    /// Geometric mean `√(a b)`.
    GeometricMean,
    /// Product `a b`.
    Product,
}

impl Mix {
    /// All rules, in the order of their declaration.
    pub const ALL: [Self; 5] =
        [Self::Min, Self::Max, Self::Mean, Self::GeometricMean, Self::Product];

    /// Name in scene files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Min => "min",
            Self::Max => "max",
            Self::Mean => "mean",
            Self::GeometricMean => "geometric_mean",
            Self::Product => "product",
        }
    }

    /// The rule of this name.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mix| mix.name() == name)
    }

    /// Number of a pair with those of its surfaces.
    pub fn of(self, a: f64, b: f64) -> f64 {
        match self {
            Self::Min => a.min(b),
            Self::Max => a.max(b),
            Self::Mean => 0.5 * (a + b),
            Self::GeometricMean => (a * b).sqrt(),
            Self::Product => a * b,
        }
    }
}

/// The rules of a world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mixing {
    /// Rule of both coefficients of friction.
    pub friction: Mix,
    /// Rule of restitution.
    pub restitution: Mix,
    /// Rule of the rolling lengths.
    pub rolling: Mix,
    /// Rule of the spinning lengths.
    pub spinning: Mix,
}

impl Default for Mixing {
    /// Friction by the geometric mean, restitution and the lengths by the larger.
    fn default() -> Self {
        Self {
            friction: Mix::GeometricMean,
            restitution: Mix::Max,
            rolling: Mix::Max,
            spinning: Mix::Max,
        }
    }
}

impl Mixing {
    /// Surface of a pair by the rules.
    pub fn of(&self, a: &Surface, b: &Surface) -> Surface {
        let bumper = in_series(a.bumper, b.bumper);
        let restitution = self.restitution.of(a.restitution, b.restitution);
        Surface {
            friction: self.friction.of(a.friction, b.friction),
            // By the same rule, all of which are monotone: what slides is never held by more than what sticks.
            dynamic_friction: self.friction.of(a.dynamic_friction, b.dynamic_friction),
            // Its spring gives back already: with a restitution as well it would do so twice.
            restitution: if bumper.is_some() { 0.0 } else { restitution },
            rolling: self.rolling.of(a.rolling, b.rolling),
            spinning: self.spinning.of(a.spinning, b.spinning),
            // One soft side makes a patch of the contact.
            soft_finger: a.soft_finger || b.soft_finger,
            bumper,
        }
    }
}

/// Two bumpers that bear the same force: each is compressed by its share of the whole, and the dampers dissipate what they do
/// in those shares. Exact where the force of the dampers is small against that of the springs, or the two are of one time
/// constant.
fn in_series(a: Option<Bumper>, b: Option<Bumper>) -> Option<Bumper> {
    let (Some(a), Some(b)) = (a, b) else { return a.or(b) };
    let share = b.stiffness / (a.stiffness + b.stiffness); // of a
    // Rates share as compressions do, so the power of a damper goes by its share squared.
    let damping = a.damping * share * share + b.damping * (1.0 - share) * (1.0 - share);
    Some(Bumper { stiffness: a.stiffness * share, damping })
}

/// Names a material of a world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MaterialId(pub(crate) usize);

/// The materials of a world, its rules, and the pairs that have numbers of their own.
#[derive(Debug, Clone, Default)]
pub(crate) struct Materials {
    pub(crate) mixing: Mixing,
    pub(crate) named: Vec<(String, Surface)>,
    /// The smaller id first, ascending.
    pub(crate) pairs: Vec<([MaterialId; 2], Surface)>,
}

pub(crate) fn sorted(a: MaterialId, b: MaterialId) -> [MaterialId; 2] {
    [a.min(b), a.max(b)]
}

/// Refuses what no surface has.
pub(crate) fn check(name: &str, surface: &Surface) -> Result<(), WorldError> {
    let Surface { friction, dynamic_friction, restitution, rolling, spinning, .. } = *surface;
    let numbers = [friction, dynamic_friction, restitution, rolling, spinning];
    let refuse = |reason| Err(WorldError::Material { name: name.to_owned(), reason });
    if !numbers.iter().all(|x| x.is_finite() && *x >= 0.0) {
        return refuse("a number is negative or not finite; give numbers from 0");
    }
    if let Some(Bumper { stiffness, damping }) = surface.bumper {
        if !(stiffness > 0.0 && stiffness.is_finite() && damping >= 0.0 && damping.is_finite()) {
            return refuse(
                "its stiffness is not above 0 or its damping below 0; leave both out for a rigid surface",
            );
        }
        if restitution > 0.0 {
            return refuse(
                "it has a stiffness and a restitution; a soft surface bounces by its spring, leave one out",
            );
        }
    }
    if dynamic_friction > friction {
        return refuse(
            "`dynamic_friction` is above `friction`; what slides is held by no more than what sticks",
        );
    }
    Ok(())
}
