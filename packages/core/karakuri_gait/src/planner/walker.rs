//! Engine of a robot that is taken over where it stands, and given up where it does not follow.

use karakuri_model::BodyId;
use karakuri_spatial::UnitQuaternion;

use super::engine::WalkEngine;
use super::following::{FollowingMonitor, JointError};

/// Tilt above which a robot does not count as standing. [rad]
const LEANING: f64 = 0.3;

/// Tolerances of a robot's joints.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WalkerSettings {
    /// Distance of every joint from the standing posture up to which a robot is taken over. [rad or m]
    pub start_tolerance: f64,
    /// Distance of a joint from its target beyond which, for 0.5 s in all, a walk is given up; 0 is not checked. [rad or m]
    pub following_tolerance: f64,
}

impl Default for WalkerSettings {
    fn default() -> Self {
        Self { start_tolerance: 0.1, following_tolerance: 0.15 }
    }
}

/// Reason why a robot is not taken over.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum NotStanding {
    /// It leans by so much. [rad]
    Leans(f64),
    /// This joint is so far from the standing posture. [rad or m]
    Joint(BodyId, f64),
}

/// Walk engine of a robot.
#[derive(Debug, Clone)]
pub struct Walker {
    /// Engine that walks it.
    pub engine: WalkEngine,
    /// Engine as at the start, standing.
    fresh: WalkEngine,
    /// Whether the robot stood as the gait begins, and follows the engine since.
    is_engaged: bool,
    following: FollowingMonitor,
}

impl Walker {
    /// Walker of an engine that stands.
    pub fn new(engine: WalkEngine) -> Self {
        let following = FollowingMonitor::default();
        Self { fresh: engine.clone(), engine, is_engaged: false, following }
    }

    /// Whether the robot follows the engine.
    pub fn is_engaged(&self) -> bool {
        self.is_engaged
    }

    /// Takes the robot over if it stands as the gait begins, at `q` (nq) and with this attitude of its root link, if that is measured.
    ///
    /// # Errors
    /// When it leans, or a joint is elsewhere.
    pub fn engage(
        &mut self,
        q: &[f64],
        orientation: Option<&UnitQuaternion>,
        settings: &WalkerSettings,
    ) -> Result<(), NotStanding> {
        let leans = orientation.map_or(0.0, |orientation| self.engine.lean(orientation));
        if leans > LEANING {
            return Err(NotStanding::Leans(leans));
        }
        let (joint, off) = self.engine.furthest_joint(q);
        if off.abs() > settings.start_tolerance {
            return Err(NotStanding::Joint(joint, off));
        }
        self.is_engaged = true;
        Ok(())
    }

    /// Joints that the engine moves: those of the robot's first group.
    pub fn joints(&self) -> &[BodyId] {
        let model = &self.engine.generator().biped.model;
        model.groups.first().map_or(&[][..], |group| group.joints.as_slice())
    }

    /// Names of the joints that the engine moves.
    pub fn joint_names(&self) -> Vec<String> {
        let model = &self.engine.generator().biped.model;
        self.joints().iter().map(|id| model.joints[id.0].name.clone()).collect()
    }

    /// Writes the present targets of the joints that the engine moves: positions [rad or m], velocities [rad/s or m/s] and efforts [N·m or N].
    /// (n joints each)
    pub fn write_targets(
        &self,
        positions: &mut Vec<f64>,
        velocities: &mut Vec<f64>,
        efforts: &mut Vec<f64>,
    ) {
        let (model, targets) = (&self.engine.generator().biped.model, self.engine.targets());
        let joints = || self.joints().iter().map(|id| &model.joints[id.0]);
        positions.clear();
        positions.extend(joints().map(|joint| targets.position[joint.q_start]));
        for (values, of) in [(velocities, &targets.velocity), (efforts, &targets.effort)] {
            values.clear();
            values.extend(joints().map(|joint| of[joint.v_start]));
        }
    }

    /// Looks whether the joints, at `q` (nq), follow a robot's walk for `dt` more [s]; the joint that does not. A fall is judged by itself.
    pub fn find_not_following(
        &mut self,
        q: &[f64],
        is_walking: bool,
        settings: &WalkerSettings,
        dt: f64,
    ) -> Option<JointError> {
        let model = &self.engine.generator().biped.model;
        let targets = &self.engine.targets().position;
        let largest = JointError::largest(model, self.joints().iter().copied(), q, targets)?;
        let tolerance = settings.following_tolerance;
        if tolerance <= 0.0 || !is_walking || self.engine.lost().is_some() {
            self.following.restart();
            return None;
        }
        self.following.tick(&largest, tolerance, dt).then_some(largest)
    }

    /// Lets the robot go: it is taken over again where it stands as the gait begins.
    pub fn release(&mut self) {
        self.engine = self.fresh.clone();
        self.is_engaged = false;
        self.following.restart();
    }
}
