use proptest::prelude::*;

use super::*;
use crate::codec::feetech::{Alarms, Register, SCS0009, STS3215, StatusDecoder, scs, sts};
use crate::emulator::{Fault, FreeMotion, move_servos};

mod bus_time;

/// A host of emulated time.
struct Host {
    bus: Feetech,
    answers: Answers,
    now: f64,
}

/// An answer, its data copied.
#[derive(Debug, PartialEq)]
struct Heard {
    id: u8,
    alarms: Alarms,
    data: Vec<u8>,
}

impl Host {
    fn new(servos: &[(&'static Model, u8)]) -> Self {
        let mut bus = Feetech::new();
        for (model, id) in servos {
            bus.add(model, *id);
        }
        let answers = Answers::new(bus.line());
        Self { bus, answers, now: 0.0 }
    }

    fn one() -> Self {
        Self::new(&[(&STS3215, 1)])
    }

    /// Sends bytes at once, and gives all that comes back by its earliest time.
    fn send(&mut self, bytes: &[u8]) -> Vec<(f64, Vec<u8>)> {
        for byte in bytes {
            self.bus.receive(*byte, self.now, &mut self.answers);
        }
        self.answers.drain()
    }

    fn ask_all(&mut self, request: &Request<'_>) -> Vec<Heard> {
        let mut bytes = Vec::new();
        request.encode(&mut bytes).unwrap();
        let mut decoder = StatusDecoder::default();
        let mut heard = Vec::new();
        for byte in self.send(&bytes).into_iter().flat_map(|(_, bytes)| bytes) {
            if let Some(Ok(status)) = decoder.push(byte) {
                heard.push(Heard {
                    id: status.id,
                    alarms: status.alarms,
                    data: status.data.to_vec(),
                });
            }
        }
        heard
    }

    fn ask(&mut self, request: &Request<'_>) -> Option<Heard> {
        let mut heard = self.ask_all(request);
        assert!(heard.len() <= 1, "{heard:?}");
        heard.pop()
    }

    fn model(&self, id: u8) -> &'static Model {
        let place = self.bus.servos().iter().position(|servo| servo.id == id).unwrap();
        self.bus.wire.devices[place].model()
    }

    fn write(&mut self, id: u8, register: &Register, value: i32) -> Option<Heard> {
        let data = self.model(id).bytes(register, value);
        let data = &data[..register.size.into()];
        self.ask(&Request::Write { id, address: register.address, data })
    }

    /// The same with open lock.
    fn write_kept(&mut self, id: u8, register: &Register, value: i32) {
        let lock = self.model(id).lock;
        self.write(id, &lock, 0);
        self.write(id, register, value);
        let id = if register.name == "id" { value.try_into().unwrap() } else { id };
        self.write(id, &lock, 1);
    }

    fn read(&mut self, id: u8, register: &Register) -> i32 {
        let model = self.model(id);
        let (address, size) = (register.address, register.size);
        let heard = self.ask(&Request::Read { id, address, size }).unwrap();
        model.get(register, address, &heard.data).unwrap()
    }

    /// Lets time pass, in steps of a millisecond. [s]
    fn pass(&mut self, seconds: f64) {
        let dt = 1e-3;
        let end = self.now + seconds;
        while self.now < end {
            self.now += dt;
            self.bus.advance(self.now, &mut self.answers);
            move_servos(self.bus.servos_mut(), &mut FreeMotion, dt);
        }
    }

    fn fault(&mut self, fault: &str, on: bool) {
        fault.parse::<Fault>().unwrap().apply(self.bus.servos_mut(), on);
    }

    /// Where servo 1 is. [steps]
    fn position(&mut self) -> i32 {
        self.read(1, &sts::PRESENT_POSITION)
    }
}

#[track_caller]
fn assert_near(got: i32, expected: i32, tolerance: i32) {
    assert!((got - expected).abs() <= tolerance, "{got}, expected {expected} within {tolerance}");
}

fn hex(text: &str) -> Vec<u8> {
    text.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect()
}

#[test]
fn frames_are_answered_as_printed() {
    let mut host = Host::one();
    for (request, answer) in [
        ("FF FF 01 02 01 FB", "FF FF 01 02 00 FC"),
        ("FF FF 01 04 02 03 02 F3", "FF FF 01 04 00 09 03 EE"),
        ("FF FF 01 04 02 38 02 BE", "FF FF 01 04 00 00 08 F2"),
        ("FF FF 01 05 03 2A 00 08 C4", "FF FF 01 02 00 FC"),
    ] {
        assert_eq!(host.send(&hex(request)), [(500e-6, hex(answer))]);
    }
}

#[test]
fn answers_keep_the_delay_that_is_set() {
    let mut host = Host::one();
    host.write_kept(1, &sts::ANSWER_DELAY, 0);
    host.pass(0.1);
    assert_eq!(host.send(&hex("FF FF 01 02 01 FB")), [(host.now, hex("FF FF 01 02 00 FC"))]);
}

#[test]
fn kept_registers_ignore_writes_while_locked() {
    let mut host = Host::one();
    let heard = host.write(1, &sts::P_GAIN, 40).unwrap();
    assert_eq!(heard.alarms, Alarms::NONE, "without a word");
    assert_eq!(host.read(1, &sts::P_GAIN), 32);
    host.write_kept(1, &sts::P_GAIN, 40);
    assert_eq!(host.read(1, &sts::P_GAIN), 40);
    host.write(1, &sts::LOCK, 0);
    host.write(1, &sts::MODEL_NUMBER, 1);
    assert_eq!(host.read(1, &sts::MODEL_NUMBER), 777, "the maker's");
}

#[test]
fn a_new_id_counts_after_the_answer() {
    let mut host = Host::one();
    host.write(1, &sts::LOCK, 0);
    assert_eq!(host.write(1, &sts::ID, 9).unwrap().id, 1);
    assert_eq!(host.ask(&Request::Ping { id: 1 }), None);
    assert_eq!(host.ask(&Request::Ping { id: 9 }).unwrap().id, 9);
    assert_eq!(host.bus.servos()[0].id, 9);
}

#[test]
fn level_0_answers_pings_and_reads_only() {
    let mut host = Host::one();
    host.write_kept(1, &sts::ANSWER_LEVEL, 0);
    assert_eq!(host.write(1, &sts::TORQUE_ENABLE, 1), None);
    assert_eq!(host.read(1, &sts::TORQUE_ENABLE), 1);
    assert!(host.ask(&Request::Ping { id: 1 }).is_some());
}

#[test]
fn a_goal_switches_torque_on_and_is_reached() {
    let mut host = Host::one();
    assert_eq!(host.read(1, &sts::TORQUE_ENABLE), 0);
    host.write(1, &sts::GOAL_POSITION, 3000);
    assert_eq!(host.read(1, &sts::TORQUE_ENABLE), 1);
    host.pass(0.05);
    assert_eq!(host.read(1, &sts::MOVING), 1);
    host.pass(1.0);
    assert_near(host.position(), 3000, 1);
    assert_eq!(host.read(1, &sts::MOVING), 0);
    let true_angle = host.bus.servos()[0].position;
    let expected = f64::from(3000 - 2048) * std::f64::consts::TAU / 4096.0;
    assert!((true_angle - expected).abs() < 2e-3, "{true_angle}, expected {expected}");
}

#[test]
fn torque_on_goes_to_the_goal_that_stands_there() {
    let mut host = Host::one();
    host.bus.servos_mut()[0].place(0.5);
    let here = host.position();
    assert_near(here, 2374, 1);
    host.write(1, &sts::TORQUE_ENABLE, 1);
    host.pass(0.5);
    assert_near(host.position(), here, 1);
    host.write(1, &sts::GOAL_POSITION, 2048);
    host.write(1, &sts::TORQUE_ENABLE, 0);
    host.bus.servos_mut()[0].place(1.0);
    host.write(1, &sts::TORQUE_ENABLE, 1);
    host.pass(1.0);
    assert_near(host.position(), 2048, 1);
}

#[test]
fn speed_and_acceleration_are_kept() {
    let mut host = Host::one();
    // Acceleration 10 is 1000 steps/s²; a move of 1000 steps at 500 steps/s takes 0.5 + 2.0 s.
    let data = hex("0A E8 0B 00 00 F4 01");
    host.write(1, &sts::TORQUE_ENABLE, 1);
    host.ask(&Request::Write { id: 1, address: sts::ACCELERATION.address, data: &data });
    let goal = host.read(1, &sts::GOAL_POSITION);
    assert_eq!(goal, 3048);
    host.pass(0.25);
    assert_near(host.read(1, &sts::PRESENT_SPEED), 250, 30);
    host.pass(0.75);
    assert_near(host.read(1, &sts::PRESENT_SPEED), 500, 10);
    // 125 while it speeds up, and 250 in the half second after.
    assert_near(host.position(), 2048 + 125 + 250, 15);
    host.pass(1.7);
    assert_near(host.position(), 3048, 1);
}

#[test]
fn limits_hold_goals_and_0_0_lets_them_turn() {
    let mut host = Host::one();
    host.write_kept(1, &sts::MIN_POSITION, 1000);
    host.write_kept(1, &sts::MAX_POSITION, 3000);
    host.write(1, &sts::GOAL_POSITION, 4000);
    host.pass(2.0);
    assert_near(host.position(), 3000, 1);
    host.write_kept(1, &sts::MIN_POSITION, 0);
    host.write_kept(1, &sts::MAX_POSITION, 0);
    host.write_kept(1, &sts::PHASE, 0b1_1100);
    host.write(1, &sts::GOAL_POSITION, -9000);
    host.pass(6.0);
    assert_near(host.position(), -9000, 1);
    host.write_kept(1, &sts::PHASE, 0b0_1100);
    assert_near(host.position(), (-9000_i32).rem_euclid(4096), 1);
}

#[test]
fn the_offset_is_taken_off_the_reading() {
    let mut host = Host::one();
    let step = STS3215.step();
    host.bus.servos_mut()[0].place(f64::from(628 - 2048) * step);
    assert_eq!(host.position(), 628);
    host.write_kept(1, &sts::OFFSET, 904);
    assert_eq!(host.position(), 3820, "(628 - 904) mod 4096");
    host.write_kept(1, &sts::OFFSET, -904);
    assert_eq!(host.position(), 628 + 904);
}

#[test]
fn value_128_makes_this_place_the_middle() {
    let mut host = Host::one();
    for reading in [100, 628, 2048, 3000, 4000] {
        host.bus.servos_mut()[0].place(f64::from(reading - 2048) * STS3215.step());
        host.write(1, &sts::TORQUE_ENABLE, 0x80);
        assert_eq!(host.position(), 2048, "from {reading}");
        assert_eq!(host.read(1, &sts::GOAL_POSITION), 2048);
        let before = host.bus.servos()[0].position;
        host.write(1, &sts::TORQUE_ENABLE, 1);
        host.pass(0.2);
        let moved = (host.bus.servos()[0].position - before).abs();
        assert!(moved < STS3215.step(), "moved by {moved}");
        host.write(1, &sts::TORQUE_ENABLE, 0);
    }
}

#[test]
fn a_wheel_turns_at_its_speed() {
    let mut host = Host::one();
    host.write_kept(1, &sts::MODE, 1);
    host.write(1, &sts::TORQUE_ENABLE, 1);
    host.write(1, &sts::GOAL_SPEED, -1000);
    host.pass(1.0);
    let before = host.bus.servos()[0].position;
    host.pass(10.0);
    assert_near(host.read(1, &sts::PRESENT_SPEED), -1000, 5);
    let turned = (host.bus.servos()[0].position - before) / STS3215.step();
    assert!((turned + 10_000.0).abs() < 50.0, "{turned}");
    assert!((0..4096).contains(&host.position()));
    host.write(1, &sts::GOAL_SPEED, 0);
    host.pass(0.5);
    assert_eq!(host.read(1, &sts::PRESENT_SPEED), 0);
}

#[test]
fn pwm_mode_takes_its_duty_from_the_goal_time() {
    let mut host = Host::one();
    host.write_kept(1, &sts::MODE, 2);
    host.write(1, &sts::TORQUE_ENABLE, 1);
    host.write(1, &sts::GOAL_TIME, -500);
    host.pass(1.0);
    let half = STS3215.counts(&sts::PRESENT_SPEED, -0.5 * 4.82);
    assert_near(host.read(1, &sts::PRESENT_SPEED), half, 30);
}

#[test]
fn step_mode_counts_from_the_last_goal() {
    let mut host = Host::one();
    host.write_kept(1, &sts::MODE, 3);
    host.write(1, &sts::GOAL_POSITION, 300);
    host.pass(0.5);
    host.write(1, &sts::GOAL_POSITION, 300);
    host.pass(0.5);
    assert_near(host.position(), 2648, 1);
    host.write(1, &sts::GOAL_POSITION, -1000);
    host.pass(1.0);
    assert_near(host.position(), 1648, 1);
}

#[test]
fn an_overload_answers_every_request_and_leaves_protective_torque() {
    let mut host = Host::one();
    host.fault("blocked", true);
    host.write(1, &sts::GOAL_POSITION, 3000);
    host.pass(1.9);
    assert_eq!(host.read(1, &sts::STATUS), 0);
    assert_near(host.read(1, &sts::PRESENT_LOAD), 1000, 10);
    assert!(host.read(1, &sts::PRESENT_CURRENT) > 300);
    host.pass(0.3);
    assert_eq!(host.read(1, &sts::STATUS), 0x20);
    assert_near(host.read(1, &sts::PRESENT_LOAD), 200, 10);
    let heard = host.write(1, &sts::TORQUE_ENABLE, 0).unwrap();
    assert_eq!(heard.alarms, Alarms::OVERLOAD, "switching off says so too");
    assert_eq!(host.read(1, &sts::TORQUE_ENABLE), 0);
    host.fault("blocked", false);
    assert_eq!(host.write(1, &sts::TORQUE_ENABLE, 1).unwrap().alarms, Alarms::NONE);
    host.pass(1.0);
    assert_near(host.position(), 3000, 1);
}

#[test]
fn an_overload_ends_with_a_goal_to_the_other_side() {
    let mut host = Host::one();
    host.fault("blocked", true);
    host.write(1, &sts::GOAL_POSITION, 3000);
    host.pass(2.5);
    assert_eq!(host.write(1, &sts::GOAL_POSITION, 3500).unwrap().alarms, Alarms::OVERLOAD);
    assert_eq!(host.write(1, &sts::GOAL_POSITION, 1000).unwrap().alarms, Alarms::NONE);
}

#[test]
fn a_stall_at_low_torque_never_trips() {
    let mut host = Host::one();
    host.write(1, &sts::TORQUE_LIMIT, 500);
    host.fault("blocked", true);
    host.write(1, &sts::GOAL_POSITION, 3000);
    host.pass(10.0);
    assert_eq!(host.read(1, &sts::STATUS), 0);
    assert_near(host.read(1, &sts::PRESENT_LOAD), 500, 10);
}

#[test]
fn too_much_current_lets_go_after_its_time() {
    let mut host = Host::one();
    host.write_kept(1, &sts::PROTECTION_CURRENT, 200);
    host.write_kept(1, &sts::OVERCURRENT_TIME, 50);
    host.fault("blocked", true);
    host.write(1, &sts::GOAL_POSITION, 3000);
    host.pass(0.4);
    assert_eq!(host.read(1, &sts::STATUS), 0);
    host.pass(0.2);
    assert_eq!(host.read(1, &sts::STATUS), 0x08);
    assert_eq!(host.read(1, &sts::TORQUE_ENABLE), 0);
    assert_eq!(host.read(1, &sts::PRESENT_CURRENT), 0);
    assert_eq!(host.write(1, &sts::TORQUE_ENABLE, 1).unwrap().alarms, Alarms::NONE);
}

#[test]
fn heat_lets_go_and_voltage_does_not() {
    let mut host = Host::one();
    host.write(1, &sts::GOAL_POSITION, 2048);
    host.fault("voltage-v=3.5", true);
    host.pass(0.1);
    assert_eq!(host.read(1, &sts::STATUS), 0x01);
    assert_eq!(host.read(1, &sts::PRESENT_VOLTAGE), 35);
    assert_eq!(host.read(1, &sts::TORQUE_ENABLE), 1);
    host.fault("voltage-v=3.5", false);
    host.fault("hot", true);
    host.pass(0.1);
    assert_eq!(host.read(1, &sts::STATUS), 0x04);
    assert!(host.read(1, &sts::PRESENT_TEMPERATURE) > 70);
    assert_eq!(host.read(1, &sts::TORQUE_ENABLE), 0);
}

#[test]
fn faults_of_a_servo_show() {
    let mut host = Host::new(&[(&STS3215, 1), (&STS3215, 2)]);
    host.write(1, &sts::GOAL_POSITION, 2048);
    host.fault("torque-lost=1", true);
    host.fault("servo-gone=2", true);
    host.pass(0.01);
    assert_eq!(host.read(1, &sts::TORQUE_ENABLE), 0);
    assert_eq!(host.ask(&Request::Ping { id: 2 }), None);
    host.fault("servo-gone=2", false);
    host.fault("sensor=2", true);
    assert_eq!(host.ask(&Request::Ping { id: 2 }).unwrap().alarms, Alarms::SENSOR);
}

#[test]
fn a_delayed_write_waits_for_its_action() {
    let mut host = Host::one();
    let data = STS3215.bytes(&sts::GOAL_POSITION, 3000);
    let address = sts::GOAL_POSITION.address;
    assert!(host.ask(&Request::RegWrite { id: 1, address, data: &data }).is_some());
    assert_eq!(host.read(1, &sts::REG_WRITE_PENDING), 1);
    assert_eq!(host.read(1, &sts::TORQUE_ENABLE), 0);
    assert_eq!(host.ask(&Request::Action { id: BROADCAST }), None);
    assert_eq!(host.read(1, &sts::GOAL_POSITION), 3000);
    assert_eq!(host.read(1, &sts::REG_WRITE_PENDING), 0);
    assert_eq!(host.read(1, &sts::TORQUE_ENABLE), 1);
}

#[test]
fn sync_requests_reach_those_they_name_in_their_order() {
    let mut host = Host::new(&[(&STS3215, 1), (&STS3215, 2), (&STS3215, 3)]);
    let entries = hex("03 B8 0B 01 E8 03");
    let write = Request::SyncWrite { address: 42, size: 2, entries: &entries };
    assert_eq!(host.ask_all(&write), []);
    let read = Request::SyncRead { address: 42, size: 2, ids: &[3, 2, 1] };
    let heard = host.ask_all(&read);
    let goals: Vec<_> = heard.iter().map(|heard| (heard.id, heard.data.clone())).collect();
    assert_eq!(goals, [(3, hex("B8 0B")), (2, hex("00 08")), (1, hex("E8 03"))]);
    // 500 µs delay, then 8 bytes of 10 µs.
    let times: Vec<f64> =
        host.send(&hex("FF FF FE 07 82 38 02 01 02 03 38")).iter().map(|answer| answer.0).collect();
    for (time, expected) in times.iter().zip([500e-6, 1080e-6, 1660e-6]) {
        assert!((time - expected).abs() < 1e-9, "{time}, expected {expected}");
    }
    host.fault("servo-gone=2", true);
    let ids: Vec<u8> = host.ask_all(&read).iter().map(|heard| heard.id).collect();
    assert_eq!(ids, [3, 1]);
}

#[test]
fn two_of_one_id_cannot_be_read() {
    let mut host = Host::new(&[(&STS3215, 1), (&STS3215, 1), (&STS3215, 2)]);
    let answers = host.send(&hex("FF FF 01 02 01 FB"));
    assert_eq!(answers.len(), 1);
    assert_eq!(host.ask(&Request::Ping { id: 1 }), None);
    assert_eq!(host.ask(&Request::Read { id: 1, address: 56, size: 15 }), None);
    assert_eq!(host.ask(&Request::Ping { id: BROADCAST }), None);
    assert!(host.ask(&Request::Ping { id: 2 }).is_some());
    let mut alone = Host::one();
    assert_eq!(alone.ask(&Request::Ping { id: BROADCAST }).unwrap().id, 1);
}

#[test]
fn a_request_to_all_is_obeyed_and_not_answered() {
    let mut host = Host::new(&[(&STS3215, 1), (&SCS0009, 2)]);
    assert!(host.send(&hex("FF FF FE 04 03 28 01 D1")).is_empty());
    assert!(host.bus.servos().iter().all(|servo| servo.torque_on));
    assert!(host.send(&hex("FF FF FE 04 03 28 00 D2")).is_empty());
    assert!(host.bus.servos().iter().all(|servo| !servo.torque_on));
    assert_eq!(host.ask(&Request::Read { id: BROADCAST, address: 3, size: 2 }), None);
}

#[test]
fn a_servo_is_deaf_to_other_baud_rates() {
    let mut host = Host::new(&[(&STS3215, 1), (&STS3215, 2)]);
    host.write(1, &sts::LOCK, 0);
    assert!(host.write(1, &sts::BAUD_RATE, 4).is_some());
    assert_eq!(host.bus.line(), Line::eight_n_one(1_000_000));
    assert_eq!(host.ask(&Request::Ping { id: 1 }), None);
    host.bus.attune(115_200);
    assert!(host.ask(&Request::Ping { id: 1 }).is_some());
    assert_eq!(host.ask(&Request::Ping { id: 2 }), None);
    host.bus.attune(57_600);
    assert_eq!(host.bus.line(), Line::eight_n_one(115_200), "nobody listens with that");
    host.bus.attune(1_000_000);
    host.write(2, &sts::LOCK, 0);
    assert!(host.write(2, &sts::BAUD_RATE, 4).is_some());
    assert_eq!(host.bus.line(), Line::eight_n_one(115_200));
    assert!(host.ask(&Request::Ping { id: 1 }).is_some());
}

#[test]
fn factory_reset_brings_back_id_and_rate() {
    let mut host = Host::new(&[(&STS3215, 7)]);
    host.write_kept(7, &sts::P_GAIN, 50);
    host.write_kept(7, &sts::BAUD_RATE, 1);
    assert_eq!(host.ask(&Request::FactoryReset { id: 7 }).unwrap().id, 7);
    assert_eq!(host.bus.line(), Line::eight_n_one(1_000_000));
    assert_eq!(host.read(1, &sts::P_GAIN), 32);
}

#[test]
fn an_scs_has_its_own_order_lock_and_time() {
    let mut host = Host::new(&[(&SCS0009, 1), (&STS3215, 2)]);
    assert_eq!(host.send(&hex("FF FF 01 04 02 03 02 F3"))[0].1[5..7], [0x05, 0x04]);
    host.send(&hex("FF FF 01 05 03 2A 02 00 CA"));
    assert_eq!(host.read(1, &scs::GOAL_POSITION), 512);
    host.write_kept(1, &scs::P_GAIN, 9);
    assert_eq!(host.read(1, &scs::P_GAIN), 9);
    let heard = host.ask_all(&Request::SyncRead { address: 56, size: 2, ids: &[1, 2] });
    assert_eq!(heard.iter().map(|heard| heard.id).collect::<Vec<_>>(), [2], "no sync read");
    // 200 steps in 2 s.
    let data = hex("02 C8 07 D0 00 00");
    host.ask(&Request::Write { id: 1, address: scs::GOAL_POSITION.address, data: &data });
    host.pass(1.0);
    assert_near(host.read(1, &scs::PRESENT_POSITION), 612, 3);
    host.pass(1.2);
    assert_near(host.read(1, &scs::PRESENT_POSITION), 712, 1);
    host.write(1, &scs::TORQUE_ENABLE, 0x80);
    assert_eq!(host.read(1, &scs::PRESENT_POSITION), 712, "an SCS has no offset");
}

#[test]
fn a_frame_that_broke_off_is_forgotten() {
    let mut host = Host::one();
    assert!(host.send(&hex("FF FF 01 0A 03")).is_empty());
    host.pass(0.1);
    assert_eq!(host.send(&hex("FF FF 01 02 01 FB")).len(), 1);
}

#[test]
fn reads_beyond_the_registers_are_short() {
    let mut host = Host::one();
    let heard = host.ask(&Request::Read { id: 1, address: 0, size: 255 }).unwrap();
    assert_eq!(heard.data.len(), 128);
    let heard = host.ask(&Request::Read { id: 1, address: 250, size: 4 }).unwrap();
    assert!(heard.data.is_empty());
    host.ask(&Request::Write { id: 1, address: 250, data: &[1; 40] });
}

/// A frame with a fitting checksum, whatever it says.
fn any_frame() -> impl Strategy<Value = Vec<u8>> {
    let instruction = prop::sample::select(vec![1_u8, 2, 3, 4, 5, 6, 0x82, 0x83, 0x77]);
    let id = prop_oneof![0_u8..4, Just(BROADCAST)];
    let parameters = prop::collection::vec(prop_oneof![0_u8..80, any::<u8>()], 0..40);
    (id, instruction, parameters).prop_map(|(id, instruction, parameters)| {
        let counted = u8::try_from(parameters.len() + 2).unwrap();
        let mut frame = vec![0xFF, 0xFF, id, counted, instruction];
        frame.extend(parameters);
        frame.push(!frame[2..].iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte)));
        frame
    })
}

proptest! {
    #[test]
    fn any_requests_are_survived(frames in prop::collection::vec(any_frame(), 1..60)) {
        let mut host = Host::new(&[(&STS3215, 1), (&STS3215, 2), (&SCS0009, 3)]);
        for frame in frames {
            for (_, answer) in host.send(&frame) {
                prop_assert!(answer.len() <= 259);
            }
            host.pass(0.02);
        }
        for servo in host.bus.servos() {
            prop_assert!(servo.position.is_finite() && servo.temperature.is_finite(), "{:?}", servo);
        }
    }
}
