//! Forecast: what a rehearsal showed, and whether it is good enough for a ticket.

use serde::Serialize;

use crate::envelope::{Approval, Envelope};
use crate::interval::Interval;
use crate::refusal::{Code, Refusal};

/// What a rehearsal showed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Forecast {
    /// Number of copies that were run.
    pub copies: u32,
    /// Number of copies that failed.
    pub failed: u32,
    /// Least margin of all copies, 0 to 1. [-]
    pub margin: f64,
    /// Largest force of a contact. [N]
    pub contact_force_n: f64,
    /// Longest time. [s]
    pub duration_s: f64,
    /// Probability of success above which it is with a confidence of 95 %, by the random copies. [-]
    pub probability: f64,
    /// Whether all copies end with something in the hand that was picked.
    pub holds: bool,
    /// Names of other objects that move in some copy.
    pub moved: Vec<String>,
    /// Position of the object at the end of the nominal copy, in the world; without one that of the tool, of a walk that between the feet. [m] (3)
    pub end_xyz_m: [f64; 3],
    /// Its angle about the vertical. [rad]
    pub end_yaw_rad: f64,
    /// Largest distance of a copy's end from it. [m]
    pub end_spread_m: f64,
    /// Hash of the nominal copy's commands.
    pub commands: String,
}

/// Answer to a verb that is rehearsed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answer {
    /// What will happen.
    #[serde(flatten)]
    pub forecast: Forecast,
    /// Number of the rehearsal, by which its picture is found.
    pub rehearsal: u64,
    /// Ticket for `act`.
    pub ticket: String,
    /// Time for which the ticket is valid. [s]
    pub ttl_s: f64,
    /// Who has to approve.
    pub approval: Approval,
}

impl Forecast {
    /// Checks that a rehearsal went well, within the limits of an envelope.
    pub(crate) fn check(&self, envelope: &Envelope) -> Result<(), Refusal> {
        let failure = |hint| Refusal::new(Code::PredictedFailure, hint);
        if self.failed > 0 || self.copies == 0 {
            let hint = "choose another way: not all copies succeeded";
            return Err(failure(hint).of("failed", self.failed).within("[0, 0]"));
        }
        let margins = Interval::closed(envelope.rehearsal.min_margin, 1.0);
        if !margins.contains(self.margin) {
            let hint = "choose another grasp or a slower move: the margin is small";
            return Err(failure(hint).of("margin", self.margin).within(margins.to_string()));
        }
        let limits = &envelope.limits;
        for (field, value, most) in [
            ("contact_force_n", self.contact_force_n, limits.contact_force_n),
            ("duration_s", self.duration_s, limits.duration_s),
        ] {
            let allowed = Interval::closed(0.0, most);
            if !allowed.contains(value) {
                let hint = "choose another way: the rehearsal is beyond a limit of the envelope";
                return Err(failure(hint).of(field, value).within(allowed.to_string()));
            }
        }
        Ok(())
    }
}
