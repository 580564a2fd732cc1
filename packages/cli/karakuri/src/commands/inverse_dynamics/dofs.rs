//! Names of a mechanism's degrees of freedom.

use karakuri_control::nodal::Mechanism;
use karakuri_model::DofKind;

/// Names of the velocity coordinates, and units of their efforts.
pub(super) fn dof_names(mechanism: &Mechanism) -> Vec<(String, &'static str)> {
    use karakuri_model::JointKind::{Custom, Floating, Planar, Prismatic, Revolute, Spherical};
    let mut names = Vec::with_capacity(mechanism.model.nv);
    for joint in &mechanism.model.joints {
        let parts: &[(&str, &str)] = match &joint.kind {
            Custom(motion) => {
                let unit = |f: &DofKind| if *f == DofKind::Angle { "N·m" } else { "N" };
                let single = motion.dof_kinds().len() == 1;
                names.extend(motion.dof_kinds().iter().enumerate().map(|(i, kind)| {
                    let part = if single { String::new() } else { format!(".{i}") };
                    (format!("{}{part}", joint.name), unit(kind))
                }));
                continue;
            }
            Revolute { .. } => &[("", "N·m")],
            Prismatic { .. } => &[("", "N")],
            Spherical => &[(".x", "N·m"), (".y", "N·m"), (".z", "N·m")],
            Planar { .. } => &[(".x", "N"), (".y", "N"), (".turn", "N·m")],
            Floating => &[
                (".fx", "N"),
                (".fy", "N"),
                (".fz", "N"),
                (".mx", "N·m"),
                (".my", "N·m"),
                (".mz", "N·m"),
            ],
        };
        names.extend(parts.iter().map(|(part, unit)| (format!("{}{part}", joint.name), *unit)));
    }
    names
}
