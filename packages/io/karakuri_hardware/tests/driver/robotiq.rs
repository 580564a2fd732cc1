//! Robotiq grippers.

use karakuri_hardware::conformance::{Trial, check};
use karakuri_serial::codec::robotiq::TWO_F_85;
use karakuri_serial::emulator::robotiq::Gripper;

use crate::emulated::*;

const KEYS: &str = "bus: robotiq\nramp_speed: 2.0";

#[test]
fn grippers_conform() {
    let bus = Emulated::in_process(Gripper::new(TWO_F_85, 9));
    let mut io = bus.open(KEYS, &[("finger", "id: 9".to_owned())]);
    let tolerance = 1.5 * 0.8 / 230.0;
    let trial = Trial { joint: "finger".into(), stroke: 0.3, tolerance, settle: 1.5 };
    check(io.as_mut(), &trial).unwrap();
    drop(io);
    // Limp at the end; the next one activates it again.
    bus.until_torque(&[false]);
    let mut io = bus.open(KEYS, &[("finger", "id: 9".to_owned())]);
    command(io.as_mut(), 0.4);
    run_for(io.as_mut(), 1.0);
    assert!((positions(io.as_ref())[0] - 0.4).abs() < tolerance);
}

#[test]
fn a_gripper_that_is_gone_is_looked_for() {
    let bus = Emulated::in_process(Gripper::new(TWO_F_85, 9));
    let mut io = bus.open(KEYS, &[("finger", "id: 9".to_owned())]);
    bus.fault("servo-gone");
    let what = fault(io.as_mut());
    assert!(what.starts_with("no robotiq servo answers on "), "{what}");
    bus.clear("servo-gone");
    until(io.as_mut(), "it comes back", |io| {
        matches!(
            io.fault(0), Some(karakuri_hardware::Fault::Device { what }) if what.contains("is back")
        )
    });
    io.resume(0).unwrap();
    assert_eq!(io.fault(0), None);
}
