//! Cache of immutable objects on a disk, for every host that has one: files, budgets for each class
//! of bytes, and statistics. Synchronous: the host decides which thread waits for the disk.

pub mod block_file;
mod block_folder;
mod folder;
mod kept_manifest;
mod options;
mod stats;
mod writer;

pub use block_folder::{BlockFolder, FORMAT_FOLDER, HeldFiles};
pub use folder::TEMPORARY_PREFIX;
pub use kept_manifest::KeptManifest;
pub use options::{CacheOptions, ClassOptions, InvalidOptions, MAX_BLOCK_LEN, MIN_BLOCK_LEN};
pub use stats::{CacheStats, ClassCounters, ClassStats, Counters, LayerStats};
pub use writer::BlockWriter;
