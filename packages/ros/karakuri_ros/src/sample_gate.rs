//! One answer per sample: the part of a node in lockstep (see `docs/lockstep.md`).
//!
//! A sample is the message with the positions (`joint_states`) and all others of its stamp. The gate joins them, whatever their
//! order; gives each sample out once; keeps the answer, so that the same sample gets the same answer; and detects that the
//! clock jumped back.

use std::time::{Duration, Instant};

use karakuri_spatial::Time;

use crate::{info, warn};

/// Condition under which an answer waits for an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Awaits {
    /// Waits in lockstep for its message of the sample itself; else for its first message only.
    Always,
    /// Waits in lockstep for its message of the sample itself; else not at all: a driver may have no such sensor.
    InLockstep,
    /// Waits in lockstep for its message of the sample itself, from its first message on, unless it falls silent; else not at
    /// all.
    OnceHeard,
}

/// Index of an input of a [`SampleGate`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InputId(usize);

/// Reception of a sample that is offered to a [`SampleGate`].
#[derive(Debug, PartialEq, Eq)]
pub enum Offer<'a, Answer> {
    /// The sample is new: [`SampleGate::take`] gives it out when its other messages are there.
    New,
    /// The sample was given out before. Its answer, if it has one, is to be published again: the simulation is paused, and a
    /// subscriber may have come late.
    Repeated(Option<&'a Answer>),
}

/// Sample of which all awaited messages are there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Turn {
    /// Stamp of its messages, and of the answer.
    pub stamp: Time,
    /// Time since the sample before.
    pub advance: Advance,
}

/// Time from the last sample that was given out to this one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Advance {
    /// No sample was given out before.
    First,
    /// Time since the last sample. [s]
    Forward(f64),
    /// The stamp is not after the last one: the simulation was reset, or its state replaced. Whatever was remembered of time is
    /// void.
    Backward,
}

impl Turn {
    /// Time since the sample before, in whole periods: one, and as many more as there were samples that did not come, up to `longest` [s].
    /// One `period` [s] where time did not go on from there.
    pub fn elapsed(&self, period: f64, longest: f64) -> f64 {
        match self.advance {
            Advance::Forward(gap) if gap <= longest => period * (gap / period).round().max(1.0),
            _ => period,
        }
    }
}

/// Gate that joins the messages of a sample by stamp, and keeps the answer.
#[derive(Debug)]
pub struct SampleGate<Answer> {
    lockstep: bool,
    inputs: Vec<Input>,
    /// Stamp of the newest sample, and whether it is still to be given out.
    newest: Option<Time>,
    is_due: bool,
    /// Positions of the newest sample, and of the one that was given out last. [rad or m] (nq)
    positions: Vec<f64>,
    taken_positions: Vec<f64>,
    taken: Option<Time>,
    answer: Answer,
    reply: Reply,
    /// Instant since which the newest sample waits for inputs.
    waiting_since: Option<Instant>,
}

/// State of the answer to the sample that was given out last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reply {
    /// The sample has no answer.
    None,
    /// The answer is still to be sent.
    Unsent,
    Sent,
}

#[derive(Debug)]
struct Input {
    topic: String,
    awaits: Awaits,
    /// Stamp of its newest message.
    stamp: Option<Time>,
    /// Whether an input of [`Awaits::OnceHeard`] was heard, and has not been silent for too long since.
    alive: bool,
}

impl Input {
    fn is_awaited(&self, lockstep: bool) -> bool {
        match self.awaits {
            Awaits::Always => true,
            Awaits::InLockstep => lockstep,
            Awaits::OnceHeard => lockstep && self.alive,
        }
    }

    /// Whether the sample stamped `stamp` lacks its message.
    fn is_missing(&self, lockstep: bool, stamp: Time) -> bool {
        let is_there = if lockstep { self.stamp == Some(stamp) } else { self.stamp.is_some() };
        self.is_awaited(lockstep) && !is_there
    }
}

impl<Answer> SampleGate<Answer> {
    /// Gate without inputs. `blank` is the answer that [`Self::answer`] returns to be filled in.
    pub fn new(lockstep: bool, blank: Answer) -> Self {
        Self {
            lockstep,
            inputs: Vec::new(),
            newest: None,
            is_due: false,
            positions: Vec::new(),
            taken_positions: Vec::new(),
            taken: None,
            answer: blank,
            reply: Reply::None,
            waiting_since: None,
        }
    }

    /// Sets whether inputs are awaited as in lockstep.
    pub fn set_lockstep(&mut self, lockstep: bool) {
        self.lockstep = lockstep;
    }

    /// Adds an input, named by its topic.
    pub fn add_input(&mut self, topic: &str, awaits: Awaits) -> InputId {
        let topic = topic.to_owned();
        self.inputs.push(Input { topic, awaits, stamp: None, alive: false });
        InputId(self.inputs.len() - 1)
    }

    /// Input of a topic.
    pub fn find_input(&self, topic: &str) -> Option<InputId> {
        self.inputs.iter().position(|input| input.topic == topic).map(InputId)
    }

    /// Notes a message of an input.
    pub fn hear(&mut self, input: InputId, stamp: Time) {
        let input = &mut self.inputs[input.0];
        input.stamp = Some(stamp);
        let is_alive = std::mem::replace(&mut input.alive, true);
        if input.awaits == Awaits::OnceHeard && !is_alive {
            info!("lockstep: `{}` is waited for from now on", input.topic);
        }
    }

    /// Takes over the sample stamped `stamp` with positions `q` (nq), unless it is the one that was given out last. A sample
    /// of the same stamp with other positions is new: the robot was put elsewhere.
    pub fn offer(&mut self, stamp: Time, q: &[f64]) -> Offer<'_, Answer> {
        if self.taken == Some(stamp) && self.taken_positions == q {
            return Offer::Repeated((self.reply != Reply::None).then_some(&self.answer));
        }
        self.positions.clear();
        self.positions.extend_from_slice(q);
        self.renew(stamp);
        Offer::New
    }

    /// Takes over the sample stamped `stamp`, also one that was given out: for a node that computes equal answers to
    /// equal samples.
    pub fn renew(&mut self, stamp: Time) {
        (self.newest, self.is_due) = (Some(stamp), true);
    }

    /// Gives out the newest sample, once, when all inputs that its answer waits for are there. A source (see
    /// [`Awaits::OnceHeard`]) that leaves it waiting for `patience` is not waited for until it is heard again. `now` is steady
    /// time.
    pub fn take(&mut self, now: Instant, patience: Duration) -> Option<Turn> {
        let stamp = self.newest.filter(|_| self.is_due)?;
        if !self.is_complete(stamp, now, patience) {
            return None;
        }
        self.is_due = false;
        self.reply = Reply::None;
        self.taken_positions.clone_from(&self.positions);
        let advance = match self.taken.replace(stamp) {
            None => Advance::First,
            Some(last) if stamp <= last => Advance::Backward,
            Some(last) => Advance::Forward(stamp.seconds_since(last)),
        };
        Some(Turn { stamp, advance })
    }

    fn is_complete(&mut self, stamp: Time, now: Instant, patience: Duration) -> bool {
        let lockstep = self.lockstep;
        let is_missing = |input: &Input| input.is_missing(lockstep, stamp);
        if !self.inputs.iter().any(is_missing) {
            self.waiting_since = None;
            return true;
        }
        let since = *self.waiting_since.get_or_insert(now);
        if now.saturating_duration_since(since) >= patience {
            let silent = |i: &&mut Input| i.awaits == Awaits::OnceHeard && is_missing(i);
            for source in self.inputs.iter_mut().filter(silent) {
                warn!(
                    "lockstep: `{}` is silent for {patience:?}; going on without it until it speaks again",
                    source.topic
                );
                source.alive = false;
            }
        }
        let is_complete = !self.inputs.iter().any(is_missing);
        if is_complete {
            self.waiting_since = None;
        }
        is_complete
    }

    /// Answer to the sample that was given out last, to be filled in; [`Self::send`] gives it out.
    pub fn answer(&mut self) -> &mut Answer {
        self.reply = Reply::Unsent;
        &mut self.answer
    }

    /// Withdraws the answer: the sample is not answered any more when it is repeated.
    pub fn withdraw(&mut self) {
        self.reply = Reply::None;
    }

    /// Takes the answer to be sent, once, unless it is withheld: time stands still until its requests to others are answered.
    pub fn send(&mut self, is_withheld: bool) -> Option<&Answer> {
        if self.reply != Reply::Unsent || is_withheld {
            return None;
        }
        self.reply = Reply::Sent;
        Some(&self.answer)
    }

    /// Stamp of the newest sample.
    pub fn newest(&self) -> Option<Time> {
        self.newest
    }

    /// Topics of the inputs that each sample waits for.
    pub fn awaited(&self) -> impl Iterator<Item = &str> {
        let awaited = self.inputs.iter().filter(|input| input.is_awaited(self.lockstep));
        awaited.map(|input| input.topic.as_str())
    }

    /// Topics of awaited inputs of which no message has come so far.
    pub fn unheard(&self) -> impl Iterator<Item = &str> {
        let awaited = self.inputs.iter().filter(|input| input.is_awaited(self.lockstep));
        awaited.filter(|input| input.stamp.is_none()).map(|input| input.topic.as_str())
    }
}

#[cfg(test)]
mod tests;
