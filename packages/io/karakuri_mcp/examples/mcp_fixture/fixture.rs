//! The fixtures as a server.

use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities,
    CompleteRequestParams, CompleteResult, ErrorData, GetPromptRequestParams, GetPromptResponse,
    GetPromptResult, Implementation, InputRequiredResult, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ProgressNotificationParam, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
    RequestStateCodec, ServerCapabilities, ServerConfig, SubscriptionFilter, Tool,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::sync::broadcast;

use crate::rounds::{Round, Step};
use crate::{content, lists};

/// Pause between two reports of progress.
const PAUSE: Duration = Duration::from_millis(50);

/// A list that changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    Tools,
    Prompts,
}

/// All fixtures.
#[derive(Clone)]
pub(crate) struct Fixture {
    codec: RequestStateCodec,
    changes: broadcast::Sender<Change>,
}

impl Fixture {
    /// Fixtures under a key of random bits.
    pub(crate) fn new(key: &[u8; 32]) -> Self {
        let codec = RequestStateCodec::new_unchecked(key.to_vec());
        Self { codec, changes: broadcast::channel(16).0 }
    }

    fn changed(&self, change: Change) -> Value {
        // Nobody may listen.
        let _heard = self.changes.send(change);
        json!([{"type": "text", "text": "changed"}])
    }
}

/// A value of the protocol, from how it is written.
fn written<T: DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value)
        .map_err(|error| ErrorData::internal_error(format!("a fixture is wrong: {error}"), None))
}

fn capabilities(context: &RequestContext<RoleServer>) -> Value {
    json!(context.client_capabilities().unwrap_or_default())
}

fn asked(requests: Value, state: Option<String>) -> Result<InputRequiredResult, ErrorData> {
    Ok(InputRequiredResult::new(Some(written(requests)?), state))
}

async fn progress(context: &RequestContext<RoleServer>) {
    let Some(token) = context.meta.get_progress_token() else { return };
    for part in [0.0, 50.0, 100.0] {
        let note = ProgressNotificationParam::new(token.clone(), part).with_total(100.0);
        let _gone = context.peer.notify_progress(note).await;
        tokio::time::sleep(PAUSE).await;
    }
}

impl ServerHandler for Fixture {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_resources()
            .enable_completions()
            .build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("karakuri-fixture", env!("CARGO_PKG_VERSION")))
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(written(lists::tools())?))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let tools: Vec<Tool> = written(lists::tools()).ok()?;
        tools.into_iter().find(|tool| tool.name == name)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let name = request.name.as_ref();
        let declared = capabilities(&context);
        let round = Round {
            name,
            responses: request.input_responses.as_ref(),
            state: request.request_state.as_deref(),
            capabilities: &declared,
        };
        let content = match (name, round.next(&self.codec)) {
            (_, Some(step)) => match step? {
                Step::Ask { requests, state } => return Ok(asked(requests, state)?.into()),
                Step::Text(text) => json!([{"type": "text", "text": text}]),
            },
            ("test_missing_capability", None) if declared.get("sampling").is_none() => {
                let needed: ClientCapabilities = written(json!({"sampling": {}}))?;
                return Err(ErrorData::missing_required_client_capability(needed));
            }
            ("test_error_handling", None) => {
                let content = json!([{"type": "text", "text": "This tool intentionally returns an error for testing"}]);
                return Ok(CallToolResult::error(written(content)?).into());
            }
            ("test_tool_with_progress", None) => {
                progress(&context).await;
                json!([{"type": "text", "text": "done"}])
            }
            ("test_trigger_tool_change", None) => self.changed(Change::Tools),
            ("test_trigger_prompt_change", None) => self.changed(Change::Prompts),
            (name, None) => content::of_tool(name)
                .ok_or_else(|| ErrorData::invalid_params("there is no tool of that name", None))?,
        };
        Ok(CallToolResult::success(written(content)?).into())
    }

    async fn list_prompts(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(written(lists::prompts())?))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let declared = capabilities(&context);
        let round = Round {
            name: &request.name,
            responses: request.input_responses.as_ref(),
            state: request.request_state.as_deref(),
            capabilities: &declared,
        };
        if let Some(step) = round.next(&self.codec)
            && let Step::Ask { requests, state } = step?
        {
            return Ok(asked(requests, state)?.into());
        }
        let arguments = json!(request.arguments);
        let messages = content::of_prompt(&request.name, &arguments)
            .ok_or_else(|| ErrorData::invalid_params("there is no prompt of that name", None))?;
        Ok(GetPromptResult::new(written(messages)?).into())
    }

    async fn list_resources(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(written(lists::resources())?))
    }

    async fn list_resource_templates(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(written(lists::templates())?))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let Some(contents) = content::of_resource(&request.uri) else {
            let data = json!({"uri": request.uri});
            return Err(ErrorData::resource_not_found("there is no such resource", Some(data)));
        };
        Ok(ReadResourceResult::new(written(contents)?).into())
    }

    async fn complete(
        &self,
        _request: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        written(
            json!({"resultType": "complete", "completion": {"values": [], "total": 0, "hasMore": false}}),
        )
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = self.changes.subscribe();
        loop {
            let change = tokio::select! {
                () = context.cancelled() => return Ok(()),
                change = changes.recv() => change,
            };
            // What a client did not ask for is refused by its sink.
            let _refused = match change {
                Ok(Change::Tools) => context.sink().notify_tool_list_changed().await,
                Ok(Change::Prompts) => context.sink().notify_prompt_list_changed().await,
                Err(_) => return Ok(()),
            };
        }
    }
}
