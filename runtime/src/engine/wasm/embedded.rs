//! Guest of this build, in the binary or next to it in the target folder.
//!
//! `cargo xtask dist` puts the compiled component into the binary (the build script sets
//! `canter_embed_guest`), at the beginning of a page, and without the component itself unless this
//! program can compile it. Other builds read them from `<target>/guest` at the start, so that
//! changes of the guest do not recompile the host.

use super::artifact::Origin;
use super::code::Code;
use super::config::WasmOptions;
use super::engine::{CodeOrigin, WasmEngine, load};
use crate::SearchError;

impl WasmEngine {
    /// Returns the guest that `cargo xtask guest` built for this program.
    ///
    /// Its precompiled form is used if it fits. Otherwise the component is compiled and kept in
    /// `options.cache_dir`; without the feature `compile`, this is an error.
    pub fn embedded(options: WasmOptions) -> Result<Self, SearchError> {
        // SAFETY: the code comes from `cargo xtask guest`. It is in this binary, or in the target
        // folder in which it was built, where files are replaced by renaming: whoever can write
        // there can also write the binary.
        #[allow(unsafe_code, reason = "the precompiled guest is part of this build")]
        let loaded = unsafe { load_precompiled(&options) };
        match loaded {
            Ok(loaded) => Self::new(loaded, CodeOrigin::Precompiled, None, options),
            Err(error) => Self::from_here(&error, options),
        }
    }

    /// Compiles the component in this process.
    #[cfg(feature = "compile")]
    fn from_here(_: &SearchError, options: WasmOptions) -> Result<Self, SearchError> {
        Self::from_component(&component()?, options)
    }

    /// Returns an error, because this program has no compiler.
    #[cfg(not(feature = "compile"))]
    fn from_here(error: &SearchError, _: WasmOptions) -> Result<Self, SearchError> {
        Err(SearchError::invalid(format!(
            "{}; this program was built without a compiler for it (the feature \"compile\")",
            error.message
        )))
    }

    /// Returns the bytes of the component that [`WasmEngine::embedded`] loads.
    #[cfg(any(feature = "compile", not(canter_embed_guest)))]
    pub fn embedded_component() -> Result<Vec<u8>, SearchError> {
        component().map(|component| component.to_vec())
    }
}

/// Pages of the executable that contain nothing else, for any page length.
#[cfg(canter_embed_guest)]
#[repr(C, align(65536))]
struct Pages<T: ?Sized>(T);

#[cfg(canter_embed_guest)]
static PRECOMPILED: &Pages<[u8]> = &Pages(*include_bytes!(concat!(
    env!("CANTER_GUEST_DIR"),
    "/canter-guest.cwasm"
)));

/// # Safety
/// The embedded bytes come from `WasmEngine::precompile`.
#[cfg(canter_embed_guest)]
#[allow(unsafe_code, reason = "passes the caller's promise on")]
unsafe fn load_precompiled(options: &WasmOptions) -> Result<super::engine::Loaded, SearchError> {
    // `cargo xtask guest` has checked that this code was compiled from that component.
    // SAFETY: guaranteed by the caller, and constants are never written to.
    unsafe { load(Code::Inside(&PRECOMPILED.0), Origin::Checked, options) }
}

#[cfg(all(canter_embed_guest, feature = "compile"))]
fn component() -> Result<Code, SearchError> {
    let component = include_bytes!(concat!(env!("CANTER_GUEST_DIR"), "/canter-guest.wasm"));
    Ok(Code::Inside(component))
}

/// # Safety
/// The file comes from `WasmEngine::precompile`, and is only replaced by renaming.
#[cfg(not(canter_embed_guest))]
#[allow(unsafe_code, reason = "passes the caller's promise on")]
unsafe fn load_precompiled(options: &WasmOptions) -> Result<super::engine::Loaded, SearchError> {
    let component = component()?;
    // If it is missing or old, the component is compiled instead.
    let code = open("canter-guest.cwasm").unwrap_or(Code::InMemory(Vec::new()));
    // SAFETY: guaranteed by the caller.
    unsafe { load(code, Origin::Of(&component), options) }
}

#[cfg(not(canter_embed_guest))]
fn component() -> Result<Code, SearchError> {
    open("canter-guest.wasm")
        .map_err(|error| {
            SearchError::invalid(format!(
                "the guest component is not built ({}/canter-guest.wasm: {error}); run `cargo xtask guest`",
                env!("CANTER_GUEST_DIR")
            ))
        })
}

#[cfg(not(canter_embed_guest))]
fn open(name: &str) -> std::io::Result<Code> {
    let folder = std::path::Path::new(env!("CANTER_GUEST_DIR"));
    std::fs::File::open(folder.join(name)).and_then(Code::of_file)
}
