//! JSON Schemas (2020-12) of the verbs' arguments and answers. Their texts are constant; numbers come from the envelope.

pub(crate) mod answers;

use serde_json::{Map, Value, json};

use crate::envelope::Envelope;
use crate::interval::Interval;
use crate::name::PATTERN;
use crate::verb::Verb;
use crate::verb::form::{
    self, Alternative, Field, Form, Kind, LARGEST, NAMES_LENGTH, TICKET, WORDS,
};

pub(crate) const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// Schema of a verb's arguments within an envelope. What it takes is neither `BAD_ARGUMENT` nor, but for what is kept out and for
/// objects, `OUTSIDE_ENVELOPE`.
pub fn input_schema(verb: Verb, envelope: &Envelope) -> Value {
    let form = form::of(verb);
    let property = |field: &Field| (field.name.to_owned(), property(field, envelope));
    let required = form.fields.iter().filter(|field| field.is_required).map(|field| field.name);
    let mut schema = json!({
        "$schema": DIALECT,
        "title": form.title,
        "description": form.text,
        "type": "object",
        "properties": form.fields.iter().map(property).collect::<Map<_, _>>(),
        "required": required.collect::<Vec<_>>(),
        "additionalProperties": false,
    });
    if !form.alternatives.is_empty() {
        let ways = form.alternatives.iter().map(|alternative| way(form, alternative));
        schema["oneOf"] = ways.collect();
    }
    schema
}

fn property(field: &Field, envelope: &Envelope) -> Value {
    let mut schema = match &field.kind {
        Kind::Number(range) => {
            number(&envelope.range(field.name).map_or(*range, |limit| limit.and(range)))
        }
        Kind::Whole => json!({"type": "integer", "minimum": 0, "maximum": LARGEST}),
        Kind::Flag => json!({"type": "boolean"}),
        Kind::Name => json!({"type": "string", "pattern": PATTERN}),
        Kind::Names => json!({
            "type": "array",
            "items": {"type": "string", "pattern": PATTERN},
            "maxItems": NAMES_LENGTH,
        }),
        Kind::Ticket => json!({"type": "string", "pattern": TICKET}),
        Kind::Words => json!({"type": "string", "pattern": WORDS}),
    };
    schema["description"] = field.text.into();
    schema
}

fn number(range: &Interval) -> Value {
    let least = if range.is_open { "exclusiveMinimum" } else { "minimum" };
    json!({"type": "number", least: range.least, "maximum": range.most})
}

/// One way to say it: with what it needs, and without what the others have.
fn way(form: &Form, alternative: &Alternative) -> Value {
    let excluded = form.excluded_by(alternative);
    let any: Vec<Value> = excluded.iter().map(|name| json!({"required": [name]})).collect();
    json!({"required": alternative.needs, "not": {"anyOf": any}})
}
