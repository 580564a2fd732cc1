//! What a cycle takes, on the wire and of the processor.

use std::time::Instant;

use karakuri_hardware::RobotIo;
use karakuri_hardware::driver::BUSES;
use karakuri_serial::codec::dynamixel::Model;
use karakuri_serial::codec::feetech::STS3215;
use karakuri_serial::codec::robotiq::TWO_F_85;
use karakuri_serial::emulator::dynamixel::{Dynamixel, Member, Settings};
use karakuri_serial::emulator::feetech::Feetech;
use karakuri_serial::emulator::ics::Ics;
use karakuri_serial::emulator::rcb1::{Rcb1, Setup};
use karakuri_serial::emulator::rcb4::{self, Rcb4};
use karakuri_serial::emulator::robotiq::Gripper;

use crate::emulated::*;

/// The wire's time for a cycle. [ms]
fn wire(bus: &str, n_servos: usize, baud: u32) -> f64 {
    let kind = BUSES.iter().find(|kind| kind.name == bus).unwrap();
    kind.cycle_time(n_servos, baud) * 1e3
}

#[test]
fn the_wire_carries_a_cycle_in_time() {
    let rows = [
        ("feetech", 6, 1_000_000, 2.5),
        ("feetech", 17, 1_000_000, 5.5),
        ("dynamixel", 6, 4_000_000, 2.0),
        ("dynamixel", 6, 1_000_000, 5.0),
        ("rcb1", 17, 115_200, 50.0),
        ("rcb4", 17, 1_250_000, 15.0),
        ("rcb4", 17, 115_200, 50.0),
        ("ics", 10, 1_250_000, 10.0),
        ("robotiq", 1, 115_200, 20.0),
    ];
    for (bus, n, baud, limit) in rows {
        let time = wire(bus, n, baud);
        eprintln!("{bus:10} {n:3} servos at {baud:8} baud: {time:6.2} ms of {limit} ms");
        assert!(time <= limit, "{bus}: {time} ms");
    }
}

/// Time that this thread has spent on the processor. [s]
fn processor_time() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    let nanoseconds: f64 = text.split(' ').next().unwrap().parse().unwrap();
    nanoseconds * 1e-9
}

fn measure(name: &str, io: &mut dyn RobotIo) {
    run_for(io, 0.3);
    let (start, before) = (Instant::now(), processor_time());
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "hundreds")]
    let n = (2.0 / io.period()) as u32;
    let allocating = allocating_cycles(io, n);
    assert!(allocating < n / 4, "{name} allocates in {allocating} of {n} cycles");
    let wall = start.elapsed().as_secs_f64();
    let share = (processor_time() - before) / wall * 100.0;
    let missed = health(io)[0].missed_deadlines;
    eprintln!("{name:24} {:6.1} Hz, {share:4.1} % of a core, {missed} missed", f64::from(n) / wall);
    assert!(io.fault(0).is_none(), "{:?}", io.fault(0));
    // Of a machine that runs other tests at the same time.
    assert!(share < 10.0, "{name}: {share} % of a core");
}

#[test]
#[ignore = "against the clock: late answers allocate, and other programs make answers late"]
fn a_cycle_takes_little_of_the_processor() {
    let mut bus = Feetech::new();
    (1..=17).for_each(|id| bus.add(&STS3215, id));
    let bus = Emulated::on_terminal(bus);
    measure("feetech, 17 at 10 ms", bus.open("bus: feetech", &servos(17, "")).as_mut());
    let model = Model::named("XM430-W350").unwrap();
    let members: Vec<Member> = (1..=6).map(|id| Member { id, model }).collect();
    let settings = Settings { baud: 4_000_000, is_strict: true };
    let bus = Emulated::on_terminal(Dynamixel::new(&members, settings));
    let keys = "bus: dynamixel\nbaud: 4000000";
    measure("dynamixel, 6 at 5 ms", bus.open(keys, &servos(6, "")).as_mut());
    let bus = Emulated::on_terminal(Rcb1::new(&Setup::default()));
    let all: Vec<(&str, String)> =
        [3, 6, 9, 16, 17, 22].iter().zip(NAMES).map(|(id, n)| (n, format!("id: {id}"))).collect();
    measure("rcb1, two boards at 40 ms", bus.open("bus: rcb1", &all).as_mut());
    let bus = Emulated::on_terminal(Rcb4::new(&rcb4::Setup::default()));
    let keys = "bus: rcb4\nperiod: 0.030";
    measure("rcb4, 10 at 30 ms", bus.open(keys, &servos(10, "")).as_mut());
    let bus = Emulated::on_terminal(Ics::new(&[1, 2, 3, 4, 5, 6], 1_250_000));
    let keys = "bus: ics\nperiod: 0.020";
    measure("ics, 6 at 20 ms", bus.open(keys, &servos(6, "")).as_mut());
    let bus = Emulated::on_terminal(Gripper::new(TWO_F_85, 9));
    let finger = [("finger", "id: 9".to_owned())];
    measure("robotiq at 40 ms", bus.open("bus: robotiq", &finger).as_mut());
}
