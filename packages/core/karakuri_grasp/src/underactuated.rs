//! A finger of two phalanges on one drive: ratio of its four-bar, contact forces, and whether it pinches.
//!
//! Joint 1 carries the first phalanx and, beside it, the drive link; a coupler goes from the drive link's end to an arm of the second phalanx.
//! With the first phalanx as ground these are a four-bar: the ends of the coupler move equally fast along it. Where its line cuts that of the first
//! phalanx, at the distance h beyond joint 2 away from joint 1, the drive link and the second phalanx move alike: `h θ̇₂ = (h + l₁)(θ̇_a − θ̇₁)`, or
//!
//! `θ̇_a = θ̇₁ + ρ θ̇₂`, `ρ = h/(h + l₁)`.
//!
//! Forces f₁ and f₂ press on the phalanges at right angles, at k₁ from joint 1 and k₂ from joint 2. The drive's torque `T_a` closes the finger, a
//! spring's `T₂` opens joint 2. By virtual work `T_a θ̇_a − T₂ θ̇₂ = f₁ k₁ θ̇₁ + f₂ (k₂ (θ̇₁ + θ̇₂) + l₁ cos θ₂ θ̇₁)`, for any θ̇₁ and θ̇₂:
//!
//! * `f₂ = (ρ T_a − T₂)/k₂`;
//! * `f₁ = (T_a (k₂ (1 − ρ) − ρ l₁ cos θ₂) + T₂ (k₂ + l₁ cos θ₂))/(k₁ k₂)`.
//!
//! Where f₁ is negative the first phalanx leaves its contact. [Birglen 2008, ch. 3 and 4]
//!
//! Units: SI. Angles and torques are positive the way the finger closes. Statics without friction and weight; bars that do not yield.

/// A finger whose second phalanx is driven through a four-bar.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UnderactuatedFinger {
    /// Length l₁ of the first phalanx, from joint 1 to joint 2. [m]
    pub first_phalanx: f64,
    /// Length of the drive link, from joint 1 to the coupler. [m]
    pub drive_link: f64,
    /// Length of the coupler. [m]
    pub coupler: f64,
    /// Length of the second phalanx's arm, from joint 2 to the coupler. [m]
    pub arm: f64,
    /// Angle from the second phalanx to its arm: negative where the bars are at the finger's back. [rad]
    pub arm_angle: f64,
}

impl UnderactuatedFinger {
    /// The finger with its second phalanx bent by `bend` against the first, θ₂ [rad]. The four-bar is assembled so that both of its bars are on one
    /// side of the straight finger; `None` where it does not close, or is at a dead point.
    pub fn at(&self, bend: f64) -> Option<BentFinger> {
        // In the frame of the first phalanx: x along it from joint 1, y the way it closes.
        let (sin, cos) = (bend + self.arm_angle).sin_cos();
        let arm = [self.arm * cos, self.arm * sin];
        let end = [self.first_phalanx + arm[0], arm[1]];
        // The triangle of joint 1 and the coupler's ends.
        let (reach, link) = (end[0].hypot(end[1]), self.drive_link);
        let cos_at_joint =
            (link.powi(2) + reach.powi(2) - self.coupler.powi(2)) / (2.0 * link * reach);
        // At ±1 the drive link is in line with the coupler, and the second phalanx cannot move it.
        if cos_at_joint.is_nan() || cos_at_joint.abs() >= 1.0 {
            return None;
        }
        let turn = cos_at_joint.acos().copysign(self.arm_angle.sin());
        let drive_angle = end[1].atan2(end[0]) + turn;
        let start = [link * drive_angle.cos(), link * drive_angle.sin()];
        // Levers of the coupler's line about joints 2 and 1 are as h and h + l₁; at infinite h they are equal.
        let along = [end[0] - start[0], end[1] - start[1]];
        let lever = |at: [f64; 2]| at[0] * along[1] - at[1] * along[0];
        let ratio = lever(arm) / lever(start);
        Some(BentFinger { first_phalanx: self.first_phalanx, bend, drive_angle, ratio })
    }
}

/// An underactuated finger at an angle of its second phalanx.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BentFinger {
    /// Length l₁ of the first phalanx, from joint 1 to joint 2. [m]
    pub first_phalanx: f64,
    /// Angle θ₂ from the first phalanx to the second. [rad]
    pub bend: f64,
    /// Angle `θ_a − θ₁` from the first phalanx to the drive link. [rad]
    pub drive_angle: f64,
    /// Ratio ρ: how fast the drive link turns by how fast the second phalanx does, both against the first. [-]
    pub ratio: f64,
}

/// What moves an underactuated finger.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FingerTorques {
    /// Torque `T_a` of the drive on its link. [N·m]
    pub drive: f64,
    /// Torque `T₂` of the spring that opens joint 2. [N·m]
    pub spring: f64,
}

impl BentFinger {
    /// Forces of the first and the second phalanx on what they touch, at `contacts` from joints 1 and 2 [m] (2). A negative one is a pull, which no
    /// contact bears: the phalanx leaves. [N] (2)
    pub fn forces(&self, contacts: [f64; 2], torques: &FingerTorques) -> [f64; 2] {
        let [k1, k2] = contacts;
        let second = (self.ratio * torques.drive - torques.spring) / k2;
        // About joint 1 the drive alone has a moment from outside the finger.
        let first = (torques.drive - second * self.lever(k2)) / k1;
        [first, second]
    }

    /// Torque by which a stop at this bend keeps joint 2 from opening further while the second phalanx alone presses, at `contact` from joint 2
    /// [m]: `T_a (k₂/(k₂ + l₁ cos θ₂) − ρ) + T₂`. [N·m]
    pub fn stop_torque(&self, contact: f64, torques: &FingerTorques) -> f64 {
        let force = torques.drive / self.lever(contact);
        force * contact - self.ratio * torques.drive + torques.spring
    }

    /// Whether the second phalanx alone pinches with its stop at this bend; else it curls off its stop. Without a spring and straight, for
    /// `k₂/(k₂ + l₁) ≥ ρ`. `contact` is the distance from joint 2 [m].
    pub fn pinch_holds(&self, contact: f64, torques: &FingerTorques) -> bool {
        self.stop_torque(contact, torques) >= 0.0
    }

    /// Lever of the second phalanx's force about joint 1. [m]
    fn lever(&self, contact: f64) -> f64 {
        contact + self.first_phalanx * self.bend.cos()
    }
}

#[cfg(test)]
mod tests;
