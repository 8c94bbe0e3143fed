//! Table of a manifest with pages: its references.
//!
//! ```text
//!   u64 len │ u64 checksum │ count · page references │ ledger │ condemned objects │ sources (version 3)
//! ```

use std::collections::BTreeSet;

use super::condemned::{self, Condemned};
use super::entry::SplitEntry;
use super::file::{ManifestFile, NAME};
use super::ledger::Ledger;
use super::sources::Sources;
use crate::FormatError;
use crate::codec::{Reader, Writer};
use crate::page::{MIN_REF_LEN, PageRef};
use crate::version::{MANIFEST_VERSION, MANIFEST_WITHOUT_SOURCES, checksum64};

/// Contents of a table to write.
pub(super) struct Table<'a> {
    pages: &'a [PageRef],
    ledger: &'a Ledger,
    condemned: &'a Condemned,
    sources: &'a Sources,
}

/// Contents of a table that was read.
#[derive(Default)]
pub(super) struct TableContents {
    pub(super) pages: Vec<PageRef>,
    pub(super) ledger: Ledger,
    pub(super) condemned: Condemned,
    pub(super) sources: Sources,
}

impl<'a> Table<'a> {
    /// Returns the table, or `None` if the first version of manifests can express everything.
    pub(super) fn of(file: &'a ManifestFile) -> Option<Self> {
        let is_empty = file.pages.is_empty()
            && file.ledger.is_empty()
            && file.condemned.is_empty()
            && file.sources.is_empty();
        let mut splits = file.manifest.splits.iter();
        let is_of_first_version = is_empty && splits.all(SplitEntry::is_of_first_version);
        (!is_of_first_version).then_some(Self {
            pages: &file.pages,
            ledger: &file.ledger,
            condemned: &file.condemned,
            sources: &file.sources,
        })
    }

    /// Returns the version of a manifest with this table.
    pub(super) fn version(&self) -> u32 {
        match self.sources.is_empty() {
            true => MANIFEST_WITHOUT_SOURCES,
            false => MANIFEST_VERSION,
        }
    }

    pub(super) fn write(&self, out: &mut Writer) -> Result<(), FormatError> {
        let mut pages: Vec<&PageRef> = self.pages.iter().collect();
        canter_sorting::sort_by(&mut pages, |left, right| left.order().cmp(&right.order()));
        let mut table = Writer::default();
        table.varint(pages.len() as u64);
        for page in pages {
            page.write(&mut table)?;
        }
        self.ledger.write(&mut table)?;
        condemned::write(self.condemned, &mut table)?;
        if !self.sources.is_empty() {
            self.sources.write(&mut table)?;
        }
        let table = table.into_bytes();
        out.u64(table.len() as u64);
        out.u64(checksum64(&table));
        out.raw(&table);
        Ok(())
    }

    pub(super) fn read(
        reader: &mut Reader<'_>,
        version: u32,
    ) -> Result<TableContents, FormatError> {
        let len = usize::try_from(reader.u64()?).unwrap_or(usize::MAX);
        let checksum = reader.u64()?;
        let table = reader.raw(len)?;
        if checksum64(table) != checksum {
            return Err(
                reader.error("the checksum of its table does not match: the bytes are damaged")
            );
        }
        let mut table = Reader::new(NAME, table);
        let num_pages = table.count(MIN_REF_LEN)?;
        let mut pages = Vec::with_capacity(num_pages);
        let mut ids = BTreeSet::new();
        for _ in 0..num_pages {
            let page = PageRef::read(&mut table)?;
            if !ids.insert(page.id.clone()) {
                return Err(table.error(format!("the page {} is named twice", page.id)));
            }
            pages.push(page);
        }
        let ledger = Ledger::read(&mut table)?;
        let condemned = condemned::read(&mut table)?;
        let sources = match version {
            MANIFEST_VERSION => Sources::read(&mut table)?,
            _ => Sources::default(),
        };
        table.finish()?;
        Ok(TableContents {
            pages,
            ledger,
            condemned,
            sources,
        })
    }
}
