//! Motions as programs in the ROM: a move a step, then a return.

use anyhow::{Result, ensure};
use karakuri_serial::codec::rcb4::memory::MOTION_SIZE;
use karakuri_serial::codec::rcb4::{Condition, Frame, Goal, Request, SERVOS, ServoSet};

use super::motion_file::Motion;

/// Most frames of a move.
const MOST_FRAMES: f64 = 255.0;

/// Program of a motion, for a board whose output frame takes a time [s].
pub(super) fn encode(motion: &Motion, frame_time: f64) -> Result<Vec<u8>> {
    let mut program = Vec::new();
    for step in &motion.moves {
        let frames = (step.time / frame_time).round();
        ensure!(
            (1.0..=MOST_FRAMES).contains(&frames),
            "{}: a move takes {frame_time:.3} s to {:.3} s, not {} s; write a time of these, in several moves if need be",
            step.place,
            MOST_FRAMES * frame_time,
            step.time
        );
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "1 to 255")]
        let frames = frames as u8;
        let mut goals = [Goal::Hold; SERVOS];
        let mut servos = ServoSet::default();
        for (servo, goal) in step.goals.iter().enumerate() {
            if let Some(goal) = goal {
                goals[servo] = *goal;
                servos.insert(servo);
            }
        }
        Request::MoveServos { servos, frames, goals }.encode(&mut program);
    }
    Request::Return { condition: Condition::default() }.encode(&mut program);
    let (size, most) = (program.len(), MOTION_SIZE);
    ensure!(
        u32::try_from(size).is_ok_and(|size| size <= most),
        "the motion takes {size} bytes, and a motion of the board has {most}; split it in several motions, or leave servos out that stay"
    );
    Ok(program)
}

/// What a program in the ROM does, as far as that is known without running it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Outline {
    /// Servos that it moves.
    pub(super) servos: ServoSet,
    /// Frames that it takes; none where its path depends on anything.
    pub(super) frames: Option<u32>,
    /// Where it leaves servos; none of one that it does not move, or whose end depends on anything. (35)
    pub(super) ends: [Option<Goal>; SERVOS],
}

impl Outline {
    /// That of the program that bytes begin with; none where there is no program.
    pub(super) fn of(rom: &[u8]) -> Option<Self> {
        let mut outline =
            Self { servos: ServoSet::default(), frames: Some(0), ends: [None; SERVOS] };
        let mut rest = rom;
        loop {
            let frame = Frame::first_of(rest).ok().flatten()?;
            rest = &rest[frame.bytes().len()..];
            match frame.request().ok()? {
                Request::Return { condition } if condition == Condition::default() => {
                    return Some(outline);
                }
                Request::MoveServo { servo, frames, goal } => {
                    outline.add(frames, std::iter::once((servo.into(), goal)));
                }
                Request::MoveServos { servos, frames, goals } => {
                    outline.add(frames, servos.numbers().map(|servo| (servo, goals[servo])));
                }
                Request::MoveServosApart { servos, frames, goals } => {
                    let longest = servos.numbers().map(|servo| frames[servo]).max();
                    let moved = servos.numbers().map(|servo| (servo, goals[servo]));
                    outline.add(longest.unwrap_or(0), moved);
                }
                Request::SetServos { .. } => {}
                // Jumps, calls, comparisons: the way on is known by running it only.
                _ => {
                    outline.frames = None;
                    outline.ends = [None; SERVOS];
                    return Some(outline);
                }
            }
        }
    }

    fn add(&mut self, frames: u8, moved: impl Iterator<Item = (usize, Goal)>) {
        self.frames = self.frames.map(|sum| sum + u32::from(frames.max(1)));
        for (servo, goal) in moved {
            self.servos.insert(servo);
            self.ends[servo] = Some(goal);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::motion_file::Move;
    use super::*;

    fn step(time: f64, goals: &[(usize, Goal)]) -> Move {
        let mut all = [None; SERVOS];
        for (servo, goal) in goals {
            all[*servo] = Some(*goal);
        }
        Move { place: "positions[0]".to_owned(), time, goals: all }
    }

    #[test]
    fn a_motion_is_a_program_of_frames_and_back() {
        let centre = Goal::Position(7500);
        let motion = Motion {
            moves: vec![
                step(1.0, &[(0, centre), (2, centre)]),
                step(0.5, &[(2, Goal::Free), (5, Goal::Position(8000))]),
            ],
        };
        let program = encode(&motion, 0.015).unwrap();
        // The first frame is one of Kondo's examples: servos 0 and 2 to 7500 in 67 frames.
        let first = [0x0D, 0x10, 0x05, 0, 0, 0, 0, 0x43, 0x4C, 0x1D, 0x4C, 0x1D, 0x37];
        assert_eq!(program[..13], first);
        assert_eq!(program[26..], [0x03, 0x0D, 0x10], "a return");
        let outline = Outline::of(&program).unwrap();
        assert_eq!(outline.servos, [0, 2, 5].into_iter().collect());
        assert_eq!(outline.frames, Some(67 + 33));
        assert_eq!(
            [outline.ends[0], outline.ends[2], outline.ends[5]],
            [Some(centre), Some(Goal::Free), Some(Goal::Position(8000))]
        );
    }

    #[test]
    fn programs_that_branch_end_nobody_knows_when() {
        let mut program = Vec::new();
        Request::MoveServo { servo: 3, frames: 10, goal: Goal::Hold }.encode(&mut program);
        Request::Jump { address: 0x0B80, condition: Condition::default() }.encode(&mut program);
        let outline = Outline::of(&program).unwrap();
        assert_eq!((outline.servos.contains(3), outline.frames), (true, None));
        assert_eq!(Outline::of(&[0xFF; 64]), None, "an erased motion is none");
        assert_eq!(Outline::of(&program[..8]), None, "nor is one that breaks off");
    }

    #[test]
    fn motions_that_the_board_cannot_have_are_named() {
        let all: Vec<_> = (0..17).map(|servo| (servo, Goal::Hold)).collect();
        let motion = |n: usize, time: f64| Motion { moves: vec![step(time, &all); n] };
        assert_eq!(encode(&motion(47, 1.0), 0.015).unwrap().len(), 47 * 43 + 3);
        for (motion, expected) in [
            (
                motion(48, 1.0),
                "the motion takes 2067 bytes, and a motion of the board has 2048; split",
            ),
            (
                motion(1, 4.0),
                "positions[0]: a move takes 0.015 s to 3.825 s, not 4 s; write a time",
            ),
            (motion(1, f64::NAN), "positions[0]: a move takes 0.015 s to 3.825 s, not NaN s;"),
        ] {
            let error = encode(&motion, 0.015).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
