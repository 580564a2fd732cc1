//! Questions on their way to a person and back.
//!
//! The server keeps no session: what it asked travels through the client as `requestState`, which the client can read and repeat
//! but not make. The codec of `rmcp` seals it by an HMAC with an expiry, bound to principal, tool and arguments; the number in it is
//! redeemed once.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rmcp::model::{RequestStateCodec, RequestStateError, SealOptions};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::principal::Principal;

/// Number of questions that may be open; the oldest is forgotten for a new one.
const MOST_OPEN: usize = 256;

/// What a question is about, as a digest: the same call by the same principal has the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Subject([u8; 32]);

impl Subject {
    pub(crate) fn new(principal: &Principal, tool: &str, arguments: &Value) -> Self {
        let mut digest = Sha256::new();
        for part in [principal.name(), tool, &canonical(arguments)] {
            // With lengths: no part can pass for the end of another.
            digest.update((part.len() as u64).to_le_bytes());
            digest.update(part);
        }
        Self(digest.finalize().into())
    }
}

/// JSON with the keys of objects in order, however they were sent.
fn canonical(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            let entries: Vec<String> = entries
                .into_iter()
                .map(|(key, value)| format!("{}:{}", Value::from(key.as_str()), canonical(value)))
                .collect();
            format!("{{{}}}", entries.join(","))
        }
        Value::Array(values) => {
            let values: Vec<String> = values.iter().map(canonical).collect();
            format!("[{}]", values.join(","))
        }
        plain => plain.to_string(),
    }
}

/// Seals questions and opens them once.
#[derive(Debug)]
pub(crate) struct Approvals {
    codec: RequestStateCodec,
    lifetime: Duration,
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    next: u64,
    asked: BTreeSet<u64>,
}

#[derive(Serialize, Deserialize)]
struct Sealed {
    number: u64,
    state: Value,
}

impl Approvals {
    /// Questions under a key of random bits, that live for a while.
    pub(crate) fn new(key: &[u8; 32], lifetime: Duration) -> Self {
        // The length that it does not check is that of the array.
        let codec = RequestStateCodec::new_unchecked(key.to_vec());
        Self { codec, lifetime, open: Mutex::default() }
    }

    /// Seals the state of a question.
    pub(crate) fn seal(
        &self,
        subject: &Subject,
        state: Value,
    ) -> Result<String, RequestStateError> {
        let number = {
            let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
            let number = open.next;
            open.next += 1;
            open.asked.insert(number);
            if open.asked.len() > MOST_OPEN {
                open.asked.pop_first();
            }
            number
        };
        let options = SealOptions::new().associated_data(&subject.0).ttl(self.lifetime);
        self.codec.seal_json_with(&Sealed { number, state }, &options)
    }

    /// State of a question that comes back for the first time; `None`: altered, expired, used or of another call.
    pub(crate) fn redeem(&self, subject: &Subject, sealed: &str) -> Option<Value> {
        let opened: Result<Sealed, _> = self.codec.open_json_with(sealed, &subject.0);
        match opened {
            Ok(Sealed { number, state }) => {
                let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
                open.asked.remove(&number).then_some(state)
            }
            Err(error) => {
                // The client learns only that it does not hold: which check failed would help an attacker.
                tracing::warn!("an approval was not accepted: {error}");
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::principal::Tokens;

    const MINUTE: Duration = Duration::from_secs(60);

    fn subject(arguments: &Value) -> Subject {
        Subject::new(&Principal::local(), "pick", arguments)
    }

    #[test]
    fn a_state_comes_back_once() {
        let approvals = Approvals::new(&[7; 32], MINUTE);
        let about = subject(&json!({"object": "cube"}));
        let sealed = approvals.seal(&about, json!({"ticket": 3})).unwrap();
        assert_eq!(approvals.redeem(&about, &sealed), Some(json!({"ticket": 3})));
        assert_eq!(approvals.redeem(&about, &sealed), None);
    }

    #[test]
    fn it_holds_for_its_call_only() {
        let approvals = Approvals::new(&[7; 32], MINUTE);
        let about = subject(&json!({"object": "cube", "force_n": 2}));
        let sealed = approvals.seal(&about, Value::Null).unwrap();
        let mut tokens = Tokens::default();
        let token = "0123456789abcdef0123456789abcdef";
        tokens.add("anna", token).unwrap();
        let anna = tokens.find(token).unwrap();
        for other in [
            subject(&json!({"object": "cube", "force_n": 9})),
            subject(&json!({"object": "cube"})),
            Subject::new(&Principal::local(), "place", &json!({"object": "cube", "force_n": 2})),
            Subject::new(anna, "pick", &json!({"object": "cube", "force_n": 2})),
        ] {
            assert_eq!(approvals.redeem(&other, &sealed), None, "{other:?}");
        }
        // None of those used it up, and the order of keys is no difference.
        let same: Value = serde_json::from_str(r#"{"force_n": 2, "object": "cube"}"#).unwrap();
        assert_eq!(approvals.redeem(&subject(&same), &sealed), Some(Value::Null));
    }

    #[test]
    fn an_altered_state_does_not_hold() {
        let approvals = Approvals::new(&[7; 32], MINUTE);
        let about = subject(&json!({}));
        let sealed = approvals.seal(&about, json!({"object": "cube"})).unwrap();
        for index in 0..sealed.len() {
            let mut bytes = sealed.clone().into_bytes();
            bytes[index] = if bytes[index] == b'A' { b'B' } else { b'A' };
            let altered = String::from_utf8(bytes).unwrap();
            // Bits that base64 leaves unused may differ: then it is the same state.
            assert!(approvals.redeem(&about, &altered).is_none(), "{index}: {altered}");
        }
        assert_eq!(approvals.redeem(&about, &sealed), Some(json!({"object": "cube"})));
    }

    #[test]
    fn another_servers_state_does_not_hold() {
        let about = subject(&json!({}));
        let sealed = Approvals::new(&[1; 32], MINUTE).seal(&about, Value::Null).unwrap();
        let other = Approvals::new(&[2; 32], MINUTE);
        let _asked_too = other.seal(&about, Value::Null).unwrap();
        assert_eq!(other.redeem(&about, &sealed), None);
    }

    #[test]
    fn a_state_expires() {
        let approvals = Approvals::new(&[7; 32], Duration::ZERO);
        let about = subject(&json!({}));
        let sealed = approvals.seal(&about, Value::Null).unwrap();
        let deadline = std::time::Instant::now() + Duration::from_millis(5);
        while std::time::Instant::now() < deadline {}
        assert_eq!(approvals.redeem(&about, &sealed), None);
    }

    #[test]
    fn memory_of_open_questions_is_bounded() {
        let approvals = Approvals::new(&[7; 32], MINUTE);
        let about = subject(&json!({}));
        let first = approvals.seal(&about, Value::Null).unwrap();
        let others: Vec<_> =
            (0..MOST_OPEN).map(|_| approvals.seal(&about, Value::Null).unwrap()).collect();
        assert_eq!(approvals.redeem(&about, &first), None);
        assert!(others.iter().all(|sealed| approvals.redeem(&about, sealed).is_some()));
    }
}
