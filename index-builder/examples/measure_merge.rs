//! Measures merging: documents per CPU-second and the peak of memory.
//!
//! ```text
//! cargo run --release -p canter-index-builder --example measure_ingest -- 1000000 8 FOLDER
//! cargo run --release -p canter-index-builder --example measure_merge -- FOLDER
//! ```
//!
//! Merges all splits of the index in FOLDER into one, which it gives up, and prints one JSON object. The
//! index is built by another process, because the peak is that of a process. Where the kernel does not tell,
//! the peak is 0.

use canter_doc_mapper::IndexConfig;
use canter_index_builder::{IndexStore, MergeInput, MergeOptions, merge_splits};
use canter_split_format::{MANIFEST_OBJECT, ManifestFile};
use std::path::Path;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args()
        .nth(1)
        .ok_or("which index? give its folder")?;
    let manifest = std::fs::read(Path::new(&folder).join(MANIFEST_OBJECT))?;
    let manifest = ManifestFile::from_bytes(&manifest)?.manifest;
    let config: IndexConfig = serde_json::from_value(manifest.index_config)?;
    let inputs: Vec<MergeInput> = manifest
        .splits
        .into_iter()
        .map(|entry| MergeInput {
            entry,
            deleted: None,
        })
        .collect();
    let store = IndexStore::open(&folder)?;
    let started = Instant::now();
    let before = (cpu_s()?, peak_memory_kib()?);
    let merged = merge_splits(&store, &config, &inputs, &MergeOptions::default())?;
    let merged = merged.ok_or("the index has no documents")?;
    let cpu_s = cpu_s()? - before.0;
    let result = serde_json::json!({
        "num_splits": inputs.len(),
        "num_docs": merged.entry.num_docs,
        "elapsed_s": started.elapsed().as_secs_f64(),
        "cpu_s": cpu_s,
        "docs_per_cpu_s": (merged.entry.num_docs as f64 / cpu_s).round(),
        "peak_memory_mib": peak_memory_kib()? / 1024,
        "peak_memory_before_mib": before.1 / 1024,
        "num_input_bytes": inputs.iter().map(|input| input.entry.len).sum::<u64>(),
        "num_split_bytes": merged.entry.len,
        "num_head_bytes": merged.entry.head_len,
    });
    println!("{result}");
    Ok(())
}

/// CPU seconds of this process, all threads.
fn cpu_s() -> Result<f64, Box<dyn std::error::Error>> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    // After the name, which may hold anything; fields 14 and 15 count in hundredths.
    let behind_name = stat.rsplit(')').next().unwrap_or_default();
    let fields: Vec<&str> = behind_name.split_whitespace().collect();
    let ticks = |field: usize| -> u64 { fields.get(field).map_or(0, |n| n.parse().unwrap_or(0)) };
    Ok((ticks(11) + ticks(12)) as f64 / 100.0)
}

/// Returns the peak memory of this process.
fn peak_memory_kib() -> Result<u64, Box<dyn std::error::Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = peak.and_then(|peak| peak.trim().strip_suffix(" kB"));
    Ok(kib.map_or(0, |kib| kib.trim().parse().unwrap_or(0)))
}
