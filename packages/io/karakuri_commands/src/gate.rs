//! Gate: what every command passes.

use serde_json::Value;

use crate::check::{Command, Context, check};
use crate::envelope::Envelope;
use crate::forecast::{Answer, Forecast};
use crate::rate::Rate;
use crate::refusal::{Code, Refusal};
use crate::request::{Earlier, RequestId, Requests};
use crate::scene::Scene;
use crate::ticket::{Claim, OpenTicket, Present, Redeemed, Rehearsed, Tickets, Validity};
use crate::verb::Verb;
use crate::verb::arguments::{Act, Arguments, Stop};

/// Envelope with all that is remembered of tickets, requests and acts.
#[derive(Debug)]
pub struct Gate {
    envelope: Envelope,
    hash: String,
    lift: Option<Lifted>,
    tickets: Tickets,
    requests: Requests,
    rate: Rate,
}

/// Time for which the envelope is lifted.
#[derive(Debug)]
struct Lifted {
    /// The envelope that then holds again.
    envelope: Envelope,
    /// Readings of the clock between which it is lifted. [s] (2)
    times: [f64; 2],
}

impl Gate {
    /// Gate of an envelope.
    pub fn new(envelope: Envelope) -> Self {
        let hash = envelope.hash();
        Self {
            envelope,
            hash,
            lift: None,
            tickets: Tickets::default(),
            requests: Requests::default(),
            rate: Rate::default(),
        }
    }

    /// Present envelope.
    pub fn envelope(&self) -> &Envelope {
        &self.envelope
    }

    /// Hash of the present envelope.
    pub fn envelope_hash(&self) -> &str {
        &self.hash
    }

    /// Lifts the envelope for the time that it allows, at a reading of the clock [s], as a person at the robot wants it; no verb does. Tickets become
    /// stale. The reading at which it holds again. [s]
    ///
    /// # Errors
    /// `NOT_ALLOWED` if the envelope does not name the person.
    pub fn lift(&mut self, who: &str, now: f64) -> Result<f64, Refusal> {
        self.lower_at(now);
        if !self.envelope.lift.who.iter().any(|known| known == who) {
            let hint =
                "have a person lift the envelope whom it names, or change its file and start again";
            return Err(Refusal::new(Code::NotAllowed, hint).of("who", who));
        }
        self.lower();
        let whole = self.envelope.clone();
        let until = now + whole.lift.for_s;
        self.set_envelope(whole.lifted());
        self.lift = Some(Lifted { envelope: whole, times: [now, until] });
        Ok(until)
    }

    /// Ends the time in which the envelope is lifted; whether it was.
    pub fn lower(&mut self) -> bool {
        let lift = self.lift.take();
        let was_lifted = lift.is_some();
        if let Some(lift) = lift {
            self.set_envelope(lift.envelope);
        }
        was_lifted
    }

    /// Ends that time if it is over at a reading of the clock [s]. A clock that was set back ends it, too.
    fn lower_at(&mut self, now: f64) {
        if self.lift.as_ref().is_some_and(|lift| !(lift.times[0]..lift.times[1]).contains(&now)) {
            self.lower();
        }
    }

    fn set_envelope(&mut self, envelope: Envelope) {
        self.hash = envelope.hash();
        self.envelope = envelope;
    }

    /// Checks a command in the fixed order: arguments, principal, envelope, objects, free robot; of `act` the rate too, at a
    /// reading of the clock [s]. `stop` is never refused: wrong arguments of it are left out.
    ///
    /// # Errors
    /// With the first objection.
    pub fn check(
        &mut self,
        principal: &str,
        verb: Verb,
        arguments: &Value,
        scene: &Scene,
        now: f64,
    ) -> Result<Command, Refusal> {
        self.lower_at(now);
        let mut context = Context { envelope: &self.envelope, principal, scene };
        if verb == Verb::Stop {
            let arguments = Arguments::read(verb, arguments);
            let arguments = arguments.unwrap_or(Arguments::Stop(Stop::default()));
            return Ok(Command { arguments, object: None });
        }
        // A repetition is answered from memory, even while the act that it repeats is under way.
        let is_repeated = arguments["request_id"].as_str().is_some_and(|id| {
            verb == Verb::Act && self.requests.knows(RequestId { principal, id })
        });
        let free = Scene::default();
        if is_repeated {
            context.scene = &free;
        }
        let command = check(&context, verb, arguments)?;
        if verb == Verb::Act && !is_repeated {
            self.rate.check(self.envelope.limits.acts_per_minute, now)?;
        }
        Ok(command)
    }

    /// Ticket for what was rehearsed, of 128 random bits, at a reading of the clock [s].
    ///
    /// # Errors
    /// `PREDICTED_FAILURE` if the rehearsal did not go well; `BUSY` if these bits are a ticket already.
    pub fn issue(
        &mut self,
        rehearsed: Rehearsed,
        forecast: Forecast,
        random: [u8; 16],
        now: f64,
    ) -> Result<Answer, Refusal> {
        forecast.check(&self.envelope)?;
        let verb = rehearsed.command.arguments.verb();
        let approval = self.envelope.approval(&rehearsed.principal, verb, forecast.margin);
        let ttl_s = self.envelope.rehearsal.ttl_s;
        let rehearsal = rehearsed.number;
        let validity = Validity { envelope: &self.hash, approval, ttl_s };
        let ticket = self.tickets.issue(rehearsed, validity, random, now).ok_or_else(|| {
            Refusal::new(Code::Busy, "rehearse again: the source of random bits repeats itself")
        })?;
        Ok(Answer { forecast, rehearsal, ticket, ttl_s, approval })
    }

    /// A ticket of a principal that was not used yet, to ask for an approval before it is.
    pub fn find(&self, principal: &str, ticket: &str) -> Option<OpenTicket<'_>> {
        self.tickets.find(principal, ticket)
    }

    /// Number of acts that the rate allows at a reading of the clock. [s]
    pub fn acts_left(&mut self, now: f64) -> u32 {
        self.rate.left(self.envelope.limits.acts_per_minute, now)
    }

    /// What was before a request of `act`; a new one is remembered from now on, and needs its answer by [`Self::finish`].
    ///
    /// # Errors
    /// `REQUEST_ID_REUSED` if the name was used with another ticket.
    pub fn begin(&mut self, principal: &str, act: &Act) -> Result<Earlier, Refusal> {
        self.requests.begin(RequestId { principal, id: &act.request_id }, &act.ticket)
    }

    /// Remembers the answer to a request: a result, or a refusal.
    pub fn finish(&mut self, principal: &str, request_id: &str, answer: Value) {
        self.requests.finish(RequestId { principal, id: request_id }, answer);
    }

    /// Uses a ticket up for an act that begins now, at a reading of the clock [s].
    ///
    /// # Errors
    /// With the first objection in the fixed order: rate, principal or unknown, used, expired, envelope, state.
    pub fn redeem(
        &mut self,
        principal: &str,
        ticket: &str,
        present: &Present,
        now: f64,
    ) -> Result<Redeemed, Refusal> {
        self.lower_at(now);
        self.rate.check(self.envelope.limits.acts_per_minute, now)?;
        let claim = Claim { principal, ticket, envelope: &self.hash };
        let redeemed = self.tickets.redeem(&claim, present, now)?;
        self.rate.count(now);
        Ok(redeemed)
    }
}
