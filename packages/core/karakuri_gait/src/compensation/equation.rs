//! The equations of the compensating motion: `E (θ'', φ'', ψL'', ψR'')ᵀ = c`.
//!
//! `M_x` and `M_y` about the prescribed ZMP, and with passive arms the moment about the Y axis of each shoulder,
//! vanish. All are affine in the unknown accelerations, so evaluating them at zero and at each unit acceleration
//! gives the system without writing its coefficients out. [Kume 1991]

use nalgebra::{SMatrix, SVector};

use super::mechanics::moment_about;
use super::{Arms, BodyData, BodyMotion, Jet, LEFT, Posture, RIGHT, Reaction, SteadyGait};

/// `(θ, φ, ψL, ψR, θ', φ', ψL', ψR')`; the arms' four are zero unless they are passive. [rad, rad/s] (8)
pub type State = SVector<f64, 8>;

/// Angles beyond this mean that the start is a bad one, and arms that went over the top. [rad]
// Just above a whole turn.
const ABNORMAL: f64 = 6.3;

/// State from `θ, φ, θ', φ'` and the shoulders' angles and rates, left and right. [rad, rad/s]
pub fn state(angles: [f64; 2], rates: [f64; 2], shoulders: [[f64; 2]; 2]) -> State {
    let [angle, rate] = shoulders;
    State::from([angles[0], angles[1], angle[0], angle[1], rates[0], rates[1], rate[0], rate[1]])
}

/// The mirror between one step and the next: `θ` changes sign, the arms change places.
pub fn eta(s: &State) -> State {
    State::from([-s[0], s[1], s[3], s[2], -s[4], s[5], s[7], s[6]])
}

/// The equation to be solved: a body, its gait, the motion of its arms.
#[derive(Debug, Clone, Copy)]
pub struct Equation<'a> {
    /// Lengths and masses.
    pub body: &'a BodyData,
    /// Legs, arms and ZMP.
    pub gait: &'a SteadyGait,
    /// Motion of the shoulders.
    pub arms: Arms,
}

impl Equation<'_> {
    /// Indices of the unknowns in [`State`]. (2 n)
    pub(super) fn indices(&self) -> &'static [usize] {
        if self.arms == Arms::Passive { &[0, 1, 2, 3, 4, 5, 6, 7] } else { &[0, 1, 4, 5] }
    }

    /// The whole posture at a time of the step [s], with the unknown accelerations. [rad/s²] (4)
    pub fn posture(&self, t: f64, state: &State, accelerations: &[f64; 4]) -> Posture {
        let unknown = |i: usize| Jet::new(state[i], state[i + 4], accelerations[i]);
        // Made once, since fixed arms share all three of its parts.
        let pitch = unknown(1);
        Posture {
            sway: unknown(0),
            pitch,
            thigh: self.gait.thigh(t),
            shank: self.gait.shank(t),
            arm: match self.arms {
                Arms::Fixed => [pitch; 2],
                Arms::Active => self.gait.arm(t),
                Arms::Passive => [unknown(2), unknown(3)],
            },
            foot: self.gait.foot(t),
            elbow: self.gait.elbow,
        }
    }

    /// The unknown accelerations; `None` where an angle has grown abnormally or the system is singular. [rad/s²] (4)
    pub fn accelerations(&self, t: f64, state: &State) -> Option<[f64; 4]> {
        // Asked so that NaN is abnormal too.
        if !state.iter().take(4).all(|angle| angle.abs() < ABNORMAL) {
            return None;
        }
        let mut posture = self.posture(t, state, &[0.0; 4]);
        let zmp = self.gait.zmp(t);
        let n = self.arms.n_unknown();
        // `M(a) = M(0) + E a`: the moments at zero accelerations, then column k of E from a unit acceleration.
        let rest = self.moments(&posture, zmp);
        let mut matrix = SMatrix::<f64, 4, 4>::identity();
        for k in 0..n {
            *Self::unknown(&mut posture, k) = 1.0;
            // Fixed arms have no unknown of their own: a unit acceleration of the trunk is theirs as well.
            self.follow(&mut posture);
            let moments = self.moments(&posture, zmp);
            for row in 0..n {
                matrix[(row, k)] = moments[row] - rest[row];
            }
            // Fixed arms keep the trunk's unit until the next column, but k = 1 is the last one there.
            *Self::unknown(&mut posture, k) = 0.0;
        }
        // Rows and columns beyond the unknowns stay those of the identity, so that their accelerations are zero.
        let right = SVector::<f64, 4>::from_fn(|row, _| if row < n { -rest[row] } else { 0.0 });
        let solution = matrix.lu().solve(&right)?;
        Some([solution[0], solution[1], solution[2], solution[3]])
    }

    /// `ds/dt`; `None` as in [`Self::accelerations`].
    pub fn derivative(&self, t: f64, state: &State) -> Option<State> {
        let a = self.accelerations(t, state)?;
        Some(State::from([state[4], state[5], state[6], state[7], a[0], a[1], a[2], a[3]]))
    }

    fn unknown(posture: &mut Posture, k: usize) -> &mut f64 {
        match k {
            0 => &mut posture.sway.acceleration,
            1 => &mut posture.pitch.acceleration,
            _ => &mut posture.arm[k - 2].acceleration,
        }
    }

    /// Makes fixed arms go with the trunk.
    fn follow(&self, posture: &mut Posture) {
        if self.arms == Arms::Fixed {
            posture.arm = [posture.pitch; 2];
        }
    }

    /// Moments that must vanish: the floor's about X and Y, the shoulders' about Y. [N·m] (4)
    fn moments(&self, posture: &Posture, zmp: [f64; 2]) -> [f64; 4] {
        let g = self.body.gravity;
        let (bodies, skeleton) = BodyMotion::all(self.body, posture);
        let [x, y] = Reaction::of_bodies(&bodies, g).moment_about(zmp);
        if self.arms != Arms::Passive {
            return [x, y, 0.0, 0.0];
        }
        let shoulder = |side: usize, first: usize| {
            // Upper arm and forearm: all that a shoulder carries.
            let arm = [bodies[first], bodies[first + 1]];
            moment_about(arm, skeleton.shoulder[side].position(), g)[1]
        };
        [x, y, shoulder(LEFT, 4), shoulder(RIGHT, 6)]
    }
}
