//! Loading the component: precompiled, from the folder for compiled code, or compiled here and now.

use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use wasmtime::Engine as Wasmtime;
use wasmtime::component::{Component, Linker};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use super::artifact;
use super::compiled_folder::CompiledFolder;
use super::config::{WasmOptions, new_engine};
use super::instance::{GuestPre, InstanceState, WasmInstance};
use super::ticker::Ticker;
use crate::SearchError;
use crate::engine::{Engine, EngineInstance, InstanceLimits};

/// The guest component, compiled and ready to be instantiated. Clones share everything.
#[derive(Clone)]
pub struct WasmEngine {
    shared: Arc<Shared>,
}

pub(super) struct Shared {
    pub(super) wasmtime: Wasmtime,
    pub(super) guest: GuestPre<InstanceState>,
    pub(super) ticker: Ticker,
    pub(super) options: WasmOptions,
    /// Linear memory of all instances.
    pub(super) memory_bytes: AtomicU64,
    origin: CodeOrigin,
    warning: Option<String>,
}

/// Where the code of an engine came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeOrigin {
    /// It was given ready, and nothing was compiled.
    Precompiled,
    /// It was compiled before, and kept in [`WasmOptions::cache_dir`].
    Kept,
    /// It was compiled when the engine was made.
    Compiled,
}

/// Code that is about to become an engine.
struct Loaded {
    component: Component,
    origin: CodeOrigin,
    warning: Option<String>,
}

impl Loaded {
    fn precompiled(component: Component) -> Self {
        Self {
            component,
            origin: CodeOrigin::Precompiled,
            warning: None,
        }
    }
}

impl WasmEngine {
    /// Loads what [`WasmEngine::precompile`] returned. An error if it is damaged, or was compiled by
    /// another version of wasmtime or for a processor with more instructions than this one.
    ///
    /// # Safety
    /// The bytes hold native code, which is run as it stands: they must come from `precompile`, by a
    /// way that nobody else can write to. The checksum inside finds accidents only.
    #[allow(unsafe_code, reason = "passes the caller's promise on to wasmtime")]
    pub unsafe fn from_precompiled(
        precompiled: &[u8],
        options: WasmOptions,
    ) -> Result<Self, SearchError> {
        let wasmtime = new_engine(&options)?;
        // SAFETY: the caller promises that the bytes come from `precompile`.
        let component = unsafe { load(&wasmtime, precompiled, None)? };
        Self::new(wasmtime, Loaded::precompiled(component), options)
    }

    /// Compiles a component, or takes the compiled form out of `options.cache_dir` (and puts it
    /// there). A file in the folder that is damaged or does not fit is replaced. A folder that somebody
    /// else can write to is not used, nor one that cannot be made: that costs time, not the answer, and
    /// [`WasmEngine::warning`] says so.
    pub fn from_component(component: &[u8], options: WasmOptions) -> Result<Self, SearchError> {
        let wasmtime = new_engine(&options)?;
        let name = cache_file_name(&wasmtime, component);
        let mut warning = None;
        let folder = options.cache_dir.as_deref().map(CompiledFolder::open);
        let folder = folder.and_then(|opened| {
            opened
                .map_err(|untrusted| warning = Some(untrusted.to_string()))
                .ok()
        });
        if let Some(folder) = &folder {
            match folder.read(&name) {
                Ok(None) => {}
                Err(untrusted) => warning = Some(untrusted.to_string()),
                Ok(Some(file)) => {
                    // SAFETY: `CompiledFolder` has seen that this user alone can have written the file,
                    // and this user's programs write there what wasmtime compiled. `load` compares the
                    // checksum of the code and the component that it was made from; wasmtime compares its
                    // own version and settings.
                    #[allow(unsafe_code, reason = "the file was written by this user alone")]
                    let loaded = unsafe { load(&wasmtime, &file, Some(component)) };
                    if let Ok(component) = loaded {
                        let loaded = Loaded {
                            component,
                            origin: CodeOrigin::Kept,
                            warning: None,
                        };
                        return Self::new(wasmtime, loaded, options);
                    }
                }
            }
        }
        let code = compile(&wasmtime, component)?;
        let sealed = artifact::seal(component, &code);
        if let Some(folder) = &folder {
            // Best effort: the next start compiles again.
            let _ = folder.write(&name, &sealed);
        }
        // SAFETY: wasmtime made these bytes a moment ago.
        #[allow(unsafe_code, reason = "the code was compiled in this process")]
        let component = unsafe { load(&wasmtime, &sealed, Some(component))? };
        let loaded = Loaded {
            component,
            origin: CodeOrigin::Compiled,
            warning,
        };
        Self::new(wasmtime, loaded, options)
    }

    /// Where its code came from.
    pub fn origin(&self) -> CodeOrigin {
        self.shared.origin
    }

    /// Why compiled code was not kept, or not taken from where it is kept, if that is so.
    pub fn warning(&self) -> Option<&str> {
        self.shared.warning.as_deref()
    }

    /// Loads `precompiled` if it is the compiled form of `component` and fits this program and this
    /// processor, and compiles `component` otherwise: what is loaded is always `component`.
    ///
    /// # Safety
    /// As for [`WasmEngine::from_precompiled`].
    #[allow(unsafe_code, reason = "passes the caller's promise on to wasmtime")]
    pub unsafe fn from_either(
        component: &[u8],
        precompiled: &[u8],
        options: WasmOptions,
    ) -> Result<Self, SearchError> {
        let wasmtime = new_engine(&options)?;
        // SAFETY: the caller promises that the bytes come from `precompile`.
        match unsafe { load(&wasmtime, precompiled, Some(component)) } {
            Ok(component) => Self::new(wasmtime, Loaded::precompiled(component), options),
            Err(_) => Self::from_component(component, options),
        }
    }

    /// Compiles a component for any processor of this architecture.
    pub fn precompile(component: &[u8]) -> Result<Vec<u8>, SearchError> {
        let wasmtime = new_engine(&WasmOptions::default())?;
        let code = compile(&wasmtime, component)?;
        Ok(artifact::seal(component, &code))
    }

    /// Whether `precompiled` is the compiled form of `component` and loads here.
    ///
    /// # Safety
    /// As for [`WasmEngine::from_precompiled`].
    #[allow(unsafe_code, reason = "passes the caller's promise on to wasmtime")]
    pub unsafe fn is_current(component: &[u8], precompiled: &[u8]) -> bool {
        let Ok(wasmtime) = new_engine(&WasmOptions::default()) else {
            return false;
        };
        // SAFETY: the caller promises that the bytes come from `precompile`.
        unsafe { load(&wasmtime, precompiled, Some(component)).is_ok() }
    }

    fn new(wasmtime: Wasmtime, loaded: Loaded, options: WasmOptions) -> Result<Self, SearchError> {
        // An empty linker: a component that imports anything does not get past this line.
        let guest = Linker::new(&wasmtime)
            .instantiate_pre(&loaded.component)
            .and_then(GuestPre::new)
            .map_err(|error| {
                SearchError::invalid(format!(
                    "the component is not a Canter guest of this version: {error:#}"
                ))
            })?;
        let ticker = Ticker::start(&wasmtime)?;
        Ok(Self {
            shared: Arc::new(Shared {
                wasmtime,
                guest,
                ticker,
                options,
                memory_bytes: AtomicU64::new(0),
                origin: loaded.origin,
                warning: loaded.warning,
            }),
        })
    }
}

impl Engine for WasmEngine {
    fn start(&self, limits: &InstanceLimits) -> Result<Box<dyn EngineInstance>, SearchError> {
        let instance = WasmInstance::start(self.shared.clone(), limits)?;
        Ok(Box::new(instance))
    }

    fn max_instances(&self) -> usize {
        self.shared.options.max_instances as usize
    }

    fn memory_bytes(&self) -> Option<u64> {
        Some(self.shared.memory_bytes.load(Ordering::Relaxed))
    }

    fn name(&self) -> &'static str {
        "wasm"
    }
}

/// # Safety
/// `file` comes from [`artifact::seal`] over code that wasmtime compiled.
#[allow(unsafe_code, reason = "passes the caller's promise on to wasmtime")]
unsafe fn load(
    wasmtime: &Wasmtime,
    file: &[u8],
    component: Option<&[u8]>,
) -> Result<Component, SearchError> {
    let code = artifact::open(file, component).map_err(|error| {
        SearchError::invalid(format!("the precompiled guest does not load: {error}"))
    })?;
    // SAFETY: the caller promises that wasmtime made the code, and the checksum says that it is whole.
    unsafe { Component::deserialize(wasmtime, code) }.map_err(|error| {
        SearchError::invalid(format!("the precompiled guest does not load: {error:#}"))
    })
}

fn compile(wasmtime: &Wasmtime, component: &[u8]) -> Result<Vec<u8>, SearchError> {
    wasmtime.precompile_component(component).map_err(|error| {
        SearchError::invalid(format!("the guest component does not compile: {error:#}"))
    })
}

/// One name per component, wasmtime version and settings, so that several versions of this program
/// can share a folder.
fn cache_file_name(wasmtime: &Wasmtime, component: &[u8]) -> String {
    let mut settings = Xxh3::new();
    wasmtime.precompile_compatibility_hash().hash(&mut settings);
    let settings = settings.finish();
    format!("guest-{:032x}-{settings:016x}.cwasm", xxh3_128(component))
}
