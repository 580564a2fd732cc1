//! Who calls a verb, what is answered, and what is seen of an act under way.

use serde_json::Value;

/// What was said to the question whether an act may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agreement {
    /// The client says that somebody agreed: that proves no human.
    Client,
    /// A person at the robot agreed.
    Operator,
    /// Somebody did not agree, or nobody answered.
    Declined,
}

/// Call of a verb, with what the program cannot know by itself.
#[derive(Debug, Clone, Copy)]
pub struct Caller<'a> {
    /// Who calls.
    pub principal: &'a str,
    /// Reading of a clock that nobody sets: of it tickets expire. [s]
    pub now: f64,
    /// Time of day, for the log. [s since 1970]
    pub date: f64,
    /// Random bits, for a ticket.
    pub random: [u8; 16],
    /// What was said to the question before an act, if it was asked.
    pub agreement: Option<Agreement>,
}

/// Question whether an act may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// Number of the rehearsal.
    pub rehearsal: u64,
    /// The question, in constant words, numbers and names.
    pub text: String,
}

/// Answer to a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// It is done: the verb's result.
    Done(Value),
    /// It is not done, or failed: a refusal.
    Refused(Value),
    /// Somebody must agree first; the same call comes again with an [`Agreement`].
    Question(Question),
}

/// Whether an act goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// It does.
    GoOn,
    /// It brakes; what is held stays held.
    Cancel,
}

/// An act at the end of a period.
#[derive(Debug, Clone, Copy)]
pub struct Instant {
    /// Time since its beginning. [s]
    pub elapsed: f64,
    /// Part of the predicted time that has passed, 0 to 1. [-]
    pub progress: f64,
    /// Name of what the robot is doing.
    pub stage: &'static str,
    /// Whether the hand holds what it has picked.
    pub holding: bool,
}

/// What of an act is reported: that its stage is another, or that it has gone on by a hundredth. A client wants to see that it goes on, not every
/// sample.
#[derive(Debug, Clone, Copy, Default)]
pub struct News(Option<(f64, &'static str)>);

impl News {
    /// Progress after which it is reported again. [-]
    const STEP: f64 = 0.01;

    /// Whether anything was reported.
    pub(crate) fn is_any(&self) -> bool {
        self.0.is_some()
    }

    /// Whether an instant is to be reported.
    pub fn is_in(&mut self, instant: &Instant) -> bool {
        let (fraction, stage) = (instant.progress, instant.stage);
        let is_news =
            self.0.is_none_or(|(before, at)| stage != at || fraction - before > Self::STEP);
        if is_news {
            self.0 = Some((fraction, stage));
        }
        is_news
    }
}
