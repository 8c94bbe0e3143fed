//! The readers of what a store holds beside splits and manifests, for the fuzz targets. This is no API.

use serde::Serialize;

use crate::arrivals::unpacked;
use crate::catalog::{self, CatalogFile, Templates};
use crate::ingest::{Receipt, read_checkpoint};

/// What was read of bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read {
    /// Names of folders and objects that are asked for because of it.
    pub names: Vec<String>,
    /// The same as it is written.
    pub written: Vec<u8>,
}

impl Read {
    fn new(names: Vec<String>, value: &impl Serialize) -> Self {
        let written = serde_json::to_vec(value).unwrap_or_default();
        Self { names, written }
    }
}

/// `indexes.json`.
#[must_use]
pub fn catalog(bytes: &[u8]) -> Option<Read> {
    let file = catalog::parse::<CatalogFile>(bytes, "fuzz").ok()?;
    let names = file.folders().map(|folder| folder.as_str().to_owned());
    Some(Read::new(names.collect(), &file))
}

/// `templates.json`.
#[must_use]
pub fn templates(bytes: &[u8]) -> Option<Read> {
    let file = catalog::parse::<Templates>(bytes, "fuzz").ok()?;
    Some(Read::new(Vec::new(), &file))
}

/// A checkpoint of an ingest.
#[must_use]
pub fn checkpoint(bytes: &[u8]) -> Option<Read> {
    let checkpoint = read_checkpoint(bytes)?;
    Some(Read::new(checkpoint.objects(), &checkpoint))
}

/// The receipt of a part of a shared build.
#[must_use]
pub fn receipt(bytes: &[u8]) -> Option<Read> {
    let receipt = Receipt::from_json(std::str::from_utf8(bytes).ok()?).ok()?;
    Some(Read::new(receipt.objects(), &receipt))
}

/// The lines of an object in the spool, if they are no more than that.
#[must_use]
pub fn spooled(bytes: &[u8], max_num_bytes: usize) -> Option<Vec<u8>> {
    unpacked(bytes, max_num_bytes).ok()
}
