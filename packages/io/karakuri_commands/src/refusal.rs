//! Refusals: why a command is not carried out, as a code, the argument that is meant, and one sentence.
//!
//! Hints are constant texts. What came from outside, as the name of an object, stands in `value` and nowhere else.

use serde::Serialize;
use serde_json::Value;

/// Longest text that a refusal repeats. [characters]
const REPEATED: usize = 64;

/// Codes, in the order in which they are found; the last is found where a request comes twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Code {
    /// An argument is missing, unknown, of another type or out of its range.
    BadArgument,
    /// The principal may not use the verb.
    NotAllowed,
    /// A point, force, mass, object or rate is outside of the envelope.
    OutsideEnvelope,
    /// No object is meant.
    UnknownObject,
    /// Several objects are meant.
    AmbiguousObject,
    /// Another act is under way.
    Busy,
    /// Closed to the end, nothing between the jaws.
    NoObject,
    /// Stopped outside of the expected width.
    WrongSize,
    /// Only one finger touches, or the jaws do not move.
    Blocked,
    /// Lost on the way.
    Slipped,
    /// Out of the arm's reach.
    Unreachable,
    /// Unexpected force or tracking error.
    Collision,
    /// No progress.
    Timeout,
    /// Still between the jaws after opening.
    Stuck,
    /// Joint states, forces or the controller are silent.
    RobotLost,
    /// The task cannot be carried out as it is.
    InvalidGoal,
    /// Stopped on request.
    Canceled,
    /// Another goal took over.
    Preempted,
    /// Needs more grip force than allowed.
    TooHeavy,
    /// Cups on the object were not evacuated.
    NoSeal,
    /// The vacuum went away while the object was carried.
    PressureLost,
    /// One of three fingers does not hold the object.
    Partial,
    /// What is on the flange is no hand.
    WrongTool,
    /// The wrist does not feel the weight of the tool, or still that of the one before.
    ToolLost,
    /// A robot that walks has fallen.
    Fell,
    /// The rehearsal did not go well.
    PredictedFailure,
    /// Somebody has to approve.
    NeedsApproval,
    /// Somebody did not approve.
    Declined,
    /// No such ticket of this principal.
    TicketUnknown,
    /// The ticket was used.
    TicketUsed,
    /// The ticket is too old.
    TicketExpired,
    /// The world, the envelope or the build is another than in the rehearsal.
    StaleTicket,
    /// The act was not as rehearsed.
    Diverged,
    /// The request's name was used with other arguments.
    RequestIdReused,
}

impl Code {
    /// All codes, in their order.
    pub const ALL: [Self; 34] = [
        Self::BadArgument,
        Self::NotAllowed,
        Self::OutsideEnvelope,
        Self::UnknownObject,
        Self::AmbiguousObject,
        Self::Busy,
        Self::NoObject,
        Self::WrongSize,
        Self::Blocked,
        Self::Slipped,
        Self::Unreachable,
        Self::Collision,
        Self::Timeout,
        Self::Stuck,
        Self::RobotLost,
        Self::InvalidGoal,
        Self::Canceled,
        Self::Preempted,
        Self::TooHeavy,
        Self::NoSeal,
        Self::PressureLost,
        Self::Partial,
        Self::WrongTool,
        Self::ToolLost,
        Self::Fell,
        Self::PredictedFailure,
        Self::NeedsApproval,
        Self::Declined,
        Self::TicketUnknown,
        Self::TicketUsed,
        Self::TicketExpired,
        Self::StaleTicket,
        Self::Diverged,
        Self::RequestIdReused,
    ];
}

/// Why a command is not carried out.
#[derive(Debug, Clone, PartialEq, Serialize, thiserror::Error)]
#[error("{code:?}: {hint}")]
pub struct Refusal {
    /// Code, on which a program decides.
    pub code: Code,
    /// Argument or setting that is meant.
    pub field: Option<String>,
    /// Its value, as it came; long texts are cut.
    pub value: Option<Value>,
    /// What is allowed, as `[0, 0.4]` or a pattern.
    pub range: Option<String>,
    /// Remedy in one sentence.
    pub hint: &'static str,
}

impl Refusal {
    /// Refusal without a field.
    pub fn new(code: Code, hint: &'static str) -> Self {
        Self { code, field: None, value: None, range: None, hint }
    }

    /// The same of a field and its value.
    #[must_use]
    pub fn of(mut self, field: &str, value: impl Into<Value>) -> Self {
        self.field = Some(field.to_owned());
        self.value = Some(shortened(value.into()));
        self
    }

    /// The same with what is allowed.
    #[must_use]
    pub fn within(mut self, range: impl Into<String>) -> Self {
        self.range = Some(range.into());
        self
    }
}

/// A value that a log or a model can read: a short text, a number, or the kind of what is nested.
fn shortened(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(text.chars().take(REPEATED).collect()),
        Value::Array(_) => "a list".into(),
        Value::Object(_) => "an object".into(),
        other => other,
    }
}
