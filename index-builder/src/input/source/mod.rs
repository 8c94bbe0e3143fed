//! Phase 1: bytes from files, standard input or any reader, decompressed and divided into records.
//!
//! Memory is constant: one batch of records at a time, and never more of one record than the limit.
//! `canter-formats` decides where a record ends; nothing here parses records.

mod decoding;
mod identity;
mod input;
mod object;
mod opened;
#[cfg(feature = "parquet")]
mod parquet;
mod path_fields;
mod reading;
mod replay;
mod settings;
#[cfg(test)]
mod tests;

#[cfg(feature = "parquet")]
pub use self::parquet::ArrowTables;
pub(crate) use identity::{
    Identities, Identity, Ledger, Place as InputPlace, id_of_lines, mark_of, name_of, open_end_of,
};
pub use input::{Source, SpooledArchives, spool_archives};
pub(crate) use input::{TakenApart, take_apart};
#[cfg(test)]
pub(crate) use object::failure_of_replaced;
pub(crate) use object::{ObjectPlace, ReadAhead};
pub(crate) use reading::batch::{Extent, Record, RecordBatch, is_blank};
pub(crate) use reading::records::{RecordReader, SourceRead};
pub(crate) use settings::{ReadSettings, zone_named};
