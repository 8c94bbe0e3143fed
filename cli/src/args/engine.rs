//! The search engine, and the limits of its instances.

use std::path::PathBuf;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use anyhow::{Result, anyhow};
#[cfg(feature = "native")]
use canter_runtime::engine::NativeEngine;
use canter_runtime::engine::{WasmEngine, WasmOptions};
use canter_runtime::{Engine, SearchError};
use clap::{Args, ValueEnum};

use crate::exit::{note, warn};

/// Loading is far faster than this if nothing has to be compiled.
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

/// Limits of guest instances; the engine has defaults for absent ones.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct InstanceCaps {
    /// Maximum number of concurrent instances.
    pub(crate) max_instances: Option<u32>,
    /// Maximum memory of one WebAssembly instance, in bytes.
    pub(crate) max_memory_bytes: Option<usize>,
    /// Maximum memory of the instances kept between searches, in bytes.
    pub(crate) max_idle_bytes: Option<usize>,
}

impl EngineArgs {
    /// Starts the engine. A program without a compiler whose compiled guest does not fit this machine reports
    /// that, and searches natively if no engine was requested.
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

/// Loads something within milliseconds; if the component must be compiled first, prints a note.
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
