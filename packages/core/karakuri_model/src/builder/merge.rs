//! Bodies from the checked tree of links: links that are fixed together are one body, every link stays a frame.

use karakuri_spatial::Pose;

use super::tree::Tree;
use super::{GeometrySpec, JointSpec, ModelBuilder};
use crate::{
    Base, Body, BodyId, Frame, FrameId, FrameParent, Geometry, Joint, JointKind, Limits, Model,
};

impl ModelBuilder {
    /// Makes one body of each moving joint; inertias of fixed links are combined in the body's frame.
    pub(super) fn merge_links(&self, tree: &Tree) -> Model {
        let mut model = Model::empty(&self.name, self.base);
        // By link index: body and pose on it, and the parent's link index.
        let mut seats: Vec<(Option<BodyId>, Pose)> = vec![(None, Pose::IDENTITY); self.links.len()];
        let mut parents: Vec<Option<FrameParent>> = vec![None; self.links.len()];
        // Parents come first, so their seats are known.
        for &(link, joint) in &tree.order {
            seats[link] = match joint.map(|j| &self.joints[j]) {
                None => self.seat_root(&mut model, link),
                Some(joint) => {
                    let Some(parent) = self.links.iter().position(|l| l.name == joint.parent)
                    else {
                        continue;
                    };
                    parents[link] = Some(FrameParent {
                        frame: FrameId(parent),
                        joint: joint.name.clone(),
                        pose_in_parent: joint.origin,
                        fixed: joint.kind.is_none(),
                    });
                    let (body, pose) = seats[parent];
                    // The joint's place in the parent's body, across all links that are fixed in between.
                    let X_BJ = pose * joint.origin;
                    match &joint.kind {
                        None => (body, X_BJ),
                        Some(kind) => {
                            let new = push_body(&mut model, &self.links[link].name, body);
                            model.push_joint(moving_joint(joint, kind.clone(), X_BJ));
                            // A body's frame is that of its first link, at the joint: its axis needs no shift.
                            (Some(new), Pose::IDENTITY)
                        }
                    }
                }
            };
            // `I_B += X_BL I_L`: links fixed together are one rigid body. What is fixed to the world has no body and needs no inertia.
            if let (Some(body), pose) = seats[link] {
                let part = self.links[link].inertia.transformed(&pose);
                let inertia = &mut model.bodies[body.0].inertia;
                *inertia = inertia.combined(&part);
            }
        }
        // Frames in the order of the file, not of the tree: a frame's index is its link's.
        for (i, link) in self.links.iter().enumerate() {
            let (body, pose_in_body) = seats[i];
            let parent = parents[i].take();
            model.frames.push(Frame { name: link.name.clone(), body, pose_in_body, parent });
            let geometry = |spec: &GeometrySpec| Geometry {
                frame: FrameId(i),
                body,
                pose_in_body: pose_in_body * spec.pose,
                shape: spec.shape.clone(),
                color: spec.color,
                friction: spec.friction,
                restitution: spec.restitution,
            };
            model.collisions.extend(link.collisions.iter().map(geometry));
            model.visuals.extend(link.visuals.iter().map(geometry));
        }
        model
    }

    /// Name of the floating base's joint: [`Self::FLOATING_BASE`], with underscores where a joint of the robot has that name.
    pub(super) fn floating_base_name(&self) -> String {
        let mut name = Self::FLOATING_BASE.to_owned();
        // The robot's own joint keeps its name, by which its files know it.
        while self.joints.iter().any(|joint| joint.name == name) {
            name.push('_');
        }
        name
    }

    fn seat_root(&self, model: &mut Model, link: usize) -> (Option<BodyId>, Pose) {
        match self.base {
            // The base's pose goes into the joints of the first bodies: world means world in every algorithm.
            Base::Fixed(X_WRoot) => (None, X_WRoot),
            Base::Floating => {
                let body = push_body(model, &self.links[link].name, None);
                // A joint like any other for all algorithms, so a floating base needs no branch of its own there.
                let joint = JointSpec::new(&self.floating_base_name(), "", "", None);
                model.push_joint(moving_joint(&joint, JointKind::Floating, Pose::IDENTITY));
                (Some(body), Pose::IDENTITY)
            }
        }
    }
}

fn push_body(model: &mut Model, name: &str, parent: Option<BodyId>) -> BodyId {
    let inertia = karakuri_spatial::Inertia::ZERO;
    model.bodies.push(Body { name: name.to_owned(), parent, inertia });
    BodyId(model.bodies.len() - 1)
}

fn moving_joint(spec: &JointSpec, kind: JointKind, pose_in_parent: Pose) -> Joint {
    let one_dof = kind.single().is_some();
    // A limit is of one coordinate; limits of a ball joint are its `cone`.
    let mut limits = if one_dof { spec.limits } else { Limits::NONE };
    if let JointKind::Custom(motion) = &kind
        && let Some((first, last)) = motion.range()
    {
        // A path ends where its curve does, whatever the file's limits say.
        limits.lower = limits.lower.max(first);
        limits.upper = limits.upper.min(last);
    }
    Joint {
        name: spec.name.clone(),
        // A YAML may have made a ball of it and then another kind.
        cone: spec.cone.filter(|_| matches!(kind, JointKind::Spherical)),
        kind,
        pose_in_parent,
        // `push_joint` sets both, as they depend on the joints before.
        q_start: 0,
        v_start: 0,
        limits,
        bumper: spec.bumper,
        limit_restitution: spec.limit_restitution,
        armature: spec.armature,
        damping: spec.damping,
        back_emf: spec.back_emf,
        friction: spec.friction,
        drive: if one_dof { spec.drive } else { None },
    }
}

impl Model {
    /// Robot without any link, to be filled.
    pub fn empty(name: &str, base: Base) -> Self {
        Self {
            name: name.to_owned(),
            base,
            bodies: Vec::new(),
            joints: Vec::new(),
            frames: Vec::new(),
            couplings: Vec::new(),
            loops: Vec::new(),
            motors: Vec::new(),
            sensors: Vec::new(),
            suctions: Vec::new(),
            collisions: Vec::new(),
            visuals: Vec::new(),
            ignored_pairs: Vec::new(),
            touching_pairs: Vec::new(),
            end_effector: None,
            postures: Vec::new(),
            groups: Vec::new(),
            nq: 0,
            nv: 0,
        }
    }

    fn push_joint(&mut self, mut joint: Joint) {
        (joint.q_start, joint.v_start) = (self.nq, self.nv);
        self.nq += joint.kind.nq();
        self.nv += joint.kind.nv();
        self.joints.push(joint);
    }
}
