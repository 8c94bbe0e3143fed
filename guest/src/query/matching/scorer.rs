//! Documents of a tantivy scorer, one after another.

use std::io;

use canter_matching::{Bits, NO_DOC, Part, WINDOW_LEN};
use tantivy::query::Scorer;
use tantivy::{DocSet as _, TERMINATED};

/// Maximum number of wanted documents in a window that are looked up individually.
const FEW: u32 = 64;

/// Wrapper around a scorer.
pub(super) struct ScorerPart {
    scorer: Box<dyn Scorer>,
}

impl ScorerPart {
    pub(super) fn new(scorer: Box<dyn Scorer>) -> Self {
        Self { scorer }
    }

    /// Moves to the first document from `doc` on.
    fn go_to(&mut self, doc: u32) -> u32 {
        let here = self.scorer.doc();
        let next = match here < doc && here != TERMINATED {
            true => self.scorer.seek(doc.min(TERMINATED)),
            false => here,
        };
        match next {
            TERMINATED.. => NO_DOC,
            doc => doc,
        }
    }
}

impl Part for ScorerPart {
    fn estimate(&self) -> u32 {
        // It is slower than any other part with as many matches.
        u32::try_from(self.scorer.cost()).unwrap_or(NO_DOC)
    }

    fn next(&mut self, doc: u32) -> u32 {
        self.go_to(doc)
    }

    fn find(&mut self, first: u32, wanted: &Bits, found: &mut Bits) -> io::Result<()> {
        found.clear();
        let mut docs = Vec::new();
        if wanted.count() <= FEW {
            wanted.list(first, &mut docs);
            for doc in docs {
                if self.go_to(doc) == doc {
                    found.insert(doc.saturating_sub(first));
                }
            }
            return Ok(());
        }
        let end = first.saturating_add(WINDOW_LEN);
        let mut doc = self.go_to(first);
        while doc < end {
            found.insert(doc.saturating_sub(first));
            doc = match self.scorer.advance() {
                TERMINATED.. => NO_DOC,
                doc => doc,
            };
        }
        Ok(())
    }
}
