//! Joint states by name to the model's coordinates.

use crate::msg::sensor_msgs::msg::JointState;
use karakuri_model::Model;

/// Position, velocity and effort of a model, as far as messages told.
#[derive(Debug)]
pub struct JointStateReader {
    /// [rad or m] (nq)
    pub q: Vec<f64>,
    /// [rad/s or m/s] (nv)
    pub v: Vec<f64>,
    /// NaN where no message told. [N·m or N] (nv)
    pub effort: Vec<f64>,
    /// Names of the last message and the coordinates they stand for.
    names: Vec<String>,
    coordinates: Vec<Option<(usize, usize)>>,
    missing: Vec<String>,
}

impl JointStateReader {
    /// At the neutral position until messages come.
    pub fn new(model: &Model) -> Self {
        Self {
            q: model.neutral_position(),
            v: vec![0.0; model.nv],
            effort: vec![f64::NAN; model.nv],
            names: Vec::new(),
            coordinates: Vec::new(),
            missing: Vec::new(),
        }
    }

    /// Takes a message; the names of joints that no message has told of, if any.
    pub fn read(&mut self, model: &Model, message: &JointState) -> Result<(), &[String]> {
        if self.names != message.name {
            self.learn(model, message);
        }
        for (i, coordinate) in self.coordinates.iter().enumerate() {
            let Some((q, v)) = *coordinate else { continue };
            for (target, values) in [
                (&mut self.q[q], &message.position),
                (&mut self.v[v], &message.velocity),
                (&mut self.effort[v], &message.effort),
            ] {
                if let Some(value) = values.get(i).filter(|value| value.is_finite()) {
                    *target = *value;
                }
            }
        }
        if self.missing.is_empty() { Ok(()) } else { Err(&self.missing) }
    }

    fn learn(&mut self, model: &Model, message: &JointState) {
        self.names.clone_from(&message.name);
        let coordinate = |name: &String| {
            let joint = &model.joints[model.joint(name)?.0];
            (joint.kind.nv() == 1).then_some((joint.q_start, joint.v_start))
        };
        self.coordinates = message.name.iter().map(coordinate).collect();
        let grouped = model.groups.iter().flat_map(|g| &g.joints).map(|j| &model.joints[j.0].name);
        self.missing = grouped.filter(|name| !message.name.contains(name)).cloned().collect();
    }
}
