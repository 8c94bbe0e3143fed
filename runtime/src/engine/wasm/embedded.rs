//! The guest that belongs to this build: inside the binary, or beside it in the target folder.
//!
//! `cargo xtask dist` puts the component and its compiled form into the binary (the build script sets
//! `canter_embed_guest`). Every other build reads them from `<target>/guest` when it starts, so that a
//! change of the guest recompiles no host code.

use super::config::WasmOptions;
use super::engine::WasmEngine;
use crate::SearchError;

impl WasmEngine {
    /// The guest that `cargo xtask guest` built for this program.
    ///
    /// Its precompiled form is used if it fits; otherwise the component is compiled and kept in
    /// `options.cache_dir`.
    pub fn embedded(options: WasmOptions) -> Result<Self, SearchError> {
        let guest = guest()?;
        // SAFETY: both files come from `cargo xtask guest`. They are inside this binary, or in the target
        // folder that it was built in: whoever can write there can write the binary too.
        #[allow(unsafe_code, reason = "the precompiled guest is part of this build")]
        unsafe {
            Self::from_either(&guest.component, &guest.precompiled, options)
        }
    }

    /// The bytes of the component that [`WasmEngine::embedded`] loads.
    pub fn embedded_component() -> Result<Vec<u8>, SearchError> {
        guest().map(|guest| guest.component.into())
    }
}

struct EmbeddedGuest {
    component: std::borrow::Cow<'static, [u8]>,
    precompiled: std::borrow::Cow<'static, [u8]>,
}

#[cfg(canter_embed_guest)]
fn guest() -> Result<EmbeddedGuest, SearchError> {
    Ok(EmbeddedGuest {
        component: include_bytes!(concat!(env!("CANTER_GUEST_DIR"), "/canter-guest.wasm")).into(),
        precompiled: include_bytes!(concat!(env!("CANTER_GUEST_DIR"), "/canter-guest.cwasm"))
            .into(),
    })
}

#[cfg(not(canter_embed_guest))]
fn guest() -> Result<EmbeddedGuest, SearchError> {
    let folder = std::path::Path::new(env!("CANTER_GUEST_DIR"));
    let path = folder.join("canter-guest.wasm");
    let component = std::fs::read(&path).map_err(|error| {
        SearchError::invalid(format!(
            "the guest component is not built ({}: {error}); run `cargo xtask guest`",
            path.display()
        ))
    })?;
    // Absent or old, it is compiled from the component instead.
    let precompiled = std::fs::read(folder.join("canter-guest.cwasm")).unwrap_or_default();
    Ok(EmbeddedGuest {
        component: component.into(),
        precompiled: precompiled.into(),
    })
}
