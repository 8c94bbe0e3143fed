//! Program of the indexer function; see `canter_lambda::indexer`.

use std::process::ExitCode;

use canter_lambda::indexer::IndexerFunction;
use canter_lambda::serve;

#[tokio::main]
async fn main() -> ExitCode {
    serve(IndexerFunction::new, |function, event| async move {
        function.handle(event).await
    })
    .await
}
