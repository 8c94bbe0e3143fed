//! Compilation of the component: ahead of time, or at run time if no compiled code fits. The result
//! of the latter is kept in a folder.

use std::hash::{Hash, Hasher};

use wasmtime::Engine as Wasmtime;
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use super::artifact::{self, Origin};
use super::code::Code;
use super::compiled_folder::CompiledFolder;
use super::config::{WasmOptions, new_engine};
use super::engine::{CodeOrigin, WasmEngine, load};
use crate::SearchError;

impl WasmEngine {
    /// Compiles a component, or uses the compiled form in `options.cache_dir`, which is written
    /// there if it is missing. A damaged or unsuitable file in the folder is replaced. A folder
    /// that others can write to, or that cannot be created, is not used: this costs time, and
    /// [`WasmEngine::warning`] reports it.
    pub fn from_component(component: &[u8], options: WasmOptions) -> Result<Self, SearchError> {
        let wasmtime = new_engine(&options, None)?;
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
                Ok(Some(code)) => {
                    // SAFETY: `CompiledFolder` has checked that only this user can have written the
                    // file, and this user's programs only write wasmtime's output there, never into
                    // an existing file. `load` checks the checksums of the code and of its
                    // component; wasmtime checks its own version and settings.
                    #[allow(unsafe_code, reason = "the file was written by this user alone")]
                    let loaded = unsafe { load(code, Origin::Of(component), &options) };
                    if let Ok(loaded) = loaded {
                        return Self::new(loaded, CodeOrigin::Kept, None, options);
                    }
                }
            }
        }
        let code = compile(&wasmtime, component)?;
        let sealed = artifact::seal(component, &code);
        if let Some(folder) = &folder {
            // If this fails, the next start compiles again.
            let _ = folder.write(&name, &sealed);
        }
        // SAFETY: wasmtime has just created these bytes.
        #[allow(unsafe_code, reason = "the code was compiled in this process")]
        let loaded = unsafe { load(Code::InMemory(sealed), Origin::Of(component), &options)? };
        Self::new(loaded, CodeOrigin::Compiled, warning, options)
    }

    /// Loads `precompiled` if it is the compiled form of `component` and fits this program and this
    /// processor, and compiles `component` otherwise. The result always runs `component`.
    ///
    /// # Safety
    /// Same as for [`WasmEngine::from_precompiled`].
    #[allow(unsafe_code, reason = "passes the caller's promise on")]
    pub unsafe fn from_either(
        component: &[u8],
        precompiled: &[u8],
        options: WasmOptions,
    ) -> Result<Self, SearchError> {
        let code = Code::InMemory(precompiled.to_vec());
        // SAFETY: the caller guarantees that the bytes come from `precompile`.
        match unsafe { load(code, Origin::Of(component), &options) } {
            Ok(loaded) => Self::new(loaded, CodeOrigin::Precompiled, None, options),
            Err(_) => Self::from_component(component, options),
        }
    }

    /// Compiles a component for any processor of this architecture.
    pub fn precompile(component: &[u8]) -> Result<Vec<u8>, SearchError> {
        let wasmtime = new_engine(&WasmOptions::default(), None)?;
        let code = compile(&wasmtime, component)?;
        Ok(artifact::seal(component, &code))
    }

    /// Returns whether `precompiled` is the compiled form of `component` and can be loaded here.
    ///
    /// # Safety
    /// Same as for [`WasmEngine::from_precompiled`].
    #[allow(unsafe_code, reason = "passes the caller's promise on")]
    pub unsafe fn is_current(component: &[u8], precompiled: &[u8]) -> bool {
        let code = Code::InMemory(precompiled.to_vec());
        // SAFETY: the caller guarantees that the bytes come from `precompile`.
        unsafe { load(code, Origin::Of(component), &WasmOptions::default()).is_ok() }
    }
}

fn compile(wasmtime: &Wasmtime, component: &[u8]) -> Result<Vec<u8>, SearchError> {
    let does_not_compile = |error: &dyn std::fmt::Display| {
        SearchError::invalid(format!("the guest component does not compile: {error:#}"))
    };
    #[cfg(target_os = "linux")]
    let component =
        &super::polls::with_polls(component).map_err(|error| does_not_compile(&error))?;
    let compiled = wasmtime.precompile_component(component);
    compiled.map_err(|error| does_not_compile(&error))
}

/// Returns a file name that depends on component, wasmtime version and settings, so that several
/// versions of this program can share a folder.
fn cache_file_name(wasmtime: &Wasmtime, component: &[u8]) -> String {
    let mut settings = Xxh3::new();
    wasmtime.precompile_compatibility_hash().hash(&mut settings);
    let settings = settings.finish();
    format!("guest-{:032x}-{settings:016x}.cwasm", xxh3_128(component))
}
