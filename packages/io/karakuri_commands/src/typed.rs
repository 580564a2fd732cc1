//! Commands as a person types them, and answers as a person reads them.

use serde_json::{Map, Value};

use crate::Verb;

/// Verb and arguments of a command that is typed as a verb and words NAME=VALUE; a value is JSON, or a word. Some verbs have an argument whose name may
/// be left out.
///
/// # Errors
/// A sentence that says which word is wrong.
pub fn parse_command<'a>(
    words: impl IntoIterator<Item = &'a str>,
) -> Result<(Verb, Value), String> {
    let mut words = words.into_iter();
    let name = words.next().unwrap_or_default();
    let Some(verb) = Verb::ALL.into_iter().find(|verb| verb.name() == name) else {
        let known = Verb::ALL.map(Verb::name).join(", ");
        return Err(format!("`{name}` is no verb; verbs are {known}"));
    };
    let mut arguments = Map::new();
    for word in words {
        let (key, value) = match (word.split_once('='), usual_argument(verb)) {
            (Some(pair), _) => pair,
            (None, Some(key)) => (key, word),
            (None, None) => return Err(format!("`{verb}`: write {word} as NAME=VALUE")),
        };
        let value = serde_json::from_str(value).unwrap_or_else(|_| value.into());
        if arguments.insert(key.to_owned(), value).is_some() {
            return Err(format!("`{verb}`: `{key}` is given twice"));
        }
    }
    Ok((verb, Value::Object(arguments)))
}

/// Argument that a word without a name is.
fn usual_argument(verb: Verb) -> Option<&'static str> {
    match verb {
        Verb::Pick => Some("object"),
        Verb::Place => Some("on"),
        Verb::ChangeTool => Some("tool"),
        Verb::Act => Some("ticket"),
        _ => None,
    }
}

/// Sentence for the prediction that a rehearsal is answered with.
pub fn describe_prediction(answer: &Value) -> String {
    let number = |name: &str| answer[name].as_f64().unwrap_or_default();
    let moved: Vec<_> = answer["moved"].as_array().into_iter().flatten().collect();
    let names = moved.iter().filter_map(|name| name.as_str()).collect::<Vec<_>>().join(", ");
    let also = if names.is_empty() { String::new() } else { format!("; moves {names}, too") };
    format!(
        "all of {} copies succeed in {:.2} s at most, margin {:.2}, forces up to {:.1} N{also}",
        answer["copies"],
        number("duration_s"),
        number("margin"),
        number("contact_force_n")
    )
}

/// Sentence for what an act is answered with.
pub fn describe_act(answer: &Value) -> String {
    let held = if answer["holds"] == true { ", it is in the hand" } else { "" };
    format!("done in {:.2} s{held}", answer["duration_s"].as_f64().unwrap_or_default())
}

/// Sentence for a refusal.
pub fn describe_refusal(refusal: &Value) -> String {
    let text = |name: &str| refusal[name].as_str().unwrap_or_default();
    let about = match (&refusal["field"], &refusal["value"]) {
        (Value::String(field), Value::String(value)) => format!(": {field} {value}"),
        (Value::String(field), value) if !value.is_null() => format!(": {field} {value}"),
        (Value::String(field), _) => format!(": {field}"),
        _ => String::new(),
    };
    let range = refusal["range"].as_str().filter(|range| !range.is_empty());
    let range = range.map(|range| format!(", allowed {range}")).unwrap_or_default();
    format!("{}{about}{range}; {}", text("code"), text("hint"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn commands_are_read_as_they_are_typed() {
        for (typed, verb, arguments) in [
            ("home", Verb::Home, json!({})),
            ("pick cube", Verb::Pick, json!({"object": "cube"})),
            ("pick object=cube force_n=8", Verb::Pick, json!({"object": "cube", "force_n": 8})),
            ("place x_m=0.5 y_m=-0.2", Verb::Place, json!({"x_m": 0.5, "y_m": -0.2})),
            ("act 5a5a request_id=r", Verb::Act, json!({"ticket": "5a5a", "request_id": "r"})),
            ("look objects=[\"cube\"]", Verb::Look, json!({"objects": ["cube"]})),
        ] {
            let read = parse_command(typed.split_whitespace());
            assert_eq!(read, Ok((verb, arguments)), "{typed}");
        }
    }

    #[test]
    fn what_is_no_command_is_named() {
        for (typed, says) in [
            ("", "`` is no verb"),
            ("dance", "`dance` is no verb; verbs are look, status"),
            ("home fast", "`home`: write fast as NAME=VALUE"),
            ("pick cube ball", "`pick`: `object` is given twice"),
        ] {
            let refused = parse_command(typed.split_whitespace()).unwrap_err();
            assert!(refused.starts_with(says), "{typed}: {refused}");
        }
    }

    #[test]
    fn answers_are_sentences() {
        let refusal = json!({"code": "OUTSIDE_ENVELOPE", "field": "x_m", "value": 0.9, "range": "[0.2, 0.7]", "hint": "stay inside"});
        let sentence = "OUTSIDE_ENVELOPE: x_m 0.9, allowed [0.2, 0.7]; stay inside";
        assert_eq!(describe_refusal(&refusal), sentence);
        let done = json!({"duration_s": 3.456, "holds": true});
        assert_eq!(describe_act(&done), "done in 3.46 s, it is in the hand");
        let answer = json!({"copies": 16, "duration_s": 3.0, "margin": 0.5, "contact_force_n": 8.0, "moved": ["ball"]});
        let sentence = "all of 16 copies succeed in 3.00 s at most, margin 0.50, forces up to 8.0 N; moves ball, too";
        assert_eq!(describe_prediction(&answer), sentence);
    }
}
