//! `canter serve`: the search API over HTTP from `canter-server`. This module adds arguments, address and signals.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use canter_index_builder::{WRONG_CLOCK, checked_unix_time};
use canter_runtime::cache::EntryCache;
use canter_runtime::fetch::OpenOptions;
use canter_runtime::observe::redact_urls;
use canter_runtime::{Metrics, Searcher};
use canter_server::{Identity, Origins, Server, ServerSettings, Writers};
use tokio::net::TcpListener;
use tokio::sync::Notify;

use super::args::ServeArgs;
use super::finder::Finder;
use crate::args::InstanceCaps;
use crate::exit::{WrongUse, note, warn};
use crate::observe::follow_trace;
use crate::open::{about_index, tokio_runtime};

/// Maximum memory for the manifests of scrolls and points in time of a server without a cache, in bytes.
const MAX_CONTEXT_BYTES: usize = 64 << 20;

/// Maximum time that running searches have after the server is told to stop.
const MAX_GOODBYE: Duration = Duration::from_secs(35);

/// Serves until told to stop, and then finishes the running searches.
pub(crate) fn run(args: &ServeArgs) -> Result<()> {
    args.server.check()?;
    let identity = args.identity()?;
    let server = open(args, identity)?;
    tokio_runtime()?.block_on(async {
        let listener = TcpListener::bind(&args.listen).await;
        let listener = listener.map_err(|error| {
            WrongUse(format!(
                "cannot listen on {}: {error}; choose another address with --listen",
                args.listen
            ))
        })?;
        let address = listener.local_addr().context("cannot tell the address")?;
        if !address.ip().is_loopback() {
            check_public(args, &server, address)?;
        }
        if checked_unix_time().is_none() {
            warn(format_args!(
                "{WRONG_CLOCK} (until then, connections are answered 503)"
            ));
        }
        // On standard output, for programs that start a server: with port 0 only this line contains the port.
        let mut out = io::stdout().lock();
        let scheme = if server.is_tls() { "https" } else { "http" };
        writeln!(out, "listening on {scheme}://{address}")?;
        out.flush()?;
        drop(out);
        for (name, uri) in &args.indexes {
            note(format_args!(
                "  /api/v1/{name}/search  {}",
                redact_urls(uri)
            ));
        }
        if let Some(root) = &args.managing.indexes_in {
            note(format_args!("  indexes in {}", redact_urls(root)));
        }
        let stopping = Arc::new(Notify::new());
        let told = Arc::clone(&stopping);
        let stop = async move {
            told_to_stop().await;
            told.notify_one();
        };
        if !server.serve(listener, stop, patience(&stopping)).await? {
            warn("connections that were still open are closed");
        }
        // Accepted documents are published before the process ends.
        Ok(server.settle().await?)
    })
}

/// Requires access control or `--insecure` for an address that other machines can reach.
fn check_public(args: &ServeArgs, server: &Server, address: SocketAddr) -> Result<(), WrongUse> {
    match (server.is_guarded(), server.is_tls()) {
        (false, _) if args.access.insecure => {
            warn(format_args!(
                "{address} can be reached from other machines, and every client that reaches it can search"
            ));
            Ok(())
        }
        (false, _) => Err(WrongUse(format!(
            "{address} can be reached from other machines: require tokens with --api-keys or --jwks, or \
             accept every client with --insecure"
        ))),
        (true, false) => {
            warn(format_args!(
                "tokens are sent to {address} unencrypted: give it a certificate with --tls-cert, unless a proxy in \
                 front has one"
            ));
            Ok(())
        }
        (true, true) => Ok(()),
    }
}

/// Starts the engine and opens the indexes and the cache. Reads nothing of an index yet, unless it is writable.
fn open(args: &ServeArgs, identity: Option<Arc<Identity>>) -> Result<Server> {
    let origins = Origins::new(&args.cors_origins, &args.writing.cors_write_origins)?;
    let metrics = Arc::new(Metrics::new());
    let engine = args.searcher.start_engine(InstanceCaps {
        max_instances: Some(args.server.max_instances),
        max_memory_bytes: None,
        max_idle_bytes: usize::try_from(args.server.max_idle_bytes).ok(),
    })?;
    let max_in_line = engine
        .max_instances()
        .saturating_add(args.server.max_waiting as usize);
    let finder = Arc::new(Finder(Arc::clone(&engine)));
    let writing = args.writing.settings(args.server.body_timeout);
    let writers = writing.map(|settings| Writers::open(&settings, &args.indexes, finder));
    let writers = writers.transpose()?;
    let mut builder = Searcher::builder()
        .metrics(Arc::clone(&metrics))
        .engine(engine)
        .by_name();
    for (name, uri) in &args.indexes {
        builder = builder
            .index(name, uri, &OpenOptions::default())
            .map_err(about_index(uri))?;
    }
    let caching = &args.searcher.cache;
    let kept = caching.open()?;
    builder = builder.partial_results(kept.is_some());
    // Scrolls and points in time need their manifests, even if nothing else is kept.
    let cache = kept.unwrap_or_else(|| Arc::new(EntryCache::new(MAX_CONTEXT_BYTES)));
    builder = args
        .searcher
        .apply(builder, caching.manifest(), Some(&cache));
    let searcher = Arc::new(builder.build()?);
    Ok(Server::open(ServerSettings {
        searcher,
        metrics,
        writers,
        index_names: args.indexes.iter().map(|(name, _)| name.clone()).collect(),
        root: args.managing.settings(),
        limits: args.searcher.limits.of_search(),
        forced_filter: args.forced_filter.clone(),
        access: args.access.settings(),
        listen: args.listen.clone(),
        allowed_hosts: args.allowed_hosts.clone(),
        origins,
        identity,
        connections: args.server.connections(),
        bodies: args.server.bodies(),
        max_in_line,
        compatible_with: args.server.compatible_with(),
        follow_trace,
    })?)
}

/// Ends when clients have had their time since the server was told to stop, or when it is told again: a client
/// that sends half a request must not keep it running forever.
async fn patience(stopping: &Notify) {
    stopping.notified().await;
    tokio::select! {
        () = told_to_stop() => {}
        () = tokio::time::sleep(MAX_GOODBYE) => {}
    }
}

/// Ends when the process is asked to stop, by the terminal or by a service manager.
async fn told_to_stop() {
    let interrupted = async {
        // A system without such signals is stopped in its own way.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminated) = signal(SignalKind::terminate()) {
            tokio::select! {
                () = interrupted => {}
                _ = terminated.recv() => {}
            }
            return;
        }
    }
    interrupted.await;
}
