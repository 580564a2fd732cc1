//! Plot of a run: joints, bodies and energy over time, one panel each.

use karakuri_files::{Panel, Plot, Series};
use karakuri_physics::World;

use super::trace::joints;

/// Curves sampled during a run.
pub(super) struct History(Vec<Panel>);

impl History {
    pub(super) fn new(world: &World) -> Self {
        let mut positions = Vec::new();
        for robot in world.robot_ids().map(|id| world.robot(id)) {
            for joint in joints(robot.model()).filter(|j| j.kind.nq() == 1) {
                positions.push(format!("{} {}", robot.name(), joint.name));
            }
        }
        let mut bodies = Vec::new();
        for body in world.body_ids().map(|id| world.body(id)) {
            if !body.description().fixed {
                bodies.extend(
                    ["x", "y", "z"].map(|axis| format!("{} {axis}", body.description().name)),
                );
            }
        }
        let energies = ["kinetic", "potential", "sum"].map(str::to_owned).to_vec();
        let panel = |(label, names): (&str, Vec<String>)| Panel {
            x_label: "time [s]".to_owned(),
            y_label: label.to_owned(),
            series: names.into_iter().map(|name| Series::new(name, Vec::new())).collect(),
            ..Panel::default()
        };
        let panels = [
            ("joint position [rad or m]", positions),
            ("body position [m]", bodies),
            ("energy [J]", energies),
        ];
        Self(panels.into_iter().map(panel).collect())
    }

    pub(super) fn sample(&mut self, world: &mut World) {
        let mut positions = Vec::new();
        for robot in world.robot_ids().map(|id| world.robot(id)) {
            let single = joints(robot.model()).filter(|j| j.kind.nq() == 1);
            positions.extend(single.map(|j| robot.q()[j.q_start]));
        }
        let mut bodies = Vec::new();
        for body in world.body_ids().map(|id| world.body(id)) {
            if !body.description().fixed {
                bodies.extend(body.pose().translation.iter());
            }
        }
        let energy = world.energy();
        let energies = vec![energy.kinetic, energy.potential, energy.kinetic + energy.potential];
        for (panel, values) in self.0.iter_mut().zip([positions, bodies, energies]) {
            for (series, value) in panel.series.iter_mut().zip(values) {
                series.points.push((world.time(), value));
            }
        }
    }

    /// Figure of the curves; panels without curves are left out.
    pub(super) fn into_plot(self, title: String) -> Plot {
        let panels = self.0.into_iter().filter(|panel| !panel.series.is_empty()).collect();
        Plot { title, panels }
    }
}
