//! Constraints, a file a kind.

pub(crate) mod attached_joint;
pub(crate) mod ball_limit;
pub(crate) mod bushing;
pub(crate) mod contact;
pub(crate) mod gear;
pub(crate) mod loops;
pub(crate) mod motor;
pub(crate) mod rows;
pub(crate) mod spring;
