//! Archives: their members as separate sources.
//!
//! ```text
//!   take_apart: one pass, in which members are listed ─► a source each ─► opened in their order: another pass, together
//! ```
//!
//! Members share a cursor, which each uses while it is read and leaves where the next one begins. Reading a member out
//! of order opens the archive again.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use super::source::Source;
use crate::error::{BuildError, ErrorKind};
use crate::input::source::decoding::{Cursor, Decoding, Found, Layer};
use crate::input::source::opened::store_failure;

/// Maximum number of members; more are a mistake, since each is a source with an id.
const MAX_MEMBERS: usize = 100_000;
/// First members of office documents and Java programs, which are not treated as archives.
const NO_ARCHIVES: [(&str, &str); 4] = [
    (
        "[Content_Types].xml",
        "a document of Microsoft Office: export it as CSV or text",
    ),
    (
        "mimetype",
        "an OpenDocument or e-book: export it as CSV or text",
    ),
    ("META-INF/", "a program of Java (.jar): leave it out"),
    (
        "META-INF/MANIFEST.MF",
        "a program of Java (.jar): leave it out",
    ),
];

/// An archive that may be opened again, and the positions of its readers.
struct Place {
    archive: Source,
    decoding: Decoding,
    cursor: Mutex<Option<Cursor>>,
}

/// One member of an archive.
#[derive(Clone)]
pub(in crate::input::source) struct ArchiveMember {
    place: Arc<Place>,
    /// Number among all members.
    ord: usize,
    name: Arc<str>,
    modified: Option<SystemTime>,
    is_first: bool,
    /// True if the whole archive is read with it.
    is_last: bool,
}

impl ArchiveMember {
    /// Returns the archive.
    pub(in crate::input::source) fn archive(&self) -> &Source {
        &self.place.archive
    }

    /// Returns its name in the archive, which is unique.
    pub(in crate::input::source) fn name(&self) -> &str {
        &self.name
    }

    pub(in crate::input::source) fn modified(&self) -> Option<SystemTime> {
        self.modified
    }

    pub(in crate::input::source) fn is_last(&self) -> bool {
        self.is_last
    }

    pub(in crate::input::source) fn is_first(&self) -> bool {
        self.is_first
    }

    /// Opens it; also returns the compression of the archive.
    pub(in crate::input::source) fn open(
        &self,
        num_stored_bytes: Arc<AtomicU64>,
    ) -> Result<(MemberReader, Vec<Layer>), BuildError> {
        let mut slot = self
            .place
            .cursor
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let kept = slot.take().filter(|cursor| cursor.num_members <= self.ord);
        drop(slot);
        let mut cursor = match kept {
            Some(cursor) => cursor,
            None => self.place.open(num_stored_bytes)?,
        };
        let failed = |error| match store_failure(error) {
            Ok(failure) => failure,
            Err(error) => BuildError::unavailable(format!(
                "`{}` is not what it was when its members were listed: run the same again",
                self.place.archive.name()
            ))
            .caused_by(error)
            .of_replaced_input(),
        };
        while cursor.num_members <= self.ord {
            let found = cursor.members.next_member().map_err(failed)?;
            found.ok_or_else(|| failed(io::ErrorKind::UnexpectedEof.into()))?;
            cursor.num_members += 1;
        }
        let layers = cursor.layers.clone();
        let reader = MemberReader {
            place: Arc::clone(&self.place),
            cursor: Some(cursor),
        };
        Ok((reader, layers))
    }
}

impl Place {
    fn open(&self, num_stored_bytes: Arc<AtomicU64>) -> Result<Cursor, BuildError> {
        let Some(again) = self.archive.again() else {
            return Err(BuildError::internal("an archive cannot be opened again"));
        };
        let name = self.archive.name();
        let decoded = again.decoded(num_stored_bytes, self.decoding)?;
        let changed = || {
            BuildError::unavailable(format!(
                "`{name}` is not what it was when its members were listed: run the same again"
            ))
            .of_replaced_input()
        };
        Cursor::new(decoded).ok_or_else(changed)
    }
}

/// Reads a member, and leaves the cursor for the next one.
pub(in crate::input::source) struct MemberReader {
    place: Arc<Place>,
    cursor: Option<Cursor>,
}

impl Read for MemberReader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match &mut self.cursor {
            Some(cursor) => {
                let read = cursor.members.read(out);
                // The position after an error is unknown.
                if read
                    .as_ref()
                    .is_err_and(|error| error.kind() != io::ErrorKind::Interrupted)
                {
                    self.cursor = None;
                }
                read
            }
            None => Ok(0),
        }
    }
}

impl Drop for MemberReader {
    fn drop(&mut self) {
        let mut slot = self
            .place
            .cursor
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *slot = self.cursor.take();
    }
}

/// Sources, with archives replaced by their members.
#[derive(Debug, Default)]
pub(crate) struct TakenApart {
    pub(crate) sources: Vec<Source>,
    /// Notes on omitted members, with the reasons; a sentence each.
    pub(crate) notes: Vec<String>,
}

/// Replaces archives by their members: in the order of the archive, without folders, links, hidden and empty files.
/// Sources that cannot be read twice stay unchanged.
///
/// # Errors
/// `Limit` for too many members, `Unavailable` if storage does not answer, or if an archive was replaced while its
/// members were listed and there is no other source.
pub(crate) fn take_apart(
    sources: Vec<Source>,
    max_expansion: u64,
) -> Result<TakenApart, BuildError> {
    let mut taken = TakenApart::default();
    let decoding = Decoding {
        max_expansion,
        is_text: true,
    };
    let mut replaced = None;
    for source in sources {
        let listed = match opened(&source, decoding) {
            Ok(Some(cursor)) => list(source, cursor, decoding, &mut taken),
            Ok(None) => {
                taken.sources.push(source);
                Ok(())
            }
            Err(error) => Err(error),
        };
        match listed {
            Err(error) if error.is_of_replaced_input() => {
                taken.notes.push(error.to_string());
                replaced.get_or_insert(error);
            }
            listed => listed?,
        }
    }
    match replaced {
        Some(error) if taken.sources.is_empty() => Err(error),
        _ => Ok(taken),
    }
}

/// Opens an archive; `None` for any other source, whatever is wrong with it.
fn opened(source: &Source, decoding: Decoding) -> Result<Option<Cursor>, BuildError> {
    let Some(again) = source.again().filter(Source::may_be_archive) else {
        return Ok(None);
    };
    match again.decoded(Arc::default(), decoding) {
        Ok(decoded) => Ok(Cursor::new(decoded)),
        Err(error) if error.kind() == ErrorKind::Unavailable => Err(error),
        // The error is reported when the source is read.
        Err(_) => Ok(None),
    }
}

/// Members of an archive, as they are found.
struct Listing<'a> {
    place: &'a Arc<Place>,
    members: Vec<ArchiveMember>,
    num_left_out: u64,
    /// How often each name was found.
    names: BTreeMap<String, usize>,
    notes: &'a mut Vec<String>,
}

impl Listing<'_> {
    /// Takes a member, or leaves it out.
    ///
    /// # Errors
    /// `Invalid` if it shows that the archive is a document; `Limit` for too many members.
    fn take(&mut self, ord: usize, found: Found) -> Result<(), BuildError> {
        let name = self.place.archive.name();
        if let Some((_, what)) = NO_ARCHIVES
            .iter()
            .find(|(first, _)| ord == 0 && *first == found.name)
        {
            return Err(BuildError::invalid(format!(
                "`{name}` cannot be read: it is {what}"
            )));
        }
        if let Some(why) = &found.unreadable {
            self.notes.push(format!(
                "`{name}`: its member `{}` is left out, because {why}",
                found.name
            ));
            return Ok(());
        }
        if !found.is_file || is_hidden(&found.name) || found.num_bytes == Some(0) {
            self.num_left_out += 1;
            return Ok(());
        }
        if self.members.len() == MAX_MEMBERS {
            return Err(BuildError::limit(format!(
                "`{name}` has more than {MAX_MEMBERS} members: unpack it and name its files"
            )));
        }
        let num_before = self.names.entry(found.name.clone()).or_default();
        *num_before += 1;
        let member_name = match *num_before {
            1 => found.name,
            num => format!("{}#{num}", found.name),
        };
        self.members.push(ArchiveMember {
            place: Arc::clone(self.place),
            ord,
            name: member_name.into(),
            modified: found.modified,
            is_first: self.members.is_empty(),
            is_last: false,
        });
        Ok(())
    }
}

fn list(
    archive: Source,
    mut cursor: Cursor,
    decoding: Decoding,
    taken: &mut TakenApart,
) -> Result<(), BuildError> {
    let place = Arc::new(Place {
        archive,
        decoding,
        cursor: Mutex::new(None),
    });
    let name = place.archive.name();
    let mut listing = Listing {
        place: &place,
        members: Vec::new(),
        num_left_out: 0,
        names: BTreeMap::new(),
        notes: &mut taken.notes,
    };
    for ord in 0.. {
        match cursor.members.next_member() {
            Ok(Some(found)) => listing.take(ord, found)?,
            Ok(None) => break,
            Err(error) => {
                let error = match store_failure(error) {
                    Ok(failure) => return Err(failure),
                    Err(error) => error,
                };
                listing.notes.push(format!(
                    "`{name}` is damaged behind its {ord}. member ({error}): what stands before is ingested"
                ));
                break;
            }
        }
    }
    let Listing {
        mut members,
        num_left_out,
        notes,
        ..
    } = listing;
    if num_left_out > 0 {
        notes.push(format!(
            "`{name}`: {num_left_out} members are left out: folders, links, devices, hidden and empty files"
        ));
    }
    if members.is_empty() {
        notes.push(format!("`{name}` holds no file that could be read"));
    }
    if let Some(last) = members.last_mut() {
        last.is_last = true;
    }
    let members = members.into_iter().map(Source::member);
    taken.sources.extend(members);
    Ok(())
}

/// Returns whether a name begins with a dot, or is one that macOS adds to archives.
fn is_hidden(name: &str) -> bool {
    let mut parts = name
        .split('/')
        .filter(|part| !part.is_empty() && *part != "." && *part != "..");
    name.starts_with("__MACOSX/") || parts.any(|part| part.starts_with('.'))
}
