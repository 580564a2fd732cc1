//! Hardware files that are wrong: each problem is a sentence with its line and its remedy.

use std::fs;
use std::path::Path;

use karakuri_hardware::driver::{HardwareFile, find, open};

use crate::emulated::{NAMES, layout};

/// A file that is right, with a `calibration` beside it where that is not empty.
fn read(text: &str, calibration: &str) -> Result<HardwareFile, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("arm.yaml");
    fs::write(&path, text).unwrap();
    if !calibration.is_empty() {
        fs::write(folder.path().join("arm.calibration.yaml"), calibration).unwrap();
    }
    let problems = HardwareFile::read(&path, &layout(&["elbow", "wrist"]));
    problems.map_err(|all| all.to_string().replace(&format!("{}/", folder.path().display()), ""))
}

const GOOD: &str = "\
bus: feetech
device: /dev/ttyUSB0
baud: 1000000
period: 0.010
start_tolerance: 0.09
ramp_speed: 0.5
missing: refuse
at_exit: limp
model: sts3215
servos:
  elbow: {id: 1, zero: 2048, counts_per_radian: 651.9, reversed: false, limits: [-1.5, 1.5], torque_per_amp: 1.1, trim: 0}
  wrist: {id: 2}
";

/// What is replaced by what, and the problem.
/// With the ports and calibrations below, more than forty.
const WRONG: [(&str, &str, &str); 45] = [
    ("bus: feetech", "buss: feetech", "arm.yaml:1: error: unknown key buss; did you mean `bus`?"),
    (
        "bus: feetech",
        "bus: fetech",
        "arm.yaml:1: error: bus: there is no `fetech`; write one of feetech, dynamixel, rcb1, rcb4, ics, robotiq",
    ),
    (
        "bus: feetech",
        "bus: [feetech]",
        "arm.yaml:1: error: bus: expected a name, found a list; write one word",
    ),
    ("bus: feetech\n", "", "arm.yaml:1: error: bus is missing; write `bus: feetech`"),
    (
        "bus: feetech",
        "bus: feetech\nbus: rcb1",
        "arm.yaml:2: error: bus is there twice; delete one",
    ),
    (
        "device: /dev/ttyUSB0",
        "device: ttyUSB0",
        "arm.yaml:2: error: device: `ttyUSB0` is no path of a port; write an absolute path, best one of /dev/serial/by-id, which follows the adapter",
    ),
    (
        "device: /dev/ttyUSB0",
        "device:",
        "arm.yaml:1: error: device is missing; write `device: /dev/serial/by-id/usb-...`",
    ),
    (
        "baud: 1000000",
        "baud: 921600",
        "arm.yaml:3: error: baud: feetech does not have 921600; write one of 1000000, 500000,",
    ),
    (
        "baud: 1000000",
        "baud: fast",
        "arm.yaml:3: error: baud: expected a whole number, found `fast`; write 1, say",
    ),
    (
        "baud: 1000000",
        "baud: 38400",
        "arm.yaml:4: error: period: 0.01 s is too short for 2 servos at 38400 baud, which need 0.0232 s; write `period: 0.047` or a faster `baud`",
    ),
    (
        "period: 0.010",
        "period: 0",
        "arm.yaml:4: error: period: 0 is out of range; write a number from 0.001 to 0.5 [s]",
    ),
    (
        "period: 0.010",
        "period: 10",
        "arm.yaml:4: error: period: 10 is out of range; write a number from 0.001 to 0.5 [s]",
    ),
    (
        "period: 0.010",
        "period: 10 ms",
        "arm.yaml:4: error: period: expected a number, found `10 ms`; write a number from",
    ),
    (
        "period: 0.010",
        "period: .nan",
        "arm.yaml:4: error: period: expected a number, found `.nan`; write",
    ),
    (
        "start_tolerance: 0.09",
        "start_tolerance: 5",
        "arm.yaml:5: error: start_tolerance: 5 is out of range; write a number from 0.0001 to 0.5 [rad or m]",
    ),
    (
        "ramp_speed: 0.5",
        "ramp_speed: -1",
        "arm.yaml:6: error: ramp_speed: -1 is out of range; write a number from 0.001 to 10 [rad/s or m/s]",
    ),
    (
        "missing: refuse",
        "missing: yes",
        "arm.yaml:7: error: missing: unknown value `yes`; write one of refuse, hold_rest, ignore",
    ),
    (
        "missing: refuse",
        "missing: {}",
        "arm.yaml:7: error: missing: expected a name, found a mapping; write one word",
    ),
    (
        "at_exit: limp",
        "at_exit: fall",
        "arm.yaml:8: error: at_exit: unknown value `fall`; write one of limp, hold",
    ),
    (
        "model: sts3215",
        "model: mg996r",
        "arm.yaml:9: error: model: feetech has no `mg996r`; write one of sts3215, scs0009",
    ),
    (
        "  wrist: {id: 2}\n",
        "",
        "arm.yaml:11: error: servos: the driven joint `wrist` has no servo; write `wrist: {id: ...}`, or `wrist: none`",
    ),
    (
        "  wrist:",
        "  wirst:",
        "arm.yaml:12: error: servos.wirst: robot `arm` has no joint `wirst`; write one of elbow, wrist",
    ),
    ("  wrist:", "  elbow:", "arm.yaml:12: error: servos.elbow is there twice; delete one"),
    (
        "{id: 2}",
        "{id: 1}",
        "arm.yaml:12: error: servos.wrist.id: 1 is that of `elbow` too; give each servo an id of its own",
    ),
    (
        "{id: 2}",
        "{id: 254}",
        "arm.yaml:12: error: servos.wrist.id: 254 is out of range; write a number from 0 to 253",
    ),
    (
        "{id: 2}",
        "{id: 1.5}",
        "arm.yaml:12: error: servos.wrist.id: 1.5 is no whole number; write 1, say",
    ),
    ("{id: 2}", "{}", "arm.yaml:12: error: servos.wrist.id is missing; write `id: 1`"),
    (
        "{id: 2}",
        "{id: 2, model: xl430}",
        "arm.yaml:12: error: servos.wrist.model: feetech has no `xl430`; write one of",
    ),
    (
        "{id: 2}",
        "2",
        "arm.yaml:12: error: servos.wrist: expected a mapping, found `2`; write keys of id, model, zero,",
    ),
    (
        "zero: 2048",
        "zero: 5000",
        "arm.yaml:11: error: servos.elbow.zero: 5000 is out of range; write a number from 0 to 4095 [counts]",
    ),
    (
        "zero: 2048",
        "zero: 0",
        "arm.yaml:11: error: servos.elbow.limits: [-1.5, 1.5] are the counts -978 and 978, and the servo has 0 to 4095; write limits within [0.000, 6.282]",
    ),
    (
        "counts_per_radian: 651.9",
        "counts_per_radian: 0",
        "arm.yaml:11: error: servos.elbow.counts_per_radian: 0 is out of range; write a number from 0.001 to 1000000",
    ),
    (
        "counts_per_radian: 651.9",
        "counts_per_radian: -651.9",
        "arm.yaml:11: error: servos.elbow.counts_per_radian: -651.9 is out of range; write",
    ),
    (
        "reversed: false",
        "reversed: no",
        "arm.yaml:11: error: servos.elbow.reversed: unknown value `no`; write true or false",
    ),
    (
        "[-1.5, 1.5]",
        "[1.5, -1.5]",
        "arm.yaml:11: error: servos.elbow.limits: is no interval; write [lower, upper], each a number from -1000 to 1000 [rad or m]",
    ),
    (
        "[-1.5, 1.5]",
        "[3.0, 3.1]",
        "arm.yaml:11: error: servos.elbow: nothing is left of the joint's limits [3, 2]; correct `zero`,",
    ),
    (
        "torque_per_amp: 1.1",
        "torque_per_amp: -1",
        "arm.yaml:11: error: servos.elbow.torque_per_amp: -1 is out of range; write a number from 0 to 1000 [N·m/A]",
    ),
    ("servos:\n", "servo:\n", "arm.yaml:10: error: unknown key servo; did you mean `servos`?"),
    (
        "device: /dev/ttyUSB0",
        "device: [/dev/ttyUSB0]",
        "arm.yaml:2: error: device: expected a name, found a list; write one word",
    ),
    (
        "torque_per_amp: 1.1",
        "torque_per_ampere: 1.1",
        "arm.yaml:11: error: unknown key servos.elbow.torque_per_ampere; did you mean `torque_per_amp`?",
    ),
    (
        "reversed: false",
        "reversed: false, reversed: true",
        "arm.yaml:11: error: servos.elbow.reversed is there twice; delete one",
    ),
    ("[-1.5, 1.5]", "1.5", "arm.yaml:11: error: servos.elbow.limits: "),
    (
        "trim: 0",
        "torque_limit: 1.5",
        "arm.yaml:11: error: servos.elbow.torque_limit: 1.5 is out of range; write a number from 0.01 to 1 [of the stall torque]",
    ),
    (
        "id: 2",
        "id: 2, model: scs0009, torque_limit: 0.5",
        "arm.yaml:12: error: servos.wrist.torque_limit: a scs0009 has no torque limit; leave the key out",
    ),
    (
        "trim: 0",
        "trim: 2000",
        "arm.yaml:11: error: servos.elbow.trim: 2000 is out of range; write a number from -1000 to 1000 [counts]",
    ),
];

#[test]
fn each_problem_has_its_line_and_its_remedy() {
    read(GOOD, "").unwrap();
    for (from, to, expected) in WRONG {
        assert!(GOOD.contains(from), "{from}");
        let problem = read(&GOOD.replacen(from, to, 1), "").unwrap_err();
        assert!(
            problem.lines().any(|line| line.starts_with(expected)),
            "{to}\n{problem}\n{expected}"
        );
        assert!(problem.lines().all(|line| line.contains("; ")), "with a remedy each: {problem}");
    }
}

#[test]
fn calibrations_win_and_their_problems_have_their_place() {
    let text = format!("{GOOD}calibration: arm.calibration.yaml\n");
    read(&text, "servos: {elbow: {zero: 2000, trim: 3, reversed: true, limits: [-1.4, 1.4]}}")
        .unwrap();
    for (calibration, expected) in [
        (
            "",
            "arm.yaml:13: error: calibration: there is no file arm.calibration.yaml; write it by `karakuri hardware calibrate`, or leave the key out",
        ),
        (
            "servos: {elbow: {zero: -1}}",
            "arm.calibration.yaml:1: error: servos.elbow.zero: -1 is out of range; write a number from 0 to 4095",
        ),
        (
            "servos: {elbow: {id: 3}}",
            "arm.calibration.yaml:1: error: unknown key servos.elbow.id; known here: zero, trim,",
        ),
        (
            "servos: {hand: {zero: 1}}",
            "arm.calibration.yaml:1: error: servos.hand: robot `arm` has no joint `hand`; write one of elbow, wrist",
        ),
        ("bus: feetech", "arm.calibration.yaml:1: error: unknown key bus; known here: servos"),
        ("servos: [", "arm.calibration.yaml:"),
    ] {
        let problem = read(&text, calibration).unwrap_err();
        assert!(problem.starts_with(expected), "{calibration}\n{problem}");
    }
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let path = std::path::Path::new("/nowhere/arm.yaml");
    let problem = HardwareFile::read(path, &layout(&["elbow"])).unwrap_err().to_string();
    assert!(
        problem.starts_with("/nowhere/arm.yaml: error: cannot be read: No such file"),
        "{problem}"
    );
}

#[test]
fn a_wrong_port_is_named_with_those_that_are_there() {
    let layout = layout(&["elbow", "wrist"]);
    let mut file = read(GOOD, "").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("text");
    fs::write(&text, "no port").unwrap();
    for (port, expected) in [
        (folder.path().join("gone"), "there is no port "),
        (text, "cannot be opened as a serial port"),
        (folder.path().to_owned(), "cannot be opened as a serial port"),
        ("/dev/null".into(), "cannot be opened as a serial port"),
    ] {
        file.device.clone_from(&port);
        let Err(error) = open(&file, layout.clone()) else { panic!("{} opens", port.display()) };
        let error = error.to_string();
        assert!(error.contains(expected) && error.contains("; "), "{error}");
    }
}

#[test]
fn a_line_has_room_for_so_many_servos() {
    let joints = &NAMES[..2];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("arm.yaml");
    fs::write(&path, "bus: robotiq\ndevice: /dev/ttyUSB0\nservos:\n  j1: {id: 1}\n  j2: {id: 2}\n")
        .unwrap();
    let problem = HardwareFile::read(&path, &layout(joints)).unwrap_err().to_string();
    assert!(
        problem.contains("servos: 2 are more than a robotiq line can have; leave 1 at most"),
        "{problem}"
    );
}

#[test]
fn hardware_is_found_by_path_by_name_and_by_bus() {
    let layout = layout(&["elbow", "wrist"]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("my.yaml");
    fs::write(&path, GOOD).unwrap();
    let device = Path::new("/dev/ttyACM7");
    let by = |name: &str, device: Option<&Path>| find(name, folder.path(), device, &layout);
    for name in ["my", &path.display().to_string()] {
        assert_eq!(by(name, None).unwrap().device, Path::new("/dev/ttyUSB0"));
        assert_eq!(by(name, Some(device)).unwrap().device, device);
    }
    for (bus, ids) in
        [("feetech", [1, 2]), ("dynamixel", [1, 2]), ("rcb1", [1, 2]), ("ics", [1, 2])]
    {
        let file = by(bus, Some(device)).unwrap();
        let found: Vec<u8> = file.servos.iter().map(|servo| servo.id).collect();
        assert_eq!((file.bus.name, found.as_slice()), (bus, ids.as_slice()));
    }
    for (name, device, expected) in [
        (
            "",
            None,
            "no hardware is named; write one of my, feetech, dynamixel, rcb1, rcb4, ics, robotiq, or the path of a hardware file",
        ),
        ("your", None, "there is no hardware `your`; write one of my, feetech,"),
        ("feetech", None, "the port of `feetech` is not given; write `device:=/dev/serial/by-id/"),
        (
            "my",
            Some(Path::new("ttyACM7")),
            "`ttyACM7` is no path of a port; write an absolute path, best one of /dev/serial/by-id,",
        ),
        (
            "robotiq",
            Some(device),
            "robotiq:3: error: servos: 2 are more than a robotiq line can have; leave 1 at most",
        ),
        ("/nowhere/arm.yaml", None, "/nowhere/arm.yaml: error: cannot be read: No such file"),
    ] {
        let problem = by(name, device).unwrap_err().to_string();
        assert!(problem.starts_with(expected), "{name}: {problem}");
    }
}
