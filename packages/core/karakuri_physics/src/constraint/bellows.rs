//! Bellows of suction cups: springs without mass in series with a lip.
//!
//! The lip's frame has a displacement and a rotation vector against where it is without force, along the axes of that free
//! frame: the coordinates `x` of six springs with dampers, the one along the axis with a stop. By backward Euler their
//! impulses `λ = −h (k (x + h ẋ) + c ẋ)` belong to the rates `ẋ = e − r λ`, `e = −k x/(h k + c)`, `r = 1/(h (h k + c))`.
//! A lip whose cup and object move against each other by `u` then moves on the surface by `u − ẋ`: its rows are those of a
//! rigid lip with the compliance `r` in series and the desired velocity `e`. As in [`super::bushing`], the moments about a
//! rotation vector are conjugate to it.
//!
//! The vacuum works on the volume that it encloses, which a tilt of the lip about its centre and a shear leave as they are: on lip and
//! object together it pulls along the cup's axis, whatever their tilt, and gives no energy around a cycle. The object is pulled along its own normal;
//! the rest, `V (n − z)`, is what the walls press the lip with.

use karakuri_model::Bellows;
use karakuri_spatial::{Matrix3, Pose, UnitQuaternion, Vector3};

use super::bushing::rate_axes;
use super::spring::SoftLaw;

/// An impulse or a way this near to the stop, relatively, is at it. [-]
const AT_STOP: f64 = 1e-9;

/// Reason why bellows cannot be.
pub(crate) fn unusable(bellows: &Bellows) -> Option<&'static str> {
    let positive = |x: f64| x.is_finite() && x > 0.0;
    let Bellows { axial, lateral, tilt, torsion, damping, stroke } = *bellows;
    if ![axial, lateral, tilt, torsion].into_iter().all(positive) {
        return Some(
            "a stiffness of its bellows is not positive; give N/m along and across, N·m/rad for tilt and torsion",
        );
    }
    if !positive(stroke) {
        return Some("the stroke of its bellows is not positive; give a length in m");
    }
    if !damping.is_finite() || damping < 0.0 {
        return Some("the damping of its bellows is negative or not finite; give a time from 0 s");
    }
    None
}

/// Stiffness of rotations and of displacements. [N·m/rad, N/m] (3, 3)
fn stiffness(bellows: &Bellows) -> [Vector3; 2] {
    let Bellows { axial, lateral, tilt, torsion, .. } = *bellows;
    [Vector3::new(tilt, tilt, torsion), Vector3::new(lateral, lateral, axial)]
}

/// Where a lip is against its free frame, along the axes of that.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Deflection {
    /// Rotation vector. [rad] (3)
    pub(crate) turn: Vector3,
    /// Displacement. [m] (3)
    pub(crate) shift: Vector3,
}

impl Deflection {
    /// Deflection of a lip with this pose in its free frame.
    fn of(X_CL: &Pose) -> Self {
        Self { turn: X_CL.quaternion().scaled_axis(), shift: X_CL.translation }
    }

    /// Energy of the bellows. [J]
    fn energy(&self, bellows: &Bellows) -> f64 {
        let [turning, moving] = stiffness(bellows);
        let square = |k: Vector3, x: Vector3| 0.5 * k.dot(&x.component_mul(&x));
        square(turning, self.turn) + square(moving, self.shift)
    }

    /// Pose of the lip in its free frame.
    pub(crate) fn pose(&self) -> Pose {
        let turn = UnitQuaternion::from_scaled_axis(self.turn);
        Pose::from_quaternion(&turn, self.shift)
    }
}

/// Three springs in series with a block of rows: their coordinates change by `ẋ = e − r (Tᵀ λ − p)`.
#[derive(Debug, Clone, Copy)]
struct Series {
    /// Rates `e` without impulses. [m/s or rad/s] (3)
    free: Vector3,
    /// Compliances `r`. [1/kg or 1/(kg·m²)] (3)
    compliance: Vector3,
    /// `T`: from rates of the coordinates to those along the rows. (3×3)
    rows: Matrix3,
    /// Impulses `p` of the vacuum on the lip beside the springs. [N·s or N·m·s] (3)
    walls: Vector3,
}

impl Series {
    /// Springs of these stiffnesses, deflected by so much. [N/m or N·m/rad] (3), [m or rad] (3)
    fn new(stiffness: Vector3, damping: f64, deflection: Vector3, h: f64) -> Self {
        let (mut free, mut compliance) = (Vector3::zeros(), Vector3::zeros());
        for k in 0..3 {
            let law = SoftLaw { stiffness: stiffness[k], damping: damping * stiffness[k] };
            let row = law.row(deflection[k], h);
            (free[k], compliance[k]) = (row.target, row.compliance);
        }
        Self { free, compliance, rows: Matrix3::identity(), walls: Vector3::zeros() }
    }

    /// Impulses of the springs. (3)
    fn impulses(&self, impulse: &Vector3) -> Vector3 {
        self.rows.tr_mul(impulse) - self.walls
    }

    /// Rates of the coordinates. (3)
    fn rates(&self, impulse: &Vector3) -> Vector3 {
        self.free - self.compliance.component_mul(&self.impulses(impulse))
    }
}

/// What a block of a lip on bellows has beyond that of a rigid lip.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Yielding {
    /// Desired velocity. [m/s or rad/s] (3)
    pub(crate) bias: Vector3,
    /// Compliance in series. [1/kg or 1/(kg·m²)] (3×3)
    pub(crate) series: Matrix3,
}

/// Slip of a lip in the last step.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slip {
    /// Whether it slid along the surface, and whether it turned on it.
    pub(crate) slid: bool,
    pub(crate) turned: bool,
}

/// Bellows with their state.
#[derive(Debug, Clone)]
pub(crate) struct BellowsState {
    bellows: Bellows,
    /// Deflection at the start of the step, and at its end.
    now: Deflection,
    next: Deflection,
    /// Springs of the rotations and of the displacements in the step.
    series: [Series; 2],
    /// Whether the lip has left the surface.
    is_open: bool,
    /// Whether the stop is met.
    at_stop: bool,
    /// Distance of the lip from the surface at the start of the step. [m]
    gap: f64,
    /// Impulse of the stop, beside the spring, in the step. [N·s]
    stop_impulse: f64,
    /// Works of the dampers in the step: translation, rotation. [J] (2)
    pub(crate) damper_works: [f64; 2],
}

impl BellowsState {
    /// Bellows whose lip has this pose in its free frame.
    pub(crate) fn new(bellows: Bellows, X_CL: &Pose) -> Self {
        let now = Deflection::of(X_CL);
        let rigid = Series {
            free: Vector3::zeros(),
            compliance: Vector3::zeros(),
            rows: Matrix3::identity(),
            walls: Vector3::zeros(),
        };
        Self {
            bellows,
            now,
            next: now,
            series: [rigid; 2],
            is_open: false,
            at_stop: false,
            gap: 0.0,
            stop_impulse: 0.0,
            damper_works: [0.0; 2],
        }
    }

    /// Deflection at the start of the step. [rad; m] (6)
    pub(crate) fn deflection(&self) -> &Deflection {
        &self.now
    }

    /// Deflection with the anchor at this pose in the free frame, and the distance of the lip from the surface. [m]
    pub(crate) fn deflection_at(&self, X_CA: &Pose, slip: Slip) -> (Deflection, f64) {
        // What sticks has the pose of its anchor: no rounding adds up.
        let mut deflection = Deflection::of(X_CA);
        if slip.turned {
            deflection.turn = self.next.turn;
        }
        let normal = X_CA.rotation.column(2).into_owned();
        let off = deflection.shift - self.next.shift;
        let away = normal * normal.dot(&off);
        if slip.slid {
            deflection.shift -= off - away;
        }
        let gap = if self.is_open { normal.dot(&off).max(0.0) } else { 0.0 };
        deflection.shift -= normal * gap;
        (deflection, gap)
    }

    /// Energy with the anchor at this pose in the free frame. [J]
    pub(crate) fn energy_at(&self, X_CA: &Pose, slip: Slip) -> f64 {
        self.deflection_at(X_CA, slip).0.energy(&self.bellows)
    }

    /// Begins a step with the anchor at this pose in the free frame: what both blocks have beyond a rigid lip's, translation
    /// and rotation, below a vacuum. Rows are along the normal and the tangents of the anchor. Force [N], time step [s].
    pub(crate) fn begin(&mut self, X_CA: &Pose, slip: Slip, vacuum: f64, h: f64) -> [Yielding; 2] {
        (self.now, self.gap) = self.deflection_at(X_CA, slip);
        let Bellows { damping, stroke, .. } = self.bellows;
        let [turning, moving] = stiffness(&self.bellows);
        let [mut turn, mut shift] = [(turning, self.now.turn), (moving, self.now.shift)]
            .map(|(k, x)| Series::new(k, damping, x, h));
        if self.at_stop {
            shift.compliance.z = 0.0;
            shift.free.z = -(stroke + self.now.shift.z).max(0.0) / h;
        }
        let R = &X_CA.rotation;
        let rows = Matrix3::from_columns(&[R.column(2), R.column(0), R.column(1)]).transpose();
        shift.rows = rows;
        shift.walls = (R.column(2) - Vector3::z()) * (h * vacuum);
        // `ω = J φ̇` in the free frame; `rate_axes` is `J⁻ᵀ`. It has no inverse at a full turn only.
        let axes = rate_axes(&self.now.turn).try_inverse().unwrap_or_else(Matrix3::identity);
        turn.rows = rows * axes.transpose();
        self.series = [turn, shift];
        let mut yielding = [shift, turn].map(|Series { free, compliance, rows, walls }| Yielding {
            bias: rows * (free + compliance.component_mul(&walls)),
            series: rows * Matrix3::from_diagonal(&compliance) * rows.transpose(),
        });
        // A gap may be closed within the step.
        yielding[0].bias.x -= self.gap / h;
        yielding
    }

    /// Depth beyond the stop. [m]
    pub(crate) fn beyond_stop(&self) -> f64 {
        if self.at_stop { (-self.bellows.stroke - self.now.shift.z).max(0.0) } else { 0.0 }
    }

    /// Meets the stop or leaves it, by the impulse of the lip; whether that changed. [N·s] (3), [s]
    pub(crate) fn meet_stop(&mut self, impulse: &Vector3, h: f64) -> bool {
        let was = self.at_stop;
        self.at_stop = if was {
            // Less than what the spring gives there takes it off the stop.
            let series = &self.series[1];
            series.impulses(impulse).z >= self.spring_at_stop(h) * (1.0 - AT_STOP)
        } else {
            let end = self.now.shift.z + h * self.series[1].rates(impulse).z;
            end < -self.bellows.stroke * (1.0 + AT_STOP)
        };
        self.at_stop != was
    }

    /// Impulse of the spring along the axis in a step that ends at the stop. [N·s], [s]
    fn spring_at_stop(&self, h: f64) -> f64 {
        let Bellows { axial, damping, .. } = self.bellows;
        let rate = self.series[1].free.z;
        -h * axial * (self.now.shift.z + h * rate + damping * rate)
    }

    /// Work of the stop in the step, with the mean relative velocity along the lip's rows. [J], [m/s] (3)
    pub(crate) fn stop_work(&self, mean: &Vector3) -> f64 {
        self.stop_impulse * self.series[1].rows.tr_mul(mean).z
    }

    /// Ends a step with the impulses of translation. [N·s] (3), [s]
    pub(crate) fn end_translation(&mut self, impulse: &Vector3, h: f64) {
        let rates = self.series[1].rates(impulse);
        self.next.shift = self.now.shift + rates * h;
        self.is_open = impulse.x <= 0.0;
        self.damper_works[0] = self.damping_of(1, &rates, h);
        let at_axis = self.series[1].impulses(impulse).z;
        self.stop_impulse = if self.at_stop { at_axis - self.spring_at_stop(h) } else { 0.0 };
    }

    /// Ends a step with the impulses of rotation. [N·m·s] (3), [s]
    pub(crate) fn end_rotation(&mut self, impulse: &Vector3, h: f64) {
        let rates = self.series[0].rates(impulse);
        self.next.turn = self.now.turn + rates * h;
        self.damper_works[1] = self.damping_of(0, &rates, h);
    }

    /// The lip comes off: what the bellows hold swings out in them.
    pub(crate) fn let_go(&mut self) {
        self.damper_works[0] -= self.next.energy(&self.bellows);
    }

    /// Work of the vacuum on the lip beside the springs, with the impulse of the lip. [J]
    pub(crate) fn wall_work(&self, impulse: &Vector3) -> f64 {
        self.series[1].walls.dot(&self.series[1].rates(impulse))
    }

    fn damping_of(&self, part: usize, rates: &Vector3, h: f64) -> f64 {
        let stiffness = stiffness(&self.bellows)[part];
        -h * self.bellows.damping * stiffness.dot(&rates.component_mul(rates))
    }
}
