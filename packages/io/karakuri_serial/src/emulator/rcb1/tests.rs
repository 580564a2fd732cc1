mod session;

use proptest::prelude::*;

use super::super::FreeMotion;
use super::*;
use crate::codec::rcb1::{Pose, Speed, Switches};

/// Boards, and the time that has passed.
struct Bench {
    bus: Rcb1,
    now: f64,
    answers: Answers,
}

impl Bench {
    fn new(setup: &Setup) -> Self {
        let bus = Rcb1::new(setup);
        Self { answers: Answers::new(bus.line()), bus, now: 0.0 }
    }

    /// Bytes at the pace of the line; what is answered, and how long after the last of them it begins. [s]
    fn send(&mut self, bytes: &[u8]) -> Vec<(f64, Vec<u8>)> {
        for byte in bytes {
            self.now += self.bus.line().byte_time();
            self.bus.receive(*byte, self.now, &mut self.answers);
        }
        let answers = self.answers.drain();
        answers.into_iter().map(|(time, bytes)| (time - self.now, bytes)).collect()
    }

    /// The answer to a request to one board.
    fn ask(&mut self, id: u8, order: Order) -> Vec<u8> {
        let mut bytes = Vec::new();
        Request::Board { id, order }.encode(&mut bytes);
        let mut answers = self.send(&bytes);
        answers.pop().map(|(_, bytes)| bytes).unwrap_or_default()
    }

    fn move_to(&mut self, id: u8, speed: u8, channels: [Channel; CHANNELS]) {
        let pose = Pose { speed: Speed::new(speed).unwrap(), channels };
        assert_eq!(self.ask(id, Order::Move(pose)), [id, 6]);
    }

    fn wait(&mut self, time: f64) {
        let until = self.now + time;
        while self.now < until {
            self.now += 1e-3;
            self.bus.advance(self.now, &mut self.answers);
            super::super::move_servos(self.bus.servos_mut(), &mut FreeMotion, 1e-3);
        }
    }

    /// Where a servo's shaft is, as a position. [deg]
    fn shaft(&self, channel: u8) -> f64 {
        let servo = self.bus.servos().iter().find(|servo| servo.id == channel).unwrap();
        servo.position.to_degrees() + 90.0
    }
}

fn all(degrees: u8) -> [Channel; CHANNELS] {
    [Channel::Degrees(degrees); CHANNELS]
}

/// Channels that stay, but for some.
fn some(channels: &[(usize, Channel)]) -> [Channel; CHANNELS] {
    let mut pose = [Channel::Keep; CHANNELS];
    for (channel, target) in channels {
        pose[channel - 1] = *target;
    }
    pose
}

fn near(measured: f64, expected: f64, tolerance: f64) {
    assert!((measured - expected).abs() <= tolerance, "{measured} is not {expected} ± {tolerance}");
}

#[test]
fn boards_start_at_home_without_torque() {
    let mut bench = Bench::new(&Setup::default());
    assert_eq!(bench.bus.servos().len(), 17);
    assert!(bench.bus.servos().iter().all(|servo| !servo.torque_on));
    let home = [0x00, 5, 0, 90, 0, 0, 90, 175, 180, 90, 0, 0, 0, 0x76];
    assert_eq!(bench.ask(0, Order::Positions), home);
    assert_eq!(bench.ask(0, Order::Home), home);
    bench.wait(0.5);
    assert_eq!(bench.ask(0, Order::Positions), home, "nothing moves before a move");
}

#[test]
fn channels_arrive_together_at_the_speed_of_the_longest_move() {
    for (code, deg_per_s) in [(7, 60.0), (6, 105.0), (4, 200.0)] {
        let mut bench = Bench::new(&Setup::default());
        bench.move_to(1, 0, all(90));
        bench.wait(1.0);
        // 60° and 30°.
        bench.move_to(1, code, some(&[(1, Channel::Degrees(150)), (2, Channel::Degrees(60))]));
        let time = 60.0 / deg_per_s;
        bench.wait(0.5 * time);
        near(bench.shaft(13), 120.0, 0.03 * deg_per_s + 0.5);
        near(bench.shaft(14), 75.0, 0.015 * deg_per_s + 0.5);
        bench.wait(0.5 * time + 0.06);
        near(bench.shaft(13), 150.0, 0.2);
        near(bench.shaft(14), 60.0, 0.2);
        near(bench.shaft(15), 90.0, 0.2);
    }
}

#[test]
fn answers_take_2_ms_and_writes_10_more() {
    let mut bench = Bench::new(&Setup::default());
    for (frame, delay) in [
        (&[0xfc, 0x00, 0x7c][..], 0.002),
        (&[0xfb, 0x00, 0x7b], 0.012),
        (&[0xf7, 0x00, 0x05, 0x0a, 0x06], 0.012),
    ] {
        let answers = bench.send(frame);
        near(answers[0].0, delay, 1e-9);
    }
}

#[test]
fn a_frame_that_breaks_off_is_dropped() {
    let mut bench = Bench::new(&Setup::default());
    assert!(bench.send(&[0xfd, 0x00, 0x04]).is_empty());
    bench.now += 0.051;
    assert_eq!(bench.send(&[0xf0, 0x00, 0x70]).len(), 1);
    assert!(bench.send(&[0xf0, 0x00]).is_empty());
    bench.now += 0.049;
    assert_eq!(bench.send(&[0x70]).len(), 1, "a shorter pause is no break");
}

#[test]
fn wrong_sums_unknown_codes_and_foreign_ids_are_not_answered() {
    let mut bench = Bench::new(&Setup::default());
    for frame in [&[0xf0, 0x00, 0x71][..], &[0x12, 0x34], &[0xf0, 0x05, 0x75]] {
        assert!(bench.send(frame).is_empty(), "{frame:02X?}");
    }
}

#[test]
fn both_boards_answer_get_id_at_once() {
    let mut bench = Bench::new(&Setup::default());
    let mut heard: Vec<_> = (0..6).map(|_| bench.send(&[0xfe, 0x7e])[0].1.clone()).collect();
    heard.sort();
    heard.dedup();
    assert_eq!(heard, [[0, 0], [0, 1], [1, 1]], "either, or a mixture that has a wrong sum");
    super::super::Fault::BoardMissing { board: 0 }.apply(bench.bus.servos_mut(), true);
    for _ in 0..3 {
        assert_eq!(bench.send(&[0xfe, 0x7e])[0].1, [1, 1], "the only board");
    }
    assert!(bench.ask(0, Order::Positions).is_empty());
    assert_eq!(bench.send(&[0xff, 0x5a, 0x02, 0x5b])[0].1, [2, 6]);
    assert_eq!(bench.ask(2, Order::Switches), [2, 2, 4]);
    assert!(bench.ask(1, Order::Switches).is_empty());
}

#[test]
fn a_board_asleep_is_limp_and_does_not_move() {
    let mut bench = Bench::new(&Setup::default());
    bench.move_to(1, 0, all(90));
    bench.wait(1.0);
    let asleep = Switches { sleep: true, motion_enabled: true };
    bench.ask(1, Order::SetSwitches(asleep));
    bench.move_to(1, 0, all(120));
    bench.wait(1.0);
    near(bench.shaft(13), 90.0, 0.2);
    assert!(bench.bus.servos().iter().all(|servo| !servo.torque_on));
    assert_eq!(bench.ask(1, Order::Positions)[1], 90);
    assert_eq!(bench.ask(1, Order::Switches), [1, 3, 4]);
    bench.ask(1, Order::SetSwitches(Switches::default()));
    bench.wait(0.5);
    near(bench.shaft(13), 90.0, 0.2);
    assert!(bench.bus.servos().iter().filter(|s| s.board == 1).all(|servo| servo.torque_on));
}

#[test]
fn red_servos_tell_where_they_are_and_blue_ones_where_they_were_sent() {
    for (case, read, driven) in [(Case::Red, 90, false), (Case::Blue, 120, true)] {
        let mut bench = Bench::new(&Setup { case, ..Setup::default() });
        bench.move_to(1, 0, all(90));
        bench.wait(1.0);
        for servo in bench.bus.servos_mut() {
            servo.set(Trouble::Blocked, true);
        }
        bench.move_to(1, 0, all(120));
        bench.wait(1.0);
        assert_eq!(bench.ask(1, Order::Positions)[1], read, "{case:?}");
        bench.move_to(1, 0, [Channel::Free; CHANNELS]);
        bench.wait(0.01);
        let last = bench.bus.servos().last().unwrap();
        assert_eq!(last.torque_on, driven, "{case:?}: free");
    }
}

#[test]
fn trims_move_the_shaft_and_not_what_is_read() {
    let mut bench = Bench::new(&Setup::default());
    let mut trims = [0; CHANNELS];
    trims[0] = -7;
    assert_eq!(bench.ask(1, Order::SetTrims(trims)), [1, 6]);
    bench.move_to(1, 0, all(90));
    bench.wait(1.0);
    near(bench.shaft(13), 83.0, 0.2);
    near(bench.shaft(14), 90.0, 0.2);
    assert_eq!(bench.ask(1, Order::Positions)[1], 90);
    assert_eq!(bench.ask(1, Order::StoreHome), [1, 6]);
    assert_eq!(bench.ask(1, Order::Home)[1], 90);
}

/// Writes a motion of two positions of channel 1.
fn upload(bench: &mut Bench, motion: u8, degrees: [u8; 2]) {
    for (position, degrees) in (0..).zip(degrees) {
        let speed = Speed::new(4).unwrap();
        let pose = Pose { speed, channels: some(&[(1, Channel::Degrees(degrees))]) };
        assert_eq!(bench.ask(1, Order::WritePosition { motion, position, pose }), [1, 6]);
    }
    assert_eq!(bench.ask(1, Order::SetPositionCount { motion, count: 2 }), [1, 6]);
}

#[test]
fn a_scenario_plays_its_motions_back_to_back() {
    let mut bench = Bench::new(&Setup::default());
    bench.move_to(1, 0, all(90));
    bench.wait(1.0);
    upload(&mut bench, 3, [110, 90]);
    upload(&mut bench, 4, [70, 90]);
    for (index, motion) in (0..).zip([3, 4]) {
        assert_eq!(bench.ask(1, Order::WriteScenario { scenario: 2, index, motion }), [1, 6]);
    }
    assert_eq!(bench.ask(1, Order::SetScenarioLength { scenario: 2, count: 2 }), [1, 6]);
    assert_eq!(bench.ask(1, Order::ScenarioLength { scenario: 2 }), [1, 2, 3]);
    assert_eq!(bench.ask(1, Order::ReadScenario { scenario: 2, index: 1 }), [1, 4, 5]);
    assert_eq!(bench.ask(1, Order::PlayScenario { scenario: 2 }), [1, 6]);
    // 20° at 200°/s: a position every 0.1 s.
    let mut heard = Vec::new();
    for _ in 0..4 {
        bench.wait(0.1);
        heard.push(bench.shaft(13));
    }
    for (measured, expected) in heard.into_iter().zip([110.0, 90.0, 70.0, 90.0]) {
        near(measured, expected, 4.5);
    }
    bench.wait(0.2);
    near(bench.shaft(13), 90.0, 0.2);
}

#[test]
fn what_is_not_to_play_does_not() {
    let mut bench = Bench::new(&Setup::default());
    bench.move_to(1, 0, all(90));
    bench.wait(1.0);
    assert_eq!(bench.ask(1, Order::PlayMotion { motion: 3 }), [1, 6], "a motion without positions");
    upload(&mut bench, 3, [110, 120]);
    bench.ask(1, Order::SetSwitches(Switches { sleep: false, motion_enabled: false }));
    assert_eq!(bench.ask(1, Order::PlayMotion { motion: 3 }), [1, 6]);
    bench.wait(0.5);
    near(bench.shaft(13), 90.0, 0.2);
    bench.ask(1, Order::SetSwitches(Switches::default()));
    bench.ask(1, Order::PlayMotion { motion: 3 });
    bench.wait(0.05);
    bench.move_to(1, 0, all(80));
    bench.wait(1.0);
    near(bench.shaft(13), 80.0, 0.2);
}

#[test]
fn boards_with_other_clocks_drift_apart() {
    let setup = Setup { clock_skew: [0.0, 0.1], ..Setup::default() };
    let mut bench = Bench::new(&setup);
    bench.move_to(0, 0, all(90));
    bench.move_to(1, 0, all(90));
    bench.wait(1.0);
    bench.move_to(0, 7, all(150));
    bench.move_to(1, 7, all(150));
    bench.wait(0.95);
    let [slow, fast] = [bench.shaft(1), bench.shaft(13)];
    assert!(fast > 149.8 && slow < 147.5, "{slow} {fast}");
}

#[test]
fn keys_keep_what_they_are_given() {
    let mut bench = Bench::new(&Setup::default());
    let key = crate::codec::rcb1::KeyAssignment { key: 9, kind: 1, number: 3, mode: 0 };
    assert_eq!(bench.ask(0, Order::SetKey(key)), [0, 6]);
    assert_eq!(bench.ask(0, Order::Key { key: 9 }), [0, 1, 3, 0, 4]);
}

#[test]
fn time_may_begin_anywhere() {
    let mut bench = Bench::new(&Setup::default());
    bench.now = -5.0;
    bench.wait(0.1);
    bench.move_to(1, 0, all(120));
    bench.wait(1.0);
    near(bench.shaft(13), 120.0, 0.2);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever a host sends, the boards go on, and answer what is right.
    #[test]
    fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let mut bench = Bench::new(&Setup::default());
        for chunk in bytes.chunks(20) {
            bench.send(chunk);
            bench.wait(0.02);
        }
        bench.wait(0.1);
        prop_assert!(bench.bus.servos().iter().all(|servo| servo.position.is_finite()));
        bench.send(&[0xff, 0x5a, 0x01, 0x5a]);
        prop_assert!(!bench.ask(1, Order::Switches).is_empty());
    }
}
