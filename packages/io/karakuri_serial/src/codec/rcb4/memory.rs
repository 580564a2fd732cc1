//! What is where in the board's memories.

/// Number of servos, [`super::SERVOS`].
const N: u32 = 35;
/// Bytes of the RAM.
pub const RAM_SIZE: u16 = 0x0490;
/// Bytes of the ROM.
pub const ROM_SIZE: u32 = 0x4_0000;
/// A write to the ROM stays within a page of so many bytes.
pub const ROM_PAGE: u32 = 128;
/// Time that the ROM needs for a write, after it is acknowledged. [s]
pub const ROM_WRITE_TIME: f64 = 0.020;

/// A part of a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Region {
    /// What it holds.
    pub name: &'static str,
    /// Its first address.
    pub address: u32,
    /// Its bytes.
    pub size: u32,
}

const fn region(name: &'static str, address: u32, size: u32) -> Region {
    Region { name, address, size }
}

/// Parts of the RAM.
pub const RAM: [Region; 12] = [
    region("configuration", CONFIGURATION as u32, 2),
    region("program counter and flags", PROGRAM_COUNTER as u32, 10),
    region("analogue inputs", 0x0022, 22),
    region("direction of ports", 0x0038, 2),
    region("ports", 0x003a, 2),
    region("timers", TIMERS as u32, 2 * N_TIMERS as u32),
    region("ICS table", ICS_TABLE as u32, 2 * N),
    region("servo records", RECORDS as u32, RECORD_SIZE as u32 * N),
    region("buttons of the remote control", 0x0350, 2),
    region("axes of the remote control", 0x0352, 8),
    region("counters", 0x0457, 10),
    region("user variables", 0x0462, 40),
];

/// Parts of the ROM.
pub const ROM: [Region; 7] = [
    region("command that loads the configuration", ROM_LOAD_CONFIGURATION, 11),
    region("start-up motion", 0x0444, 7),
    region("main loop", ROM_MAIN_LOOP, 0x05dc - 0x044b),
    region("configuration", ROM_CONFIGURATION, 2),
    region("ICS table", ROM_ICS_TABLE, 2 * (N + 1)),
    region("servo records", ROM_RECORDS, RECORD_SIZE as u32 * N),
    region("motions", ROM_MOTIONS, MOTIONS * MOTION_SIZE),
];

/// RAM: the [`Configuration`].
pub const CONFIGURATION: u16 = 0x0000;
/// RAM: address of the next step of the ROM program, and its flags.
pub const PROGRAM_COUNTER: u16 = 0x0002;
/// RAM: words that fall by one every 100 ms and are 8000h when they have run out.
pub const TIMERS: u16 = 0x003c;
/// Number of timers.
pub const N_TIMERS: u16 = 4;
/// RAM: a word a servo, the address of its record, or [`UNASSIGNED`].
pub const ICS_TABLE: u16 = 0x0044;
/// Entry of the ICS table of a servo that the board does not talk to.
pub const UNASSIGNED: u16 = 0xffff;
/// RAM: records of servos.
pub const RECORDS: u16 = 0x0090;
/// Bytes of a servo's record.
pub const RECORD_SIZE: u16 = 20;

/// ROM: the step of the start-up program that loads the configuration.
pub const ROM_LOAD_CONFIGURATION: u32 = 0x0333;
/// ROM: where the main loop begins.
pub const ROM_MAIN_LOOP: u32 = 0x044b;
/// ROM: the configuration that start-up loads.
pub const ROM_CONFIGURATION: u32 = 0x05dc;
/// ROM: the ICS table that start-up loads.
pub const ROM_ICS_TABLE: u32 = 0x05de;
/// ROM: the servo records that start-up loads.
pub const ROM_RECORDS: u32 = 0x0626;
/// ROM: where motions begin (`HeartToHeart4` from 2.2 on).
pub const ROM_MOTIONS: u32 = 0x0b80;
/// Bytes of a motion.
pub const MOTION_SIZE: u32 = 0x0800;
/// Number of motions.
pub const MOTIONS: u32 = 120;

/// Offsets in a servo's record.
pub mod record {
    /// Added to the reference; its negative to what is read. A word in two's complement. [counts]
    pub const TRIM: u16 = 2;
    /// What the servo has reported last, 0 for nothing. [counts]
    pub const PRESENT: u16 = 4;
    /// Where the board drives the servo now, on its path to the goal. [counts]
    pub const REFERENCE: u16 = 6;
    /// Steps of the move that are left, 0 for a servo that has arrived. [output frames]
    pub const STEPS_LEFT: u16 = 8;
    /// Where the move ends. (Assumed.) [counts]
    pub const GOAL: u16 = 9;
    /// Steps of the whole move. [output frames]
    pub const STEPS: u16 = 11;
    /// Sources that are added, each a word with a byte of ratio after it; `FFFFh` is none.
    pub const MIXES: [u16; 2] = [14, 17];
}

/// Address of the record of a servo with an ICS number.
pub fn record_of(servo: usize) -> u16 {
    u16::try_from(servo).unwrap_or(u16::MAX).saturating_mul(RECORD_SIZE).saturating_add(RECORDS)
}

/// First address of a motion of the ROM, counted from 0; none from 120 on.
pub fn motion_address(motion: u32) -> Option<u32> {
    (motion < MOTIONS).then_some(ROM_MOTIONS + motion * MOTION_SIZE)
}

/// The motion of whose memory an address is a part.
pub fn motion_at(address: u32) -> Option<u32> {
    let motion = address.checked_sub(ROM_MOTIONS)? / MOTION_SIZE;
    (motion < MOTIONS).then_some(motion)
}

/// The word that says what the board does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Configuration(pub u16);

impl Configuration {
    /// Servos are talked to.
    pub const ICS: u16 = 1 << 0;
    /// The ROM program runs.
    pub const RUN: u16 = 1 << 1;
    /// Vector jumps are done.
    pub const VECTORS: u16 = 1 << 3;
    /// Bits of the output frame.
    pub const FRAME: u16 = 3 << 4;
    /// Bits of the baud rate of the line to the host.
    pub const BAUD: u16 = 3 << 6;
    /// The last result was 0.
    pub const ZERO: u16 = 1 << 8;
    /// The last result did not fit.
    pub const CARRY: u16 = 1 << 9;
    /// The ROM program came to something that is no step.
    pub const PROGRAM_ERROR: u16 = 1 << 10;
    /// Bits of the baud rate of the servos, coded as that of the host.
    pub const ICS_BAUD: u16 = 3 << 13;
    /// The green light.
    pub const LIGHT: u16 = 1 << 15;

    /// Whether bits are set.
    pub fn has(self, bits: u16) -> bool {
        self.0 & bits == bits
    }

    /// Period at which servos are driven. [s]
    pub fn frame_time(self) -> f64 {
        [0.010, 0.015, 0.020, 0.025][usize::from((self.0 & Self::FRAME) >> 4)]
    }

    /// Baud rate of the line to the host; none for a code without a meaning. [bit/s]
    pub fn baud(self) -> Option<u32> {
        super::BAUDS.get(usize::from((self.0 & Self::BAUD) >> 6)).copied()
    }

    /// The same with another baud rate of the line to the host; none for one that the board does not have. [bit/s]
    pub fn with_baud(self, baud: u32) -> Option<Self> {
        let code = super::BAUDS.iter().position(|known| *known == baud)?;
        Some(Self(self.0 & !Self::BAUD | u16::try_from(code).ok()? << 6))
    }

    /// Baud rate of the servos; none for a code without a meaning. [bit/s]
    pub fn ics_baud(self) -> Option<u32> {
        super::BAUDS.get(usize::from((self.0 & Self::ICS_BAUD) >> 13)).copied()
    }
}
