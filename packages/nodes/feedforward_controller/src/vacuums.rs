//! Vacuum generators: what a hand's reference asks of them, passed on to the driver in its command.
//!
//! A trajectory that names a generator has its force [N] as the effort of its last point. It counts from the next sample on, until there is
//! another: what is held stays held when its commander goes away.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use karakuri_model::Model;
use karakuri_ros::msg::trajectory_msgs::msg::JointTrajectory;

/// Forces of the vacuums of a robot's generators, shared with the thread that answers samples.
#[derive(Debug, Clone)]
pub(crate) struct Vacuums {
    names: Arc<[String]>,
    /// Bits of the forces; NaN of a generator that nobody has commanded yet. [N]
    forces: Arc<[AtomicU64]>,
}

impl Vacuums {
    /// Generators of a model, none of them commanded.
    pub(crate) fn new(model: &Model) -> Self {
        let none = || AtomicU64::new(f64::NAN.to_bits());
        Self {
            names: model.suctions.iter().map(|unit| unit.name.clone()).collect(),
            forces: model.suctions.iter().map(|_| none()).collect(),
        }
    }

    /// Names of the generators.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// Forces of the generators. [N]
    pub(crate) fn forces(&self) -> impl Iterator<Item = f64> {
        self.forces.iter().map(|force| f64::from_bits(force.load(Ordering::Relaxed)))
    }

    /// Takes the efforts of generators that a trajectory names; whether it names nothing else.
    pub(crate) fn take(&self, message: &JointTrajectory) -> bool {
        let mut is_all = !message.joint_names.is_empty();
        let efforts = message.points.last().map_or(&[][..], |point| &point.effort);
        for (i, name) in message.joint_names.iter().enumerate() {
            let generator = self.names.iter().position(|generator| generator == name);
            let Some(generator) = generator else {
                is_all = false;
                continue;
            };
            if let Some(effort) = efforts.get(i).filter(|effort| effort.is_finite()) {
                self.forces[generator].store(effort.to_bits(), Ordering::Relaxed);
            }
        }
        is_all
    }
}

#[cfg(test)]
mod tests {
    use karakuri_model::{NoAssets, Source, load};
    use karakuri_ros::msg::trajectory_msgs::msg::JointTrajectoryPoint;

    use super::*;

    fn vacuums() -> Vacuums {
        let urdf = r#"<robot name="r"><link name="base"/></robot>"#;
        let config = "suction:\n  pump:\n    pump: {flow: 1e-4, vacuum: 80000}\n    cups: {cup: {link: base, radius: 0.02}}\n";
        let source = Source::urdf("r.urdf", urdf).with_config("r.yaml", config);
        Vacuums::new(&load(&source, &mut NoAssets).unwrap().model)
    }

    fn message(names: &[&str], efforts: &[f64]) -> JointTrajectory {
        let point = JointTrajectoryPoint { effort: efforts.to_vec(), ..Default::default() };
        JointTrajectory {
            joint_names: names.iter().map(|name| (*name).to_owned()).collect(),
            points: vec![point],
            ..JointTrajectory::default()
        }
    }

    #[test]
    fn a_force_counts_until_the_next() {
        let vacuums = vacuums();
        assert!(vacuums.forces().all(f64::is_nan));
        assert!(vacuums.take(&message(&["pump"], &[12.0])));
        assert!(!vacuums.take(&message(&["shoulder"], &[3.0])));
        assert!(!vacuums.take(&message(&["shoulder", "pump"], &[3.0, 14.0])));
        assert_eq!(vacuums.forces().collect::<Vec<_>>(), [14.0]);
        // What is no force changes nothing.
        assert!(vacuums.take(&message(&["pump"], &[f64::NAN])));
        assert!(vacuums.take(&message(&["pump"], &[])));
        assert!(!vacuums.take(&message(&[], &[])));
        assert_eq!(vacuums.forces().collect::<Vec<_>>(), [14.0]);
    }
}
