//! What the fixtures answer, as the suite describes it.

use serde_json::{Value, json};

/// A picture of one pixel, in base64.
const PICTURE: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
/// A sound of no samples, in base64.
const SOUND: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=";

/// Content of tools that only answer.
pub(crate) fn of_tool(name: &str) -> Option<Value> {
    Some(match name {
        "test_simple_text" => json!([text("This is a simple text response for testing.")]),
        "test_image_content" => json!([picture()]),
        "test_audio_content" => json!([{"type": "audio", "data": SOUND, "mimeType": "audio/wav"}]),
        "test_embedded_resource" => {
            json!([embedded("test://embedded-resource", "This is an embedded resource content.")])
        }
        "test_multiple_content_types" => json!([
            text("Multiple content types test:"),
            picture(),
            {"type": "resource", "resource": {
                "uri": "test://mixed-content-resource",
                "mimeType": "application/json",
                "text": r#"{"test":"data","value":123}"#,
            }},
        ]),
        "test_custom_headers"
        | "json_schema_2020_12_tool"
        | "test_logging_tool"
        | "test_missing_capability" => json!([text("done")]),
        _ => return None,
    })
}

/// Messages of a prompt.
pub(crate) fn of_prompt(name: &str, arguments: &Value) -> Option<Value> {
    let argument = |name: &str| arguments[name].as_str().unwrap_or_default().to_owned();
    Some(match name {
        "test_simple_prompt" => said(&[text("This is a simple prompt for testing.")]),
        "test_prompt_with_arguments" => {
            let words = format!(
                "Prompt with arguments: arg1='{}', arg2='{}'",
                argument("arg1"),
                argument("arg2")
            );
            said(&[text(&words)])
        }
        "test_prompt_with_embedded_resource" => said(&[
            embedded(&argument("resourceUri"), "Embedded resource content for testing."),
            text("Please process the embedded resource above."),
        ]),
        "test_prompt_with_image" => said(&[picture(), text("Please analyze the image above.")]),
        "test_input_required_result_prompt" => said(&[text("The client has answered.")]),
        _ => return None,
    })
}

/// Contents of a resource.
pub(crate) fn of_resource(uri: &str) -> Option<Value> {
    let whole =
        |mime: &str, key: &str, value: &str| json!([{"uri": uri, "mimeType": mime, key: value}]);
    Some(match uri {
        "test://static-text" => {
            whole("text/plain", "text", "This is the content of the static text resource.")
        }
        "test://static-binary" => whole("image/png", "blob", PICTURE),
        "test://watched-resource" => whole("text/plain", "text", "Watched resource content"),
        _ => {
            let id = uri.strip_prefix("test://template/")?.strip_suffix("/data")?;
            let data =
                json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
            whole("application/json", "text", &data.to_string())
        }
    })
}

fn said(contents: &[Value]) -> Value {
    contents.iter().map(|content| json!({"role": "user", "content": content})).collect()
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn picture() -> Value {
    json!({"type": "image", "data": PICTURE, "mimeType": "image/png"})
}

fn embedded(uri: &str, text: &str) -> Value {
    json!({"type": "resource", "resource": {"uri": uri, "mimeType": "text/plain", "text": text}})
}
