//! What a cycle takes, on the wire and of the processor.

use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use karakuri_hardware::RobotIo;
use karakuri_hardware::driver::{BUSES, HardwareFile};
use karakuri_serial::codec::dynamixel::Model;
use karakuri_serial::codec::feetech::STS3215;
use karakuri_serial::codec::robotiq::TWO_F_85;
use karakuri_serial::emulator::dynamixel::{Dynamixel, Member, Settings};
use karakuri_serial::emulator::feetech::Feetech;
use karakuri_serial::emulator::ics::Ics;
use karakuri_serial::emulator::rcb1::{Rcb1, Setup};
use karakuri_serial::emulator::rcb4::{self, Rcb4};
use karakuri_serial::emulator::robotiq::Gripper;
use karakuri_serial::emulator::{Bus, Emulation, FreeMotion, InProcess};
use karakuri_testkit::heap_requests;

use crate::emulated::*;

/// Resolution of the emulated wire's time.
const LOOK: Duration = Duration::from_micros(2);

/// The wire's time for a cycle. [ms]
fn wire(bus: &str, n_servos: usize, baud: u32) -> f64 {
    let kind = BUSES.iter().find(|kind| kind.name == bus).unwrap();
    kind.cycle_time(n_servos, baud) * 1e3
}

/// Longest time that cycles of the driver take on the emulated wire, in its own time, which rounds each answer up to [`LOOK`]. [ms]
fn longest_cycle(bus: impl Bus + 'static, keys: &str, n: u8) -> f64 {
    let folder = tempfile::tempdir().unwrap();
    let mut text = format!("device: /dev/ttyUSB0\n{keys}\nservos:\n");
    for (joint, keys) in servos(n, "") {
        writeln!(text, "  {joint}: {{{keys}}}").unwrap();
    }
    let path = folder.path().join("robot.yaml");
    std::fs::write(&path, text).unwrap();
    let layout = layout(&NAMES[..n.into()]);
    let file = HardwareFile::read(&path, &layout).unwrap();
    let line = InProcess::new(Emulation::new(Box::new(bus), Box::new(FreeMotion)));
    let line = line.looking_every(LOOK);
    let mut io = (file.bus.make)(&file, layout, Box::new(line));
    io.advance().unwrap();
    let mut longest: f64 = 0.0;
    for _ in 0..50 {
        command(io.as_mut(), 0.1);
        io.advance().unwrap();
        longest = longest.max(health(io.as_ref())[0].cycle_time.unwrap() * 1e3);
    }
    assert_eq!(io.fault(0), None);
    longest
}

/// Every servo of a table's row, emulated.
fn emulated(bus: &str, n: u8, baud: u32) -> f64 {
    let keys = format!("bus: {bus}\nbaud: {baud}");
    let ids: Vec<u8> = (1..=n).collect();
    match bus {
        "feetech" => {
            let mut bus = Feetech::new();
            for id in ids {
                bus.add(&STS3215, id);
            }
            longest_cycle(bus, &keys, n)
        }
        "dynamixel" => {
            let model = Model::named("XM430-W350").unwrap();
            let members: Vec<Member> = ids.iter().map(|id| Member { id: *id, model }).collect();
            let bus = Dynamixel::new(&members, Settings { baud, is_strict: true });
            longest_cycle(bus, &keys, n)
        }
        "rcb1" => {
            let mut setup = Setup::default();
            setup.fit(&ids);
            longest_cycle(Rcb1::new(&setup), &keys, n)
        }
        "rcb4" => {
            let setup = rcb4::Setup { servos: ids, baud, project: false };
            longest_cycle(Rcb4::new(&setup), &format!("{keys}\nperiod: 0.060"), n)
        }
        _ => longest_cycle(Ics::new(&ids, baud), &keys, n),
    }
}

#[test]
fn the_page_has_the_time_of_each_bus_and_none_is_beyond_its_limit() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/howto/add-hardware.md");
    let page = std::fs::read_to_string(page).unwrap();
    let rows = [
        ("feetech", 6, 1_000_000, 2.5),
        ("feetech", 17, 1_000_000, 5.5),
        ("dynamixel", 6, 1_000_000, 5.0),
        ("dynamixel", 6, 4_000_000, 2.0),
        ("rcb1", 17, 115_200, 50.0),
        ("rcb4", 17, 115_200, 50.0),
        ("rcb4", 17, 1_250_000, 15.0),
        ("ics", 10, 1_250_000, 10.0),
    ];
    let lines = rows.map(|(bus, n, baud, limit)| {
        let (wire, cycle) = (wire(bus, n.into(), baud), emulated(bus, n, baud));
        let is_in_time = wire <= limit && cycle <= limit;
        assert!(is_in_time, "{bus}: {wire} ms, measured {cycle} ms, of {limit} ms");
        format!("| `{bus}` | {n} | {baud} | {wire:.1} | {cycle:.1} | {limit} |\n")
    });
    for line in &lines {
        assert!(page.contains(line), "the page lacks a line of these:\n{}", lines.concat());
    }
}

/// Time that this thread has spent on the processor. [s]
fn processor_time() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    let nanoseconds: f64 = text.split(' ').next().unwrap().parse().unwrap();
    nanoseconds * 1e-9
}

/// Each kind of bus with servos, and its robot.
fn each_bus(take: fn(&str, &Emulated, &mut dyn RobotIo)) {
    let mut bus = Feetech::new();
    (1..=17).for_each(|id| bus.add(&STS3215, id));
    let bus = Emulated::on_terminal(bus);
    take("feetech, 17 at 10 ms", &bus, bus.open("bus: feetech", &servos(17, "")).as_mut());
    let model = Model::named("XM430-W350").unwrap();
    let members: Vec<Member> = (1..=6).map(|id| Member { id, model }).collect();
    let settings = Settings { baud: 4_000_000, is_strict: true };
    let bus = Emulated::on_terminal(Dynamixel::new(&members, settings));
    let keys = "bus: dynamixel\nbaud: 4000000";
    take("dynamixel, 6 at 5 ms", &bus, bus.open(keys, &servos(6, "")).as_mut());
    let bus = Emulated::on_terminal(Rcb1::new(&Setup::default()));
    let all: Vec<(&str, String)> =
        [3, 6, 9, 16, 17, 22].iter().zip(NAMES).map(|(id, n)| (n, format!("id: {id}"))).collect();
    take("rcb1, two boards at 40 ms", &bus, bus.open("bus: rcb1", &all).as_mut());
    let bus = Emulated::on_terminal(Rcb4::new(&rcb4::Setup::default()));
    let keys = "bus: rcb4\nperiod: 0.030";
    take("rcb4, 10 at 30 ms", &bus, bus.open(keys, &servos(10, "")).as_mut());
    let bus = Emulated::on_terminal(Ics::new(&[1, 2, 3, 4, 5, 6], 1_250_000));
    let keys = "bus: ics\nperiod: 0.020";
    take("ics, 6 at 20 ms", &bus, bus.open(keys, &servos(6, "")).as_mut());
    let bus = Emulated::on_terminal(Gripper::new(TWO_F_85, 9));
    let finger = [("finger", "id: 9".to_owned())];
    take("robotiq at 40 ms", &bus, bus.open("bus: robotiq", &finger).as_mut());
}

fn measure(name: &str, _bus: &Emulated, io: &mut dyn RobotIo) {
    run_for(io, 0.3);
    let (start, before) = (Instant::now(), processor_time());
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "hundreds")]
    let n = (2.0 / io.period()) as u32;
    (0..n).for_each(|_| io.advance().unwrap());
    let wall = start.elapsed().as_secs_f64();
    let share = (processor_time() - before) / wall * 100.0;
    let missed = health(io)[0].missed_deadlines;
    eprintln!("{name:26} {:6.1} Hz, {share:4.1} % of a core, {missed} missed", f64::from(n) / wall);
    assert!(io.fault(0).is_none(), "{:?}", io.fault(0));
    // Of a machine that runs other tests at the same time.
    assert!(share < 10.0, "{name}: {share} % of a core");
}

#[test]
#[ignore = "against the clock: other programs take the processor"]
fn a_cycle_takes_little_of_the_processor() {
    each_bus(measure);
}

/// Cycles in which an answer was missing, none of which may ask for memory.
fn ask_for_no_memory(name: &str, bus: &Emulated, io: &mut dyn RobotIo) {
    run_for(io, 0.3);
    bus.fault("drop=0.15");
    let (mut n, mut without_answer, mut asking) = (0, 0, 0);
    while n < 100 {
        let before = heap_requests();
        io.advance().unwrap();
        let asks = heap_requests() != before;
        if io.fault(0).is_some() {
            // On a machine that stands still a servo may be lost. That is a sentence, and sentences take memory.
            bus.clear("drop");
            until(io, "it is found again", |io| is_all_there(io) && io.is_present(0));
            io.resume(0).unwrap();
            bus.fault("drop=0.15");
            continue;
        }
        n += 1;
        asking += u32::from(asks);
        without_answer += u32::from(health(io).iter().any(|health| health.age > 0.0));
    }
    bus.clear("drop");
    assert!(without_answer >= 5, "{name}: {without_answer} cycles without an answer are no test");
    assert_eq!(asking, 0, "{name}: cycles that ask for memory, {without_answer} without an answer");
}

#[test]
fn a_cycle_allocates_nothing_also_when_an_answer_is_late() {
    each_bus(ask_for_no_memory);
}
