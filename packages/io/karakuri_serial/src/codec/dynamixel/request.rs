//! What a host asks of servos.

use super::answer::ErrorNumber;
use super::frame::{BROADCAST, Frame, Writer};

/// Codes of instructions.
pub(super) mod code {
    pub(in super::super) const STATUS: u8 = 0x55;
    pub(super) const PING: u8 = 0x01;
    pub(super) const READ: u8 = 0x02;
    pub(super) const WRITE: u8 = 0x03;
    pub(super) const REG_WRITE: u8 = 0x04;
    pub(super) const ACTION: u8 = 0x05;
    pub(super) const FACTORY_RESET: u8 = 0x06;
    pub(super) const REBOOT: u8 = 0x08;
    pub(super) const CLEAR: u8 = 0x10;
    pub(super) const BACKUP: u8 = 0x20;
    pub(super) const SYNC_READ: u8 = 0x82;
    pub(super) const SYNC_WRITE: u8 = 0x83;
    pub(super) const FAST_SYNC_READ: u8 = 0x8A;
    pub(super) const BULK_READ: u8 = 0x92;
    pub(super) const BULK_WRITE: u8 = 0x93;
    pub(super) const FAST_BULK_READ: u8 = 0x9A;
}

/// Parameters of what must not happen by accident: a selector, then letters.
const CLEAR_TURNS: [u8; 5] = [0x01, b'D', b'X', b'L', b'"'];
const STORE: [u8; 5] = [0x01, b'C', b'T', b'R', b'L'];
const RESTORE: [u8; 5] = [0x02, b'C', b'T', b'R', b'L'];

/// An instruction, and whom it is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request<'a> {
    /// Servo, or [`BROADCAST`]; instructions that list servos are for all.
    pub id: u8,
    /// What is to be done.
    pub instruction: Instruction<'a>,
}

/// What a servo can be asked to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Instruction<'a> {
    /// Say model and firmware.
    Ping,
    /// Read a part of the control table.
    Read(Block),
    /// Write from an address on.
    Write {
        /// First address.
        address: u16,
        /// What to write.
        data: &'a [u8],
    },
    /// Keep a write until [`Self::Action`].
    RegWrite {
        /// First address.
        address: u16,
        /// What to write.
        data: &'a [u8],
    },
    /// Do the writes that were kept.
    Action,
    /// Go back to the values of the factory.
    FactoryReset(Keep),
    /// Start again, as after power-up.
    Reboot,
    /// Forget whole turns: the position becomes one within a turn.
    ClearTurns,
    /// Keep a copy of the settings.
    Store,
    /// Bring the copy of the settings back, and start again.
    Restore,
    /// Read the same part of several servos.
    SyncRead {
        /// Which part.
        block: Block,
        /// Servos, in the order of their answers.
        ids: &'a [u8],
    },
    /// Write the same part of several servos, without an answer.
    SyncWrite {
        /// First address.
        address: u16,
        /// What to write to whom.
        items: SyncItems<'a>,
    },
    /// Read the same part of several servos, answered in one frame.
    FastSyncRead {
        /// Which part.
        block: Block,
        /// Servos, in the order of their parts.
        ids: &'a [u8],
    },
    /// Read parts of several servos.
    BulkRead(BulkReads<'a>),
    /// Write parts of several servos, without an answer.
    BulkWrite(BulkWrites<'a>),
    /// Read parts of several servos, answered in one frame.
    FastBulkRead(BulkReads<'a>),
}

/// A part of a control table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// First address.
    pub address: u16,
    /// Number of bytes.
    pub length: u16,
}

/// What a servo keeps in a reset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// Nothing: its id becomes 1. Not obeyed when sent to all.
    Nothing,
    /// Its id.
    Id,
    /// Its id and its baud rate.
    IdAndBaud,
}

/// Data of a sync write: per servo its id, and as many bytes as for the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SyncItems<'a> {
    /// Bytes per servo.
    pub length: u16,
    /// Ids, each with its bytes.
    pub bytes: &'a [u8],
}

/// What a bulk read lists: per servo its id, an address and a length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BulkReads<'a>(pub &'a [u8]);

/// Data of a bulk write: per servo its id, an address, a length and as many bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BulkWrites<'a>(pub &'a [u8]);

impl<'a> SyncItems<'a> {
    /// Id and bytes of each servo.
    pub fn iter(&self) -> impl Iterator<Item = (u8, &'a [u8])> + use<'a> {
        self.bytes
            .chunks_exact(usize::from(self.length) + 1)
            .filter_map(|item| item.split_first().map(|(&id, data)| (id, data)))
    }

    fn is_whole(&self) -> bool {
        self.length > 0 && self.bytes.len().is_multiple_of(usize::from(self.length) + 1)
    }
}

impl<'a> BulkReads<'a> {
    /// Id and part of each servo.
    pub fn iter(&self) -> impl Iterator<Item = (u8, Block)> + Clone + use<'a> {
        self.0.as_chunks().0.iter().map(|&[id, al, ah, ll, lh]| {
            let (address, length) = (u16::from_le_bytes([al, ah]), u16::from_le_bytes([ll, lh]));
            (id, Block { address, length })
        })
    }

    fn is_whole(&self) -> bool {
        self.0.len().is_multiple_of(5)
    }
}

impl<'a> BulkWrites<'a> {
    /// Id, first address and bytes of each servo.
    pub fn iter(&self) -> impl Iterator<Item = (u8, u16, &'a [u8])> + use<'a> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let (&[id, al, ah, ll, lh], after) = rest.split_first_chunk()?;
            let length = usize::from(u16::from_le_bytes([ll, lh]));
            let (data, after) = after.split_at_checked(length)?;
            rest = after;
            Some((id, u16::from_le_bytes([al, ah]), data))
        })
    }

    fn is_whole(&self) -> bool {
        self.iter().map(|(_, _, data)| data.len() + 5).sum::<usize>() == self.0.len()
    }
}

impl Block {
    fn write(self, writer: Writer<'_>) -> Writer<'_> {
        writer.word(self.address).word(self.length)
    }
}

impl<'a> Request<'a> {
    /// A request to all.
    pub fn to_all(instruction: Instruction<'a>) -> Self {
        Self { id: BROADCAST, instruction }
    }

    /// Appends the frame of it.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let writer = Writer::new(out, self.id, self.instruction.code());
        match self.instruction {
            Instruction::Ping | Instruction::Action | Instruction::Reboot => writer,
            Instruction::Read(block) => block.write(writer),
            Instruction::Write { address, data } | Instruction::RegWrite { address, data } => {
                writer.word(address).bytes(data)
            }
            Instruction::FactoryReset(keep) => writer.bytes(&[keep.code()]),
            Instruction::ClearTurns => writer.bytes(&CLEAR_TURNS),
            Instruction::Store => writer.bytes(&STORE),
            Instruction::Restore => writer.bytes(&RESTORE),
            Instruction::SyncRead { block, ids } | Instruction::FastSyncRead { block, ids } => {
                block.write(writer).bytes(ids)
            }
            Instruction::SyncWrite { address, items } => {
                writer.word(address).word(items.length).bytes(items.bytes)
            }
            Instruction::BulkRead(reads) | Instruction::FastBulkRead(reads) => {
                writer.bytes(reads.0)
            }
            Instruction::BulkWrite(writes) => writer.bytes(writes.0),
        }
        .end();
    }

    /// The request that a frame is, or what a servo answers to one that it does not understand.
    ///
    /// # Errors
    /// The number with which a servo answers: an instruction that the protocol lacks, or parameters of a wrong length.
    pub fn parse(frame: &Frame<'a>) -> Result<Self, ErrorNumber> {
        let params = frame.params;
        let instruction = match frame.instruction {
            code::PING => Some(Instruction::Ping),
            code::READ => block(params)
                .filter(|(_, rest)| rest.is_empty())
                .map(|(block, _)| Instruction::Read(block)),
            code::WRITE => {
                place(params).map(|(address, data)| Instruction::Write { address, data })
            }
            code::REG_WRITE => {
                place(params).map(|(address, data)| Instruction::RegWrite { address, data })
            }
            code::ACTION => Some(Instruction::Action),
            code::FACTORY_RESET => Keep::of(params).map(Instruction::FactoryReset),
            code::REBOOT => Some(Instruction::Reboot),
            code::CLEAR => (params == CLEAR_TURNS).then_some(Instruction::ClearTurns),
            code::BACKUP if params == STORE => Some(Instruction::Store),
            code::BACKUP => (params == RESTORE).then_some(Instruction::Restore),
            code::SYNC_READ => {
                block(params).map(|(block, ids)| Instruction::SyncRead { block, ids })
            }
            code::FAST_SYNC_READ => {
                block(params).map(|(block, ids)| Instruction::FastSyncRead { block, ids })
            }
            code::SYNC_WRITE => block(params)
                .map(|(block, bytes)| (block.address, SyncItems { length: block.length, bytes }))
                .filter(|(_, items)| items.is_whole())
                .map(|(address, items)| Instruction::SyncWrite { address, items }),
            code::BULK_READ => bulk_reads(params).map(Instruction::BulkRead),
            code::FAST_BULK_READ => bulk_reads(params).map(Instruction::FastBulkRead),
            code::BULK_WRITE => {
                Some(BulkWrites(params)).filter(BulkWrites::is_whole).map(Instruction::BulkWrite)
            }
            _ => return Err(ErrorNumber::Instruction),
        };
        let instruction = instruction.ok_or(ErrorNumber::Length)?;
        Ok(Self { id: frame.id, instruction })
    }
}

impl Instruction<'_> {
    fn code(&self) -> u8 {
        match self {
            Self::Ping => code::PING,
            Self::Read(_) => code::READ,
            Self::Write { .. } => code::WRITE,
            Self::RegWrite { .. } => code::REG_WRITE,
            Self::Action => code::ACTION,
            Self::FactoryReset(_) => code::FACTORY_RESET,
            Self::Reboot => code::REBOOT,
            Self::ClearTurns => code::CLEAR,
            Self::Store | Self::Restore => code::BACKUP,
            Self::SyncRead { .. } => code::SYNC_READ,
            Self::SyncWrite { .. } => code::SYNC_WRITE,
            Self::FastSyncRead { .. } => code::FAST_SYNC_READ,
            Self::BulkRead(_) => code::BULK_READ,
            Self::BulkWrite(_) => code::BULK_WRITE,
            Self::FastBulkRead(_) => code::FAST_BULK_READ,
        }
    }
}

impl Keep {
    fn code(self) -> u8 {
        match self {
            Self::Nothing => 0xFF,
            Self::Id => 0x01,
            Self::IdAndBaud => 0x02,
        }
    }

    fn of(params: &[u8]) -> Option<Self> {
        match params {
            [0xFF] => Some(Self::Nothing),
            [0x01] => Some(Self::Id),
            [0x02] => Some(Self::IdAndBaud),
            _ => None,
        }
    }
}

fn place(params: &[u8]) -> Option<(u16, &[u8])> {
    let (&address, data) = params.split_first_chunk()?;
    (!data.is_empty()).then_some((u16::from_le_bytes(address), data))
}

fn block(params: &[u8]) -> Option<(Block, &[u8])> {
    let (&[al, ah, ll, lh], rest) = params.split_first_chunk()?;
    let (address, length) = (u16::from_le_bytes([al, ah]), u16::from_le_bytes([ll, lh]));
    Some((Block { address, length }, rest))
}

fn bulk_reads(params: &[u8]) -> Option<BulkReads<'_>> {
    Some(BulkReads(params)).filter(BulkReads::is_whole)
}
