//! How bytes of immutable objects are kept on a disk, by every host that has one: the files, their budget
//! for each class of bytes, and what was counted. Synchronous; which thread waits for the disk is the
//! host's decision.

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
