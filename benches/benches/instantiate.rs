//! Cost of a fresh instance of the guest from the precompiled component; every leaf needs one.
//!
//! `load` is paid once for each process: reading and checking the native code. `instance` is paid
//! for each instance: its memory, its tables and the component's start.

use std::time::{Duration, Instant};

use anyhow::Result;
use canter_runtime::Interrupt;
use canter_runtime::engine::{Engine, InstanceLimits, WasmEngine, WasmOptions};
use criterion::Criterion;

fn main() -> Result<()> {
    let limits = InstanceLimits {
        interrupt: Interrupt::after(Instant::now(), Duration::MAX),
        max_memory_bytes: None,
    };
    let engine = WasmEngine::embedded(WasmOptions::default())?;
    // Fails before the measurement if the engine does.
    engine.start(&limits)?;
    let mut criterion = Criterion::default().configure_from_args();
    criterion.bench_function("load", |bencher| {
        bencher.iter(|| WasmEngine::embedded(WasmOptions::default()));
    });
    criterion.bench_function("instance", |bencher| {
        bencher.iter(|| engine.start(&limits));
    });
    criterion.final_summary();
    Ok(())
}
