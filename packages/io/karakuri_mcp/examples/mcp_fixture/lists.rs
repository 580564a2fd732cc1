//! What the fixtures are called, and what they take.

use serde_json::{Value, json};

/// Tools without arguments.
const PLAIN: [&str; 21] = [
    "test_simple_text",
    "test_image_content",
    "test_audio_content",
    "test_embedded_resource",
    "test_multiple_content_types",
    "test_tool_with_progress",
    "test_error_handling",
    "test_missing_capability",
    "test_streaming_elicitation",
    "test_logging_tool",
    "test_trigger_tool_change",
    "test_trigger_prompt_change",
    "test_input_required_result_elicitation",
    "test_input_required_result_sampling",
    "test_input_required_result_list_roots",
    "test_input_required_result_request_state",
    "test_input_required_result_multiple_inputs",
    "test_input_required_result_multi_round",
    "test_input_required_result_tampered_state",
    "test_input_required_result_capabilities",
    "test_tool_with_logging",
];

/// All tools.
pub(crate) fn tools() -> Value {
    let none = json!({"type": "object", "properties": {}});
    let mut tools: Vec<Value> = PLAIN.iter().map(|name| tool(name, &none)).collect();
    tools.push(tool("json_schema_2020_12_tool", &schema()));
    tools.push(tool("test_custom_headers", &mirrored()));
    tools.into()
}

fn tool(name: &str, schema: &Value) -> Value {
    json!({"name": name, "description": "A fixture of the conformance suite.", "inputSchema": schema})
}

/// Arguments that a client repeats in headers.
fn mirrored() -> Value {
    json!({
        "type": "object",
        "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "count": {"type": "integer", "x-mcp-header": "Count"},
        },
    })
}

/// Words of JSON Schema 2020-12 that a server must not lose.
fn schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            },
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": false,
    })
}

/// All prompts.
pub(crate) fn prompts() -> Value {
    let prompt = |name: &str, arguments: &[&str]| {
        let arguments: Vec<Value> = arguments
            .iter()
            .map(|name| json!({"name": name, "description": "A text.", "required": true}))
            .collect();
        json!({"name": name, "description": "A fixture of the conformance suite.", "arguments": arguments})
    };
    json!([
        prompt("test_simple_prompt", &[]),
        prompt("test_prompt_with_arguments", &["arg1", "arg2"]),
        prompt("test_prompt_with_embedded_resource", &["resourceUri"]),
        prompt("test_prompt_with_image", &[]),
        prompt("test_input_required_result_prompt", &[]),
    ])
}

/// Resources with an address of their own.
pub(crate) fn resources() -> Value {
    let resource = |uri: &str, mime: &str| json!({"uri": uri, "name": uri, "description": "A fixture of the conformance suite.", "mimeType": mime});
    json!([
        resource("test://static-text", "text/plain"),
        resource("test://static-binary", "image/png"),
        resource("test://watched-resource", "text/plain"),
    ])
}

/// Resources with a part of their address to fill in.
pub(crate) fn templates() -> Value {
    json!([{
        "uriTemplate": "test://template/{id}/data",
        "name": "template",
        "description": "A fixture of the conformance suite.",
        "mimeType": "application/json",
    }])
}
