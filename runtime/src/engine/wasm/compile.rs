//! Compiling the component: ahead of time, or here and now where no code fits, which is then kept in a folder.

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
    /// Compiles a component, or takes the compiled form out of `options.cache_dir` (and puts it
    /// there). A file in the folder that is damaged or does not fit is replaced. A folder that somebody
    /// else can write to is not used, nor one that cannot be made: that costs time, not the answer, and
    /// [`WasmEngine::warning`] says so.
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
                    // SAFETY: `CompiledFolder` has seen that this user alone can have written the file,
                    // and this user's programs write there what wasmtime compiled, never into a file that is
                    // there. `load` compares the checksum of the code and the component that it was made from;
                    // wasmtime compares its own version and settings.
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
            // Best effort: the next start compiles again.
            let _ = folder.write(&name, &sealed);
        }
        // SAFETY: wasmtime made these bytes a moment ago.
        #[allow(unsafe_code, reason = "the code was compiled in this process")]
        let loaded = unsafe { load(Code::InMemory(sealed), Origin::Of(component), &options)? };
        Self::new(loaded, CodeOrigin::Compiled, warning, options)
    }

    /// Loads `precompiled` if it is the compiled form of `component` and fits this program and this
    /// processor, and compiles `component` otherwise: what is loaded is always `component`.
    ///
    /// # Safety
    /// As for [`WasmEngine::from_precompiled`].
    #[allow(unsafe_code, reason = "passes the caller's promise on")]
    pub unsafe fn from_either(
        component: &[u8],
        precompiled: &[u8],
        options: WasmOptions,
    ) -> Result<Self, SearchError> {
        let code = Code::InMemory(precompiled.to_vec());
        // SAFETY: the caller promises that the bytes come from `precompile`.
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

    /// Whether `precompiled` is the compiled form of `component` and loads here.
    ///
    /// # Safety
    /// As for [`WasmEngine::from_precompiled`].
    #[allow(unsafe_code, reason = "passes the caller's promise on")]
    pub unsafe fn is_current(component: &[u8], precompiled: &[u8]) -> bool {
        let code = Code::InMemory(precompiled.to_vec());
        // SAFETY: the caller promises that the bytes come from `precompile`.
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

/// One name per component, wasmtime version and settings, so that several versions of this program
/// can share a folder.
fn cache_file_name(wasmtime: &Wasmtime, component: &[u8]) -> String {
    let mut settings = Xxh3::new();
    wasmtime.precompile_compatibility_hash().hash(&mut settings);
    let settings = settings.finish();
    format!("guest-{:032x}-{settings:016x}.cwasm", xxh3_128(component))
}
