//! Initial states of ball joints: three numbers in place of one in `joints` and `velocities` of a robot.

use karakuri_model::yaml::{Node, Reader, Value};
use karakuri_model::{JointKind, Model, Place, Report};
use karakuri_spatial::{Pose, Vector3};

use super::SceneRobot;

/// Initial state of a ball joint: of its body against the joint's frame on the parent.
#[derive(Debug, Clone, PartialEq)]
pub struct SceneBall {
    /// Name of the joint.
    pub joint: String,
    /// Roll, pitch, yaw [rad]; or angular velocity in the axes of the joint's frame on the parent [rad/s]. (3)
    pub value: Vector3,
    /// Place where it is written.
    pub place: Place,
}

/// Coordinates of a joint: one number, or three of a ball joint.
pub(super) enum Coordinates {
    One(f64),
    OfBall(Vector3),
}

pub(super) fn read_coordinates(
    reader: &mut Reader<'_>,
    node: &Node,
    path: &str,
    unit: &str,
) -> Option<Coordinates> {
    // A list is a ball joint's, a number any other's: while the file is read, no model is known.
    if matches!(node.value, Value::List(_)) {
        reader.vector(node, path, unit).map(|x| Coordinates::OfBall(x.into()))
    } else {
        reader.number(node, path, &super::read::ANY, unit).map(Coordinates::One)
    }
}

impl SceneRobot {
    /// Turns the ball joints of a position. (nq)
    pub(super) fn turn_balls(&self, model: &Model, q: &mut [f64], report: &mut Report) {
        for ball in &self.balls {
            let Some(start) = self.ball(model, ball, report).map(|joint| joint.q_start) else {
                continue;
            };
            // About fixed axes, as URDF's `rpy`.
            let turn = Pose::from_xyz_rpy([0.0; 3], ball.value.into()).quaternion();
            // nalgebra has x, y, z, w, as positions have them.
            q[start..start + 4].copy_from_slice(turn.coords.as_slice());
        }
    }

    /// Gives the ball joints their angular velocities. (nv)
    pub(super) fn spin_balls(&self, model: &Model, v: &mut [f64], report: &mut Report) {
        for ball in &self.ball_velocities {
            if let Some(start) = self.ball(model, ball, report).map(|joint| joint.v_start) {
                v[start..start + 3].copy_from_slice(ball.value.as_slice());
            }
        }
    }

    /// The ball joint, or a report why not.
    fn ball<'m>(
        &self,
        model: &'m Model,
        ball: &SceneBall,
        report: &mut Report,
    ) -> Option<&'m karakuri_model::Joint> {
        let is_ball = |joint: &&karakuri_model::Joint| matches!(joint.kind, JointKind::Spherical);
        let found = model.joints.iter().filter(is_ball).find(|joint| joint.name == ball.joint);
        if found.is_none() {
            let message = format!("`{}` is no ball joint of robot `{}`", ball.joint, self.name);
            let known: Vec<&str> =
                model.joints.iter().filter(is_ball).map(|joint| joint.name.as_str()).collect();
            let remedy = if known.is_empty() {
                "write one number for a joint with one degree of freedom".to_owned()
            } else {
                format!("write one number for it, or three for one of {}", known.join(", "))
            };
            report.error_at(ball.place.clone(), message, remedy);
        }
        found
    }
}
