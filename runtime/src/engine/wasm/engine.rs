//! Engine that runs the component with wasmtime. `compile.rs` implements its compilation.

#[cfg(target_os = "linux")]
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use wasmtime::Engine as Wasmtime;
use wasmtime::component::{Component, Linker};

use super::artifact::{self, Origin};
use super::code::Code;
#[cfg(target_os = "linux")]
use super::code::InPlace;
use super::config::{WasmOptions, new_engine};
use super::running::{GuestPre, Idle, LentInstance, Shared, Ticker};
use crate::SearchError;
use crate::engine::{Engine, EngineInstance, InstanceLimits};

/// Compiled guest component that is ready for instantiation. Clones share all of their state.
#[derive(Clone)]
pub struct WasmEngine {
    shared: Arc<Shared>,
    idle: Arc<Idle>,
    origin: CodeOrigin,
    warning: Option<Arc<str>>,
}

/// Origin of an engine's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeOrigin {
    /// Provided in compiled form.
    Precompiled,
    /// Compiled earlier, and kept in [`WasmOptions::cache_dir`].
    Kept,
    /// Compiled when the engine was created.
    Compiled,
}

/// Loaded component with its wasmtime engine.
pub(super) struct Loaded {
    pub(super) wasmtime: Wasmtime,
    pub(super) component: Component,
}

impl WasmEngine {
    /// Loads the result of [`WasmEngine::precompile`]. Returns an error if it is damaged, or was
    /// compiled by another version of wasmtime or for a processor with more instructions than this
    /// one.
    ///
    /// # Safety
    /// The bytes contain native code that is executed: they must come from `precompile`, by a path
    /// that others cannot write to. The checksum inside only detects accidental damage.
    #[allow(unsafe_code, reason = "passes the caller's promise on to wasmtime")]
    pub unsafe fn from_precompiled(
        precompiled: &[u8],
        options: WasmOptions,
    ) -> Result<Self, SearchError> {
        let code = Code::InMemory(precompiled.to_vec());
        // SAFETY: the caller guarantees that the bytes come from `precompile`.
        let loaded = unsafe { load(code, Origin::Unchecked, &options)? };
        Self::new(loaded, CodeOrigin::Precompiled, None, options)
    }

    /// Returns the origin of the code.
    pub fn origin(&self) -> CodeOrigin {
        self.origin
    }

    /// Returns the reason why compiled code was not kept or not loaded from the folder, if there is
    /// one.
    pub fn warning(&self) -> Option<&str> {
        self.warning.as_deref()
    }

    pub(super) fn new(
        loaded: Loaded,
        origin: CodeOrigin,
        warning: Option<String>,
        options: WasmOptions,
    ) -> Result<Self, SearchError> {
        let Loaded {
            wasmtime,
            component,
        } = loaded;
        // The linker is empty, so a component with imports fails here.
        let guest = Linker::new(&wasmtime)
            .instantiate_pre(&component)
            .and_then(GuestPre::new)
            .map_err(|error| {
                SearchError::invalid(format!(
                    "the component is not a Canter guest of this version: {error:#}"
                ))
            })?;
        let ticker = Ticker::start()?;
        Ok(Self {
            idle: Arc::new(Idle::new(options.max_idle_bytes)),
            shared: Arc::new(Shared {
                wasmtime,
                guest,
                ticker,
                options,
                memory_bytes: Arc::default(),
            }),
            origin,
            warning: warning.map(Arc::from),
        })
    }
}

impl Engine for WasmEngine {
    fn start(&self, limits: &InstanceLimits) -> Result<Box<dyn EngineInstance>, SearchError> {
        let instance = LentInstance::start(&self.shared, &self.idle, limits)?;
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

/// Loads compiled code, in place if possible, and as a copy otherwise.
///
/// # Safety
/// The code comes from [`WasmEngine::precompile`], and its location is not written to while the
/// engine exists.
#[allow(unsafe_code, reason = "passes the caller's promise on to wasmtime")]
pub(super) unsafe fn load(
    code: Code,
    origin: Origin<'_>,
    options: &WasmOptions,
) -> Result<Loaded, SearchError> {
    let does_not_load = |error: &dyn std::fmt::Display| {
        SearchError::invalid(format!("the precompiled guest does not load: {error}"))
    };
    let code_len = artifact::open(&code, origin)
        .map_err(|error| does_not_load(&error))?
        .len();
    #[cfg(target_os = "linux")]
    let code = match code.is_in_pages() {
        true => {
            let in_place = Arc::new(InPlace::new(code));
            // SAFETY: guaranteed by the caller.
            match unsafe { load_in_place(&in_place, code_len, options) } {
                Ok(loaded) => return Ok(loaded),
                // The mapping may not be executable; then a copy can be.
                Err(_) => Code::InMemory(in_place.code().to_vec()),
            }
        }
        false => code,
    };
    let wasmtime = new_engine(options, None)?;
    let code = code.get(..code_len).unwrap_or_default();
    // SAFETY: the caller guarantees that wasmtime created the code, and the seal shows that it is
    // intact.
    let component = unsafe { Component::deserialize(&wasmtime, code) }
        .map_err(|error| does_not_load(&format_args!("{error:#}")))?;
    Ok(Loaded {
        wasmtime,
        component,
    })
}

/// Loads code without copying it.
///
/// # Safety
/// Same as for [`load`].
#[cfg(target_os = "linux")]
#[allow(unsafe_code, reason = "passes the caller's promise on to wasmtime")]
unsafe fn load_in_place(
    in_place: &Arc<InPlace>,
    code_len: usize,
    options: &WasmOptions,
) -> wasmtime::Result<Loaded> {
    let wasmtime = new_engine(options, Some(in_place.clone()))
        .map_err(|error| wasmtime::Error::msg(error.message))?;
    let code = in_place.code().get(..code_len).unwrap_or_default();
    // SAFETY: the caller guarantees that wasmtime created the code. wasmtime keeps `in_place`, and
    // with it these pages, until it has released the code.
    let component = unsafe { Component::deserialize_raw(&wasmtime, NonNull::from(code))? };
    Ok(Loaded {
        wasmtime,
        component,
    })
}
