//! Calls as published for Gemini's robot models, in units of the picture: `move(x, y, high)`, `setGripperState(opened)` and
//! `returnToOrigin()`. [Google 2026]
//!
//! The picture is 1000 units wide and high; the origin of x (right) and y (down) is at 500 and 300 of them. A point that a model
//! names may be 30 units beside the object that it means, so a low move goes to the one known object that is near.

use std::path::Path;

use karakuri_files::{LoadError, read_yaml};
use karakuri_spatial::{Pose, Vector3};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::refusal::{Code, Refusal};
use crate::scene::{Found, Scene};
use crate::verb::arguments::{Arguments, Grip, Height, Home, Move, SetGripper};

/// Units of a picture's width and of its height.
const UNITS: f64 = 1000.0;
/// Origin of the units in the picture. (2)
const ORIGIN: [f64; 2] = [500.0, 300.0];

/// Camera that made the picture, and the table in it.
#[derive(Debug, Clone, PartialEq)]
pub struct View {
    /// Size of the picture. [pixels] (2)
    pub size: [u32; 2],
    /// Focal lengths. [pixels] (2)
    pub focal_length: [f64; 2],
    /// Principal point, from the picture's upper left corner. [pixels] (2)
    pub principal_point: [f64; 2],
    /// Pose of the camera in the world: x right, y down, z along the view (`X_WC`).
    pub camera_in_world: Pose,
    /// Height of the level that points are on. [m]
    pub table_z: f64,
    /// Distance from a point within which a low move goes to an object. [m]
    pub snap_radius: f64,
}

/// A call as it is in a list of calls.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FunctionCall {
    /// Name of the function.
    pub function: String,
    /// Its arguments, in their order.
    pub args: Vec<Value>,
}

impl FunctionCall {
    /// Arguments by their names.
    ///
    /// # Errors
    /// `BAD_ARGUMENT` for another function, or another number of arguments.
    fn arguments(&self) -> Result<Value, Refusal> {
        let names: &[&str] = match self.function.as_str() {
            "move" => &["x", "y", "high"],
            "setGripperState" => &["opened"],
            "returnToOrigin" => &[],
            _ => return Err(unknown()),
        };
        if self.args.len() != names.len() {
            let hint = "give all arguments of the function and no others";
            return Err(bad(hint).within(names.join(", ")));
        }
        let named = names.iter().map(|name| (*name).to_owned()).zip(self.args.iter().cloned());
        Ok(Value::Object(named.collect()))
    }
}

/// Command that a call means.
#[derive(Debug, Clone, PartialEq)]
pub struct Translation {
    /// Verb with its arguments.
    pub arguments: Arguments,
    /// Object that a low move goes to instead of its point; none where no object is near.
    pub object: Option<String>,
}

/// File of a view.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ViewFile {
    size_px: [u32; 2],
    focal_length_px: [f64; 2],
    principal_point_px: [f64; 2],
    camera: CameraPose,
    table_z_m: f64,
    snap_radius_m: f64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CameraPose {
    xyz: [f64; 3],
    rpy: [f64; 3],
}

impl View {
    /// Reads a view file.
    ///
    /// # Errors
    /// When the file cannot be read, has an unknown key, or lacks one, with line and key.
    pub fn read(path: &Path) -> Result<Self, LoadError> {
        let file: ViewFile = read_yaml(path)?;
        Ok(Self {
            size: file.size_px,
            focal_length: file.focal_length_px,
            principal_point: file.principal_point_px,
            camera_in_world: Pose::from_xyz_rpy(file.camera.xyz, file.camera.rpy),
            table_z: file.table_z_m,
            snap_radius: file.snap_radius_m,
        })
    }

    /// The command that a call of a list means.
    ///
    /// # Errors
    /// As those of [`translate`](Self::translate).
    pub fn translate_call(
        &self,
        call: &FunctionCall,
        scene: &Scene,
    ) -> Result<Translation, Refusal> {
        self.translate(&call.function, &call.arguments()?, scene)
    }

    /// The command that a call means.
    ///
    /// # Errors
    /// `BAD_ARGUMENT` for another function, for wrong arguments, and for a point beyond the horizon; `AMBIGUOUS_OBJECT` for a low
    /// move near several objects.
    pub fn translate(
        &self,
        function: &str,
        arguments: &Value,
        scene: &Scene,
    ) -> Result<Translation, Refusal> {
        let as_it_is = |arguments| Ok(Translation { arguments, object: None });
        match function {
            "move" => self.translate_move(object_of(arguments, &["x", "y", "high"])?, scene),
            "setGripperState" => {
                let opened = flag(object_of(arguments, &["opened"])?, "opened")?;
                let grip = Grip::Opened { opened };
                as_it_is(Arguments::SetGripper(SetGripper { grip, force_n: None }))
            }
            "returnToOrigin" => {
                object_of(arguments, &[])?;
                as_it_is(Arguments::Home(Home {}))
            }
            _ => Err(unknown()),
        }
    }

    fn translate_move(
        &self,
        arguments: &Map<String, Value>,
        scene: &Scene,
    ) -> Result<Translation, Refusal> {
        let (x, y) = (unit(arguments, 0, "x")?, unit(arguments, 1, "y")?);
        let high = flag(arguments, "high")?;
        let [x_m, y_m] = self.on_table([x, y])?;
        let found = if high { Found::Nothing } else { self.near(scene, [x_m, y_m]) };
        let ([x_m, y_m], object) = match found {
            Found::Nothing => ([x_m, y_m], None),
            Found::One(object) => {
                let [x, y, _] = object.position_m;
                ([x, y], Some(object.name.clone()))
            }
            Found::Several => {
                let hint = "name a point nearer to the one object that is meant";
                let refusal = Refusal::new(Code::AmbiguousObject, hint);
                return Err(refusal.of("x", x).within(format!("{} m around", self.snap_radius)));
            }
        };
        let height = Height::Of { high };
        let arguments = Move { x_m, y_m, height, yaw_rad: None, speed_scale: None };
        Ok(Translation { arguments: Arguments::Move(arguments), object })
    }

    /// Where the ray through a point, in units from their origin, meets the table. [m] (2)
    fn on_table(&self, units: [f64; 2]) -> Result<[f64; 2], Refusal> {
        let pixel = |axis: usize| (units[axis] + ORIGIN[axis]) / UNITS * f64::from(self.size[axis]);
        let slope =
            |axis: usize| (pixel(axis) - self.principal_point[axis]) / self.focal_length[axis];
        let camera = &self.camera_in_world;
        let ray = camera.transform_vector(&Vector3::new(slope(0), slope(1), 1.0));
        let from = camera.translation;
        let depth = (self.table_z - from.z) / ray.z;
        let point = from + ray * depth;
        // Parallel to the table the depth is infinite, above it negative.
        if depth > 0.0 && point.x.is_finite() && point.y.is_finite() {
            return Ok([point.x, point.y]);
        }
        Err(bad("name a point on the table, below the horizon").of("y", units[1]))
    }

    fn near<'s>(&self, scene: &'s Scene, point: [f64; 2]) -> Found<'s> {
        let distance = |position: [f64; 3]| (position[0] - point[0]).hypot(position[1] - point[1]);
        Found::of(scene.movable().filter(|object| distance(object.position_m) <= self.snap_radius))
    }
}

fn unknown() -> Refusal {
    bad("call move, setGripperState or returnToOrigin")
}

fn bad(hint: &'static str) -> Refusal {
    Refusal::new(Code::BadArgument, hint)
}

/// The object with these keys and no others.
fn object_of<'a>(value: &'a Value, names: &[&str]) -> Result<&'a Map<String, Value>, Refusal> {
    let Value::Object(object) = value else {
        return Err(bad("write the arguments as one JSON object"));
    };
    if object.len() != names.len() || !names.iter().all(|name| object.contains_key(*name)) {
        return Err(
            bad("give all arguments of the function and no others").within(names.join(", "))
        );
    }
    Ok(object)
}

fn flag(arguments: &Map<String, Value>, name: &str) -> Result<bool, Refusal> {
    let value = arguments.get(name).unwrap_or(&Value::Null);
    let wrong = || bad("write true or false, without quotes").of(name, value.clone());
    value.as_bool().ok_or_else(wrong)
}

/// Whole number of units from the origin, within the picture.
fn unit(arguments: &Map<String, Value>, axis: usize, name: &str) -> Result<f64, Refusal> {
    let value = arguments.get(name).unwrap_or(&Value::Null);
    let (least, most) = (-ORIGIN[axis], UNITS - ORIGIN[axis]);
    let number = value.as_f64().filter(|number| number.fract() == 0.0);
    number.filter(|number| (least..=most).contains(number)).ok_or_else(|| {
        let hint = "write a whole number of units of the picture";
        bad(hint).of(name, value.clone()).within(format!("[{least}, {most}]"))
    })
}

#[cfg(test)]
mod tests;
