//! Requests that come twice: the answer to the first is the answer to the second.

use std::collections::VecDeque;

use serde_json::Value;

use crate::refusal::{Code, Refusal};

/// Requests that are remembered, of all principals; then the oldest is forgotten.
const KEPT: usize = 256;
/// Requests that are remembered of one principal.
const KEPT_OF_ONE: usize = 32;

/// What was before.
#[derive(Debug, Clone, PartialEq)]
pub enum Earlier {
    /// Nothing: the request is new.
    Nothing,
    /// The same request, which has no answer yet.
    Running,
    /// The same request with its answer.
    Answered(Value),
}

#[derive(Debug)]
struct Request {
    principal: String,
    id: String,
    /// Canonical arguments.
    arguments: String,
    answer: Option<Value>,
}

/// Requests that are remembered.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    /// The oldest first.
    requests: VecDeque<Request>,
}

/// Name of a request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestId<'a> {
    pub principal: &'a str,
    pub id: &'a str,
}

impl Requests {
    /// What was before; a new request is remembered from now on.
    pub(crate) fn begin(
        &mut self,
        name: RequestId<'_>,
        arguments: &str,
    ) -> Result<Earlier, Refusal> {
        if let Some(request) = self.find(name) {
            return match (request.arguments == arguments, &request.answer) {
                (false, _) => {
                    let hint = "choose a new name for each new request";
                    Err(Refusal::new(Code::RequestIdReused, hint).of("request_id", name.id))
                }
                (true, None) => Ok(Earlier::Running),
                (true, Some(answer)) => Ok(Earlier::Answered(answer.clone())),
            };
        }
        self.make_room(name.principal);
        self.requests.push_back(Request {
            principal: name.principal.to_owned(),
            id: name.id.to_owned(),
            arguments: arguments.to_owned(),
            answer: None,
        });
        Ok(Earlier::Nothing)
    }

    /// Remembers the answer of a request, the first one.
    pub(crate) fn finish(&mut self, name: RequestId<'_>, answer: Value) {
        if let Some(request) = self.find(name) {
            request.answer.get_or_insert(answer);
        }
    }

    /// Whether a request is remembered.
    pub(crate) fn knows(&self, name: RequestId<'_>) -> bool {
        self.requests.iter().any(|r| r.principal == name.principal && r.id == name.id)
    }

    fn find(&mut self, name: RequestId<'_>) -> Option<&mut Request> {
        self.requests.iter_mut().find(|r| r.principal == name.principal && r.id == name.id)
    }

    fn make_room(&mut self, principal: &str) {
        let is_own = |request: &Request| request.principal == principal;
        let n_own = self.requests.iter().filter(|request| is_own(request)).count();
        let is_full = |request: &Request| n_own < KEPT_OF_ONE || is_own(request);
        if n_own < KEPT_OF_ONE && self.requests.len() < KEPT {
            return;
        }
        // One without an answer is under way, and asked for again soon.
        let oldest = self.requests.iter().position(|r| r.answer.is_some() && is_full(r));
        if let Some(oldest) = oldest.or_else(|| self.requests.iter().position(is_full)) {
            self.requests.remove(oldest);
        }
    }
}

#[cfg(test)]
mod tests;
