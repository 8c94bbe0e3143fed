//! Storage of an index: its URI, its object store, and the two essential writes, of an immutable
//! split and of a manifest that only changes by compare-and-swap.

#[cfg(test)]
mod hooked;
mod index_folder;
mod index_store;
mod local_lock;
mod own_names;
mod removal;
#[cfg(test)]
mod tests;
mod uri;

#[cfg(test)]
pub(crate) use hooked::{failing, meanwhile, scheduled};
pub use index_folder::{IndexFolder, check_index_name};
pub use index_store::{Condition, WriteProbe};
pub(crate) use index_store::{HeldKeys, HeldSplit, Swap, Version, no_index};
pub use index_store::{IndexStore, WriteOptions};
pub(crate) use own_names::{
    CHECKPOINTS_FOLDER, SPOOL_FOLDER, checkpoint_object, is_checkpoint, rejected_object,
    spooled_id, spooled_object,
};
pub(crate) use removal::remove_index_files;
pub(crate) use uri::open_bucket_of_inputs;
