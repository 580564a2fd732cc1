//! Reading a JSON object by a form: strictly, nothing is clamped, completed or ignored.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::form::{Field, Form, Kind, LARGEST, NAMES_LENGTH, TICKET, WORDS, WORDS_LENGTH};
use crate::name::{PATTERN, is_name};
use crate::refusal::{Code, Refusal};

/// Values of a JSON object that fit a form.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    values: BTreeMap<&'static str, &'a Value>,
}

impl<'a> Reader<'a> {
    /// Checks an object against a form.
    pub(super) fn new(form: &Form, value: &'a Value) -> Result<Self, Refusal> {
        let Value::Object(object) = value else {
            return Err(bad("write the arguments as one JSON object"));
        };
        refuse_unknown(form, object)?;
        let mut values = BTreeMap::new();
        for field in form.fields {
            if let Some(value) = object.get(field.name) {
                field.check(value)?;
                values.insert(field.name, value);
            }
        }
        refuse_mixtures(form, object)?;
        Ok(Self { values })
    }

    pub(super) fn number(&self, name: &str) -> Option<f64> {
        // −0 and 0 are one place, and one canonical text.
        self.values.get(name).and_then(|value| value.as_f64()).map(|number| number + 0.0)
    }

    pub(super) fn needed_number(&self, name: &'static str) -> Result<f64, Refusal> {
        self.number(name).ok_or_else(|| missing(name))
    }

    pub(super) fn whole(&self, name: &str) -> Option<u64> {
        self.values.get(name).and_then(|value| whole(value))
    }

    pub(super) fn flag(&self, name: &str) -> Option<bool> {
        self.values.get(name).and_then(|value| value.as_bool())
    }

    pub(super) fn text(&self, name: &str) -> Option<String> {
        self.values.get(name).and_then(|value| value.as_str()).map(str::to_owned)
    }

    pub(super) fn needed_text(&self, name: &'static str) -> Result<String, Refusal> {
        self.text(name).ok_or_else(|| missing(name))
    }

    pub(super) fn names(&self, name: &str) -> Option<Vec<String>> {
        let items = self.values.get(name)?.as_array()?;
        Some(items.iter().filter_map(Value::as_str).map(str::to_owned).collect())
    }
}

fn bad(hint: &'static str) -> Refusal {
    Refusal::new(Code::BadArgument, hint)
}

fn missing(name: &str) -> Refusal {
    bad("add the argument that is missing").of(name, Value::Null)
}

fn refuse_unknown(form: &Form, object: &Map<String, Value>) -> Result<(), Refusal> {
    // The first by the alphabet: the order of keys is of no meaning.
    let unknown = object.keys().filter(|key| form.names().all(|name| name != *key)).min();
    let Some(unknown) = unknown else { return Ok(()) };
    let mut refusal = bad("leave out the argument that the verb does not have");
    // The key is of the caller's making: a value, and no field.
    refusal = refusal.of("", unknown.as_str());
    refusal.field = None;
    Err(refusal.within(form.names().collect::<Vec<_>>().join(", ")))
}

fn refuse_mixtures(form: &Form, object: &Map<String, Value>) -> Result<(), Refusal> {
    if form.alternatives.is_empty() {
        return Ok(());
    }
    let is_there = |name: &&&str| object.contains_key(**name);
    let fits = form.alternatives.iter().any(|alternative| {
        alternative.needs.iter().all(|name| object.contains_key(*name))
            && !form.excluded_by(alternative).iter().any(|name| object.contains_key(*name))
    });
    if fits {
        return Ok(());
    }
    let ways = form.alternatives.iter().map(|alternative| alternative.needs.join(" and "));
    let ways = ways.collect::<Vec<_>>().join(" | ");
    let named = form.alternatives.iter().flat_map(|a| a.needs).find(is_there);
    let mut refusal = bad("give exactly one of the ways to say it, and all of its arguments");
    refusal.field = named.map(|name| (*name).to_owned());
    Err(refusal.within(ways))
}

/// Whole number of a JSON number, `3.0` among them.
fn whole(value: &Value) -> Option<u64> {
    if let Some(number) = value.as_u64() {
        return Some(number).filter(|number| *number <= LARGEST);
    }
    let number = value.as_f64()?;
    let is_whole = (0.0..=LARGEST as f64).contains(&number) && number.fract() == 0.0;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked the line before"
    )]
    is_whole.then_some(number as u64)
}

fn is_ticket(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

fn are_words(text: &str) -> bool {
    let is_of_words = |b: u8| b.is_ascii_alphanumeric() || b" ,_-".contains(&b);
    (1..=WORDS_LENGTH).contains(&text.len()) && text.bytes().all(is_of_words)
}

impl Field {
    fn check(&self, value: &Value) -> Result<(), Refusal> {
        let text = value.as_str();
        let fits = match &self.kind {
            Kind::Number(range) => value.as_f64().is_some_and(|number| range.contains(number)),
            Kind::Whole => whole(value).is_some(),
            Kind::Flag => value.is_boolean(),
            Kind::Name => text.is_some_and(is_name),
            Kind::Ticket => text.is_some_and(is_ticket),
            Kind::Words => text.is_some_and(are_words),
            Kind::Names => value.as_array().is_some_and(|items| {
                items.len() <= NAMES_LENGTH
                    && items.iter().all(|item| item.as_str().is_some_and(is_name))
            }),
        };
        if fits {
            return Ok(());
        }
        let (hint, range) = match &self.kind {
            Kind::Number(range) => {
                ("write a number within the range, without quotes", range.to_string())
            }
            Kind::Whole => ("write a whole number", format!("[0, {LARGEST}]")),
            Kind::Flag => ("write true or false, without quotes", "true, false".to_owned()),
            Kind::Name => ("write a name of letters, digits, _ and -", PATTERN.to_owned()),
            Kind::Names => ("write a list of names", format!("up to {NAMES_LENGTH} of {PATTERN}")),
            Kind::Ticket => ("write the ticket as the rehearsal gave it", TICKET.to_owned()),
            Kind::Words => ("write a few words without punctuation", WORDS.to_owned()),
        };
        Err(bad(hint).of(self.name, value.clone()).within(range))
    }
}
