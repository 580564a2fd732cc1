//! Drivers and cables that end at any moment: never a jump, and the port is always free again.

use std::process::{Command, Stdio};

use karakuri_hardware::driver::{HardwareFile, await_robot, open};
use karakuri_hardware::{Fault, HealthLevel, RobotIo};
use karakuri_serial::codec::feetech::STS3215;
use karakuri_serial::emulator::feetech::Feetech;
use karakuri_serial::emulator::{Emulation, FreeMotion, InProcess};

use crate::emulated::*;

const KEYS: &str = "bus: feetech\nramp_speed: 1.0\nstart_tolerance: 0.087\nat_exit: hold";
const TOLERANCE: f64 = 0.087;

fn bus(n: u8) -> Feetech {
    let mut bus = Feetech::new();
    (1..=n).for_each(|id| bus.add(&STS3215, id));
    bus
}

/// Numbers from 0 to 1 that look random, the same in each run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 40) as f64 / 16_777_216.0
    }
}

fn largest_change(before: &[f64], after: &[f64]) -> f64 {
    before.iter().zip(after).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// After a start: nothing moves without a command, and a far command is approached.
fn starts_gently(bus: &Emulated, io: &mut dyn RobotIo, target: f64) {
    run_for(io, 0.1);
    let held = bus.each("position_rad");
    run_for(io, 0.1);
    let moved = largest_change(&held, &bus.each("position_rad"));
    assert!(moved < 0.01, "moved by {moved} without a command");
    command(io, target);
    for _ in 0..20 {
        io.advance().unwrap();
        let step = largest_change(&bus.each("goal_rad"), &bus.each("position_rad"));
        assert!(step < TOLERANCE, "goals jump by {step}");
    }
}

#[test]
fn a_start_that_takes_longer_than_a_cycle_skips_none() {
    let mut bus = Feetech::new();
    (1..=6).for_each(|id| bus.add(&STS3215, id));
    // In a time of its own: nothing else makes it late.
    let line = InProcess::new(Emulation::new(Box::new(bus), Box::new(FreeMotion)));
    let (layout, file) = robot("so101");
    let mut io = (file.bus.make)(&file, layout, Box::new(line));
    io.advance().unwrap();
    assert!(io.is_present(0) && io.fault(0).is_none(), "{:?}", io.fault(0));
    assert!(io.time() > 3.0 * io.period(), "it takes cycles: {} s", io.time());
    run_for(io.as_mut(), 0.5);
    let bus = &health(io.as_ref())[0];
    assert_eq!((bus.missed_deadlines, bus.level, bus.what.as_str()), (0, HealthLevel::Ok, ""));
}

#[test]
fn a_driver_that_ends_at_any_moment_leaves_no_jump_and_a_free_port() {
    let bus = Emulated::on_terminal(bus(3));
    let mut random = Random(1);
    for round in 0..15 {
        let mut io = bus.open(KEYS, &servos(3, ""));
        starts_gently(&bus, io.as_mut(), 3.0 * random.next() - 1.5);
        run_for(io.as_mut(), 0.5 * random.next());
        assert_eq!(io.fault(0), None, "round {round}");
    }
}

#[test]
fn a_cable_that_is_pulled_at_any_moment_leaves_no_jump() {
    let bus = Emulated::in_process(bus(3));
    let mut random = Random(2);
    let mut io = bus.open(KEYS, &servos(3, ""));
    for _ in 0..6 {
        starts_gently(&bus, io.as_mut(), 3.0 * random.next() - 1.5);
        run_for(io.as_mut(), 0.5 * random.next());
        bus.fault("closed-mid-frame=0.1");
        fault(io.as_mut());
        // Commands go on meanwhile, as of a controller that does not look.
        until(
            io.as_mut(),
            "it comes back",
            |io| matches!(io.fault(0), Some(Fault::Device { what }) if what.contains("is back")),
        );
        command(io.as_mut(), 1.5);
        io.resume(0).unwrap();
    }
}

/// The second process of the tests below: drives the port in its environment until it is killed, or names what keeps it from that.
#[test]
#[ignore = "a process of other tests"]
fn child() {
    let Ok(path) = std::env::var("HARDWARE_FILE") else { return };
    let layout = layout(&NAMES[..1]);
    let file = HardwareFile::read(path.as_ref(), &layout).unwrap();
    match open(&file, layout) {
        Ok(mut io) => {
            eprintln!("open");
            command(io.as_mut(), 1.0);
            run_for(io.as_mut(), 20.0);
        }
        Err(error) => eprintln!("refused: {error}"),
    }
}

fn spawn(file: &std::path::Path) -> std::process::Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "restarts::child", "--ignored", "--nocapture"])
        .env("HARDWARE_FILE", file)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
fn two_processes_do_not_share_a_port() {
    let bus = Emulated::on_terminal(bus(1));
    let io = bus.open(KEYS, &servos(1, ""));
    let output = spawn(&bus.file(KEYS, &servos(1, ""))).wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("refused: port ") && said.contains("is in use by `"), "{said}");
    drop(io);
}

#[test]
fn a_killed_driver_leaves_a_free_port_and_no_jump() {
    let bus = Emulated::on_terminal(bus(1));
    let mut child = spawn(&bus.file(KEYS, &servos(1, "")));
    let end = std::time::Instant::now() + std::time::Duration::from_secs(10);
    while bus.each("position_rad")[0] < 0.3 {
        assert!(std::time::Instant::now() < end, "the child moves nothing");
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let mut io = bus.open(KEYS, &servos(1, ""));
    starts_gently(&bus, io.as_mut(), -1.0);
}

#[test]
fn a_robot_that_comes_later_is_taken_without_a_jump() {
    let bus = Emulated::on_terminal(bus(2));
    let layout = layout(&NAMES[..2]);
    let mut file = HardwareFile::read(&bus.file(KEYS, &servos(2, "")), &layout).unwrap();
    let link = std::mem::replace(&mut file.device, bus.link().with_file_name("later"));
    let mut io = await_robot(&file, layout);
    assert!(!io.is_present(0));
    until(
        io.as_mut(),
        "its port is missed",
        |io| matches!(io.fault(0), Some(Fault::Device { what }) if what.contains("there is no port")),
    );
    command(io.as_mut(), 1.0);
    assert!(!io.is_present(0), "nothing is measured");
    std::os::unix::fs::symlink(link, &file.device).unwrap();
    until(io.as_mut(), "it is found", |io| io.is_present(0));
    assert_eq!(io.fault(0), None, "nobody has to resume a first start");
    starts_gently(&bus, io.as_mut(), 1.0);
    // What was met once is another matter.
    bus.fault("closed-mid-frame=0.3");
    until(io.as_mut(), "it is gone", |io| !io.is_present(0));
    until(io.as_mut(), "it is back", |io| io.is_present(0));
    assert!(io.fault(0).is_some(), "it holds until it is resumed");
}
