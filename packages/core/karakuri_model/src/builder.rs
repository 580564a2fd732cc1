//! A robot by names, before it is checked: readers fill it, and programs build robots with it.
//!
//! [`ModelBuilder::build`] checks everything (names, tree, axes, limits, inertias, couplings, loops) and reports every
//! problem at once; after it no algorithm checks again.

mod attach;
mod check;
mod couple;
mod merge;
mod place;
mod tree;

use karakuri_spatial::{Inertia, Pose, Vector3};

use crate::diagnostic::{Diagnostic, Diagnostics, Report};
use crate::{
    Base, Bumper, Cone, Drive, JointKind, Limits, Model, MotorSpec, SensorKind, SensorNoise, Shape,
    SuctionUnit,
};

/// A link: a rigid piece, and a frame of its own name.
#[derive(Debug, Clone)]
pub struct LinkSpec {
    /// Name of the link.
    pub name: String,
    /// Inertia in the link's frame; [`Inertia::ZERO`] for a mere frame.
    pub inertia: Inertia,
    /// Shapes that are drawn.
    pub visuals: Vec<GeometrySpec>,
    /// Shapes that touch.
    pub collisions: Vec<GeometrySpec>,
}

impl LinkSpec {
    /// A link without shapes.
    pub fn new(name: &str, inertia: Inertia) -> Self {
        Self { name: name.to_owned(), inertia, visuals: Vec::new(), collisions: Vec::new() }
    }
}

/// A shape on a link.
#[derive(Debug, Clone)]
pub struct GeometrySpec {
    /// Pose in the link's frame.
    pub pose: Pose,
    /// Shape in its own frame.
    pub shape: Shape,
    /// RGBA, 0 to 1.
    pub color: [f32; 4],
    /// Coulomb friction coefficient. [-]
    pub friction: f64,
    /// Coefficient of restitution. [-]
    pub restitution: f64,
}

impl GeometrySpec {
    /// Coulomb friction coefficient where no file sets one. [-]
    // Rubber on a hard floor, as of feet and finger pads; `materials` in the robot YAML sets others.
    pub const DEFAULT_FRICTION: f64 = 0.8;
    /// Colour where no file sets one. (RGBA)
    pub const DEFAULT_COLOR: [f32; 4] = [0.7, 0.7, 0.7, 1.0];

    /// A grey shape with the default friction and no restitution.
    pub fn new(pose: Pose, shape: Shape) -> Self {
        Self {
            pose,
            shape,
            color: Self::DEFAULT_COLOR,
            friction: Self::DEFAULT_FRICTION,
            // Most things that robots touch do not bounce; those that do are named in the robot YAML.
            restitution: 0.0,
        }
    }
}

/// A joint of the tree, from a parent link to a child link.
#[derive(Debug, Clone)]
pub struct JointSpec {
    /// Name of the joint.
    pub name: String,
    /// Name of the parent link.
    pub parent: String,
    /// Name of the child link.
    pub child: String,
    /// Motion of the child; `None` is fixed.
    pub kind: Option<JointKind>,
    /// Pose of the joint frame, and of the child link at `q = 0`, in the parent link's frame.
    pub origin: Pose,
    /// Limits of a joint with one degree of freedom.
    pub limits: Limits,
    /// Spring and damper at its limits of position; `None`: they are hard.
    pub bumper: Option<Bumper>,
    /// Part of its speed with which it leaves a hard limit of position, 0 to 1. [-]
    pub limit_restitution: f64,
    /// Limits of a ball joint.
    pub cone: Option<Cone>,
    /// Reflected rotor inertia. [kg·m² or kg]
    pub armature: f64,
    /// Effort that the joint loses a velocity: viscous friction, and the motor's back-EMF. [N·m·s/rad or N·s/m]
    pub damping: f64,
    /// Part of `damping` that is the back-EMF of the motor, which a measured current is without. [N·m·s/rad or N·s/m]
    pub back_emf: f64,
    /// Dry friction. [N·m or N]
    pub friction: f64,
    /// The servo, if the joint is driven.
    pub drive: Option<Drive>,
    /// The joint it follows, if it does.
    pub mimic: Option<MimicSpec>,
}

/// A follower: this joint's position = multiplier · leader's position + offset.
#[derive(Debug, Clone)]
pub struct MimicSpec {
    /// Name of the joint it follows.
    pub leader: String,
    /// Factor of the leader's position. [-]
    pub multiplier: f64,
    /// Position where the leader is at zero. [rad or m]
    pub offset: f64,
}

impl JointSpec {
    /// A joint of some kind, unlimited and frictionless.
    pub fn new(name: &str, parent: &str, child: &str, kind: Option<JointKind>) -> Self {
        Self {
            name: name.to_owned(),
            parent: parent.to_owned(),
            child: child.to_owned(),
            kind,
            origin: Pose::IDENTITY,
            limits: Limits::NONE,
            bumper: None,
            limit_restitution: 0.0,
            cone: None,
            armature: 0.0,
            damping: 0.0,
            back_emf: 0.0,
            friction: 0.0,
            drive: None,
            mimic: None,
        }
    }

    /// Fixed joint: the two links are one body.
    pub fn fixed(name: &str, parent: &str, child: &str) -> Self {
        Self::new(name, parent, child, None)
    }

    /// Rotation about an axis of the joint frame.
    pub fn revolute(name: &str, parent: &str, child: &str, axis: Vector3) -> Self {
        Self::new(name, parent, child, Some(JointKind::Revolute { axis }))
    }

    /// Translation along an axis of the joint frame.
    pub fn prismatic(name: &str, parent: &str, child: &str, axis: Vector3) -> Self {
        Self::new(name, parent, child, Some(JointKind::Prismatic { axis }))
    }

    /// The same joint with its frame placed in the parent link.
    #[must_use]
    pub fn at(mut self, origin: Pose) -> Self {
        self.origin = origin;
        self
    }
}

/// A joint that closes a loop.
#[derive(Debug, Clone)]
pub struct LoopSpec {
    /// Name of the loop joint.
    pub name: String,
    /// Link on side A.
    pub link_a: String,
    /// Link on side B.
    pub link_b: String,
    /// Frames of the joint on both sides.
    pub frames: LoopFrames,
    /// Locked relative degrees of freedom, in A's joint frame: rotation x y z, translation x y z.
    pub locked: [bool; 6],
    /// Name of the posture in which the loop is closed; `None` is the neutral one.
    pub posture: Option<String>,
}

/// Frames of a loop joint.
#[derive(Debug, Clone, Copy)]
pub enum LoopFrames {
    /// One frame on each link, in the links' own frames.
    OnLinks {
        /// Pose in link A's frame.
        a: Pose,
        /// Pose in link B's frame.
        b: Pose,
    },
    /// One frame in the root link's frame, for both sides, in the posture that closes the loop.
    InRoot(Pose),
}

/// A sensor on a link.
#[derive(Debug, Clone)]
pub struct SensorSpec {
    /// Name; also the last part of its topic.
    pub name: String,
    /// Link it is fixed to.
    pub link: String,
    /// Quantity that it measures.
    pub kind: SensorKind,
    /// Noise of its readings; `None`: they are exact.
    pub noise: Option<SensorNoise>,
}

/// A hand of the robot.
#[derive(Debug, Clone, Default)]
pub struct EndEffectorSpec {
    /// Name of the plug-in that drives it.
    pub kind: String,
    /// Link at the tool centre.
    pub tool: String,
    /// Names of the joints that drive it.
    pub joints: Vec<String>,
    /// Sensors that feel the object.
    pub sensors: Vec<String>,
    /// Numbers the plug-in needs, by name; SI units.
    pub parameters: Vec<(String, f64)>,
}

/// Builds a [`Model`]; see the crate's example.
#[derive(Debug, Clone)]
pub struct ModelBuilder {
    pub(crate) name: String,
    pub(crate) base: Base,
    pub(crate) links: Vec<LinkSpec>,
    pub(crate) joints: Vec<JointSpec>,
    pub(crate) loops: Vec<LoopSpec>,
    pub(crate) motors: Vec<MotorSpec>,
    pub(crate) sensors: Vec<SensorSpec>,
    pub(crate) suctions: Vec<SuctionUnit<String>>,
    pub(crate) ignored_pairs: Vec<(String, String)>,
    pub(crate) touching_pairs: Vec<(String, String)>,
    pub(crate) end_effector: Option<EndEffectorSpec>,
    pub(crate) postures: Vec<(String, Vec<(String, f64)>)>,
    pub(crate) groups: Vec<(String, Vec<String>)>,
    /// Whether the readers could read all joints; if not, links without parent are no news.
    pub(crate) all_joints: bool,
}

impl ModelBuilder {
    /// Name of the joint that a floating base adds; with underscores where the robot has a joint of that name.
    pub const FLOATING_BASE: &str = "floating_base";

    /// A robot without links.
    pub fn new(name: &str, base: Base) -> Self {
        Self {
            name: name.to_owned(),
            base,
            links: Vec::new(),
            joints: Vec::new(),
            loops: Vec::new(),
            motors: Vec::new(),
            sensors: Vec::new(),
            suctions: Vec::new(),
            ignored_pairs: Vec::new(),
            touching_pairs: Vec::new(),
            end_effector: None,
            postures: Vec::new(),
            groups: Vec::new(),
            all_joints: true,
        }
    }

    /// Adds a link.
    #[must_use]
    pub fn link(mut self, link: LinkSpec) -> Self {
        self.links.push(link);
        self
    }

    /// Adds a joint of the tree.
    #[must_use]
    pub fn joint(mut self, joint: JointSpec) -> Self {
        self.joints.push(joint);
        self
    }

    /// Adds a joint that closes a loop.
    #[must_use]
    pub fn loop_joint(mut self, joint: LoopSpec) -> Self {
        self.loops.push(joint);
        self
    }

    /// Adds a motor.
    #[must_use]
    pub fn motor(mut self, motor: MotorSpec) -> Self {
        self.motors.push(motor);
        self
    }

    /// Adds a sensor.
    #[must_use]
    pub fn sensor(mut self, sensor: SensorSpec) -> Self {
        self.sensors.push(sensor);
        self
    }

    /// Ignores contacts between two links.
    #[must_use]
    pub fn ignore_contact(mut self, link_a: &str, link_b: &str) -> Self {
        self.ignored_pairs.push((link_a.to_owned(), link_b.to_owned()));
        self
    }

    /// Lets two links touch although they overlap in the default posture.
    #[must_use]
    pub fn keep_contact(mut self, link_a: &str, link_b: &str) -> Self {
        self.touching_pairs.push((link_a.to_owned(), link_b.to_owned()));
        self
    }

    /// Names the hand.
    #[must_use]
    pub fn end_effector(mut self, end_effector: EndEffectorSpec) -> Self {
        self.end_effector = Some(end_effector);
        self
    }

    /// Adds a named posture. Positions in [rad or m].
    #[must_use]
    pub fn posture(mut self, name: &str, positions: &[(&str, f64)]) -> Self {
        let positions = positions.iter().map(|&(joint, q)| (joint.to_owned(), q)).collect();
        self.postures.push((name.to_owned(), positions));
        self
    }

    /// Adds a named group of joints.
    #[must_use]
    pub fn group(mut self, name: &str, joints: &[&str]) -> Self {
        let joints = joints.iter().map(|&joint| joint.to_owned()).collect();
        self.groups.push((name.to_owned(), joints));
        self
    }

    /// Checks the robot and makes the model; all problems at once if there are errors.
    ///
    /// # Errors
    /// When any problem is an error; all problems, with the warnings.
    pub fn build(self) -> Result<Model, Diagnostics> {
        self.build_with_warnings().map(|(model, _)| model)
    }

    /// As [`Self::build`], with the warnings.
    ///
    /// # Errors
    /// As [`Self::build`].
    pub fn build_with_warnings(mut self) -> Result<(Model, Vec<Diagnostic>), Diagnostics> {
        let mut report = Report::default();
        let model = self.check_and_build(&mut report);
        report.finish(model)
    }

    /// Runs the stages, one call each; each reports all it finds, and the model is made only of what passed.
    pub(crate) fn check_and_build(&mut self, report: &mut Report) -> Option<Model> {
        // Alone at once: what follows allocates by this number.
        self.check_size(report)?;
        self.check_joints(report);
        self.check_links(report);
        // By names, and before the tree, so that mistakes of both are in one report.
        let couplings = self.resolve_couplings(report);
        let tree = self.check_tree(report);
        if tree.is_none() || report.has_errors() {
            // Without a model only the names of links can be asked; that much is reported in the same run.
            self.check_attachment_names(report);
            return None;
        }
        // Only now: merging follows names and parents without asking whether they exist.
        let mut model = self.merge_links(&tree?);
        self.check_base_name(report);
        // Of bodies and not links: a link that is wrong alone may be sound with those fixed to it.
        self.check_moments(&model, report);
        // With a wrong inertia, a joint that seems to move nothing may be its consequence.
        if !report.has_errors() {
            Self::check_mobility(&model, report);
        }
        // Before what is attached: groups, motors and loops ask which joints follow others.
        self.apply_couplings(&mut model, &couplings);
        self.attach(&mut model, report);
        (!report.has_errors()).then_some(model)
    }
}
