//! Writing of a field: its terms in order, and for each term its documents in order.
//!
//! The log is in the order of documents. A pass over it distributes the occurrences of a range of terms to their lists; as
//! many terms are in a range as fit a small part of the memory that the log takes. The fixed words of shapes need no pass:
//! their documents are those of their shapes.

use std::io;
use std::ops::Range;

use tantivy::postings::FieldSerializer;

use crate::field::{FieldTerms, Kind};
use crate::fixed::Fixed;
use crate::json::{JsonTerms, PATH_LEN};
use crate::words::Words;

/// Number of occurrences that a pass distributes if the log has less than four times as many; otherwise a quarter of them.
const MIN_PASS: u64 = 1 << 20;

/// Where a term occurs.
#[derive(Clone, Copy, Default)]
pub(crate) struct Place {
    pub(crate) doc: u32,
    pub(crate) position: u32,
}

/// Writes a field of this many documents.
pub(crate) fn write_field(
    mut field: FieldTerms,
    num_docs: u32,
    mut out: FieldSerializer<'_>,
) -> io::Result<()> {
    field.words.close();
    field.shapes.close();
    let sorted = sorted_terms(&field);
    let mut ranks = vec![0_u32; sorted.len()];
    for (rank, term) in (0..).zip(&sorted) {
        ranks[*term as usize] = rank;
    }
    let mut lists = Lists {
        fixed: Fixed::new(&field, &ranks, num_docs),
        field: &field,
        key: Vec::new(),
        deltas: Vec::new(),
    };
    let num_all: u64 = sorted
        .iter()
        .map(|term| u64::from(field.words.num(*term)))
        .sum();
    let mut passes = Passes {
        field: &field,
        ranks: &ranks,
        max_places: (num_all / 4).max(MIN_PASS),
        places: Vec::new(),
        ends: Vec::new(),
    };
    let mut first = 0;
    while first < sorted.len() {
        let range = passes.distribute(&sorted, first);
        let mut start = 0;
        for (rank, end) in range.clone().zip(&passes.ends) {
            let end = *end as usize;
            let places = &passes.places[start..end];
            lists.write(sorted[rank], rank as u32, places, &mut out)?;
            start = end;
        }
        first = range.end;
    }
    out.close()
}

/// Returns the terms in the order of their keys in the segment.
fn sorted_terms(field: &FieldTerms) -> Vec<u32> {
    let words = &field.words;
    match &field.kind {
        Kind::Json(json) => {
            let places = json.places();
            let path = |term| places[JsonTerms::path_of(words.key(term)) as usize];
            sorted_by(
                words.len(),
                |term| (path(term), first_bytes(&words.key(term)[PATH_LEN..])),
                |term| &words.key(term)[PATH_LEN..],
            )
        }
        _ => {
            // IPv4 addresses, for example, have twelve bytes in common.
            let common = common_prefix_len(words);
            sorted_by(
                words.len(),
                |term| first_bytes(&words.key(term)[common..]),
                |term| words.key(term),
            )
        }
    }
}

/// Returns the number of bytes with which all keys begin.
fn common_prefix_len(words: &Words) -> usize {
    let num_terms = u32::try_from(words.len()).unwrap_or(u32::MAX);
    let mut keys = (0..num_terms).map(|term| words.key(term));
    let mut common = keys.next().unwrap_or_default();
    for key in keys {
        let len = common
            .iter()
            .zip(key)
            .take_while(|(one, other)| one == other);
        common = &common[..len.count()];
        if common.is_empty() {
            break;
        }
    }
    common.len()
}

/// Sorts terms by a short part of their keys, and by the rest where that is not enough.
fn sorted_by<'k, P: Ord + Copy>(
    num_terms: usize,
    short: impl Fn(u32) -> P,
    whole: impl Fn(u32) -> &'k [u8],
) -> Vec<u32> {
    let num_terms = u32::try_from(num_terms).unwrap_or(u32::MAX);
    let mut terms: Vec<(P, u32)> = (0..num_terms).map(|term| (short(term), term)).collect();
    terms.sort_unstable_by(|(one_short, one), (other_short, other)| {
        let order = one_short.cmp(other_short);
        order.then_with(|| whole(*one).cmp(whole(*other)))
    });
    terms.into_iter().map(|(_, term)| term).collect()
}

/// Returns the first eight bytes of a key as a number in the same order.
fn first_bytes(key: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    let len = key.len().min(8);
    bytes[..len].copy_from_slice(&key[..len]);
    u64::from_be_bytes(bytes)
}

/// Distribution of the log, a range of terms at a time.
struct Passes<'f> {
    field: &'f FieldTerms,
    ranks: &'f [u32],
    max_places: u64,
    places: Vec<Place>,
    /// The end of each term's places.
    ends: Vec<u32>,
}

impl Passes<'_> {
    /// Distributes the occurrences of the terms from this one on; returns their range.
    fn distribute(&mut self, sorted: &[u32], first: usize) -> Range<usize> {
        self.ends.clear();
        let mut num_places = 0_u32;
        for term in &sorted[first..] {
            let num = self.field.words.num(*term);
            let sum = u64::from(num_places) + u64::from(num);
            if sum > self.max_places && !self.ends.is_empty() {
                break;
            }
            // Where the next place of the term is; its end when all are there.
            self.ends.push(num_places);
            num_places += num;
        }
        self.places.clear();
        self.places.resize(num_places as usize, Place::default());
        let (ends, places, ranks) = (&mut self.ends, &mut self.places, self.ranks);
        if num_places > 0 {
            let log = &self.field.log;
            log.for_each(&self.field.shapes, |doc, term, position| {
                let rank = (ranks[term as usize] as usize).wrapping_sub(first);
                if let Some(next) = ends.get_mut(rank) {
                    places[*next as usize] = Place { doc, position };
                    *next += 1;
                }
            });
        }
        first..first + ends.len()
    }
}

/// Writer of lists.
struct Lists<'f> {
    field: &'f FieldTerms,
    fixed: Fixed,
    key: Vec<u8>,
    deltas: Vec<u32>,
}

impl Lists<'_> {
    /// Writes a term with its places, in addition to those in shapes.
    fn write(
        &mut self,
        term: u32,
        rank: u32,
        places: &[Place],
        out: &mut FieldSerializer<'_>,
    ) -> io::Result<()> {
        let key = self.field.words.key(term);
        let record = self.field.record;
        let mut has_freq = record.has_freq();
        let key = match &self.field.kind {
            Kind::Json(json) => {
                has_freq &= JsonTerms::is_text(key);
                self.key.clear();
                json.write_key(key, &mut self.key);
                &self.key
            }
            _ => key,
        };
        let has_positions = has_freq && record.has_positions();
        let deltas = &mut self.deltas;
        let mut write_places = |places: &[Place], out: &mut FieldSerializer<'_>| {
            let Some(first) = places.first() else { return };
            deltas.clear();
            if has_positions {
                let mut last = 0;
                for place in places {
                    deltas.push(place.position.wrapping_sub(last));
                    last = place.position;
                }
            }
            let freq = u32::try_from(places.len()).unwrap_or(u32::MAX);
            out.write_doc(first.doc, if has_freq { freq } else { 0 }, deltas);
        };
        let by_doc = || places.chunk_by(|one, other| one.doc == other.doc);
        let in_shapes = self.fixed.of_term(rank);
        let num_explicit = match has_freq {
            true => by_doc().count() as u32,
            false => 0,
        };
        out.new_term(key, num_explicit + in_shapes.num_docs(), has_freq)?;
        let mut explicit = by_doc().peekable();
        in_shapes.for_each_doc(places, |doc, shape_deltas| match shape_deltas {
            Some(shape_deltas) => {
                let freq = if has_freq {
                    shape_deltas.len() as u32
                } else {
                    0
                };
                let shape_deltas = if has_positions { shape_deltas } else { &[] };
                out.write_doc(doc, freq, shape_deltas);
            }
            None => write_places(explicit.next().unwrap_or_default(), out),
        });
        out.close_term()
    }
}
