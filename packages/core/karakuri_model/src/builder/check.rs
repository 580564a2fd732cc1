//! Checks of axes, limits and inertias.

use karakuri_spatial::{Inertia, InertiaError, Matrix6, Motion, Vector3, Vector6};

use super::{JointSpec, ModelBuilder};
use crate::diagnostic::{Report, Subject};
use crate::{JointKind, JointMotion, MAX_DOFS, Model};

/// Deviation of an axis's length from 1 that is rounding of the file's decimals. [-]
// `0.707 0.707 0` passes in silence; a length of 0.99 is a slip of the pen.
const UNIT_SLACK: f64 = 1e-3;
/// Radius of gyration below which a moment is none. [m]
// 10 nm: negative zeros of CAD programs, not a shape.
const ROUNDING: f64 = 1e-8;

/// Degrees of freedom of the largest robot: mass matrices are dense, of 200 MB then.
const DOFS_LIMIT: usize = 5000;

impl ModelBuilder {
    /// Checks that the robot's matrices have room.
    pub(super) fn check_size(&self, report: &mut Report) -> Option<()> {
        // Before anything is allocated by it: a generated file may ask for any number.
        let n: usize = self.joints.iter().flat_map(|j| &j.kind).map(JointKind::nv).sum();
        if n <= DOFS_LIMIT {
            return Some(());
        }
        report.error(
            &Subject::Robot,
            format!("robot `{}` has {n} degrees of freedom; {DOFS_LIMIT} at most", self.name),
            "make it several robots, or fix joints",
        );
        None
    }

    /// Makes axes unit; checks that limits and frictions are in range.
    pub(super) fn check_joints(&mut self, report: &mut Report) {
        for joint in &mut self.joints {
            check_axes(joint, report);
            check_dofs(joint, report);
            check_numbers(joint, report);
        }
    }

    /// Checks that masses and moments are finite and masses not negative.
    pub(super) fn check_links(&self, report: &mut Report) {
        for link in &self.links {
            let Err(error) = link.inertia.validate() else { continue };
            let (what, remedy) = match error {
                InertiaError::NegativeMass(mass) => (
                    format!("mass {mass} kg is negative"),
                    "write the mass in kg, at least 0".to_owned(),
                ),
                // Judged in `check_moments`, when it is known what else the body has.
                InertiaError::NegativeMoment(_) | InertiaError::TriangleInequality(..) => continue,
                _ => ("a number is NaN or infinite".to_owned(), "write finite numbers".to_owned()),
            };
            report.error(
                &Subject::Inertial(link.name.clone()),
                format!("link `{}`: {what}", link.name),
                remedy,
            );
        }
    }

    /// Checks that principal moments of bodies are not negative and satisfy the triangle inequality. A link of a body that is
    /// sound as a whole may break it, as cameras and covers in many real files do; so may a rounding, for URDF is taken by
    /// others as it is.
    pub(super) fn check_moments(&self, model: &Model, report: &mut Report) {
        const SIGNS: &str =
            "check the signs of ixy, ixz, iyz and that the moments are about the centre of mass";
        const UNITS: &str = "recompute the inertia: check units (kg·m²) and axes";
        for (link, frame) in self.links.iter().zip(&model.frames) {
            let Err(error) = link.inertia.validate() else { continue };
            let (what, remedy) = match error {
                InertiaError::NegativeMoment(moment) => {
                    (format!("principal moment {moment:.3e} kg·m² is negative"), SIGNS)
                }
                InertiaError::TriangleInequality(largest, sum) => (
                    format!(
                        "principal moment {largest:.4e} kg·m² exceeds the sum {:.4e} of the other two, \
                         which no mass distribution has",
                        sum.max(0.0)
                    ),
                    UNITS,
                ),
                _ => continue,
            };
            // From harmless to wrong: only a body that stays unphysical makes the mass matrix indefinite.
            let kept = match frame.body.map(|b| &model.bodies[b.0]) {
                None => Some("kept, for the link does not move; recompute it".to_owned()),
                Some(body) if is_sound(&body.inertia) => Some(format!(
                    "kept, for body `{}` is sound as a whole; recompute it",
                    body.name
                )),
                Some(_) if is_rounding(&link.inertia, error) => {
                    Some("kept, for it is a rounding; write 0".to_owned())
                }
                Some(_) => None,
            };
            let subject = Subject::Inertial(link.name.clone());
            let message = format!("link `{}`: {what}", link.name);
            match kept {
                Some(remedy) => report.warn(&subject, message, remedy),
                None => report.error(&subject, message, remedy),
            }
        }
    }

    /// Warns of a joint that moves and has the name of the floating base; it keeps its name.
    pub(super) fn check_base_name(&self, report: &mut Report) {
        // A fixed joint is merged away, and its name with it.
        let moves = |joint: &&JointSpec| joint.name == Self::FLOATING_BASE && joint.kind.is_some();
        let floats = matches!(self.base, crate::Base::Floating);
        if let Some(joint) = self.joints.iter().find(moves).filter(|_| floats) {
            report.warn(
                &Subject::Joint(joint.name.clone()),
                format!("joint `{}` has the name that the floating base uses", joint.name),
                format!("the floating base is `{}`; rename the joint", self.floating_base_name()),
            );
        }
    }

    /// Checks that every joint moves some inertia; without, no finite force would give it a finite acceleration.
    pub(super) fn check_mobility(model: &Model, report: &mut Report) {
        // Composite inertias at the neutral position, leaves first.
        let mut composite: Vec<Inertia> = model.bodies.iter().map(|b| b.inertia).collect();
        for i in (0..model.bodies.len()).rev() {
            if let Some(parent) = model.bodies[i].parent {
                // At the neutral position alone: elsewhere inertia about an axis vanishes by chance only.
                let moved = composite[i].transformed(&model.joints[i].pose_in_parent);
                // All that hangs on a joint moves with it: a link without mass may carry one that has some.
                composite[parent.0] = composite[parent.0].combined(&moved);
            }
        }
        for (i, joint) in model.joints.iter().enumerate() {
            // Armature stands on the diagonal of the mass matrix and makes its row positive whatever hangs there.
            if joint.armature > 0.0 || least_inertia(&composite[i], &joint.kind) > 0.0 {
                continue;
            }
            let body = &model.bodies[i].name;
            let (what, add) = if composite[i].mass == 0.0 {
                ("no mass", format!("give link `{body}` an <inertial>"))
            } else {
                ("no rotational inertia", format!("give link `{body}` a positive <inertia>"))
            };
            // A floating base cannot be fixed by a line in the URDF, and has no rotor.
            let is_base = i == 0 && matches!(model.base, crate::Base::Floating);
            let remedy = if is_base {
                add
            } else {
                format!("{add}, or make the joint fixed, or set its `armature` in the robot YAML")
            };
            report.error(
                &Subject::Link(body.clone()),
                format!("joint `{}` moves link `{body}`, which has {what}", joint.name),
                remedy,
            );
        }
    }
}

fn is_sound(inertia: &Inertia) -> bool {
    inertia.validate().is_ok()
}

/// Whether moments miss what they must be by no more than a radius of gyration of [`ROUNDING`].
fn is_rounding(inertia: &Inertia, error: InertiaError) -> bool {
    let missing = match error {
        InertiaError::NegativeMoment(moment) => -moment,
        InertiaError::TriangleInequality(largest, sum) => largest - sum,
        _ => return false,
    };
    // As `m r²` with a radius of gyration: a bound that fits links of any mass and size.
    missing <= inertia.mass * ROUNDING * ROUNDING
}

fn check_axes(joint: &mut JointSpec, report: &mut Report) {
    let name = joint.name.clone();
    match &mut joint.kind {
        Some(JointKind::Revolute { axis } | JointKind::Prismatic { axis }) => {
            make_unit(&name, axis, report);
        }
        Some(JointKind::Planar { x, y }) => {
            make_unit(&name, x, report);
            make_unit(&name, y, report);
            // Their cross product is the axis of the third coordinate: unit only where they are at a right angle.
            if x.dot(y).abs() > UNIT_SLACK {
                report.error(
                    &Subject::Axis(name.clone()),
                    format!("joint `{name}`: the in-plane axes are not at a right angle"),
                    "give two axes at a right angle",
                );
            }
        }
        _ => {}
    }
}

/// Checks that a joint that moves has one to six degrees of freedom.
fn check_dofs(joint: &JointSpec, report: &mut Report) {
    // Only a kind that a program brings can be out of this range.
    let Some(n) = joint.kind.as_ref().map(JointKind::nv) else { return };
    if !(1..=MAX_DOFS).contains(&n) {
        report.error(
            &Subject::Joint(joint.name.clone()),
            format!("joint `{}` has {n} degrees of freedom", joint.name),
            format!("a joint has 1 to {MAX_DOFS}; make it fixed, or split it"),
        );
    }
}

fn make_unit(name: &str, axis: &mut Vector3, report: &mut Report) {
    let subject = Subject::Axis(name.to_owned());
    let length = axis.norm();
    // Shorter ones have a direction of round-off only.
    if !length.is_finite() || length < 1e-9 {
        report.error(
            &subject,
            format!("joint `{name}`: axis ({} {} {}) has no direction", axis.x, axis.y, axis.z),
            "write a unit vector, such as <axis xyz=\"0 0 1\"/>",
        );
        return;
    }
    // Exactly unit from here on: algorithms take `q` for an angle or a length about it without asking.
    *axis /= length;
    if (length - 1.0).abs() > UNIT_SLACK {
        report.warn(
            &subject,
            format!("joint `{name}`: axis has length {length:.4}, not 1"),
            format!("taken as \"{:.6} {:.6} {:.6}\"", axis.x, axis.y, axis.z),
        );
    }
}

fn check_numbers(joint: &JointSpec, report: &mut Report) {
    let name = &joint.name;
    // Programs build robots, too: the readers of files let no such number through.
    let pose = joint.origin.rotation.iter().chain(joint.origin.translation.iter());
    if pose.clone().any(|x| !x.is_finite()) {
        report.error(
            &Subject::Joint(name.clone()),
            format!("joint `{name}`: origin holds NaN or infinity"),
            "write finite numbers",
        );
    }
    let limits = joint.limits;
    // Infinite limits are none and pass; NaN compares false with everything and needs its own question.
    if limits.lower.is_nan() || limits.upper.is_nan() || limits.lower > limits.upper {
        report.error(
            &Subject::Limit(name.clone()),
            format!(
                "joint `{name}`: lower limit {} is above upper limit {}",
                limits.lower, limits.upper
            ),
            "swap them, or check whether they are in rad (or m)",
        );
    }
    // Zero passes: of a URDF it was taken for "not set" before, and a program may mean it.
    let positive = [("velocity", limits.velocity), ("effort", limits.effort)];
    for (what, value) in positive {
        if value.is_nan() || value < 0.0 {
            report.error(
                &Subject::Limit(name.clone()),
                format!("joint `{name}`: {what} limit {value} is negative"),
                "write its magnitude, above 0",
            );
        }
    }
    let mut at_least_zero = vec![
        ("armature", joint.armature),
        ("viscous friction", joint.damping),
        ("back-EMF", joint.back_emf),
        ("dry friction", joint.friction),
    ];
    if let Some(drive) = joint.drive {
        at_least_zero.extend([("stiffness", drive.stiffness), ("drive damping", drive.damping)]);
    }
    if let Some(bumper) = joint.bumper {
        at_least_zero.push(("limit damping", bumper.damping));
        // Zero would be no limit, infinity the hard one, which has rows of its own.
        if bumper.stiffness.is_nan() || bumper.stiffness <= 0.0 || bumper.stiffness.is_infinite() {
            report.error(
                &Subject::Drive(name.clone()),
                format!("joint `{name}`: limit stiffness {} is not above 0", bumper.stiffness),
                "write a positive number, or leave out its stiffness and damping for a hard limit",
            );
        }
    }
    if !(0.0..=1.0).contains(&joint.limit_restitution) {
        report.error(
            &Subject::Drive(name.clone()),
            format!(
                "joint `{name}`: limit restitution {} is not from 0 to 1",
                joint.limit_restitution
            ),
            "write a number from 0 to 1",
        );
    }
    for (what, value) in at_least_zero {
        if !value.is_finite() || value < 0.0 {
            report.error(
                &Subject::Drive(name.clone()),
                format!("joint `{name}`: {what} {value} is not a number of at least 0"),
                "write a finite number of at least 0",
            );
        }
    }
}

/// Motion subspace of a custom joint at zero, in the axes of the body and at its origin. (n)
fn custom_subspace(motion: &dyn JointMotion) -> Vec<Vector6> {
    let n = motion.dof_kinds().len();
    let (q, mut columns) = ([0.0; MAX_DOFS], [Motion::default(); MAX_DOFS]);
    motion.subspace(&q[..n], &mut columns[..n]);
    // The composite is in the body's frame, the subspace in the joint's.
    let R = motion.pose(&q[..n]).rotation;
    let column = |S: &Motion| Motion::new(R.tr_mul(&S.angular), R.tr_mul(&S.linear)).to_vector();
    columns[..n].iter().map(column).collect()
}

/// The smallest inertia against any motion that the joint allows, given the composite inertia of what it carries;
/// 0 when it is nothing but rounding.
fn least_inertia(composite: &Inertia, kind: &JointKind) -> f64 {
    let subspace: Vec<Vector6> = match kind {
        JointKind::Revolute { axis } => vec![Vector6::new(axis.x, axis.y, axis.z, 0.0, 0.0, 0.0)],
        // A slide moves all of the mass alike, wherever it is.
        JointKind::Prismatic { .. } => return composite.mass,
        JointKind::Planar { x, y } => {
            // Translations along both axes and the turn about their normal, as the joint's three coordinates are.
            let n = x.cross(y);
            vec![
                Vector6::new(0.0, 0.0, 0.0, x.x, x.y, x.z),
                Vector6::new(0.0, 0.0, 0.0, y.x, y.y, y.z),
                Vector6::new(n.x, n.y, n.z, 0.0, 0.0, 0.0),
            ]
        }
        // Velocities of both kinds are in the parent's axes; a turn of the axes changes no eigenvalue.
        JointKind::Spherical => (0..3).map(|i| Vector6::ith(i, 1.0)).collect(),
        JointKind::Floating => (0..6).map(|i| Vector6::ith(i, 1.0)).collect(),
        JointKind::Custom(motion) => custom_subspace(motion.as_ref()),
    };
    // The least eigenvalue of Sᵀ I S is the smallest inertia against the joint's motions.
    let matrix: Matrix6 = composite.to_matrix();
    let reduced = nalgebra::DMatrix::from_fn(subspace.len(), subspace.len(), |r, c| {
        subspace[r].dot(&(matrix * subspace[c]))
    });
    let eigenvalues = reduced.symmetric_eigenvalues();
    // Eigenvalues of a singular matrix come out as round-off of its largest entry, of either sign.
    let rounding = 16.0 * f64::EPSILON * matrix.amax();
    let least = eigenvalues.min();
    if least > rounding { least } else { 0.0 }
}
