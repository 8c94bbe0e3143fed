//! Entries of a page: the data of splits in a manifest, in fewer bytes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::PageSplit;
use super::reference::PageRef;
use super::reference::{read_tags, read_time_range, write_tags, write_time_range};
use crate::FormatError;
use crate::codec::{Reader, Writer};
use crate::manifest::{DeletesRef, SplitEntry};
use crate::summaries::{FilterPlace, FilterScope, MAX_GROUPS, read_scope, write_scope};
use crate::version::{PAGE_NAME, id_bytes, id_of_bytes};

/// Number of a split's documents with each value, for fields with few values.
pub type Totals = BTreeMap<String, BTreeMap<String, u64>>;

/// Location of a head in a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackedHead {
    /// Name of the page's object.
    pub object: String,
    /// First byte of the head, from the start of that object.
    pub offset: u64,
}

/// Split of a page.
#[derive(Clone, Debug, PartialEq)]
pub struct PagedSplit {
    /// Entry of the split.
    pub entry: SplitEntry,
    /// Location of its head, if the page has it.
    pub head: Option<PackedHead>,
    /// Number of documents with each value of the fields that its head rolls up.
    pub totals: Totals,
    /// Location of its filter, if it has one.
    pub filter: Option<FilterPlace>,
}

/// Minimum length of an entry in bytes.
const MIN_ENTRY_LEN: usize = 35;

/// Encodes entries, with the offsets of their packed heads, and the groups of their filters.
pub(super) fn write(
    splits: &[PageSplit],
    head_offsets: &[Option<u64>],
    group_ords: &[Option<u32>],
) -> Result<Vec<u8>, FormatError> {
    let mut out = Writer::default();
    let filters = splits.iter().filter_map(|split| split.filter.as_ref());
    let scopes: BTreeSet<&FilterScope> =
        canter_sorting::set_of(filters.map(|filter| filter.scope()));
    out.varint(scopes.len() as u64);
    for scope in &scopes {
        write_scope(scope, &mut out);
    }
    out.varint(splits.len() as u64);
    let group_ords = group_ords.iter().copied().chain(std::iter::repeat(None));
    let places = head_offsets.iter().zip(group_ords);
    for (split, (head_offset, group_ord)) in splits.iter().zip(places) {
        // All fields are named, so that a new one is noticed here.
        let SplitEntry {
            id,
            len,
            head_len,
            head_checksum,
            // For a manifest with inlined heads.
            head_offset: _,
            num_docs,
            raw_num_bytes,
            time_range,
            tags,
            num_merge_ops,
            deletes,
        } = &split.entry;
        out.raw(&id_bytes(id)?);
        out.varint(*len);
        out.varint(*head_len);
        out.u64(*head_checksum);
        out.varint(head_offset.map_or(0, |offset| offset.saturating_add(1)));
        out.varint(*num_docs);
        out.varint(*raw_num_bytes);
        write_time_range(*time_range, &mut out);
        write_tags(tags, &mut out);
        write_totals(&split.totals, &mut out);
        out.varint(*num_merge_ops);
        write_deletes(deletes.as_ref(), &mut out)?;
        let scope = split.filter.as_ref().map(|filter| filter.scope());
        let scope_ord = scope.and_then(|wanted| scopes.iter().position(|scope| *scope == wanted));
        match scope_ord.zip(group_ord) {
            None => out.varint(0),
            Some((scope_ord, group_ord)) => {
                out.varint(scope_ord as u64 + 1);
                out.varint(u64::from(group_ord));
            }
        }
    }
    Ok(out.into_bytes())
}

pub(super) fn open(bytes: &[u8], page: &PageRef) -> Result<Vec<PagedSplit>, FormatError> {
    let mut reader = Reader::new(PAGE_NAME, bytes);
    let num_scopes = reader.count(2)?;
    let scopes = (0..num_scopes).map(|_| read_scope(&mut reader).map(Arc::new));
    let scopes = scopes.collect::<Result<Vec<_>, FormatError>>()?;
    // Number of splits of each group so far.
    let mut columns = vec![0_u64; MAX_GROUPS];
    let num_splits = reader.count(MIN_ENTRY_LEN)?;
    let mut splits = Vec::with_capacity(num_splits);
    for _ in 0..num_splits {
        let id = id_of_bytes(reader.array()?);
        let (len, head_len) = (reader.varint()?, reader.varint()?);
        let head_checksum = reader.u64()?;
        let head = reader.varint()?.checked_sub(1).map(|offset| PackedHead {
            object: page.object(),
            offset: page.entries.end().saturating_add(offset),
        });
        let mut split = PagedSplit {
            entry: SplitEntry {
                id,
                len,
                head_len,
                head_checksum,
                head_offset: None,
                num_docs: reader.varint()?,
                raw_num_bytes: reader.varint()?,
                time_range: read_time_range(&mut reader)?,
                tags: read_tags(&mut reader)?,
                num_merge_ops: 0,
                deletes: None,
            },
            head,
            totals: read_totals(&mut reader)?,
            filter: None,
        };
        split.entry.num_merge_ops = reader.varint()?;
        split.entry.deletes = read_deletes(&mut reader)?;
        split.filter = read_filter_place(&mut reader, &scopes, &mut columns)?;
        splits.push(split);
    }
    reader.finish()?;
    Ok(splits)
}

/// Reads 0 for none; else the index of its scope plus one, and its group.
fn read_filter_place(
    reader: &mut Reader<'_>,
    scopes: &[Arc<FilterScope>],
    columns: &mut [u64],
) -> Result<Option<FilterPlace>, FormatError> {
    let Some(scope_ord) = reader.varint()?.checked_sub(1) else {
        return Ok(None);
    };
    let group_ord = reader.varint_u32()?;
    let scope = usize::try_from(scope_ord)
        .ok()
        .and_then(|ord| scopes.get(ord));
    let next = usize::try_from(group_ord)
        .ok()
        .and_then(|ord| columns.get_mut(ord));
    let Some((scope, next)) = scope.zip(next) else {
        return Err(reader.error("a split has its filter where none can be"));
    };
    let column = *next;
    *next += 1;
    Ok(Some(FilterPlace {
        group_ord,
        column,
        scope: Arc::clone(scope),
    }))
}

/// Writes 0 for none; else 1 without the bytes, or 2 with them.
fn write_deletes(deletes: Option<&DeletesRef>, out: &mut Writer) -> Result<(), FormatError> {
    let Some(deletes) = deletes else {
        out.varint(0);
        return Ok(());
    };
    out.varint(match deletes.inlined {
        None => 1,
        Some(_) => 2,
    });
    out.raw(&id_bytes(&deletes.id)?);
    out.varint(deletes.num_docs);
    out.varint(deletes.len);
    if let Some(bytes) = &deletes.inlined {
        out.bytes(bytes);
    }
    Ok(())
}

fn read_deletes(reader: &mut Reader<'_>) -> Result<Option<DeletesRef>, FormatError> {
    let form = reader.varint()?;
    if form == 0 {
        return Ok(None);
    }
    Ok(Some(DeletesRef {
        id: id_of_bytes(reader.array()?),
        num_docs: reader.varint()?,
        len: reader.varint()?,
        inlined: match form {
            1 => None,
            2 => Some(reader.bytes()?.to_vec()),
            _ => return Err(reader.error("deleted documents are in a form that is not known")),
        },
    }))
}

fn write_totals(totals: &Totals, out: &mut Writer) {
    out.varint(totals.len() as u64);
    for (field, counts) in totals {
        out.bytes(field.as_bytes());
        out.varint(counts.len() as u64);
        for (value, count) in counts {
            out.bytes(value.as_bytes());
            out.varint(*count);
        }
    }
}

fn read_totals(reader: &mut Reader<'_>) -> Result<Totals, FormatError> {
    let num_fields = reader.count(2)?;
    let mut totals = BTreeMap::new();
    for _ in 0..num_fields {
        let field = reader.string()?.to_owned();
        let num_values = reader.count(2)?;
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for _ in 0..num_values {
            counts.insert(reader.string()?.to_owned(), reader.varint()?);
        }
        totals.insert(field, counts);
    }
    Ok(totals)
}
