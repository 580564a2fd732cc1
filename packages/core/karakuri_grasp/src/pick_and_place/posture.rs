//! Positions of all joints of a robot whose hand is open as a plan has it: what follows the drives by couplings and loops goes along.
//!
//! Units: m, rad.

use karakuri_dynamics::Data;
use karakuri_dynamics::loops::{ConstraintEmbedding, MotionMut};
use karakuri_model::{BodyId, Model};

/// Largest motion of a drive between two positions that are closed one after the other. [rad or m]
// A four-bar stays on its branch; a step of a tenth of a radian would do.
const STRIDE: f64 = 0.05;

/// Closer of the hand's loops.
#[derive(Debug, Clone)]
pub(super) struct HandPosture {
    constraints: ConstraintEmbedding,
    data: Data,
    /// Whether a coordinate is commanded. (nv)
    driven: Vec<bool>,
    /// Rates that nobody asks for. (nv) each
    idle: [Vec<f64>; 2],
}

impl HandPosture {
    pub(super) fn new(model: &Model) -> Self {
        let mut driven = vec![false; model.nv];
        for joint in model.groups.iter().flat_map(|group| &group.joints) {
            let joint = &model.joints[joint.0];
            driven[joint.v_start..joint.v_start + joint.kind.nv()].fill(true);
        }
        Self {
            constraints: ConstraintEmbedding::new(model),
            data: Data::new(model),
            driven,
            idle: [vec![0.0; model.nv], vec![0.0; model.nv]],
        }
    }

    /// Positions with some joints elsewhere [rad or m], and what follows them; others stay as in `q`. (nq)
    pub(super) fn with(&mut self, model: &Model, q: &[f64], joints: &[(BodyId, f64)]) -> Vec<f64> {
        let mut found = q.to_vec();
        let way = |&(id, to): &(BodyId, f64)| (to - q[model.joints[id.0].q_start]).abs();
        let steps = (joints.iter().map(way).fold(0.0, f64::max) / STRIDE).ceil();
        let mut step = 0.0;
        while step < steps {
            step += 1.0;
            for (id, to) in joints {
                let k = model.joints[id.0].q_start;
                found[k] = q[k] + step / steps * (to - q[k]);
            }
            let [v, vdot] = &mut self.idle;
            let motion = MotionMut { q: &mut found, v, vdot };
            self.constraints.complete(model, &mut self.data, &self.driven, motion);
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use karakuri_dynamics::loops::loop_gap;
    use karakuri_dynamics::{forward_kinematics, frame_pose};
    use karakuri_files::load_robot;

    use super::*;
    use crate::end_effector::from_model;

    /// Pads of arm6 go as far from each other as the opening does, and its four-bars stay closed.
    #[test]
    fn fingers_stand_as_open_as_they_are_to_be() {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../..");
        let [urdf, config] = ["urdf/arm6/arm6.urdf", "config/arm6.yaml"]
            .map(|file| std::path::PathBuf::from(format!("{root}/{file}")));
        let model = load_robot(&urdf, Some(&config), None).unwrap().model;
        let hand = from_model(&model).unwrap();
        let (mut posture, mut data) = (HandPosture::new(&model), Data::new(&model));
        let mut apart = |q: &[f64]| {
            forward_kinematics(&model, &mut data, q);
            assert!(loop_gap(&model, &data) < 1e-9);
            let pad = |name: &str| model.frame(name).unwrap();
            let [left, right] =
                ["left_pad", "right_pad"].map(|name| frame_pose(&model, &data, pad(name)));
            (left.translation - right.translation).norm()
        };
        let mut at = |q: &[f64], opening: f64| {
            posture.with(&model, q, &[(hand.joint(), hand.position(opening))])
        };
        let open = at(&vec![0.0; model.nq], 0.085);
        let closed = at(&open, 0.01);
        let by = apart(&open) - apart(&closed);
        assert!((by - 0.075).abs() < 1e-9, "{by} m");
    }
}
