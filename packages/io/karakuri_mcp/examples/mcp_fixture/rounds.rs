//! Tools that ask the client for input, over one round or several.

use std::time::Duration;

use rmcp::model::{ErrorData, InputResponses, RequestStateCodec, SealOptions};
use serde_json::{Map, Value, json};

/// A call of such a tool.
pub(crate) struct Round<'a> {
    /// Name of the tool or prompt.
    pub(crate) name: &'a str,
    /// What the client answers.
    pub(crate) responses: Option<&'a InputResponses>,
    /// What the client echoes.
    pub(crate) state: Option<&'a str>,
    /// What the client declared.
    pub(crate) capabilities: &'a Value,
}

/// What the tool does next.
pub(crate) enum Step {
    /// It asks.
    Ask {
        /// Requests by their keys.
        requests: Value,
        /// What the client is to echo.
        state: Option<String>,
    },
    /// It is done.
    Text(String),
}

const LIFETIME: Duration = Duration::from_secs(60);

impl Round<'_> {
    /// Carries out the tool; `None`: it is no tool that asks.
    pub(crate) fn next(&self, codec: &RequestStateCodec) -> Option<Result<Step, ErrorData>> {
        let question = match self.name {
            "test_input_required_result_elicitation" => {
                Some(("user_name", ask_name("What is your name?")))
            }
            "test_input_required_result_prompt" => Some((
                "user_context",
                ask("What context should the prompt use?", "context", "string"),
            )),
            "test_streaming_elicitation" => Some(("probe", ask("Is it so?", "ok", "boolean"))),
            "test_input_required_result_sampling" => {
                Some(("capital_question", sample("What is the capital of France?")))
            }
            "test_input_required_result_list_roots" => Some(("client_roots", roots())),
            _ => None,
        };
        if let Some((key, request)) = question {
            return Some(Ok(self.one(key, &request)));
        }
        let step = match self.name {
            "test_input_required_result_request_state"
            | "test_input_required_result_tampered_state" => {
                self.sealed(codec, json!({"confirm": ask("Please confirm", "ok", "boolean")}))
            }
            "test_input_required_result_multiple_inputs" => {
                let requests = json!({
                    "user_name": ask_name("What is your name?"),
                    "greeting": sample("Generate a greeting"),
                    "client_roots": roots(),
                });
                self.sealed(codec, requests)
            }
            "test_input_required_result_multi_round" => self.rounds(codec),
            "test_input_required_result_capabilities" => Ok(self.declared()),
            _ => return None,
        };
        Some(step)
    }

    fn answered(&self, key: &str) -> Option<&Value> {
        self.responses?.get(key).filter(|response| is_answer(response))
    }

    fn one(&self, key: &str, request: &Value) -> Step {
        match self.answered(key) {
            Some(response) => Step::Text(text_of(response)),
            None => Step::Ask { requests: json!({key: request}), state: None },
        }
    }

    /// Asks for all, and finds its state unaltered.
    fn sealed(&self, codec: &RequestStateCodec, requests: Value) -> Result<Step, ErrorData> {
        let Some(state) = self.state else {
            let state = Some(self.seal(codec, "1"));
            return Ok(Step::Ask { requests, state });
        };
        self.open(codec, state)?;
        let keys: Vec<&String> = requests.as_object().into_iter().flat_map(Map::keys).collect();
        if keys.iter().all(|key| self.answered(key).is_some()) {
            return Ok(Step::Text("state-ok".to_owned()));
        }
        let state = Some(self.seal(codec, "1"));
        Ok(Step::Ask { requests, state })
    }

    fn rounds(&self, codec: &RequestStateCodec) -> Result<Step, ErrorData> {
        let first = json!({"step1": ask_name("Step 1: What is your name?")});
        let second =
            json!({"step2": ask("Step 2: What is your favorite color?", "color", "string")});
        let Some(state) = self.state else {
            return Ok(Step::Ask { requests: first, state: Some(self.seal(codec, "1")) });
        };
        let number = self.open(codec, state)?;
        if number == "1" && self.answered("step1").is_some() {
            return Ok(Step::Ask { requests: second, state: Some(self.seal(codec, "2")) });
        }
        if number == "2" && self.answered("step2").is_some() {
            return Ok(Step::Text("done".to_owned()));
        }
        let requests = if number == "1" { first } else { second };
        Ok(Step::Ask { requests, state: Some(self.seal(codec, &number)) })
    }

    /// Asks only for what the client declared.
    fn declared(&self) -> Step {
        let all = [
            ("elicitation", "user_name", ask_name("What is your name?")),
            ("sampling", "greeting", sample("Generate a greeting")),
            ("roots", "client_roots", roots()),
        ];
        let mut requests = Map::new();
        for (capability, key, request) in all {
            if self.capabilities.get(capability).is_some() && self.answered(key).is_none() {
                requests.insert(key.to_owned(), request);
            }
        }
        if requests.is_empty() {
            return Step::Text("nothing to ask".to_owned());
        }
        Step::Ask { requests: requests.into(), state: None }
    }

    fn seal(&self, codec: &RequestStateCodec, payload: &str) -> String {
        let options = SealOptions::new().associated_data(self.name.as_bytes()).ttl(LIFETIME);
        codec.seal_with(payload.as_bytes(), &options)
    }

    fn open(&self, codec: &RequestStateCodec, state: &str) -> Result<String, ErrorData> {
        let opened = codec.open_with(state, self.name.as_bytes()).ok();
        let text = opened.and_then(|bytes| String::from_utf8(bytes).ok());
        text.ok_or_else(|| ErrorData::invalid_params("requestState does not hold", None))
    }
}

fn is_answer(response: &Value) -> bool {
    match response.get("action").and_then(Value::as_str) {
        Some(action) => {
            let content = response.get("content").and_then(Value::as_object);
            action == "accept"
                && content.is_some_and(|content| {
                    content.values().all(|value| value.is_string() || value.is_boolean())
                })
        }
        None => response.get("roots").is_some() || response.get("content").is_some(),
    }
}

fn text_of(response: &Value) -> String {
    format!("the client answered {response}")
}

fn ask_name(message: &str) -> Value {
    ask(message, "name", "string")
}

fn ask(message: &str, field: &str, kind: &str) -> Value {
    let schema =
        json!({"type": "object", "properties": {field: {"type": kind}}, "required": [field]});
    json!({"method": "elicitation/create", "params": {"mode": "form", "message": message, "requestedSchema": schema}})
}

fn sample(text: &str) -> Value {
    let messages = json!([{"role": "user", "content": {"type": "text", "text": text}}]);
    json!({"method": "sampling/createMessage", "params": {"messages": messages, "maxTokens": 100}})
}

fn roots() -> Value {
    json!({"method": "roots/list", "params": {}})
}
