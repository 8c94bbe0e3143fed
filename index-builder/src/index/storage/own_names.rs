//! Names of all objects that an index can own. The deletion of an index deletes objects with these
//! names, and no others.
//!
//! | name | content |
//! |---|---|
//! | `manifest.canter` | manifest |
//! | `manifest.lock` | in a folder, the lock for the replacement of the manifest |
//! | `splits/`, `pages/`, `ledger/`, `deletes/`, `filters/`, `sources/`, `keys/` | immutable objects, named after their bytes ([`ObjectName`]) |
//! | `spool/<id>.ndjson.zst`, `rejected/<id>.ndjson` | documents that are not published yet, or cannot be |
//! | `checkpoints/<ingest>-<number>.json` | progress of an ingest |
//! | `write-probe/<number>`, `write-probe/standing` | objects of probes of conditional writes |
//!
//! The name of a file can end in `#<number>`: this is its name while `object_store` writes it into
//! a folder, and it stays after an interruption.

use canter_split_format::{MANIFEST_OBJECT, ObjectKind, ObjectName};

use super::index_folder::is_hex_digit;
use crate::error::BuildError;

/// Lock of a folder, next to the manifest.
pub(super) const LOCK_NAME: &str = "manifest.lock";
/// Folder of checkpoints.
pub(crate) const CHECKPOINTS_FOLDER: &str = "checkpoints";
/// Folder of the objects of probes. Parts of the index are never in it, so that a rule of the
/// bucket can remove objects of probes that were not allowed to delete them.
pub(crate) const PROBE_FOLDER: &str = "write-probe";
/// Permanent object of short probes.
pub(super) const STANDING_PROBE: &str = "write-probe/standing";
/// Folder of documents that are not published yet.
pub(crate) const SPOOL_FOLDER: &str = "spool";
/// Folder of spooled documents that cannot be published.
pub(crate) const REJECTED_FOLDER: &str = "rejected";

/// Ending of the names of spooled documents.
const SPOOLED: &str = ".ndjson.zst";
/// Ending of the names of rejected documents.
const REJECTED: &str = ".ndjson";
/// Number of digits of a hash in a name.
const HASH_LEN: usize = 32;

/// Returns the object of the documents that wait with this id, or `None` if the id does not consist
/// of ASCII letters and digits.
pub(crate) fn spooled_object(id: &str) -> Option<String> {
    is_spool_id(id).then(|| format!("{SPOOL_FOLDER}/{id}{SPOOLED}"))
}

/// Returns the id of an object in the spool, or `None` if the name is not that of such an object.
pub(crate) fn spooled_id(name: &str) -> Option<&str> {
    let id = below(name, SPOOL_FOLDER)?.strip_suffix(SPOOLED)?;
    is_spool_id(id).then_some(id)
}

/// Returns the object of the rejected documents of this id, or `None` if the id is invalid.
pub(crate) fn rejected_object(id: &str) -> Option<String> {
    is_spool_id(id).then(|| format!("{REJECTED_FOLDER}/{id}{REJECTED}"))
}

/// Returns the name of a checkpoint. `ingest` is a hash.
pub(crate) fn checkpoint_object(ingest: &str, ord: u64) -> String {
    format!("{CHECKPOINTS_FOLDER}/{ingest}-{ord}.json")
}

/// Returns whether this is the name of a checkpoint.
pub(crate) fn is_checkpoint(name: &str) -> bool {
    let parts = below(name, CHECKPOINTS_FOLDER)
        .and_then(|file| file.strip_suffix(".json"))
        .and_then(|file| file.split_once('-'));
    parts.is_some_and(|(ingest, ord)| is_hash(ingest) && is_number(ord))
}

/// Returns whether an index can own an object of this name, relative to the index's URI.
pub(super) fn is_own(name: &str) -> bool {
    let whole = match name.rsplit_once('#') {
        Some((whole, number)) if is_number(number) => whole,
        _ => name,
    };
    let is_rejected = |name: &str| {
        let id = below(name, REJECTED_FOLDER).and_then(|file| file.strip_suffix(REJECTED));
        id.is_some_and(is_spool_id)
    };
    whole == MANIFEST_OBJECT
        || whole == LOCK_NAME
        || ObjectName::parse(whole).is_some()
        || spooled_id(whole).is_some()
        || is_rejected(whole)
        || is_checkpoint(whole)
        || whole == STANDING_PROBE
        || below(whole, PROBE_FOLDER).is_some_and(is_hash)
}

/// Returns whether an index can have objects in a folder of this name.
pub(super) fn is_own_folder(name: &str) -> bool {
    let others = [
        CHECKPOINTS_FOLDER,
        PROBE_FOLDER,
        SPOOL_FOLDER,
        REJECTED_FOLDER,
    ];
    others.contains(&name) || ObjectKind::ALL.iter().any(|kind| kind.folder() == name)
}

/// Returns the error that an index's folder contains something foreign.
pub(super) fn not_ours(shown: &str) -> BuildError {
    BuildError::data(format!(
        "`{shown}` is nothing that belongs to an index, so that only the manifest was deleted there: find out who has put it \
         there, and move it elsewhere; a writable server then deletes the rest"
    ))
}

fn below<'n>(name: &'n str, folder: &str) -> Option<&'n str> {
    name.strip_prefix(folder)?.strip_prefix('/')
}

fn is_spool_id(id: &str) -> bool {
    !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn is_hash(text: &str) -> bool {
    text.len() == HASH_LEN && text.bytes().all(is_hex_digit)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HASH: &str = "0123456789abcdef0123456789abcdef";

    #[test]
    fn what_an_index_owns_is_told_from_everything_else() {
        let mut own: Vec<String> = ObjectKind::ALL
            .into_iter()
            .map(|kind| ObjectName::new(kind, HASH).object())
            .collect();
        own.extend([
            MANIFEST_OBJECT.to_owned(),
            LOCK_NAME.to_owned(),
            format!("{MANIFEST_OBJECT}#1"),
            format!("splits/{HASH}.split#12"),
            spooled_object("a1B2").unwrap(),
            rejected_object("a1B2").unwrap(),
            checkpoint_object(HASH, 0),
            checkpoint_object(HASH, 17),
            format!("write-probe/{HASH}"),
            STANDING_PROBE.to_owned(),
        ]);
        for name in own {
            assert!(is_own(&name), "{name}");
            if let Some((folder, _)) = name.split_once('/') {
                assert!(is_own_folder(folder), "{folder}");
            }
        }
        for other in [
            "",
            "/",
            "passwd",
            "manifest",
            "manifest.canter/x",
            "manifest.canter#",
            "manifest.canter#x",
            "splits",
            "splits/",
            "splits/a.split",
            "splits/../manifest.canter",
            "/splits/0123456789abcdef0123456789abcdef.split",
            "splits//0123456789abcdef0123456789abcdef.split",
            "splits/0123456789abcdef0123456789abcdef.page",
            "splits/0123456789abcdef0123456789abcdef.split/x",
            "spool/.ndjson.zst",
            "spool/../x.ndjson.zst",
            "spool/a-1.ndjson.zst",
            "spool/a.ndjson",
            "rejected/a.b.ndjson",
            "checkpoints/x.json",
            "checkpoints/0123456789abcdef0123456789abcdef-.json",
            "checkpoints/0123456789abcdef0123456789abcdef-1.json.bak",
            "write-probe/x",
            "indexes.json",
        ] {
            assert!(!is_own(other), "{other}");
        }
        for other in ["", ".", "..", "etc", "splits/x", "Splits"] {
            assert!(!is_own_folder(other), "{other}");
        }
        for bad in ["", ".", "..", "../x", "a/b", "a.b", "ä"] {
            assert_eq!(spooled_object(bad), None, "{bad}");
            assert_eq!(rejected_object(bad), None, "{bad}");
        }
    }
}
