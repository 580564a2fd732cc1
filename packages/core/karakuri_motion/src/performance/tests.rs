//! Motions of khr1, sampled.

#![expect(clippy::float_cmp, reason = "what is read is what was written")]

use std::path::Path;

use karakuri_dynamics::{difference, integrate};
use karakuri_model::DofKind;

use super::*;
use crate::file;
use crate::loads::LoadsOf;
use crate::motion::{Ease, Motion, Scene, Start, Support};
use crate::pose::Pose as NamedPose;
use crate::review::{Check, ReviewSettings, review};
use crate::stretch::{fit_to_limits, stretch, stretched};

fn root() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

fn khr1() -> Arc<Performer> {
    let loaded = karakuri_files::load_robot(
        &root().join("urdf/khr1/khr1.urdf"),
        Some(&root().join("config/khr1.yaml")),
        None,
    )
    .unwrap();
    Arc::new(Performer::new(Arc::new(loaded.model)))
}

fn greet() -> Document {
    let path = root().join("config/motions/khr1_greet.yaml");
    file::read("khr1_greet.yaml", &karakuri_files::read_text(&path).unwrap()).unwrap()
}

fn pose(joints: &[(&str, f64)]) -> NamedPose {
    let joints = joints.iter().map(|(joint, value)| ((*joint).to_owned(), *value)).collect();
    NamedPose { joints, ..NamedPose::default() }
}

/// A document of scenes with a pose each, in radians.
fn document(poses: &[(&str, NamedPose)], scenes: Vec<Scene>, support: Support) -> Document {
    let mut document = Document::default();
    for (name, pose) in poses {
        document.poses.insert((*name).to_owned(), pose.clone());
    }
    let start = Start { support, ..Start::default() };
    let motion = Motion { start, scenes, ..Motion::default() };
    document.motions.insert("m".to_owned(), Arc::new(motion));
    document
}

fn scene(pose: &str, time: f64) -> Scene {
    Scene { pose: Some(pose.to_owned()), time, ..Scene::default() }
}

#[test]
fn the_mirror_table_of_khr1_follows_its_axes() {
    let mirror = khr1().mirror.clone();
    assert_eq!((mirror.pairs.len(), mirror.own.len()), (8, 1), "{mirror:?}");
    assert_eq!(mirror.own["head_yaw"], -1.0);
    for pair in &mirror.pairs {
        let expected = if pair.0.contains("roll") { -1.0 } else { 1.0 };
        assert_eq!(pair.2, expected, "{pair:?}");
        let (image, sign) = mirror.image(&pair.0).unwrap();
        assert_eq!(mirror.image(image).unwrap(), (pair.0.as_str(), sign));
    }
}

#[test]
fn poses_of_the_document_are_passed_at_their_times() {
    let (performer, document) = (khr1(), greet());
    let mut performance = Performance::new(&document, "greet", &performer).unwrap();
    assert!((performance.duration() - 3.7).abs() < 1e-12);
    let hip = performer.joint("l_hip_pitch").unwrap();
    // Minimum jerk from -25 to -65 degrees: a quarter of the time is 0.103515625 of the distance.
    for (t, degrees) in
        [(0.0, -25.0), (0.5, -25.0), (0.75, -25.0 - 40.0 * 0.103_515_625), (1.5, -65.0)]
    {
        let found = performance.joint(hip, t).position.to_degrees();
        assert!((found - degrees).abs() < 1e-9, "{found} at {t}");
    }
    assert_eq!(performance.scene_at(0.6), 1);
    assert_eq!(performance.state(1.0).stands, [true, true]);
}

#[test]
fn the_standing_sole_stays_while_the_knees_bend() {
    let performer = khr1();
    let bent = pose(&[
        ("l_hip_pitch", -0.5),
        ("l_knee_pitch", 1.0),
        ("l_ankle_pitch", -0.5),
        ("r_hip_pitch", -0.3),
        ("r_knee_pitch", 0.4),
    ]);
    let poses = [
        (
            "zero",
            pose(&[
                ("l_knee_pitch", 0.0),
                ("r_knee_pitch", 0.0),
                ("l_hip_pitch", 0.0),
                ("r_hip_pitch", 0.0),
                ("l_ankle_pitch", 0.0),
            ]),
        ),
        ("bent", bent),
    ];
    for (support, side) in [(Support::Left, Side::Left), (Support::Right, Side::Right)] {
        let document = document(&poses, vec![scene("zero", 0.1), scene("bent", 1.0)], support);
        let mut performance = Performance::new(&document, "m", &performer).unwrap();
        let start = performance.state(0.0);
        let before = performance.sole(side, &start.q).unwrap();
        assert!(before.translation.z.abs() < 1e-12);
        for t in performance.times() {
            let state = performance.state(t);
            let sole = performance.sole(side, &state.q).unwrap();
            let moved = (sole.translation - before.translation).norm();
            assert!(moved < 1e-9, "{support:?} at {t}: {moved}");
        }
        let end = performance.state(1.1);
        let other = performance.sole(side.other(), &end.q).unwrap();
        assert!(
            (other.translation - performance.sole(side.other(), &start.q).unwrap().translation)
                .norm()
                > 0.01
        );
    }
}

/// Velocities and accelerations of joints and root link are derivatives of the positions.
#[test]
fn rates_of_the_whole_robot_are_differences() {
    let (performer, mut document) = (khr1(), greet());
    let mut motion = (*document.motions["greet"]).clone();
    motion.scenes[1].support = Some(Support::Left);
    motion.scenes[1].joints.insert("r_knee_pitch".into(), 70.0);
    motion.scenes[3].support = Some(Support::None);
    document.motions.insert("greet".into(), Arc::new(motion));
    let mut performance = Performance::new(&document, "greet", &performer).unwrap();
    let (model, step) = (&performer.model, 1e-5);
    for t in [0.3, 0.9, 1.3, 1.8, 2.3] {
        let [before, here, after] = [t - step, t, t + step].map(|t| performance.state(t));
        let mut v = vec![0.0; model.nv];
        difference(model, &before.q, &after.q, &mut v);
        for (i, turned) in v.iter().enumerate() {
            let (rate, acceleration) =
                (turned / (2.0 * step), (after.v[i] - before.v[i]) / (2.0 * step));
            assert!((rate - here.v[i]).abs() < 1e-5, "v[{i}] at {t}: {rate}, not {}", here.v[i]);
            assert!(
                (acceleration - here.vdot[i]).abs() < 1e-3,
                "a[{i}] at {t}: {acceleration}, not {}",
                here.vdot[i]
            );
        }
        let mut q = here.q.clone();
        integrate(model, &before.q, &v, 1.0, &mut q);
        assert!(q.iter().zip(&after.q).all(|(a, b)| (a - b).abs() < 1e-9));
    }
}

#[test]
fn a_mirrored_motion_is_the_mirror_image_and_twice_is_the_motion() {
    let performer = khr1();
    let lean = pose(&[
        ("l_hip_roll", 0.2),
        ("r_shoulder_roll", -0.4),
        ("head_yaw", 0.3),
        ("l_knee_pitch", 0.5),
    ]);
    let mut document = document(&[("lean", lean)], vec![scene("lean", 0.5)], Support::Left);
    let wrap = |inner: &str| Motion {
        scenes: vec![Scene { motion: Some(inner.into()), mirror: true, ..Scene::default() }],
        ..Motion::default()
    };
    document.motions.insert("once".into(), Arc::new(wrap("m")));
    document.motions.insert("twice".into(), Arc::new(wrap("once")));
    let at = |name: &str, joint: &str| {
        let performance = Performance::new(&document, name, &performer).unwrap();
        performance.joint(performer.joint(joint).unwrap(), 0.5).position
    };
    assert_eq!((at("once", "r_hip_roll"), at("once", "l_shoulder_roll")), (-0.2, 0.4));
    assert_eq!(
        (at("once", "head_yaw"), at("once", "r_knee_pitch"), at("once", "l_knee_pitch")),
        (-0.3, 0.5, 0.0)
    );
    for id in performer.joints() {
        let name = &performer.model.joints[id.0].name;
        assert_eq!(at("twice", name), at("m", name), "{name}");
    }
    assert_eq!(
        Performance::new(&document, "once", &performer).unwrap().spans()[0].support,
        Support::Right
    );
}

#[test]
fn motions_repeat_and_tracks_replace_or_add() {
    let performer = khr1();
    let text = "\
karakuri_motion: 1
poses: {a: {head_yaw: 0.2}, b: {head_yaw: -0.2, l_elbow_roll: 1}}
motions:
  nod: {scenes: [{pose: a, time: 0.1}, {pose: b, time: 0.1}]}
  all:
    scenes: [{motion: nod, repeat: 3, time: 0.5}]
    tracks:
      r_elbow_roll: {keys: [{t: 0, y: 0}, {t: 1, y: 0.5, ease: linear}]}
      l_elbow_roll: {blend: add, keys: [{t: 0.7, y: 0.25}]}
";
    let document = file::read("t.yaml", text).unwrap();
    let performance = Performance::new(&document, "all", &performer).unwrap();
    assert!((performance.duration() - 1.1).abs() < 1e-12);
    let at = |joint: &str, t| performance.joint(performer.joint(joint).unwrap(), t).position;
    for (t, value) in [(0.6, 0.2), (0.7, -0.2), (0.8, 0.2), (0.9, -0.2), (1.1, -0.2)] {
        assert!((at("head_yaw", t) - value).abs() < 1e-12, "{t}");
    }
    assert!((at("r_elbow_roll", 0.5) - 0.25).abs() < 1e-12);
    assert!((at("l_elbow_roll", 0.9) - 1.25).abs() < 1e-12);
}

#[test]
fn joints_that_the_robot_lacks_are_named_with_their_place() {
    let performer = khr1();
    let document =
        document(&[("a", pose(&[("l_knee", 0.1)]))], vec![scene("a", 0.5)], Support::Auto);
    let problems = Performance::new(&document, "m", &performer).unwrap_err();
    let said = problems[0].to_string();
    assert!(said.starts_with("motions.m.scenes[0].l_knee: robot `khr1` has no joint `l_knee` to move; the joints are head_yaw"), "{said}");
}

/// The zero moment point by the formula of the whole momentum, `p_x = c_x − ((c_z−p_z)c̈_x + L̇_y/m)/(c̈_z+g)`.
#[test]
fn the_zero_moment_point_agrees_with_the_momentum() {
    let (performer, document) = (khr1(), greet());
    let mut performance = Performance::new(&document, "greet", &performer).unwrap();
    let mut loads = LoadsOf::new(&performer, 9.81);
    let mass = performer.model.mass();
    for t in [0.6, 0.8, 1.0, 1.3, 2.5] {
        let step = 1e-5;
        let mut momentum = |t: f64| {
            let state = performance.state(t);
            let h =
                centroidal_momentum(&performer.model, &mut performance.data, &state.q, &state.v);
            let com = karakuri_dynamics::center_of_mass(&performer.model, &performance.data);
            (h, com)
        };
        let ((before, _), (_, com), (after, _)) =
            (momentum(t - step), momentum(t), momentum(t + step));
        let force = (after.linear - before.linear) / (2.0 * step);
        let moment = (after.angular - before.angular) / (2.0 * step);
        let weight = force.z / mass + 9.81;
        let x = com.x - (com.z * force.x / mass + moment.y / mass) / weight;
        let y = com.y - (com.z * force.y / mass - moment.x / mass) / weight;
        let found = loads.of(&performance.state(t)).balance.unwrap();
        assert!(
            (found.zmp[0] - x).abs() < 1e-6 && (found.zmp[1] - y).abs() < 1e-6,
            "{found:?}: {x}, {y}"
        );
        assert!(found.static_margin > 0.0 && found.margin > 0.0, "{found:?}");
    }
}

#[test]
fn a_good_motion_passes_and_bad_ones_are_found() {
    let performer = khr1();
    let settings = ReviewSettings::default();
    let check = |document: &Document, name: &str| {
        review(&Performance::new(document, name, &performer).unwrap(), &settings).unwrap()
    };
    let good = check(&greet(), "greet");
    assert!(good.first_error().is_none(), "{:?}", good.findings);
    assert!(good.least_margin.unwrap() > 0.005, "{:?}", good.least_margin);
    assert_eq!(good.peaks.len(), 8);

    let far = pose(&[
        ("l_hip_pitch", -1.5),
        ("r_hip_pitch", -1.5),
        ("l_knee_pitch", 2.5),
        ("r_shoulder_roll", -3.0),
    ]);
    let start = pose(&[
        ("l_hip_pitch", 0.0),
        ("r_hip_pitch", 0.0),
        ("l_knee_pitch", 0.0),
        ("r_shoulder_roll", 0.0),
    ]);
    let mut scenes = vec![scene("zero", 0.1), scene("far", 0.3)];
    scenes[1].ease = Ease::Linear;
    let bad = check(&document(&[("zero", start), ("far", far)], scenes, Support::Both), "m");
    let found = |check: Check, what: &str| {
        let finding = bad.findings.iter().find(|f| f.check == check && f.what == what);
        finding.unwrap_or_else(|| panic!("no {check:?} of {what} in {:?}", bad.findings)).clone()
    };
    let knee = found(Check::Position, "l_knee_pitch");
    assert_eq!((knee.scene, knee.limit), (1, 2.007_129));
    assert!(knee.time > 0.1 && knee.worst > 2.4 && knee.value < knee.worst, "{knee:?}");
    assert!((found(Check::Speed, "r_shoulder_roll").value - 10.0).abs() < 1e-9);
    assert!((found(Check::Impulse, "r_shoulder_roll").value - 10.0).abs() < 1e-9);
    assert!(found(Check::Static, "khr1").worst < -0.01);
    assert!(bad.least_margin.unwrap() < 0.0);
}

/// A spline that overshoots between two frames of a second is found beyond its limit.
#[test]
fn an_overshoot_between_frames_is_found() {
    let performer = khr1();
    let text = "\
karakuri_motion: 1
motions:
  m:
    frame: 1
    tracks:
      head_yaw: {keys: [{t: 0, y: 0}, {t: 1, y: 1.55, ease: natural}, {t: 2, y: 1.55, ease: natural}, {t: 3, y: 0, ease: natural}]}
";
    let document = file::read("t.yaml", text).unwrap();
    let performance = Performance::new(&document, "m", &performer).unwrap();
    let found = review(&performance, &ReviewSettings::default()).unwrap();
    let finding = found.findings.iter().find(|f| f.check == Check::Position).unwrap();
    assert!((finding.time - 1.5).abs() < 1e-6 && finding.value > 1.7, "{finding:?}");
}

#[test]
fn slowed_by_the_fit_a_motion_keeps_its_limits() {
    let (performer, mut document) = (khr1(), greet());
    let mut fast = stretched(&document.motions["greet"], 0.05);
    fast.frame = 0.001;
    document.motions.insert("greet".into(), Arc::new(fast.clone()));
    let settings = ReviewSettings::default();
    let fit =
        fit_to_limits(&mut Performance::new(&document, "greet", &performer).unwrap(), &settings);
    assert!(fit.factor > 1.2 && fit.joint.is_some() && fit.too_weak.is_empty(), "{fit:?}");
    document.motions.insert("greet".into(), Arc::new(stretched(&fast, 1.01 * fit.factor)));
    let again =
        fit_to_limits(&mut Performance::new(&document, "greet", &performer).unwrap(), &settings);
    assert!(again.factor <= 1.02, "{again:?}");
}

/// On a foot that is lower than the other one, `auto` stands on it; on two level ones on both.
#[test]
fn auto_finds_the_feet_that_stand() {
    let performer = khr1();
    let even = pose(&[
        ("l_hip_pitch", -0.4),
        ("l_knee_pitch", 0.8),
        ("l_ankle_pitch", -0.4),
        ("r_hip_pitch", -0.4),
        ("r_knee_pitch", 0.8),
        ("r_ankle_pitch", -0.4),
    ]);
    let up = NamedPose {
        from: Some("even".into()),
        ..pose(&[("r_hip_pitch", -0.7), ("r_knee_pitch", 1.4), ("r_ankle_pitch", -0.7)])
    };
    let poses = [("even", even), ("up", up)];
    let scenes = vec![scene("even", 0.3), scene("up", 0.5), scene("even", 0.5), scene("even", 0.3)];
    let document = document(&poses, scenes, Support::Auto);
    let mut performance = Performance::new(&document, "m", &performer).unwrap();
    assert_eq!(performance.state(0.1).stands, [true, true]);
    assert_eq!(performance.state(0.7).stands, [true, false]);
    assert_eq!(performance.state(1.5).stands, [true, true]);
    assert_eq!(performer.model.joints[7].kind.single(), Some(DofKind::Angle));
}

/// A start whose pose places the root, and a first scene that does so without taking time: two keys of the root at 0 s.
#[test]
fn the_root_has_one_key_at_a_time() {
    let performer = khr1();
    let text = "\
karakuri_motion: 1
poses:
  a: {root: {xyz: [0, 0, 0.3], rpy: [0, 0, 0]}}
  b: {root: {xyz: [0, 0, 0.5], rpy: [0, 0, 0.4]}}
motions:
  m:
    start: {pose: a, support: none}
    scenes: [{pose: b, time: 0, ease: natural}, {pose: a, time: 1, ease: natural}]
";
    let document = file::read("t.yaml", text).unwrap();
    let mut performance = Performance::new(&document, "m", &performer).unwrap();
    for (t, z) in [(0.0, 0.5), (0.5, 0.4), (1.0, 0.3)] {
        let found = performance.state(t);
        assert!((found.q[2] - z).abs() < 1e-12, "{} at {t} s", found.q[2]);
        assert!(found.q.iter().chain(&found.v).chain(&found.vdot).all(|x| x.is_finite()), "{t} s");
    }
}

/// A joint that a motion lacks is a problem of each of its repetitions, and said once.
#[test]
fn a_problem_of_a_repeated_motion_is_said_once() {
    let performer = khr1();
    let text = "\
karakuri_motion: 1
motions:
  nod: {scenes: [{joints: {neck: 0.2, nose: 1}, time: 0.1}]}
  m: {scenes: [{motion: nod, repeat: 3}]}
";
    let document = file::read("t.yaml", text).unwrap();
    let problems = Performance::new(&document, "m", &performer).unwrap_err();
    assert_eq!(problems.len(), 2, "{problems:?}");
}

/// A track that replaces is all that its joint does, also where a scene plays a motion that moves the joint.
#[test]
fn a_track_replaces_what_a_played_motion_does() {
    let performer = khr1();
    let text = "\
karakuri_motion: 1
motions:
  wave:
    scenes: [{joints: {l_elbow_roll: 1, head_yaw: 0.3}, time: 0.25}, {joints: {l_elbow_roll: 0}, time: 0.25}]
    tracks: {r_elbow_roll: {keys: [{t: 0.1, y: 1}]}}
  m:
    scenes: [{motion: wave, mirror: true, repeat: 2}]
    tracks:
      r_elbow_roll: {keys: [{t: 0, y: 0}, {t: 1, y: 0.5, ease: linear}]}
      l_elbow_roll: {keys: [{t: 0, y: 0.25}]}
";
    let document = file::read("t.yaml", text).unwrap();
    let performance = Performance::new(&document, "m", &performer).unwrap();
    let at = |joint: &str, t| performance.joint(performer.joint(joint).unwrap(), t).position;
    for t in [0.0, 0.1, 0.25, 0.5, 0.6, 0.75, 1.0] {
        let found = [at("r_elbow_roll", t), at("l_elbow_roll", t)];
        assert!((found[0] - 0.5 * t).abs() < 1e-12 && found[1] == 0.25, "{found:?} at {t} s");
    }
    assert!((at("head_yaw", 0.25) + 0.3).abs() < 1e-12);
}

/// Where one repetition ends and the next begins, what is added counts once.
#[test]
fn what_a_repeated_motion_adds_counts_once_where_repetitions_meet() {
    let performer = khr1();
    let text = "\
karakuri_motion: 1
motions:
  lift:
    scenes: [{joints: {head_yaw: 0}, time: 0.5}]
    tracks: {l_elbow_roll: {blend: add, keys: [{t: 0, y: 0.3}]}}
  m: {scenes: [{motion: lift, repeat: 2}, {joints: {head_yaw: 0}, time: 0.5}]}
";
    let document = file::read("t.yaml", text).unwrap();
    let performance = Performance::new(&document, "m", &performer).unwrap();
    let at = |name: &str, t| {
        let performance = Performance::new(&document, name, &performer).unwrap();
        performance.joint(performer.joint("l_elbow_roll").unwrap(), t).position
    };
    for (t, expected) in [(0.0, 0.3), (0.25, 0.3), (0.5, 0.3), (0.75, 0.3), (1.25, 0.0)] {
        assert!((at("m", t) - expected).abs() < 1e-12, "{} at {t} s", at("m", t));
    }
    // At the end of the whole motion nothing follows: the robot stays as it is.
    assert!((at("lift", 0.5) - 0.3).abs() < 1e-12);
    assert!((performance.duration() - 1.5).abs() < 1e-12);
}

/// A joint that is elsewhere all at once, by a hold or where an added track ends, is faster than any limit.
#[test]
fn a_joint_that_leaps_is_too_fast() {
    let performer = khr1();
    let text = "\
karakuri_motion: 1
motions:
  lift:
    scenes: [{joints: {head_yaw: 0}, time: 0.5}]
    tracks: {l_elbow_roll: {blend: add, keys: [{t: 0, y: 0}, {t: 0.5, y: 0.6}]}}
  added: {scenes: [{motion: lift, time: 0.25}, {joints: {head_yaw: 0}, time: 0.5}]}
  held: {tracks: {head_yaw: {keys: [{t: 0, y: 0}, {t: 0.5, y: 0.6, ease: hold}, {t: 0.6, y: 0.62, ease: hold}]}}}
";
    let document = file::read("t.yaml", text).unwrap();
    for (name, joint, t) in [("added", "l_elbow_roll", 0.75), ("held", "head_yaw", 0.5)] {
        let performance = Performance::new(&document, name, &performer).unwrap();
        let found = review(&performance, &ReviewSettings::default()).unwrap();
        let finding = found.findings.iter().find(|f| f.check == Check::Speed && f.what == joint);
        let finding = finding.unwrap_or_else(|| panic!("{name}: {:?}", found.findings));
        // Within a frame of 15 ms.
        let speed = 0.6 / 0.015;
        assert!(
            (finding.time - t).abs() < 1e-9 && (finding.worst - speed).abs() < 1e-6,
            "{finding:?}"
        );
    }
    // Repetitions that go on where the one before ended do not leap, nor do small steps.
    let text = text.replace("y: 0.6", "y: 0.05").replace("y: 0.62", "y: 0.1");
    let document = file::read("t.yaml", &text).unwrap();
    for name in ["added", "held"] {
        let performance = Performance::new(&document, name, &performer).unwrap();
        let found = review(&performance, &ReviewSettings::default()).unwrap();
        assert!(found.findings.iter().all(|f| f.check != Check::Speed), "{:?}", found.findings);
    }
}

/// In flight the centre of mass falls freely, also where joints change their speed at a key.
#[test]
fn the_centre_of_mass_falls_freely_across_keys() {
    let (performer, mut document) = (khr1(), greet());
    let mut motion = (*document.motions["greet"]).clone();
    motion.scenes[2].support = Some(Support::None);
    for scene in &mut motion.scenes[2..] {
        scene.ease = Ease::Linear;
    }
    let start = motion.scenes[..2].iter().map(|scene| scene.time).sum::<f64>();
    let key = start + motion.scenes[2].time;
    document.motions.insert("greet".into(), Arc::new(motion));
    let mut performance = Performance::new(&document, "greet", &performer).unwrap();
    let model = &performer.model;
    for t in [start + 0.1, key - 4e-6, key, key + 4e-6] {
        let state = performance.state(t);
        let mut data = Data::new(model);
        let momentum = |data: &mut Data, q: &[f64], v: &[f64]| {
            centroidal_momentum(model, data, q, v).linear / model.mass()
        };
        // The rate of the momentum by its own derivative along the state: straight joints, so a small step is exact.
        let step = 1e-7;
        let mut rates = [Vector3::zeros(); 2];
        for (rate, sign) in rates.iter_mut().zip([-1.0, 1.0]) {
            let (mut q, mut v) = (state.q.clone(), state.v.clone());
            integrate(model, &state.q, &state.v, sign * step, &mut q);
            v.iter_mut().zip(&state.vdot).for_each(|(v, a)| *v += sign * step * a);
            *rate = momentum(&mut data, &q, &v);
        }
        let found = (rates[1] - rates[0]) / (2.0 * step);
        let expected = Vector3::new(0.0, 0.0, -9.81);
        assert!((found - expected).amax() < 0.01, "{found} at {t} s");
    }
}

/// A motion that plays others is slower in all its parts, and the others stay as they are.
#[test]
fn a_stretched_motion_plays_stretched_motions() {
    let performer = khr1();
    let text = "\
karakuri_motion: 1
motions:
  tilt: {scenes: [{joints: {head_yaw: 0.4}, time: 0.1}]}
  nod: {scenes: [{motion: tilt, mirror: true, repeat: 2}, {joints: {head_yaw: 0}, time: 0.2}]}
  nod of m: {scenes: [{joints: {head_yaw: 0.1}, time: 0.3}]}
  m: {scenes: [{motion: nod, time: 0.1}, {motion: tilt}, {joints: {head_yaw: 0.1}, time: 0.3}]}
";
    let before = file::read("t.yaml", text).unwrap();
    let mut after = before.clone();
    let copies = stretch(&mut after, "m", 2.5);
    assert_eq!(copies, ["nod of m 2", "tilt of m"]);
    assert!(after.check().is_empty(), "{:?}", after.check());
    let of =
        |document: &Document, name: &str| Performance::new(document, name, &performer).unwrap();
    let yaw = performer.joint("head_yaw").unwrap();
    let (fast, slow) = (of(&before, "m"), of(&after, "m"));
    assert!((slow.duration() - 2.5 * fast.duration()).abs() < 1e-12, "{} s", slow.duration());
    for k in 0..=80 {
        let t = 0.01 * f64::from(k);
        let (a, b) = (fast.joint(yaw, t), slow.joint(yaw, 2.5 * t));
        assert!((a.position - b.position).abs() < 1e-9, "{a:?} and {b:?} at {t} s");
    }
    for name in ["tilt", "nod", "nod of m"] {
        assert_eq!(after.motions[name], before.motions[name]);
    }
}
