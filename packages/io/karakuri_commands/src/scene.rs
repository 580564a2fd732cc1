//! Scene, as far as commands are checked against it.

use crate::name::is_name;

/// What is there, and whether the robot is free.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Scene {
    /// Objects.
    pub objects: Vec<SceneObject>,
    /// Whether an act or a rehearsal is under way.
    pub is_busy: bool,
}

/// Object of a scene.
#[derive(Debug, Clone, PartialEq)]
pub struct SceneObject {
    /// Name.
    pub name: String,
    /// Kind of its shape, as `box`.
    pub shape: &'static str,
    /// Position of its centre in the world. [m] (3)
    pub position_m: [f64; 3],
    /// Edge lengths of its box along its own axes. [m] (3)
    pub size_m: [f64; 3],
    /// Angle about the vertical. [rad]
    pub yaw_rad: f64,
    /// Mass, where it is known. [kg]
    pub mass_kg: Option<f64>,
    /// Whether it never moves, as a table.
    pub is_fixed: bool,
}

/// Objects that a description fits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Found<'s> {
    Nothing,
    One(&'s SceneObject),
    Several,
}

impl<'s> Found<'s> {
    /// Of all objects that fit.
    pub(crate) fn of(mut objects: impl Iterator<Item = &'s SceneObject>) -> Self {
        match (objects.next(), objects.next()) {
            (None, _) => Self::Nothing,
            (Some(object), None) => Self::One(object),
            (Some(_), Some(_)) => Self::Several,
        }
    }

    /// The object, if it is one.
    pub(crate) fn one(self) -> Option<&'s SceneObject> {
        if let Self::One(object) = self { Some(object) } else { None }
    }
}

impl Scene {
    pub(crate) fn named(&self, name: &str) -> Found<'_> {
        Found::of(self.objects.iter().filter(|object| object.name == name))
    }

    /// Objects that can be taken, below a point [m].
    pub(crate) fn below(&self, x: f64, y: f64) -> Found<'_> {
        Found::of(self.movable().filter(|object| object.is_below(x, y)))
    }

    /// Objects that can be taken. One whose name is a sentence is none: nobody could name it, nor a log repeat it.
    pub(crate) fn movable(&self) -> impl Iterator<Item = &SceneObject> {
        self.objects.iter().filter(|object| !object.is_fixed && is_name(&object.name))
    }
}

impl SceneObject {
    fn is_below(&self, x: f64, y: f64) -> bool {
        let (dx, dy) = (x - self.position_m[0], y - self.position_m[1]);
        let (sin, cos) = self.yaw_rad.sin_cos();
        let along = [cos * dx + sin * dy, cos * dy - sin * dx];
        (0..2).all(|axis| along[axis].abs() <= self.size_m[axis] / 2.0)
    }
}
