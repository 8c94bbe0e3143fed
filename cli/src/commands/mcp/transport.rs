//! Messages in and out, with a limit on unanswered requests: the SDK would buffer any number that the client does not
//! read.

use std::collections::HashMap;
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{ClientNotification, JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::lines::Lines;

/// Maximum length of a client's message, in bytes. Queries and aggregations have a kilobyte.
const MAX_MESSAGE_BYTES: usize = 4 << 20;

/// Maximum number of unanswered requests; no more are read meanwhile. Each ends at its deadline.
const MAX_UNANSWERED: usize = 256;

/// Returns a transport of messages as lines.
pub(super) fn bounded<R, W>(input: R, output: W) -> Unanswered<Lines<R>>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    Unanswered {
        inner: Lines::new(input, output, MAX_MESSAGE_BYTES),
        free: Arc::new(Semaphore::new(MAX_UNANSWERED)),
        places: HashMap::new(),
    }
}

/// Transport that stops reading while too many requests are unanswered.
pub(super) struct Unanswered<T> {
    inner: T,
    free: Arc<Semaphore>,
    /// Permits of the requests that were read, until their answers are written.
    places: HashMap<RequestId, OwnedSemaphorePermit>,
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Unanswered<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let answered = match &message {
            JsonRpcMessage::Response(response) => Some(&response.id),
            JsonRpcMessage::Error(error) => error.id.as_ref(),
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
        };
        let place = answered.and_then(|id| self.places.remove(id));
        let sending = self.inner.send(message);
        async move {
            let sent = sending.await;
            drop(place);
            sent
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        let place = Arc::clone(&self.free).acquire_owned().await.ok()?;
        let message = self.inner.receive().await?;
        match &message {
            JsonRpcMessage::Request(request) => {
                self.places.insert(request.id.clone(), place);
            }
            // A cancelled request is not answered.
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) =
                    &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.places.remove(id);
                }
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => {}
        }
        Some(message)
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}
