//! Frames of Modbus RTU, as far as grippers use them.

use super::crc::crc;

/// Most words of a request or an answer. [Modbus 1.1b3, §6.3]
pub const MAX_WORDS: usize = 125;

pub(super) const READ_HOLDING: u8 = 3;
pub(super) const READ_INPUT: u8 = 4;
pub(super) const WRITE: u8 = 16;
pub(super) const READ_WRITE: u8 = 23;
/// Bit of a function's code in an exception.
pub(super) const EXCEPTION: u8 = 0x80;

/// Words of registers, [`MAX_WORDS`] at most.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Words {
    words: [u16; MAX_WORDS],
    n: usize,
}

impl Words {
    /// Up to [`MAX_WORDS`] of them; none if there are more.
    pub fn new(words: &[u16]) -> Option<Self> {
        let mut all = Self { words: [0; MAX_WORDS], n: words.len() };
        all.words.get_mut(..words.len())?.copy_from_slice(words);
        Some(all)
    }

    /// From big-endian bytes, of which there are an even number and not too many.
    pub(super) fn from_bytes(bytes: &[u8]) -> Self {
        let mut all = Self { words: [0; MAX_WORDS], n: 0 };
        for (word, pair) in all.words.iter_mut().zip(bytes.chunks_exact(2)) {
            *word = u16::from_be_bytes([pair[0], pair[1]]);
            all.n += 1;
        }
        all
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.push(narrow(2 * self.n));
        for word in self.iter() {
            out.extend(word.to_be_bytes());
        }
    }
}

impl std::ops::Deref for Words {
    type Target = [u16];

    fn deref(&self) -> &[u16] {
        &self.words[..self.n]
    }
}

impl std::fmt::Debug for Words {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// Which registers a read is of; a gripper answers both alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadFunction {
    /// Function 3.
    Holding,
    /// Function 4.
    Input,
}

impl ReadFunction {
    fn code(self) -> u8 {
        match self {
            Self::Holding => READ_HOLDING,
            Self::Input => READ_INPUT,
        }
    }
}

/// What a host sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request {
    /// Read words: functions 3 and 4.
    Read {
        /// Of which registers.
        function: ReadFunction,
        /// First one.
        address: u16,
        /// How many words.
        count: u16,
    },
    /// Write words: function 16.
    Write {
        /// First one.
        address: u16,
        /// The words.
        words: Words,
    },
    /// Write words, then read others: function 23.
    ReadWrite {
        /// First one to be read.
        read_address: u16,
        /// How many words to read.
        read_count: u16,
        /// First one to be written.
        write_address: u16,
        /// The words to be written.
        words: Words,
    },
    /// A function that grippers do not have, of those with frames of eight bytes.
    Other {
        /// Its code: 1, 2, 5 or 6.
        function: u8,
        /// The four bytes after it.
        data: [u8; 4],
    },
}

impl Request {
    /// Code of its function.
    pub fn function(&self) -> u8 {
        match self {
            Self::Read { function, .. } => function.code(),
            Self::Write { .. } => WRITE,
            Self::ReadWrite { .. } => READ_WRITE,
            Self::Other { function, .. } => *function,
        }
    }

    /// Append its frame for a slave.
    pub fn encode(&self, slave: u8, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend([slave, self.function()]);
        match self {
            Self::Read { address, count, .. } => append(&[*address, *count], out),
            Self::Write { address, words } => {
                append(&[*address, count(words)], out);
                words.encode(out);
            }
            Self::ReadWrite { read_address, read_count, write_address, words } => {
                append(&[*read_address, *read_count, *write_address, count(words)], out);
                words.encode(out);
            }
            Self::Other { data, .. } => out.extend(data),
        }
        close(start, out);
    }
}

/// What a gripper answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "lives on the stack, where nothing is allocated")]
pub enum Answer {
    /// Words that were read.
    Words {
        /// Code of the function that asked for them: 3, 4 or 23.
        function: u8,
        /// The words.
        words: Words,
    },
    /// Words are written.
    Written {
        /// First one.
        address: u16,
        /// How many.
        count: u16,
    },
    /// The request was not followed.
    Exception {
        /// Code of the function that was asked for.
        function: u8,
        /// Why.
        exception: Exception,
    },
}

/// Why a request was not followed. [Modbus 1.1b3, §7]
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Exception {
    /// The gripper does not have the function.
    #[error("the gripper does not have this function")]
    Function,
    /// A register does not exist, or cannot be written.
    #[error("there is no such register")]
    Address,
    /// A count that no request may have.
    #[error("a count that no request may have")]
    Value,
    /// A code of another kind.
    #[error("exception {0}")]
    Other(u8),
}

impl Exception {
    pub(super) fn from_code(code: u8) -> Self {
        match code {
            1 => Self::Function,
            2 => Self::Address,
            3 => Self::Value,
            _ => Self::Other(code),
        }
    }

    fn code(self) -> u8 {
        match self {
            Self::Function => 1,
            Self::Address => 2,
            Self::Value => 3,
            Self::Other(code) => code,
        }
    }
}

impl Answer {
    /// Append its frame from a slave.
    pub fn encode(&self, slave: u8, out: &mut Vec<u8>) {
        let start = out.len();
        match self {
            Self::Words { function, words } => {
                out.extend([slave, *function]);
                words.encode(out);
            }
            Self::Written { address, count } => {
                out.extend([slave, WRITE]);
                append(&[*address, *count], out);
            }
            Self::Exception { function, exception } => {
                out.extend([slave, function | EXCEPTION, exception.code()]);
            }
        }
        close(start, out);
    }

    /// Whether it can be the answer to a request: by function, and by the number of words.
    pub fn is_of(&self, request: &Request) -> bool {
        match (self, request) {
            (Self::Exception { function, .. }, _) => *function == request.function(),
            (
                Self::Words { function, words },
                Request::Read { count: asked, .. } | Request::ReadWrite { read_count: asked, .. },
            ) => *function == request.function() && words.len() == usize::from(*asked),
            (Self::Written { address, count: n }, Request::Write { address: asked, words }) => {
                address == asked && *n == count(words)
            }
            _ => false,
        }
    }
}

fn append(words: &[u16], out: &mut Vec<u8>) {
    for word in words {
        out.extend(word.to_be_bytes());
    }
}

/// How many words there are: [`MAX_WORDS`] at most.
fn count(words: &Words) -> u16 {
    u16::from(narrow(words.len()))
}

/// A number of bytes of [`MAX_WORDS`], at most 250.
fn narrow(n: usize) -> u8 {
    u8::try_from(n).unwrap_or(u8::MAX)
}

fn close(start: usize, out: &mut Vec<u8>) {
    let crc = crc(&out[start..]);
    out.extend(crc.to_le_bytes());
}
