//! Requests of the protocol as calls of verbs.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use axum::http::request::Parts;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, CancelTaskParams,
    CreateTaskResult, ErrorData, GetTaskParams, GetTaskResult, Implementation,
    InitializeRequestParams, InitializeResult, JsonObject, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
    ResourceContents, ServerCapabilities, ServerConfig, SubscriptionFilter, ToolAnnotations,
    UpdateTaskParams,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};
use serde_json::{Value, json};
use tokio::sync::RwLock;
use tokio_util::sync::CancellationToken;

use crate::approvals::{Approvals, Subject};
use crate::principal::Principal;
use crate::question;
use crate::running::{First, Job, Running};
use crate::subscriptions;
use crate::tasks::{self, Tasks};
use crate::uri;
use crate::verbs::{Answer, Approval, Content, Effect, Repeated, Resource, Tool, Verbs};

/// What a server is given at its start.
#[derive(Clone)]
pub struct Settings {
    /// 256 random bits: whoever knows them can forge approvals. With those of another start, what was asked before it is void.
    pub key: [u8; 32],
    /// For how long a question can be answered.
    pub approval_lifetime: Duration,
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Logs are read by others.
        f.debug_struct("Settings")
            .field("approval_lifetime", &self.approval_lifetime)
            .finish_non_exhaustive()
    }
}

/// Verbs as a server of the protocol. Copies are the same server.
#[derive(Clone)]
pub struct Server {
    verbs: Arc<dyn Verbs>,
    approvals: Arc<Approvals>,
    tasks: Tasks,
    stop: CancellationToken,
    /// Read by each call under way, also by one that nobody waits for.
    calls: Arc<RwLock<()>>,
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("about", &self.verbs.about()).finish_non_exhaustive()
    }
}

impl Server {
    /// A server of verbs. When `stop` fires, all calls are cancelled and its transports end.
    pub fn new(verbs: Arc<dyn Verbs>, settings: &Settings, stop: CancellationToken) -> Self {
        let approvals = Arc::new(Approvals::new(&settings.key, settings.approval_lifetime));
        Self { verbs, approvals, tasks: Tasks::default(), stop, calls: Arc::default() }
    }

    /// Waits until no call is under way, and says whether that is so in time: before it ends, a program lets its motions brake.
    pub async fn finished(&self, within: Duration) -> bool {
        tokio::time::timeout(within, self.calls.write()).await.is_ok()
    }

    /// Fires when the server is to end.
    pub(crate) fn stop(&self) -> &CancellationToken {
        &self.stop
    }

    /// The same server for one client: when that has gone, its calls are cancelled.
    pub(crate) fn that_stops_with(self, gone: CancellationToken) -> Self {
        Self { stop: gone, ..self }
    }

    /// The tool of a name, if the principal sees it.
    fn tool(&self, principal: &Principal, name: &str) -> Option<Tool> {
        self.verbs.tools(principal).into_iter().find(|tool| tool.name == name)
    }

    /// The answer to a question that this call repeats.
    fn approval(
        &self,
        subject: &Subject,
        request: &CallToolRequestParams,
    ) -> Result<Option<Approval>, ErrorData> {
        let Some(sealed) = &request.request_state else { return Ok(None) };
        let Some(state) = self.approvals.redeem(subject, sealed) else {
            let message = "requestState does not hold: it was altered, used before, has expired, or belongs to another call; \
                           call the tool again without it";
            return Err(ErrorData::invalid_params(message, None));
        };
        let is_given = question::is_approved(request.input_responses.as_ref());
        Ok(Some(if is_given { Approval::Given(state) } else { Approval::Declined(state) }))
    }

    /// Asks for an approval, where the client can ask somebody.
    fn ask(
        &self,
        subject: &Subject,
        message: String,
        state: Value,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if !question::can_be_asked(context) {
            return Ok(CallToolResult::structured_error(question::not_asked()).into());
        }
        let sealed = self.approvals.seal(subject, state).map_err(|error| {
            ErrorData::internal_error(format!("cannot seal the question: {error}"), None)
        })?;
        Ok(question::of(message, sealed)?.into())
    }
}

/// What a client of any revision can use.
fn common() -> ServerCapabilities {
    ServerCapabilities::builder().enable_tools().enable_resources().build()
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let about = self.verbs.about();
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_resources_list_changed()
            .enable_tasks()
            .build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new(about.name, about.version))
            .with_instructions(about.instructions)
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        // Of an older revision, which subscribes by other methods and knows other tasks.
        let mut info = self.negotiate_initialize(&request)?;
        info.capabilities = common();
        context.peer.set_peer_info(request);
        Ok(info)
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let principal = principal_of(&context)?;
        let tools =
            self.verbs.tools(&principal).into_iter().map(listed_tool).collect::<Result<_, _>>()?;
        Ok(ListToolsResult::with_all_items(tools)
            .with_ttl_ms(0)
            .with_cache_scope(CacheScope::Private))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let principal = principal_of(&context)?;
        let arguments = Value::Object(request.arguments.clone().unwrap_or_default());
        let Some(tool) = self.tool(&principal, &request.name) else {
            self.verbs.refuse(&principal, &request.name, &arguments);
            return Err(ErrorData::invalid_params("there is no tool of that name", None));
        };
        let subject = Subject::new(&principal, tool.name, &arguments);
        let approval = self.approval(&subject, &request)?;
        let under_way = self.calls.clone().read_owned().await;
        let owner = principal.clone();
        let job = Job { principal, tool: tool.name, arguments, approval, under_way };
        let running = Running::start(self.verbs.clone(), job, self.stop.child_token());
        let answer = if tool.is_long && tasks::are_known(&context) {
            match running.first(&context).await? {
                First::Answer(answer) => answer,
                First::Report(begun) => match self.tasks.make(&owner, begun) {
                    Ok(task) => return Ok(CreateTaskResult::new(task).into()),
                    Err(begun) => begun.running.answer(&context, Some(begun.report)).await?,
                },
            }
        } else {
            running.answer(&context, None).await?
        };
        match answer {
            Answer::Done(value) => Ok(CallToolResult::structured(value).into()),
            Answer::Refused(value) => Ok(CallToolResult::structured_error(value).into()),
            Answer::NeedsApproval { message, state } => {
                self.ask(&subject, message, state, &context)
            }
        }
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        let principal = principal_of(&context)?;
        self.tasks.get(&principal, &request.task_id).map(GetTaskResult::new)
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        // What is asked is asked before there is a task: no answer is waited for.
        self.tasks.check(&principal_of(&context)?, &request.task_id)
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.tasks.cancel(&principal_of(&context)?, &request.task_id)
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(subscriptions::accepted(requested))
    }

    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        let principal = principal_of(subscription.request_context())?;
        subscriptions::listen(&*self.verbs, &principal, &subscription, &self.stop).await;
        Ok(())
    }

    async fn list_resources(
        &self,
        _page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let principal = principal_of(&context)?;
        let resources =
            self.verbs.resources(&principal).await.into_iter().map(listed_resource).collect();
        Ok(ListResourcesResult::with_all_items(resources)
            .with_ttl_ms(0)
            .with_cache_scope(CacheScope::Private))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let principal = principal_of(&context)?;
        let none = || {
            ErrorData::resource_not_found(
                "there is no resource at that address",
                Some(json!({"uri": request.uri})),
            )
        };
        // The address comes from a language model: it is compared with those that are listed, never opened.
        if !uri::is_plain(&request.uri) {
            return Err(none());
        }
        let resources = self.verbs.resources(&principal).await;
        let listed =
            resources.into_iter().find(|resource| resource.uri == request.uri).ok_or_else(none)?;
        let content = self.verbs.read(&principal, &listed.uri).await.ok_or_else(none)?;
        let contents = match content {
            Content::Text(text) => ResourceContents::text(text, listed.uri),
            Content::Bytes(bytes) => ResourceContents::blob(STANDARD.encode(bytes), listed.uri),
        };
        let contents = contents.with_mime_type(listed.mime_type);
        Ok(ReadResourceResult::new(vec![contents])
            .with_ttl_ms(0)
            .with_cache_scope(CacheScope::Private)
            .into())
    }
}

/// Who sent a request: over HTTP whom the token names, on stdio who started the program.
fn principal_of(context: &RequestContext<RoleServer>) -> Result<Principal, ErrorData> {
    let Some(parts) = context.extensions.get::<Parts>() else { return Ok(Principal::local()) };
    let known = parts.extensions.get::<Principal>().cloned();
    known.ok_or_else(|| ErrorData::internal_error("the request has no principal", None))
}

fn listed_tool(tool: Tool) -> Result<rmcp::model::Tool, ErrorData> {
    let annotations = annotations(tool.effect);
    let mut listed =
        rmcp::model::Tool::new(tool.name, tool.description, schema(tool.input_schema)?)
            .with_annotations(annotations);
    listed.output_schema = Some(Arc::new(schema(tool.output_schema)?));
    Ok(listed)
}

fn schema(value: Value) -> Result<JsonObject, ErrorData> {
    match value {
        Value::Object(object) => Ok(object),
        other => Err(ErrorData::internal_error(format!("a schema is no object: {other}"), None)),
    }
}

fn annotations(effect: Effect) -> ToolAnnotations {
    let hints = ToolAnnotations::new().open_world(false);
    let repeated = |repeated| repeated == Repeated::Idempotent;
    match effect {
        Effect::ReadOnly => hints.read_only(true),
        Effect::Changes(again) => {
            hints.read_only(false).destructive(false).idempotent(repeated(again))
        }
        Effect::Destructive(again) => {
            hints.read_only(false).destructive(true).idempotent(repeated(again))
        }
    }
}

fn listed_resource(resource: Resource) -> rmcp::model::Resource {
    rmcp::model::Resource::new(resource.uri, resource.name)
        .with_description(resource.description)
        .with_mime_type(resource.mime_type)
}
