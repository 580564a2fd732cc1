//! Tickets: what was rehearsed may be carried out once, by whom it was rehearsed for, while nothing has changed.

use std::collections::VecDeque;

use subtle::{Choice, ConstantTimeEq as _};

use crate::canonical::hexadecimal;
use crate::check::Command;
use crate::envelope::Approval;
use crate::refusal::{Code, Refusal};
use crate::time::Elapsed;

/// Tickets that are kept, of all principals; then the oldest is forgotten.
const KEPT: usize = 256;
/// Tickets that are kept of one principal, so that none makes the others' be forgotten.
const KEPT_OF_ONE: usize = 32;
/// Bytes of a ticket: 128 bits.
const BYTES: usize = 16;

/// What was rehearsed.
#[derive(Debug, Clone, PartialEq)]
pub struct Rehearsed {
    /// Number of the rehearsal.
    pub number: u64,
    /// Principal for whom.
    pub principal: String,
    /// Command.
    pub command: Command,
    /// Digest of the world before it.
    pub world: String,
    /// Digest of robot model and build.
    pub build: String,
    /// Seed of the copies.
    pub seed: u64,
}

/// Ticket that was not used yet.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OpenTicket<'a> {
    /// What it is for.
    pub rehearsed: &'a Rehearsed,
    /// Who has to approve.
    pub approval: Approval,
}

/// What is, when a ticket is to be used.
#[derive(Debug, Clone, PartialEq)]
pub struct Present {
    /// Digest of the world.
    pub world: String,
    /// Digest of robot model and build.
    pub build: String,
    /// Whether robot and objects are at rest and within the bounds for which a rehearsal is repeated.
    pub is_near: bool,
}

/// Ticket that was used just now.
#[derive(Debug, Clone, PartialEq)]
pub struct Redeemed {
    /// What it was for.
    pub rehearsed: Rehearsed,
    /// Whether the world is a little different, so that it is rehearsed again before the act.
    pub is_to_repeat: bool,
}

#[derive(Debug)]
struct Ticket {
    bits: [u8; BYTES],
    rehearsed: Rehearsed,
    envelope: String,
    /// End of its validity, in elapsed time. [s]
    ends: f64,
    approval: Approval,
    is_used: bool,
}

/// Who wants to use which ticket under which envelope.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Claim<'a> {
    pub principal: &'a str,
    pub ticket: &'a str,
    pub envelope: &'a str,
}

/// Store of tickets.
#[derive(Debug, Default)]
pub(crate) struct Tickets {
    /// The oldest first.
    tickets: VecDeque<Ticket>,
    time: Elapsed,
}

/// Envelope of a ticket, and the time for which it is valid.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Validity<'a> {
    pub envelope: &'a str,
    /// Who has to approve.
    pub approval: Approval,
    /// Time from now. [s]
    pub ttl_s: f64,
}

impl Tickets {
    /// New ticket of 128 random bits; `None` if these bits are already one.
    pub(crate) fn issue(
        &mut self,
        rehearsed: Rehearsed,
        validity: Validity<'_>,
        random: [u8; BYTES],
        now: f64,
    ) -> Option<String> {
        let ends = self.time.at(now) + validity.ttl_s;
        if self.position(&random).is_some() {
            return None;
        }
        self.make_room(&rehearsed.principal);
        let Validity { envelope, approval, .. } = validity;
        let envelope = envelope.to_owned();
        let ticket = Ticket { bits: random, rehearsed, envelope, ends, approval, is_used: false };
        self.tickets.push_back(ticket);
        Some(hexadecimal(&random))
    }

    /// A ticket of a principal, as long as it is not used.
    pub(crate) fn find(&self, principal: &str, ticket: &str) -> Option<OpenTicket<'_>> {
        let index = bits(ticket).and_then(|bits| self.position(&bits));
        let Ticket { rehearsed, approval, is_used, .. } = self.tickets.get(index?)?;
        let is_open = !is_used && rehearsed.principal == principal;
        is_open.then_some(OpenTicket { rehearsed, approval: *approval })
    }

    /// Uses a ticket up.
    pub(crate) fn redeem(
        &mut self,
        claim: &Claim<'_>,
        present: &Present,
        now: f64,
    ) -> Result<Redeemed, Refusal> {
        let now = self.time.at(now);
        let index = bits(claim.ticket).and_then(|bits| self.position(&bits));
        let ticket = index.and_then(|index| self.tickets.get_mut(index));
        // Whose it is is not said.
        let ticket = ticket.filter(|ticket| ticket.rehearsed.principal == claim.principal);
        let Some(ticket) = ticket else {
            return Err(refusal(Code::TicketUnknown, "rehearse, and act with the ticket you get"));
        };
        if ticket.is_used {
            return Err(refusal(Code::TicketUsed, "rehearse again: a ticket is for one act"));
        }
        if now >= ticket.ends {
            return Err(refusal(Code::TicketExpired, "rehearse again, and act sooner"));
        }
        if ticket.envelope != claim.envelope {
            return Err(stale("rehearse again: the envelope is another", "envelope"));
        }
        if ticket.rehearsed.build != present.build {
            return Err(stale("rehearse again: the robot's model or program is another", "build"));
        }
        let is_same = ticket.rehearsed.world == present.world;
        if !is_same && !present.is_near {
            return Err(stale("rehearse again: something has moved since", "world"));
        }
        ticket.is_used = true;
        Ok(Redeemed { rehearsed: ticket.rehearsed.clone(), is_to_repeat: !is_same })
    }

    /// Place of a ticket, in a time that does not depend on the bits of any.
    fn position(&self, bits: &[u8; BYTES]) -> Option<usize> {
        let equal: Vec<Choice> =
            self.tickets.iter().map(|ticket| ticket.bits.ct_eq(bits)).collect();
        equal.into_iter().position(bool::from)
    }

    fn make_room(&mut self, principal: &str) {
        let is_own = |ticket: &Ticket| ticket.rehearsed.principal == principal;
        if self.tickets.iter().filter(|ticket| is_own(ticket)).count() >= KEPT_OF_ONE
            && let Some(oldest) = self.tickets.iter().position(is_own)
        {
            self.tickets.remove(oldest);
        } else if self.tickets.len() >= KEPT {
            self.tickets.pop_front();
        }
    }
}

/// Bits of 32 hexadecimal digits.
fn bits(text: &str) -> Option<[u8; BYTES]> {
    let digits = text.as_bytes();
    if digits.len() != 2 * BYTES {
        return None;
    }
    let mut bits = [0; BYTES];
    for (byte, pair) in bits.iter_mut().zip(digits.chunks_exact(2)) {
        for &digit in pair {
            let value = match digit {
                b'0'..=b'9' => digit - b'0',
                b'a'..=b'f' => digit - b'a' + 10,
                _ => return None,
            };
            *byte = *byte << 4 | value;
        }
    }
    Some(bits)
}

// The ticket itself is not repeated: logs are read by others.
fn refusal(code: Code, hint: &'static str) -> Refusal {
    let mut refusal = Refusal::new(code, hint);
    refusal.field = Some("ticket".to_owned());
    refusal
}

fn stale(hint: &'static str, what: &'static str) -> Refusal {
    Refusal::new(Code::StaleTicket, hint).of("ticket", what)
}

#[cfg(test)]
mod tests;
