//! Kondo's boards and servos: RCB-1, RCB-4, ICS.

use karakuri_hardware::conformance::{Trial, check};
use karakuri_serial::codec::ics::COUNTS_PER_RADIAN;
use karakuri_serial::emulator::{Bus, ics::Ics, rcb1, rcb4};

use crate::emulated::*;

fn trial(joint: &str, tolerance: f64) -> Trial {
    Trial { joint: joint.into(), stroke: 0.3, tolerance, settle: 1.5 }
}

/// Servos with other numbers than 1 to n.
fn numbered(ids: &[u8], keys: &str) -> Vec<(&'static str, String)> {
    ids.iter().zip(NAMES).map(|(id, name)| (name, format!("id: {id}{keys}"))).collect()
}

const RCB1: &str = "bus: rcb1\nramp_speed: 2.0";
const DEGREE: f64 = std::f64::consts::PI / 180.0;
/// Channels of both boards, homes near the middle.
const CHANNELS: [u8; 6] = [3, 6, 9, 16, 17, 22];

fn boards() -> Emulated {
    Emulated::in_process(rcb1::Rcb1::new(&rcb1::Setup::default()))
}

#[test]
fn rcb1_boards_conform() {
    let bus = boards();
    for joint in ["j2", "j5"] {
        let mut io = bus.open(RCB1, &numbered(&CHANNELS, ", reversed: true"));
        check(io.as_mut(), &trial(joint, 1.5 * DEGREE)).unwrap();
    }
}

#[test]
fn rcb1_servos_start_where_they_are_and_sleep_at_the_end() {
    let bus = boards();
    let before = bus.each("position_rad");
    let mut io = bus.open(RCB1, &numbered(&CHANNELS, ""));
    run_for(io.as_mut(), 0.4);
    for (before, now) in before.iter().zip(bus.each("position_rad")) {
        assert!((before - now).abs() < 0.6 * DEGREE, "{before} to {now}");
    }
    drop(io);
    bus.until_torque(&vec![false; before.len()]);
}

#[test]
fn an_rcb1_board_that_is_missing_stops_the_other() {
    let bus = boards();
    let mut io = bus.open(RCB1, &numbered(&CHANNELS, ""));
    run_for(io.as_mut(), 0.2);
    bus.fault("board-missing=1");
    let what = fault(io.as_mut());
    assert!(what.starts_with("servo 16 of joint `j4`: it does not answer any more;"), "{what}");
    run_for(io.as_mut(), 0.4);
    let all = health(io.as_ref());
    assert!(all[1].age < 0.2 && all[6].age > 0.4, "{all:?}");
    bus.clear("board-missing");
    until(io.as_mut(), "it is found again", is_all_there);
    io.resume(0).unwrap();
    drop(io);
    bus.fault("board-missing=0");
    let Err(error) = bus.try_open(RCB1, &numbered(&CHANNELS, "")) else { panic!("it opens") };
    assert_eq!(
        error.to_string(),
        "servos 3 (joint `j1`), 6 (joint `j2`), 9 (joint `j3`) do not answer; check cable, supply and id, \
         or write `missing: ignore`"
    );
}

fn rcb4(servos: &[u8], baud: u32, project: bool) -> impl Bus + 'static {
    rcb4::Rcb4::new(&rcb4::Setup { servos: servos.to_vec(), baud, project })
}

#[test]
fn rcb4_boards_conform_with_and_without_a_project() {
    let numbers: Vec<u8> = (0..17).collect();
    for (baud, project) in [(115_200, false), (1_250_000, true)] {
        let bus = Emulated::in_process(rcb4(&numbers, baud, project));
        let keys = "bus: rcb4\nperiod: 0.030\nramp_speed: 2.0";
        let mut io = bus.open(keys, &numbered(&numbers, ""));
        check(io.as_mut(), &trial("j9", 1.5 / COUNTS_PER_RADIAN)).unwrap();
    }
}

#[test]
fn an_rcb4_without_a_project_moves_nothing_at_the_start() {
    let bus = Emulated::in_process(rcb4(&[0, 1, 9], 115_200, false));
    bus.ask("{\"turn\": {\"id\": 1, \"position_rad\": 0.9}}");
    let mut io = bus.open("bus: rcb4\nperiod: 0.030", &numbered(&[0, 1, 9], ""));
    run_for(io.as_mut(), 0.3);
    let places = bus.each("position_rad");
    assert!((places[1] - 0.9).abs() < 2.0 / COUNTS_PER_RADIAN, "{places:?}");
    assert_eq!(bus.torque(), [true; 3]);
    bus.fault("servo-gone=9");
    run_for(io.as_mut(), 0.2);
}

const ICS: &str = "bus: ics\nbaud: 1250000\nperiod: 0.030\nramp_speed: 2.0";

fn wire(ids: &[u8]) -> Emulated {
    Emulated::in_process(Ics::new(ids, 1_250_000))
}

#[test]
fn ics_servos_conform() {
    let bus = wire(&[0, 3, 31]);
    let mut io = bus.open(ICS, &numbered(&[0, 3, 31], ", reversed: true, zero: 7400"));
    check(io.as_mut(), &trial("j3", 1.5 / COUNTS_PER_RADIAN)).unwrap();
}

#[test]
fn ics_servos_are_named_when_they_are_lost_or_hot() {
    let bus = wire(&[1, 2]);
    let mut io = bus.open(ICS, &numbered(&[1, 2], ""));
    run_for(io.as_mut(), 0.3);
    assert!(health(io.as_ref())[1].temperature.is_some_and(|t| (20.0..30.0).contains(&t)));
    bus.fault("hot=2");
    let what = fault(io.as_mut());
    assert!(what.starts_with("servo 2 of joint `j2`: it is too hot; let it cool down"), "{what}");
    bus.clear("hot");
    run_for(io.as_mut(), 0.5);
    io.resume(0).unwrap();
    run_for(io.as_mut(), 0.2);
    assert_eq!((io.fault(0), bus.torque()), (None, vec![true, true]));
    bus.fault("servo-gone=1");
    let what = fault(io.as_mut());
    assert!(what.starts_with("servo 1 of joint `j1`: it does not answer any more;"), "{what}");
}
