//! Descriptions of robots and bodies.

use std::sync::Arc;

use indexmap::IndexMap;
use karakuri_dynamics::Data;
use karakuri_model::{BodyId, DofKind, Geometry, JointKind, Model, Shape};
use karakuri_motion::Performer;
use karakuri_simulation::LoadedScene;
use karakuri_spatial::Vector3;

use super::{decimate, mesh, place_of, robot_places};
use crate::assets::Assets;
use crate::wire::{
    JointDescription, Joints, LinkDescription, MeshReference, MimicDescription, PostureDescription,
    RobotDescription, ShapeDescription, Stage, StageObject, Visual,
};

/// Describes a scene; its meshes go into `assets`.
pub(crate) fn describe(scene: &LoadedScene, assets: &Assets, number: u16) -> Stage {
    let robots: Vec<RobotDescription> = scene
        .scene
        .robots
        .iter()
        .zip(&scene.models)
        .map(|(robot, model)| describe_robot(&robot.name, model, assets))
        .collect();
    let objects: Vec<StageObject> = scene
        .scene
        .bodies
        .iter()
        .map(|body| {
            let d = &body.description;
            StageObject {
                name: d.name.clone(),
                fixed: d.fixed,
                mass: d.mass,
                shape: describe_shape(&d.shape, assets),
                color: d.color,
                pose: place_of(&d.pose),
            }
        })
        .collect();
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    Stage {
        number,
        n_bodies: count(robots.iter().map(|r| r.bodies.len()).sum::<usize>() + objects.len()),
        n_joints: count(robots.iter().map(|r| r.joints.len()).sum()),
        robots,
        objects,
        ground: scene.scene.ground.is_some(),
    }
}

fn describe_robot(name: &str, model: &Arc<Model>, assets: &Assets) -> RobotDescription {
    let rest = model.default_position();
    let singles = || model.joints.iter().enumerate().filter(|(_, j)| j.kind.single().is_some());
    let visuals = if model.visuals.is_empty() { &model.collisions } else { &model.visuals };
    RobotDescription {
        name: name.to_owned(),
        mass: model.mass(),
        floating: matches!(model.base, karakuri_model::Base::Floating),
        bodies: model.bodies.iter().map(|b| b.name.clone()).collect(),
        joints: singles().map(|(i, _)| describe_joint(model, i, &rest)).collect(),
        links: describe_links(model),
        visuals: visuals.iter().map(|g| describe_visual(g, assets)).collect(),
        postures: model
            .postures
            .iter()
            .map(|posture| PostureDescription {
                name: posture.name.clone(),
                joints: Joints(
                    posture
                        .positions
                        .iter()
                        .map(|(id, q)| (model.joints[id.0].name.clone(), *q))
                        .collect::<IndexMap<_, _>>(),
                ),
            })
            .collect(),
        feet: Performer::new(Arc::clone(model))
            .legs
            .map(|legs| legs.map(|leg| model.frames[leg.foot.0].name.clone()).to_vec())
            .unwrap_or_default(),
        bodies_at_rest: robot_places(model, &mut Data::new(model), &rest),
    }
}

fn describe_joint(model: &Model, index: usize, rest: &[f64]) -> JointDescription {
    let joint = &model.joints[index];
    let finite = |x: f64| x.is_finite().then_some(x);
    let axis = match &joint.kind {
        JointKind::Revolute { axis } | JointKind::Prismatic { axis } => *axis,
        _ => Vector3::zeros(),
    };
    let coupling = model.couplings.iter().find(|c| c.follower == BodyId(index));
    JointDescription {
        name: joint.name.clone(),
        body: u32::try_from(index).unwrap_or(u32::MAX),
        unit: if joint.kind.single() == Some(DofKind::Length) { "m" } else { "rad" }.to_owned(),
        axis: axis.into(),
        lower: finite(joint.limits.lower),
        upper: finite(joint.limits.upper),
        velocity: finite(joint.limits.velocity),
        effort: finite(joint.limits.effort),
        rest: rest[joint.q_start],
        mimic: coupling.map(|c| MimicDescription {
            leader: model.joints[c.leader.0].name.clone(),
            multiplier: c.multiplier,
            offset: c.offset,
        }),
    }
}

fn describe_links(model: &Model) -> Vec<LinkDescription> {
    let mut has_child = vec![false; model.frames.len()];
    for frame in &model.frames {
        if let Some(parent) = &frame.parent {
            has_child[parent.frame.0] = true;
        }
    }
    let links = model.frames.iter().zip(has_child);
    links
        .map(|(frame, has_child)| LinkDescription {
            name: frame.name.clone(),
            body: frame.body.and_then(|b| u32::try_from(b.0).ok()),
            pose: place_of(&frame.pose_in_body),
            is_tip: !has_child,
        })
        .collect()
}

fn describe_visual(geometry: &Geometry, assets: &Assets) -> Visual {
    Visual {
        body: geometry.body.and_then(|b| u32::try_from(b.0).ok()),
        pose: place_of(&geometry.pose_in_body),
        shape: describe_shape(&geometry.shape, assets),
        color: geometry.color,
    }
}

fn describe_shape(shape: &Shape, assets: &Assets) -> ShapeDescription {
    match shape {
        Shape::Box { size } => ShapeDescription::Box { size: (*size).into() },
        Shape::Sphere { radius } => ShapeDescription::Sphere { radius: *radius },
        Shape::Cylinder { radius, length } => {
            ShapeDescription::Cylinder { radius: *radius, length: *length }
        }
        Shape::Capsule { radius, length } => {
            ShapeDescription::Capsule { radius: *radius, length: *length }
        }
        Shape::Ellipsoid { semi_axes } => {
            ShapeDescription::Ellipsoid { semi_axes: (*semi_axes).into() }
        }
        Shape::Mesh(found) => {
            // A robot's links, and its robots, share meshes: each is made once.
            let reference = assets.mesh_of(found, || {
                let fine = mesh::buffer(found);
                let coarse = decimate::coarse(found).map(|mesh| mesh::buffer(&mesh));
                (fine, coarse)
            });
            ShapeDescription::Mesh(MeshReference {
                n_triangles: u32::try_from(found.triangles.len()).unwrap_or(u32::MAX),
                ..reference
            })
        }
    }
}
