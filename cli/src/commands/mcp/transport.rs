//! Messages in and out, with a bound on how many wait for an answer: the SDK would hold any number that the client does not take.

use std::collections::HashMap;
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{ClientNotification, JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::lines::Lines;

/// Longest message of a client. Queries and aggregations have a kilobyte.
const MAX_MESSAGE_BYTES: usize = 4 << 20;

/// Most requests that are read before one of them is answered. Each ends at its deadline.
const MAX_UNANSWERED: usize = 256;

/// Messages as lines.
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

/// Reads no further while too many requests are not answered.
pub(super) struct Unanswered<T> {
    inner: T,
    free: Arc<Semaphore>,
    /// One for each request that was read, until its answer is written.
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
            // What is cancelled is not answered.
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
