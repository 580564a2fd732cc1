//! Links of robots that overlap where they start.

use std::collections::BTreeMap;

use karakuri_collision::{ColliderId, CollisionScene};
use karakuri_dynamics::{Data, forward_kinematics};
use karakuri_model::{BodyId, FrameId, Model};

use crate::state::ids::RobotId;
use crate::state::mover::Owner;
use crate::state::overlaps::{LinkOverlap, OwnCollider};
use crate::world::World;

/// Depth from which links overlap; less is rounding of a touch. [m]
const TOUCH: f64 = 1e-6;
/// Depth from which an overlap is reported. [m]
// Less is within the accuracy with which shapes are drawn.
const REPORTED: f64 = 1e-3;

/// Depths by pair of links, the lower first. [m]
type Depths = BTreeMap<(FrameId, FrameId), f64>;

impl World {
    /// Lets those of a robot's own colliders pass through each other that are on one body, on bodies that a joint ties,
    /// or named by the model; further those of links that overlap in the default posture, as `MoveIt`'s setup assistant
    /// does ("in collision by default"): what overlaps by design would be pushed apart for ever. Of these, pairs that
    /// are not two joints apart along a chain, nor tied by a loop, are kept for [`World::overlap_warning`].
    pub(crate) fn ignore_own_contacts(&mut self, id: RobotId, model: &Model, own: &[OwnCollider]) {
        let named = |pairs: &[(FrameId, FrameId)], a: FrameId, b: FrameId| {
            pairs.contains(&(a, b)) || pairs.contains(&(b, a))
        };
        let pairs =
            || own.iter().enumerate().flat_map(|(i, a)| own[..i].iter().map(move |b| (a, b)));
        for (a, b) in pairs() {
            // Links joined by one joint touch at it by design.
            if a.body == b.body
                || model.are_chained(a.body, b.body, 1)
                || named(&model.ignored_pairs, a.frame, b.frame)
            {
                self.state.collision.ignore(a.collider, b.collider);
            }
        }
        let body: BTreeMap<FrameId, Option<BodyId>> =
            own.iter().map(|a| (a.frame, a.body)).collect();
        let mut depths = self.depths_by_default(id, model, own);
        depths.retain(|&(a, b), depth| {
            // Near relatives from a touch on, as their shapes meet at the joint between; others from a visible overlap on.
            let close =
                model.are_chained(body[&a], body[&b], 2) || looped(model, body[&a], body[&b]);
            *depth > (if close { TOUCH } else { REPORTED }) && !named(&model.touching_pairs, a, b)
        });
        for (a, b) in pairs() {
            if depths.contains_key(&(a.frame.min(b.frame), a.frame.max(b.frame))) {
                self.state.collision.ignore(a.collider, b.collider);
            }
        }
        depths.retain(|&(a, b), _| {
            !model.are_chained(body[&a], body[&b], 2) && !looped(model, body[&a], body[&b])
        });
        self.robot_mut(id).ignored_overlaps = deepest_first(model, depths);
    }

    /// Depths by which the links of a robot overlap in its default posture. [m]
    fn depths_by_default(&self, id: RobotId, model: &Model, own: &[OwnCollider]) -> Depths {
        let mut data = Data::new(model);
        forward_kinematics(model, &mut data, &model.default_position());
        // A copy: the posture is asked about, not taken.
        let mut scene = self.state.collision.clone();
        for a in own {
            if let Some(body) = a.body {
                scene.set_pose(a.collider, &(data.pose_in_world[body.0] * a.pose));
            }
        }
        // Without a margin: what is only near does not overlap.
        scene.update(0.0);
        self.depths(id, &scene)
    }

    /// Depths by which the links of a robot overlap that touch each other. [m]
    fn depths(&self, id: RobotId, scene: &CollisionScene) -> Depths {
        let link = |collider: ColliderId| match self.state.attachments.get(collider.0) {
            Some(Some(attachment)) => match attachment.owner {
                Owner::Link { robot, frame } if robot == id => Some(frame),
                _ => None,
            },
            _ => None,
        };
        let mut depths = Depths::new();
        for manifold in scene.manifolds() {
            let (Some(a), Some(b)) = (link(manifold.a), link(manifold.b)) else { continue };
            let depth = manifold.points().iter().map(|p| -p.gap).fold(0.0, f64::max);
            let known = depths.entry((a.min(b), a.max(b))).or_default();
            *known = known.max(depth);
        }
        depths
    }

    /// Pairs of a robot's links that touch each other and overlap by more than a millimetre where it is, deepest first.
    pub fn link_overlaps(&self, id: RobotId) -> Vec<LinkOverlap> {
        let mut scene = self.state.collision.clone();
        scene.update(0.0);
        self.visible_overlaps(id, &scene)
    }

    /// [`Self::link_overlaps`], whose contacts this world keeps: faster where it is asked again in another state.
    pub fn update_link_overlaps(&mut self, id: RobotId) -> Vec<LinkOverlap> {
        self.state.collision.update(0.0);
        self.visible_overlaps(id, &self.state.collision)
    }

    /// Pairs of a robot's links that collide with each other and touch where it is, the lower first.
    pub fn update_touching_links(&mut self, id: RobotId) -> Vec<(FrameId, FrameId)> {
        self.state.collision.update(0.0);
        self.depths(id, &self.state.collision).into_keys().collect()
    }

    /// Overlaps of more than a millimetre among the contacts of a scene, deepest first.
    fn visible_overlaps(&self, id: RobotId, scene: &CollisionScene) -> Vec<LinkOverlap> {
        let mut depths = self.depths(id, scene);
        depths.retain(|_, depth| *depth > REPORTED);
        deepest_first(self.robot(id).model(), depths)
    }

    /// Pairs of a robot's links that pass through each other because they overlap by more than a millimetre in its
    /// default posture ([`Model::default_position`]), deepest first; without neighbours and those that the model names.
    pub fn links_let_through(&self, id: RobotId) -> &[LinkOverlap] {
        self.state.robots[id.0].as_ref().map_or(&[], |robot| &robot.ignored_overlaps)
    }

    /// Warnings that name the links of a robot that overlap, in its default posture and where it is, with the lines
    /// that its YAML lacks.
    pub fn overlap_warning(&self, id: RobotId) -> Option<String> {
        let warnings = [self.default_overlap_warning(id), self.start_overlap_warning(id)];
        let warnings: Vec<String> = warnings.into_iter().flatten().collect();
        (!warnings.is_empty()).then(|| warnings.join("\n"))
    }

    /// [`Self::overlap_warning`] of links that overlap in the default posture.
    pub fn default_overlap_warning(&self, id: RobotId) -> Option<String> {
        let through = self.links_let_through(id);
        let warning = || {
            format!(
                "robot `{}`: {} in its default posture (joints at 0, or amid limits that leave 0 out) and pass through \
                 each other. To have it so, write into the robot YAML what follows; to let pairs touch, name them \
                 under `touch` instead:\n{}",
                self.robot(id).name(),
                count(through),
                yaml(through),
            )
        };
        (!through.is_empty()).then(warning)
    }

    /// [`Self::overlap_warning`] of links that overlap where the robot is.
    pub fn start_overlap_warning(&self, id: RobotId) -> Option<String> {
        let apart = self.link_overlaps(id);
        let warning = || {
            format!(
                "robot `{}`: {} where it starts; they push each other apart. Move it, correct the shapes, give `srdf`, \
                 or write into the robot YAML:\n{}",
                self.robot(id).name(),
                count(&apart),
                yaml(&apart),
            )
        };
        (!apart.is_empty()).then(warning)
    }
}

fn deepest_first(model: &Model, depths: Depths) -> Vec<LinkOverlap> {
    let name = |frame: FrameId| model.frames[frame.0].name.clone();
    let named = |((a, b), depth)| LinkOverlap { links: [name(a), name(b)], depth };
    let mut overlaps: Vec<LinkOverlap> = depths.into_iter().map(named).collect();
    overlaps.sort_by(|x, y| y.depth.total_cmp(&x.depth));
    overlaps
}

/// Number of pairs that overlap, and the deepest, in words.
fn count(overlaps: &[LinkOverlap]) -> String {
    let deepest =
        overlaps.first().map_or_else(String::new, |LinkOverlap { links: [a, b], depth }| {
            format!("`{a}` and `{b}` by {:.1} mm", 1e3 * depth)
        });
    match overlaps.len() {
        1 => format!("two of its links overlap, {deepest},"),
        n => format!("{n} pairs of its links overlap, {deepest},"),
    }
}

/// The lines of a robot YAML that name these pairs.
fn yaml(overlaps: &[LinkOverlap]) -> String {
    let line = |LinkOverlap { links: [a, b], depth }: &LinkOverlap| {
        format!("\n    - [{a}, {b}]  # {:.1} mm", 1e3 * depth)
    };
    format!("collision:\n  ignore:{}", overlaps.iter().map(line).collect::<String>())
}

/// Whether a loop's joint ties two bodies of a robot, or one to the fixed base.
fn looped(model: &Model, a: Option<BodyId>, b: Option<BodyId>) -> bool {
    model.loops.iter().any(|l| [(a, b), (b, a)].contains(&(l.body_a, l.body_b)))
}
