//! Free rigid bodies: six velocities at the centre of mass, in world axes.

use karakuri_collision::ColliderShape;
use karakuri_model::Shape;
use karakuri_spatial::{Force, Matrix3, Motion, Pose, UnitQuaternion, Vector3, skew};

use crate::errors::WorldError;
use crate::state::extent::significant_spin_speed;
use crate::state::prescribed_bodies::Course;

/// Most rounds of Newton's method for the gyroscopic moment.
const GYROSCOPIC_ROUNDS: usize = 8;
/// Relative change at which they stop, squared.
const GYROSCOPIC_TOLERANCE: f64 = 1e-31;

/// What a free or fixed body is made of.
#[derive(Debug, Clone, PartialEq)]
pub struct BodyDescription {
    /// Name, unique in the world.
    pub name: String,
    /// Shape, centred on the centre of mass.
    pub shape: Shape,
    /// [kg]
    pub mass: f64,
    /// Inertia about the centre of mass in the body's axes; `None`: of the solid shape. [kg·m²] (3×3)
    pub inertia: Option<Matrix3>,
    /// Pose `X_WB`.
    pub pose: Pose,
    /// Angular and linear velocity at the centre of mass, in world axes. [rad/s; m/s]
    pub velocity: Motion,
    /// Coulomb friction coefficient. [-]
    pub friction: f64,
    /// Coefficient of restitution. [-]
    pub restitution: f64,
    /// A fixed body never moves.
    pub fixed: bool,
    /// RGBA, 0 to 1.
    pub color: [f32; 4],
}

impl BodyDescription {
    /// A free solid body at rest; friction 0.5, no restitution, white. Mass in kg, pose `X_WB`.
    pub fn new(name: impl Into<String>, shape: Shape, mass: f64, pose: Pose) -> Self {
        Self {
            name: name.into(),
            shape,
            mass,
            inertia: None,
            pose,
            velocity: Motion::default(),
            friction: 0.5,
            restitution: 0.0,
            fixed: false,
            color: [1.0; 4],
        }
    }
}

/// A body in the world.
#[derive(Debug, Clone)]
pub(crate) struct Body {
    pub(crate) description: BodyDescription,
    /// Centre of mass in the shape's frame, whose axes are the body's. [m] (3)
    pub(crate) center_of_mass: Vector3,
    pub(crate) rotation: UnitQuaternion,
    pub(crate) pose: Pose,
    pub(crate) velocity: Motion,
    /// In the body's axes. [kg·m²] (3×3)
    pub(crate) inertia: Matrix3,
    inverse_inertia: Matrix3,
    /// In world axes. (3×3)
    pub(crate) inverse_inertia_world: Matrix3,
    /// First entry in the world's velocity vector: linear, then angular.
    pub(crate) start: usize,
    /// Wrench of the surroundings in this step, about the centre of mass, in world axes.
    pub(crate) applied: Force,
    /// How long it has been slow. [s]
    pub(crate) rested: f64,
    /// First body of the island it sleeps in.
    pub(crate) island_asleep: Option<usize>,
    /// Whether it has gone through the step already.
    pub(crate) done: bool,
    /// How it moves, if that is prescribed.
    pub(crate) course: Option<Course>,
    /// Farthest distance of its surface from its shape's origin, and half its least width. [m]
    pub(crate) extent: [f64; 2],
}

impl Body {
    pub(crate) fn new(description: BodyDescription, inertia: Matrix3, extent: [f64; 2]) -> Self {
        let inverse_inertia = inertia.try_inverse().unwrap_or_else(Matrix3::zeros);
        let mut body = Self {
            rotation: description.pose.quaternion(),
            pose: description.pose,
            velocity: description.velocity,
            description,
            center_of_mass: Vector3::zeros(),
            inertia,
            inverse_inertia,
            inverse_inertia_world: Matrix3::zeros(),
            start: 0,
            applied: Force::default(),
            rested: 0.0,
            island_asleep: None,
            done: false,
            course: None,
            extent,
        };
        body.update();
        body
    }

    pub(crate) fn is_free(&self) -> bool {
        !self.description.fixed
    }

    /// Speed of its surface at its spin, where [that matters](significant_spin_speed). [s]; [m/s]
    pub(crate) fn spin_speed(&self, h: f64) -> f64 {
        let [radius, half_width] = self.extent;
        let reach = radius + self.center_of_mass.norm();
        significant_spin_speed(self.velocity.angular.norm() * reach, half_width, h)
    }

    /// Pose of the shape, `X_WS`.
    pub(crate) fn shape_pose(&self) -> Pose {
        let R = self.pose.rotation;
        Pose::new(R, self.pose.translation - R * self.center_of_mass)
    }

    pub(crate) fn is_asleep(&self) -> bool {
        self.island_asleep.is_some()
    }

    /// Free, and not asleep.
    pub(crate) fn is_awake(&self) -> bool {
        self.is_free() && !self.is_asleep()
    }

    pub(crate) fn set_state(&mut self, pose: Pose, velocity: Motion) {
        self.rotation = pose.quaternion();
        self.pose.translation = pose.translation;
        self.velocity = velocity;
        self.update();
    }

    /// Goes back to an earlier state.
    pub(crate) fn put_back(&mut self, rotation: UnitQuaternion, pose: Pose, velocity: Motion) {
        (self.rotation, self.pose, self.velocity) = (rotation, pose, velocity);
        self.update();
    }

    /// Takes an impulse about the centre of mass, in world axes. [N·m·s; N·s]
    pub(crate) fn kick(&mut self, impulse: &Force) {
        self.velocity.linear += impulse.force / self.description.mass;
        self.velocity.angular += self.inverse_inertia_world * impulse.moment;
    }

    fn update(&mut self) {
        self.pose = Pose::from_quaternion(&self.rotation, self.pose.translation);
        let R = &self.pose.rotation;
        self.inverse_inertia_world = R * self.inverse_inertia * R.transpose();
    }

    /// Velocity after a step without contacts: forces explicit, gyroscopic moment by the midpoint.
    pub(crate) fn free_motion(&self, h: f64, gravity: &Vector3, out: &mut [f64]) {
        let linear =
            self.velocity.linear + (gravity + self.applied.force / self.description.mass) * h;
        let R = &self.pose.rotation;
        let mut angular = R * self.free_rotation(&R.tr_mul(&self.velocity.angular), h);
        if self.applied.moment != Vector3::zeros() {
            angular += self.inverse_inertia_world * self.applied.moment * h;
        }
        out[..3].copy_from_slice(linear.as_slice());
        out[3..6].copy_from_slice(angular.as_slice());
    }

    /// Solves `I (ω' − ω) + h ω_m × I ω_m = 0`, `ω_m = ½(ω + ω')`, in the body's axes by Newton's method from ω:
    /// energy and magnitude of the angular momentum stay. [rad/s] (3)
    fn free_rotation(&self, omega: &Vector3, h: f64) -> Vector3 {
        let I = &self.inertia;
        let mut next = *omega;
        for _ in 0..GYROSCOPIC_ROUNDS {
            let mean = (omega + next) * 0.5;
            let momentum = I * mean;
            let residual = I * (next - omega) + mean.cross(&momentum) * h;
            let jacobian = I + (skew(&mean) * I - skew(&momentum)) * (0.5 * h);
            let Some(inverse) = jacobian.try_inverse() else { return *omega };
            let change = inverse * residual;
            next -= change;
            if change.norm_squared() <= GYROSCOPIC_TOLERANCE * next.norm_squared() {
                break;
            }
        }
        next
    }

    /// Mass and rotated inertia, zeros elsewhere left as they are. (6×6)
    pub(crate) fn operator(&self, out: &mut [f64]) {
        let R = &self.pose.rotation;
        let I = R * self.inertia * R.transpose();
        for i in 0..3 {
            out[i * 7] = self.description.mass;
            for j in 0..3 {
                out[(i + 3) * 6 + j + 3] = I[(i, j)];
            }
        }
    }

    /// Takes the velocity of `after` and goes on by `h`; `rates` moves the pose. (6 each)
    pub(crate) fn advance(&mut self, after: &[f64], rates: &[f64], h: f64) {
        let three = |x: &[f64]| Vector3::new(x[0], x[1], x[2]);
        self.velocity = Motion::new(three(&after[3..6]), three(&after[..3]));
        self.pose.translation += three(&rates[..3]) * h;
        let turn = UnitQuaternion::from_scaled_axis(three(&rates[3..6]) * h);
        self.rotation = UnitQuaternion::new_normalize(*(turn * self.rotation).quaternion());
        self.update();
    }

    /// Goes on by `h` in free motion with the velocity of `after`, which a step at the present pose gave. The pose moves by
    /// the mean velocity and the Cayley map of the mean rate, `θ = 2 atan(½ h ‖ω_m‖)`, and the rate turns along, so
    /// that the angular momentum in the world stays. (6)
    pub(crate) fn fly(&mut self, after: &[f64], h: f64) {
        let three = |x: &[f64]| Vector3::new(x[0], x[1], x[2]);
        let (linear, angular) = (three(&after[..3]), three(&after[3..6]));
        let mean = (self.velocity.angular + angular) * 0.5;
        let half = 0.5 * h * mean.norm();
        let scale = if half > 0.0 { half.atan() / half } else { 1.0 };
        let turn = UnitQuaternion::from_scaled_axis(mean * (scale * h));
        self.pose.translation += (self.velocity.linear + linear) * (0.5 * h);
        self.velocity = Motion::new(turn * angular, linear);
        self.rotation = UnitQuaternion::new_normalize(*(turn * self.rotation).quaternion());
        self.update();
    }

    /// Kinetic energy. [J]
    pub(crate) fn kinetic_energy(&self) -> f64 {
        let omega = self.pose.rotation.tr_mul(&self.velocity.angular);
        0.5 * (self.description.mass * self.velocity.linear.norm_squared()
            + omega.dot(&(self.inertia * omega)))
    }
}

/// All numbers of a description but those of its mass and shape.
pub(crate) fn check_numbers(description: &BodyDescription) -> Result<(), WorldError> {
    let BodyDescription { pose, velocity, friction, restitution, .. } = description;
    let finite = |numbers: &[f64]| numbers.iter().all(|x| x.is_finite());
    let checks = [
        ("the pose", finite(pose.translation.as_slice()) && finite(pose.rotation.as_slice())),
        ("the velocity", finite(velocity.angular.as_slice()) && finite(velocity.linear.as_slice())),
        ("the friction or restitution", finite(&[*friction, *restitution])),
    ];
    for (what, good) in checks {
        if !good {
            return Err(WorldError::NotFinite { name: description.name.clone(), what });
        }
    }
    Ok(())
}

/// Inertia of a free body: given, or of the solid shape. [kg·m²] (3×3)
pub(crate) fn body_inertia(
    description: &BodyDescription,
    shape: &ColliderShape,
) -> Result<Matrix3, WorldError> {
    let name = || description.name.clone();
    let mass = description.mass;
    if !(mass > 0.0 && mass.is_finite()) {
        return Err(WorldError::Mass { name: name(), mass });
    }
    let inertia = match description.inertia {
        Some(inertia) => inertia,
        None => {
            shape.unit_inertia().map_err(|source| WorldError::Shape { name: name(), source })?.1
                * mass
        }
    };
    if inertia.iter().all(|x| x.is_finite()) && inertia.symmetric_eigenvalues().min() > 0.0 {
        return Ok(inertia);
    }
    Err(WorldError::Inertia { name: name() })
}
