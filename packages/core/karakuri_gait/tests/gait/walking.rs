//! Plans of whole robots: the ZMP of the full dynamics, limits, commands. Robots: `khr1`, `anthropomorphic`, Unitree's G1.

#![expect(clippy::unwrap_used, reason = "a test")]

use crate::robots;

use karakuri_dynamics::{Data, center_of_mass, difference, forward_kinematics, frame_pose, rnea};
use karakuri_gait::planner::*;
use karakuri_model::Model;
use karakuri_spatial::{Pose, UnitQuaternion, Vector3};
use karakuri_testkit::Random;

use robots::{engine, khr1, try_engine};

fn anthropomorphic() -> WalkEngine {
    engine(
        include_str!("../../../../../urdf/anthropomorphic/anthropomorphic.urdf"),
        include_str!("../../../../../config/anthropomorphic.yaml"),
        include_str!("../../../../../config/gaits/anthropomorphic_walk.yaml"),
    )
}

/// A real humanoid with six joints a leg, which stands on four balls a foot.
fn g1() -> WalkEngine {
    g1_with("").unwrap()
}

/// The same with more in its YAML.
fn g1_with(more: &str) -> Result<WalkEngine, BipedError> {
    let leg = |s: &str| {
        format!("{s}_hip_pitch_joint: -0.35, {s}_knee_joint: 0.7, {s}_ankle_pitch_joint: -0.35")
    };
    let config = format!("postures:\n  stand: {{{}, {}}}\n{more}", leg("left"), leg("right"));
    try_engine(
        include_str!("../../../../../tests/robots/g1/g1.urdf"),
        &config,
        "
walk:
  feet: [left_ankle_roll_link, right_ankle_roll_link]
  posture: stand
  com_height: 0.64
  feet_apart: 0.2
  zmp_in_sole: [0.035, 0]
  step_time: 0.7
  double_support: 0.14
  start_time: 1.2
  stop_time: 0.8
  step_height: 0.05
  limits: {forward: 0.25, backward: 0.2, width: [0.16, 0.35], turn: 0.3, height: 0.1}
  preview_time: 1.4
",
    )
}

/// Walks until it stands, or for so long. [s]
fn walk(engine: &mut WalkEngine, longest: f64) -> Vec<Sample> {
    let period = engine.generator().settings.period;
    let (mut samples, mut time, mut walked) = (Vec::new(), 0.0, false);
    while time < longest && !(walked && engine.state() == WalkState::Standing) {
        engine.advance(period, None);
        samples.push(engine.sample().clone());
        walked |= engine.state() == WalkState::Walking;
        time += period;
    }
    assert!(engine.failure().is_none(), "{:?}", engine.failure());
    samples
}

/// Least margin, and largest distance of the ZMP from its reference. [m]
fn zmp(samples: &[Sample]) -> (f64, f64) {
    let margin = samples.iter().map(|s| s.margin).fold(f64::INFINITY, f64::min);
    let away = |s: &Sample| (s.zmp[0] - s.zmp_reference[0]).hypot(s.zmp[1] - s.zmp_reference[1]);
    (margin, samples.iter().map(away).fold(0.0, f64::max))
}

#[test]
fn the_whole_robots_zmp_stays_in_the_soles() {
    let mut robots =
        [("khr1", khr1(), 0.4, 0.006), ("anthropomorphic", anthropomorphic(), 2.0, 0.06)];
    for (name, engine, distance, most) in &mut robots {
        engine.command(WalkCommand::Straight((*distance).into()));
        let samples = walk(engine, 60.0);
        let (margin, error) = zmp(&samples);
        assert!(margin > 0.008 && error < *most, "{name}: margin {margin}, error {error}");
        let (first, last) = (&samples[0], &samples[samples.len() - 1]);
        for side in 0..2 {
            let gone = last.soles[side].translation.x - first.soles[side].translation.x;
            assert!((gone - *distance).abs() < 1e-9, "{name}: {gone}");
        }
        // Without jumps: no joint moves faster than its plan says.
        for pair in samples.windows(2) {
            let h = engine.generator().settings.period;
            for joint in engine.generator().biped.model.joints.iter().skip(1) {
                let change = pair[1].q[joint.q_start] - pair[0].q[joint.q_start];
                let rate = 0.5 * (pair[0].v[joint.v_start] + pair[1].v[joint.v_start]);
                assert!((change / h - rate).abs() < 0.5, "{name} {}: {change} {rate}", joint.name);
            }
        }
    }
}

/// Both generators: the same footsteps, the same ZMP; the divergent component of motion follows it closer.
#[test]
fn both_generators_walk_the_same_way() {
    let robots: [(_, fn() -> WalkEngine, _); 3] =
        [("khr1", khr1, 0.3), ("anthropomorphic", anthropomorphic, 1.5), ("g1", g1, 1.0)];
    for (name, robot, distance) in robots {
        let robot = robot();
        let [preview, dcm] = [GeneratorKind::Preview, GeneratorKind::Dcm].map(|generator| {
            let settings = WalkSettings { generator, ..robot.generator().settings.clone() };
            let mut engine = WalkEngine::new(robot.generator().biped.clone(), settings).unwrap();
            engine.command(WalkCommand::Straight(distance.into()));
            let samples = walk(&mut engine, 60.0);
            assert!(engine.take_excesses().is_empty(), "{name}, {generator:?}");
            samples
        });
        assert_eq!(preview.len(), dcm.len(), "{name}");
        let (mut feet, mut com) = (0.0_f64, 0.0_f64);
        for (a, b) in preview.iter().zip(&dcm) {
            assert_eq!(
                (a.index, a.support, a.zmp_reference),
                (b.index, b.support, b.zmp_reference)
            );
            for (a, b) in a.soles.iter().zip(&b.soles) {
                feet = feet.max((a.translation - b.translation).norm());
            }
            com = com.max((a.com[0] - b.com[0]).hypot(a.com[1] - b.com[1]));
        }
        let height = robot.generator().settings.com_height;
        assert!(feet < 1e-12 && com < 0.005 * height, "{name}: feet {feet}, com {com}");
        let ((margin, error), (_, error_before)) = (zmp(&dcm), zmp(&preview));
        assert!(margin > 0.008 && error < error_before, "{name}: {margin} {error} {error_before}");
    }
}

/// Under another gravity the same pendulum swings slower by `√(g/g′)`: with all times stretched so, the same walk is planned, sample by
/// sample, with efforts by the ratio of the gravities.
#[test]
fn a_walk_on_the_moon_is_the_same_walk_slower() {
    for generator in [GeneratorKind::Preview, GeneratorKind::Dcm] {
        let earth = khr1();
        let settings = WalkSettings { generator, ..earth.generator().settings.clone() };
        let biped = earth.generator().biped.clone();
        let gravity = 1.62;
        let slower = (settings.gravity / gravity).sqrt();
        let there = WalkSettings {
            gravity,
            step_time: slower * settings.step_time,
            double_support: slower * settings.double_support,
            start_time: slower * settings.start_time,
            stop_time: slower * settings.stop_time,
            period: slower * settings.period,
            preview_time: slower * settings.preview_time,
            jerk_weight: slower.powi(6) * settings.jerk_weight,
            ..settings.clone()
        };
        let [here, there] = [settings, there].map(|settings| {
            let mut engine = WalkEngine::new(biped.clone(), settings).unwrap();
            engine.command(WalkCommand::Straight(0.2.into()));
            walk(&mut engine, 60.0)
        });
        // It stands for a while first, which is not stretched.
        let stood = here.len().abs_diff(there.len());
        assert!(there.len() > 300 && stood < 10, "{} {}", here.len(), there.len());
        for (a, b) in here.iter().rev().zip(there.iter().rev()) {
            let apart = |a: &[f64], b: &[f64]| {
                a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
            };
            let zmp = apart(&a.zmp, &b.zmp).max(apart(&a.zmp_reference, &b.zmp_reference));
            // What is left is what inverse kinematics and preview leave of another start.
            let (zmp, q) = (zmp, apart(&a.q, &b.q));
            assert!(zmp < 1e-4 && q < 1e-3, "{generator:?}: {zmp} {q} in {}", a.index);
            let v: Vec<f64> = b.v.iter().map(|v| slower * v).collect();
            let effort: Vec<f64> = b.effort.iter().map(|e| slower.powi(2) * e).collect();
            assert!(apart(&a.v, &v) < 1e-2 && apart(&a.effort, &effort) < 1e-2, "{generator:?}");
        }
    }
}

/// The other foot first, to the other side: the same walk in the mirror.
#[test]
fn a_mirrored_command_gives_the_mirrored_plan() {
    let robots: [(_, fn() -> WalkEngine, _); 2] =
        [("khr1", khr1, 0.06), ("anthropomorphic", anthropomorphic, 0.3)];
    for (name, robot, speed) in robots {
        for velocity in [
            Velocity { forward: speed, left: 0.0, turn: 0.0 },
            Velocity { forward: 0.5 * speed, left: 0.2 * speed, turn: 0.0 },
            Velocity { forward: 0.5 * speed, left: 0.0, turn: 0.1 },
        ] {
            let [plan, mirrored] = [(Side::Left, 1.0), (Side::Right, -1.0)].map(|(first, sign)| {
                let Velocity { forward, left, turn } = velocity;
                let mut engine = robot();
                engine.begin_with(first);
                let velocity = Velocity { forward, left: sign * left, turn: sign * turn };
                engine.command(WalkCommand::Velocity(velocity));
                walk(&mut engine, 4.0)
            });
            let mut apart = 0.0_f64;
            for (a, b) in plan.iter().zip(&mirrored) {
                for ([ax, ay], [bx, by]) in [
                    ([a.com[0], a.com[1]], [b.com[0], b.com[1]]),
                    (a.zmp, b.zmp),
                    (a.zmp_reference, b.zmp_reference),
                ] {
                    apart = apart.max((ax - bx).hypot(ay + by));
                }
                for side in Side::BOTH {
                    let (a, b) = (&a.soles[side.index()], &b.soles[side.other().index()]);
                    let [x, y, z] = (a.translation - b.translation).into();
                    let across = y + 2.0 * b.translation.y;
                    apart = apart.max(x.hypot(across).hypot(z));
                    apart = apart.max((a.rpy()[2] + b.rpy()[2]).abs());
                }
                apart = apart.max((a.margin - b.margin).abs());
            }
            assert!(plan.len() == mirrored.len() && apart < 1e-6, "{name} {velocity:?}: {apart}");
        }
    }
}

/// ZMP that the postures of a walk ask for, the floor at height 0, computed here once more. [m] (2)
fn zmp_of(model: &Model, data: &mut Data, row: &[Sample], h: f64) -> [f64; 2] {
    let (mut back, mut forth) = (vec![0.0; model.nv], vec![0.0; model.nv]);
    difference(model, &row[0].q, &row[1].q, &mut back);
    difference(model, &row[1].q, &row[2].q, &mut forth);
    let pairs = || back.iter().zip(&forth);
    let v: Vec<f64> = pairs().map(|(b, f)| (b + f) / (2.0 * h)).collect();
    let a: Vec<f64> = pairs().map(|(b, f)| (f - b) / (h * h)).collect();
    let f = rnea(model, data, &row[1].q, &v, &a, &[]);
    let [x, y, z] = [0, 1, 2].map(|i| row[1].q[i]);
    [x - (f[4] + z * f[0]) / f[2], y + (f[3] - z * f[1]) / f[2]]
}

/// Root mean square of the moment by which the floor must turn the walker. [N·m]
fn yaw_moment(samples: &[Sample]) -> f64 {
    let sum: f64 = samples.iter().map(|s| s.yaw_moment.powi(2)).sum();
    (sum / samples.len() as f64).sqrt()
}

/// Arms (and the waist of the G1) take up what the legs would turn the walker by, and its ZMP stays at its reference.
#[test]
fn waist_and_arms_take_up_the_legs_yaw() {
    let robots: [(_, fn() -> WalkEngine, _, _); 3] = [
        ("khr1", khr1, 0.08, 0.5),
        ("anthropomorphic", anthropomorphic, 0.3, 0.7),
        ("g1", g1, 0.3, 0.7),
    ];
    for (name, robot, speed, left) in robots {
        let robot = robot();
        let [with, without] = [1.0, 0.0].map(|yaw| {
            let mut settings = robot.generator().settings.clone();
            settings.upper_body.yaw = yaw;
            let mut engine = WalkEngine::new(robot.generator().biped.clone(), settings).unwrap();
            engine
                .command(WalkCommand::Velocity(Velocity { forward: speed, ..Velocity::default() }));
            walk(&mut engine, 8.0)
        });
        let (few, much) = (yaw_moment(&with), yaw_moment(&without));
        let ((margin, error), (margin_before, error_before)) = (zmp(&with), zmp(&without));
        assert!(few < left * much, "{name}: {few} N·m of {much}");
        assert!(margin > margin_before - 1e-3 && error < 1.05 * error_before + 1e-4, "{name}");
        let (model, h) = (&robot.generator().biped.model, robot.generator().settings.period);
        let mut data = Data::new(model);
        for row in with.windows(3) {
            let again = zmp_of(model, &mut data, row, h);
            let away = (again[0] - row[1].zmp[0]).hypot(again[1] - row[1].zmp[1]);
            assert!(away < 1e-6, "{name}: {away} m at sample {}", row[1].index);
        }
    }
}

/// How far a posture is from where centre of mass and soles are to be. [rad, or part of the height of the centre of mass]
fn away(generator: &Generator, q: &[f64], com: Vector3, soles: &[Pose; 2]) -> f64 {
    let (biped, height) = (&generator.biped, generator.settings.com_height);
    let mut data = Data::new(&biped.model);
    forward_kinematics(&biped.model, &mut data, q);
    let mut most = (center_of_mass(&biped.model, &data) - com).norm() / height;
    for (leg, expected) in biped.legs.iter().zip(soles) {
        let sole = frame_pose(&biped.model, &data, leg.foot) * leg.sole_in_foot;
        let turn = Pose::new(sole.rotation * expected.rotation.transpose(), Vector3::zeros());
        let [roll, pitch, yaw] = turn.rpy();
        let yaw = if biped.has_yaw { yaw } else { 0.0 };
        let shift = (sole.translation - expected.translation).norm() / height;
        most = most.max(shift).max(roll.hypot(pitch).hypot(yaw));
    }
    most
}

/// As exact as `whole_body` says, because the ZMP feels second differences of it.
#[test]
fn postures_are_at_their_targets() {
    let mut random = Random::new(1);
    let robots: [fn() -> WalkEngine; 3] = [khr1, anthropomorphic, g1];
    for robot in robots {
        let mut engine = robot();
        let height = engine.generator().settings.com_height;
        let forward = 0.3 * height;
        let velocity = Velocity { forward, turn: 0.1, ..Velocity::default() };
        engine.command(WalkCommand::Velocity(velocity));
        let (samples, generator) = (walk(&mut engine, 6.0), engine.generator());
        for s in &samples {
            let error = away(generator, &s.q, s.com.into(), &s.soles);
            assert!(error < 1e-7, "{error:e} at sample {}", s.index);
        }
        // From standing to anywhere near it, at once.
        let (standing, mut solver) = (&samples[0], WholeBody::new(&generator.biped, height));
        for _ in 0..200 {
            let (lean, shift) = (random.vector(0.1), random.vector(0.05 * height));
            let com = Vector3::from(standing.com) - Vector3::new(shift.x, shift.y, shift.z.abs());
            let trunk = Pose::from_xyz_rpy([0.0; 3], [lean.x, lean.y, 0.0]).rotation;
            let mut soles = standing.soles;
            soles[0].translation += random.vector(0.05 * height);
            let (target, mut q) = (BodyTarget { com, trunk, soles }, standing.q.clone());
            solver.solve(&generator.biped, &target, &mut q).unwrap();
            let error = away(generator, &q, com, &soles);
            assert!(error < 1e-7, "{error:e}: {target:?}");
        }
    }
}

#[test]
fn a_real_humanoid_turns_on_the_spot() {
    let mut engine = g1();
    assert!(engine.generator().biped.has_yaw);
    let start = engine.feet();
    engine.command(WalkCommand::Velocity(Velocity { turn: 0.4, ..Velocity::default() }));
    let mut samples = walk(&mut engine, 9.0);
    engine.command(WalkCommand::Stop);
    samples.extend(walk(&mut engine, 9.0));
    let (margin, _) = zmp(&samples);
    let turned = engine.feet()[0].yaw - start[0].yaw;
    assert!(turned > 2.5 && margin > 0.0, "turned {turned} rad, margin {margin}");
    assert!((engine.feet()[1].yaw - engine.feet()[0].yaw).abs() < 1e-9);
    assert!(engine.take_clips().is_empty());
}

#[test]
fn a_stop_takes_two_steps_at_most() {
    for after in [2.0, 2.1, 2.2, 2.3, 2.4] {
        let mut engine = khr1();
        engine.command(WalkCommand::Velocity(Velocity { forward: 0.05, ..Velocity::default() }));
        walk(&mut engine, after);
        let steps = engine.steps();
        engine.command(WalkCommand::Stop);
        let samples = walk(&mut engine, 10.0);
        assert!(engine.steps() <= steps + 2 && engine.state() == WalkState::Standing);
        let [left, right] = samples[samples.len() - 1].soles;
        assert!((left.translation.x - right.translation.x).abs() < 1e-3, "feet side by side");
        assert!(zmp(&samples).0 > 0.0);
    }
}

/// Whatever is under way: the step that is, the one committed, the one that closes the feet.
#[test]
fn every_walk_stops_within_two_steps() {
    let step = |k: u32| {
        let side = if k % 2 == 1 { Side::Left } else { Side::Right };
        let to = Place::level([0.03 * f64::from(k), 0.023 * side.sign(), 0.0], 0.0);
        Footstep { side, to, slide: 0.0 }
    };
    let at = |forward, left, turn| WalkCommand::Velocity(Velocity { forward, left, turn });
    for command in [
        at(0.06, 0.0, 0.1),
        at(0.0, 0.02, 0.0),
        WalkCommand::Straight(1.0_f64.into()),
        WalkCommand::Turn(2.0),
        WalkCommand::Footsteps((1..=20).map(step).collect()),
    ] {
        for phase in 0..24 {
            let mut engine = khr1();
            engine.command(command.clone());
            walk(&mut engine, 1.0 + 0.04 * f64::from(phase));
            let steps = engine.steps();
            engine.command(WalkCommand::Stop);
            let samples = walk(&mut engine, 10.0);
            assert!(
                engine.steps() <= steps + 2,
                "{command:?}, {phase}: {steps} {}",
                engine.steps()
            );
            assert!(engine.state() == WalkState::Standing && zmp(&samples).0 > 0.0);
        }
    }
}

/// Those that are reported ahead are those that are made, and go when they are.
#[test]
fn planned_footsteps_are_the_ones_that_are_made() {
    let mut engine = khr1();
    assert!(engine.footsteps(30).is_empty() && engine.standing().count() == 2);
    engine.command(WalkCommand::Straight(0.2_f64.into()));
    let planned = engine.footsteps(30);
    assert_eq!((planned.len(), engine.footsteps(3).len()), (6, 3));
    let (mut made, mut last) = (Vec::new(), planned.len());
    while made.len() < planned.len() || engine.state() == WalkState::Walking {
        engine.advance(0.01, None);
        let left = engine.footsteps(30);
        assert!(left.len() == last || left.len() + 1 == last, "{} after {last}", left.len());
        if left.len() < last {
            made.push(planned[made.len()]);
            last = left.len();
        }
        assert_eq!(left, planned[made.len()..]);
        // Who swings stands on the other foot alone.
        for (side, place) in engine.standing() {
            assert!(engine.sample().support.stands(side));
            assert!(
                (place.pose().translation - engine.sample().soles[side.index()].translation).norm()
                    < 1e-12
            );
        }
    }
    assert_eq!(made.len() as u64, engine.steps());
    for step in &made[4..] {
        assert_eq!(engine.feet()[step.side.index()], step.to);
    }
}

#[test]
fn sideways_and_backward() {
    let mut engine = khr1();
    engine.command(WalkCommand::Velocity(Velocity { left: 0.02, ..Velocity::default() }));
    let mut samples = walk(&mut engine, 4.0);
    engine.command(WalkCommand::Velocity(Velocity { forward: -0.04, ..Velocity::default() }));
    samples.extend(walk(&mut engine, 4.0));
    let [left, right] = engine.feet();
    assert!(left.position[1] + right.position[1] > 0.04, "{left:?}");
    assert!(left.position[0] < -0.02, "{left:?}");
    assert!(zmp(&samples).0 > 0.005, "{:?}", zmp(&samples));
}

#[test]
fn what_is_cut_is_said() {
    let mut engine = khr1();
    engine.command(WalkCommand::Velocity(Velocity { forward: 0.3, ..Velocity::default() }));
    walk(&mut engine, 3.0);
    let said: Vec<String> = engine.take_clips().iter().map(ToString::to_string).collect();
    assert!(said.contains(&"step length 0.144 m cut to 0.043 m".to_owned()), "{said:?}");
    let mut settings = engine.generator().settings.clone();
    settings.slip_turn = None;
    let mut engine = WalkEngine::new(engine.generator().biped.clone(), settings).unwrap();
    engine.command(WalkCommand::Turn(1.0));
    let said = engine.take_clips()[0].to_string();
    assert!(said.contains("the legs have no yaw joint"), "{said}");
}

#[test]
fn a_straight_walk_has_steps_a_speed_and_a_heading() {
    let gone = |engine: &WalkEngine| {
        let [l, r] = engine.feet().map(|f| f.position);
        [0.5 * (l[0] + r[0]), 0.5 * (l[1] + r[1])]
    };
    // Over ten steps, and the one that closes the feet; as few as possible are five.
    for (steps, made) in [(10, 11), (0, 6), (2, 6)] {
        let mut engine = khr1();
        let straight = StraightWalk { distance: 0.2, steps, ..StraightWalk::default() };
        engine.command(WalkCommand::Straight(straight));
        walk(&mut engine, 60.0);
        assert_eq!(engine.steps(), made, "asked for {steps}");
        assert!((gone(&engine)[0] - 0.2).abs() < 1e-9, "{:?}", gone(&engine));
    }
    // Six of the longest, without a distance.
    let mut engine = khr1();
    let longest = engine.generator().settings.limits.forward;
    engine.command(WalkCommand::Straight(StraightWalk { steps: 6, ..StraightWalk::default() }));
    walk(&mut engine, 60.0);
    assert_eq!(engine.steps(), 7);
    assert!((gone(&engine)[0] - 6.0 * longest).abs() < 1e-9, "{:?}", gone(&engine));
    // No step is longer than the speed allows.
    let mut engine = khr1();
    let step_time = engine.generator().settings.step_time;
    let straight = StraightWalk { distance: 0.2, speed: 0.03, ..StraightWalk::default() };
    engine.command(WalkCommand::Straight(straight));
    let samples = walk(&mut engine, 60.0);
    let n = (0.2 / (0.03 * step_time)).ceil();
    assert!((engine.steps() as f64 - n - 1.0).abs() < 0.5, "{} steps", engine.steps());
    assert!(samples.len() as f64 * engine.generator().settings.period > n * step_time);
    // A line to the left: it turns first.
    let mut engine = anthropomorphic();
    let straight = StraightWalk { distance: 2.0, heading: 0.8, ..StraightWalk::default() };
    engine.command(WalkCommand::Straight(straight));
    walk(&mut engine, 120.0);
    // Its feet slip when it turns: they lead where it heads by what is expected of that.
    assert!((engine.heading() - 0.8).abs() < 0.05, "{}", engine.heading());
}

#[test]
fn what_joints_cannot_do_is_reported() {
    let mut biped = khr1().generator().biped.clone();
    let settings = khr1().generator().settings.clone();
    let mut model = (*biped.model).clone();
    let knee = model.joints.iter().position(|j| j.name.contains("knee")).unwrap();
    model.joints[knee].limits.velocity = 0.5;
    biped.model = std::sync::Arc::new(model);
    let mut engine = WalkEngine::new(biped, settings).unwrap();
    assert!(engine.take_excesses().is_empty());
    engine.command(WalkCommand::Straight(0.1_f64.into()));
    walk(&mut engine, 20.0);
    let found = engine.take_excesses();
    let [excess] = found[..] else { panic!("{found:?}") };
    assert_eq!((excess.joint.0, excess.what, excess.limit), (knee, Limited::Speed, 0.5));
    assert!(excess.asked > 0.5 && excess.step > 0, "{excess:?}");
    let text = excess.describe(&engine.generator().biped.model);
    assert!(text.contains("knee") && text.contains("beyond its limit of 0.500"), "{text}");
}

#[test]
fn what_is_out_of_reach_ends_in_standing() {
    let mut settings = khr1().generator().settings.clone();
    settings.limits.forward = 0.3;
    let mut engine = WalkEngine::new(khr1().generator().biped.clone(), settings).unwrap();
    engine.command(WalkCommand::Straight(0.6_f64.into()));
    for _ in 0..400 {
        engine.advance(0.01, None);
    }
    let error = engine.failure().unwrap().to_string();
    assert!(error.contains("the legs do not reach"), "{error}");
    assert_eq!(engine.state(), WalkState::Standing);
}

#[test]
fn the_same_commands_give_the_same_bits() {
    let run = || {
        let mut engine = khr1();
        engine.command(WalkCommand::Straight(0.1_f64.into()));
        walk(&mut engine, 20.0)
    };
    assert_eq!(run(), run());
}

/// Both feet onto a stair of 0.1 m.
#[test]
fn steps_up_clear_the_edge() {
    let mut settings = anthropomorphic().generator().settings.clone();
    settings.com_height = 0.82;
    settings.step_time = 1.4;
    settings.double_support = 0.4;
    settings.limits.forward = 0.4;
    let mut engine =
        WalkEngine::new(anthropomorphic().generator().biped.clone(), settings).unwrap();
    let [left, right] = engine.feet();
    let up = |side, place: Place| {
        let [x, y, z] = place.position;
        let to = Place::level([x + 0.36, y, z + 0.1], 0.0);
        Footstep { side, to, slide: 0.0 }
    };
    engine.command(WalkCommand::Footsteps(vec![up(Side::Left, left), up(Side::Right, right)]));
    let samples = walk(&mut engine, 20.0);
    let last = &samples[samples.len() - 1];
    assert!((last.soles[0].translation.z - 0.1).abs() < 1e-12, "{last:?}");
    // The toes pass the edge, 0.03 m before them at the start, well above it.
    let low = samples
        .iter()
        .flat_map(|s| &s.soles)
        .filter(|s| (0.03..0.2).contains(&s.translation.x) && s.translation.z < 0.1);
    assert_eq!(low.count(), 0);
    assert!(zmp(&samples).0 > 0.02, "{:?}", zmp(&samples));
}

/// Level floor, up a slope of 5°, and on along it: footsteps first, then a distance.
#[test]
fn footsteps_lead_onto_a_slope() {
    let rise = 5.0_f64.to_radians();
    let mut engine = anthropomorphic();
    let [left, right] = engine.feet();
    let up = |side, place: Place| {
        // The crease is 0.2 m ahead.
        let [x, y, _] = place.position;
        let to = Place { position: [0.2, y, 0.0], yaw: 0.0, tilt: [0.0, -rise] };
        Footstep { side, to: to.moved([x + 0.1, 0.0]), slide: 0.0 }
    };
    engine.command(WalkCommand::Footsteps(vec![up(Side::Left, left), up(Side::Right, right)]));
    let mut samples = walk(&mut engine, 20.0);
    engine.command(WalkCommand::Straight(1.0_f64.into()));
    samples.extend(walk(&mut engine, 20.0));
    for place in engine.feet() {
        let [x, _, z] = place.position;
        assert!((x - 1.3).abs() < 1e-9 && (z - 1.1 * rise.tan()).abs() < 1e-9, "{place:?}");
        assert!((place.tilt[1] + rise).abs() < 1e-12);
    }
    let (margin, error) = zmp(&samples);
    assert!(margin > 0.008 && error < 0.08, "margin {margin}, error {error}");
}

/// Without a sensor a turn takes the slides that the calibrated rate says; with yaw joints it ends where it was to.
#[test]
fn turns_end() {
    let mut slips = khr1();
    slips.command(WalkCommand::Turn(1.0));
    let samples = walk(&mut slips, 30.0);
    let slip = slips.generator().settings.slip_turn.unwrap();
    let cycle = slips.generator().settings.step_time
        + slips.generator().settings.double_support
        + slip.time;
    let expected = 1.0 / (slip.rate * cycle);
    assert!((slips.steps() as f64 - expected).abs() < 1.5, "{} steps, {expected}", slips.steps());
    assert!(zmp(&samples).0 > 0.005);
    let [left, right] = slips.feet();
    assert!((left.position[0] - right.position[0]).abs() < 1e-3, "feet side by side");

    // On the way, from full steps.
    let mut arc = khr1();
    arc.command(WalkCommand::Velocity(Velocity { forward: 0.08, ..Velocity::default() }));
    walk(&mut arc, 3.0);
    arc.command(WalkCommand::Velocity(Velocity { forward: 0.08, turn: 0.1, left: 0.0 }));
    let samples = walk(&mut arc, 5.0);
    assert!(zmp(&samples).0 > 0.005 && arc.feet()[0].position[0] > 0.2, "{:?}", arc.feet());

    let mut turns = g1();
    turns.command(WalkCommand::Turn(-1.2));
    let samples = walk(&mut turns, 30.0);
    for place in turns.feet() {
        assert!((place.yaw + 1.2).abs() < 0.04, "{place:?}");
    }
    assert!(zmp(&samples).0 > 0.0);
}

/// Walks as planned, but heading so much further left from the second tick on: by how much both feet slid while both stood. [m] (2)
fn slides(engine: &mut WalkEngine, command: WalkCommand, heading: f64) -> [f64; 2] {
    engine.command(command);
    let (mut slid, mut last) = ([0.0; 2], engine.sample().clone());
    for k in 0..900 {
        let (q, v) = (engine.targets().position.clone(), engine.targets().velocity.clone());
        let planned = 2.0 * engine.sample().q[5].atan2(engine.sample().q[6]);
        let yaw = planned + if k == 0 { 0.0 } else { heading };
        let measured = Measured {
            q: &q,
            v: &v,
            orientation: UnitQuaternion::from_euler_angles(0.0, 0.0, yaw),
            angular_velocity: Vector3::zeros(),
            feet: None,
        };
        engine.advance(0.01, Some(&measured));
        let now = engine.sample().clone();
        if now.support == Support::Both {
            for (slid, (now, last)) in slid.iter_mut().zip(now.soles.iter().zip(&last.soles)) {
                *slid += now.translation.x - last.translation.x;
            }
        }
        last = now;
    }
    slid
}

/// A robot that heads further right than planned slides its feet so that it turns left, and not otherwise.
#[test]
fn every_walk_keeps_its_heading() {
    let ahead = |k: u32| {
        let side = if k % 2 == 1 { Side::Left } else { Side::Right };
        let to = Place::level([0.03 * f64::from(k), 0.023 * side.sign(), 0.0], 0.0);
        Footstep { side, to, slide: 0.0 }
    };
    let velocity = Velocity { forward: 0.06, ..Velocity::default() };
    for command in [
        WalkCommand::Straight(0.3_f64.into()),
        WalkCommand::Velocity(velocity),
        WalkCommand::Footsteps((1..=12).map(ahead).collect()),
    ] {
        let mut engine = khr1();
        let [left, right] = slides(&mut engine, command.clone(), -0.2);
        assert!((engine.heading() + 0.2).abs() < 1e-9);
        assert!(left > 0.02 && right < -0.02, "{command:?}: {left} {right}");
        let [left, right] = slides(&mut khr1(), command.clone(), 0.0);
        assert!(left.abs() + right.abs() < 0.02, "{command:?}: {left} {right}");
    }
}

/// With yaw joints the feet themselves are turned back.
#[test]
fn footsteps_of_legs_with_yaw_are_turned_back() {
    let step = |k: u32| {
        let side = if k % 2 == 1 { Side::Left } else { Side::Right };
        let to = Place::level([0.1 * f64::from(k), 0.1 * side.sign(), 0.0], 0.0);
        Footstep { side, to, slide: 0.0 }
    };
    let mut engine = g1();
    slides(&mut engine, WalkCommand::Footsteps((1..=6).map(step).collect()), 0.15);
    let [left, right] = engine.feet();
    assert!((left.yaw + 0.15).abs() < 0.01 && (right.yaw + 0.15).abs() < 0.01, "{left:?}");
    assert!(right.position[1] - left.position[1] < -0.15, "{left:?} {right:?}");
}

/// Settings whose ZMP at rest is there in the left sole. [m]
fn resting_at(zmp: [f64; 2]) -> Result<WalkEngine, BipedError> {
    let engine = khr1();
    let Generator { biped, settings, .. } = engine.generator();
    WalkEngine::new(biped.clone(), WalkSettings { zmp_in_sole: zmp, ..settings.clone() })
}

/// Where legs or soles end is reported with the key, the value and a range at whose ends the robot stands.
#[test]
fn a_zmp_that_cannot_be_is_refused_with_its_range() {
    for (zmp, name) in [
        ([0.05, -0.002], "zmp_in_sole[0]"),
        ([1e150, -0.002], "zmp_in_sole[0]"),
        ([0.01, -0.5], "zmp_in_sole[1]"),
        ([f64::NAN, 0.0], "zmp_in_sole[0]"),
    ] {
        let error = resting_at(zmp).unwrap_err();
        let text = error.to_string();
        let BipedError::Setting(SettingError { name: found, range, .. }) = error else {
            unreachable!("{text}")
        };
        assert_eq!(found, name);
        if zmp[0].to_bits() == 0.05_f64.to_bits() {
            assert!(range.ends_with("m, where the legs reach"), "{text}");
            let ends: Vec<f64> = range.split(' ').filter_map(|word| word.parse().ok()).collect();
            assert_eq!(ends.len(), 2, "{text}");
            assert!(ends.iter().all(|x| resting_at([*x, zmp[1]]).is_ok()), "{text}");
            assert!(resting_at([ends[1] + 0.001, zmp[1]]).is_err(), "{text}");
        }
    }
}

/// Every number of a gait, at values that make no sense: an error or a walk, never a loop or a panic.
#[test]
fn no_number_of_a_gait_makes_the_planner_loop() {
    fn numbers(value: &mut serde_yaml::Value, on_number: &mut dyn FnMut(&mut serde_yaml::Value)) {
        match value {
            serde_yaml::Value::Number(_) => on_number(value),
            serde_yaml::Value::Sequence(all) => {
                for value in all {
                    numbers(value, on_number);
                }
            }
            serde_yaml::Value::Mapping(all) => {
                for value in all.values_mut() {
                    numbers(value, on_number);
                }
            }
            _ => {}
        }
    }
    let robot = khr1();
    let Generator { biped, settings, .. } = robot.generator();
    let whole = serde_yaml::to_value(settings).unwrap();
    let mut count = 0;
    numbers(&mut whole.clone(), &mut |_| count += 1);
    assert!(count > 40, "{count}");
    let (mut refused, mut walked) = (0, 0);
    for i in 0..count {
        for wrong in [1e300, -1e300, 1e150, 10.0, 1.0, 0.05, 0.0, -0.02, 1e-300, f64::NAN] {
            let (mut file, mut k) = (whole.clone(), 0);
            numbers(&mut file, &mut |number| {
                if k == i {
                    *number = wrong.into();
                }
                k += 1;
            });
            let Ok(settings) = serde_yaml::from_value::<WalkSettings>(file) else { continue };
            let Ok(mut engine) = WalkEngine::new(biped.clone(), settings) else {
                refused += 1;
                continue;
            };
            engine.command(WalkCommand::Straight(0.1.into()));
            let period = engine.generator().settings.period;
            for _ in 0..3 {
                engine.advance(period, None);
            }
            walked += 1;
        }
    }
    assert!(refused > 200 && walked > 50, "{refused} refused, {walked} walked");
}

/// Readings that walking would take for others are refused, those that serve are found beside them.
#[test]
fn sensors_are_where_walking_needs_them() {
    let torso = "  torso: {type: imu, link: imu_in_torso}\n";
    let error = g1_with(&format!("sensors:\n{torso}")).unwrap_err().to_string();
    assert!(error.starts_with("sensor `torso` is on link `imu_in_torso`"), "{error}");
    assert!(error.ends_with("put it on `pelvis`"), "{error}");
    let pelvis = "  pelvis: {type: imu, link: imu_in_pelvis}\n";
    let engine = g1_with(&format!("sensors:\n{torso}{pelvis}")).unwrap();
    let Biped { model, imu, .. } = &engine.generator().biped;
    assert_eq!(model.sensors[imu.unwrap()].name, "pelvis");
    let sole = "sensors:\n  left: {type: contact_wrench, link: l_sole}\n";
    let config = include_str!("../../../../../config/khr1.yaml");
    let (before, rest) = config.split_once("sensors:\n").unwrap();
    let rest: Vec<&str> = rest.lines().filter(|line| !line.contains("contact_wrench")).collect();
    let error = try_engine(
        include_str!("../../../../../urdf/khr1/khr1.urdf"),
        &format!("{before}{sole}{}", rest.join("\n")),
        include_str!("../../../../../config/gaits/khr1_walk.yaml"),
    )
    .unwrap_err()
    .to_string();
    assert!(error.contains("`left` is on link `l_sole`, which has no collision shape"), "{error}");
    assert!(error.ends_with("put it on the link with the sole's shapes, `l_foot`"), "{error}");
}
