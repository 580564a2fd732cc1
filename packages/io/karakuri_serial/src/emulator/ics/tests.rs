use proptest::prelude::*;

use super::super::{Emulation, FreeMotion, move_servos};
use super::*;
use crate::codec::ics::{AnswerDecoder, CENTRE};

const BAUD: u32 = 1_250_000;

/// Servos, and the time that has passed.
struct Bench {
    bus: Ics,
    now: f64,
    answers: Answers,
}

impl Bench {
    fn new(ids: &[u8]) -> Self {
        let bus = Ics::new(ids, BAUD);
        Self { answers: Answers::new(bus.line()), bus, now: 0.0 }
    }

    /// The answer, and how long after the last byte of the request it begins. [s]
    fn exchange(&mut self, request: &Request) -> Option<(f64, Answer)> {
        let mut bytes = Vec::new();
        request.encode(&mut bytes);
        for byte in bytes {
            self.now += self.bus.line().byte_time();
            self.bus.receive(byte, self.now, &mut self.answers);
        }
        let (time, bytes) = self.answers.drain().pop()?;
        let mut decoder = AnswerDecoder::default();
        decoder.expect(request);
        let answer = bytes.iter().find_map(|byte| decoder.push(*byte));
        Some((time - self.now, answer?.unwrap()))
    }

    fn ask(&mut self, request: &Request) -> Answer {
        self.exchange(request).expect("an answer").1
    }

    fn wait(&mut self, time: f64) {
        let until = self.now + time;
        while self.now < until {
            self.now += 1e-3;
            self.bus.advance(self.now, &mut self.answers);
            move_servos(self.bus.servos_mut(), &mut FreeMotion, 1e-3);
        }
    }

    fn counts(&mut self, id: u8) -> u16 {
        match self.ask(&Request::Position { id }) {
            Answer::Position(counts) => counts,
            other => panic!("{other:?}"),
        }
    }
}

fn near(measured: u16, expected: u16) {
    assert!(measured.abs_diff(expected) <= 1, "{measured} is not {expected}");
}

#[test]
fn a_servo_goes_where_it_is_sent_and_says_where_it_was() {
    let mut bench = Bench::new(&[0, 5]);
    assert_eq!(bench.ask(&Request::Move { id: 5, position: 8000 }), Answer::Moved(CENTRE));
    bench.wait(0.5);
    near(bench.counts(5), 8000);
    near(bench.counts(0), CENTRE);
    // 0 is limp, and reads the angle of a shaft that is turned by hand.
    bench.ask(&Request::Move { id: 5, position: 0 });
    bench.bus.servos_mut()[1].place(position_from_counts(7000));
    assert_eq!(bench.ask(&Request::Move { id: 5, position: 0 }), Answer::Moved(7000));
    assert!(!bench.bus.servos()[1].torque_on);
}

#[test]
fn speed_is_a_share_of_the_fastest() {
    let mut times = Vec::new();
    for value in [127, 32] {
        let mut bench = Bench::new(&[1]);
        let parameter = Parameter::Speed;
        let answer = bench.ask(&Request::Write { id: 1, parameter, value });
        assert_eq!(answer, Answer::Written(parameter, value));
        assert_eq!(bench.ask(&Request::Read { id: 1, parameter }), Answer::Read(parameter, value));
        bench.ask(&Request::Move { id: 1, position: 11500 });
        let start = bench.now;
        while bench.counts(1) < 11490 && bench.now < start + 5.0 {
            bench.wait(0.01);
        }
        times.push(bench.now - start);
    }
    // 2.356 rad at 7.48 rad/s.
    assert!((times[0] - 0.315).abs() < 0.06, "{times:?}");
    assert!((times[1] / times[0] - 127.0 / 32.0).abs() < 0.6, "{times:?}");
}

#[test]
fn an_eeprom_takes_its_time_to_write_and_the_servo_is_deaf_meanwhile() {
    let mut bench = Bench::new(&[3]);
    let Answer::Eeprom(mut eeprom) = bench.ask(&Request::ReadEeprom { id: 3 }) else { panic!() };
    eeprom.set(Eeprom::MAX_POSITION, 8000);
    let (time, answer) = bench.exchange(&Request::WriteEeprom { id: 3, eeprom }).unwrap();
    assert_eq!(answer, Answer::EepromWritten);
    assert!((time - EEPROM_TIME).abs() < 1e-9, "{time}");
    assert_eq!(bench.exchange(&Request::GetId), None);
    bench.wait(EEPROM_TIME);
    assert_eq!(bench.ask(&Request::ReadEeprom { id: 3 }), Answer::Eeprom(eeprom));
    bench.ask(&Request::Move { id: 3, position: 9000 });
    bench.wait(1.0);
    near(bench.counts(3), 8000);
}

#[test]
fn flags_turn_the_sense_and_the_kind_of_motion() {
    let mut bench = Bench::new(&[3]);
    let mut eeprom = Eeprom::new(3, BAUD);
    eeprom.set(Eeprom::FLAGS, Flags::SERIAL | Flags::REVERSE);
    bench.ask(&Request::WriteEeprom { id: 3, eeprom });
    bench.wait(EEPROM_TIME);
    bench.ask(&Request::Move { id: 3, position: 8000 });
    bench.wait(0.5);
    near(bench.counts(3), 8000);
    assert!(bench.bus.servos()[0].position < -0.25);

    eeprom.set(Eeprom::FLAGS, Flags::SERIAL | Flags::ROTATION);
    bench.ask(&Request::WriteEeprom { id: 3, eeprom });
    bench.wait(EEPROM_TIME);
    bench.ask(&Request::Move { id: 3, position: 7700 });
    bench.wait(0.2);
    assert!((bench.bus.servos()[0].velocity - 0.05 * 7.48).abs() < 0.02);

    eeprom.set(Eeprom::FLAGS, Flags::SLAVE);
    assert_eq!(bench.exchange(&Request::WriteEeprom { id: 3, eeprom }), None);
}

#[test]
fn an_id_is_given_and_a_baud_rate_changed() {
    let mut bench = Bench::new(&[3]);
    assert_eq!(bench.ask(&Request::SetId { id: 9 }), Answer::Id);
    assert_eq!(bench.bus.servos()[0].id, 9);
    let Answer::Eeprom(mut eeprom) = bench.ask(&Request::ReadEeprom { id: 9 }) else { panic!() };
    assert_eq!(eeprom.get(Eeprom::ID), 9);
    eeprom.set(Eeprom::BAUD, 10);
    bench.ask(&Request::WriteEeprom { id: 9, eeprom });
    assert_eq!(bench.bus.line(), Line::eight_e_one(115_200));
}

#[test]
fn servos_hear_the_host_at_their_own_baud_rate() {
    let mut bench = Bench::new(&[1, 2]);
    bench.ask(&Request::WriteEeprom { id: 2, eeprom: Eeprom::new(2, 115_200) });
    bench.wait(EEPROM_TIME);
    for (baud, heard) in [(BAUD, 1), (115_200, 2)] {
        bench.bus.attune(baud);
        assert_eq!(bench.bus.line().baud, baud);
        for id in [1, 2] {
            let answer = bench.exchange(&Request::Position { id });
            assert_eq!(answer.is_some(), id == heard, "servo {id} at {baud}");
        }
    }
}

#[test]
fn heat_makes_a_servo_limp() {
    let mut bench = Bench::new(&[3]);
    bench.ask(&Request::Move { id: 3, position: 8000 });
    bench.bus.servos_mut()[0].set(Trouble::Hot, true);
    bench.wait(0.1);
    assert!(!bench.bus.servos()[0].torque_on);
    let parameter = Parameter::Temperature;
    let Answer::Read(_, byte) = bench.ask(&Request::Read { id: 3, parameter }) else { panic!() };
    assert!(temperature_from_byte(byte) > 80.0, "{byte}");
}

#[test]
fn the_host_hears_itself_first() {
    let mut wire = Emulation::new(Box::new(Ics::new(&[5], BAUD)), Box::new(FreeMotion));
    let mut heard = Vec::new();
    wire.advance(0.0, &mut heard);
    wire.hear(&[0xff, 0, 0, 0], BAUD, 0.0);
    wire.advance(0.01, &mut heard);
    assert_eq!(heard, [0xff, 0, 0, 0, 0x65]);
    heard.clear();
    wire.hear(&[0xa5, 0x05], BAUD, 0.02);
    wire.advance(0.03, &mut heard);
    assert_eq!(heard, [0xa5, 0x05, 0x25, 0x05, 0x3a, 0x4c]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever a host sends, EEPROMs that mean nothing included, the wire goes on.
    #[test]
    fn any_bytes_are_survived(
        bytes in proptest::collection::vec(any::<u8>(), 0..400),
        nibbles in proptest::collection::vec(0..16_u8, 64),
    ) {
        let mut bench = Bench::new(&[0, 1, 2]);
        let eeprom = Eeprom::from_bytes(&nibbles).unwrap();
        bench.exchange(&Request::WriteEeprom { id: 1, eeprom });
        for chunk in bytes.chunks(20) {
            for byte in chunk {
                bench.now += 1e-5;
                bench.bus.receive(*byte, bench.now, &mut bench.answers);
            }
            bench.wait(0.02);
        }
        bench.wait(0.5);
        prop_assert!(bench.bus.servos().iter().all(|servo| servo.position.is_finite()));
    }
}
