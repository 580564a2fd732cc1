//! Why a world refuses something.

use karakuri_collision::ShapeError;

/// Why something cannot be added to a world or changed in it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WorldError {
    /// The name is taken.
    #[error("`{name}` is already in the world; give every robot and body its own name")]
    NameTaken {
        /// The name.
        name: String,
    },
    /// The name of a joint is taken.
    #[error("there is a joint `{name}` already; detach it first, or choose another name")]
    JointNameTaken {
        /// The name.
        name: String,
    },
    /// A joint that cannot be attached.
    #[error("joint `{name}`: {reason}")]
    Joint {
        /// Joint name.
        name: String,
        /// Why not, and what to do.
        reason: &'static str,
    },
    /// A motion of a robot that meets no inertia.
    #[error(
        "robot `{robot}`: joint `{joint}` moves no mass where it is; give the links that it moves an inertia, or the joint an armature"
    )]
    NoInertia {
        /// Robot name.
        robot: String,
        /// Joint name.
        joint: String,
    },
    /// A thing that no force moves.
    #[error("`{name}` cannot move; name a free body or a link that moves")]
    CannotMove {
        /// Its name.
        name: String,
    },
    /// A motor that cannot be.
    #[error("motor `{name}`: {reason}")]
    Motor {
        /// Motor name.
        name: String,
        /// Why not, and what to do.
        reason: &'static str,
    },
    /// A name that stands for nothing.
    #[error("there is no `{name}`; there are: {known}")]
    NoSuchPart {
        /// The name.
        name: String,
        /// What could have been meant.
        known: String,
    },
    /// A state of the wrong length.
    #[error("robot `{robot}`: {what} has {got} numbers, the model has {want}")]
    StateLength {
        /// Robot name.
        robot: String,
        /// Position or velocity.
        what: &'static str,
        /// Numbers given.
        got: usize,
        /// Expected number of entries.
        want: usize,
    },
    /// A number that is NaN or infinite.
    #[error("`{name}`: {what} is not finite; give finite numbers")]
    NotFinite {
        /// Robot or body.
        name: String,
        /// Which quantity.
        what: &'static str,
    },
    /// A shape that cannot collide.
    #[error("`{name}`: {source}")]
    Shape {
        /// Robot link or body.
        name: String,
        /// Why not.
        source: ShapeError,
    },
    /// A material that cannot be.
    #[error("material `{name}`: {reason}")]
    Material {
        /// Material name, or both of a pair.
        name: String,
        /// Why not, and what to do.
        reason: &'static str,
    },
    /// A free body without mass.
    #[error("body `{name}`: mass is {mass} kg; a body that is not fixed needs a positive mass")]
    Mass {
        /// Body name.
        name: String,
        /// [kg]
        mass: f64,
    },
    /// A free body whose inertia is no rigid body's.
    #[error(
        "body `{name}`: the inertia is not positive definite; give the six numbers about the centre of mass, or leave `inertia` out"
    )]
    Inertia {
        /// Body name.
        name: String,
    },
}
