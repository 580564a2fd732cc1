//! Pairs of links that a planner need not check for collisions, as `MoveIt`'s setup assistant finds them: by postures all over the joints'
//! ranges.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use karakuri_dynamics::{Reduction, random_position};
use karakuri_model::{BodyId, FrameId, JointKind, Model};
use karakuri_physics::{World, WorldSettings};

/// Reason for which a pair is not checked, in the words of an SRDF.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reason {
    /// Linked by a joint, or part of one body.
    Adjacent,
    /// Named by the robot YAML or its SRDF.
    User,
    /// They overlap in the default posture.
    Default,
    /// They touch in every posture.
    Always,
    /// They touch in none.
    Never,
}

impl Reason {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Adjacent => "Adjacent",
            Self::User => "User",
            Self::Default => "Default",
            Self::Always => "Always",
            Self::Never => "Never",
        }
    }
}

type Pair = (FrameId, FrameId);

/// Pairs that are not checked, by links in the model's order; none for a robot that the physics cannot take. `done` is called after
/// each posture.
pub(super) fn disabled(
    model: &Model,
    samples: u32,
    mut done: impl FnMut(),
) -> BTreeMap<Pair, Reason> {
    let solid: BTreeSet<FrameId> = model.collisions.iter().map(|shape| shape.frame).collect();
    let solid: Vec<FrameId> = solid.into_iter().collect();
    let mut counts: BTreeMap<Pair, u32> = BTreeMap::new();
    let mut world = World::new(WorldSettings::default());
    let Ok(robot) =
        world.add_robot(&model.name, Arc::new(model.clone()), &model.default_position())
    else {
        return BTreeMap::new();
    };
    let (postures, still) = (Postures::new(model), vec![0.0; model.nv]);
    for sample in 0..samples {
        if world.set_robot_state(robot, &postures.position(sample), &still).is_ok() {
            for pair in world.update_touching_links(robot) {
                *counts.entry(pair).or_default() += 1;
            }
        }
        done();
    }
    let through: BTreeSet<[&str; 2]> = world
        .links_let_through(robot)
        .iter()
        .map(|o| [o.links[0].as_str(), o.links[1].as_str()])
        .collect();
    let named = |(a, b): Pair, pairs: &[Pair]| pairs.contains(&(a, b)) || pairs.contains(&(b, a));
    let mut disabled = BTreeMap::new();
    for (i, &b) in solid.iter().enumerate() {
        for &a in &solid[..i] {
            let pair = (a.min(b), a.max(b));
            let [one, other] = [pair.0, pair.1].map(|id| &model.frames[id.0]);
            let is_through = through.contains(&[&*one.name, &*other.name])
                || through.contains(&[&*other.name, &*one.name]);
            let count = counts.get(&pair).copied().unwrap_or(0);
            let reason = if one.body == other.body || model.are_chained(one.body, other.body, 1) {
                Reason::Adjacent
            } else if named(pair, &model.ignored_pairs) {
                Reason::User
            } else if is_through {
                Reason::Default
            } else if count == samples && samples > 0 {
                Reason::Always
            } else if count == 0 && !named(pair, &model.touching_pairs) {
                Reason::Never
            } else {
                continue;
            };
            disabled.insert(pair, reason);
        }
    }
    disabled
}

/// Postures that fill the ranges of all joints evenly.
struct Postures<'a> {
    model: &'a Model,
    reduction: Reduction,
    /// Joints of closed loops, which cannot be chosen each for itself: they keep the values of a posture.
    tied: BTreeSet<BodyId>,
}

impl<'a> Postures<'a> {
    fn new(model: &'a Model) -> Self {
        Self { model, reduction: Reduction::new(model), tied: tied(model) }
    }

    /// Positions of a posture by its number. (nq)
    fn position(&self, sample: u32) -> Vec<f64> {
        let model = self.model;
        let mut q = model.default_position();
        if let Some(posture) = model.postures.get(sample as usize % (model.postures.len() + 1)) {
            for &(joint, position) in &posture.positions {
                q[model.joints[joint.0].q_start] = position;
            }
        }
        let mut random = q.clone();
        random_position(model, &mut even(sample, model.nq + 3), &mut random);
        for (i, joint) in model.joints.iter().enumerate() {
            // A base that floats changes nothing between links.
            if self.tied.contains(&BodyId(i)) || matches!(joint.kind, JointKind::Floating) {
                continue;
            }
            let coordinates = joint.q_start..joint.q_start + joint.kind.nq();
            q[coordinates.clone()].copy_from_slice(&random[coordinates]);
        }
        self.reduction.project_position(&mut q);
        q
    }
}

/// Joints between the links that loops join.
fn tied(model: &Model) -> BTreeSet<BodyId> {
    let up = |body: Option<BodyId>| {
        std::iter::successors(body, |id| model.bodies[id.0].parent).collect::<BTreeSet<_>>()
    };
    let loops = model.loops.iter();
    loops.flat_map(|l| &up(l.body_a) ^ &up(l.body_b)).collect()
}

/// Numbers of a sequence that fills the unit cube evenly: `i φ⁻ᵏ mod 1` with `φ^(n+1) = φ + 1`. [Roberts 2018, `R_n`]
fn even(sample: u32, n: usize) -> impl FnMut() -> f64 {
    let power = 1.0 / (n as f64 + 1.0);
    let ratio = (0..30).fold(2.0_f64, |x, _| (1.0 + x).powf(power));
    let mut step = 1.0;
    move || {
        step /= ratio;
        (0.5 + f64::from(sample) * step).fract()
    }
}
