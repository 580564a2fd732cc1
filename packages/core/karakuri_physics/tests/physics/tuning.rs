//! Inertias, limits, springs and bushings that change while the world runs: a changed world is one that was built so.

#![expect(clippy::unwrap_used, reason = "a helper of tests may stop them")]
#![expect(clippy::float_cmp, reason = "what was set is read back as it was")]

use std::sync::Arc;

use karakuri_model::{
    Base, BodyId, Drive, JointSpec, Limits, LinkSpec, Model, ModelBuilder, Shape,
};
use karakuri_physics::{
    Anchor, BodyDescription, Bushing, Integrator, JointDescription, JointLimits, Ledger, ObjectId,
    Owner, RobotId, Sleeping, Spring, SpringId, World, WorldSettings,
};
use karakuri_spatial::{Inertia, Matrix3, Motion, Pose, Vector3};

const UPPER: BodyId = BodyId(0);
const FORE: BodyId = BodyId(1);

fn inertia(mass: f64) -> Inertia {
    let moments = Vector3::new(0.02, 0.021, 0.004) * mass;
    let com = Vector3::new(0.01, 0.0, -0.25);
    Inertia { mass, com, about_com: Matrix3::from_diagonal(&moments) }
}

/// Inertias and limits of an arm.
#[derive(Clone, Copy)]
struct Arm {
    base: Base,
    fore: Inertia,
    elbow: JointLimits,
    driven: bool,
}

impl Default for Arm {
    fn default() -> Self {
        let elbow = JointLimits { lower: -2.0, upper: 2.0, velocity: f64::INFINITY };
        Self { base: Base::Fixed(Pose::IDENTITY), fore: inertia(0.5), elbow, driven: false }
    }
}

impl Arm {
    fn model(&self) -> Arc<Model> {
        let drive = self.driven.then_some(Drive { stiffness: 20.0, damping: 1.0 });
        let elbow = JointSpec {
            limits: Limits {
                lower: self.elbow.lower,
                upper: self.elbow.upper,
                velocity: self.elbow.velocity,
                ..Limits::NONE
            },
            drive,
            ..JointSpec::revolute("elbow", "upper", "fore", Vector3::y())
        };
        let builder = ModelBuilder::new("arm", self.base)
            .link(LinkSpec::new(
                "base",
                if self.base == Base::Floating { inertia(2.0) } else { Inertia::ZERO },
            ))
            .link(LinkSpec::new("upper", inertia(1.0)))
            .link(LinkSpec::new("fore", self.fore))
            .joint(JointSpec {
                drive,
                ..JointSpec::revolute("shoulder", "base", "upper", Vector3::y())
            })
            .joint(elbow.at(Pose::from_translation(Vector3::new(0.0, 0.0, -0.5))));
        Arc::new(builder.build().unwrap())
    }

    fn world(&self, integrator: Integrator) -> (World, RobotId) {
        let settings = WorldSettings { integrator, energy_ledger: true, ..<_>::default() };
        let mut world = World::new(settings);
        let model = self.model();
        let mut q = model.neutral_position();
        let first = q.len() - 2;
        q[first..].copy_from_slice(&[0.7, -0.4]);
        let robot = world.add_robot("arm", model, &q).unwrap();
        (world, robot)
    }
}

fn run(world: &mut World, steps: usize) {
    for _ in 0..steps {
        world.step();
    }
}

fn sum(l: &Ledger) -> f64 {
    let work = l.servos + l.external + l.contacts + l.limits + l.friction + l.dampers;
    work + l.loops + l.stabilisation + l.integration + l.unexplained
}

/// Puts a robot into the state of another world's.
fn follow(world: &mut World, other: &World, robot: RobotId) {
    let (q, v) = (other.robot(robot).q().to_vec(), other.robot(robot).v().to_vec());
    world.set_robot_state(robot, &q, &v).unwrap();
}

#[test]
fn a_link_that_was_changed_moves_as_one_that_was_built_so() {
    let heavy = Inertia { com: Vector3::new(0.0, 0.05, -0.4), ..inertia(3.0) };
    for integrator in Integrator::ALL {
        for (base, driven) in [
            (Base::Fixed(Pose::IDENTITY), false),
            (Base::Fixed(Pose::IDENTITY), true),
            (Base::Floating, false),
        ] {
            let arm = Arm { base, driven, ..Arm::default() };
            let fore = if base == Base::Floating { BodyId(2) } else { FORE };
            let (mut built, robot) = Arm { fore: heavy, ..arm }.world(integrator);
            // Of the builder, which rounds where it combines links.
            let heavy = built.robot(robot).model().bodies[fore.0].inertia;
            let (mut changed, _) = arm.world(integrator);
            run(&mut changed, 200);
            let before = changed.energy().total() - changed.work_done();
            changed.set_link_inertia(robot, fore, heavy).unwrap();
            let after = changed.energy().total() - changed.work_done();
            assert!((after - before).abs() < 1e-12, "{before} {after}");
            follow(&mut built, &changed, robot);
            for i in 0..500 {
                assert_eq!(
                    changed.state_hash(),
                    built.state_hash(),
                    "{integrator:?} {base:?} {driven}: step {i}"
                );
                changed.step();
                built.step();
            }
        }
    }
}

#[test]
fn others_that_share_the_model_keep_theirs() {
    let arm = Arm::default();
    let (mut world, robot) = arm.world(Integrator::Default);
    let shared = Arc::clone(world.robot(robot).model());
    world.set_link_inertia(robot, UPPER, inertia(5.0)).unwrap();
    assert_eq!(shared.bodies[0].inertia, inertia(1.0));
    assert_eq!(world.robot(robot).model().bodies[0].inertia, inertia(5.0));
}

/// A box on the ground, with a box on it.
fn pile() -> (World, [ObjectId; 2]) {
    let mut world = World::new(WorldSettings { energy_ledger: true, ..<_>::default() });
    world.add_ground(0.6, 0.0);
    let ids = [0.05, 0.15].map(|z| {
        let shape = Shape::Box { size: Vector3::repeat(0.1) };
        let pose = Pose::from_translation(Vector3::new(0.0, 0.0, z));
        world.add_body(BodyDescription::new(format!("box{z}"), shape, 1.0, pose)).unwrap()
    });
    (world, ids)
}

#[test]
fn what_rests_bears_the_new_weight_at_once() {
    for asleep in [false, true] {
        let (mut world, [lower, upper]) = pile();
        if asleep {
            let sleeping = Some(Sleeping::default());
            world.set_settings(WorldSettings { sleeping, ..*world.settings() });
        }
        run(&mut world, 2000);
        assert_eq!(world.is_asleep(upper), asleep);
        world.set_mass(upper, 50.0).unwrap();
        assert!(!world.is_asleep(upper) && !world.is_asleep(lower));
        run(&mut world, 1000);
        // What was kept of the rows of the light box would bear another weight, or none.
        let force = world.contact_wrench(Owner::Body(lower)).force.z;
        let pressed = world.pair_wrench(Owner::Ground, Owner::Body(lower)).force.z;
        assert!((pressed - 51.0 * 9.81).abs() < 1e-6, "{pressed} N, sum {force} N");
        assert!((world.body(upper).pose().translation.z - 0.15).abs() < 1e-5);
    }
}

/// The first step after a change sees the new mass, not rows that were kept from the old one.
#[test]
fn rows_that_are_kept_of_what_rests_are_made_again() {
    let (mut world, [_, upper]) = pile();
    run(&mut world, 1000);
    world.set_mass(upper, 1000.0).unwrap();
    world.step();
    let weight = world.contact_wrench(Owner::Body(upper)).force.z;
    assert!((weight - 9810.0).abs() < 1e-3, "{weight} N in the first step");
    let moments = Vector3::new(2.0, 2.5, 3.0);
    world.set_inertia(upper, Matrix3::from_diagonal(&moments)).unwrap();
    world.step();
    assert!(world.body(upper).velocity().linear.norm() < 1e-9);
}

#[test]
fn a_body_whose_inertia_was_changed_spins_as_one_that_was_built_so() {
    let moments = Matrix3::new(0.02, 0.001, 0.0, 0.001, 0.03, 0.002, 0.0, 0.002, 0.015);
    let spinning = |inertia| {
        let mut world = World::new(WorldSettings { energy_ledger: true, ..<_>::default() });
        let shape = Shape::Sphere { radius: 0.1 };
        let mut ball = BodyDescription::new("ball", shape, 2.0, Pose::IDENTITY);
        ball.velocity = Motion::new(Vector3::new(3.0, 1.0, -2.0), Vector3::x());
        ball.inertia = inertia;
        let id = world.add_body(ball).unwrap();
        (world, id)
    };
    let (mut changed, id) = spinning(None);
    run(&mut changed, 100);
    changed.set_inertia(id, moments).unwrap();
    assert_eq!(*changed.body(id).inertia(), moments);
    let (mut built, _) = spinning(Some(moments));
    built.set_body_state(id, changed.body(id).pose(), changed.body(id).velocity()).unwrap();
    run(&mut changed, 500);
    run(&mut built, 500);
    let [a, b] = [&changed, &built].map(|w| w.body(id).velocity().angular);
    assert!((a - b).norm() < 1e-12, "{a} {b}");
    changed.set_mass(id, 4.0).unwrap();
    assert!((changed.body(id).inertia() - moments * 2.0).norm() < 1e-15);
}

#[test]
fn limits_that_were_changed_stop_as_those_that_were_built_so() {
    let narrow = JointLimits { lower: -0.44, upper: 0.1, velocity: 1.5 };
    let (mut changed, robot) = Arm::default().world(Integrator::Default);
    run(&mut changed, 50);
    let elbow = changed.robot(robot).model().joints[1].v_start;
    changed.set_joint_limits(robot, elbow, narrow).unwrap();
    assert_eq!(changed.robot(robot).joint_limits(elbow), narrow);
    let (mut built, _) = Arm { elbow: narrow, ..Arm::default() }.world(Integrator::Default);
    follow(&mut built, &changed, robot);
    let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
    for i in 0..2000 {
        assert_eq!(changed.state_hash(), built.state_hash(), "step {i}");
        changed.step();
        built.step();
        let q = changed.robot(robot).q()[elbow];
        (least, most) = (least.min(q), most.max(q));
        assert!(changed.robot(robot).v()[elbow].abs() < 1.5 + 1e-6);
    }
    assert!(least > -0.44 - 1e-3 && most < 0.1 + 1e-3, "{least} {most}");
    assert!(least < -0.43 && most > 0.09, "it comes to both limits: {least} {most}");
}

#[test]
fn a_joint_beyond_its_new_limits_comes_back_without_a_velocity() {
    let arm = Arm { driven: true, ..Arm::default() };
    let (mut world, robot) = arm.world(Integrator::Default);
    run(&mut world, 500);
    let q = world.robot(robot).q()[1];
    let lower = q + 0.3;
    let limits = JointLimits { lower, ..world.robot(robot).joint_limits(1) };
    world.set_joint_limits(robot, 1, limits).unwrap();
    let mut fastest: f64 = 0.0;
    for _ in 0..500 {
        world.step();
        fastest = fastest.max(world.robot(robot).v()[1].abs());
    }
    let now = world.robot(robot).q()[1];
    assert!((now - lower).abs() < 1e-3, "{now} of {lower}");
    assert!(fastest < 1.0, "{fastest} rad/s");
    // Wider again: the drive takes it back.
    let limits = JointLimits { lower: -2.0, ..limits };
    world.set_joint_limits(robot, 1, limits).unwrap();
    run(&mut world, 2000);
    assert!((world.robot(robot).q()[1] - q).abs() < 0.02);
}

/// A box that hangs on a spring.
fn hanging(spring: Spring) -> (World, ObjectId, SpringId) {
    let mut world = World::new(WorldSettings { energy_ledger: true, ..<_>::default() });
    let shape = Shape::Box { size: Vector3::repeat(0.1) };
    let bob = BodyDescription::new("bob", shape, 1.0, Pose::IDENTITY);
    let body = world.add_body(bob).unwrap();
    let id = world.attach_spring("hook", spring).unwrap();
    (world, body, id)
}

fn hook(stiffness: f64, damping: f64, rest_length: f64) -> Spring {
    let (a, b) = (Anchor::World(Vector3::z()), Anchor::Body(ObjectId(0), Vector3::zeros()));
    Spring { a, b, stiffness, damping, rest_length }
}

#[test]
fn a_spring_that_was_changed_pulls_as_one_that_was_built_so() {
    let stiff = hook(400.0, 3.0, 0.7);
    let (mut changed, body, id) = hanging(hook(50.0, 1.0, 0.9));
    run(&mut changed, 300);
    let before = changed.energy().total() - changed.work_done();
    changed.set_spring(id, stiff).unwrap();
    assert!((changed.energy().total() - changed.work_done() - before).abs() < 1e-12);
    assert_eq!(changed.spring(id), Some(&stiff));
    let (mut built, ..) = hanging(stiff);
    built.set_body_state(body, changed.body(body).pose(), changed.body(body).velocity()).unwrap();
    for i in 0..1000 {
        let [a, b] = [&changed, &built].map(|w| w.body(body).pose().translation);
        assert!((a - b).norm() < 1e-12, "step {i}: {a} {b}");
        changed.step();
        built.step();
    }
    run(&mut changed, 20_000);
    // k (L − L₀) = m g.
    let z = changed.body(body).pose().translation.z;
    assert!((1.0 - z - 0.7 - 9.81 / 400.0).abs() < 1e-9, "{z} m");
    let named: Vec<_> = changed.springs().map(|(id, _)| changed.spring_name(id)).collect();
    assert_eq!((named, changed.find_spring("hook")), (vec!["hook"], Some(id)));
}

#[test]
fn a_bushing_that_was_changed_bears_as_its_stiffness_says() {
    let mut world = World::new(WorldSettings { energy_ledger: true, ..<_>::default() });
    let shape = Shape::Box { size: Vector3::repeat(0.1) };
    let body = world.add_body(BodyDescription::new("bob", shape, 2.0, Pose::IDENTITY)).unwrap();
    let mut locked = [true; 6];
    locked[1] = false;
    let pose_in_a = Pose::from_translation(Vector3::new(-0.5, 0.0, 0.0));
    let about_y = |stiffness: f64| {
        let mut bushing = Bushing::default();
        (bushing.stiffness[1], bushing.damping[1]) = (stiffness, 2.0);
        bushing
    };
    let joint = JointDescription {
        a: Owner::Ground,
        b: Owner::Body(body),
        pose_in_a,
        locked,
        bushing: Some(about_y(50.0)),
        strength: None,
    };
    let id = world.attach_joint("arm", joint).unwrap();
    for stiffness in [50.0, 200.0, 20.0] {
        world.set_bushing(id, about_y(stiffness)).unwrap();
        run(&mut world, 10_000);
        let angle = world.body(body).pose().rpy()[1];
        // k θ = m g l cos θ.
        let moment = 2.0 * 9.81 * 0.5 * angle.cos();
        assert!((stiffness * angle - moment).abs() < 1e-3 * moment, "{stiffness}: {angle} rad");
    }
    assert_eq!(world.joint_description(id).unwrap().bushing, Some(about_y(20.0)));
    let l = world.ledger();
    assert!((l.kinetic + l.potential - sum(&l)).abs() < 1e-9, "{l:?}");
    let refused = world.set_bushing(id, about_y(-1.0)).unwrap_err().to_string();
    assert!(refused.contains("`arm`") && refused.contains("0 or more"), "{refused}");
}

#[test]
fn the_ledger_closes_over_changes_and_they_are_its_external_work() {
    let arm = Arm { driven: true, ..Arm::default() };
    let (mut world, robot) = arm.world(Integrator::Default);
    let tip = Anchor::Link(robot, FORE, Vector3::new(0.0, 0.0, -0.5));
    let spring = Spring {
        a: Anchor::World(Vector3::new(0.5, 0.0, -0.5)),
        b: tip,
        stiffness: 30.0,
        damping: 0.1,
        rest_length: 0.2,
    };
    let spring_id = world.add_spring(spring).unwrap();
    assert_eq!(world.work_done(), 0.0, "what is built does no work");
    let start = world.energy().total();
    let mut jumps = 0.0;
    for round in 0..6 {
        run(&mut world, 300);
        let before = world.energy().total();
        match round {
            0 => world.set_link_inertia(robot, FORE, inertia(2.0)).unwrap(),
            1 => world.set_spring(spring_id, Spring { stiffness: 90.0, ..spring }).unwrap(),
            2 => {
                let settings = WorldSettings { gravity: Vector3::x() * 4.0, ..*world.settings() };
                world.set_settings(settings);
            }
            3 => {
                let mut dynamics = world.robot(robot).joint_dynamics(0);
                dynamics.armature = 0.3;
                world.set_joint_dynamics(robot, 0, dynamics).unwrap();
            }
            4 => world.remove_spring(spring_id),
            _ => world.set_link_inertia(robot, UPPER, inertia(0.2)).unwrap(),
        }
        jumps += world.energy().total() - before;
    }
    run(&mut world, 300);
    let (l, end) = (world.ledger(), world.energy().total());
    assert!(jumps.abs() > 0.1, "{jumps} J");
    assert!((l.external - jumps).abs() < 1e-9, "{l:?} {jumps}");
    assert!((l.kinetic + l.potential - (end - start)).abs() < 1e-9, "{l:?} {start} {end}");
    assert!((l.kinetic + l.potential - sum(&l)).abs() < 1e-9, "{l:?}");
    assert!(l.unexplained.abs() < 1e-9, "{l:?}");
}

#[test]
fn snapshots_have_what_was_changed() {
    let (mut world, robot) = Arm { driven: true, ..Arm::default() }.world(Integrator::Default);
    let bob = BodyDescription::new("bob", Shape::Sphere { radius: 0.05 }, 1.0, Pose::IDENTITY);
    let body = world.add_body(bob).unwrap();
    let b = Anchor::Body(body, Vector3::zeros());
    let spring = Spring { b, ..hook(50.0, 1.0, 0.5) };
    let id = world.add_spring(spring).unwrap();
    run(&mut world, 50);
    let first = world.snapshot();
    let narrow = JointLimits { lower: -0.5, upper: 0.0, velocity: 9.0 };
    world.set_link_inertia(robot, FORE, inertia(2.0)).unwrap();
    world.set_joint_limits(robot, 1, narrow).unwrap();
    world.set_inertia(body, Matrix3::identity() * 0.01).unwrap();
    world.set_spring(id, Spring { stiffness: 500.0, ..spring }).unwrap();
    let saved = world.snapshot();
    run(&mut world, 300);
    let hash = world.state_hash();
    for back in 0..2 {
        world.restore(&first);
        assert_eq!(world.robot(robot).model().bodies[1].inertia, inertia(0.5));
        assert_eq!(world.robot(robot).joint_limits(1).upper, 2.0);
        assert_eq!(world.spring(id).unwrap().stiffness, 50.0);
        run(&mut world, 10 + back);
        world.restore(&saved);
        assert_eq!(world.body(body).inertia()[(0, 0)], 0.01);
        run(&mut world, 300);
        assert_eq!(world.state_hash(), hash);
    }
    world.restore_states(&first);
    assert_eq!(world.robot(robot).model().bodies[1].inertia, inertia(0.5));
    assert_eq!(world.robot(robot).joint_limits(1).upper, 2.0);
    assert_eq!(world.spring(id).unwrap().stiffness, 50.0);
}

#[test]
fn values_that_cannot_be_are_refused_in_a_sentence_and_change_nothing() {
    let (mut world, robot) = Arm::default().world(Integrator::Default);
    let shape = Shape::Sphere { radius: 0.05 };
    let body = world.add_body(BodyDescription::new("bob", shape.clone(), 1.0, Pose::IDENTITY));
    let body = body.unwrap();
    let fixed =
        BodyDescription { fixed: true, ..BodyDescription::new("wall", shape, 1.0, Pose::IDENTITY) };
    let fixed = world.add_body(fixed).unwrap();
    let spring = Spring { b: Anchor::Body(body, Vector3::zeros()), ..hook(50.0, 1.0, 0.5) };
    let hook = world.attach_spring("hook", spring).unwrap();
    run(&mut world, 20);
    let (mut untouched, before) = (world.clone(), world.energy());
    let diagonal = |x: f64, y: f64, z: f64| Matrix3::from_diagonal(&Vector3::new(x, y, z));
    let moments = |about_com| Inertia { about_com, ..inertia(1.0) };
    let mut skewed = diagonal(1.0, 1.0, 1.0);
    skewed[(0, 1)] = 0.5;
    let wide = world.robot(robot).joint_limits(1);
    let refused = |what: &str, result: Result<(), karakuri_physics::WorldError>| {
        let text = result.expect_err(what).to_string();
        assert!(text.contains(what), "{what}: {text}");
    };
    for (what, mass) in [("mass is -1", -1.0), ("mass is NaN", f64::NAN), ("mass is 0", 0.0)] {
        refused(what, world.set_mass(body, mass));
    }
    refused("`wall` cannot move", world.set_mass(fixed, 1.0));
    refused("`wall` cannot move", world.set_inertia(fixed, Matrix3::identity()));
    refused("`bob`: the largest principal", world.set_inertia(body, diagonal(1.0, 1.0, 3.0)));
    refused("not positive definite", world.set_inertia(body, diagonal(1.0, 1.0, 0.0)));
    refused("give moments from 0", world.set_inertia(body, diagonal(1.0, 1.0, -0.1)));
    refused("`bob`: the inertia is not sym", world.set_inertia(body, skewed));
    refused("not finite", world.set_inertia(body, Matrix3::identity() * f64::NAN));
    let mut link =
        |what: &str, inertia| refused(what, world.set_link_inertia(robot, FORE, inertia));
    link("`arm/fore`: the largest", moments(diagonal(1.0, 1.0, 3.0)));
    link("give moments from 0", moments(diagonal(1.0, 1.0, -0.1)));
    link("`arm/fore`: mass is -1", Inertia { mass: -1.0, ..inertia(1.0) });
    link("not finite", Inertia { com: Vector3::repeat(f64::NAN), ..inertia(1.0) });
    link("`elbow` moves no mass", Inertia::ZERO);
    let mut limits = |what: &str, limits| refused(what, world.set_joint_limits(robot, 1, limits));
    limits(
        "lower limit 1 is above its upper limit 0.5",
        JointLimits { lower: 1.0, upper: 0.5, ..wide },
    );
    limits("no number", JointLimits { lower: f64::NAN, ..wide });
    limits("speed is negative", JointLimits { velocity: -1.0, ..wide });
    let mut springs = |what: &str, spring| refused(what, world.set_spring(hook, spring));
    springs("spring `hook`: stiffness", Spring { stiffness: -1.0, ..spring });
    springs("spring `hook`: stiffness", Spring { rest_length: f64::NAN, ..spring });
    springs("an end", Spring { a: Anchor::World(Vector3::repeat(f64::NAN)), ..spring });
    refused("spring `hook`: there is one", world.attach_spring("hook", spring).map(|_| ()));
    assert_eq!(world.energy(), before);
    run(&mut world, 100);
    run(&mut untouched, 100);
    assert_eq!(world.state_hash(), untouched.state_hash());
    world.remove_spring(hook);
    let gone = world.set_spring(hook, spring).unwrap_err().to_string();
    assert!(gone.contains("`hook`") && gone.contains("none"), "{gone}");
}

#[test]
fn a_floating_base_has_no_limits_of_two_numbers() {
    let arm = Arm { base: Base::Floating, ..Arm::default() };
    let (mut world, robot) = arm.world(Integrator::Default);
    let limits = JointLimits { lower: -1.0, upper: 1.0, velocity: 1.0 };
    let refused = world.set_joint_limits(robot, 0, limits).unwrap_err().to_string();
    assert!(refused.contains("one degree of freedom"), "{refused}");
}
