//! Links of one robot that overlap: which never touch, and which are told of.

use std::collections::BTreeMap;

use karakuri_collision::ColliderId;
use karakuri_dynamics::{Data, forward_kinematics};
use karakuri_model::{BodyId, FrameId, Model};
use karakuri_spatial::Pose;

use crate::contacts::Owner;
use crate::world::{RobotId, World};

/// Depth from which links overlap; less is rounding of a touch. [m]
const TOUCH: f64 = 1e-6;
/// Depth from which an overlap is told of. [m]
const TOLD: f64 = 1e-3;
/// Most pairs that a warning names.
const NAMED: usize = 12;

/// A collider of a robot that is being added.
pub(crate) struct OwnCollider {
    pub(crate) collider: ColliderId,
    /// None on the fixed base.
    pub(crate) body: Option<BodyId>,
    pub(crate) frame: FrameId,
    /// On its body.
    pub(crate) pose: Pose,
}

/// Two links of a robot that overlap.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkOverlap {
    /// Names.
    pub links: [String; 2],
    /// How deep. [m]
    pub depth: f64,
}

impl World {
    /// Lets those of a robot's own colliders pass through each other that are on one body, on bodies that a joint ties,
    /// or named by the model; and those two joints apart along a chain that overlap at the neutral position, as the
    /// parts of compound shoulders, hips and wrists do.
    pub(crate) fn ignore_own_contacts(&mut self, model: &Model, own: &[OwnCollider]) {
        for (i, a) in own.iter().enumerate() {
            for b in &own[..i] {
                let named = |x, y| model.ignored_pairs.contains(&(x, y));
                if a.body == b.body
                    || chained(model, a.body, b.body, 1)
                    || named(a.frame, b.frame)
                    || named(b.frame, a.frame)
                {
                    self.collision.ignore(a.collider, b.collider);
                }
            }
        }
        let mut data = Data::new(model);
        forward_kinematics(model, &mut data, &model.neutral_position());
        let mut scene = self.collision.clone();
        for a in own {
            if let Some(body) = a.body {
                scene.set_pose(a.collider, &(data.pose_in_world[body.0] * a.pose));
            }
        }
        scene.update(0.0);
        let of: BTreeMap<ColliderId, Option<BodyId>> =
            own.iter().map(|a| (a.collider, a.body)).collect();
        for manifold in scene.manifolds() {
            let (Some(&a), Some(&b)) = (of.get(&manifold.a), of.get(&manifold.b)) else { continue };
            if chained(model, a, b, 2) && manifold.points().iter().any(|p| p.gap < -TOUCH) {
                self.collision.ignore(manifold.a, manifold.b);
            }
        }
    }

    /// Pairs of a robot's links that touch each other and overlap by more than a millimetre where it is, deepest first.
    pub fn link_overlaps(&self, id: RobotId) -> Vec<LinkOverlap> {
        let model = self.robot(id).model();
        let mut scene = self.collision.clone();
        scene.update(0.0);
        let link = |collider: ColliderId| match self.attachments.get(collider.0) {
            Some(Some(attachment)) => match attachment.owner {
                Owner::Link { robot, frame } if robot == id => Some(frame),
                _ => None,
            },
            _ => None,
        };
        let mut depths: BTreeMap<(FrameId, FrameId), f64> = BTreeMap::new();
        for manifold in scene.manifolds() {
            let (Some(a), Some(b)) = (link(manifold.a), link(manifold.b)) else { continue };
            let depth = manifold.points().iter().map(|p| -p.gap).fold(0.0, f64::max);
            let known = depths.entry((a.min(b), a.max(b))).or_default();
            *known = known.max(depth);
        }
        let name = |frame: FrameId| model.frames[frame.0].name.clone();
        let deep = depths.into_iter().filter(|&(_, depth)| depth > TOLD);
        let mut overlaps: Vec<LinkOverlap> =
            deep.map(|((a, b), depth)| LinkOverlap { links: [name(a), name(b)], depth }).collect();
        overlaps.sort_by(|x, y| y.depth.total_cmp(&x.depth));
        overlaps
    }

    /// A warning that names the overlapping links of a robot where it is, with the lines that its YAML lacks.
    pub fn overlap_warning(&self, id: RobotId) -> Option<String> {
        let overlaps = self.link_overlaps(id);
        let deepest = overlaps.first()?;
        let line = |LinkOverlap { links: [a, b], depth }: &LinkOverlap| {
            format!("    - [{a}, {b}]  # {:.1} mm", 1e3 * depth)
        };
        let mut lines: Vec<String> = overlaps.iter().take(NAMED).map(line).collect();
        if overlaps.len() > NAMED {
            lines.push(format!("    # and {} more", overlaps.len() - NAMED));
        }
        Some(format!(
            "robot `{}`: {} pairs of its links overlap where it starts, `{}` and `{}` by {:.1} mm; they push each other \
             apart. Move it, correct the shapes, give `srdf`, or write into the robot YAML:\ncollision:\n  ignore:\n{}",
            self.robot(id).name(),
            overlaps.len(),
            deepest.links[0],
            deepest.links[1],
            1e3 * deepest.depth,
            lines.join("\n"),
        ))
    }
}

/// Whether two bodies of a robot, or one and the fixed base, are `n` joints apart along a chain.
fn chained(model: &Model, a: Option<BodyId>, b: Option<BodyId>, n: usize) -> bool {
    let above = |x: Option<BodyId>| (0..n).try_fold(x, |x, _| x.map(|x| model.bodies[x.0].parent));
    above(a) == Some(b) || above(b) == Some(a)
}
