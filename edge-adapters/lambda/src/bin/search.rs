//! Program of the search function; see `canter_lambda::search`.

use std::process::ExitCode;

use canter_lambda::search::SearchFunction;
use canter_lambda::serve;

#[tokio::main]
async fn main() -> ExitCode {
    serve(SearchFunction::new, |function, event| async move {
        function.handle(event).await
    })
    .await
}
