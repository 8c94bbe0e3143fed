//! Opening what commands work on: index configs, engines, searchers and byte ranges.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use canter_doc_mapper::IndexConfig;
#[cfg(feature = "native")]
use canter_runtime::engine::NativeEngine;
use canter_runtime::engine::{WasmEngine, WasmOptions};
use canter_runtime::observe::redact_urls;
use canter_runtime::{Engine, ErrorKind, SearchError};
use canter_split_format::MANIFEST_OBJECT;
use clap::{Args, ValueEnum};

use crate::exit::{WrongUse, note, warn};

/// What loading takes when nothing is compiled is far less.
const PATIENCE: Duration = Duration::from_secs(1);

/// The form of the guest that runs searches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum EngineChoice {
    /// The guest as a WebAssembly component, sandboxed.
    Wasm,
    /// The guest as a Rust library in this program.
    #[cfg(feature = "native")]
    Native,
}

/// The engine, and the folder of its compiled form.
#[derive(Debug, Args)]
pub(crate) struct EngineArgs {
    /// How the search engine (the guest) runs [default: wasm].
    #[arg(long, value_name = "ENGINE")]
    engine: Option<EngineChoice>,

    /// Folder for the compiled form of the guest, used if this program has to compile it. The folder holds native
    /// code: it must belong to you, and only you may have write access [default: canter-compiled in your cache
    /// folder].
    #[arg(
        long,
        value_name = "DIR",
        env = "CANTER_COMPILED",
        hide_env_values = true
    )]
    compiled: Option<PathBuf>,
}

/// What the instances of a guest may be and take; the engine has its own figures for what is not given.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct InstanceCaps {
    /// Most of them at once.
    pub(crate) max_instances: Option<u32>,
    /// Most memory of one of them in WebAssembly.
    pub(crate) max_memory_bytes: Option<usize>,
    /// Most memory of those that are kept between searches.
    pub(crate) max_idle_bytes: Option<usize>,
}

impl EngineArgs {
    /// Starts the engine. A program without a compiler whose compiled guest does not fit this machine says so, and
    /// searches natively if no engine was asked for.
    pub(crate) fn start(&self, caps: InstanceCaps) -> Result<Arc<dyn Engine>> {
        match self.engine {
            #[cfg(feature = "native")]
            Some(EngineChoice::Native) => Ok(native(caps)),
            #[cfg(all(feature = "native", not(feature = "compile")))]
            None => Ok(self.start_wasm(caps).unwrap_or_else(|error| {
                warn(format_args!(
                    "{error}; searching as with `--engine native` instead: the same answers, without the sandbox"
                ));
                native(caps)
            })),
            // Not the user's mistake, so its kind is dropped.
            _ => self.start_wasm(caps).map_err(|error| {
                anyhow!("{error}; or search with `--engine native`, which needs no component")
            }),
        }
    }

    fn start_wasm(&self, caps: InstanceCaps) -> Result<Arc<dyn Engine>, SearchError> {
        let mut options = WasmOptions::default().with_default_cache_dir();
        if let Some(compiled) = &self.compiled {
            options.cache_dir = Some(compiled.clone());
        }
        if let Some(max_instances) = caps.max_instances {
            options.max_instances = max_instances;
        }
        if let Some(max_memory_bytes) = caps.max_memory_bytes {
            options.max_memory_bytes = max_memory_bytes;
        }
        if let Some(max_idle_bytes) = caps.max_idle_bytes {
            options.max_idle_bytes = max_idle_bytes;
        }
        let engine = with_patience(|| WasmEngine::embedded(options))?;
        if let Some(warning) = engine.warning() {
            warn(warning);
        }
        Ok(Arc::new(engine))
    }
}

#[cfg(feature = "native")]
fn native(caps: InstanceCaps) -> Arc<dyn Engine> {
    Arc::new(match caps.max_instances {
        Some(max) => NativeEngine::with_max_instances(max as usize),
        None => NativeEngine::new(),
    })
}

/// Loading takes milliseconds, unless the component must be compiled first; then it says so.
fn with_patience<T>(load: impl FnOnce() -> T) -> T {
    if !cfg!(feature = "compile") {
        return load();
    }
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

/// Puts the index's URI into an error that is about its store, and says how to make an index where there
/// is none.
pub(crate) fn about_index(uri: &str) -> impl Fn(SearchError) -> anyhow::Error {
    let uri = redact_urls(uri);
    let is_web = uri.starts_with("http://") || uri.starts_with("https://");
    move |error| {
        match error.kind {
        ErrorKind::NotFound if is_web => WrongUse(format!(
            "no index at `{uri}`: the web server has no {MANIFEST_OBJECT} there; check the address, or \
             make an index in the folder or bucket behind it, with `canter index create`"
        ))
        .into(),
        ErrorKind::NotFound => WrongUse(format!(
            "no index at `{uri}`: check the URI, or make one with `canter index create --index {uri} \
             --index-config FILE`"
        ))
        .into(),
        ErrorKind::Unavailable => {
            anyhow::Error::new(error).context(format!("cannot read the index at `{uri}`"))
        }
        _ => error.into(),
    }
    }
}

/// A runtime for what talks to storage.
pub(crate) fn tokio_runtime() -> Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start the threads that talk to storage")
}
