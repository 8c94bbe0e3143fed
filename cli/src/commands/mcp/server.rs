//! The protocol: the list of tools, and a call from its arguments to its answer.

use std::sync::Arc;
use std::time::Instant;

use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock,
    CustomRequest, CustomResult, ErrorCode, Implementation, JsonObject, ListToolsResult,
    PaginatedRequestParams, ProtocolVersion, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::Semaphore;

use super::app::{App, Failure};
use super::args::McpArgs;
use super::tools::{self, DescribeArguments, ListArguments, SearchArguments};

const NO_ROOM: &str = "too many calls are waiting already: wait for the answers of others and call again (or start the \
                       server with a higher --max-concurrent-calls or --max-waiting-calls)";

/// Time for which clients may cache the list of tools, which never changes while the server runs.
const TOOLS_TTL_MS: u64 = 3_600_000;

/// Answers the requests of one client.
pub(super) struct Server {
    app: Arc<App>,
    tools: Vec<Tool>,
    /// Permits for running calls.
    running: Semaphore,
    /// Permits for running and waiting calls.
    line: Semaphore,
}

/// A call with valid arguments.
#[derive(Debug)]
enum Call {
    ListIndexes(ListArguments),
    DescribeFields(DescribeArguments),
    Search(SearchArguments),
    Aggregate(SearchArguments),
    ExplainCost(SearchArguments),
}

impl Call {
    fn read(tool: &Tool, arguments: JsonObject) -> Result<Self, ErrorData> {
        // Null counts as absent.
        let given = arguments.into_iter().filter(|(_, value)| !value.is_null());
        let arguments = Value::Object(given.collect());
        let schema = Value::Object((*tool.input_schema).clone());
        let wrong =
            |message: String| ErrorData::invalid_params(format!("{}: {message}", tool.name), None);
        tools::check(&schema, &arguments, "").map_err(wrong)?;
        Ok(match &*tool.name {
            tools::LIST_INDEXES => Self::ListIndexes(typed(arguments).map_err(wrong)?),
            tools::DESCRIBE_FIELDS => Self::DescribeFields(typed(arguments).map_err(wrong)?),
            tools::SEARCH => Self::Search(typed(arguments).map_err(wrong)?),
            tools::AGGREGATE => Self::Aggregate(typed(arguments).map_err(wrong)?),
            _ => Self::ExplainCost(typed(arguments).map_err(wrong)?),
        })
    }

    async fn answer(self, app: &App) -> Result<Value, Failure> {
        match self {
            Self::ListIndexes(arguments) => tools::list(app, arguments).await,
            Self::DescribeFields(arguments) => tools::describe(app, arguments).await,
            Self::Search(arguments) => tools::search(app, arguments).await,
            Self::Aggregate(arguments) => tools::aggregate(app, arguments).await,
            Self::ExplainCost(arguments) => tools::explain(app, arguments).await,
        }
    }
}

fn typed<T: DeserializeOwned>(arguments: Value) -> Result<T, String> {
    serde_json::from_value(arguments).map_err(|error| error.to_string())
}

impl Server {
    pub(super) fn new(app: Arc<App>, args: &McpArgs) -> Self {
        let num_running = args.calls.max_concurrent_calls as usize;
        let num_in_line = num_running + args.calls.max_waiting_calls as usize;
        Self {
            tools: tools::tools_of(&app),
            app,
            running: Semaphore::new(num_running),
            line: Semaphore::new(num_in_line),
        }
    }

    /// Answers a call in its turn. A failure is an answer too, for the model to read.
    async fn answer(&self, call: Call) -> CallToolResult {
        let Ok(_place) = self.line.try_acquire() else {
            return failed(NO_ROOM.to_owned());
        };
        let _turn = self.running.acquire().await;
        match call.answer(&self.app).await {
            Ok(answer) => CallToolResult::structured(answer),
            Err(failure) => failed(failure.into_message()),
        }
    }
}

fn failed(message: String) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(message)])
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let server = Implementation::new("canter", env!("CARGO_PKG_VERSION")).with_title("Canter");
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(server)
            .with_instructions(tools::INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let listed = ListToolsResult::with_all_items(self.tools.clone());
        let version = context.protocol_version();
        // Earlier versions of the protocol do not have these.
        Ok(
            match version.is_some_and(|version| version >= ProtocolVersion::V_2026_07_28) {
                true => listed
                    .with_ttl_ms(TOOLS_TTL_MS)
                    .with_cache_scope(CacheScope::Private),
                false => listed,
            },
        )
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.tools.iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let CallToolRequestParams {
            name, arguments, ..
        } = request;
        let Some(tool) = self.tools.iter().find(|tool| tool.name == name) else {
            let known: Vec<&str> = self.tools.iter().map(|tool| &*tool.name).collect();
            let message = format!("there is no tool {name:?}; there are {}", known.join(", "));
            return Err(ErrorData::invalid_params(message, None));
        };
        let call = Call::read(tool, arguments.unwrap_or_default())?;
        let started = Instant::now();
        let answer = tokio::select! {
            // The search ends when its future is dropped.
            () = context.ct.cancelled() => {
                tracing::info!(target: "canter::mcp", tool = %tool.name, outcome = "cancelled");
                return Err(ErrorData::invalid_request("the call was cancelled", None));
            }
            answer = self.answer(call) => answer,
        };
        let outcome = match answer.is_error {
            Some(true) => "error",
            _ => "ok",
        };
        let elapsed_us = started.elapsed().as_micros() as u64;
        tracing::info!(target: "canter::mcp", tool = %tool.name, outcome, elapsed_us);
        Ok(answer.into())
    }

    /// Answers an invalid request, as far as the SDK could parse it.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        Err(match request.method.as_str() {
            "tools/call" => ErrorData::invalid_params(
                "a call has a `name`, which is text, and `arguments`, which are an object",
                None,
            ),
            method => ErrorData::new(
                ErrorCode::METHOD_NOT_FOUND,
                format!("there is no method {method:?} here"),
                None,
            ),
        })
    }
}
