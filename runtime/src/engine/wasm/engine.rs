//! Loading the component: precompiled, from the cache folder, or compiled here and now.

use std::fs;
use std::hash::{Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use wasmtime::Engine as Wasmtime;
use wasmtime::component::{Component, Linker};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use super::artifact;
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
        Self::new(wasmtime, component, options)
    }

    /// Compiles a component, or takes the compiled form out of `options.cache_dir` (and puts it
    /// there). A file in the folder that is damaged or does not fit is replaced; a folder that cannot
    /// be written to costs time, not the answer.
    pub fn from_component(component: &[u8], options: WasmOptions) -> Result<Self, SearchError> {
        let wasmtime = new_engine(&options)?;
        let path = options
            .cache_dir
            .as_ref()
            .map(|folder| folder.join(cache_file_name(&wasmtime, component)));
        if let Some(path) = &path
            && let Ok(file) = fs::read(path)
        {
            // SAFETY: the documentation of `WasmOptions::cache_dir` asks for a folder of one's own.
            #[allow(
                unsafe_code,
                reason = "the cache folder is trusted, and its files are checked"
            )]
            let loaded = unsafe { load(&wasmtime, &file, Some(component)) };
            if let Ok(loaded) = loaded {
                return Self::new(wasmtime, loaded, options);
            }
        }
        let code = compile(&wasmtime, component)?;
        let sealed = artifact::seal(component, &code);
        if let Some(path) = &path {
            // Best effort: the next start compiles again.
            let _ = write_atomically(path, &sealed);
        }
        // SAFETY: wasmtime made these bytes a moment ago.
        #[allow(unsafe_code, reason = "the code was compiled in this process")]
        let loaded = unsafe { load(&wasmtime, &sealed, Some(component))? };
        Self::new(wasmtime, loaded, options)
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
            Ok(loaded) => Self::new(wasmtime, loaded, options),
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

    fn new(
        wasmtime: Wasmtime,
        component: Component,
        options: WasmOptions,
    ) -> Result<Self, SearchError> {
        // An empty linker: a component that imports anything does not get past this line.
        let guest = Linker::new(&wasmtime)
            .instantiate_pre(&component)
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
    // SAFETY: the caller promises that wasmtime made the code, and its checksum is right.
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

/// Writes beside the file and renames: a reader sees all of it or nothing.
pub(super) fn write_atomically(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    create_private_dir(folder)?;
    let mut temporary = PathBuf::from(path);
    temporary.set_extension(format!("{}.tmp", std::process::id()));
    let written = fs::write(&temporary, bytes).and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}

#[cfg(unix)]
fn create_private_dir(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
}

#[cfg(not(unix))]
fn create_private_dir(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)
}
