//! Bytes to requests, as a board reads them, and to answers, as its host does.

use super::value::{decode_channels, decode_trims, length, within};
use super::{
    ACK, Answer, Command, FrameError, KeyAssignment, LONGEST, MAX_ID, MOTIONS, Order, POSITIONS,
    Pose, Request, SCENARIO_LENGTH, SCENARIOS, SET_ID, Switches, check_sum,
};

/// Reads requests.
///
/// Nothing marks the start of a frame, and positions may look like commands: `FF 5A` is "keep, 90°" as well as "set id". A wrong frame
/// is therefore dropped as a whole, never searched for another one; the next begins after it, or after a pause
/// ([`reset`](Self::reset)).
#[derive(Debug, Clone, Default)]
pub struct RequestDecoder {
    bytes: [u8; LONGEST],
    len: usize,
}

impl RequestDecoder {
    /// Takes one byte.
    pub fn push(&mut self, byte: u8) -> Option<Result<Request, FrameError>> {
        let first = if self.len == 0 { byte } else { self.bytes[0] };
        let Some(command) = Command::of(first) else {
            return Some(Err(FrameError::Unknown { code: byte }));
        };
        self.bytes[self.len] = byte;
        self.len += 1;
        if self.len < command.request {
            return None;
        }
        let len = std::mem::take(&mut self.len);
        Some(decode_request(&self.bytes[..len]))
    }

    /// Forgets the bytes of an unfinished frame.
    pub fn reset(&mut self) {
        self.len = 0;
    }
}

/// Reads the answer to one request.
#[derive(Debug, Clone, Default)]
pub struct AnswerDecoder {
    request: Option<Request>,
    bytes: [u8; LONGEST],
    len: usize,
}

impl AnswerDecoder {
    /// Forgets what was read and awaits the answer to a request.
    pub fn expect(&mut self, request: Request) {
        *self = Self { request: Some(request), ..Self::default() };
    }

    /// Takes one byte. After a wrong frame the search goes on at its second byte.
    pub fn push(&mut self, byte: u8) -> Option<Result<Answer, FrameError>> {
        let Some(request) = self.request else {
            return Some(Err(FrameError::Unknown { code: byte }));
        };
        let answer = Command::of(request.code())?.answer;
        self.bytes[self.len] = byte;
        self.len += 1;
        let mut wrong = None;
        while self.len > 0 {
            let awaited = match request {
                Request::GetId => self.bytes[0] <= MAX_ID,
                Request::SetId { id } | Request::Board { id, .. } => self.bytes[0] == id,
            };
            if !awaited {
                wrong = Some(FrameError::Unknown { code: self.bytes[0] });
            } else if self.len < answer {
                break;
            } else {
                match decode_answer(&request, &self.bytes[..answer]) {
                    Ok(answer) => {
                        self.request = None;
                        return Some(Ok(answer));
                    }
                    Err(error) => wrong = Some(error),
                }
            }
            self.bytes.copy_within(1..self.len, 0);
            self.len -= 1;
        }
        wrong.map(Err)
    }

    /// Id of the board that has answered.
    pub fn id(&self) -> u8 {
        self.bytes[0]
    }
}

fn decode_request(frame: &[u8]) -> Result<Request, FrameError> {
    check_sum(frame)?;
    match frame {
        [0xff, SET_ID, id, _] => Ok(Request::SetId { id: within("id", *id, MAX_ID)? }),
        [0xff, code, ..] => Err(FrameError::Unknown { code: *code }),
        [0xfe, _] => Ok(Request::GetId),
        [code, id, data @ .., _] => {
            let id = within("id", *id, MAX_ID)?;
            Ok(Request::Board { id, order: decode_order(*code, data)? })
        }
        _ => Err(length(frame.len(), 2)),
    }
}

fn decode_order(code: u8, data: &[u8]) -> Result<Order, FrameError> {
    Ok(match (code, data) {
        (0xfd, pose) => Order::Move(Pose::decode(pose)?),
        (0xfc, _) => Order::Positions,
        (0xfb, _) => Order::StoreHome,
        (0xfa, _) => Order::Home,
        (0xf9, [motion, position, pose @ ..]) => Order::WritePosition {
            motion: a_motion(*motion)?,
            position: within("position", *position, POSITIONS - 1)?,
            pose: Pose::decode(pose)?,
        },
        (0xf8, [motion, position]) => Order::ReadPosition {
            motion: a_motion(*motion)?,
            position: within("position", *position, POSITIONS - 1)?,
        },
        (0xf7, [motion, count]) => Order::SetPositionCount {
            motion: a_motion(*motion)?,
            count: within("count", *count, POSITIONS)?,
        },
        (0xf6, [motion]) => Order::PositionCount { motion: a_motion(*motion)? },
        (0xf5, [scenario, index, motion]) => Order::WriteScenario {
            scenario: a_scenario(*scenario)?,
            index: within("index", *index, SCENARIO_LENGTH - 1)?,
            motion: a_motion(*motion)?,
        },
        (0xf4, [scenario, index]) => Order::ReadScenario {
            scenario: a_scenario(*scenario)?,
            index: within("index", *index, SCENARIO_LENGTH - 1)?,
        },
        (0xf3, [scenario, count]) => Order::SetScenarioLength {
            scenario: a_scenario(*scenario)?,
            count: within("count", *count, SCENARIO_LENGTH)?,
        },
        (0xf2, [scenario]) => Order::ScenarioLength { scenario: a_scenario(*scenario)? },
        (0xf1, [bits]) => Order::SetSwitches(Switches::from_bits(*bits)),
        (0xf0, _) => Order::Switches,
        (0xef, [motion]) => Order::PlayMotion { motion: a_motion(*motion)? },
        (0xee, [scenario]) => Order::PlayScenario { scenario: a_scenario(*scenario)? },
        (0xed, &[key, kind, number, mode]) => {
            Order::SetKey(KeyAssignment { key, kind, number, mode })
        }
        (0xec, [key]) => Order::Key { key: *key },
        (0xe9, trims) => Order::SetTrims(decode_trims(trims)?),
        (0xe8, _) => Order::Trims,
        _ => return Err(FrameError::Unknown { code }),
    })
}

fn decode_answer(request: &Request, frame: &[u8]) -> Result<Answer, FrameError> {
    let order = match request {
        Request::GetId => return check_sum(frame).map(|()| Answer::Id),
        Request::SetId { .. } => return acknowledged(frame),
        Request::Board { order, .. } => order,
    };
    if frame.len() == 2 {
        return acknowledged(frame);
    }
    check_sum(frame)?;
    let data = frame.get(1..frame.len() - 1).unwrap_or_default();
    Ok(match (order, data) {
        (Order::Positions | Order::Home, data) => Answer::Channels(decode_channels(data)?),
        (Order::ReadPosition { .. }, data) => Answer::Pose(Pose::decode(data)?),
        (Order::PositionCount { .. }, [count]) => {
            Answer::Count(within("count", *count, POSITIONS)?)
        }
        (Order::ScenarioLength { .. }, [count]) => {
            Answer::Count(within("count", *count, SCENARIO_LENGTH)?)
        }
        (Order::ReadScenario { .. }, [motion]) => Answer::Motion(a_motion(*motion)?),
        (Order::Switches, [bits]) => Answer::Switches(Switches::from_bits(*bits)),
        (Order::Key { key }, &[kind, number, mode]) => {
            Answer::Key(KeyAssignment { key: *key, kind, number, mode })
        }
        (Order::Trims, data) => Answer::Trims(decode_trims(data)?),
        _ => return Err(FrameError::Unknown { code: request.code() }),
    })
}

fn acknowledged(frame: &[u8]) -> Result<Answer, FrameError> {
    match frame {
        [_, ACK] => Ok(Answer::Done),
        [.., code] => Err(FrameError::Unknown { code: *code }),
        [] => Err(length(0, 2)),
    }
}

fn a_motion(byte: u8) -> Result<u8, FrameError> {
    within("motion", byte, MOTIONS - 1)
}

fn a_scenario(byte: u8) -> Result<u8, FrameError> {
    within("scenario", byte, SCENARIOS - 1)
}
