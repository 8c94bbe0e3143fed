//! wasmtime's settings: those that the compiled code depends on, and those of the instance pool.

use std::sync::Arc;

use wasmtime::{Config, CustomCodeMemory, Engine};
#[cfg(not(target_os = "linux"))]
use wasmtime::{InstanceAllocationStrategy, PoolingAllocationConfig};

use crate::SearchError;

/// Native stack that one call into the guest may use. Worker threads have more (see `worker.rs`).
pub(super) const MAX_WASM_STACK: usize = 2 << 20;

/// Settings of a [`super::WasmEngine`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WasmOptions {
    /// Most instances at once; a query takes one, or one per core. Each reserves 4 GiB of address
    /// space, and memory only as it is used.
    pub max_instances: u32,
    /// Most linear memory of one instance.
    pub max_memory_bytes: usize,
    /// Most memory of instances that are kept when their search is over, all together. The next search, of whoever asks,
    /// takes one of these and needs neither a new one nor new memory. With 0, none is kept.
    pub max_idle_bytes: usize,
    /// What arrives for a guest enters it in parts of at least so many bytes, and it computes with each before the
    /// next is copied into its memory. What it is done with makes room for the next, in memory that is mapped and
    /// in the processor's caches.
    pub bytes_at_once: usize,
    /// Folder for compiled components, for when none comes precompiled; `None` compiles each time.
    /// Its files are run as native code, so it must be this user's own and writable for nobody else, and
    /// no folder that others share, such as that of a cache. It is made so if it is not there, and left
    /// alone if it is not so.
    pub cache_dir: Option<std::path::PathBuf>,
}

impl Default for WasmOptions {
    /// 32 instances of at most 512 MiB, of which 128 MiB are kept, parts of 1 MiB, no cache folder.
    fn default() -> Self {
        Self {
            max_instances: 32,
            max_memory_bytes: 512 << 20,
            max_idle_bytes: 128 << 20,
            bytes_at_once: 1 << 20,
            cache_dir: None,
        }
    }
}

impl WasmOptions {
    /// Keeps compiled components in `canter-compiled` below `$XDG_CACHE_HOME` or `~/.cache`, if either is
    /// set.
    pub fn with_default_cache_dir(mut self) -> Self {
        let folder = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        self.cache_dir = folder("XDG_CACHE_HOME")
            .map(std::path::PathBuf::from)
            .or_else(|| Some(std::path::PathBuf::from(folder("HOME")?).join(".cache")))
            .filter(|parent| parent.is_absolute())
            .map(|parent| parent.join("canter-compiled"));
        self
    }
}

/// A wasmtime engine that compiles, loads and runs the guest: with code that it copies, or with code that is run
/// where it lies.
pub(super) fn new_engine(
    options: &WasmOptions,
    in_place: Option<Arc<dyn CustomCodeMemory>>,
) -> Result<Engine, SearchError> {
    let mut config = base_config()?;
    config.with_custom_code_memory(in_place);
    #[cfg(target_os = "linux")]
    {
        let _ = options;
        config.with_host_memory(Arc::new(super::running::LargePages));
    }
    // The pool reserves its address space at once. Where that is not to be had, instances are mapped one by one:
    // slower to start, the same otherwise.
    #[cfg(not(target_os = "linux"))]
    {
        let alone = config.clone();
        config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool(options)));
        match Engine::new(&config) {
            Ok(engine) => return Ok(engine),
            Err(_) => config = alone,
        }
    }
    Engine::new(&config)
        .map_err(|error| SearchError::internal(format!("wasmtime cannot start: {error:#}")))
}

/// Everything that compiled code depends on. A change here makes wasmtime refuse code that was
/// compiled before it, which is then compiled anew.
fn base_config() -> Result<Config, SearchError> {
    let mut config = Config::new();
    // Naming the target turns off tuning for the processor at hand: code that is compiled on one
    // machine loads on any other of the same architecture.
    config
        .target(env!("CANTER_TARGET"))
        .map_err(|error| SearchError::internal(format!("wasmtime: {error:#}")))?;
    // Nothing outside of wasmtime unwinds through the guest, and no debugger looks for names in it.
    #[cfg(not(windows))]
    config.native_unwind_info(false);
    config.debug_symbols(false);
    #[cfg(feature = "compile")]
    for flag in baseline_flags() {
        // SAFETY: these flags only name instructions that `baseline_flags` found on this processor,
        // and wasmtime checks them again when code is loaded.
        #[allow(unsafe_code, reason = "cranelift's flags are not checked by a type")]
        unsafe {
            config.cranelift_flag_enable(flag);
        }
    }
    // Elsewhere loops have points of their own at which they stop (`polls.rs`).
    config.epoch_interruption(cfg!(not(target_os = "linux")));
    config.max_wasm_stack(MAX_WASM_STACK);
    // Data is copied into large pages, which are none where they are a file's (`running/memory.rs`).
    config.memory_init_cow(!cfg!(target_os = "linux"));
    Ok(config)
}

/// The instructions that compiled code may use beyond the architecture's first version: x86-64-v2, which is
/// what every server processor since 2009 has. All or none.
#[cfg(feature = "compile")]
fn baseline_flags() -> &'static [&'static str] {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("sse4.2")
        && is_x86_feature_detected!("ssse3")
        && is_x86_feature_detected!("popcnt")
    {
        return &[
            "has_sse3",
            "has_ssse3",
            "has_sse41",
            "has_sse42",
            "has_popcnt",
        ];
    }
    &[]
}

#[cfg(not(target_os = "linux"))]
fn pool(options: &WasmOptions) -> PoolingAllocationConfig {
    let mut pool = PoolingAllocationConfig::new();
    // One core module with one memory and one table, and the adapters that the component format may
    // put beside it.
    let num_instances = options
        .max_instances
        .saturating_add(super::running::MAX_IDLE);
    pool.total_component_instances(num_instances)
        .total_core_instances(num_instances.saturating_mul(4))
        .total_memories(num_instances)
        .total_tables(num_instances.saturating_mul(4))
        .max_memory_size(options.max_memory_bytes)
        .max_unused_warm_slots(options.max_instances.min(16));
    pool
}
