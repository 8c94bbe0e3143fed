//! Settings of wasmtime: those that affect compiled code, and those of the instance pool.

use std::sync::Arc;

use wasmtime::{Config, CustomCodeMemory, Engine};
#[cfg(not(target_os = "linux"))]
use wasmtime::{InstanceAllocationStrategy, PoolingAllocationConfig};

use crate::SearchError;

/// Maximum native stack of one call into the guest. Worker threads have more (see `worker.rs`).
pub(super) const MAX_WASM_STACK: usize = 2 << 20;

/// Maximum number of kept instances.
pub(super) const MAX_IDLE: u32 = 16;

/// Settings of a [`super::WasmEngine`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WasmOptions {
    /// Maximum number of concurrent instances. A query uses one, or one per core. Each reserves 4
    /// GiB of address space, but memory only as needed.
    pub max_instances: u32,
    /// Maximum linear memory of one instance.
    pub max_memory_bytes: usize,
    /// Maximum total memory of the instances that are kept after their search. Any later search can
    /// use one of them, and then needs neither a new instance nor new memory. With 0, none is kept.
    pub max_idle_bytes: usize,
    /// Minimum number of bytes of the parts in which supplies enter a guest. It processes each part
    /// before the next one is copied into its memory, so that the memory and the processor's caches
    /// can be reused.
    pub bytes_at_once: usize,
    /// Folder of compiled components, used if none is precompiled; with `None`, the component is
    /// compiled each time. The files are executed as native code, so the folder must belong to this
    /// user, must not be writable for others, and must not be shared, like a cache folder. A
    /// missing folder is created with these permissions, and an unsuitable one is not used.
    pub cache_dir: Option<std::path::PathBuf>,
}

impl Default for WasmOptions {
    /// Defaults to 32 instances of at most 512 MiB, of which 128 MiB are kept, parts of 1 MiB, and
    /// no cache folder.
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
    /// Keeps compiled components in `canter-compiled` below `$XDG_CACHE_HOME` or `~/.cache`, if
    /// either is set.
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

/// Returns a wasmtime engine that compiles, loads and runs the guest, with code that it copies or
/// that is executed in place.
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
    // The pool reserves its address space at once. If that is not available, instances are mapped
    // one by one, which only makes them slower to start.
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

/// Returns all settings that affect compiled code. After a change here, wasmtime refuses code that
/// was compiled before, which is then compiled again.
fn base_config() -> Result<Config, SearchError> {
    let mut config = Config::new();
    // An explicit target disables tuning for the current processor: code that is compiled on one
    // machine can be loaded on any other one of the same architecture.
    config
        .target(env!("CANTER_TARGET"))
        .map_err(|error| SearchError::internal(format!("wasmtime: {error:#}")))?;
    // Only wasmtime unwinds through the guest, and debuggers do not need its symbols.
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
    // On Linux, loops have their own stop points instead (`polls.rs`).
    config.epoch_interruption(cfg!(not(target_os = "linux")));
    config.max_wasm_stack(MAX_WASM_STACK);
    // Data is copied into large pages, which cannot be pages of a file (`running/memory.rs`).
    config.memory_init_cow(!cfg!(target_os = "linux"));
    Ok(config)
}

/// Returns the instructions that compiled code may use beyond the base architecture: x86-64-v2,
/// which all server processors since 2009 support. Either all or none of them.
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
    // add.
    let num_instances = options.max_instances.saturating_add(MAX_IDLE);
    pool.total_component_instances(num_instances)
        .total_core_instances(num_instances.saturating_mul(4))
        .total_memories(num_instances)
        .total_tables(num_instances.saturating_mul(4))
        .max_memory_size(options.max_memory_bytes)
        .max_unused_warm_slots(options.max_instances.min(16));
    pool
}
