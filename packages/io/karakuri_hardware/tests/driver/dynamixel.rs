//! Dynamixel servos.

use karakuri_hardware::RobotIo;
use karakuri_hardware::conformance::{Trial, check};
use karakuri_serial::codec::dynamixel::Model;
use karakuri_serial::emulator::dynamixel::{Dynamixel, Member, Settings};

use crate::emulated::*;

const COUNT: f64 = std::f64::consts::TAU / 4096.0;
const KEYS: &str = "bus: dynamixel\nbaud: 4000000\nperiod: 0.010\nramp_speed: 2.0";

fn chain(models: &[&str]) -> Dynamixel {
    let members: Vec<Member> = models
        .iter()
        .zip(1..)
        .map(|(name, id)| Member { id, model: Model::named(name).unwrap() })
        .collect();
    Dynamixel::new(&members, Settings { baud: 4_000_000, is_strict: true })
}

fn arm() -> (Emulated, Box<dyn RobotIo>) {
    let bus = Emulated::in_process(chain(&["XM430-W350"; 3]));
    let io = bus.open(KEYS, &servos(3, ""));
    (bus, io)
}

#[test]
fn mixed_models_conform() {
    let bus =
        Emulated::on_terminal(chain(&["XM430-W350", "XL430-W250", "XL330-M288", "XM430-W210"]));
    // The XL330 listens at its own fastest rate only up to 4 M: all are set to it.
    let mut servos = servos(4, "");
    servos[1].1.push_str(", zero: 2000, reversed: true, torque_per_amp: 1.8");
    let mut io = bus.open(KEYS, &servos);
    let trial = Trial { joint: "j2".into(), stroke: 0.3, tolerance: 1.5 * COUNT, settle: 1.5 };
    check(io.as_mut(), &trial).unwrap();
}

#[test]
fn a_servo_that_is_lost_does_not_take_the_others_along() {
    let (bus, mut io) = arm();
    run_for(io.as_mut(), 0.1);
    bus.fault("servo-gone=2");
    let what = fault(io.as_mut());
    assert!(what.starts_with("servo 2 of joint `j2`: it does not answer any more;"), "{what}");
    run_for(io.as_mut(), 0.3);
    let all = health(io.as_ref());
    assert!(all[1].age < 0.1 && all[2].age > 0.3 && all[3].age < 0.1, "{all:?}");
    bus.clear("servo-gone");
    until(io.as_mut(), "it is found again", is_all_there);
    io.resume(0).unwrap();
    command(io.as_mut(), 0.3);
    run_for(io.as_mut(), 1.0);
    assert!(positions(io.as_ref()).iter().all(|p| (p - 0.3).abs() < 3.0 * COUNT));
}

#[test]
fn shutdowns_are_undone_by_a_person() {
    let (bus, mut io) = arm();
    for (name, expected) in [
        ("overload=1", "servo 1 of joint `j1`: it is overloaded; free it; the robot holds"),
        ("hot=2", "servo 2 of joint `j2`: it is too hot; let it cool down; the robot holds"),
        ("torque-lost=3", "servo 3 of joint `j3`: it has switched its torque off by itself;"),
    ] {
        bus.fault(name);
        let what = fault(io.as_mut());
        assert!(what.starts_with(expected), "{name}: {what}");
        bus.clear("all");
        run_for(io.as_mut(), 0.1);
        io.resume(0).unwrap_or_else(|error| panic!("{name}: {error}"));
        run_for(io.as_mut(), 0.2);
        assert_eq!((io.fault(0), bus.torque()), (None, vec![true; 3]), "{name}");
    }
}

#[test]
fn a_driver_that_pauses_is_stopped_by_the_watchdogs() {
    let (bus, mut io) = arm();
    command(io.as_mut(), 1.0);
    run_for(io.as_mut(), 0.15);
    bus.go_on(std::time::Duration::from_millis(400));
    let stopped = bus.each("position_rad");
    let what = fault(io.as_mut());
    assert!(what.contains("it heard nothing for so long that it stopped"), "{what}");
    run_for(io.as_mut(), 0.2);
    for (before, now) in stopped.iter().zip(bus.each("position_rad")) {
        assert!((before - now).abs() < 0.05, "{before} to {now}");
    }
    io.resume(0).unwrap();
    command(io.as_mut(), 1.0);
    run_for(io.as_mut(), 1.5);
    assert!(positions(io.as_ref()).iter().all(|p| (p - 1.0).abs() < 3.0 * COUNT));
}

#[test]
fn a_pulled_cable_ends_in_a_hold_and_a_whole_start() {
    let (bus, mut io) = arm();
    run_for(io.as_mut(), 0.1);
    bus.fault("closed-mid-frame=0.3");
    assert!(fault(io.as_mut()).contains("is gone"));
    until(io.as_mut(), "it comes back", |io| {
        matches!(
            io.fault(0), Some(karakuri_hardware::Fault::Device { what }) if what.contains("is back")
        )
    });
    io.resume(0).unwrap();
    command(io.as_mut(), 0.3);
    run_for(io.as_mut(), 1.0);
    assert!(positions(io.as_ref()).iter().all(|p| (p - 0.3).abs() < 3.0 * COUNT));
}

#[test]
fn a_servo_in_another_mode_is_refused() {
    let bus = Emulated::in_process(chain(&["XM430-W350"]));
    let Err(error) = bus.try_open(&format!("{KEYS}\nmodel: x_multi_turn"), &servos(1, "")) else {
        panic!("it opens")
    };
    assert_eq!(
        error.to_string(),
        "servo 1 of joint `j1` is in operating mode 3, which does not follow such positions; \
         set its register `operating_mode` to 4"
    );
}
