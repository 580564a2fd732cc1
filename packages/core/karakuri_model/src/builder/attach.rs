//! Parts that refer to the tree by name: groups, postures, sensors, loops, ignored contacts, the hand.

use std::sync::Arc;

use karakuri_spatial::Pose;
use nalgebra::Rotation3;

use super::place::body_poses;
use super::{LoopFrames, LoopSpec, ModelBuilder};
use crate::closest::closest;
use crate::diagnostic::{Report, Subject};
use crate::{
    BodyId, EndEffector, FrameId, JointGroup, LoopJoint, Model, Motor, MotorSpec, Posture, Sensor,
    SuctionCup, SuctionUnit,
};

/// Loop gaps beyond which a warning is worthwhile: [m], [rad].
// What coordinates with five decimals leave open.
const GAP: (f64, f64) = (1e-5, 1e-4);

impl ModelBuilder {
    /// Resolves all names; unknown ones are errors.
    pub(super) fn attach(&self, model: &mut Model, report: &mut Report) {
        for (name, joints) in &self.groups {
            let subject = Subject::Group(name.clone());
            let joints = self.joint_ids(model, joints, &subject, report);
            model.groups.push(JointGroup { name: name.clone(), joints });
        }
        // Only groups that the user wrote: the default ones below are disjoint by construction.
        check_groups(model, report);
        for (name, positions) in &self.postures {
            let positions = self.posture_positions(model, name, positions, report);
            model.postures.push(Posture { name: name.clone(), positions });
        }
        for spec in &self.motors {
            model.motors.extend(self.attach_motor(model, spec, report));
        }
        for sensor in &self.sensors {
            let subject = Subject::Sensor(sensor.name.clone());
            let what = format!("sensor `{}`", sensor.name);
            if let Some(frame) = self.link_id(&sensor.link, &what, &subject, report) {
                let (name, kind, noise) = (sensor.name.clone(), sensor.kind, sensor.noise);
                model.sensors.push(Sensor { name, frame, kind, noise });
            }
        }
        for unit in &self.suctions {
            model.suctions.extend(self.attach_suction(model, unit, report));
        }
        for (i, (a, b)) in self.ignored_pairs.iter().enumerate() {
            let subject = Subject::IgnoredPair(i);
            let a = self.link_id(a, "ignored pair", &subject, report);
            let b = self.link_id(b, "ignored pair", &subject, report);
            model.ignored_pairs.extend(a.zip(b));
        }
        for (i, (a, b)) in self.touching_pairs.iter().enumerate() {
            let subject = Subject::TouchingPair(i);
            let a = self.link_id(a, "touching pair", &subject, report);
            let b = self.link_id(b, "touching pair", &subject, report);
            model.touching_pairs.extend(a.zip(b));
        }
        for spec in &self.loops {
            model.loops.extend(self.close_loop(model, spec, report));
        }
        // After the sensors, whose names it refers to; default groups come last, as they leave out the hand's joints.
        model.end_effector = self.attach_end_effector(model, report);
        if self.groups.is_empty() {
            model.groups = default_groups(model);
        }
    }

    fn attach_motor(&self, model: &Model, spec: &MotorSpec, report: &mut Report) -> Option<Motor> {
        let subject = Subject::Motor(spec.name.clone());
        if model.motors.iter().any(|m| m.name == spec.name) {
            let message = format!("motor `{}` is there twice", spec.name);
            report.error(&subject, message, "rename one");
            return None;
        }
        let joint = self.joint_id(model, &spec.joint, &subject, report)?;
        // A follower is eliminated from the equations of motion: an effort on it belongs on its leader.
        if let Some(coupling) = model.couplings.iter().find(|c| c.follower == joint) {
            let leader = &model.joints[coupling.leader.0].name;
            let message =
                format!("motor `{}`: joint `{}` follows `{leader}`", spec.name, spec.joint);
            report.error(&subject, message, format!("drive `{leader}` instead"));
            return None;
        }
        // Programs make motors, too; those of files are checked where they are read.
        if spec.effort.is_nan() || spec.effort < 0.0 {
            let message = format!("motor `{}`: effort {} is negative", spec.name, spec.effort);
            report.error(&subject, message, "write its magnitude");
            return None;
        }
        let (name, law) = (spec.name.clone(), Arc::clone(&spec.law));
        Some(Motor { name, joint, law, command: spec.command, effort: spec.effort })
    }

    /// Puts cups on their links. A generator is commanded like a joint, by a name of its own.
    fn attach_suction(
        &self,
        model: &Model,
        unit: &SuctionUnit<String>,
        report: &mut Report,
    ) -> Option<SuctionUnit> {
        let SuctionUnit { name, generator, volume, blow_off, cups } = unit;
        let subject = Subject::Suction(name.clone());
        let is_joint = model.joint(name).is_some();
        if is_joint || model.suctions.iter().any(|other| other.name == *name) {
            let other = if is_joint { "joint" } else { "vacuum generator" };
            let message = format!("suction `{name}`: there is a {other} of this name");
            report.error(&subject, message, "rename one: both are commanded by their name");
            return None;
        }
        let mut placed: Vec<SuctionCup> = Vec::new();
        for cup in cups {
            let others = model.suctions.iter().flat_map(|unit| &unit.cups).chain(&placed);
            if others.into_iter().any(|other| other.name == cup.name) {
                let message = format!("suction `{name}`: cup `{}` is there twice", cup.name);
                report.error(&subject, message, "rename one");
            }
            let what = format!("suction `{name}`: cup `{}`", cup.name);
            let link = self.link_id(&cup.link, &what, &subject, report);
            placed.extend(link.map(|link| cup.on(link)));
        }
        if cups.is_empty() {
            let message = format!("suction `{name}`: it has no cup");
            report.error(&subject, message, "write one under `cups`, or delete it");
        }
        Some(SuctionUnit {
            name: name.clone(),
            generator: generator.clone(),
            volume: *volume,
            blow_off: *blow_off,
            cups: placed,
        })
    }

    /// Reports unknown links where no model can be made.
    pub(super) fn check_attachment_names(&self, report: &mut Report) {
        for sensor in &self.sensors {
            let subject = Subject::Sensor(sensor.name.clone());
            self.link_id(&sensor.link, &format!("sensor `{}`", sensor.name), &subject, report);
        }
        for unit in &self.suctions {
            let subject = Subject::Suction(unit.name.clone());
            for cup in &unit.cups {
                let what = format!("suction `{}`: cup `{}`", unit.name, cup.name);
                self.link_id(&cup.link, &what, &subject, report);
            }
        }
        for spec in &self.loops {
            let subject = Subject::Loop(spec.name.clone());
            for link in [&spec.link_a, &spec.link_b] {
                self.link_id(link, &format!("loop `{}`", spec.name), &subject, report);
            }
        }
        for (i, (a, b)) in self.ignored_pairs.iter().enumerate() {
            for link in [a, b] {
                self.link_id(link, "ignored pair", &Subject::IgnoredPair(i), report);
            }
        }
        for (i, (a, b)) in self.touching_pairs.iter().enumerate() {
            for link in [a, b] {
                self.link_id(link, "touching pair", &Subject::TouchingPair(i), report);
            }
        }
    }

    fn link_id(
        &self,
        link: &str,
        user: &str,
        subject: &Subject,
        report: &mut Report,
    ) -> Option<FrameId> {
        // Every link is a frame, and both have the order of the file.
        let id = self.links.iter().position(|l| l.name == link).map(FrameId);
        if id.is_none() {
            let remedy = closest(link, self.links.iter().map(|l| l.name.as_str()))
                .map_or("name a link of the URDF".to_owned(), |n| format!("did you mean `{n}`?"));
            report.error(subject, format!("{user}: link `{link}` does not exist"), remedy);
        }
        id
    }

    fn joint_ids(
        &self,
        model: &Model,
        names: &[String],
        subject: &Subject,
        report: &mut Report,
    ) -> Vec<BodyId> {
        names.iter().filter_map(|name| self.joint_id(model, name, subject, report)).collect()
    }

    fn joint_id(
        &self,
        model: &Model,
        name: &str,
        subject: &Subject,
        report: &mut Report,
    ) -> Option<BodyId> {
        let user = match subject {
            Subject::Group(group) => format!("group `{group}`"),
            Subject::Posture(posture) => format!("posture `{posture}`"),
            Subject::Motor(motor) => format!("motor `{motor}`"),
            _ => "end effector".to_owned(),
        };
        let Some(id) = model.joint(name) else {
            // Fixed joints are merged away, so a name that the URDF does have needs another sentence.
            if self.joints.iter().any(|j| j.name == name) {
                report.error(
                    subject,
                    format!("{user}: joint `{name}` is fixed and has no position"),
                    "remove it from the list",
                );
            } else {
                let remedy = closest(name, model.joints.iter().map(|j| j.name.as_str()))
                    .map_or("name a joint of the URDF".to_owned(), |n| {
                        format!("did you mean `{n}`?")
                    });
                report.error(subject, format!("{user}: joint `{name}` does not exist"), remedy);
            }
            return None;
        };
        if model.joints[id.0].kind.single().is_none() {
            report.error(
                subject,
                format!(
                    "{user}: joint `{name}` has {} degrees of freedom",
                    model.joints[id.0].kind.nv()
                ),
                "name only joints with one degree of freedom",
            );
            return None;
        }
        Some(id)
    }

    fn posture_positions(
        &self,
        model: &Model,
        posture: &str,
        positions: &[(String, f64)],
        report: &mut Report,
    ) -> Vec<(BodyId, f64)> {
        let subject = Subject::Posture(posture.to_owned());
        let mut result = Vec::with_capacity(positions.len());
        for (name, q) in positions {
            let Some(id) = self.joint_id(model, name, &subject, report) else { continue };
            let limits = model.joints[id.0].limits;
            // Kept all the same: the loops that close in this posture are judged by what was written.
            if !(limits.lower..=limits.upper).contains(q) {
                report.error(
                    &subject,
                    format!(
                        "posture `{posture}`: joint `{name}` at {q} is outside its limits {} to {}",
                        limits.lower, limits.upper
                    ),
                    "write a position within the limits [rad or m]",
                );
            }
            result.push((id, *q));
        }
        result
    }

    fn close_loop(&self, model: &Model, spec: &LoopSpec, report: &mut Report) -> Option<LoopJoint> {
        let subject = Subject::Loop(spec.name.clone());
        let what = format!("loop `{}`", spec.name);
        let a = self.link_id(&spec.link_a, &what, &subject, report);
        let b = self.link_id(&spec.link_b, &what, &subject, report);
        let (frame_a, frame_b) = (&model.frames[a?.0], &model.frames[b?.0]);
        // Its rows would be zero: nothing can move to fulfil or to break them.
        if frame_a.body == frame_b.body {
            report.error(
                &subject,
                format!("{what}: links `{}` and `{}` are one rigid body", spec.link_a, spec.link_b),
                "name two links that move against each other",
            );
            return None;
        }
        if !spec.locked.contains(&true) {
            report.error(
                &subject,
                format!("{what} locks nothing"),
                "lock at least one degree of freedom",
            );
            return None;
        }
        // Frames on links hold in any posture; one in the root link's frame means a place on both bodies in this one.
        let q = loop_posture(model, spec, report)?;
        let poses = body_poses(model, &q);
        let in_world = |body: Option<BodyId>| body.map_or(Pose::IDENTITY, |b| poses[b.0]);
        let (X_WA, X_WB) = (in_world(frame_a.body), in_world(frame_b.body));
        let (pose_in_a, pose_in_b) = match spec.frames {
            LoopFrames::OnLinks { a, b } => (frame_a.pose_in_body * a, frame_b.pose_in_body * b),
            // `X_AJ = X_WA⁻¹ X_WJ`, likewise B: on both bodies the frame that is at this place now.
            LoopFrames::InRoot(X_RJ) => {
                let root = model.frames.iter().find(|f| f.parent.is_none())?;
                let X_WJ = in_world(root.body) * root.pose_in_body * X_RJ;
                (X_WA.inverse() * X_WJ, X_WB.inverse() * X_WJ)
            }
        };
        report_gap(spec, &((X_WA * pose_in_a).inverse() * (X_WB * pose_in_b)), report);
        Some(LoopJoint {
            name: spec.name.clone(),
            body_a: frame_a.body,
            pose_in_a,
            body_b: frame_b.body,
            pose_in_b,
            locked: spec.locked,
        })
    }

    fn attach_end_effector(&self, model: &Model, report: &mut Report) -> Option<EndEffector> {
        let spec = self.end_effector.as_ref()?;
        let subject = Subject::EndEffector;
        let tool = self.link_id(&spec.tool, "end effector: tool", &subject, report);
        let joints = self.joint_ids(model, &spec.joints, &subject, report);
        for name in &spec.sensors {
            if !model.sensors.iter().any(|s| s.name == *name) {
                let remedy = closest(name, model.sensors.iter().map(|s| s.name.as_str()))
                    .map_or("name one of `sensors:`".to_owned(), |n| {
                        format!("did you mean `{n}`?")
                    });
                report.error(
                    &subject,
                    format!("end effector: sensor `{name}` does not exist"),
                    remedy,
                );
            }
        }
        Some(EndEffector {
            kind: spec.kind.clone(),
            tool_frame: tool?,
            joints,
            sensors: spec.sensors.clone(),
            parameters: spec.parameters.clone(),
        })
    }
}

/// Groups of a robot that names none: all driven joints of one degree of freedom together, those of an end effector apart.
fn default_groups(model: &Model) -> Vec<JointGroup> {
    // A follower has no commander of its own.
    let leads = |id: &BodyId| model.couplings.iter().all(|c| c.follower != *id);
    let driven = (0..model.joints.len()).map(BodyId).filter(|id| {
        let joint = &model.joints[id.0];
        // What nobody drives cannot be commanded.
        let is_driven = joint.drive.is_some() || model.motors.iter().any(|m| m.joint == *id);
        is_driven && joint.kind.nv() == 1 && leads(id)
    });
    let grips = |id: &BodyId| model.end_effector.as_ref().is_some_and(|e| e.joints.contains(id));
    let (hand, all) = driven.partition(grips);
    let groups = [("all", all), ("hand", hand)]
        .map(|(name, joints): (_, Vec<_>)| JointGroup { name: name.to_owned(), joints });
    groups.into_iter().filter(|group| !group.joints.is_empty()).collect()
}

/// Checks that each joint has one commander: groups do not overlap and hold no followers.
fn check_groups(model: &Model, report: &mut Report) {
    let mut owner: Vec<Option<&str>> = vec![None; model.joints.len()];
    for group in &model.groups {
        let subject = Subject::Group(group.name.clone());
        for id in &group.joints {
            let joint = &model.joints[id.0].name;
            // Two trajectories for one joint would take turns at its goal.
            if let Some(other) = owner[id.0].replace(&group.name) {
                report.error(
                    &subject,
                    format!("joint `{joint}` is in group `{other}` and in group `{}`", group.name),
                    "a joint is commanded by one group: list it once",
                );
            }
            if let Some(coupling) = model.couplings.iter().find(|c| c.follower == *id) {
                let leader = &model.joints[coupling.leader.0].name;
                report.error(
                    &subject,
                    format!("group `{}`: joint `{joint}` mimics `{leader}`", group.name),
                    format!("list `{leader}` only"),
                );
            }
        }
    }
}

/// Position of the posture that closes the loop; followers of mimic included. (nq)
fn loop_posture(model: &Model, spec: &LoopSpec, report: &mut Report) -> Option<Vec<f64>> {
    let mut q = model.neutral_position();
    if let Some(name) = &spec.posture {
        let Some(posture) = model.postures.iter().find(|p| p.name == *name) else {
            let remedy = closest(name, model.postures.iter().map(|p| p.name.as_str()))
                .map_or("name one of `postures:`".to_owned(), |n| format!("did you mean `{n}`?"));
            report.error(
                &Subject::Loop(spec.name.clone()),
                format!("loop `{}`: posture `{name}` does not exist", spec.name),
                remedy,
            );
            return None;
        };
        for &(id, value) in &posture.positions {
            q[model.joints[id.0].q_start] = value;
        }
    }
    // Once is enough: chains are resolved, so no leader follows.
    for c in &model.couplings {
        let leader = q[model.joints[c.leader.0].q_start];
        q[model.joints[c.follower.0].q_start] = c.multiplier * leader + c.offset;
    }
    Some(q)
}

/// Measures the locked degrees of freedom of `X_AB`, the joint's frame B in its frame A.
fn report_gap(spec: &LoopSpec, X_AB: &Pose, report: &mut Report) {
    // For small angles the parts of the rotation vector are the errors about the three axes.
    let rotation = Rotation3::from_matrix_unchecked(X_AB.rotation).scaled_axis();
    let locked = |values: [f64; 3], first: usize| {
        // What the joint leaves free may differ between the frames: that is its position.
        (0..3).filter(|&i| spec.locked[first + i]).map(|i| values[i].powi(2)).sum::<f64>().sqrt()
    };
    // With one free axis the misalignment is what tilts it, not the turn about it.
    let angle = match spec.locked[..3] {
        [false, true, true] => tilt(X_AB, 0),
        [true, false, true] => tilt(X_AB, 1),
        [true, true, false] => tilt(X_AB, 2),
        _ => locked(rotation.into(), 0),
    };
    let distance = locked(X_AB.translation.into(), 3);
    if distance > GAP.0 || angle > GAP.1 {
        let posture = spec.posture.as_deref().unwrap_or("neutral");
        report.warn(
            &Subject::Loop(spec.name.clone()),
            format!(
                "loop `{}` is open in the {posture} posture: gap {:.4} mm, misalignment {:.3} deg",
                spec.name,
                distance * 1e3,
                angle.to_degrees()
            ),
            "move its frames together, or name the `posture` in which they meet",
        );
    }
}

/// Angle between the `i`-th axes of the two frames. [rad]
fn tilt(X_AB: &Pose, i: usize) -> f64 {
    let axis = X_AB.rotation.column(i);
    let along = axis[i];
    // Parts of the axis across and along that of the other frame.
    let across = (axis.norm_squared() - along * along).max(0.0).sqrt();
    // `acos` would lose half of the digits where the axes nearly coincide, which is the case of interest.
    across.atan2(along)
}
