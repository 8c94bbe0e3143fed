//! `canter mcp`: a server of the Model Context Protocol on standard input and output, for programs that let a model search.
//!
//! ```text
//!   client ──line──▶ transport ──▶ server ──▶ schema, arguments ──▶ app ──▶ the search API, or a plan
//!          ◀──line──           ◀──        ◀── answer: notes, what was found, what it cost; of a bounded length
//! ```
//!
//! It only reads. Standard output carries nothing but the protocol.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, anyhow};
use rmcp::service::{QuitReason, ServerInitializeError};

use super::app::App;
use super::args::McpArgs;
use super::server::Server;
use super::transport;
use crate::exit::WrongUse;
use crate::open::tokio_runtime;

/// Maximum time to wait for the cache's writes after standard input is closed.
const MAX_GOODBYE: Duration = Duration::from_secs(5);

/// Serves until standard input is closed.
pub(crate) fn run(args: &McpArgs) -> Result<()> {
    let app = Arc::new(App::open(args)?);
    let runtime = tokio_runtime()?;
    let served = runtime.block_on(async {
        app.check_filter().await?;
        let served = serve(Server::new(Arc::clone(&app), args)).await;
        let _ = tokio::time::timeout(MAX_GOODBYE, app.settle()).await;
        served
    });
    // A running read of standard input cannot be cancelled.
    runtime.shutdown_background();
    served
}

async fn serve(server: Server) -> Result<()> {
    let (input, output) = rmcp::transport::stdio();
    let transport = transport::bounded(input, output);
    let session = match rmcp::serve_server(server, transport).await {
        Ok(session) => session,
        // A client that sends nothing gets nothing.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        // The message is not repeated, because it may contain a query.
        Err(ServerInitializeError::ExpectedInitializeRequest(_)) => {
            let message = "the first message on standard input does not begin a session: `canter mcp` is started by a \
                           client of the Model Context Protocol, as its --help shows";
            return Err(WrongUse(message.to_owned()).into());
        }
        Err(error) => return Err(anyhow!("there is no session with the client: {error}")),
    };
    match session.waiting().await {
        Ok(QuitReason::JoinError(error)) | Err(error) => {
            Err(anyhow!("the session with the client broke off: {error}"))
        }
        Ok(_) => Ok(()),
    }
}
