//! The passive resistance of a human joint: it grows exponentially towards both ends of its range.
//!
//! `τ = a e^{r (q₀ − q)}` at the lower end, `−a e^{r (q − q₀)}` at the upper, and `−c v`. Beyond forty growth lengths
//! an exponential goes on as its tangent, so that every effort is finite. [Davy 1987]

use std::sync::Arc;

use super::law::{MotorLaw, MotorResponse, MotorState, gain, positive};
use crate::yaml::{Fields, Reader};

/// Exponent beyond which the tangent is taken. [-]
// e⁴⁰ is 2e17: no joint gets there, but a trial step may, and `e^x` overflows at 710.
const STEEPEST: f64 = 40.0;

/// An exponential law.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Exponential {
    /// Resistance towards small positions.
    pub lower: Option<End>,
    /// Resistance towards large positions.
    pub upper: Option<End>,
    /// Damping `c`. [N·m·s/rad or N·s/m]
    pub damping: f64,
}

/// One end of the range.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct End {
    /// Position at which the resistance is `effort`. [rad or m]
    pub at: f64,
    /// Resistance at that position. [N·m or N]
    pub effort: f64,
    /// Growth of the exponent with depth. [1/rad or 1/m]
    pub rate: f64,
}

impl End {
    /// Magnitude and slope at a depth beyond `at`. [N·m or N], [N·m/rad or N/m]
    fn resist(&self, depth: f64) -> (f64, f64) {
        // a e^{r d} up to the steepest exponent, its tangent beyond.
        let exponent = self.rate * depth;
        let beyond = (exponent - STEEPEST).max(0.0);
        let grown = self.effort * (exponent - beyond).exp();
        // Tangent and slope meet the exponential at e⁴⁰, so that Newton's method of the step sees no kink.
        (grown * (1.0 + beyond), grown * self.rate)
    }
}

impl MotorLaw for Exponential {
    fn name(&self) -> &'static str {
        "exponential"
    }

    fn respond(&self, at: &MotorState) -> MotorResponse {
        let (lower, lower_slope) =
            self.lower.map_or((0.0, 0.0), |end| end.resist(end.at - at.position));
        let (upper, upper_slope) =
            self.upper.map_or((0.0, 0.0), |end| end.resist(at.position - end.at));
        MotorResponse {
            // Both ends push inwards.
            effort: lower - upper - self.damping * at.velocity,
            // `−∂τ/∂q` of both is positive, so the implicit step is stable however steep they are.
            stiffness: lower_slope + upper_slope,
            damping: self.damping,
        }
    }
}

pub(super) fn read(reader: &mut Reader<'_>, fields: &Fields<'_>) -> Option<Arc<dyn MotorLaw>> {
    let mut end = |key: &str| {
        let Some((node, path)) = fields.get(key) else { return Some(None) };
        let fields = reader.fields(node, &path, &["at", "effort", "rate"]);
        let (at_node, at_path) = reader.required(&fields, "at", "1.2 # rad or m")?;
        let at = reader.number(at_node, &at_path, &(-1e6..=1e6), "rad or m")?;
        let effort = positive(reader, &fields, "effort", "N·m or N")?;
        let rate = positive(reader, &fields, "rate", "1/rad or 1/m")?;
        Some(Some(End { at, effort, rate }))
    };
    let (lower, upper) = (end("lower")?, end("upper")?);
    let damping = gain(reader, fields, "damping", "N·m·s/rad or N·s/m");
    Some(Arc::new(Exponential { lower, upper, damping }))
}
