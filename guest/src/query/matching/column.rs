//! Documents with a code within a range, in a column with one code per document.

use std::io;
use std::ops::RangeInclusive;

use canter_aggregations::FullColumn;
use canter_matching::{Bits, NO_DOC, Part, WINDOW_LEN};

/// Maximum number of wanted documents in a window that are looked up individually.
const FEW: u32 = 128;

/// The documents of a column with codes within a range.
pub(super) struct ColumnPart {
    column: FullColumn,
    range: RangeInclusive<u64>,
    words: Vec<u64>,
    docs: Vec<u32>,
    codes: Vec<u64>,
}

impl ColumnPart {
    pub(super) fn new(column: FullColumn, range: RangeInclusive<u64>) -> Self {
        Self {
            column,
            range,
            words: Vec::new(),
            docs: Vec::new(),
            codes: Vec::new(),
        }
    }
}

impl Part for ColumnPart {
    fn estimate(&self) -> u32 {
        // The number of matches is unknown before the documents are tested.
        self.column.num_docs() / 8
    }

    fn next(&mut self, doc: u32) -> u32 {
        match doc < self.column.num_docs() {
            true => doc,
            false => NO_DOC,
        }
    }

    fn find(&mut self, first: u32, wanted: &Bits, found: &mut Bits) -> io::Result<()> {
        if wanted.count() > FEW {
            let end = first.saturating_add(WINDOW_LEN).min(self.column.num_docs());
            let docs = first.min(end)..end;
            self.column.select(docs, &self.range, &mut self.words)?;
            found.set_words(&self.words);
            return Ok(());
        }
        wanted.list(first, &mut self.docs);
        self.column.codes(&self.docs, &mut self.codes)?;
        found.clear();
        for (doc, code) in self.docs.iter().zip(&self.codes) {
            if self.range.contains(code) {
                found.insert(doc.saturating_sub(first));
            }
        }
        Ok(())
    }
}
