//! Files that are read again when they change: certificates and tokens live for weeks, servers longer.

use std::sync::Arc;
use std::time::Duration;

/// How often they are looked at.
const INTERVAL: Duration = Duration::from_secs(15);

/// Reads files again every now and then, for as long as it is polled. `reload` says whether they have changed; what cannot
/// be read, such as a new certificate beside the key of the old one, changes nothing and is logged once. `what` is what they
/// hold.
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
