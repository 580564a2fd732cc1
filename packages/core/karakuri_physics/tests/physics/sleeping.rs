//! Islands at rest sleep, wake when something concerns them, and go on as if they had not slept.

#![expect(clippy::print_stdout, reason = "a timing shows what it measured")]
#![expect(clippy::unwrap_used, reason = "a helper of tests may stop them")]

use std::sync::Arc;

use karakuri_model::{Base, Drive, GeometrySpec, JointSpec, LinkSpec, ModelBuilder, Shape};
use karakuri_physics::{
    Batch, BodyDescription, JointDescription, ObjectId, Owner, Scene, Sleeping, StepOutcome,
    Surface, World, WorldSettings,
};
use karakuri_spatial::{Force, Inertia, Matrix3, Motion, Pose, Vector3};

fn at(x: f64, y: f64, z: f64) -> Pose {
    Pose::from_translation(Vector3::new(x, y, z))
}

fn thing(name: &str, shape: Shape, pose: Pose) -> BodyDescription {
    BodyDescription::new(name, shape, 1.0, pose)
}

fn cube(name: &str, pose: Pose) -> BodyDescription {
    thing(name, Shape::Box { size: Vector3::repeat(0.1) }, pose)
}

fn settings(sleeps: bool) -> WorldSettings {
    WorldSettings { sleeping: sleeps.then(Sleeping::default), ..WorldSettings::default() }
}

/// Two towers of three boxes; and that they sleep after 1.5 s.
fn towers(sleeps: bool) -> (World, Vec<ObjectId>) {
    let mut w = World::new(settings(sleeps));
    w.add_ground(0.5, 0.0);
    let mut ids = Vec::new();
    for tower in 0..2 {
        for floor in 0..3 {
            let pose = at(0.5 * f64::from(tower), 0.0, 0.05 + 0.1 * f64::from(floor));
            ids.push(w.add_body(cube(&format!("box{tower}{floor}"), pose)).unwrap());
        }
    }
    run(&mut w, 1500);
    assert_eq!(w.statistics().n_asleep, if sleeps { 6 } else { 0 });
    (w, ids)
}

fn run(w: &mut World, steps: usize) {
    for _ in 0..steps {
        let outcome = w.step();
        assert!(!matches!(outcome, StepOutcome::NonFinite(_)), "{outcome:?}");
        assert!(w.statistics().residual <= 1e-7, "{outcome:?} at {} s", w.time());
    }
}

fn apart(a: &World, b: &World) -> f64 {
    let each = a
        .body_ids()
        .map(|id| (a.body(id).pose().translation - b.body(id).pose().translation).norm());
    each.fold(0.0, f64::max)
}

fn asleep(w: &World, ids: &[ObjectId]) -> Vec<bool> {
    ids.iter().map(|&id| w.is_asleep(id)).collect()
}

#[test]
fn what_sleeps_stands_still_and_still_presses() {
    let (mut w, ids) = towers(true);
    let (mut awake, _) = towers(false);
    let hash = w.state_hash();
    run(&mut w, 100);
    run(&mut awake, 100);
    assert_eq!(w.state_hash(), hash);
    assert!(apart(&w, &awake) < 1e-7, "{} m", apart(&w, &awake));
    assert_eq!(w.statistics().n_contacts, 0);
    let (own, other) =
        (w.contact_wrench(Owner::Body(ids[0])), awake.contact_wrench(Owner::Body(ids[0])));
    assert!((own.force - other.force).norm() < 1e-5, "{own:?} {other:?}");
    assert!((w.pair_wrench(Owner::Ground, Owner::Body(ids[0])).force.z - 3.0 * 9.81).abs() < 1e-5);
}

/// A ball dropped on one tower wakes it, not the other, and what follows is what follows without sleep.
#[test]
fn an_impact_wakes_its_island_only() {
    let mut ends = Vec::new();
    for sleeps in [true, false] {
        let (mut w, ids) = towers(sleeps);
        let ball = thing("ball", Shape::Sphere { radius: 0.05 }, at(0.02, 0.01, 0.5));
        w.add_body(ball).unwrap();
        run(&mut w, 210);
        if sleeps {
            assert_eq!(asleep(&w, &ids), [false, false, false, true, true, true]);
        }
        ends.push(w);
    }
    assert!(apart(&ends[0], &ends[1]) < 1e-6, "{} m", apart(&ends[0], &ends[1]));
}

#[test]
fn nothing_floats_where_its_support_is_taken_away() {
    let (mut w, ids) = towers(true);
    w.remove_body(ids[0]);
    run(&mut w, 50);
    for (id, z) in [(ids[1], 0.15), (ids[2], 0.25)] {
        let fallen = z - w.body(id).pose().translation.z;
        assert!((fallen - 0.5 * 9.81 * 0.05 * 0.05).abs() < 3e-4, "{fallen}");
    }
    // Put elsewhere instead of removed.
    let (mut w, ids) = towers(true);
    w.set_body_state(ids[0], at(3.0, 0.0, 0.05), Motion::default()).unwrap();
    run(&mut w, 50);
    assert!(w.body(ids[1]).pose().translation.z < 0.15 - 0.01);
    // A fixed shelf that moves away.
    let mut w = World::new(settings(true));
    let shelf = BodyDescription { fixed: true, ..cube("shelf", at(0.0, 0.0, 0.5)) };
    let shelf = w.add_body(shelf).unwrap();
    let id = w.add_body(cube("box", at(0.0, 0.0, 0.6))).unwrap();
    run(&mut w, 1000);
    assert!(w.is_asleep(id));
    w.set_body_state(shelf, at(1.0, 0.0, 0.5), Motion::default()).unwrap();
    run(&mut w, 100);
    assert!(w.body(id).pose().translation.z < 0.6 - 0.04);
}

/// Pushes, states, settings, surfaces, joints: each moves what slept as it moves what did not.
#[test]
fn every_change_wakes() {
    type Change = fn(&mut World, &[ObjectId]);
    let changes: [(&str, Change, bool); 7] = [
        (
            "push",
            |w, ids| w.apply_body_wrench(ids[2], Force::new(Vector3::zeros(), Vector3::x() * 9.0)),
            true,
        ),
        (
            "state",
            |w, ids| {
                let velocity = Motion::new(Vector3::zeros(), Vector3::x());
                w.set_body_state(ids[2], at(0.0, 0.0, 0.25), velocity).unwrap();
            },
            true,
        ),
        (
            "gravity",
            |w, _| {
                w.set_settings(WorldSettings {
                    gravity: Vector3::new(7.0, 0.0, -7.0),
                    ..*w.settings()
                });
            },
            true,
        ),
        ("belt", |w, _| w.set_surface_velocity(Owner::Ground, Vector3::y()).unwrap(), true),
        (
            "material",
            |w, ids| {
                let ice = w.add_material("ice", Surface::default()).unwrap();
                w.set_material(Owner::Body(ids[0]), ice);
            },
            false,
        ),
        (
            "joint",
            |w, ids| {
                let joint = JointDescription {
                    a: Owner::Body(ids[2]),
                    b: Owner::Body(ids[5]),
                    pose_in_a: Pose::IDENTITY,
                    locked: [true; 6],
                    bushing: None,
                    strength: None,
                };
                w.attach_joint("beam", joint).unwrap();
            },
            false,
        ),
        ("removal", |w, ids| w.remove_body(ids[1]), true),
    ];
    for (name, change, moves) in changes {
        let (mut w, ids) = towers(true);
        let (mut other, _) = towers(false);
        let before = w.body(ids[2]).pose().translation;
        for world in [&mut w, &mut other] {
            change(world, &ids);
            run(world, 100);
        }
        assert!(!w.is_asleep(ids[2]), "{name}");
        assert!(apart(&w, &other) < 1e-5, "{name}: {} m", apart(&w, &other));
        let moved = (w.body(ids[2]).pose().translation - before).norm();
        assert_eq!(moved > 1e-6, moves, "{name}: {moved} m");
    }
}

/// Settings that are set again, and threads, which change no bit, wake nothing: so copies of what sleeps are what sleeps.
#[test]
fn settings_given_again_wake_nothing() {
    let (mut w, _) = towers(true);
    w.set_settings(*w.settings());
    w.set_settings(WorldSettings { threads: 2, ..*w.settings() });
    let mut batch = Batch::new(&w, 2, 2);
    run(&mut w, 10);
    assert_eq!(w.statistics().n_asleep, 6);
    let copies = batch.run(|_, copy| {
        run(copy, 10);
        (copy.statistics().n_asleep, copy.state_hash())
    });
    assert_eq!(copies, [(6, w.state_hash()); 2]);
}

/// A servo that starts to push wakes what it touches: robots never sleep, nor what is near them.
#[test]
fn a_drive_moves_what_slept() {
    let mut w = World::new(settings(true));
    w.add_ground(0.5, 0.0);
    let inertia =
        Inertia { mass: 1.0, com: Vector3::zeros(), about_com: Matrix3::identity() * 0.01 };
    let mut pusher = LinkSpec::new("pusher", inertia);
    pusher.collisions.push(GeometrySpec::new(Pose::IDENTITY, Shape::Sphere { radius: 0.04 }));
    let slide = JointSpec {
        drive: Some(Drive { stiffness: 1e4, damping: 200.0 }),
        ..JointSpec::prismatic("slide", "base", "pusher", Vector3::x())
    };
    let model = ModelBuilder::new("robot", Base::Fixed(at(-0.2, 0.0, 0.05)))
        .link(LinkSpec::new("base", Inertia::ZERO))
        .link(pusher)
        .joint(slide)
        .build()
        .unwrap();
    let robot = w.add_robot("robot", Arc::new(model), &[0.0]).unwrap();
    let id = w.add_body(cube("box", at(0.0, 0.0, 0.05))).unwrap();
    run(&mut w, 1000);
    assert!(w.is_asleep(id));
    for _ in 0..1000 {
        w.drive_mut(robot).position[0] += 0.16e-3;
        run(&mut w, 1);
    }
    run(&mut w, 100);
    let x = w.body(id).pose().translation.x;
    // As far as the pusher's face, which gives by 0.5 mm, and what it slides on from 0.16 m/s.
    assert!(x > 0.0494 && x < 0.05 + 0.16 * 0.16 / (2.0 * 0.5 * 9.81) + 1e-3, "{x}");
}

/// What hangs, falls, rolls or turns does not sleep.
#[test]
fn what_moves_stays_awake() {
    let mut w = World::new(settings(true));
    w.add_ground(0.5, 0.0);
    let mut roller = thing("roller", Shape::Sphere { radius: 0.1 }, at(5.0, 0.0, 0.1));
    roller.velocity = Motion::new(Vector3::y() * 1e-3, Vector3::x() * 1e-4);
    let roller = w.add_body(roller).unwrap();
    let mut top = thing("top", Shape::Sphere { radius: 0.1 }, at(7.0, 0.0, 0.1));
    top.velocity.angular.z = 1e-3;
    let top = w.add_body(top).unwrap();
    w.set_settings(WorldSettings { gravity: Vector3::z() * -1e-6, ..*w.settings() });
    let hovering = w.add_body(cube("hovering", at(0.0, 0.0, 9.0))).unwrap();
    run(&mut w, 2000);
    assert_eq!(asleep(&w, &[roller, top, hovering]), [false; 3]);
}

#[test]
fn sleep_and_waking_repeat_bit_by_bit() {
    let mut w = World::new(settings(true));
    w.add_ground(0.5, 0.0);
    for i in 0..4 {
        w.add_body(cube(&format!("box{i}"), at(0.0, 0.0, 0.05 + 0.1 * f64::from(i)))).unwrap();
    }
    let ball = thing("ball", Shape::Sphere { radius: 0.05 }, at(0.03, 0.0, 5.0));
    w.add_body(ball).unwrap();
    let (mut slept, mut woke) = (false, false);
    for _ in 0..14 {
        run(&mut w, 100);
        let saved = w.snapshot();
        let mut copy = w.clone();
        let mut after = Vec::new();
        for _ in 0..30 {
            w.step();
            after.push(w.state_hash());
        }
        w.restore(&saved);
        for hash in after {
            w.step();
            copy.step();
            assert_eq!((w.state_hash(), copy.state_hash()), (hash, hash), "at {} s", w.time());
            let n = w.statistics().n_asleep;
            woke |= slept && n == 0;
            slept |= n == 4;
        }
    }
    assert!(slept && woke);
}

#[test]
fn a_scene_says_when_to_sleep() {
    let scene = Scene::parse("sleeping: {time: 0.2}", "s.yaml").unwrap();
    let expected = Sleeping { time: 0.2, ..Sleeping::default() };
    assert_eq!(scene.settings.sleeping, Some(expected));
    assert_eq!(Scene::parse("dt: 0.001", "s.yaml").unwrap().settings.sleeping, None);
    let error = Scene::parse("sleeping: {time: -1}", "s.yaml").unwrap_err().to_string();
    assert!(error.contains("sleeping.time: -1 is out of range"), "{error}");
}

/// 200 resting boxes; `cargo test --release -p karakuri_physics --test physics sleeping -- --ignored --nocapture`.
#[test]
#[ignore = "a timing"]
#[expect(clippy::disallowed_methods, reason = "a timing reads the clock")]
fn gain_of_two_hundred_boxes() {
    let [awake, asleep] = [false, true].map(|sleeps| {
        let mut w = World::new(settings(sleeps));
        w.add_ground(0.5, 0.0);
        for i in 0..200 {
            let (tower, floor) = (i / 5, i % 5);
            let (x, y) = (0.3 * f64::from(tower % 8), 0.3 * f64::from(tower / 8));
            w.add_body(cube(&format!("box{i}"), at(x, y, 0.05 + 0.1 * f64::from(floor)))).unwrap();
        }
        run(&mut w, 800);
        w
    });
    assert_eq!(asleep.statistics().n_asleep, 200);
    let mut worlds = [awake, asleep];
    let mut best = [f64::INFINITY; 2];
    for _ in 0..20 {
        for (w, best) in worlds.iter_mut().zip(&mut best) {
            let start = std::time::Instant::now();
            run(w, 20);
            *best = best.min(start.elapsed().as_secs_f64() / 20.0);
        }
    }
    let [awake, asleep] = best.map(|t| t * 1e6);
    println!("200 boxes: awake {awake:.1} µs a step, asleep {asleep:.1} µs");
    assert!(asleep < 0.1 * awake);
}
