//! Condemned objects: unreferenced objects on their way to deletion.
//!
//! ```text
//!   referenced by nothing ──gc──▶ condemned ──grace period, gc──▶ doomed ──▶ deleted, then forgotten
//!                                     │
//!                                     └──a publication needs it──▶ referenced again
//! ```
//!
//! They are listed in the manifest, so that the swap of the manifest resolves conflicts between a
//! publication and a garbage collection. A publication that needs a condemned object removes it
//! from the list; one that needs a doomed object waits until it is gone, and uploads it again.

use std::collections::BTreeMap;

use crate::FormatError;
use crate::codec::{Reader, Writer};
use crate::version::{id_bytes, id_of_bytes, ledger_object, page_object, split_object};

/// Kind of an object, which determines its folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ObjectKind {
    /// `splits/<id>.split`
    Split,
    /// `pages/<id>.page`
    Page,
    /// `ledger/<id>.ids`
    Ledger,
    /// `deletes/<id>.docs`
    Deletes,
    /// `filters/<id>.bits`
    Filters,
    /// `sources/<id>.lines`
    Sources,
    /// `keys/<id>.digest`
    KeyDigest,
}

/// Name of an immutable object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ObjectName {
    /// Kind of the object.
    pub kind: ObjectKind,
    /// Hash of its bytes.
    pub id: String,
}

/// State of a condemned object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sentence {
    /// Unreferenced at least since a time.
    Condemned {
        /// Time at which that was found, in milliseconds since 1970.
        at_ms: u64,
    },
    /// Being deleted.
    Doomed,
}

/// Condemned objects of an index.
pub type Condemned = BTreeMap<ObjectName, Sentence>;

impl ObjectKind {
    /// All kinds.
    pub const ALL: [Self; 7] = [
        Self::Split,
        Self::Page,
        Self::Ledger,
        Self::Deletes,
        Self::Filters,
        Self::Sources,
        Self::KeyDigest,
    ];

    /// Returns the folder of these objects, relative to the index's URI.
    pub fn folder(self) -> &'static str {
        match self {
            Self::Split => "splits",
            Self::Page => "pages",
            Self::Ledger => "ledger",
            Self::Deletes => "deletes",
            Self::Filters => "filters",
            Self::Sources => "sources",
            Self::KeyDigest => "keys",
        }
    }

    fn code(self) -> u64 {
        match self {
            Self::Split => 0,
            Self::Page => 1,
            Self::Ledger => 2,
            Self::Deletes => 3,
            Self::Filters => 4,
            Self::Sources => 5,
            Self::KeyDigest => 6,
        }
    }
}

impl ObjectName {
    /// Creates the name of an object of this kind.
    pub fn new(kind: ObjectKind, id: &str) -> Self {
        Self {
            kind,
            id: id.to_owned(),
        }
    }

    /// Parses a path relative to the index's URI; returns `None` if it is no immutable object.
    pub fn parse(name: &str) -> Option<Self> {
        ObjectKind::ALL.into_iter().find_map(|kind| {
            let file = name.strip_prefix(kind.folder())?.strip_prefix('/')?;
            let (id, _) = file.split_once('.')?;
            let parsed = Self::new(kind, id);
            (id_bytes(id).is_ok() && parsed.object() == name).then_some(parsed)
        })
    }

    /// Returns the path of the object, relative to the index's URI.
    pub fn object(&self) -> String {
        match self.kind {
            ObjectKind::Split => split_object(&self.id),
            ObjectKind::Page => page_object(&self.id),
            ObjectKind::Ledger => ledger_object(&self.id),
            ObjectKind::Deletes => crate::version::deletes_object(&self.id),
            ObjectKind::Filters => crate::version::filters_object(&self.id),
            ObjectKind::Sources => crate::version::sources_object(&self.id),
            ObjectKind::KeyDigest => crate::version::key_digest_object(&self.id),
        }
    }
}

/// Minimum length of an entry in bytes.
const MIN_LEN: usize = 18;

pub(crate) fn write(condemned: &Condemned, out: &mut Writer) -> Result<(), FormatError> {
    out.varint(condemned.len() as u64);
    for (name, sentence) in condemned {
        out.varint(name.kind.code());
        out.raw(&id_bytes(&name.id)?);
        out.varint(match sentence {
            Sentence::Doomed => 0,
            Sentence::Condemned { at_ms } => at_ms.saturating_add(1),
        });
    }
    Ok(())
}

pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Condemned, FormatError> {
    let mut condemned = Condemned::new();
    for _ in 0..reader.count(MIN_LEN)? {
        let code = reader.varint()?;
        let kind = ObjectKind::ALL.into_iter().find(|kind| kind.code() == code);
        let kind = kind.ok_or_else(|| reader.error("a condemned object is of no known kind"))?;
        let id = id_of_bytes(reader.array()?);
        let sentence = match reader.varint()?.checked_sub(1) {
            None => Sentence::Doomed,
            Some(at_ms) => Sentence::Condemned { at_ms },
        };
        condemned.insert(ObjectName { kind, id }, sentence);
    }
    Ok(condemned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for kind in ObjectKind::ALL {
            let name = ObjectName::new(kind, &format!("{:032x}", 77));
            assert_eq!(ObjectName::parse(&name.object()), Some(name));
        }
        for other in [
            "manifest.canter",
            "splits/0.split",
            "splits/../pages/00000000000000000000000000000000.page",
            "pages/00000000000000000000000000000000.split",
            "splits/00000000000000000000000000000000.split.tmp",
            "probe/x",
        ] {
            assert_eq!(ObjectName::parse(other), None, "{other}");
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        let condemned: Condemned = [
            (ObjectKind::Split, Sentence::Doomed),
            (ObjectKind::Page, Sentence::Condemned { at_ms: 0 }),
            (
                ObjectKind::Deletes,
                Sentence::Condemned {
                    at_ms: u64::MAX - 1,
                },
            ),
        ]
        .into_iter()
        .map(|(kind, sentence)| (ObjectName::new(kind, &format!("{:032x}", 5)), sentence))
        .collect();
        let mut out = Writer::default();
        write(&condemned, &mut out).unwrap();
        let bytes = out.into_bytes();
        let mut reader = Reader::new("test", &bytes);
        assert_eq!(read(&mut reader).unwrap(), condemned);
        reader.finish().unwrap();
    }
}
