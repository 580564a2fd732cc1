//! Redundant drives: their targets are kept to the last bit, the error falls with the square of the step, and targets
//! that contradict each other are refused.
#![expect(clippy::unwrap_used, reason = "a test says so")]

use std::sync::Arc;

use karakuri_control::nodal::{Mechanism, NodalError, Scheme, Target, Variant};
use karakuri_dynamics::{Data, forward_kinematics};
use karakuri_model::{
    Base, JointKind, JointSpec, LinkSpec, LoopFrames, LoopSpec, Model, ModelBuilder,
};
use karakuri_spatial::{Inertia, Matrix3, Pose, Vector3};
use karakuri_testkit::Random;

const PIN: [bool; 6] = [false, false, false, true, true, false];
const PLANAR_WELD: [bool; 6] = [false, false, true, true, true, false];
const WELD: [bool; 6] = [true; 6];
const DURATION: f64 = 0.8;

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few hundred")]
fn samples(dt: f64) -> usize {
    (DURATION / dt).round() as usize + 1
}

/// Arms that hold an object; it lies where they have it at the posture in hand.
struct Grasp {
    n_arms: usize,
    n_links: usize,
    planar: bool,
    locked: [bool; 6],
    /// Joint frames of the links, in their parents. (n arms × n links)
    frames: Vec<Pose>,
    inertias: Vec<Inertia>,
    axes: Vec<Vector3>,
    /// [rad]
    posture: Vec<f64>,
    /// Of the arms' hinges that have no motor.
    passive: Option<usize>,
}

impl Grasp {
    /// Two-link arms that pin the object, three-link arms that hold it fast, or arms with six hinges in space.
    fn random(random: &mut Random) -> Self {
        let kind = random.below(4);
        let planar = kind < 3;
        let (n_arms, n_links, locked) =
            [(2, 2, PIN), (3, 2, PIN), (2, 3, PLANAR_WELD), (2, 6, WELD)][kind];
        let n = n_arms * n_links;
        let mut frames = Vec::new();
        for link in 0..n {
            frames.push(if link % n_links == 0 {
                let angle = core::f64::consts::TAU * (link / n_links) as f64 / n_arms as f64;
                let lift = if planar { 0.0 } else { random.uniform(-0.1, 0.1) };
                let turn = angle + core::f64::consts::PI + random.uniform(-0.2, 0.2);
                Pose::from_xyz_rpy([0.4 * angle.cos(), 0.4 * angle.sin(), lift], [0.0, 0.0, turn])
            } else if planar {
                Pose::from_translation(Vector3::new(random.uniform(0.2, 0.3), 0.0, 0.0))
            } else if link % n_links < 4 {
                Pose::from_translation(Vector3::x() * 0.25 + random.vector(0.03))
            } else {
                Pose::IDENTITY
            });
        }
        let rod = |random: &mut Random| {
            let (mass, length) = (random.uniform(0.2, 1.0), 0.25);
            let i = mass * length * length / 12.0;
            let about_com = Matrix3::from_diagonal(&Vector3::new(0.02 * i, i, i));
            Inertia { mass, com: Vector3::new(0.5 * length, 0.0, 0.0), about_com }
        };
        // In space those of usual arms, about: swivel, shoulder, elbow and three of the wrist.
        let axis = |link: usize, random: &mut Random| {
            let [x, y, z] = [Vector3::x(), Vector3::y(), Vector3::z()];
            let usual = [z, y, y, x, y, x][link % 6];
            if planar { z } else { (usual + random.vector(0.1)).normalize() }
        };
        Self {
            n_arms,
            n_links,
            planar,
            locked,
            frames,
            inertias: (0..n).map(|_| rod(random)).collect(),
            axes: (0..n).map(|link| axis(link, random)).collect(),
            posture: (0..n).map(|_| random.uniform(0.8, 1.3)).collect(),
            // Nine motors' hinges of a planar grasp can spare one.
            passive: (n_links == 3).then(|| random.below(n)),
        }
    }

    fn link(&self, link: usize) -> String {
        format!("arm{}_{}", link / self.n_links, link % self.n_links)
    }

    /// The arms alone, or with the object and the loops for the poses of their tips.
    fn model(&self, tips: Option<&[Pose]>) -> Model {
        let upright = Pose::from_xyz_rpy([0.0; 3], [core::f64::consts::FRAC_PI_2, 0.0, 0.0]);
        let mut builder = ModelBuilder::new("grasp", Base::Fixed(upright))
            .link(LinkSpec::new("ground", Inertia::ZERO));
        for link in 0..self.n_arms * self.n_links {
            let name = self.link(link);
            let parent =
                if link % self.n_links == 0 { "ground".to_owned() } else { self.link(link - 1) };
            let hinge = Some(JointKind::Revolute { axis: self.axes[link] });
            builder = builder
                .link(LinkSpec::new(&name, self.inertias[link]))
                .joint(JointSpec::new(&name, &parent, &name, hinge).at(self.frames[link]));
        }
        let Some(tips) = tips else { return builder.build().unwrap() };
        let passive: &[&str] =
            if self.planar { &["x", "y", "c"] } else { &["x", "y", "z", "a", "b", "c"] };
        let mut parent = "ground".to_owned();
        for name in passive {
            let axis = [Vector3::x(), Vector3::y(), Vector3::z()];
            let kind = match "xyzabc".find(name).unwrap() {
                k @ 0..3 => JointKind::Prismatic { axis: axis[k] },
                k => JointKind::Revolute { axis: axis[k - 3] },
            };
            let last = *name == "c";
            let about_com = Matrix3::from_diagonal(&Vector3::new(4e-4, 5e-4, 6e-4));
            let object = Inertia { mass: 0.3, com: Vector3::new(0.01, 0.0, 0.0), about_com };
            builder = builder
                .link(LinkSpec::new(name, if last { object } else { Inertia::ZERO }))
                .joint(JointSpec::new(name, &parent, name, Some(kind)));
            (*name).clone_into(&mut parent);
        }
        for (arm, tip) in tips.iter().enumerate() {
            // The object's frame is the ground's in this posture.
            builder = builder.loop_joint(LoopSpec {
                name: format!("grip{arm}"),
                link_a: self.link((arm + 1) * self.n_links - 1),
                link_b: "c".to_owned(),
                frames: LoopFrames::OnLinks {
                    a: Pose::from_translation(Vector3::new(0.2, 0.0, 0.0)),
                    b: upright.inverse() * *tip,
                },
                locked: self.locked,
                posture: None,
            });
        }
        builder.build().unwrap()
    }

    fn mechanism(&self) -> Mechanism {
        let arms = self.model(None);
        let mut data = Data::new(&arms);
        forward_kinematics(&arms, &mut data, &self.posture);
        let tip = |arm: usize| {
            let last = (arm + 1) * self.n_links - 1;
            data.pose_in_world[arms.body(&self.link(last)).unwrap().0]
                * Pose::from_translation(Vector3::new(0.2, 0.0, 0.0))
        };
        let tips: Vec<Pose> = (0..self.n_arms).map(tip).collect();
        let mut mechanism = Mechanism::new(Arc::new(self.model(Some(&tips))));
        let passive = self.passive.map(|link| self.link(link));
        let driven = |name: &str| name.starts_with("arm") && Some(name) != passive.as_deref();
        for joint in &mechanism.model.joints {
            mechanism.driven[joint.v_start] = driven(&joint.name);
        }
        mechanism
    }

    /// The object swings and the arms follow. Positions, velocities and accelerations.
    fn swing(&self, mechanism: &Mechanism, dt: f64) -> [Vec<f64>; 3] {
        let model = &mechanism.model;
        let n = samples(dt);
        let [mut q, mut v, mut vdot] = [(); 3].map(|()| vec![0.0; n * model.nv]);
        let mut leads = mechanism.clone();
        for (k, joint) in model.joints.iter().enumerate() {
            leads.driven[k] = !joint.name.starts_with("arm");
            for i in 0..n {
                let at = i * model.nv + k;
                if !leads.driven[k] {
                    let link = (0..self.posture.len()).find(|l| self.link(*l) == joint.name);
                    q[at] = self.posture[link.unwrap()];
                    continue;
                }
                let w = core::f64::consts::TAU * [1.0, 1.5, 0.75][k % 3];
                let (sin, cos) = (w * i as f64 * dt).sin_cos();
                // Small, so that no random arm comes to a dead point.
                let size = match (self.planar, joint.name.as_str() < "d") {
                    (true, true) => 0.05,
                    (true, false) => 0.01,
                    (false, true) => 0.02,
                    (false, false) => 0.003,
                };
                q[at] = size * (1.0 - cos);
                (v[at], vdot[at]) = (size * w * sin, size * w * w * cos);
            }
        }
        leads.complete(dt, &mut q, &mut v, &mut vdot).unwrap();
        [q, v, vdot]
    }
}

/// Error of a variant over the largest exact effort, but for the ends.
fn error(scheme: &Scheme, target: &Target<'_>) -> f64 {
    let nv = scheme.mechanism.model.nv;
    let exact = scheme.exact(target).unwrap().tau;
    let tau = scheme.torques(target).unwrap().tau;
    let scale = exact.iter().fold(0.0, |s: f64, x| s.max(x.abs()));
    let inside = nv..tau.len() - nv;
    let pairs = tau[inside.clone()].iter().zip(&exact[inside]);
    pairs.fold(0.0, |e: f64, (t, x)| e.max((t - x).abs())) / scale
}

#[test]
fn random_over_actuated_mechanisms_are_of_second_order() {
    let mut random = Random::new(13);
    for trial in 0..20 {
        let grasp = Grasp::random(&mut random);
        let mechanism = grasp.mechanism();
        let model = &mechanism.model;
        let n_drives = mechanism.driven.iter().filter(|d| **d).count();
        let n_dofs = if grasp.planar { 3 } else { 6 };
        assert!(n_drives > n_dofs, "over-actuated");
        let mut errors = [vec![], vec![]];
        for dt in [10e-3, 5e-3, 2.5e-3] {
            let [q, v, vdot] = grasp.swing(&mechanism, dt);
            // Of what has no motor nothing is known but about where it begins.
            let (mut closed, mut rates, mut seconds) = (q.clone(), v.clone(), vdot.clone());
            for i in 0..closed.len() {
                if !mechanism.driven[i % model.nv] {
                    closed[i] = q[i % model.nv] + 0.01;
                    (rates[i], seconds[i]) = (0.0, 0.0);
                }
            }
            mechanism.complete(dt, &mut closed, &mut rates, &mut seconds).unwrap();
            for (i, (closed, q)) in closed.iter().zip(&q).enumerate() {
                if mechanism.driven[i % model.nv] {
                    assert_eq!(closed.to_bits(), q.to_bits(), "trial {trial}: a target was moved");
                } else {
                    assert!((closed - q).abs() < 1e-11, "trial {trial}: {closed} {q}");
                }
            }
            let target = Target { dt, q: &closed, v: &rates, vdot: &seconds, ..Target::default() };
            for (variant, errors) in
                [Variant::Central, Variant::Newmark].into_iter().zip(&mut errors)
            {
                errors.push(error(&Scheme { variant, ..Scheme::new(mechanism.clone()) }, &target));
            }
        }
        let orders = |errors: &[f64]| [0, 1].map(|i| (errors[i] / errors[i + 1]).log2());
        let [central, newmark] = &errors;
        assert!(
            orders(central).iter().all(|o| (1.9..2.1).contains(o)),
            "trial {trial}: {errors:?}"
        );
        assert!((1.9..2.1).contains(&orders(newmark)[0]), "trial {trial}: {errors:?}");
    }
}

#[test]
fn contradicting_targets_are_refused() {
    let mut random = Random::new(14);
    for trial in 0..20 {
        let grasp = Grasp::random(&mut random);
        let mechanism = grasp.mechanism();
        let (dt, nv) = (10e-3, mechanism.model.nv);
        let [mut q, mut v, mut vdot] = grasp.swing(&mechanism, dt);
        let k = mechanism.model.joints[mechanism.model.joint("arm0_1").unwrap().0].v_start;
        if !mechanism.driven[k] {
            continue;
        }
        let off = random.uniform(0.01, 0.1);
        q[7 * nv + k] += off;
        let error = mechanism.complete(dt, &mut q, &mut v, &mut vdot).unwrap_err();
        let NodalError::Contradiction { joints, loops, time, residual, .. } = &error else {
            unreachable!("trial {trial}: {error}")
        };
        assert!(joints.contains("`arm0_1`") && joints.contains("`arm1_"), "{error}");
        assert!(loops.contains("`grip0`"), "{error}");
        assert!((time - 0.07).abs() < 1e-9, "{error}");
        assert!((1e-4..3.0).contains(residual), "trial {trial}: {error}");
    }
}

/// Ground, crank, coupler and rocker; the last two meet in a pin.
fn four_bar() -> Mechanism {
    let hinge = || Some(JointKind::Revolute { axis: Vector3::z() });
    let at = |x: f64| Pose::from_translation(Vector3::new(x, 0.0, 0.0));
    let rod = |length: f64| {
        let i = length * length / 12.0;
        let about_com = Matrix3::from_diagonal(&Vector3::new(0.01 * i, i, i));
        Inertia { mass: 1.0, com: Vector3::new(0.5 * length, 0.0, 0.0), about_com }
    };
    let model = ModelBuilder::new("four_bar", Base::Fixed(Pose::IDENTITY))
        .link(LinkSpec::new("ground", Inertia::ZERO))
        .link(LinkSpec::new("crank", rod(0.2)))
        .link(LinkSpec::new("coupler", rod(0.5)))
        .link(LinkSpec::new("rocker", rod(0.4)))
        .joint(JointSpec::new("crank", "ground", "crank", hinge()))
        .joint(JointSpec::new("coupler", "crank", "coupler", hinge()).at(at(0.2)))
        .joint(JointSpec::new("rocker", "ground", "rocker", hinge()).at(at(0.65)))
        .loop_joint(LoopSpec {
            name: "pin".to_owned(),
            link_a: "coupler".to_owned(),
            link_b: "rocker".to_owned(),
            frames: LoopFrames::OnLinks { a: at(0.5), b: at(0.4) },
            locked: PIN,
            posture: None,
        })
        .build()
        .unwrap();
    let mut mechanism = Mechanism::new(Arc::new(model));
    mechanism.driven = vec![false; 3];
    mechanism.driven[mechanism.model.joints[mechanism.model.joint("crank").unwrap().0].v_start] =
        true;
    mechanism
}

#[test]
fn a_motion_in_long_steps_stays_on_its_branch() {
    // The crank of 0.2 m nearly stretches the coupler and the rocker, 0.9 m, over 0.85 m. The same motion in steps 500 times as short tells
    // the branch.
    let mechanism = four_bar();
    let [crank, coupler, rocker] = ["crank", "coupler", "rocker"]
        .map(|name| mechanism.model.joints[mechanism.model.joint(name).unwrap().0].q_start);
    let closed = |n: usize, stride: f64| {
        let mut q = vec![0.0; 3 * n];
        for (i, q) in q.chunks_mut(3).enumerate() {
            (q[crank], q[coupler], q[rocker]) = (1.2 + stride * i as f64, -0.75, 1.7);
        }
        mechanism.close(1.0, &mut q).unwrap();
        q
    };
    for steps in [6, 8, 9, 11, 14] {
        let stride = core::f64::consts::TAU / f64::from(steps);
        let (long, short) = (closed(13, stride), closed(6001, stride / 500.0));
        for (i, q) in long.chunks(3).enumerate() {
            let truth = &short[3 * 500 * i..][..3];
            let turned = |a: f64| (0.5 * a).sin().abs();
            assert!(
                turned(q[coupler] - truth[coupler]) < 1e-9,
                "{steps} steps, {i}: {q:?} {truth:?}"
            );
            assert!(
                turned(q[rocker] - truth[rocker]) < 1e-9,
                "{steps} steps, {i}: {q:?} {truth:?}"
            );
        }
    }
}
