use super::*;
use crate::{RobotLayout, RobotState};

/// One robot without joints that counts what is done to it.
#[derive(Default)]
struct Counter {
    layouts: Vec<RobotLayout>,
    advanced: usize,
    held: std::sync::Arc<std::sync::atomic::AtomicUsize>,
    due_in: Option<f64>,
    written: usize,
}

impl RobotIo for Counter {
    fn robots(&self) -> &[RobotLayout] {
        &self.layouts
    }
    fn period(&self) -> f64 {
        0.002
    }
    fn time(&self) -> f64 {
        self.advanced as f64 * 0.002
    }
    fn write(&mut self, _: usize, _: &JointCommand) -> Result<(), RobotIoError> {
        self.written += 1;
        Ok(())
    }
    fn hold(&mut self, _: usize, _: bool) {
        self.held.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    }
    fn advance(&mut self) -> Result<(), RobotIoError> {
        self.advanced += 1;
        Ok(())
    }
    fn read(&self, _: usize, _: &mut RobotState) {}
    fn due_in(&self) -> Option<f64> {
        self.due_in
    }
}

fn pacer(
    lockstep: bool,
    real_time_factor: f64,
) -> (Pacer<Counter>, JointCommand, impl Fn() -> usize) {
    let base = karakuri_model::Base::Fixed(karakuri_spatial::Pose::IDENTITY);
    let link = karakuri_model::LinkSpec::new("stone", karakuri_spatial::Inertia::ZERO);
    let model = karakuri_model::ModelBuilder::new("stone", base).link(link).build().unwrap();
    let layout = RobotLayout::new("stone", std::sync::Arc::new(model));
    let command = JointCommand::new(&layout);
    let counter = Counter { layouts: vec![layout], ..Counter::default() };
    let held = counter.held.clone();
    let settings =
        PacingSettings { lockstep, real_time_factor, command_timeout: 0.1, lockstep_timeout: 0.1 };
    (Pacer::new(counter, settings), command, move || {
        held.load(std::sync::atomic::Ordering::Relaxed)
    })
}

#[test]
fn lockstep_waits_for_the_command_of_each_sample() {
    let (mut pacer, command, _) = pacer(true, 0.0);
    assert_eq!(pacer.poll(0.0), Ok(Tick::Repeat), "waits for the first command");
    assert!(matches!(pacer.poll(0.0), Ok(Tick::Wait(_))));
    pacer.command(0, pacer.stamp(), &command, 0.0).unwrap();
    assert_eq!(pacer.poll(0.0), Ok(Tick::Advanced));
    assert!(
        matches!(pacer.poll(0.0), Ok(Tick::Wait(_))),
        "the old command is no answer to the new sample"
    );
    pacer.command(0, pacer.stamp() - 2_000_000, &command, 0.0).unwrap();
    assert!(
        matches!(pacer.poll(0.0), Ok(Tick::Wait(_))),
        "a command for an older sample is dropped"
    );
    pacer.command(0, 0, &command, 0.0).unwrap();
    assert_eq!(
        pacer.poll(0.0),
        Ok(Tick::Advanced),
        "an unstamped command answers the present sample"
    );
}

#[test]
fn lockstep_goes_on_in_hold_when_the_commander_dies_and_waits_again_when_it_returns() {
    let (mut pacer, command, held) = pacer(true, 0.0);
    pacer.command(0, 0, &command, 0.0).unwrap();
    assert_eq!(pacer.poll(0.0), Ok(Tick::Advanced));
    assert_ne!(pacer.poll(0.09), Ok(Tick::Advanced));
    assert_ne!(pacer.poll(0.11), Ok(Tick::Advanced), "in real time from now on");
    assert_eq!(held(), 1, "held once");
    assert!(matches!(pacer.take_events().next(), Some(PacingEvent::CommandsLost { robot: 0, .. })));
    assert_eq!(pacer.poll(0.1121), Ok(Tick::Advanced), "a lost commander is not waited for");
    assert_ne!(pacer.poll(0.1121), Ok(Tick::Advanced), "nor left behind");
    pacer.command(0, pacer.stamp(), &command, 0.13).unwrap();
    assert_eq!(pacer.take_events().next(), Some(PacingEvent::CommandsBack { robot: 0 }));
    assert_eq!(pacer.poll(0.13), Ok(Tick::Advanced));
    assert_ne!(pacer.poll(0.13), Ok(Tick::Advanced), "it is waited for again");
}

#[test]
fn lockstep_takes_back_a_commander_that_is_too_slow_to_answer_in_time() {
    let (mut pacer, command, held) = pacer(true, 0.0);
    pacer.command(0, 0, &command, 0.0).unwrap();
    assert_eq!(pacer.poll(0.0), Ok(Tick::Advanced));
    assert_ne!(pacer.poll(0.11), Ok(Tick::Advanced), "lost");
    let seen = pacer.stamp();
    assert_eq!(pacer.poll(0.12), Ok(Tick::Advanced), "while the commander computes");
    pacer.command(0, seen, &command, 0.13).unwrap();
    assert_ne!(pacer.poll(0.13), Ok(Tick::Advanced), "time waits for its next answer");
    pacer.command(0, pacer.stamp(), &command, 0.14).unwrap();
    assert_eq!(pacer.poll(0.14), Ok(Tick::Advanced));
    assert_eq!(held(), 1, "it was not lost again");
}

#[test]
fn silence_counts_in_sample_time_in_real_time() {
    let (mut pacer, command, held) = pacer(false, 1.0);
    pacer.command(0, 0, &command, 0.0).unwrap();
    let mut now = 0.0;
    let mut samples = 0;
    while held() == 0 {
        now += 1e-4;
        samples += usize::from(pacer.poll(now) == Ok(Tick::Advanced));
    }
    assert_eq!(samples, 51, "silence of 50 samples of 2 ms is not above 0.1 s, that of 51 is");
}

#[test]
fn as_fast_as_it_can_is_as_fast_as_the_commander() {
    let (mut pacer, command, _) = pacer(false, 0.0);
    assert_eq!(pacer.poll(0.0), Ok(Tick::Advanced), "nobody to wait for");
    pacer.command(0, pacer.stamp(), &command, 0.0).unwrap();
    assert_eq!(pacer.poll(0.0), Ok(Tick::Advanced));
    assert_eq!(pacer.poll(0.0), Ok(Tick::Advanced), "a lag of one sample is allowed");
    assert_ne!(pacer.poll(0.01), Ok(Tick::Advanced), "not of two");
    assert_ne!(pacer.poll(0.2), Ok(Tick::Advanced), "a dead commander is not waited for,");
    assert_eq!(pacer.poll(0.2021), Ok(Tick::Advanced), "and the pacer goes on in real time");
}

#[test]
fn a_robot_that_was_never_commanded_is_not_reported_lost() {
    let (mut pacer, _, held) = pacer(false, 0.0);
    for _ in 0..200 {
        pacer.poll(0.0).unwrap();
    }
    assert_eq!((held(), pacer.take_events().count()), (0, 0));
}

#[test]
fn pace_follows_the_real_time_factor_and_does_not_rush_after_a_pause() {
    let (mut pacer, _, _) = pacer(false, 2.0);
    let mut count = 0;
    for i in 0..=1000 {
        let now = f64::from(i) * 1e-4;
        while pacer.poll(now) == Ok(Tick::Advanced) {
            count += 1;
        }
    }
    assert!(
        (99..=101).contains(&count),
        "0.1 s of wall time at factor 2 and 2 ms: {count} samples, not 100"
    );
    let mut burst = 0;
    while pacer.poll(10.0) == Ok(Tick::Advanced) {
        burst += 1;
    }
    assert!(burst <= 2, "{burst} samples at once after 10 s of silence");
}

#[test]
fn paused_robots_step_on_demand_only_and_repeat_their_sample() {
    let (mut pacer, _, _) = pacer(false, 1.0);
    pacer.set_playing(false);
    assert_eq!(pacer.poll(0.0), Ok(Tick::Repeat));
    assert!(matches!(pacer.poll(0.01), Ok(Tick::Wait(_))));
    assert_eq!(pacer.poll(0.06), Ok(Tick::Repeat));
    pacer.step(2);
    assert_eq!(pacer.poll(0.06), Ok(Tick::Advanced));
    assert_eq!(pacer.poll(0.06), Ok(Tick::Advanced));
    assert!(matches!(pacer.poll(0.06), Ok(Tick::Wait(_))));
    assert_eq!(pacer.stamp(), 6_000_000);
    pacer.reset_time();
    assert_eq!(pacer.stamp(), 2_000_000);
}

/// A command that was under way while the robot was put back would pull it to where it was before.
#[test]
fn a_command_from_before_a_reset_is_not_carried_out() {
    let (mut pacer, command, _) = pacer(false, 0.0);
    let run = |pacer: &mut Pacer<Counter>, n: usize| {
        for _ in 0..n {
            assert_eq!(pacer.poll(0.0), Ok(Tick::Advanced));
        }
    };
    let is_written = |pacer: &mut Pacer<Counter>, stamp: i64| {
        let before = pacer.io().written;
        pacer.command(0, stamp, &command, 0.0).unwrap();
        pacer.io().written > before
    };
    run(&mut pacer, 100);
    let old = pacer.stamp();
    assert!(is_written(&mut pacer, old - 4_000_000));
    pacer.reset_time();
    run(&mut pacer, 2);
    assert!(!is_written(&mut pacer, old) && !is_written(&mut pacer, old - 4_000_000));
    // Answers to what came since, and what has no stamp or that of another clock.
    for stamp in [pacer.stamp(), pacer.stamp() - 2_000_000, 0, 1_700_000_000_000_000_000] {
        assert!(is_written(&mut pacer, stamp), "{stamp}");
    }
    // As old as before, when their time has come again.
    run(&mut pacer, 100);
    assert!(is_written(&mut pacer, old - 4_000_000));
    // Put back without time: the sample itself is answered again.
    pacer.forget_commands();
    let now = pacer.stamp();
    assert!(!is_written(&mut pacer, now - 2_000_000) && is_written(&mut pacer, now));
    // What has no stamp answers the present sample, however soon after the start this is.
    assert!(!pacer.is_forgotten(0) && is_written(&mut pacer, 0));
}

#[test]
fn waiting_for_commands_does_not_slow_the_pace() {
    let (mut pacer, command, _) = pacer(true, 1.0);
    let (mut samples, mut answer_due) = (0, 0.0);
    for i in 0..=2000 {
        let now = f64::from(i) * 1e-4;
        if now >= answer_due {
            pacer.command(0, pacer.stamp(), &command, now).unwrap();
        }
        if pacer.poll(now) == Ok(Tick::Advanced) {
            samples += 1;
            answer_due = now + 5e-4;
        }
    }
    assert!(
        (99..=101).contains(&samples),
        "0.2 s at 2 ms, answers after 0.5 ms: {samples} samples, not 100"
    );
}

#[test]
fn a_machine_with_deadlines_of_its_own_sets_the_pace() {
    let (mut pacer, ..) = pacer(false, 1.0);
    for (due_in, expected) in [
        (Some(0.3), Tick::Wait(0.3)),
        (Some(0.0), Tick::Advanced),
        (Some(0.001), Tick::Wait(0.001)),
        (Some(0.0), Tick::Advanced),
    ] {
        pacer.io_mut().due_in = due_in;
        assert_eq!(pacer.poll(5.0), Ok(expected), "{due_in:?}");
    }
    pacer.io_mut().due_in = None;
    assert!(
        matches!(pacer.poll(5.0), Ok(Tick::Wait(s)) if (s - 0.002).abs() < 1e-9),
        "by the pacer's own"
    );
}
