//! How long a bus cycle takes in emulated time, against what the wire allows.

use super::*;

/// Goal position, time and speed.
const GOALS: u8 = 6;
/// From the position to the current.
const STATE: u8 = 15;

/// Time of one cycle with a host that answers at once. [s]
fn cycle_time(host: &mut Host, n_servos: u8) -> f64 {
    let ids: Vec<u8> = (1..=n_servos).collect();
    let entries: Vec<u8> = ids.iter().flat_map(|id| [*id, 0, 8, 0, 0, 0, 0]).collect();
    let address = sts::GOAL_POSITION.address;
    let mut bytes = Vec::new();
    Request::SyncWrite { address, size: GOALS, entries: &entries }.encode(&mut bytes).unwrap();
    let address = sts::PRESENT_POSITION.address;
    Request::SyncRead { address, size: STATE, ids: &ids }.encode(&mut bytes).unwrap();
    let byte_time = host.bus.line().byte_time();
    let start = host.now;
    for byte in &bytes {
        host.now += byte_time;
        host.bus.receive(*byte, host.now, &mut host.answers);
    }
    let mut free = host.now;
    let mut n_answers = 0;
    for (not_before, answer) in host.answers.drain() {
        free = free.max(not_before) + answer.len() as f64 * byte_time;
        n_answers += 1;
        assert_eq!(answer.len(), usize::from(STATE) + 6);
    }
    assert_eq!(n_answers, n_servos);
    host.now = free;
    free - start
}

/// What the bytes alone take. [s]
fn wire_time(n_servos: u8) -> f64 {
    let n = f64::from(n_servos);
    let sync_write = 8.0 + n * (f64::from(GOALS) + 1.0);
    let sync_read = 8.0 + n;
    let answers = n * (f64::from(STATE) + 6.0);
    (sync_write + sync_read + answers) * 10e-6
}

#[test]
fn a_cycle_takes_what_the_wire_takes() {
    eprintln!("servos  delay [µs]  cycle [ms]  wire [ms]  rate [Hz]");
    for n_servos in [6_u8, 17] {
        for delay in [0_i32, 250] {
            let servos: Vec<(&'static Model, u8)> =
                (1..=n_servos).map(|id| (&STS3215, id)).collect();
            let mut host = Host::new(&servos);
            for id in 1..=n_servos {
                host.write_kept(id, &sts::ANSWER_DELAY, delay);
            }
            let cycle = cycle_time(&mut host, n_servos);
            let wire = wire_time(n_servos);
            let delays = f64::from(n_servos) * f64::from(delay) * 2e-6;
            eprintln!(
                "{n_servos:6}  {:10}  {:10.2}  {:9.2}  {:9.0}",
                2 * delay,
                1e3 * cycle,
                1e3 * wire,
                1.0 / cycle
            );
            assert!((cycle - wire - delays).abs() < 1e-9, "{cycle} s, expected {wire} + {delays}");
            if n_servos == 17 && delay == 0 {
                assert!(cycle <= 5.5e-3, "{cycle} s");
            }
        }
    }
}
