//! A motion out of the memory of both boards.

use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};
use karakuri_serial::codec::rcb1::{Answer, CHANNELS, Channel, Order, Pose};

use super::Rcb1;
use super::memory::{count, places, read};
use super::motion_file::{BOARDS, Home, Motion};
use crate::commands::hardware::motions::Task;
use crate::commands::hardware::wire::Wire;
use crate::progress;

/// Time between two looks at where the boards are.
const LOOK: Duration = Duration::from_millis(100);
/// How much longer than reckoned a motion may take: the speeds of the codes are not exactly known. [-]
const PATIENCE: f64 = 1.5;
/// Distance from the last position at which it counts as reached. [deg]
const NEAR: i32 = 3;

/// Plays a motion that both boards have; what was done.
pub(in super::super) fn play(task: &mut Task) -> Result<String> {
    let Task { wire, motion: number, user } = task;
    let (mut boards, number) = (Rcb1::default(), *number);
    let motion = stored(&mut boards, wire, number)?;
    for id in 0..2 {
        if let Answer::Switches(switches) = boards.expect(wire, id, Order::Switches)? {
            ensure!(!switches.sleep, "board {id} is asleep; wake it by its own switch first");
            ensure!(
                switches.motion_enabled,
                "board {id} has motions switched off; switch them on there first"
            );
        }
    }
    let start = places(&mut boards, wire, Order::Positions)?;
    let (n, seconds) = (motion.positions.len(), motion.duration(&start));
    user.confirm(&format!(
        "Motion {number} of {n} positions moves the robot for {seconds:.1} s or so. Is its path free?"
    ))?;
    for id in 0..2 {
        boards.expect(wire, id, Order::PlayMotion { motion: number })?;
    }
    let end = goal(&motion);
    let result = follow(&mut boards, wire, seconds, &end);
    if result.is_err() {
        wire.go_on();
        stop(&mut boards, wire)?;
    }
    let (took, off) = result?;
    match off {
        Some(channel) => bail!(
            "channel {channel} is not where the motion ends after {took:.1} s; free it, or play slower"
        ),
        None => Ok(format!("motion {number} was played in {took:.1} s")),
    }
}

/// The motion that both boards have.
fn stored(boards: &mut Rcb1, wire: &mut Wire, motion: u8) -> Result<Motion> {
    let counts = [count(boards, wire, 0, motion)?, count(boards, wire, 1, motion)?];
    ensure!(
        counts[0] == counts[1],
        "motion {motion} has {} positions in board 0 and {} in board 1; upload it again",
        counts[0],
        counts[1]
    );
    ensure!(counts[0] > 0, "motion {motion} has no positions; upload it first");
    let mut positions = Vec::new();
    for position in 0..counts[0] {
        let mut poses = [Pose::default(); BOARDS];
        for (id, pose) in (0_u8..).zip(&mut poses) {
            *pose = read(boards, wire, id, [motion, position])?;
        }
        ensure!(
            poses[0].speed == poses[1].speed,
            "position {position} of motion {motion} has speed {} in board 0 and {} in board 1; upload it again",
            poses[0].speed.code(),
            poses[1].speed.code()
        );
        positions.push(poses);
    }
    Ok(Motion { positions })
}

/// Where the motion leaves the channels. [deg] (24)
fn goal(motion: &Motion) -> Home {
    let mut goal = [None; BOARDS * CHANNELS];
    for poses in &motion.positions {
        for (board, pose) in poses.iter().enumerate() {
            for (channel, target) in pose.channels.iter().enumerate() {
                if let Channel::Degrees(degrees) = target {
                    goal[board * CHANNELS + channel] = Some(i32::from(*degrees));
                }
            }
        }
    }
    goal
}

/// Watches until the channels are where the motion ends: time that it took [s], and a channel that is not there.
fn follow(
    boards: &mut Rcb1,
    wire: &mut Wire,
    seconds: f64,
    end: &Home,
) -> Result<(f64, Option<usize>)> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "milliseconds")]
    let bar = progress::bar((1e3 * seconds) as u64, "playing [ms]");
    let began = Instant::now();
    loop {
        wire.wait(LOOK)?;
        let elapsed = began.elapsed().as_secs_f64();
        bar.set_position(u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX));
        // A motion may pass its last position on the way.
        if elapsed < seconds {
            continue;
        }
        let now = places(boards, wire, Order::Positions)?;
        let is_off = |(now, end): (&Option<i32>, &Option<i32>)| match (now, end) {
            (Some(now), Some(end)) => (now - end).abs() > NEAR,
            _ => false,
        };
        let off = now.iter().zip(end).position(is_off).map(|index| index + 1);
        if off.is_none() || elapsed > PATIENCE * seconds + 1.0 {
            bar.finish_and_clear();
            return Ok((elapsed, off));
        }
    }
}

/// Sends both boards to where they are: there is no other way to stop a motion.
fn stop(boards: &mut Rcb1, wire: &mut Wire) -> Result<()> {
    for id in 0..2 {
        if let Answer::Channels(channels) = boards.expect(wire, id, Order::Positions)? {
            let pose = Pose { channels, ..Pose::default() };
            boards.expect(wire, id, Order::Move(pose))?;
        }
    }
    Ok(())
}
