//! Goals of the four actions: accepted, begun, refused.
//!
//! A goal waits for [`PATIENCE`] for what it needs before it is rejected: on a busy machine it may come before the readings that were
//! sent earlier. For the controller of a gripper that has just started it waits longer.

use std::time::{Duration, Instant};

use karakuri_grasp::gripper_command::StatedCommand;
use karakuri_grasp::hand_command::HandCommandRun;
use karakuri_grasp::pick_and_place::{Misstated, Stage, speed_share};
use karakuri_hand_goals::{Asked, Frames, asked, tool_move};
use karakuri_ros::msg::karakuri_msgs::action::{MoveTool, PickAndPlace as Pick};
use karakuri_ros::warn;
use karakuri_spatial::Time;

use crate::command::{CommandRequest, Ending};
use crate::hand::{Gripper, seen};
use crate::pick::{self, code};
use crate::task::{TaskGoal, TaskRequest};

/// Wall time that a goal waits for the robot, for the transforms of its frames and for a first look at the surroundings.
const PATIENCE: Duration = Duration::from_secs(1);

pub(crate) fn on_task(gripper: &mut Gripper, request: TaskRequest) {
    if gripper.machine.is_busy() || gripper.waiting.is_some() {
        return request.reject("a pick and place or a move is under way; cancel it first");
    }
    gripper.waiting = Some((request, Instant::now()));
    begin_task(gripper);
}

/// Begins the goals that wait, when what they wait for is there or has been waited for long enough.
pub(crate) fn begin(gripper: &mut Gripper) {
    begin_task(gripper);
    begin_command(gripper);
}

fn begin_task(gripper: &mut Gripper) {
    if gripper.waiting.is_none() {
        return;
    }
    let not_ready = gripper.not_ready();
    if let Some(why) = not_ready.or_else(|| gripper.arm.not_ready()) {
        let may_come = not_ready.is_none() && gripper.arm.may_arrive();
        let given_up =
            gripper.waiting.take_if(|(_, since)| since.elapsed() > PATIENCE && !may_come);
        if let Some((request, _)) = given_up {
            request.reject(why);
        }
        return;
    }
    let (transforms, root) = (&gripper.transforms, gripper.root.as_str());
    let frames = Frames { transforms, model: &gripper.model, root };
    let seen = gripper.blind || seen(gripper.sighting.as_ref(), gripper.now()).is_some();
    let due = gripper.waiting.take_if(|(request, since)| {
        since.elapsed() > PATIENCE || (seen && request.is_located(&frames))
    });
    let Some((request, _)) = due else { return };
    gripper.blind = !seen;
    let now = gripper.now();
    let active = request.accept();
    gripper.end_command(Ending::Canceled);
    let started = match &active {
        TaskGoal::Pick(goal) => start(gripper, goal.goal(), now),
        TaskGoal::Move(goal) => start_move(gripper, goal.goal(), now),
    };
    match started {
        Ok(()) => gripper.task = Some((active, now)),
        Err((error_code, message)) => {
            warn!("{}: {message}", active.action());
            active.abort(error_code, message, Stage::Idle.name(), now);
        }
    }
}

fn start(gripper: &mut Gripper, goal: &Pick::Goal, now: Time) -> Result<(), (u8, String)> {
    let invalid = |message: String| (code::INVALID_GOAL, message);
    let misstated = |why: Misstated| invalid(why.to_string());
    let asked = asked(goal, &gripper.frames()).map_err(invalid)?;
    let settings = gripper.parameters.hand.pick_and_place();
    let objects = seen(gripper.sighting.as_ref(), now).unwrap_or(&[]);
    let q = &gripper.reader.q;
    gripper.arm.clear();
    let started = match asked {
        Asked::Place(place) => {
            let share = speed_share(goal.speed_scale).map_err(misstated)?;
            gripper.machine.set_speeds(&settings, share);
            gripper.machine.place(place, now, q, objects)
        }
        Asked::Task(stated) => {
            let settings = stated.settings(&settings).map_err(misstated)?;
            let goal = stated.goal(gripper.defaults()).map_err(misstated)?;
            *gripper.machine.settings_mut() = settings;
            gripper.machine.set_grip(gripper.parameters.hand.grip());
            gripper.machine.start(goal, now, q, objects)
        }
    };
    started.map_err(|e| (pick::plan_code(&e), e.to_string()))
}

fn start_move(gripper: &mut Gripper, goal: &MoveTool::Goal, now: Time) -> Result<(), (u8, String)> {
    let settings = gripper.parameters.hand.pick_and_place();
    let asked = tool_move(goal, &gripper.frames(), &settings);
    let asked = asked.map_err(|message| (code::INVALID_GOAL, message))?;
    let objects = seen(gripper.sighting.as_ref(), now).unwrap_or(&[]);
    gripper.arm.clear();
    gripper.machine.set_speeds(&settings, 1.0);
    let started = gripper.machine.move_tool(&asked, now, &gripper.reader.q, objects);
    started.map_err(|e| (pick::plan_code(&e), e.to_string()))
}

pub(crate) fn on_command(gripper: &mut Gripper, request: CommandRequest) {
    gripper.waiting_command = Some((request, Instant::now()));
    begin_command(gripper);
}

fn begin_command(gripper: &mut Gripper) {
    let Some((_, since)) = &gripper.waiting_command else { return };
    let not_ready = gripper.not_ready();
    if not_ready.is_some() && since.elapsed() <= PATIENCE {
        return;
    }
    let Some((request, _)) = gripper.waiting_command.take() else { return };
    if let Some(why) = not_ready {
        return request.reject(why);
    }
    // The first of several: the others close with it.
    let joint = gripper.machine.drives().first().cloned().unwrap_or_default();
    let stated = request.stated(&joint, gripper.parameters.hand.command_unit());
    let started = stated.and_then(|stated| Ok((stated.unit, start_command(gripper, stated)?)));
    match started {
        Ok((unit, run)) => gripper.command = Some((request.accept(unit, joint), run)),
        Err(why) => request.reject(&why),
    }
}

fn start_command(gripper: &mut Gripper, stated: StatedCommand) -> Result<HandCommandRun, String> {
    if !gripper.machine.is_busy() {
        gripper.machine.set_grip(gripper.parameters.hand.grip());
    }
    let settings = gripper.parameters.hand.command();
    let run = HandCommandRun::start(&stated, settings, &mut gripper.machine)
        .map_err(|e| e.to_string())?;
    gripper.end_command(Ending::Canceled);
    Ok(run)
}
