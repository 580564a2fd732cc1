//! Feet that feel the floor: pressed before time, not at all, at an edge.

use karakuri_dynamics::{Data, forward_kinematics, frame_pose};
use karakuri_spatial::{Force, Pose, UnitQuaternion, Vector3};

use crate::planner::*;
use crate::robots::khr1;

/// Where the targets put the left sole, the trunk being as planned.
fn left_sole(engine: &WalkEngine) -> Pose {
    let Biped { model, legs, .. } = &engine.generator().biped;
    let mut data = Data::new(model);
    forward_kinematics(model, &mut data, &engine.targets().position);
    frame_pose(model, &data, legs[0].foot) * legs[0].sole_in_foot
}

/// Walks as planned, the feet feeling what `floor` says of a sample: force, and where in the sole. [N, m]
fn walk(
    engine: &mut WalkEngine,
    floor: impl Fn(&Sample, Side) -> (f64, [f64; 2]),
    mut on_tick: impl FnMut(&WalkEngine),
) {
    for _ in 0..300 {
        let (q, v) = (engine.targets().position.clone(), engine.targets().velocity.clone());
        let sample = engine.sample().clone();
        let feet = Side::BOTH.map(|side| {
            let (force, [x, y]) = floor(&sample, side);
            let sensor = engine.generator().biped.legs[side.index()].sensor.unwrap();
            let F = Vector3::new(0.0, 0.0, force);
            let in_sole = Force::new(Vector3::new(x, y, 0.0).cross(&F), F);
            sensor.sensor_in_sole.inverse_transform_force(&in_sole)
        });
        let measured = Measured {
            q: &q,
            v: &v,
            orientation: UnitQuaternion::identity(),
            angular_velocity: Vector3::zeros(),
            feet: Some(feet),
        };
        engine.advance(0.01, Some(&measured));
        on_tick(engine);
    }
}

fn walker() -> WalkEngine {
    let mut engine = khr1();
    let mut gains = engine.stabilizer_mut().settings;
    gains.ankle = 0.0;
    gains.steps.on = false;
    engine.stabilizer_mut().settings = gains;
    engine.command(WalkCommand::Straight(1.0_f64.into()));
    engine
}

/// As planned: standing feet share the weight, in the point where the ZMP rests.
fn flat(engine: &WalkEngine) -> impl Fn(&Sample, Side) -> (f64, [f64; 2]) + use<> {
    let weight = 9.81 * engine.generator().biped.model.mass();
    let [x, y] = engine.generator().settings.zmp_in_sole;
    move |sample, side| {
        let part = match sample.support {
            Support::Both => 0.5,
            Support::One(standing) => f64::from(u8::from(standing == side)),
        };
        (part * weight, [x, side.sign() * y])
    }
}

#[test]
fn on_a_flat_floor_feet_go_as_planned() {
    let mut engine = walker();
    let floor = flat(&engine);
    walk(&mut engine, floor, |engine| {
        for foot in engine.yielded() {
            assert!(
                foot.height.abs() < 1e-9 && foot.tilt[0].hypot(foot.tilt[1]) < 0.03,
                "{foot:?}"
            );
        }
    });
    assert!(engine.steps() > 3);
}

#[test]
fn a_foot_that_lands_early_comes_down_no_further() {
    let bump = 0.003;
    let mut engine = walker();
    let flat = flat(&engine);
    let mut lowest = f64::INFINITY;
    let mut times = 0;
    let floor = |sample: &Sample, side: Side| {
        let lands = side == Side::Left && sample.soles[0].translation.z < bump;
        let lifted =
            sample.support == Support::One(Side::Right) && sample.soles[0].translation.z > 0.0;
        if lands && lifted { (3.0, [0.01, -0.002]) } else { flat(sample, side) }
    };
    walk(&mut engine, floor, |engine| {
        if engine.sample().support == Support::Both && engine.steps() > 0 && engine.steps() % 2 == 0
        {
            // The step of the left foot is done.
            lowest = lowest.min(engine.yielded()[0].height);
            times += 1;
            let sole = left_sole(engine).translation.z - engine.sample().soles[0].translation.z;
            assert!((sole - engine.yielded()[0].height).abs() < 3e-4, "{sole}");
        }
    });
    assert!(times > 10 && lowest > 0.5 * bump && lowest < 1.2 * bump, "{lowest} {times}");
}

#[test]
fn a_foot_that_finds_no_floor_goes_on_down() {
    let mut engine = walker();
    let flat = flat(&engine);
    let mut lowest = 0.0_f64;
    let floor = |sample: &Sample, side: Side| {
        if side == Side::Left && sample.support == Support::Both && sample.index > 100 {
            return (0.0, [0.0; 2]);
        }
        flat(sample, side)
    };
    walk(&mut engine, floor, |engine| lowest = lowest.min(engine.yielded()[0].height));
    let highest = engine.generator().settings.step_height;
    assert!(lowest < -0.001 && lowest >= -highest, "{lowest}");
}

#[test]
fn a_sole_pressed_at_its_toes_gives_way_there() {
    let mut engine = walker();
    let flat = flat(&engine);
    let floor = |sample: &Sample, side: Side| {
        let (force, [x, y]) = flat(sample, side);
        (force, [x + 0.03, y])
    };
    let mut steepest = 0.0_f64;
    walk(&mut engine, floor, |engine| {
        steepest = steepest.min(engine.yielded()[0].tilt[1]);
        let lean = left_sole(engine).rpy()[1] - engine.yielded()[0].tilt[1];
        assert!(lean.abs() < 5e-3, "{lean}");
    });
    // Toes up.
    assert!((-0.2..-0.01).contains(&steepest), "{steepest}");
}

/// Leaning, pressed at the toes: with all times stretched by `√(g/g′)` the soles give way as on the earth, and the ankles get
/// moments by the ratio of the gravities.
#[test]
fn on_the_moon_feet_and_ankles_answer_as_on_the_earth() {
    let stand = |gravity: f64| {
        let robot = khr1();
        let mut settings = robot.generator().settings.clone();
        let slower = (settings.gravity / gravity).sqrt();
        settings.gravity = gravity;
        let stabilizer = &mut settings.stabilizer;
        stabilizer.steps.on = false;
        for time in [
            &mut settings.period,
            &mut settings.preview_time,
            &mut stabilizer.filter,
            &mut stabilizer.landing.time,
        ] {
            *time *= slower;
        }
        settings.jerk_weight *= slower.powi(6);
        let period = settings.period;
        let mut engine = WalkEngine::new(robot.generator().biped.clone(), settings).unwrap();
        let Biped { model, legs, .. } = engine.generator().biped.clone();
        let feet = Side::BOTH.map(|side| {
            let F = Vector3::new(0.0, 0.0, 0.5 * gravity * model.mass());
            let in_sole = Force::new(Vector3::new(0.04, 0.0, 0.0).cross(&F), F);
            legs[side.index()].sensor.unwrap().sensor_in_sole.inverse_transform_force(&in_sole)
        });
        for _ in 0..8 {
            let (q, v) = (engine.targets().position.clone(), vec![0.0; model.nv]);
            let measured = Measured {
                q: &q,
                v: &v,
                orientation: UnitQuaternion::from_euler_angles(0.0, 0.01, 0.0),
                angular_velocity: Vector3::new(0.0, 0.05 / slower, 0.0),
                feet: Some(feet),
            };
            engine.advance(period, Some(&measured));
        }
        let effort = engine.correction().effort.iter().map(|e| e / gravity).collect::<Vec<_>>();
        (effort, *engine.yielded())
    };
    let ((effort, feet), (lunar_effort, lunar_feet)) = (stand(9.81), stand(1.62));
    let largest = effort.iter().fold(0.0_f64, |most, e| most.max(e.abs()));
    assert!(largest > 1e-3 && feet[0].tilt[1].abs() > 1e-3, "{largest} {feet:?}");
    for (a, b) in effort.iter().zip(&lunar_effort) {
        assert!((a - b).abs() < 1e-5 * largest, "{effort:?} {lunar_effort:?}");
    }
    for (a, b) in feet.iter().zip(&lunar_feet) {
        assert!((a.tilt[1] - b.tilt[1]).abs() < 1e-6, "{feet:?} {lunar_feet:?}");
    }
}
