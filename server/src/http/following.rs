//! Reloading of files that change: certificates and tokens are valid for weeks, servers run longer.

use std::sync::Arc;
use std::time::Duration;

/// Interval between two checks.
const INTERVAL: Duration = Duration::from_secs(15);

/// Reloads files periodically, for as long as it is polled. `reload` returns whether they have changed; invalid files,
/// such as a new certificate with the old key, change nothing and are logged once. `what` names their contents.
pub(crate) async fn follow<T: Send + Sync + 'static>(
    files: Arc<T>,
    reload: fn(&T) -> Result<bool, String>,
    what: &'static str,
) {
    let mut last_error = None;
    loop {
        tokio::time::sleep(INTERVAL).await;
        let files = Arc::clone(&files);
        let reloaded = tokio::task::spawn_blocking(move || reload(&files)).await;
        let error = match reloaded.unwrap_or_else(|error| Err(error.to_string())) {
            Ok(false) => None,
            Ok(true) => {
                tracing::info!(target: "canter::serve", "new {what}");
                None
            }
            Err(error) => Some(error),
        };
        if let Some(error) = &error
            && last_error.as_ref() != Some(error)
        {
            tracing::error!(target: "canter::serve", %error, "{what} stay as they were");
        }
        last_error = error;
    }
}
