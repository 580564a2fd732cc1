//! Results as JSON, keyed by joint and link; linear parts before angular ones.

use anyhow::{Result, anyhow};
use karakuri_control::nodal::Stencil;
use karakuri_dynamics::{
    Data, aba, center_of_mass, centroidal_momentum, crba, forward_kinematics, frame_jacobian,
    frame_pose, rnea,
};
use karakuri_model::{Base, FrameId, JointKind, Model};
use karakuri_spatial::Pose;
use nalgebra::Matrix6xX;
use serde_json::{Map, Value, json};

use super::Algorithm;
use super::states::State;

/// Sizes and mass of a model, and the names of the velocity coordinates.
pub(super) fn summary(model: &Model) -> Value {
    json!({ "nq": model.nq, "nv": model.nv, "mass_kg": model.mass(), "order": order(model) })
}

fn order(model: &Model) -> Vec<String> {
    let is_floating = matches!(model.base, Base::Floating);
    let mut order = Vec::with_capacity(model.nv);
    for (i, joint) in model.joints.iter().enumerate() {
        let name = if i == 0 && is_floating { "base" } else { joint.name.as_str() };
        if joint.kind.single().is_some() {
            order.push(joint.name.clone());
            continue;
        }
        let parts: &[&str] = match &joint.kind {
            JointKind::Revolute { .. } | JointKind::Prismatic { .. } => &[],
            JointKind::Custom(motion) => {
                &["v0", "v1", "v2", "v3", "v4", "v5"][..motion.dof_kinds().len()]
            }
            JointKind::Spherical => &["wx", "wy", "wz"],
            JointKind::Planar { .. } => &["vx", "vy", "wz"],
            JointKind::Floating => &["vx", "vy", "vz", "wx", "wy", "wz"],
        };
        order.extend(parts.iter().map(|part| format!("{name}.{part}")));
    }
    order
}

/// Results of one sample.
pub(super) fn compute(
    model: &Model,
    data: &mut Data,
    state: &State,
    algorithms: &[Algorithm],
    links: &[FrameId],
) -> Result<Value> {
    let State { q, v, a, tau } = state;
    let mut results = Map::new();
    for algorithm in algorithms {
        let (key, result) = match algorithm {
            Algorithm::Fk => {
                forward_kinematics(model, data, q);
                ("fk", by_link(model, links, |link| pose(&frame_pose(model, data, link))))
            }
            Algorithm::Rnea => {
                let efforts = rnea(model, data, q, v, a, &[]);
                ("rnea", by_joint(model, efforts, ["force", "torque"]))
            }
            Algorithm::Aba => {
                let vdot = aba(model, data, q, v, tau, &[])
                    .map_err(|e| anyhow!("aba, `{}`: {e}", order(model)[e.dof]))?;
                ("aba", by_joint(model, vdot, ["linear_acceleration", "angular_acceleration"]))
            }
            Algorithm::Crba => {
                let mass_matrix = crba(model, data, q);
                let rows: Vec<Vec<f64>> =
                    mass_matrix.row_iter().map(|row| row.iter().copied().collect()).collect();
                ("crba", json!(rows))
            }
            Algorithm::Jacobian => {
                forward_kinematics(model, data, q);
                let mut jacobian = Matrix6xX::zeros(model.nv);
                let mut rows = |link| {
                    frame_jacobian(model, data, link, &mut jacobian);
                    let row = |r: usize| jacobian.row(r).iter().copied().collect::<Vec<f64>>();
                    json!([3, 4, 5, 0, 1, 2].map(row))
                };
                ("jacobian", by_link(model, links, &mut rows))
            }
            Algorithm::Centroidal => {
                let momentum = centroidal_momentum(model, data, q, v);
                let com = center_of_mass(model, data);
                let result = json!({
                    "com": com.as_slice(),
                    "linear_momentum": momentum.linear.as_slice(),
                    "angular_momentum": momentum.angular.as_slice(),
                });
                ("centroidal", result)
            }
            Algorithm::Nodal => {
                let mut efforts = vec![0.0; model.nv];
                Stencil::new(model, data.gravity).efforts(model, [q, v, a], &[], &mut efforts);
                ("nodal", by_joint(model, &efforts, ["force", "torque"]))
            }
        };
        results.insert(key.to_owned(), result);
    }
    Ok(Value::Object(results))
}

/// Position and quaternion of a pose; of the two equal quaternions the one with w ≥ 0.
pub(in crate::commands) fn pose(pose: &Pose) -> Value {
    let q = pose.quaternion();
    let sign = if q.w < 0.0 { -1.0 } else { 1.0 };
    json!({
        "position": pose.translation.as_slice(),
        "quaternion_xyzw": [q.i * sign, q.j * sign, q.k * sign, q.w * sign],
    })
}

fn by_link(model: &Model, links: &[FrameId], mut value: impl FnMut(FrameId) -> Value) -> Value {
    let entry = |link: &FrameId| (model.frames[link.0].name.clone(), value(*link));
    Value::Object(links.iter().map(entry).collect())
}

/// Rates by joint; those of a floating base as two vectors with these names.
fn by_joint(model: &Model, list: &[f64], base_parts: [&str; 2]) -> Value {
    let is_floating = matches!(model.base, Base::Floating);
    let mut results = Map::new();
    for (i, joint) in model.joints.iter().enumerate() {
        let part = &list[joint.v_start..joint.v_start + joint.kind.nv()];
        if i == 0 && is_floating {
            let [linear, angular] = base_parts;
            results.insert("base".into(), json!({ linear: part[..3], angular: part[3..] }));
        } else if let [value] = part {
            results.insert(joint.name.clone(), json!(value));
        } else {
            results.insert(joint.name.clone(), json!(part));
        }
    }
    Value::Object(results)
}
