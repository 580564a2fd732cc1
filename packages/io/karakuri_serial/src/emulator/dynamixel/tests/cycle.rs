//! How long a bus cycle takes, by the pace of the wire.

use super::*;
use crate::codec::dynamixel::{BROADCAST, SyncItems};
use crate::emulator::emulation::Emulation;

const IDS: [u8; 6] = [1, 2, 3, 4, 5, 6];
/// Current, velocity, position; voltage and temperature; hardware error: what a driver reads of a servo in each cycle.
const STATE: [u16; 14] = [126, 127, 128, 129, 130, 131, 132, 133, 134, 135, 144, 145, 146, 70];

/// How a state is read.
#[derive(Debug, Clone, Copy, PartialEq)]
enum How {
    Single,
    Sync,
    Fast,
}

/// Six servos and a host, on a wire.
struct Wire {
    emulation: Emulation,
    baud: u32,
    now: f64,
}

impl Wire {
    fn new(baud: u32) -> Self {
        let model = Model::named("XL330-M288").unwrap();
        let members = IDS.map(|id| Member { id, model });
        let bus = Dynamixel::new(&members, Settings { baud, is_strict: true });
        let emulation = Emulation::new(Box::new(bus), Box::new(FreeMotion));
        Self { emulation, baud, now: 0.0 }
    }

    /// Sends a request, and waits until `n_bytes` have come back; the bytes.
    fn exchange(&mut self, request: Request<'_>, n_bytes: usize) -> Vec<u8> {
        let (mut out, mut back) = (Vec::new(), Vec::new());
        request.encode(&mut out);
        self.emulation.hear(&out, self.baud, self.now);
        self.now += out.len() as f64 * 10.0 / f64::from(self.baud);
        let deadline = self.now + 1.0;
        while back.len() < n_bytes {
            self.now += 1e-6;
            assert!(self.now < deadline, "{} of {n_bytes} bytes", back.len());
            self.emulation.advance(self.now, &mut back);
        }
        back
    }

    /// All servos get their map of the state, torque, and this return delay.
    fn prepare(&mut self, delay: u8) {
        let map: Vec<u8> = STATE.iter().flat_map(|address| address.to_le_bytes()).collect();
        for id in IDS {
            for (address, data) in [(9, &[delay][..]), (168, &map), (64, &[1])] {
                let instruction = Instruction::Write { address, data };
                self.exchange(Request { id, instruction }, 11);
            }
        }
    }

    /// Goals to all and the state of all, read one way or the other; the time that it takes. [s]
    fn cycle(&mut self, how: How) -> f64 {
        let start = self.now;
        let bytes: Vec<u8> = IDS.iter().flat_map(|id| [*id, 0, 8, 0, 0]).collect();
        let items = SyncItems { length: 4, bytes: &bytes };
        self.exchange(Request::to_all(Instruction::SyncWrite { address: 116, items }), 0);
        let length = STATE.len();
        let block = Block { address: 208, length: u16::try_from(length).unwrap() };
        let ids = &IDS;
        match how {
            How::Single => {
                for id in IDS {
                    self.exchange(
                        Request { id, instruction: Instruction::Read(block) },
                        11 + length,
                    );
                }
            }
            How::Sync => {
                let read = Request::to_all(Instruction::SyncRead { block, ids });
                self.exchange(read, IDS.len() * (11 + length));
            }
            How::Fast => {
                let read = Request::to_all(Instruction::FastSyncRead { block, ids });
                let answer = self.exchange(read, 8 + IDS.len() * (4 + length));
                check(&answer);
            }
        }
        self.now - start
    }
}

/// All servos are in the answer, at their goal.
fn check(answer: &[u8]) {
    let mut decoder = Decoder::default();
    let (last, before) = answer.split_last().unwrap();
    assert!(before.iter().all(|byte| decoder.push(*byte).is_none()));
    let frame = decoder.push(*last).unwrap().unwrap();
    assert_eq!(frame.id, BROADCAST);
    let mut parts = FastParts::new(&frame).unwrap();
    for id in IDS {
        let part = parts.next_part(STATE.len()).unwrap().unwrap();
        assert_eq!((part.id, r::PRESENT_POSITION.value(&part.data[6..10])), (id, 2048));
    }
}

/// Goals to six servos, and their state back, at 4 Mbaud: 2 ms at most, as bytes go over the wire. What an adapter adds is not in
/// it: one that holds answers for 1 ms, twice a cycle, is slower than the wire.
#[test]
fn a_cycle_of_six_servos_at_four_megabaud_takes_less_than_two_milliseconds() {
    eprintln!("six XL330, sync write of 4 bytes and state of {} bytes:", STATE.len());
    eprintln!("  baud     delay    read       cycle");
    for baud in [57_600, 1_000_000, 4_000_000] {
        for delay in [250, 0] {
            let mut wire = Wire::new(baud);
            wire.prepare(delay);
            for how in [How::Single, How::Sync, How::Fast] {
                let time = wire.cycle(how);
                let delay_us = 2 * u32::from(delay);
                eprintln!(
                    "  {baud:7} {delay_us:4} us  {:6} {:7.3} ms",
                    format!("{how:?}"),
                    time * 1e3
                );
                if (baud, delay, how) == (4_000_000, 0, How::Fast) {
                    // 44 + 20 + 116 bytes of 2.5 us.
                    let least = 180.0 * 2.5e-6;
                    assert!(time >= least && time < least + 20e-6, "{time} s of {least} s");
                    assert!(time <= 2e-3);
                }
            }
        }
    }
}
