//! The mechanism file: links, joints, loops, payloads, forces, and a motion in closed form.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, bail, ensure};
use karakuri_control::nodal::{ForcePoint, Mechanism, Payload, Rule};
use karakuri_control::profile::Profile;
use karakuri_dynamics::{Data, forward_kinematics, update_velocities};
use karakuri_files::{load_robot, read_yaml};
use karakuri_model::{
    Base, BodyId, GeometrySpec, JointKind, JointSpec, LinkSpec, LoopFrames, LoopSpec, Model,
    ModelBuilder, Shape,
};
use karakuri_spatial::{Inertia, Matrix3, Pose, Vector3};
use serde::Deserialize;

use super::contact::{Contact, ContactPart};
use super::samples::{Samples, count};
use super::tracking::Feedback;
use crate::commands::robot::unknown;

/// Name of the link that is fixed to the world.
const GROUND: &str = "ground";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct MechanismFile {
    #[serde(default)]
    title: String,
    #[serde(default = "earth")]
    gravity: [f64; 3],
    robot: Option<RobotPart>,
    #[serde(default)]
    links: BTreeMap<String, LinkPart>,
    #[serde(default)]
    joints: BTreeMap<String, JointPart>,
    #[serde(default)]
    loops: BTreeMap<String, LoopPart>,
    #[serde(default)]
    payloads: Vec<PayloadPart>,
    #[serde(default)]
    force_points: BTreeMap<String, PointPart>,
    #[serde(default)]
    sharing: SharingPart,
    motion: Option<MotionPart>,
    feedback: Option<Feedback>,
    contact: Option<ContactPart>,
}

fn earth() -> [f64; 3] {
    [0.0, 0.0, -karakuri_dynamics::EARTH_GRAVITY]
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RobotPart {
    urdf: PathBuf,
    config: Option<PathBuf>,
    #[serde(default)]
    floating: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LinkPart {
    /// Mass of the link. [kg]
    mass: f64,
    /// Length of a uniform slender rod along x. [m]
    rod: Option<f64>,
    /// Centre of mass in the link. [m]
    com: Option<[f64; 3]>,
    /// Inertia xx, yy, zz, xy, xz, yz about the centre of mass. [kg·m²]
    inertia: Option<[f64; 6]>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Hinge,
    Slide,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct JointPart {
    #[serde(default = "ground")]
    parent: String,
    link: String,
    #[serde(default = "hinge")]
    kind: Kind,
    #[serde(default = "along_z")]
    axis: [f64; 3],
    #[serde(default)]
    at: [f64; 3],
    #[serde(default)]
    rpy: [f64; 3],
    #[serde(default = "yes")]
    driven: bool,
    /// Rated effort of its motor, for weighted sharing. [N·m or N]
    rating: Option<f64>,
    /// Rotor inertia at the joint. [kg·m² or kg]
    #[serde(default)]
    armature: f64,
    /// Viscous damping of the joint. [N·m·s/rad or N·s/m]
    #[serde(default)]
    damping: f64,
}

fn ground() -> String {
    GROUND.to_owned()
}

fn hinge() -> Kind {
    Kind::Hinge
}

fn along_z() -> [f64; 3] {
    [0.0, 0.0, 1.0]
}

fn yes() -> bool {
    true
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LoopPart {
    a: PointPart,
    b: PointPart,
    /// Locked directions, of `rx ry rz tx ty tz`.
    locked: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PointPart {
    link: String,
    #[serde(default)]
    at: [f64; 3],
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PayloadPart {
    link: String,
    #[serde(default)]
    at: [f64; 3],
    mass: f64,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SharingPart {
    #[default]
    LeastNorm,
    /// Weighted by the joints' `rating`.
    Weighted,
    /// Shares by loop.
    Ratio(BTreeMap<String, f64>),
    Squeeze {
        contacts: [String; 2],
        force: f64,
    },
    NoForce,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct MotionPart {
    /// Duration of the motion. [s]
    duration: Option<f64>,
    #[serde(default)]
    blend: Blend,
    /// Motions of the joints that lead; the others follow through the loops.
    #[serde(default)]
    joints: BTreeMap<String, JointMotion>,
    /// Approximate start of the joints that follow. [rad or m]
    #[serde(default)]
    start: BTreeMap<String, f64>,
    /// Exerted forces, by force point. [N]
    #[serde(default)]
    forces: BTreeMap<String, [f64; 3]>,
    /// Coefficient of sliding friction of a pushing force point, by force point. [-]
    #[serde(default)]
    sliding: BTreeMap<String, f64>,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Blend {
    #[default]
    Septic,
    Quintic,
    Cycloid,
}

/// Motion of a joint, `at + (to − at) s(t/duration) + swing (1 − cos 2π frequency t)`.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct JointMotion {
    at: f64,
    to: Option<f64>,
    #[serde(default)]
    swing: f64,
    #[serde(default)]
    frequency: f64,
}

/// Mechanism and the motion of its file.
#[derive(Debug)]
pub(super) struct Read {
    pub(super) title: String,
    pub(super) mechanism: Mechanism,
    /// Motion; `None` where the file has none, or only its start.
    pub(super) motion: Option<Motion>,
    pub(super) start: Start,
    /// Gains with which the motion is simulated, if it is.
    pub(super) feedback: Option<Feedback>,
    /// Simulation of the motion with contacts, if the file asks for it.
    pub(super) contact: Option<Contact>,
}

/// Approximate start of the joints that follow through loops.
#[derive(Debug, Clone)]
pub(super) struct Start {
    /// Start positions, neutral where the file gives none. [rad or m] (nq)
    pub(super) q: Vec<f64>,
    /// Whether the file gives each of them. (nv)
    pub(super) given: Vec<bool>,
}

/// Motion in closed form.
#[derive(Debug)]
pub(super) struct Motion {
    /// Duration of the motion. [s]
    pub(super) duration: f64,
    profile: Profile,
    /// Motion of each joint; `None` follows through the loops.
    joint_motions: Vec<Option<JointMotion>>,
    /// First guess of the positions. [rad or m] (nq)
    start: Vec<f64>,
    /// Constant forces at all force points. [N]
    forces: Vec<f64>,
    /// Friction coefficient at each force point. [-]
    sliding: Vec<f64>,
}

/// Speed below which sliding friction is reduced in proportion. [m/s]
const SLIDING_SPEED: f64 = 1e-3;

/// Reads a mechanism file.
pub(super) fn read(path: &Path) -> Result<Read> {
    let place = || path.display().to_string();
    let file: MechanismFile = read_yaml(path)?;
    build(file, path.parent().unwrap_or(Path::new(""))).with_context(place)
}

fn build(file: MechanismFile, folder: &Path) -> Result<Read> {
    let model = if let Some(robot) = &file.robot {
        ensure!(
            file.links.is_empty() && file.joints.is_empty() && file.loops.is_empty(),
            "`robot` and `links`, `joints`, `loops` exclude each other; leave one of them out"
        );
        let base = if robot.floating { Base::Floating } else { Base::Fixed(Pose::IDENTITY) };
        let config = robot.config.as_ref().map(|config| folder.join(config));
        load_robot(&folder.join(&robot.urdf), config.as_deref(), Some(base))?.model
    } else {
        check_masses(&file)?;
        model_of(&file, None)?
    };
    let model = Arc::new(model);
    let mut mechanism = Mechanism::new(Arc::clone(&model));
    let g = file.gravity;
    ensure!(g.iter().all(|g| g.is_finite()), "gravity: expected finite numbers, got {g:?}");
    mechanism.gravity = Vector3::from(g);
    for (name, joint) in &file.joints {
        let k = model.joints[joint_of(&model, name)?].v_start;
        mechanism.driven[k] = joint.driven;
    }
    for (i, payload) in file.payloads.iter().enumerate() {
        let place = || format!("payloads[{i}]");
        let (body, point) = point(&model, &payload.link, payload.at).with_context(place)?;
        let mass = payload.mass;
        ensure!(
            mass > 0.0 && mass.is_finite(),
            "payloads[{i}].mass: {mass} kg is no mass; write a positive number"
        );
        mechanism.payloads.push(Payload { body, point, mass });
    }
    for (name, at) in &file.force_points {
        let place = || format!("force_points.{name}");
        let (body, point) = point(&model, &at.link, at.at).with_context(place)?;
        mechanism.force_points.push(ForcePoint { name: name.clone(), body, point });
    }
    mechanism.rule = rule(&file, &model)?;
    let start = start(file.motion.as_ref(), &model)?;
    let with_duration = file.motion.as_ref().and_then(|part| Some((part, part.duration?)));
    let motion = if let Some((part, duration)) = with_duration {
        Some(motion(part, duration, &mechanism, &start)?)
    } else {
        let leads = file.motion.as_ref().is_some_and(|part| !part.joints.is_empty());
        ensure!(!leads, "motion: it has `joints`, but no `duration`; write it in s");
        None
    };
    let contact = file.contact.as_ref().map(|part| contact(&file, part)).transpose()?;
    Ok(Read { title: file.title, mechanism, motion, start, feedback: file.feedback, contact })
}

/// Checks that an inertia resists every joint.
fn check_masses(file: &MechanismFile) -> Result<()> {
    for (name, joint) in file.joints.iter().filter(|(_, joint)| joint.armature == 0.0) {
        let carries = |link: &str| {
            // A path through the joints is at most as long as their number.
            let mut at = link;
            (0..=file.joints.len()).any(|_| {
                let is_it = at == joint.link;
                let carrier = file.joints.values().find(|joint| joint.link == at);
                at = carrier.map_or(GROUND, |joint| joint.parent.as_str());
                is_it
            })
        };
        let moves_mass = file.links.iter().any(|(link, part)| part.mass != 0.0 && carries(link));
        ensure!(
            moves_mass || !file.links.contains_key(&joint.link),
            "links.{}.mass: 0 kg, and joint `{name}` moves nothing else; write its mass in kg, or the joint's `armature`",
            joint.link
        );
    }
    Ok(())
}

/// Arms without the object that they hold, and the object's mass.
fn contact(file: &MechanismFile, part: &ContactPart) -> Result<Contact> {
    ensure!(file.robot.is_none(), "contact: it needs `links` and `joints`, not a `robot`");
    ensure!(!part.tips.is_empty(), "contact.tips: name the links that touch, and where");
    let mut object: Vec<&str> = Vec::new();
    let mut next = part.object.link.as_deref();
    while let Some(link) = next.filter(|link| *link != GROUND) {
        let joint = file.joints.values().find(|joint| joint.link == link);
        let names = file.links.keys().map(String::as_str);
        let joint =
            joint.ok_or_else(|| unknown("link", link, names).context("contact.box.link"))?;
        object.push(link);
        next = Some(&joint.parent);
    }
    let arms = Arc::new(model_of(file, Some(&object))?);
    for link in part.tips.keys() {
        let names = arms.bodies.iter().map(|b| b.name.as_str());
        ensure!(arms.body(link).is_some(), unknown("link", link, names).context("contact.tips"));
    }
    let mass = object.iter().filter_map(|link| file.links.get(*link)).map(|link| link.mass).sum();
    Ok(Contact { part: part.clone(), arms, mass })
}

/// Model of the mechanism; or without an object's links and without loops, with balls at the tips.
fn model_of(file: &MechanismFile, without: Option<&[&str]>) -> Result<Model> {
    let (arms_only, object) = (without.is_some(), without.unwrap_or_default());
    ensure!(!file.links.is_empty(), "there are neither `links` nor a `robot`; give one of them");
    let mut builder = ModelBuilder::new("mechanism", Base::Fixed(Pose::IDENTITY))
        .link(LinkSpec::new(GROUND, Inertia::ZERO));
    let balls = file.contact.as_ref().filter(|_| arms_only).map(|c| (&c.tips, c.friction));
    for (name, link) in file.links.iter().filter(|(name, _)| !object.contains(&name.as_str())) {
        let inertia = inertia(link).with_context(|| format!("links.{name}"))?;
        let mut spec = LinkSpec::new(name, inertia);
        if let Some((ball, friction)) = balls.and_then(|(b, f)| Some((b.get(name)?, f))) {
            let at = Pose::from_translation(Vector3::from(ball.at));
            let shape = GeometrySpec::new(at, Shape::Sphere { radius: ball.radius });
            spec.collisions.push(GeometrySpec { friction, ..shape });
        }
        builder = builder.link(spec);
    }
    for (name, joint) in &file.joints {
        if object.contains(&joint.link.as_str()) {
            continue;
        }
        let axis = Vector3::from(joint.axis);
        ensure!(
            axis.norm() > 1e-9 && axis.norm().is_finite(),
            "joints.{name}.axis: {:?} has no direction; write as [0, 0, 1]",
            joint.axis
        );
        let axis = axis.normalize();
        let kind = match joint.kind {
            Kind::Hinge => JointKind::Revolute { axis },
            Kind::Slide => JointKind::Prismatic { axis },
        };
        let mut spec = JointSpec::new(name, &joint.parent, &joint.link, Some(kind))
            .at(Pose::from_xyz_rpy(joint.at, joint.rpy));
        (spec.armature, spec.damping) = (joint.armature, joint.damping);
        builder = builder.joint(spec);
    }
    for (name, part) in file.loops.iter().filter(|_| !arms_only) {
        let frame = |at: [f64; 3]| Pose::from_translation(Vector3::from(at));
        builder = builder.loop_joint(LoopSpec {
            name: name.clone(),
            link_a: part.a.link.clone(),
            link_b: part.b.link.clone(),
            frames: LoopFrames::OnLinks { a: frame(part.a.at), b: frame(part.b.at) },
            locked: locked(&part.locked).with_context(|| format!("loops.{name}.locked"))?,
            posture: None,
        });
    }
    builder.build().map_err(|problems| anyhow!("{problems}"))
}

fn inertia(link: &LinkPart) -> Result<Inertia> {
    let mass = link.mass;
    let inertia = match (link.rod, link.inertia) {
        (Some(length), None) => {
            ensure!(link.com.is_none(), "`rod` says where the centre of mass is; leave `com` out");
            ensure!(length > 0.0, "rod: {length} m is no length of a rod; write a positive number");
            let i = mass * length * length / 12.0;
            Inertia {
                mass,
                com: Vector3::new(0.5 * length, 0.0, 0.0),
                about_com: Matrix3::from_diagonal(&Vector3::new(0.0, i, i)),
            }
        }
        (None, Some([xx, yy, zz, xy, xz, yz])) => Inertia {
            mass,
            com: Vector3::from(link.com.unwrap_or_default()),
            about_com: Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz),
        },
        _ => bail!("give either `rod` or `inertia`, not both"),
    };
    Ok(inertia)
}

fn locked(names: &[String]) -> Result<[bool; 6]> {
    const NAMES: [&str; 6] = ["rx", "ry", "rz", "tx", "ty", "tz"];
    let mut locked = [false; 6];
    for name in names {
        let Some(k) = NAMES.iter().position(|known| known == name) else {
            bail!("no degree of freedom `{name}`; there are {}", NAMES.join(", "))
        };
        locked[k] = true;
    }
    Ok(locked)
}

/// Index of a joint by name; a floating base has none.
pub(super) fn joint_of(model: &Model, name: &str) -> Result<usize> {
    let first = usize::from(model.base == Base::Floating);
    let names = model.joints[first..].iter().map(|j| j.name.as_str());
    let found = model.joint(name).filter(|joint| joint.0 >= first);
    found.map(|joint| joint.0).ok_or_else(|| unknown("moving joint", name, names))
}

fn point(model: &Model, link: &str, at: [f64; 3]) -> Result<(BodyId, Vector3)> {
    let names = model.frames.iter().map(|f| f.name.as_str());
    let frame = model.frame(link).ok_or_else(|| unknown("link", link, names))?;
    let frame = &model.frames[frame.0];
    let body = frame.body.with_context(|| format!("link `{link}` does not move"))?;
    Ok((body, frame.pose_in_body.transform_point(&Vector3::from(at))))
}

fn rule(file: &MechanismFile, model: &Model) -> Result<Rule> {
    let loop_of = |name: &String| {
        let names = model.loops.iter().map(|l| l.name.as_str());
        model
            .loops
            .iter()
            .position(|l| l.name == *name)
            .ok_or_else(|| unknown("loop", name, names).context("sharing"))
    };
    Ok(match &file.sharing {
        SharingPart::LeastNorm => Rule::LeastNorm,
        SharingPart::NoForce => Rule::NoForce,
        SharingPart::Weighted => {
            let mut ratings = vec![1.0; model.nv];
            for (name, joint) in &file.joints {
                let k = model.joints[joint_of(model, name)?].v_start;
                ratings[k] = match joint.rating {
                    Some(rating) => rating,
                    None if !joint.driven => 1.0,
                    None => bail!("joints.{name}: `sharing: weighted` needs its `rating`"),
                };
            }
            Rule::Weighted(ratings)
        }
        SharingPart::Ratio(shares) => {
            let mut all = vec![0.0; model.loops.len()];
            for (name, share) in shares {
                all[loop_of(name)?] = *share;
            }
            Rule::Ratio(all)
        }
        SharingPart::Squeeze { contacts: [a, b], force } => {
            Rule::Squeeze { contacts: [loop_of(a)?, loop_of(b)?], force: *force }
        }
    })
}

fn start(part: Option<&MotionPart>, model: &Model) -> Result<Start> {
    let mut start = Start { q: model.neutral_position(), given: vec![false; model.nv] };
    let Some(part) = part else { return Ok(start) };
    for (name, value) in &part.start {
        let place = || format!("motion.start.{name}");
        let joint = &model.joints[joint_of(model, name).with_context(place)?];
        ensure!(
            joint.kind.nv() == 1,
            "motion.start.{name}: only hinges and slides begin at a number"
        );
        let leads = part.joints.contains_key(name);
        ensure!(!leads, "motion.start.{name}: it is in `joints` already");
        start.q[joint.q_start] = *value;
        start.given[joint.v_start] = true;
    }
    Ok(start)
}

fn motion(
    part: &MotionPart,
    duration: f64,
    mechanism: &Mechanism,
    start: &Start,
) -> Result<Motion> {
    let model = &mechanism.model;
    ensure!(
        duration > 0.0 && duration.is_finite(),
        "motion.duration: {duration} s is no duration; write a positive number"
    );
    let mut joint_motions = vec![None; model.joints.len()];
    for (name, motion) in &part.joints {
        let place = || format!("motion.joints.{name}");
        let joint = joint_of(model, name).with_context(place)?;
        ensure!(
            model.joints[joint].kind.nv() == 1,
            "motion.joints.{name}: only hinges and slides have a motion in closed form; give a trajectory file"
        );
        joint_motions[joint] = Some(*motion);
    }
    for (joint, motion) in model.joints.iter().zip(&joint_motions) {
        ensure!(
            motion.is_some()
                || joint.kind.nv() > 1
                || !mechanism.driven[joint.v_start]
                || start.given[joint.v_start],
            "motion.joints: driven joint `{0}` has no motion; write `{0}: {{at: 0}}` for one that rests, or under `start` \
             about where it begins if it follows through a loop",
            joint.name
        );
    }
    let points = &mechanism.force_points;
    let mut given = part.forces.keys().chain(part.sliding.keys());
    if let Some(name) = given.find(|name| points.iter().all(|p| p.name != **name)) {
        let names = points.iter().map(|p| p.name.as_str());
        return Err(unknown("force point", name, names).context("motion.forces and .sliding"));
    }
    let force = |p: &ForcePoint| part.forces.get(&p.name).copied().unwrap_or_default();
    let profile = match part.blend {
        Blend::Septic => Profile::Septic,
        Blend::Quintic => Profile::Quintic,
        Blend::Cycloid => Profile::Cycloid,
    };
    let forces = points.iter().flat_map(force).collect();
    let sliding = points.iter().map(|p| part.sliding.get(&p.name).copied().unwrap_or(0.0));
    let sliding = sliding.collect();
    let start = start.q.clone();
    Ok(Motion { duration, profile, joint_motions, start, forces, sliding })
}

impl Motion {
    /// Samples at a step, from the first instant to the last that fits; passive joints follow through the loops.
    pub(super) fn samples(&self, mechanism: &Mechanism, dt: f64) -> Result<Samples> {
        let model = &mechanism.model;
        let n = count(self.duration, dt)?;
        let mut samples = Samples {
            dt,
            q: self.start.repeat(n),
            v: vec![0.0; n * model.nv],
            vdot: vec![0.0; n * model.nv],
            forces: self.forces.repeat(n),
        };
        for sample in 0..n {
            let t = sample as f64 * dt;
            for (joint, motion) in model.joints.iter().zip(&self.joint_motions) {
                let Some(motion) = motion else { continue };
                let [q, v, vdot] = motion.at(t, self.duration, self.profile);
                samples.q[sample * model.nq + joint.q_start] = q;
                samples.v[sample * model.nv + joint.v_start] = v;
                samples.vdot[sample * model.nv + joint.v_start] = vdot;
            }
        }
        let mut leads = mechanism.clone();
        for (joint, motion) in model.joints.iter().zip(&self.joint_motions) {
            leads.driven[joint.v_start] = motion.is_some();
        }
        leads.complete(dt, &mut samples.q, &mut samples.v, &mut samples.vdot)?;
        if self.sliding.iter().any(|friction| *friction != 0.0) {
            self.add_friction(mechanism, &mut samples);
        }
        Ok(samples)
    }

    /// Adds the friction of force points that slide along a surface, which pushes it on.
    fn add_friction(&self, mechanism: &Mechanism, samples: &mut Samples) {
        let (model, points) = (&mechanism.model, &mechanism.force_points);
        let mut data = Data::new(model);
        let states = samples.q.chunks_exact(model.nq).zip(samples.v.chunks_exact(model.nv));
        for ((q, v), forces) in states.zip(samples.forces.chunks_exact_mut(3 * points.len())) {
            forward_kinematics(model, &mut data, q);
            update_velocities(model, &mut data, v);
            let each = points.iter().zip(&self.sliding).zip(forces.chunks_exact_mut(3));
            for ((point, friction), force) in each {
                let body = point.body.0;
                let place = data.pose_in_world[body].transform_point(&point.point);
                let moving = data.velocity[body];
                let rate = moving.linear + moving.angular.cross(&(place - data.origin));
                // The friction μ‖f‖ points along the velocity of the force point; it fades out below the sliding speed.
                let size = friction * Vector3::from_column_slice(force).norm();
                let slides = rate * (size / rate.norm().max(SLIDING_SPEED));
                force.iter_mut().zip(slides.iter()).for_each(|(force, slides)| *force += slides);
            }
        }
    }
}

impl JointMotion {
    fn at(&self, t: f64, duration: f64, profile: Profile) -> [f64; 3] {
        let blend = profile.sample(t, duration);
        let length = self.to.map_or(0.0, |to| to - self.at);
        let w = core::f64::consts::TAU * self.frequency;
        let (sin, cos) = (w * t).sin_cos();
        [
            self.at + length * blend.s + self.swing * (1.0 - cos),
            length * blend.velocity + self.swing * w * sin,
            length * blend.acceleration + self.swing * w * w * cos,
        ]
    }
}
