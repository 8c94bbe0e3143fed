//! Documents by the ids that clients chose: what an index has under them, and what is to become of it.
//!
//! ```text
//!   ids ──▶ IdSnapshot ──the caller decides──▶ IdBatch ──▶ ingest ──▶ published if nothing of it has changed, or `Conflict`
//! ```

use std::collections::{BTreeMap, BTreeSet};

use canter_split_format::DocIdentity;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::line_ids::LineIds;
use crate::blocking;
use crate::error::{BuildError, ErrorKind};
use crate::index::publisher::{
    DocNumbers, IdBatch, IdChanges, IdKey, Live, LoadedManifest, MAX_ATTEMPTS, PageEntries,
    SourcesReader, find_ids, hold_live_only, identities_of, load, load_and_hold, pause,
    read_paged_entries,
};
use crate::index::storage::IndexStore;

/// Maximum length of an id in bytes: terms have no more.
pub const MAX_ID_BYTES: usize = 512;

/// Field of the number of versions of a document's id, unless the document is the first.
pub(crate) const VERSION_FIELD: &str = "_version";
/// Field of the number of a document among all versions of all documents.
pub(crate) const SEQ_NO_FIELD: &str = "_seq_no";
/// Field of what a client gave as the routing of a document.
pub const ROUTING_FIELD: &str = "_routing";

/// Documents that an index has under some ids at one moment.
#[derive(Debug, Default)]
pub struct IdSnapshot {
    live: BTreeMap<IdKey, Vec<Live>>,
    identities: BTreeMap<IdKey, DocIdentity>,
    known_sources: BTreeSet<u128>,
    asked: BTreeSet<IdKey>,
    next_seq_no: Option<u64>,
}

/// Version of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiveVersion {
    /// Number of versions so far, itself included, or what a client gave as such.
    pub version: u64,
    /// Number of the version among all versions of all documents, if it has one or that was asked for.
    pub seq_no: Option<u64>,
}

impl IdSnapshot {
    /// Looks up `ids` in an index. Of those in `with_seq_nos`, the sequence numbers can be asked for, which takes a further
    /// read for each document. Of `sources`, it notes which were ingested before.
    ///
    /// # Errors
    /// `Invalid` if there is no index; `Data` for a damaged or missing object; `Unavailable` if storage does not answer.
    pub fn read<'i>(
        store: &IndexStore,
        ids: impl IntoIterator<Item = &'i str>,
        with_seq_nos: impl IntoIterator<Item = &'i str>,
        sources: &[LineIds],
    ) -> Result<Self, BuildError> {
        let asked: BTreeSet<IdKey> = ids.into_iter().map(IdKey::of).collect();
        let with_seq_nos: BTreeSet<IdKey> = with_seq_nos.into_iter().map(IdKey::of).collect();
        let sources: BTreeSet<u128> = sources
            .iter()
            .map(|source| source.source().to_u128())
            .collect();
        blocking::run(async {
            for num_attempts in 1..MAX_ATTEMPTS {
                let loaded = load_and_hold(store).await?;
                match Self::of(store, &loaded, &asked, &with_seq_nos, &sources).await {
                    // An object may be missing because this manifest is outdated.
                    Err(error) if error.kind() == ErrorKind::Data => {
                        if load(store).await?.version == loaded.version {
                            return Err(error);
                        }
                    }
                    read => return read,
                }
                tokio::time::sleep(pause(num_attempts)).await;
            }
            let loaded = load(store).await?;
            Self::of(store, &loaded, &asked, &with_seq_nos, &sources).await
        })
    }

    async fn of(
        store: &IndexStore,
        loaded: &LoadedManifest,
        asked: &BTreeSet<IdKey>,
        with_seq_nos: &BTreeSet<IdKey>,
        sources: &BTreeSet<u128>,
    ) -> Result<Self, BuildError> {
        let file = &loaded.file;
        let mut reader = SourcesReader::default();
        let known_sources = reader.known(store, &file.sources, sources).await?;
        let live = find_ids(store, file, asked, &mut PageEntries::default()).await?;
        hold_live_only(store, file).await?;
        let mut docs_of: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
        // Documents that no server numbered have the hash of their identity as their number.
        let is_wanted = |id: &IdKey, live: &[Live]| {
            with_seq_nos.contains(id) && live.last().is_some_and(|live| live.seq_no.is_none())
        };
        let wanted = || live.iter().filter(|(id, live)| is_wanted(id, live));
        for Live { split_id, doc, .. } in wanted().flat_map(|(_, live)| live) {
            docs_of.entry(split_id).or_default().insert(*doc);
        }
        let mut found: BTreeMap<(&str, u32), DocIdentity> = BTreeMap::new();
        if !docs_of.is_empty() {
            let mut entries = file.manifest.splits.clone();
            entries.extend(read_paged_entries(store, file).await?);
            for (split_id, docs) in docs_of {
                let Some(entry) = entries.iter().find(|entry| entry.id == split_id) else {
                    continue;
                };
                let of_split = identities_of(store, entry, file.head(split_id), &docs).await?;
                let of_split = of_split.into_iter();
                found.extend(of_split.map(|(doc, identity)| ((split_id, doc), identity)));
            }
        }
        let identities = wanted().filter_map(|(id, live)| {
            let last = live.last()?;
            Some((*id, *found.get(&(last.split_id.as_str(), last.doc))?))
        });
        Ok(Self {
            identities: identities.collect(),
            known_sources,
            asked: asked.clone(),
            next_seq_no: numbers_documents(&file.manifest.index_config)
                .then_some(file.manifest.next_seq_no),
            live,
        })
    }

    /// Returns the version of the document with an id, if there is one.
    #[must_use]
    pub fn version(&self, id: &str) -> Option<LiveVersion> {
        let id = IdKey::of(id);
        let last = self.live.get(&id)?.iter().max_by_key(|live| live.version)?;
        let of_identity = || self.identities.get(&id).map(DocIdentity::seq_no);
        Some(LiveVersion {
            version: last.version,
            seq_no: last.seq_no.or_else(of_identity),
        })
    }

    /// Returns the least sequence number that no document of the index has had, if the index numbers its documents.
    #[must_use]
    pub fn next_seq_no(&self) -> Option<u64> {
        self.next_seq_no
    }

    /// Returns whether these lines were ingested before.
    #[must_use]
    pub fn has_lines(&self, lines: LineIds) -> bool {
        self.known_sources.contains(&lines.source().to_u128())
    }

    /// Concludes from it that documents are removed, and which numbers new ones have: those of lines that are not named are
    /// the first version. `next_seq_no` is the least sequence number that is left unused.
    #[must_use]
    pub fn into_batch<'i>(
        self,
        removed: impl IntoIterator<Item = &'i str>,
        numbers: impl IntoIterator<Item = (LineIds, u64, DocNumbers)>,
        next_seq_no: u64,
    ) -> IdBatch {
        let mut live = self.live;
        let seen = self.asked.into_iter();
        let seen = seen.map(|id| (id, live.remove(&id).unwrap_or_default()));
        let numbers = numbers.into_iter();
        let changes = IdChanges {
            seen: seen.collect(),
            removed: removed.into_iter().map(IdKey::of).collect(),
            next_seq_no,
        };
        let numbers = numbers.map(|(lines, nth, numbers)| (lines.place(nth), numbers));
        IdBatch::new(changes, numbers.collect())
    }
}

/// Returns whether a config has a field for the sequence numbers of documents.
fn numbers_documents(config: &serde_json::Value) -> bool {
    let fields = config.pointer("/doc_mapping/field_mappings");
    let mut fields = fields
        .and_then(serde_json::Value::as_array)
        .into_iter()
        .flatten();
    fields.any(|field| field["name"] == SEQ_NO_FIELD)
}

/// Returns the id in the field `name` at the root of a document, if the document has that field. Text that is no JSON object
/// has none.
///
/// # Errors
/// The field contains something else than a text of 1 to 512 bytes.
pub fn id_in(document: &[u8], name: &str) -> Result<Option<String>, String> {
    let Ok(Entries(entries)) = serde_json::from_slice(document) else {
        return Ok(None);
    };
    let Some((_, value)) = entries.into_iter().find(|(key, _)| key == name) else {
        return Ok(None);
    };
    let id = match serde_json::from_str::<serde_json::Value>(value.get()) {
        Ok(serde_json::Value::String(id)) => id,
        Ok(serde_json::Value::Null) => return Ok(None),
        _ => return Err(format!("{name}: an id is a text, and not {}", value.get())),
    };
    match check_id(&id) {
        Ok(()) => Ok(Some(id)),
        Err(problem) => Err(format!("{name}: {problem}")),
    }
}

/// Returns the first of these names that the root of a document has as a key, with a value that is not null. Text that is no
/// JSON object has none.
#[must_use]
pub fn first_key_in<'n>(document: &[u8], names: &[&'n str]) -> Option<&'n str> {
    let Ok(Entries(entries)) = serde_json::from_slice(document) else {
        return None;
    };
    let given = entries.iter().filter(|(_, value)| value.get() != "null");
    given
        .filter_map(|(key, _)| names.iter().copied().find(|name| *name == key.as_str()))
        .next()
}

/// Checks an id.
///
/// # Errors
/// It is empty, or too long.
pub fn check_id(id: &str) -> Result<(), String> {
    match id.len() {
        0 => Err("if _id is specified it must not be empty".to_owned()),
        1..=MAX_ID_BYTES => Ok(()),
        len => Err(format!(
            "an id has up to {MAX_ID_BYTES} bytes, and this one has {len}"
        )),
    }
}

/// Entries of a JSON object whose values are not parsed.
struct Entries<'d>(Vec<(String, &'d RawValue)>);

impl<'de: 'd, 'd> Deserialize<'de> for Entries<'d> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;

        impl<'de> serde::de::Visitor<'de> for InOrder {
            type Value = Vec<(String, &'de RawValue)>;

            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("a JSON object")
            }

            fn visit_map<M: serde::de::MapAccess<'de>>(
                self,
                mut map: M,
            ) -> Result<Self::Value, M::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(entries)
            }
        }

        deserializer.deserialize_map(InOrder).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_read_from_documents() {
        let of = |document: &str| id_in(document.as_bytes(), "sku");
        assert_eq!(
            of(r#"{"a":{"sku":"x"},"sku":"a\"7"}"#),
            Ok(Some("a\"7".to_owned()))
        );
        for none in [r#"{"a":1}"#, r#"{"sku":null}"#, "[\"sku\"]", "no json"] {
            assert_eq!(of(none), Ok(None), "{none}");
        }
        for (wrong, why) in [
            (r#"{"sku":7.5}"#, "sku: an id is a text, and not 7.5"),
            (r#"{"sku":["a"]}"#, "sku: an id is a text, and not [\"a\"]"),
            (
                r#"{"sku":""}"#,
                "sku: if _id is specified it must not be empty",
            ),
        ] {
            assert_eq!(of(wrong), Err(why.to_owned()));
        }
        for (document, first) in [
            (r#"{"a":1,"_seq_no":2,"_id":"x"}"#, Some("_seq_no")),
            (r#"{"_seq_no":null,"a":{"_id":1}}"#, None),
            ("no json", None),
        ] {
            let found = first_key_in(document.as_bytes(), &["_id", "_seq_no"]);
            assert_eq!(found, first, "{document}");
        }
        let longest = "x".repeat(MAX_ID_BYTES);
        assert!(check_id(&longest).is_ok());
        assert!(check_id(&format!("{longest}x")).is_err());
    }
}
