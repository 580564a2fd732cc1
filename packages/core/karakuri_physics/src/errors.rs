//! Refusals of a world.

use karakuri_collision::ShapeError;

/// Reason why something cannot be added to a world or changed in it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WorldError {
    /// The name is taken.
    #[error("`{name}` is already in the world; give every robot and body its own name")]
    NameTaken {
        /// Name that is taken.
        name: String,
    },
    /// The name of a joint is taken.
    #[error("there is a joint `{name}` already; detach it first, or choose another name")]
    JointNameTaken {
        /// Name that is taken.
        name: String,
    },
    /// A joint that cannot be attached.
    #[error("joint `{name}`: {reason}")]
    Joint {
        /// Name of the joint.
        name: String,
        /// Reason, and what to do.
        reason: &'static str,
    },
    /// A motion of a robot that meets no inertia.
    #[error(
        "robot `{robot}`: joint `{joint}` moves no mass where it is; give the links that it moves an inertia, or the joint an armature"
    )]
    NoInertia {
        /// Name of the robot.
        robot: String,
        /// Name of the joint.
        joint: String,
    },
    /// A thing that no force moves.
    #[error("`{name}` cannot move; name a free body or a link that moves")]
    CannotMove {
        /// Name of the thing.
        name: String,
    },
    /// A motor that cannot be.
    #[error("motor `{name}`: {reason}")]
    Motor {
        /// Name of the motor.
        name: String,
        /// Reason, and what to do.
        reason: &'static str,
    },
    /// A spring that cannot be.
    #[error("spring `{name}`: {reason}")]
    Spring {
        /// Name of the spring.
        name: String,
        /// Reason, and what to do.
        reason: &'static str,
    },
    /// A suction cup that cannot be.
    #[error("suction `{name}`: {reason}")]
    Suction {
        /// Name of the cup.
        name: String,
        /// Reason, and what to do.
        reason: &'static str,
    },
    /// A name that stands for nothing.
    #[error("there is no `{name}`; there are: {known}")]
    NoSuchPart {
        /// Name that stands for nothing.
        name: String,
        /// Names that there are.
        known: String,
    },
    /// A state of the wrong length.
    #[error("robot `{robot}`: {what} has {got} numbers, the model has {want}")]
    StateLength {
        /// Name of the robot.
        robot: String,
        /// Quantity: position or velocity.
        what: &'static str,
        /// Number of entries given.
        got: usize,
        /// Expected number of entries.
        want: usize,
    },
    /// A number that is NaN or infinite.
    #[error("`{name}`: {what} is not finite; give finite numbers")]
    NotFinite {
        /// Name of the robot or body.
        name: String,
        /// Quantity that is not finite.
        what: &'static str,
    },
    /// A shape that cannot collide.
    #[error("`{name}`: {source}")]
    Shape {
        /// Name of the robot's link or of the body.
        name: String,
        /// Reason, by its shape.
        source: ShapeError,
    },
    /// A material that cannot be.
    #[error("material `{name}`: {reason}")]
    Material {
        /// Name of the material, or both of a pair.
        name: String,
        /// Reason, and what to do.
        reason: &'static str,
    },
    /// A free body without mass, or a link with a negative one.
    #[error("body `{name}`: mass is {mass} kg; a body that is not fixed needs a positive mass")]
    Mass {
        /// Name of the link or body.
        name: String,
        /// Mass that was given. [kg]
        mass: f64,
    },
    /// A principal moment below 0.
    #[error("`{name}`: a principal moment of inertia is {moment} kg·m²; give moments from 0")]
    Moment {
        /// Name of the link or body.
        name: String,
        /// Moment that is negative. [kg·m²]
        moment: f64,
    },
    /// A principal moment that exceeds the sum of the others.
    #[error(
        "`{name}`: the largest principal moment of inertia, {largest} kg·m², exceeds the sum of the others, {sum} kg·m²; reduce it or increase the others"
    )]
    Moments {
        /// Name of the link or body.
        name: String,
        /// Largest principal moment. [kg·m²]
        largest: f64,
        /// Sum of the others. [kg·m²]
        sum: f64,
    },
    /// An inertia whose products differ across its diagonal.
    #[error("`{name}`: the inertia is not symmetric; give each product of inertia in both places")]
    Asymmetric {
        /// Name of the link or body.
        name: String,
    },
    /// Limits of a joint that leave it no position.
    #[error(
        "joint `{name}`: its lower limit {lower} is above its upper limit {upper}; exchange them"
    )]
    Limits {
        /// Name of the joint.
        name: String,
        /// Lower limit. [rad or m]
        lower: f64,
        /// Upper limit. [rad or m]
        upper: f64,
    },
    /// A free body whose inertia is no rigid body's.
    #[error(
        "body `{name}`: the inertia is not positive definite; give the six numbers about the centre of mass, or leave `inertia` out"
    )]
    Inertia {
        /// Name of the body.
        name: String,
    },
}
