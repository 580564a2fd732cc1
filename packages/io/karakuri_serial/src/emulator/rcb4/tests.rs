use proptest::prelude::*;

use super::super::{Emulation, FreeMotion, Trouble, move_servos};
use super::*;
use crate::codec::ics::{CENTRE, counts_from_angle};
use crate::codec::rcb4::memory::{
    ICS_TABLE, MOTION_SIZE, ROM_MAIN_LOOP, ROM_MOTIONS, ROM_PAGE, ROM_WRITE_TIME, record, record_of,
};
use crate::codec::rcb4::{
    AnswerDecoder, Condition, Goal, Operation, ServoParameter, ServoSet, Source,
};

/// A board, and the time that has passed.
struct Bench {
    bus: Rcb4,
    now: f64,
    answers: Answers,
}

impl Bench {
    fn new(setup: &Setup) -> Self {
        let bus = Rcb4::new(setup);
        Self { answers: Answers::new(bus.line()), bus, now: 0.0 }
    }

    /// A board whose servos are assigned and held.
    fn held() -> Self {
        let mut bench = Self::new(&Setup { project: true, ..Setup::default() });
        bench.wait(0.05);
        assert!(bench.bus.servos().iter().all(|servo| servo.torque_on));
        bench
    }

    fn ask(&mut self, request: &Request) -> Answer {
        let mut bytes = Vec::new();
        request.encode(&mut bytes);
        for byte in bytes {
            self.now += self.bus.line().byte_time();
            self.bus.receive(byte, self.now, &mut self.answers);
        }
        let (_, bytes) = self.answers.drain().pop().expect("an answer");
        let mut decoder = AnswerDecoder::default();
        decoder.expect(request);
        bytes.iter().find_map(|byte| decoder.push(*byte)).unwrap().unwrap()
    }

    fn order(&mut self, request: &Request) {
        assert_eq!(self.ask(request), Answer::Done { command: request.command() }, "{request:?}");
    }

    fn read(&mut self, address: u16, count: u8) -> Vec<u8> {
        let read = Request::Move { to: Place::Host, from: Source::Ram { address, count } };
        match self.ask(&read) {
            Answer::Data(data) => data.bytes().to_vec(),
            other => panic!("{other:?}"),
        }
    }

    fn word(&mut self, address: u16) -> u16 {
        u16::from_le_bytes(self.read(address, 2).try_into().unwrap())
    }

    fn write(&mut self, to: Place, bytes: &[u8]) {
        let from = Source::Literal(Data::new(bytes).unwrap());
        self.order(&Request::Move { to, from });
    }

    fn set_configuration(&mut self, word: u16) {
        self.write(Place::Ram { address: CONFIGURATION }, &word.to_le_bytes());
    }

    fn rom(&mut self, address: u32, count: u8) -> Vec<u8> {
        let read = Request::Move { to: Place::Host, from: Source::Rom { address, count } };
        match self.ask(&read) {
            Answer::Data(data) => data.bytes().to_vec(),
            other => panic!("{other:?}"),
        }
    }

    /// Writes steps to the ROM, a page at a time.
    fn burn(&mut self, mut address: u32, steps: &[Request]) {
        let bytes = encoded(steps);
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            let room = (ROM_PAGE - address % ROM_PAGE) as usize;
            let (page, left) = rest.split_at(room.min(rest.len()));
            self.write(Place::Rom { address }, page);
            self.wait(ROM_WRITE_TIME);
            (address, rest) = (address + u32::try_from(page.len()).unwrap(), left);
        }
    }

    fn move_to(&mut self, pairs: &[(usize, u16)], frames: u8) {
        self.order(&moves(pairs, frames));
    }

    fn wait(&mut self, time: f64) {
        let until = self.now + time;
        while self.now < until {
            self.now += 1e-3;
            self.bus.advance(self.now, &mut self.answers);
            move_servos(self.bus.servos_mut(), &mut FreeMotion, 1e-3);
        }
    }

    fn shaft(&self, number: u8) -> u16 {
        let servo = self.bus.servos().iter().find(|servo| servo.id == number).unwrap();
        counts_from_angle(servo.position)
    }
}

fn encoded(steps: &[Request]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for step in steps {
        step.encode(&mut bytes);
    }
    bytes
}

fn moves(pairs: &[(usize, u16)], frames: u8) -> Request {
    let mut goals = [Goal::default(); SERVOS];
    for (servo, counts) in pairs {
        goals[*servo] = Goal::from_word(*counts);
    }
    let servos: ServoSet = pairs.iter().map(|pair| pair.0).collect();
    Request::MoveServos { servos, frames, goals }
}

fn near(measured: u16, expected: u16, tolerance: u16) {
    let off = measured.abs_diff(expected);
    assert!(off <= tolerance, "{measured} is not {expected} ± {tolerance}");
}

#[test]
fn a_board_without_a_project_talks_to_no_servo() {
    let mut bench = Bench::new(&Setup::default());
    assert_eq!(bench.ask(&Request::Acknowledge), Answer::Done { command: 0xfe });
    assert_eq!(bench.ask(&Request::Version), Answer::Version(VERSION));
    assert_eq!(bench.read(ICS_TABLE, 70), [0xff; 70]);
    bench.wait(0.1);
    assert_eq!(bench.word(record_of(0) + record::PRESENT), 0);
    assert!(bench.bus.servos().iter().all(|servo| !servo.torque_on));
}

#[test]
fn a_move_takes_its_frames_and_ends_together() {
    for (code, period) in (0..).zip([0.010, 0.015, 0.020, 0.025]) {
        let mut bench = Bench::held();
        let word = bench.word(CONFIGURATION) & !Configuration::FRAME;
        bench.set_configuration(word | code << 4);
        // Long enough for the period that it had to be over.
        bench.wait(0.1);
        bench.move_to(&[(0, 8500), (2, 7000)], 40);
        bench.wait(20.0 * period);
        let one_frame = 1000 / 40;
        near(bench.shaft(0), 8000, 3 * one_frame);
        near(bench.shaft(2), 7250, 2 * one_frame);
        assert_ne!(bench.read(record_of(0) + record::STEPS_LEFT, 1), [0]);
        bench.wait(21.0 * period + 0.05);
        near(bench.shaft(0), 8500, 1);
        near(bench.shaft(2), 7000, 1);
        near(bench.shaft(1), CENTRE, 1);
        assert_eq!(bench.read(record_of(0) + record::STEPS_LEFT, 1), [0]);
        near(bench.word(record_of(0) + record::PRESENT), 8500, 1);
    }
}

#[test]
fn only_a_servo_that_holds_is_moved() {
    let mut bench = Bench::held();
    bench.move_to(&[(3, 32768)], 1);
    bench.wait(0.05);
    assert!(!bench.bus.servos()[3].torque_on);
    bench.move_to(&[(3, 8000)], 1);
    bench.wait(0.5);
    near(bench.shaft(3), CENTRE, 0);
    // Turned by hand: hold takes it where it is.
    bench.bus.servos_mut()[3].place(0.2);
    bench.move_to(&[(3, 32767)], 1);
    bench.wait(0.1);
    near(bench.shaft(3), counts_from_angle(0.2), 1);
    bench.move_to(&[(3, 8000)], 10);
    bench.wait(0.03);
    near(bench.shaft(3), counts_from_angle(0.2), 60);
    bench.wait(0.3);
    near(bench.shaft(3), 8000, 1);
}

#[test]
fn each_servo_may_have_its_own_time() {
    let mut bench = Bench::held();
    let (mut goals, mut frames) = ([Goal::default(); SERVOS], [0; SERVOS]);
    (goals[0], goals[1]) = (Goal::Position(8500), Goal::Position(8500));
    (frames[0], frames[1]) = (10, 40);
    let servos = [0, 1].into_iter().collect();
    bench.order(&Request::MoveServosApart { servos, frames, goals });
    bench.wait(0.25);
    near(bench.shaft(0), 8500, 1);
    near(bench.shaft(1), 7900, 60);
    bench.order(&Request::MoveServo { servo: 0, frames: 1, goal: Goal::Position(8000) });
    bench.wait(0.5);
    near(bench.shaft(0), 8000, 1);
    near(bench.shaft(1), 8500, 1);
}

#[test]
fn trims_and_limits_reach_the_servos() {
    let mut bench = Bench::held();
    bench.write(Place::Ram { address: record_of(4) + record::TRIM }, &100_i16.to_le_bytes());
    bench.move_to(&[(4, 8000)], 1);
    bench.wait(0.3);
    near(bench.shaft(4), 8100, 1);
    near(bench.word(record_of(4) + record::PRESENT), 8000, 1);
    let servos: ServoSet = [4].into_iter().collect();
    for (parameter, value) in [
        (ServoParameter::Stretch, 60),
        (ServoParameter::Speed, 64),
        (ServoParameter::CurrentLimit, 20),
        (ServoParameter::TemperatureLimit, 60),
    ] {
        bench.order(&Request::SetServos { servos, parameter, values: [value; SERVOS] });
    }
    let servo = &bench.bus.servos()[4];
    assert!((servo.limits.temperature - 80.0).abs() < 1e-9);
    assert!((servo.limits.current - 2.0).abs() < 1e-9);
    assert!((servo.speed_limit / servo.rating.no_load_speed - 0.504).abs() < 1e-3);
}

#[test]
fn a_servo_that_is_gone_does_not_report() {
    let mut bench = Bench::held();
    bench.bus.servos_mut()[5].set(Trouble::Gone, true);
    bench.write(Place::Ram { address: record_of(5) + record::PRESENT }, &[0, 0]);
    bench.wait(0.05);
    assert_eq!(bench.word(record_of(5) + record::PRESENT), 0);
    assert_ne!(bench.word(record_of(4) + record::PRESENT), 0);
}

#[test]
fn the_baud_rate_changes_after_the_acknowledgement() {
    let mut wire = Emulation::new(Box::new(Rcb4::new(&Setup::default())), Box::new(FreeMotion));
    let mut heard = Vec::new();
    wire.advance(0.0, &mut heard);
    wire.hear(&[0x09, 0, 2, 0, 0, 0, 0x91, 0x40, 0xdc], 115_200, 0.0);
    wire.advance(0.1, &mut heard);
    assert_eq!(heard, [4, 0, 6, 0x0a]);
    heard.clear();
    wire.hear(&[0x04, 0xfe, 0x06, 0x08], 115_200, 0.2);
    wire.advance(0.3, &mut heard);
    assert!(heard.is_empty(), "{heard:02X?}");
    wire.hear(&[0x04, 0xfe, 0x06, 0x08], 1_250_000, 0.4);
    wire.advance(0.5, &mut heard);
    assert_eq!(heard, [0x04, 0xfe, 0x06, 0x08]);
}

/// Five reads of 122 bytes give all angles; they take 1.2 ms each at the fastest.
#[test]
fn all_angles_take_6_ms() {
    let setup = Setup { baud: 1_250_000, project: true, ..Setup::default() };
    let mut wire = Emulation::new(Box::new(Rcb4::new(&setup)), Box::new(FreeMotion));
    let (mut heard, mut now) = (Vec::new(), 0.0);
    wire.advance(now, &mut heard);
    for block in 0..5 {
        let from = Source::Ram { address: record_of(7 * block) + record::PRESENT, count: 122 };
        let mut request = Vec::new();
        Request::Move { to: Place::Host, from }.encode(&mut request);
        heard.clear();
        wire.hear(&request, 1_250_000, now);
        while heard.len() < 125 {
            now += 1e-5;
            assert!(now < 0.1, "{} bytes", heard.len());
            wire.advance(now, &mut heard);
        }
    }
    assert!((now - 5.0 * (135.0 * 8.8e-6 + 1e-4)).abs() < 3e-4, "{now}");
}

#[test]
fn what_crosses_a_page_of_the_rom_is_lost() {
    let mut bench = Bench::new(&Setup::default());
    bench.write(Place::Rom { address: 0x1007e }, &[1, 2, 3, 4]);
    assert_eq!(bench.rom(0x1007e, 4), [1, 2, 0xff, 0xff]);
    bench.write(Place::Rom { address: 0x10080 }, &[3]);
    assert_eq!(bench.rom(0x10080, 1), [0xff], "still writing");
    bench.wait(ROM_WRITE_TIME);
    bench.write(Place::Rom { address: 0x10080 }, &[3]);
    assert_eq!(bench.rom(0x1007e, 4), [1, 2, 3, 0xff]);
}

#[test]
fn what_the_board_does_not_know_is_refused() {
    let mut bench = Bench::new(&Setup::default());
    let read = Request::Move { to: Place::Host, from: Source::Ram { address: 0x48f, count: 2 } };
    assert_eq!(bench.ask(&read), Answer::Refused { command: 0 });
    for byte in [0x04, 0x20, 0x00, 0x24] {
        bench.now += 1e-4;
        bench.bus.receive(byte, bench.now, &mut bench.answers);
    }
    assert_eq!(bench.answers.drain().pop().unwrap().1, [0x04, 0x20, 0x15, 0x39]);
    // A frame that breaks off does not hide the next.
    bench.bus.receive(0x80, bench.now, &mut bench.answers);
    bench.now += 0.021;
    assert_eq!(bench.ask(&Request::Acknowledge), Answer::Done { command: 0xfe });
}

fn always() -> Condition {
    Condition::default()
}

/// Plays a motion as hosts do: stop the program, set it back, call, go on.
fn play(bench: &mut Bench, address: u32) {
    let word = bench.word(CONFIGURATION);
    bench.set_configuration(word & !(Configuration::RUN | Configuration::ICS));
    let mut counter = [0; 10];
    counter[..2].copy_from_slice(&[0x4b, 0x04]);
    bench.write(Place::Ram { address: PROGRAM_COUNTER }, &counter);
    bench.order(&Request::Call { address, condition: always() });
    bench.set_configuration(word | Configuration::RUN | Configuration::ICS);
}

#[test]
fn a_motion_plays_blocks_and_calls_and_comes_back() {
    let mut bench = Bench::held();
    let (first, second) = (ROM_MOTIONS, ROM_MOTIONS + MOTION_SIZE);
    let call = Request::Call { address: second, condition: always() };
    let back = Request::Return { condition: always() };
    bench.burn(first, &[moves(&[(0, 8000)], 20), call, moves(&[(0, CENTRE)], 20), back]);
    bench.burn(second, &[moves(&[(1, 8000), (2, 7000)], 20), back]);
    // Older libraries call the first motion 38h further on.
    for address in [first, first + 0x38] {
        play(&mut bench, address);
        bench.wait(0.2);
        near(bench.shaft(0), 7800, 120);
        near(bench.shaft(1), if address == first { CENTRE } else { 8000 }, 1);
        bench.wait(0.15);
        near(bench.shaft(0), 8000, 1);
        let counter = bench.word(PROGRAM_COUNTER);
        assert_eq!(motion_at(counter.into()), Some(1), "the second motion is under way");
        assert_ne!(bench.read(PROGRAM_COUNTER + 3, 5), [0; 5]);
        bench.wait(0.7);
        near(bench.shaft(0), CENTRE, 1);
        near(bench.shaft(1), 8000, 1);
        near(bench.shaft(2), 7000, 1);
        assert_eq!(u32::from(bench.word(PROGRAM_COUNTER)), ROM_MAIN_LOOP);
        assert_eq!(bench.read(PROGRAM_COUNTER + 3, 5), [0; 5]);
    }
}

#[test]
fn a_loop_counts_and_a_timer_runs_out() {
    let mut bench = Bench::held();
    let counter = 0x0457;
    let subtract = |compare, address, value: &[u8]| Request::Operate {
        operation: Operation::Subtract,
        compare,
        address,
        value: Data::new(value).unwrap(),
    };
    let literal = |address, value: &[u8]| Request::Move {
        to: Place::Ram { address },
        from: Source::Literal(Data::new(value).unwrap()),
    };
    let unless_zero = Condition { zero: Some(false), carry: None };
    // Three times there and back, then 0.3 s, then servo 1.
    let start = ROM_MOTIONS + 5 * MOTION_SIZE;
    let set = literal(counter, &[3]);
    let set_timer = literal(TIMERS, &[3, 0]);
    let there = moves(&[(0, 7800)], 4);
    let back = moves(&[(0, CENTRE)], 4);
    let size = |steps: &[Request]| u32::try_from(encoded(steps).len()).unwrap();
    let count = subtract(false, counter, &[1]);
    let again = Request::Jump { address: start + size(&[set]), condition: unless_zero };
    let looped = [set, there, back, count, again, set_timer];
    let wait = subtract(true, TIMERS, &[0x00, 0x80]);
    let until = Request::Jump { address: start + size(&looped), condition: unless_zero };
    let end = [wait, until, moves(&[(1, 8000)], 1), Request::Return { condition: always() }];
    bench.burn(start, &[&looped[..], &end[..]].concat());
    play(&mut bench, start);
    let (mut n_turns, mut out) = (0, false);
    for _ in 0..600 {
        bench.wait(0.001);
        let far = bench.shaft(0);
        if (out && far < 7600) || (!out && far > 7700) {
            (out, n_turns) = (!out, n_turns + 1);
        }
    }
    assert_eq!(n_turns, 6);
    near(bench.shaft(1), CENTRE, 1);
    bench.wait(0.5);
    near(bench.shaft(1), 8000, 1);
}

#[test]
fn a_program_stops_at_what_is_no_step() {
    let mut bench = Bench::held();
    play(&mut bench, ROM_MOTIONS + 7 * MOTION_SIZE);
    bench.wait(0.05);
    let word = Configuration(bench.word(CONFIGURATION));
    assert!(word.has(Configuration::PROGRAM_ERROR) && !word.has(Configuration::RUN));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever a host sends, programs and tables that mean nothing included, the board goes on and answers.
    #[test]
    fn any_frames_are_survived(
        frames in proptest::collection::vec((0..0x14_u8, proptest::collection::vec(any::<u8>(), 0..40)), 1..40),
        table in proptest::collection::vec(any::<u8>(), 70),
        program in proptest::collection::vec((0..0x14_u8, proptest::collection::vec(any::<u8>(), 0..12)), 1..20),
    ) {
        let framed = |(command, body): &(u8, Vec<u8>)| {
            let mut frame = vec![u8::try_from(body.len() + 3).unwrap(), *command];
            frame.extend(body);
            frame.push(frame.iter().fold(0, |sum, byte| sum.wrapping_add(*byte)));
            frame
        };
        let mut bench = Bench::held();
        bench.write(Place::Ram { address: ICS_TABLE }, &table);
        let steps: Vec<u8> = program.iter().flat_map(framed).collect();
        bench.bus.memory.burn(ROM_MAIN_LOOP, &steps);
        for frame in &frames {
            for byte in framed(frame) {
                bench.now += 1e-4;
                bench.bus.receive(byte, bench.now, &mut bench.answers);
            }
            bench.wait(0.01);
            prop_assert_eq!(bench.answers.drain().len(), 1);
        }
        bench.wait(0.2);
        prop_assert!(bench.bus.servos().iter().all(|servo| servo.position.is_finite()));
    }
}
