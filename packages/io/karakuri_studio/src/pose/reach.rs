//! Inverse kinematics for handles that a user drags.

use karakuri_dynamics::{
    IkCenterOfMass, IkObstacle, IkOptions, IkProblem, IkTarget, forward_kinematics, frame_pose,
};
use karakuri_model::{Base, BodyId, FrameId, JointKind};
use karakuri_motion::Document;
use karakuri_spatial::{Matrix3, Pose, UnitQuaternion, Vector3};

use super::Poser;
use super::evaluate::Posture;
use crate::wire::{Code, IkGoal, IkReport, IkTargetGoal, WireError};

/// Steps of a solution while the pointer moves: a few milliseconds.
const ITERATIONS: usize = 60;
/// Error that counts as reached. [m, rad]
const TOLERANCE: f64 = 1e-5;

impl Poser {
    /// Brings links to targets from the pose that is shown; the nearest solution, no other.
    pub(crate) fn reach(
        &mut self,
        document: &Document,
        goal: &IkGoal,
    ) -> Result<IkReport, WireError> {
        let Posture { q: start, support } = self.posture(document, &goal.start)?;
        forward_kinematics(&self.model, &mut self.data, &start);
        let mut targets = Vec::new();
        for target in &goal.targets {
            targets.push(self.target(target)?);
        }
        for name in &goal.held {
            let frame = self.link(name)?;
            targets.push(IkTarget::pose(frame, frame_pose(&self.model, &self.data, frame)));
        }
        let mut locked: Vec<BodyId> =
            goal.locked.iter().map(|name| self.joint(name)).collect::<Result<_, _>>()?;
        if matches!(self.model.base, Base::Floating) && !goal.root_moves {
            locked.push(BodyId(0));
        }
        // Above this point of the floor, at any height.
        let center_of_mass = goal.com.map(|[x, y]| IkCenterOfMass {
            position: Vector3::new(x, y, 0.0),
            weight: Vector3::new(1.0, 1.0, 0.0),
        });
        let problem =
            IkProblem { targets: &targets, center_of_mass, start: &start, locked: &locked };
        // No random starts: a limb must not jump while it is dragged.
        let options = IkOptions {
            position_tolerance: TOLERANCE,
            orientation_tolerance: TOLERANCE,
            max_iterations: ITERATIONS,
            restarts: 0,
            ..IkOptions::default()
        };
        let mut outcome = self
            .ik
            .solve(&self.model, &problem, &options)
            .map_err(|error| WireError::from_text(Code::Invalid, &error))?;
        let q = self.ik.position.clone();
        // The limit that a limb meets on its way to a target beyond its reach is not the reason.
        if matches!(outcome.obstacle, Some(IkObstacle::Stuck | IkObstacle::Limit { .. })) {
            outcome.obstacle = self.too_far(&targets, &locked).or(outcome.obstacle);
        }
        let joint = match outcome.obstacle {
            Some(IkObstacle::Limit { joint, .. }) => Some(self.model.joints[joint.0].name.clone()),
            _ => None,
        };
        Ok(IkReport {
            reached: outcome.converged,
            position_error: outcome.position_error,
            orientation_error: outcome.orientation_error,
            obstacle: outcome.obstacle.map(|obstacle| name_of(obstacle).to_owned()),
            joint,
            text: outcome.explain(&self.model, &targets),
            pose: self.show(&Posture { q, support }),
        })
    }

    /// A target beyond the reach of the joints that may move. The solver counts from the base; here the base is held.
    fn too_far(&self, targets: &[IkTarget], locked: &[BodyId]) -> Option<IkObstacle> {
        let model = &self.model;
        targets.iter().enumerate().find_map(|(i, target)| {
            if target.position_weight.iter().any(|weight| *weight == 0.0) {
                return None;
            }
            let frame = &model.frames[target.frame.0];
            let mut reach = frame.pose_in_body.translation.norm();
            let (mut first, mut length) = (None, reach);
            let mut next = frame.body;
            while let Some(body) = next {
                let joint = &model.joints[body.0];
                if !locked.contains(&body) {
                    // Joints that slide reach as far as they like.
                    matches!(joint.kind, JointKind::Revolute { .. } | JointKind::Spherical)
                        .then_some(())?;
                    (first, reach) = (Some(body), length);
                }
                length += joint.pose_in_parent.translation.norm();
                next = model.bodies[body.0].parent;
            }
            let base = self.data.pose_in_world[first?.0].translation;
            let distance = (target.pose_in_world.translation - base).norm();
            (distance > reach).then_some(IkObstacle::OutOfReach { target: i, distance, reach })
        })
    }

    fn link(&self, name: &str) -> Result<FrameId, WireError> {
        self.model.frame(name).ok_or_else(|| {
            let text = format!("the robot has no link `{name}`");
            WireError::new(Code::NotFound, text, "take a name of the robot's description")
        })
    }

    fn target(&self, target: &IkTargetGoal) -> Result<IkTarget, WireError> {
        let frame = self.link(&target.link)?;
        let X_WE = frame_pose(&self.model, &self.data, frame);
        let (free, fixed) = (Vector3::zeros(), Vector3::repeat(1.0));
        let (mut position_weight, mut orientation_weight) = (free, free);
        let mut pose = X_WE;
        if let Some(position) = target.position {
            pose.translation = position.into();
            position_weight = fixed;
        }
        if target.level {
            // The same heading, z upwards; a turn about it stays free.
            let yaw = X_WE.rotation[(1, 0)].atan2(X_WE.rotation[(0, 0)]);
            pose.rotation = Pose::from_xyz_rpy([0.0; 3], [0.0, 0.0, yaw]).rotation;
            orientation_weight = Vector3::new(1.0, 1.0, 0.0);
        } else if let Some([x, y, z, w]) = target.orientation {
            let rotation = UnitQuaternion::new_normalize(nalgebra::Quaternion::new(w, x, y, z));
            pose.rotation = Matrix3::from(rotation);
            orientation_weight = fixed;
        }
        Ok(IkTarget::pose(frame, pose).weighted(position_weight, orientation_weight))
    }
}

fn name_of(obstacle: IkObstacle) -> &'static str {
    match obstacle {
        IkObstacle::OutOfReach { .. } => "OutOfReach",
        IkObstacle::Limit { .. } => "Limit",
        IkObstacle::NothingMoves { .. } => "NothingMoves",
        IkObstacle::Stuck => "Stuck",
    }
}
