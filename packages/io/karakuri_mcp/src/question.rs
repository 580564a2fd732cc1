//! A question to a person, as the protocol carries it: a form with one answer, yes or no.

use rmcp::RoleServer;
use rmcp::model::{
    ElicitRequest, ElicitRequestParams, ElicitationSchema, ErrorData, InputRequest, InputRequests,
    InputRequiredResult, InputResponses,
};
use rmcp::service::RequestContext;
use serde_json::{Value, json};

/// Name of the question and of its one field.
const APPROVE: &str = "approve";

/// Whether the client said, with this request, that it can show forms. One of an older revision says so in its handshake, and would
/// not understand a question that comes as a result.
pub(crate) fn can_be_asked(context: &RequestContext<RoleServer>) -> bool {
    let Some(capabilities) = context.meta.client_capabilities() else { return false };
    let Some(elicitation) = &capabilities.elicitation else { return false };
    // A client that names no mode means forms.
    elicitation.form.is_some() || elicitation.url.is_none()
}

/// The refusal where nobody can be asked.
pub(crate) fn not_asked() -> Value {
    json!({
        "code": "NEEDS_APPROVAL",
        "field": null,
        "value": null,
        "range": null,
        "hint": "A person must approve this call: connect with a client of protocol revision 2026-07-28 that declares the capability `elicitation`.",
    })
}

/// The question, with its sealed state.
pub(crate) fn of(message: String, sealed: String) -> Result<InputRequiredResult, ErrorData> {
    let schema = ElicitationSchema::builder()
        .required_bool(APPROVE)
        .build()
        .map_err(|error| ErrorData::internal_error(format!("no form: {error}"), None))?;
    let form = ElicitRequestParams::FormElicitationParams {
        meta: None,
        message,
        requested_schema: schema,
    };
    let mut requests = InputRequests::new();
    requests.insert(APPROVE.to_owned(), InputRequest::Elicitation(ElicitRequest::new(form)));
    Ok(InputRequiredResult::new(Some(requests), Some(sealed)))
}

/// Whether a person said yes: anything but that is a no.
pub(crate) fn is_approved(responses: Option<&InputResponses>) -> bool {
    let Some(response) = responses.and_then(|responses| responses.get(APPROVE)) else {
        return false;
    };
    response["action"] == "accept" && response["content"][APPROVE] == true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn approved(response: Value) -> bool {
        is_approved(Some(&InputResponses::from([(APPROVE.to_owned(), response)])))
    }

    #[test]
    fn only_yes_is_a_yes() {
        assert!(approved(json!({"action": "accept", "content": {"approve": true}})));
        for other in [
            json!({"action": "accept", "content": {"approve": false}}),
            json!({"action": "accept", "content": {"approve": "true"}}),
            json!({"action": "accept", "content": {"approve": 1}}),
            json!({"action": "accept", "content": {"yes": true}}),
            json!({"action": "accept"}),
            json!({"action": "decline", "content": {"approve": true}}),
            json!({"action": "cancel"}),
            json!(true),
            json!(null),
        ] {
            assert!(!approved(other.clone()), "{other}");
        }
        assert!(!is_approved(None));
        assert!(!is_approved(Some(&InputResponses::new())));
    }
}
