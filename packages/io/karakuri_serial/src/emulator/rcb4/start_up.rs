//! What is in the ROM when the board leaves the factory, and what it does when power comes.

use super::Setup;
use super::memory::Memory;
use crate::codec::ics::CENTRE;
use crate::codec::rcb4::memory::{
    CONFIGURATION, Configuration, ICS_TABLE, PROGRAM_COUNTER, RECORD_SIZE, RECORDS,
    ROM_CONFIGURATION, ROM_ICS_TABLE, ROM_LOAD_CONFIGURATION, ROM_MAIN_LOOP, ROM_RECORDS,
    UNASSIGNED, record, record_of,
};
use crate::codec::rcb4::{Condition, Goal, Place, Request, SERVOS, Source};

/// Frames of 15 ms, servos at 1.25 Mbaud.
const FLAT: u16 = Configuration::ICS | 1 << 4 | 2 << 13;

/// Writes the start-up program, which loads the configuration and goes to a main loop that does nothing, and what it loads.
pub(super) fn fill_rom(memory: &mut Memory, setup: &Setup) {
    let mut program = Vec::new();
    let load = Source::Rom { address: ROM_CONFIGURATION, count: 2 };
    Request::Move { to: Place::Ram { address: CONFIGURATION }, from: load }.encode(&mut program);
    let go = Request::Jump { address: ROM_MAIN_LOOP, condition: Condition::default() };
    go.encode(&mut program);
    memory.burn(ROM_LOAD_CONFIGURATION, &program);
    program.clear();
    go.encode(&mut program);
    memory.burn(ROM_MAIN_LOOP, &program);

    let project = Configuration::RUN | Configuration::VECTORS;
    let word = Configuration(if setup.project { FLAT | project } else { FLAT });
    let word = word.with_baud(setup.baud).unwrap_or(word);
    memory.burn(ROM_CONFIGURATION, &word.0.to_le_bytes());

    for servo in 0..SERVOS {
        let is_assigned = setup.project && setup.servos.iter().any(|s| usize::from(*s) == servo);
        let (entry, reference) =
            if is_assigned { (record_of(servo), Goal::Hold.word()) } else { (UNASSIGNED, CENTRE) };
        let index = u32::try_from(servo).unwrap_or(0);
        memory.burn(ROM_ICS_TABLE + 2 * index, &entry.to_le_bytes());
        let start = ROM_RECORDS + u32::from(RECORD_SIZE) * index;
        memory.burn(start, &[0; RECORD_SIZE as usize]);
        memory.burn(start + u32::from(record::REFERENCE), &reference.to_le_bytes());
        for mix in record::MIXES {
            memory.burn(start + u32::from(mix), &UNASSIGNED.to_le_bytes());
        }
    }
}

/// Copies to RAM what start-up copies, and begins its program.
pub(super) fn power_up(memory: &mut Memory) {
    let mut copy = |from: u32, to: u16, size: u16| {
        let bytes = memory.rom(from).iter().take(size.into()).copied().collect::<Vec<_>>();
        memory.store(to, &bytes);
    };
    let n_servos = u16::try_from(SERVOS).unwrap_or(0);
    let [n_entries, n_records] = [2, RECORD_SIZE].map(|size| size * n_servos);
    copy(ROM_CONFIGURATION, CONFIGURATION, 2);
    copy(ROM_ICS_TABLE, ICS_TABLE, n_entries);
    copy(ROM_RECORDS, RECORDS, n_records);
    let [a, b, c, _] = ROM_LOAD_CONFIGURATION.to_le_bytes();
    memory.store(PROGRAM_COUNTER, &[a, b, c]);
}
