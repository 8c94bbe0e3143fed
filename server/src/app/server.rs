//! Life cycle of a server: it opens, serves, and settles.

use std::sync::Arc;

use axum::Router;
use canter_access::Access;
use canter_runtime::Caller;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use super::router::router;
use super::state::App;
use crate::access::Gate;
use crate::connections::{self, ConnectionLimits, Identity};
use crate::error::ServerError;
use crate::http::{AllowedHosts, Bodies};
use crate::indexes::Root;
use crate::requests::Tasks;
use crate::settings::ServerSettings;

/// A server of the search API.
pub struct Server {
    app: Arc<App>,
    router: Router,
    connections: ConnectionLimits,
    identity: Option<Arc<Identity>>,
}

impl Server {
    /// Opens the tokens, and the managed indexes. Reads nothing of the others yet.
    ///
    /// # Errors
    /// If a file of tokens is invalid, or the root cannot be read.
    pub fn open(settings: ServerSettings) -> Result<Self, ServerError> {
        let access = settings.access.map(Access::open).transpose();
        let gate = access.map_err(ServerError::Invalid)?;
        let writers = settings.writers.map(Arc::new);
        let fixed = settings.index_names.into_iter().collect();
        let open_root = |root| Root::open(root, &settings.searcher, writers.as_ref(), fixed);
        let root = settings.root.as_ref().map(open_root).transpose()?;
        let bodies = settings.bodies;
        let app = Arc::new(App {
            searcher: settings.searcher,
            limits: settings.limits,
            caller: Caller {
                indexes: None,
                forced_filter: settings.forced_filter,
            },
            gate: gate.map(Gate::new).map(Arc::new),
            writers,
            root,
            origins: settings.origins,
            compatible_with: settings.compatible_with,
            metrics: settings.metrics,
            tasks: Tasks::default(),
            bodies: Bodies::new(bodies.max_bytes, bodies.timeout, bodies.max_held_bytes),
            line: Semaphore::new(settings.max_in_line.min(Semaphore::MAX_PERMITS)),
        });
        let hosts = AllowedHosts::new(&settings.listen, &settings.allowed_hosts);
        let router = router(Arc::clone(&app), hosts, settings.follow_trace);
        Ok(Self {
            app,
            router,
            connections: settings.connections,
            identity: settings.identity,
        })
    }

    /// Returns whether requests need a token.
    pub fn is_guarded(&self) -> bool {
        self.app.gate.is_some()
    }

    /// Returns whether it uses TLS.
    pub fn is_tls(&self) -> bool {
        self.identity.is_some()
    }

    /// Serves until `stop` completes, and then until the running requests of each connection are answered, or
    /// `patience` completes. Returns whether all were answered.
    ///
    /// # Errors
    /// If the certificate is invalid.
    pub async fn serve(
        &self,
        listener: TcpListener,
        stop: impl Future<Output = ()>,
        patience: impl Future<Output = ()>,
    ) -> Result<bool, ServerError> {
        let gate = self.app.gate.clone();
        let root = self.app.root.clone();
        let following = gate.map(|gate| tokio::spawn(gate.follow()));
        let indexes_following = root.map(|root| tokio::spawn(root.follow()));
        let (router, identity) = (self.router.clone(), self.identity.clone());
        let serving = connections::serve(listener, router, self.connections, identity, stop);
        let all_had_answers = tokio::select! {
            served = serving => served.map(|()| true),
            () = patience => Ok(false),
        };
        for following in following.into_iter().chain(indexes_following) {
            following.abort();
        }
        Ok(all_had_answers?)
    }

    /// Publishes accepted documents, and waits for the cache's pending writes.
    ///
    /// # Errors
    /// If no thread can be started.
    pub async fn settle(self) -> Result<(), ServerError> {
        self.app.searcher.settle().await;
        let Some(writers) = self.app.writers.clone() else {
            return Ok(());
        };
        let stopping = tokio::task::spawn_blocking(move || writers.stop()).await;
        stopping.map_err(|error| ServerError::System(error.into()))
    }
}
