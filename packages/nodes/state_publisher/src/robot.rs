//! Links of a robot and the pose of each on its parent.

use std::collections::BTreeMap;

use karakuri_dynamics::{Data, forward_kinematics, pose_in_parent_link};
use karakuri_model::{BodyId, Diagnostics, FrameId, Model, NoAssets, Source, load};
use karakuri_spatial::Pose;

/// Link and its pose on its parent.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Link {
    pub(crate) parent: String,
    pub(crate) child: String,
    /// Pose `X_PC` of the link C on its parent P.
    pub(crate) pose: Pose,
}

/// Kinematics of a robot.
pub(crate) struct Robot {
    model: Model,
    data: Data,
    q: Vec<f64>,
    /// Joints with one degree of freedom: the link each carries.
    joints: BTreeMap<String, (BodyId, FrameId)>,
    /// Whether each joint was among the last positions.
    is_known: Vec<bool>,
}

impl Robot {
    /// Reads a URDF, without its meshes.
    pub(crate) fn read(urdf: &str) -> Result<Self, Diagnostics> {
        let model = load(&Source::urdf("robot_description", urdf), &mut NoAssets)?.model;
        let carried = |(i, frame): (usize, &karakuri_model::Frame)| {
            let parent = frame.parent.as_ref().filter(|parent| !parent.fixed)?;
            let joint = model.joint(&parent.joint)?;
            let has_one_dof = model.joints[joint.0].kind.single().is_some();
            has_one_dof.then(|| (parent.joint.clone(), (joint, FrameId(i))))
        };
        let joints = model.frames.iter().enumerate().filter_map(carried).collect();
        Ok(Self {
            data: Data::new(&model),
            q: model.neutral_position(),
            is_known: vec![false; model.joints.len()],
            joints,
            model,
        })
    }

    /// Name of the robot.
    pub(crate) fn name(&self) -> &str {
        &self.model.name
    }

    /// Links on fixed joints.
    pub(crate) fn fixed_links(&self) -> Vec<Link> {
        let is_fixed =
            |frame: &&karakuri_model::Frame| frame.parent.as_ref().is_some_and(|p| p.fixed);
        let frames = self.model.frames.iter().enumerate();
        frames
            .filter(|(_, frame)| is_fixed(frame))
            .filter_map(|(i, _)| self.link(FrameId(i)))
            .collect()
    }

    /// Links on the joints that `positions` names, and on mimic joints whose leader it names. Unknown names and
    /// numbers that are not finite are passed over.
    pub(crate) fn moving_links<'a>(
        &mut self,
        positions: impl Iterator<Item = (&'a str, f64)>,
    ) -> Vec<Link> {
        self.is_known.fill(false);
        for (name, position) in positions.filter(|(_, position)| position.is_finite()) {
            if let Some(&(joint, _)) = self.joints.get(name) {
                self.q[self.model.joints[joint.0].q_start] = position;
                self.is_known[joint.0] = true;
            }
        }
        for coupling in &self.model.couplings {
            let (follower, leader) = (coupling.follower.0, coupling.leader.0);
            if self.is_known[leader] && !self.is_known[follower] {
                let [q_follower, q_leader] =
                    [follower, leader].map(|j| self.model.joints[j].q_start);
                self.q[q_follower] = coupling.multiplier * self.q[q_leader] + coupling.offset;
                self.is_known[follower] = true;
            }
        }
        forward_kinematics(&self.model, &mut self.data, &self.q);
        let known = self.joints.values().filter(|(joint, _)| self.is_known[joint.0]);
        known.filter_map(|&(_, frame)| self.link(frame)).collect()
    }

    fn link(&self, frame: FrameId) -> Option<Link> {
        let child = &self.model.frames[frame.0];
        let parent = &self.model.frames[child.parent.as_ref()?.frame.0];
        let pose = pose_in_parent_link(&self.model, &self.data, frame)?;
        Some(Link { parent: parent.name.clone(), child: child.name.clone(), pose })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INERTIA: &str = r#"<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>"#;

    fn robot() -> Robot {
        let link = |name: &str| format!(r#"<link name="{name}">{INERTIA}</link>"#);
        let joint = |kind: &str, name: &str, parent: &str, child: &str, inner: &str| {
            format!(
                r#"<joint name="{name}" type="{kind}"><origin xyz="0 0 1" rpy="0 0 0"/><parent link="{parent}"/>
                <child link="{child}"/><axis xyz="0 0 1"/><limit lower="-9" upper="9" effort="9" velocity="9"/>{inner}</joint>"#
            )
        };
        let links: String = ["base", "a", "tip", "b", "c"].iter().map(|name| link(name)).collect();
        let mimic = r#"<mimic joint="ja" multiplier="2" offset="0.5"/>"#;
        let joints = [
            joint("revolute", "ja", "base", "a", ""),
            joint("fixed", "jt", "a", "tip", ""),
            joint("prismatic", "jb", "a", "b", ""),
            joint("revolute", "jc", "base", "c", mimic),
        ];
        Robot::read(&format!(r#"<robot name="r">{links}{}</robot>"#, joints.concat())).unwrap()
    }

    #[test]
    fn fixed_links_stand_on_their_parents() {
        let fixed = robot().fixed_links();
        assert_eq!(fixed.len(), 1);
        assert_eq!((fixed[0].parent.as_str(), fixed[0].child.as_str()), ("a", "tip"));
        assert_eq!(fixed[0].pose.translation.as_slice(), [0.0, 0.0, 1.0]);
    }

    #[test]
    fn only_joints_of_the_message_and_their_followers_move() {
        let mut robot = robot();
        let links = robot.moving_links([("ja", 0.25), ("unknown", 1.0)].into_iter());
        let names: Vec<&str> = links.iter().map(|l| l.child.as_str()).collect();
        assert_eq!(names, ["a", "c"]);
        assert!((links[0].pose.rpy()[2] - 0.25).abs() < 1e-15);
        assert!((links[1].pose.rpy()[2] - 1.0).abs() < 1e-15, "2 · 0.25 + 0.5");

        let links = robot.moving_links([("jb", 0.3), ("ja", f64::NAN)].into_iter());
        assert_eq!(links.len(), 1);
        assert!((links[0].pose.translation.z - 1.3).abs() < 1e-15);
        assert!((links[0].pose.rotation - karakuri_spatial::Matrix3::identity()).norm() < 1e-15);
    }

    #[test]
    fn a_follower_in_the_message_keeps_its_own_position() {
        let links = robot().moving_links([("ja", 0.25), ("jc", -0.5)].into_iter());
        assert!((links[1].pose.rpy()[2] + 0.5).abs() < 1e-15);
    }
}
