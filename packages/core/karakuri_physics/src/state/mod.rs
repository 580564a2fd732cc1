//! What a world is made of: robots, bodies, their surfaces, and what acts on them from outside.

pub(crate) mod body;
pub(crate) mod joint_dynamics;
pub(crate) mod materials;
pub(crate) mod motion_table;
pub(crate) mod noise;
pub(crate) mod overlaps;
pub(crate) mod prescribed_bodies;
pub(crate) mod prescribed_joints;
pub(crate) mod pushes;
pub(crate) mod robot;
pub(crate) mod settings;
pub(crate) mod shapes;
