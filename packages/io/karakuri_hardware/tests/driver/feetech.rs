//! Feetech servos.

use karakuri_hardware::conformance::{Trial, check};
use karakuri_hardware::{HealthLevel, RobotIo};
use karakuri_serial::codec::feetech::{SCS0009, STS3215};
use karakuri_serial::emulator::feetech::Feetech;
use karakuri_testkit::heap_requests;

use crate::emulated::*;

const COUNT: f64 = std::f64::consts::TAU / 4096.0;
const KEYS: &str = "bus: feetech\nramp_speed: 2.0";

fn sts_servos(n: u8) -> Feetech {
    let mut bus = Feetech::new();
    (1..=n).for_each(|id| bus.add(&STS3215, id));
    bus
}

fn bus(n: u8) -> Emulated {
    Emulated::in_process(sts_servos(n))
}

fn arm(n: u8) -> (Emulated, Box<dyn RobotIo>) {
    open(bus(n), n)
}

fn arm_on_terminal(n: u8) -> (Emulated, Box<dyn RobotIo>) {
    open(Emulated::on_terminal(sts_servos(n)), n)
}

fn open(bus: Emulated, n: u8) -> (Emulated, Box<dyn RobotIo>) {
    let io = bus.open(KEYS, &servos(n, ""));
    (bus, io)
}

fn trial(joint: &str, count: f64) -> Trial {
    Trial { joint: joint.into(), stroke: 0.3, tolerance: 1.5 * count, settle: 1.5 }
}

#[test]
fn sts_servos_conform() {
    let bus = Emulated::on_terminal(sts_servos(6));
    let mut servos = servos(6, "");
    servos[2].1.push_str(", zero: 2100, reversed: true, trim: -7, torque_per_amp: 1.1");
    let mut io = bus.open(KEYS, &servos);
    check(io.as_mut(), &trial("j3", COUNT)).unwrap();
}

#[test]
fn scs_servos_conform() {
    let mut bus = Feetech::new();
    (1..=3).for_each(|id| bus.add(&SCS0009, id));
    let bus = Emulated::in_process(bus);
    let keys = "bus: feetech\nmodel: scs0009\nperiod: 0.020\nramp_speed: 2.0";
    let mut io = bus.open(keys, &servos(3, ""));
    check(io.as_mut(), &trial("j2", 300_f64.to_radians() / 1024.0)).unwrap();
}

#[test]
fn it_starts_where_the_servos_are_and_approaches() {
    let bus = bus(2);
    bus.ask("{\"turn\": {\"id\": 1, \"position_rad\": 0.8}}");
    bus.ask("{\"turn\": {\"id\": 2, \"position_rad\": -0.5}}");
    let mut io = bus.open("bus: feetech\nramp_speed: 0.5", &servos(2, ""));
    assert_eq!(bus.torque(), [true, true]);
    run_for(io.as_mut(), 0.3);
    for (position, expected) in bus.each("position_rad").iter().zip([0.8, -0.5]) {
        assert!((position - expected).abs() < 2.0 * COUNT, "{position}, not {expected}");
    }
    command(io.as_mut(), 0.0);
    run_for(io.as_mut(), 0.5);
    let goals = bus.each("goal_rad");
    assert!((goals[0] - 0.55).abs() < 0.04, "0.5 rad/s for 0.5 s: {goals:?}");
    drop(io);
    bus.until_torque(&[false, false]);
}

#[test]
fn a_servo_presses_with_its_torque_limit_at_most_and_says_so_as_effort() {
    let bus = bus(2);
    let mut servos = servos(2, "");
    servos[0].1.push_str(", torque_limit: 0.25, torque_per_amp: 1.09");
    let mut io = bus.open(KEYS, &servos);
    let mut state = karakuri_hardware::RobotState::new(&io.robots()[0]);
    io.read(0, &mut state);
    assert!(state.effort[1].is_nan(), "without torque_per_amp an effort is unknown");
    bus.ask("{\"stops\": {\"id\": 1, \"least_rad\": -0.1, \"greatest_rad\": 0.1}}");
    command(io.as_mut(), 1.0);
    run_for(io.as_mut(), 1.5);
    let exerted = bus.each("effort_nm")[0];
    assert!((exerted - 0.25 * 2.94).abs() < 1e-9, "{exerted} N·m");
    io.read(0, &mut state);
    // Currents are read in steps of 6.5 mA, and electronics take 2 % of that of a stalled servo.
    assert!(
        (state.effort[0] - exerted).abs() < 0.08,
        "{} N·m, exerted are {exerted}",
        state.effort[0]
    );
}

#[test]
fn commands_and_readings_allocate_nothing() {
    let (_bus, mut io) = arm(6);
    run_for(io.as_mut(), 0.2);
    let mut state = karakuri_hardware::RobotState::new(&io.robots()[0]);
    let mut command = karakuri_hardware::JointCommand::new(&io.robots()[0]);
    command.position.fill(0.1);
    let before = heap_requests();
    io.write(0, &command).unwrap();
    io.read(0, &mut state);
    assert_eq!(heap_requests() - before, 0);
}

#[test]
fn servos_that_do_not_answer_are_named_at_the_start() {
    let bus = bus(3);
    bus.fault("servo-gone=2");
    let Err(error) = bus.try_open(KEYS, &servos(3, "")) else { panic!("it opens") };
    assert_eq!(
        error.to_string(),
        "servo 2 (joint `j2`) does not answer; check cable, supply and id, or write `missing: ignore`"
    );
    let mut io = bus.open("bus: feetech\nmissing: ignore", &servos(3, ""));
    run_for(io.as_mut(), 0.1);
    assert_eq!(io.fault(0), None);
    assert_eq!(bus.torque(), [true, false, true]);
    drop(io);
    bus.fault("servo-gone");
    let Err(error) = bus.try_open(KEYS, &servos(3, "")) else { panic!("it opens") };
    assert!(error.to_string().starts_with("no feetech servo answers on "), "{error}");
    bus.clear("servo-gone");
    bus.fault("wrong-baud");
    let Err(error) = bus.try_open(KEYS, &servos(3, "")) else { panic!("it opens") };
    assert!(error.to_string().contains("at 1000000 baud; check power"), "{error}");
}

#[test]
fn a_servo_that_is_lost_stops_the_rest_until_somebody_resumes() {
    let (bus, mut io) = arm(3);
    command(io.as_mut(), 0.4);
    run_for(io.as_mut(), 0.1);
    bus.fault("servo-gone=2");
    let what = fault(io.as_mut());
    assert_eq!(
        what,
        "servo 2 of joint `j2`: it does not answer any more; check its cable and its supply; \
         the robot holds until it is resumed (`~/resume`)"
    );
    let held = bus.each("position_rad");
    command(io.as_mut(), -1.0);
    run_for(io.as_mut(), 0.3);
    for (held, now) in held.iter().zip(bus.each("position_rad")) {
        assert!((held - now).abs() < 0.05, "{held} to {now}");
    }
    assert!(io.resume(0).is_err(), "it is still away");
    bus.clear("servo-gone");
    until(io.as_mut(), "it is found again", is_all_there);
    io.resume(0).unwrap();
    command(io.as_mut(), 0.0);
    run_for(io.as_mut(), 1.0);
    assert!(
        positions(io.as_ref()).iter().all(|p| p.abs() < 2.0 * COUNT),
        "{:?}",
        positions(io.as_ref())
    );
}

#[test]
fn a_robot_is_let_go_moved_by_hand_and_resumed_where_it_is() {
    let (bus, mut io) = arm(3);
    command(io.as_mut(), 0.2);
    run_for(io.as_mut(), 1.0);
    io.release(0).unwrap();
    run_for(io.as_mut(), 0.1);
    assert_eq!(bus.torque(), [false; 3]);
    assert_eq!(
        fault(io.as_mut()),
        "its servos were let go; the robot is limp until it is resumed (`~/resume`)"
    );
    let (turned, before) = (1.2, positions(io.as_ref()));
    let truth = bus.each("position_rad")[0];
    bus.ask(&format!("{{\"turn\": {{\"id\": 1, \"position_rad\": {}}}}}", truth + turned));
    command(io.as_mut(), -1.0);
    run_for(io.as_mut(), 0.3);
    let by_hand = positions(io.as_ref());
    assert!((by_hand[0] - before[0]).abs() > turned - 0.05, "{before:?} to {by_hand:?}");
    io.resume(0).unwrap();
    run_for(io.as_mut(), 0.3);
    assert_eq!(bus.torque(), [true; 3]);
    for (held, now) in by_hand.iter().zip(positions(io.as_ref())) {
        assert!((held - now).abs() < 2.0 * COUNT, "{held} to {now}: it holds where it was put");
    }
    command(io.as_mut(), 0.0);
    run_for(io.as_mut(), 2.0);
    assert!(positions(io.as_ref()).iter().all(|p| p.abs() < 2.0 * COUNT));
}

#[test]
fn single_frames_may_be_lost_late_or_wrong() {
    let (bus, mut io) = arm(3);
    for fault in ["drop=0.1", "bad-checksum=0.1", "noise=0.2", "delay-ms=2"] {
        bus.fault(fault);
        command(io.as_mut(), 0.2);
        run_for(io.as_mut(), 0.4);
        assert_eq!(io.fault(0), None, "{fault}");
        bus.clear("all");
    }
    let error = positions(io.as_ref()).iter().map(|p| (p - 0.2).abs()).fold(0.0, f64::max);
    assert!(error < 2.0 * COUNT, "{error}");
}

#[test]
fn an_adapter_that_echoes_is_noticed() {
    let bus = bus(2);
    bus.fault("echo");
    let mut io = bus.open(KEYS, &servos(2, ""));
    check(io.as_mut(), &trial("j2", COUNT)).unwrap();
}

#[test]
fn alarms_stop_or_let_go() {
    let (bus, mut io) = arm(2);
    for (name, expected, torque) in [
        (
            "overload=1",
            "servo 1 of joint `j1`: it is overloaded; free it; the robot holds",
            [true, true],
        ),
        (
            "hot=2",
            "servo 2 of joint `j2`: it is too hot; let it cool down; the robot",
            [true, false],
        ),
        (
            "sensor=1",
            "servo 1 of joint `j1`: its angle sensor fails; replace it; the",
            [false, true],
        ),
        (
            "torque-lost=2",
            "servo 2 of joint `j2`: it has switched its torque off by itself;",
            [true, false],
        ),
    ] {
        bus.fault(name);
        let what = fault(io.as_mut());
        assert!(what.starts_with(expected), "{name}: {what}");
        run_for(io.as_mut(), 0.1);
        assert_eq!(bus.torque(), torque, "{name}");
        bus.clear("all");
        run_for(io.as_mut(), 0.1);
        io.resume(0).unwrap_or_else(|error| panic!("{name}: {error}"));
        run_for(io.as_mut(), 0.1);
        assert_eq!((io.fault(0), bus.torque()), (None, vec![true, true]), "{name}");
    }
    bus.fault("voltage-v=3.5");
    run_for(io.as_mut(), 0.1);
    assert_eq!(
        complaint(io.as_ref(), HealthLevel::Error),
        "j1: supply of 3.5 V; charge or check it"
    );
}

#[test]
fn a_blocked_joint_is_reported() {
    let (bus, mut io) = arm(1);
    bus.fault("blocked=1");
    command(io.as_mut(), 0.5);
    run_for(io.as_mut(), 1.6);
    let complaint = complaint(io.as_ref(), HealthLevel::Warn);
    assert!(complaint.starts_with("j1: stays 0.50 off its goal;"), "{complaint}");
}

#[test]
fn a_pulled_cable_ends_in_a_hold_and_a_whole_start() {
    let (bus, mut io) = arm_on_terminal(3);
    command(io.as_mut(), 0.6);
    run_for(io.as_mut(), 0.1);
    bus.fault("closed-mid-frame=0.5");
    let what = fault(io.as_mut());
    assert!(what.contains("is gone") && what.contains("plug the adapter in"), "{what}");
    // Somebody turns a joint meanwhile.
    bus.ask("{\"turn\": {\"id\": 2, \"position_rad\": -0.7}}");
    let before = bus.each("position_rad");
    until(io.as_mut(), "it comes back", |io| {
        matches!(
            io.fault(0), Some(karakuri_hardware::Fault::Device { what }) if what.contains("is back")
        )
    });
    command(io.as_mut(), 0.6);
    run_for(io.as_mut(), 0.3);
    for (index, (before, now)) in before.iter().zip(bus.each("position_rad")).enumerate() {
        // The one that was turned by hand while its torque was on goes back to its goal meanwhile.
        assert!(index == 1 || (before - now).abs() < 0.087, "joint {index}: {before} to {now}");
    }
    io.resume(0).unwrap();
    command(io.as_mut(), 0.6);
    run_for(io.as_mut(), 1.5);
    assert!(positions(io.as_ref()).iter().all(|p| (p - 0.6).abs() < 2.0 * COUNT));
}

#[test]
fn a_port_belongs_to_one_driver() {
    let (bus, io) = arm_on_terminal(1);
    let Err(error) = bus.try_open(KEYS, &servos(1, "")) else { panic!("it opens twice") };
    assert!(error.to_string().contains("is in use by"), "{error}");
    drop(io);
    bus.open(KEYS, &servos(1, ""));
}
