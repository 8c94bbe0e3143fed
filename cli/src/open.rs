//! Opening what commands work on: index configs, engines, searchers and byte ranges.

use std::fs;
use std::io::{self, Read};
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use canter_doc_mapper::IndexConfig;
use canter_runtime::Engine;
#[cfg(feature = "native")]
use canter_runtime::engine::NativeEngine;
use canter_runtime::engine::{WasmEngine, WasmOptions};
use clap::ValueEnum;

use crate::exit::{WrongUse, note};

/// What loading takes when nothing is compiled is far less.
const PATIENCE: Duration = Duration::from_secs(1);

/// Which form of the guest searches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum EngineChoice {
    /// The guest as a WebAssembly component, sandboxed.
    Wasm,
    /// The guest as a Rust library in this program.
    #[cfg(feature = "native")]
    Native,
}

impl EngineChoice {
    /// Starts the engine; `max_memory_bytes` caps one instance of the guest in WebAssembly.
    pub(crate) fn start(self, max_memory_bytes: Option<usize>) -> Result<Arc<dyn Engine>> {
        match self {
            #[cfg(feature = "native")]
            EngineChoice::Native => Ok(Arc::new(NativeEngine::new())),
            EngineChoice::Wasm => {
                let mut options = WasmOptions::default().with_default_cache_dir();
                if let Some(max_memory_bytes) = max_memory_bytes {
                    options.max_memory_bytes = max_memory_bytes;
                }
                // Not the user's mistake, so its kind is dropped.
                let engine = with_patience(|| WasmEngine::embedded(options)).map_err(|error| {
                    anyhow!("{error}; or search with `--engine native`, which needs no component")
                })?;
                Ok(Arc::new(engine))
            }
        }
    }
}

/// Loading takes milliseconds, unless the component must be compiled first; then it says so.
fn with_patience<T>(load: impl FnOnce() -> T) -> T {
    let (loaded, wait) = mpsc::channel::<()>();
    thread::scope(|scope| {
        scope.spawn(move || {
            if wait.recv_timeout(PATIENCE) == Err(mpsc::RecvTimeoutError::Timeout) {
                note("compiling the search engine for this machine; the next start is faster …");
            }
        });
        let result = load();
        drop(loaded);
        result
    })
}

/// Reads an index config, in YAML or in JSON; `-` is standard input.
pub(crate) fn read_index_config(path: &Path) -> Result<IndexConfig> {
    let shown = path.display();
    let text = match path.to_str() {
        Some("-") => {
            let mut text = String::new();
            io::stdin().read_to_string(&mut text).map(|_| text)
        }
        _ => fs::read_to_string(path),
    };
    let text =
        text.map_err(|error| WrongUse(format!("cannot read index config `{shown}`: {error}")))?;
    let config = match path
        .extension()
        .is_some_and(|extension| extension == "json")
    {
        true => IndexConfig::from_json(text.as_bytes()),
        false => IndexConfig::from_yaml(&text, |name| std::env::var(name).ok()),
    };
    config.with_context(|| format!("index config `{shown}`"))
}

/// A runtime for what talks to storage.
pub(crate) fn tokio_runtime() -> Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start the threads that talk to storage")
}
