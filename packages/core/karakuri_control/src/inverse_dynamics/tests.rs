use karakuri_dynamics::loops::{ConstraintEmbedding, MotionMut};
use karakuri_dynamics::{Data, forward_kinematics, rnea};
use karakuri_model::{Base, BodyId, LoopJoint, Model};
use karakuri_spatial::Pose;
use karakuri_testkit::{Kind, Random, random_position, random_tree, random_vector};

use super::*;

/// A random tree of hinges and slides whose last body a ball joint ties to another body or to the world, and a position
/// at which it is closed.
fn closed_tree(seed: u64) -> (Model, Vec<f64>) {
    let kinds = &[Kind::Revolute, Kind::Prismatic];
    let mut model = random_tree(seed, 8, Base::Fixed(Pose::IDENTITY), kinds);
    let mut random = Random::new(seed + 100);
    let q = random_position(&model, &mut random);
    let mut data = Data::new(&model);
    forward_kinematics(&model, &mut data, &q);
    let body_b = BodyId(model.bodies.len() - 1);
    let body_a = (!seed.is_multiple_of(3)).then(|| BodyId(random.below(body_b.0)));
    let pose_in_b = random.pose(0.3);
    let X_WB = data.pose_in_world[body_b.0] * pose_in_b;
    let pose_in_a = body_a.map_or(X_WB, |a| data.pose_in_world[a.0].inverse() * X_WB);
    let locked = [false, false, false, true, true, true];
    let (name, body_b) = ("closure".to_owned(), Some(body_b));
    model.loops.push(LoopJoint { name, body_a, pose_in_a, body_b, pose_in_b, locked });
    (model, q)
}

/// A closed tree in motion.
struct Moving {
    model: Model,
    q: Vec<f64>,
    v: Vec<f64>,
    vdot: Vec<f64>,
    /// A drive at every independent coordinate. (nv)
    driven: Vec<bool>,
}

impl Moving {
    fn new(seed: u64) -> Self {
        let (model, mut q) = closed_tree(seed);
        let mut random = Random::new(seed);
        let [mut v, mut vdot] = [(); 2].map(|()| random_vector(model.nv, &mut random));
        let mut embedding = ConstraintEmbedding::new(&model);
        let motion = MotionMut { q: &mut q, v: &mut v, vdot: &mut vdot };
        let passive = vec![false; model.nv];
        let gap = embedding.complete(&model, &mut Data::new(&model), &passive, motion);
        assert!(gap < 1e-12, "seed {seed}: {gap}");
        let driven = (0..model.nv).map(|k| !embedding.is_dependent(k)).collect();
        Self { model, q, v, vdot, driven }
    }

    fn efforts(&self, name: &str, driven: &[bool]) -> Vec<f64> {
        let Self { model, q, v, vdot, .. } = self;
        let mut tau = vec![f64::NAN; model.nv];
        let motion = DesiredMotion { q, v, vdot, driven, external: &[] };
        let realised = method(name, model).unwrap().efforts(model, &motion, &mut tau);
        assert!(realised.missing_effort < 1e-6, "{name}: {realised:?}");
        tau
    }

    /// Efforts of all coordinates of the tree whose loop is cut.
    fn tree_efforts(&self) -> Vec<f64> {
        let Self { model, q, v, vdot, .. } = self;
        let mut tau = rnea(model, &mut Data::new(model), q, v, vdot, &[]).to_vec();
        for joint in &model.joints {
            let k = joint.v_start;
            tau[k] += joint.armature * vdot[k] + joint.damping * v[k];
        }
        tau
    }
}

/// Largest difference of efforts, relative to the largest effort.
fn difference(a: &[f64], b: &[f64]) -> f64 {
    let scale = b.iter().fold(f64::MIN_POSITIVE, |s, x| s.max(x.abs()));
    a.iter().zip(b).fold(0.0, |e: f64, (a, b)| e.max((a - b).abs())) / scale
}

#[test]
fn all_methods_agree_on_random_loops() {
    for seed in 0..60 {
        let moving = Moving::new(seed);
        let exact = moving.efforts("recursive", &moving.driven);
        for (name, tolerance) in [("simulated", 1e-8), ("nodal", 1e-4)] {
            let error = difference(&moving.efforts(name, &moving.driven), &exact);
            assert!(error < tolerance, "{name}, seed {seed}: {error:.1e}");
        }
    }
}

#[test]
fn all_methods_agree_on_random_loops_with_redundant_drives() {
    for seed in 0..60 {
        let moving = Moving::new(seed);
        let mut driven = moving.driven.clone();
        if let Some(k) = driven.iter().position(|driven| !driven) {
            driven[k] = true;
        }
        let exact = moving.efforts("recursive", &driven);
        for (name, tolerance) in [("simulated", 1e-8), ("nodal", 1e-4)] {
            let error = difference(&moving.efforts(name, &driven), &exact);
            assert!(error < tolerance, "{name}, seed {seed}: {error:.1e}");
        }
    }
}

/// Loops do no work: the drives give the power that the cut tree takes, whoever shares it.
#[test]
fn the_drives_supply_the_power_of_the_tree() {
    for seed in 0..60 {
        let moving = Moving::new(seed);
        let power = |tau: &[f64]| tau.iter().zip(&moving.v).map(|(t, v)| t * v).sum::<f64>();
        let needed = power(&moving.tree_efforts());
        let mut redundant = moving.driven.clone();
        redundant.fill(true);
        for driven in [&moving.driven, &redundant] {
            let given = power(&moving.efforts("recursive", driven));
            let error = (given - needed).abs();
            assert!(error < 1e-8 * (1.0 + needed.abs()), "seed {seed}: {given} is not {needed}");
        }
    }
}

/// Redundant drives give the efforts of least norm of all that realise the motion.
#[test]
fn redundant_drives_never_need_more_than_the_fewest() {
    for seed in 0..60 {
        let moving = Moving::new(seed);
        let norm = |tau: &[f64]| tau.iter().map(|t| t * t).sum::<f64>();
        let fewest = norm(&moving.efforts("recursive", &moving.driven));
        let all = norm(&moving.efforts("recursive", &vec![true; moving.model.nv]));
        assert!(all <= fewest * (1.0 + 1e-9), "seed {seed}: {all} > {fewest}");
    }
}
