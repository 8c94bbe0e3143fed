//! Scroll through all hits, page by page.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use canter_split_format::SplitEntry;
use serde::{Deserialize, Serialize};

use super::{PinnedManifest, SortValue};

/// A scroll through all hits, page by page: in the stored order of the index's splits, or in an order of values.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Scroll {
    /// The document after which the page begins.
    pub(crate) after: Option<SealedPlace>,
    /// The values after which it begins.
    #[serde(default)]
    pub(crate) keys: Vec<SortValue>,
    /// The indexes and manifests of all pages.
    pub(crate) pinned: Vec<PinnedManifest>,
    /// The value of `now` on every page.
    #[serde(default)]
    pub(crate) now_ms: Option<i64>,
    /// The number of hits that the first page found, and whether there may be more: every page repeats it.
    #[serde(default)]
    pub(crate) total: Option<(u64, bool)>,
    /// The number of the last page; 0 before the first.
    #[serde(default)]
    pub(crate) page: u32,
    /// Tells scrolls with the same request apart that began in the same millisecond.
    #[serde(default)]
    pub(crate) begun_us: u64,
    /// The parameters and the body of the request, for the next page.
    pub(crate) query: String,
    pub(crate) body: String,
}

/// The number of the first page.
pub(crate) const FIRST_PAGE: u32 = 1;

/// State of a scroll in the host's cache.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum ScrollState {
    /// It has been cleared.
    Ended,
    /// It continues after this page.
    Continues(ScrollPage),
}

/// The place where a page of a scroll ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ScrollPage {
    /// The number of the page.
    pub(crate) page: u32,
    after: Option<SealedPlace>,
    keys: Vec<SortValue>,
}

/// Maximum length of a scroll id, in bytes: a query of maximum length and its envelope.
const MAX_LEN: usize = 2 << 20;

impl Scroll {
    /// Returns the id that requests the next page.
    pub(crate) fn to_id(&self) -> String {
        let json = serde_json::to_string(self).unwrap_or_default();
        BASE64_URL_SAFE_NO_PAD.encode(json)
    }

    /// Returns the key under which the host's cache has the state of the scroll: the same on every page.
    pub(crate) fn key_of_state(&self) -> String {
        let same = (
            &self.pinned,
            self.now_ms,
            self.begun_us,
            &self.query,
            &self.body,
        );
        let bytes = serde_json::to_vec(&same).unwrap_or_default();
        format!("scroll/{}", blake3::hash(&bytes).to_hex())
    }

    /// Counts a page, which has this `total` and ends after this time of its session.
    pub(crate) fn turn_page(&mut self, elapsed_us: u64, total: (u64, bool)) {
        if self.page == 0 {
            self.begun_us = elapsed_us;
        }
        self.page = self.page.saturating_add(1);
        self.total = Some(total);
    }

    /// Returns the place where its last page ended.
    pub(crate) fn last_page(&self) -> ScrollPage {
        ScrollPage {
            page: self.page,
            after: self.after.clone(),
            keys: self.keys.clone(),
        }
    }

    /// Continues after another page.
    pub(crate) fn continue_after(&mut self, page: ScrollPage) {
        self.page = page.page;
        self.after = page.after;
        self.keys = page.keys;
    }

    /// Parses a scroll id; `None` if it is invalid.
    pub(crate) fn of_id(id: &str) -> Option<Self> {
        if id.len() > MAX_LEN {
            return None;
        }
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(id).ok()?;
        serde_json::from_slice(&bytes).ok()
    }
}

/// The place of a document, readable only with its split's entry. A caller with a forced filter could otherwise learn
/// the number of documents between two places, or probe with invented places.
///
/// The seal is derived from the checksum of the split's head, which no answer reveals.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SealedPlace {
    /// The name of the index.
    index: String,
    /// The document, masked by a value derived from the seal.
    hidden: u32,
    /// Proves that the place belongs to this split and was made here.
    seal: u64,
}

impl SealedPlace {
    /// Seals a document of a split.
    pub(crate) fn of(index: &str, entry: &SplitEntry, doc: u32) -> Self {
        let seal = digest(entry, "seal", u64::from(doc));
        Self {
            index: index.to_owned(),
            hidden: doc ^ mask(entry, seal),
            seal,
        }
    }

    /// Returns the document, if it is in this split.
    pub(crate) fn doc_in(&self, index: &str, entry: &SplitEntry) -> Option<u32> {
        if self.index != index {
            return None;
        }
        let doc = self.hidden ^ mask(entry, self.seal);
        (digest(entry, "seal", u64::from(doc)) == self.seal).then_some(doc)
    }
}

/// Returns the mask of a document, derived from its seal.
fn mask(entry: &SplitEntry, seal: u64) -> u32 {
    let [a, b, c, d, ..] = digest(entry, "mask", seal).to_le_bytes();
    u32::from_le_bytes([a, b, c, d])
}

fn digest(entry: &SplitEntry, what_for: &str, number: u64) -> u64 {
    let mut hasher = blake3::Hasher::new();
    for part in [what_for.as_bytes(), entry.id.as_bytes()] {
        hasher.update(part);
    }
    for number in [entry.head_checksum, number] {
        hasher.update(&number.to_le_bytes());
    }
    let hash = hasher.finalize();
    let first = hash.as_bytes().first_chunk();
    u64::from_le_bytes(first.copied().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn entry(id: u32, head_checksum: &str) -> SplitEntry {
        serde_json::from_value(json!({
            "id": format!("{id:032x}"), "len": 1000, "head_len": 100, "head_checksum": head_checksum,
            "num_docs": 10, "raw_num_bytes": 3000,
        }))
        .unwrap()
    }

    #[test]
    fn a_place_is_read_with_the_entry_of_its_split_only() {
        let (one, other) = (entry(1, "0000000000000005"), entry(2, "0000000000000005"));
        let replaced = entry(1, "0000000000000006");
        for doc in [0, 1, 7_919, u32::MAX] {
            let sealed = SealedPlace::of("logs", &one, doc);
            assert_eq!(sealed.doc_in("logs", &one), Some(doc));
            assert_eq!(sealed.doc_in("others", &one), None);
            assert_eq!(sealed.doc_in("logs", &other), None);
            assert_eq!(sealed.doc_in("logs", &replaced), None);
            let made_up = SealedPlace {
                hidden: sealed.hidden ^ 1,
                ..sealed
            };
            assert_eq!(made_up.doc_in("logs", &one), None);
        }
    }

    #[test]
    fn nothing_is_told_of_distances() {
        let entry = entry(1, "0000000000000005");
        let hidden: Vec<u32> = (0..100)
            .map(|doc| SealedPlace::of("logs", &entry, doc).hidden)
            .collect();
        let near = hidden
            .windows(2)
            .filter(|pair| (pair[0] ^ pair[1]) < 1 << 16);
        assert!(near.count() < 3);
    }
}
