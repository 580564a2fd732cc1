//! A walk on the mock: joints that follow their drives, and no body, ground or balance. The way is the plan's.

use anyhow::Result;
use karakuri_gait::planner::{WalkCommand, WalkState};
use karakuri_hardware::{JointCommand, RobotIo, RobotState};
use karakuri_simulation::Mock;
use karakuri_spatial::UnitQuaternion;
use nalgebra::Quaternion;

use super::cell::{Cell, Errand, Moment, Run};
use super::tracking::Tracking;
use crate::interrupt::Interrupt;

/// Longest walk. [s]
const LONGEST: f64 = 3600.0;
/// Time that it takes to leave the standing state. [s]
const SETTING_OUT: f64 = 0.2;

/// Walks the errand of a cell on the mock of its robot.
pub(super) fn walk(cell: &mut Cell, errand: &Errand, interrupt: &Interrupt) -> Result<Run> {
    let model = cell.shared_model();
    let period = cell.command_period();
    let engine = cell.engine_mut();
    let mut mock = Mock::new("walker", &model, &engine.targets().position, period);
    let layout = mock.robots()[0].clone();
    let (mut state, mut command) = (RobotState::new(&layout), JointCommand::new(&layout));
    let (mut history, mut tracking) = (Vec::new(), Tracking::default());
    let mut position = engine.targets().position.clone();
    let mut walking_time = None;
    let turn = errand.then_turn.map(WalkCommand::Turn);
    for errand in [Some(errand.command.clone()), turn].into_iter().flatten() {
        engine.command(errand);
        let begin = mock.time();
        while mock.time() < LONGEST && !interrupt.is_raised() {
            engine.advance(period, None);
            for (i, joint) in layout.joints.iter().enumerate() {
                command.position[i] = engine.targets().position[joint.q];
                command.velocity[i] = engine.targets().velocity[joint.v];
            }
            mock.write(0, &command)?;
            mock.advance()?;
            mock.read(0, &mut state);
            for (i, joint) in layout.joints.iter().enumerate() {
                position[joint.q] = state.position[i];
            }
            tracking.add(&model, &position, &engine.targets().position);
            let sample = engine.sample();
            let root = [sample.q[0], sample.q[1], sample.q[2]];
            history.push(Moment {
                time: mock.time(),
                root,
                planned: root,
                pressure: sample.zmp,
                zmp: sample.zmp,
                margin: sample.margin,
                lean: [0.0; 2],
                dcm_error: [0.0; 2],
            });
            let is_over = mock.time() - begin > SETTING_OUT;
            if is_over && engine.state() == WalkState::Standing {
                break;
            }
        }
        // As in the simulation, the speed is that of the walk without the turn after it.
        walking_time.get_or_insert(mock.time() - begin);
    }
    let biped_has_yaw = engine.generator().biped.has_yaw;
    let q = &engine.sample().q;
    let turn = UnitQuaternion::from_quaternion(Quaternion::new(q[6], q[3], q[4], q[5]));
    let yaw = turn.euler_angles().2;
    let (first, last) = (history.first(), history.last());
    let way = |axis: usize| match (first, last) {
        (Some(first), Some(last)) => last.root[axis] - first.root[axis],
        _ => 0.0,
    };
    Ok(Run {
        failure: engine.failure().map(|failure| failure.to_string()),
        walks: 1,
        steps: engine.steps(),
        walking_time: walking_time.unwrap_or_default(),
        distance: way(0),
        drift: way(1),
        yaw,
        // Legs without yaw joints turn by slipping, and there is no floor to slip on.
        heading_error: errand.heading.filter(|_| biped_has_yaw).map(|heading| yaw - heading),
        tracking,
        history,
        ..Run::default()
    })
}
