//! Which buckets a document is in: from values to codes, and from codes to keys.

use std::ops::RangeInclusive;

use tantivy::columnar::{ColumnType, MonotonicallyMappableToU64};

use super::block::{Block, Docs, Groups};
use super::build::BitSet;
use super::field::{Column, Field, RowRoom, without_value};
use crate::Result;
use crate::calendar::Rounding;
use crate::key::Key;
use crate::request::MAX_BUCKET_PLACE;

/// Documents with the codes of their buckets, as many as there are codes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mapped<'a> {
    pub(super) docs: Docs<'a>,
    pub(super) groups: Groups<'a>,
    pub(super) codes: &'a [u64],
}

/// Takes what was mapped of one column: its place, and the documents.
pub(super) type Each<'f> = &'f mut dyn FnMut(usize, Mapped<'_>) -> Result<()>;

/// Says which buckets documents are in. Codes are those of one of several columns.
pub(super) trait Mapping {
    /// For each column, the number below which all its codes are, if that is known.
    fn num_codes(&self) -> Vec<Option<u64>>;

    /// For each column of texts whose terms are its codes, how many it has; 0 for others.
    fn num_terms(&self) -> Vec<u64> {
        Vec::new()
    }

    /// Passes on the documents of a block; a document that is in several buckets comes several times, but never
    /// twice with one code.
    fn map(&mut self, block: Block<'_>, each: Each<'_>) -> Result<()>;

    /// The keys of ascending codes of one column, one for each; nothing is the key of a missing value.
    fn keys(&self, column: usize, codes: &[u64]) -> Result<Vec<Option<Key>>>;
}

/// From the value of a column to a code.
pub(super) enum ToCode {
    /// A bucket for each value.
    Value,
    /// The intervals of a histogram: those within the bounds.
    Interval {
        interval: f64,
        offset: f64,
        bounds: Option<(f64, f64)>,
    },
    /// The buckets of dates within the bounds.
    Date {
        rounding: Rounding,
        bounds: Option<(i64, i64)>,
    },
}

/// Buckets by the values of a field.
pub(super) struct ByValue {
    field: Field,
    to_code: ToCode,
    /// The key of documents that have no value, if there is such a bucket.
    missing: Option<Option<Key>>,
    room: Room,
}

#[derive(Default)]
struct Room {
    rows: RowRoom,
    docs: Vec<u32>,
    groups: Vec<u32>,
    codes: Vec<u64>,
}

impl ByValue {
    pub(super) fn new(field: Field, to_code: ToCode, missing: Option<Option<Key>>) -> Self {
        Self {
            field,
            to_code,
            missing,
            room: Room::default(),
        }
    }

    /// The one column, if codes are its raw values and every document has at most one.
    pub(super) fn only_raw(&self) -> Option<&Column> {
        match (&self.to_code, self.field.columns.as_slice(), &self.missing) {
            (ToCode::Value, [column], None) if !column.is_multivalued() => Some(column),
            _ => None,
        }
    }
}

impl Mapping for ByValue {
    fn num_terms(&self) -> Vec<u64> {
        let of_columns = self.field.columns.iter().map(|column| {
            let is_text = column.column_type == ColumnType::Str;
            let is_text = is_text && matches!(self.to_code, ToCode::Value);
            column
                .values
                .num_raw()
                .filter(|_| is_text)
                .unwrap_or_default()
        });
        of_columns.collect()
    }

    fn num_codes(&self) -> Vec<Option<u64>> {
        let of_columns = self.field.columns.iter().map(|column| match self.to_code {
            ToCode::Value => column.values.num_raw(),
            _ => None,
        });
        of_columns.chain([Some(1)]).collect()
    }

    fn map(&mut self, block: Block<'_>, each: Each<'_>) -> Result<()> {
        let Room {
            rows,
            docs,
            groups,
            codes,
        } = &mut self.room;
        for (place, column) in self.field.columns.iter().enumerate() {
            let rows = column.rows(block, rows);
            column.codes(rows.rows, codes)?;
            let is_partial = to_codes(column, &self.to_code, codes);
            if !is_partial && !column.is_multivalued() {
                let mapped = Mapped {
                    docs: rows.docs,
                    groups: rows.groups,
                    codes,
                };
                each(place, mapped)?;
                continue;
            }
            keep_once(rows.docs, rows.groups, docs, groups, codes, is_partial);
            let mapped = Mapped {
                docs: Docs::List(docs),
                groups: Groups::Each(groups),
                codes,
            };
            each(place, mapped)?;
        }
        if self.missing.is_some() {
            without_value(&self.field.columns, block, docs, groups);
            codes.clear();
            codes.resize(docs.len(), 0);
            let mapped = Mapped {
                docs: Docs::List(docs),
                groups: Groups::Each(groups),
                codes,
            };
            each(self.field.columns.len(), mapped)?;
        }
        Ok(())
    }

    fn keys(&self, column: usize, codes: &[u64]) -> Result<Vec<Option<Key>>> {
        let Some(column) = self.field.columns.get(column) else {
            let key = self.missing.clone().flatten();
            return Ok(vec![key; codes.len()]);
        };
        Ok(match &self.to_code {
            ToCode::Value => {
                let (min, gcd) = (column.values.raw_min(), column.values.raw_gcd());
                let of_raw = |raw: &u64| min.wrapping_add(raw.wrapping_mul(gcd));
                let codes: Vec<u64> = codes.iter().map(of_raw).collect();
                column.keys(&codes)?.into_iter().map(Some).collect()
            }
            ToCode::Interval { .. } => codes
                .iter()
                .map(|code| Some(Key::Interval(i64::from_u64(*code))))
                .collect(),
            ToCode::Date { .. } => codes
                .iter()
                .map(|code| Some(Key::Date(i64::from_u64(*code))))
                .collect(),
        })
    }
}

/// What stands for a value that is in no bucket.
const NO_BUCKET: u64 = u64::MAX;

/// Turns the codes of a column into those of buckets, [`NO_BUCKET`] among them if it returns `true`.
fn to_codes(column: &Column, to_code: &ToCode, codes: &mut [u64]) -> bool {
    match to_code {
        ToCode::Value => {
            column.values.to_raw(codes);
            false
        }
        ToCode::Interval {
            interval,
            offset,
            bounds,
        } => {
            for code in codes.iter_mut() {
                let value = column.number(*code);
                let is_in = bounds.is_none_or(|(first, last)| first <= value && value <= last);
                *code = match is_in {
                    true => place_of(value, *interval, *offset).to_u64(),
                    false => NO_BUCKET,
                };
            }
            bounds.is_some()
        }
        ToCode::Date { rounding, bounds } => {
            let mut cursor = rounding.cursor();
            for code in codes.iter_mut() {
                let time_ns = i64::from_u64(*code);
                let is_in = bounds.is_none_or(|(first, last)| first <= time_ns && time_ns <= last);
                *code = match is_in {
                    true => cursor.start_of(time_ns).to_u64(),
                    false => NO_BUCKET,
                };
            }
            bounds.is_some()
        }
    }
}

/// Which interval a value is in, counted from the offset.
pub(super) fn place_of(value: f64, interval: f64, offset: f64) -> i64 {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the columns were checked to stay within the range"
    )]
    let place = ((value - offset) / interval).floor() as i64;
    place
}

/// Leaves out values that are in no bucket, and those that put a document into a bucket again.
fn keep_once(
    docs: Docs<'_>,
    groups: Groups<'_>,
    kept_docs: &mut Vec<u32>,
    kept_groups: &mut Vec<u32>,
    codes: &mut Vec<u64>,
    has_none: bool,
) {
    kept_docs.clear();
    kept_groups.clear();
    let mut kept_codes = 0;
    // Where the codes of the document, in its bucket around, begin.
    let mut begin = 0;
    let mut last = None;
    for (place, doc) in docs.into_iter().enumerate() {
        let group = groups.at(place);
        let Some(code) = codes.get(place).copied() else {
            break;
        };
        if last != Some((doc, group)) {
            last = Some((doc, group));
            begin = kept_codes;
        }
        let is_known = codes
            .get(begin..kept_codes)
            .is_some_and(|known| known.contains(&code));
        if is_known || has_none && code == NO_BUCKET {
            continue;
        }
        if let Some(slot) = codes.get_mut(kept_codes) {
            *slot = code;
        }
        kept_codes += 1;
        kept_docs.push(doc);
        kept_groups.push(group);
    }
    codes.truncate(kept_codes);
}

/// Buckets that are ranges of values.
pub(super) struct ByRange {
    field: Field,
    /// For each column and each range, its first code and its last.
    codes: Vec<Vec<Option<RangeInclusive<u64>>>>,
    /// The ranges that documents without a value are in.
    missing: Vec<bool>,
    room: Room,
}

impl ByRange {
    /// Each range is from a key that is included to one that is not.
    pub(super) fn new(
        field: Field,
        ranges: &[(Option<Key>, Option<Key>)],
        missing: Option<&Key>,
    ) -> Result<Self> {
        let is_in = |(from, to): &(Option<Key>, Option<Key>), key: &Key| {
            from.as_ref().is_none_or(|from| key >= from) && to.as_ref().is_none_or(|to| key < to)
        };
        let mut codes = Vec::with_capacity(field.columns.len());
        for column in &field.columns {
            let of_range =
                |(from, to): &(Option<Key>, Option<Key>)| -> Result<Option<RangeInclusive<u64>>> {
                    let Some(first) = first_code(column, from.as_ref())? else {
                        return Ok(None);
                    };
                    let beyond = match to {
                        None => None,
                        Some(to) => first_code(column, Some(to))?,
                    };
                    Ok(match beyond {
                        None => Some(first..=column.values.max()),
                        Some(beyond) if first < beyond => Some(first..=beyond - 1),
                        Some(_) => None,
                    })
                };
            codes.push(ranges.iter().map(of_range).collect::<Result<_>>()?);
        }
        Ok(Self {
            field,
            codes,
            missing: ranges
                .iter()
                .map(|range| missing.is_some_and(|missing| is_in(range, missing)))
                .collect(),
            room: Room::default(),
        })
    }
}

/// The smallest code of a column's range whose key is not below this one; `None` if all are below.
fn first_code(column: &Column, bound: Option<&Key>) -> Result<Option<u64>> {
    let Some(bound) = bound else {
        return Ok(Some(column.values.min()));
    };
    let (mut low, mut high) = (column.values.min(), column.values.max());
    let is_below = |code: u64| -> Result<bool> {
        let keys = column.keys(&[code])?;
        Ok(keys.first().is_some_and(|key| key < bound))
    };
    if is_below(high)? {
        return Ok(None);
    }
    while low < high {
        let middle = low + (high - low) / 2;
        match is_below(middle)? {
            true => low = middle + 1,
            false => high = middle,
        }
    }
    Ok(Some(low))
}

impl Mapping for ByRange {
    fn num_codes(&self) -> Vec<Option<u64>> {
        vec![Some(1); self.missing.len()]
    }

    fn map(&mut self, block: Block<'_>, each: Each<'_>) -> Result<()> {
        let Room {
            rows: room,
            docs,
            groups,
            codes,
        } = &mut self.room;
        let mut values: Vec<u64> = Vec::new();
        for (column, ranges) in self.field.columns.iter().zip(&self.codes) {
            let rows = column.rows(block, room);
            column.codes(rows.rows, &mut values)?;
            for (place, range) in ranges.iter().enumerate() {
                let Some(range) = range else {
                    continue;
                };
                docs.clear();
                groups.clear();
                let mut last = None;
                let pairs = rows.docs.into_iter().zip(&values).enumerate();
                for (at, (doc, value)) in pairs {
                    let group = rows.groups.at(at);
                    if range.contains(value) && last != Some((doc, group)) {
                        last = Some((doc, group));
                        docs.push(doc);
                        groups.push(group);
                    }
                }
                pass_on(place, docs, groups, codes, each)?;
            }
        }
        if self.missing.contains(&true) {
            without_value(&self.field.columns, block, docs, groups);
            for (place, is_in) in self.missing.iter().enumerate() {
                if *is_in {
                    pass_on(place, docs, groups, codes, each)?;
                }
            }
        }
        Ok(())
    }

    fn keys(&self, column: usize, codes: &[u64]) -> Result<Vec<Option<Key>>> {
        Ok(place_keys(column, codes))
    }
}

/// Passes on documents that are all in the bucket of one column.
fn pass_on(
    place: usize,
    docs: &[u32],
    groups: &[u32],
    codes: &mut Vec<u64>,
    each: Each<'_>,
) -> Result<()> {
    if docs.is_empty() {
        return Ok(());
    }
    codes.clear();
    codes.resize(docs.len(), 0);
    let mapped = Mapped {
        docs: Docs::List(docs),
        groups: Groups::Each(groups),
        codes,
    };
    each(place, mapped)
}

fn place_keys(column: usize, codes: &[u64]) -> Vec<Option<Key>> {
    let key = Key::Place(u32::try_from(column).unwrap_or(u32::MAX));
    vec![Some(key); codes.len()]
}

/// Buckets of what queries match.
pub(super) struct ByFilter {
    pub(super) filters: Vec<BitSet>,
    /// Whether what none of them matches has a bucket.
    pub(super) has_other: bool,
}

impl Mapping for ByFilter {
    fn num_codes(&self) -> Vec<Option<u64>> {
        vec![Some(1); self.filters.len() + usize::from(self.has_other)]
    }

    fn map(&mut self, block: Block<'_>, each: Each<'_>) -> Result<()> {
        let (mut docs, mut groups, mut codes) = (Vec::new(), Vec::new(), Vec::new());
        for (place, filter) in self.filters.iter().enumerate() {
            docs.clear();
            groups.clear();
            for (doc, group) in block.pairs().filter(|(doc, _)| filter.contains(*doc)) {
                docs.push(doc);
                groups.push(group);
            }
            pass_on(place, &docs, &groups, &mut codes, each)?;
        }
        if self.has_other {
            docs.clear();
            groups.clear();
            let is_other = |doc: u32| !self.filters.iter().any(|filter| filter.contains(doc));
            for (doc, group) in block.pairs().filter(|(doc, _)| is_other(*doc)) {
                docs.push(doc);
                groups.push(group);
            }
            pass_on(self.filters.len(), &docs, &groups, &mut codes, each)?;
        }
        Ok(())
    }

    fn keys(&self, column: usize, codes: &[u64]) -> Result<Vec<Option<Key>>> {
        Ok(place_keys(column, codes))
    }
}

/// One bucket, of the documents that have no value.
pub(super) struct ByMissing {
    pub(super) field: Field,
}

impl Mapping for ByMissing {
    fn num_codes(&self) -> Vec<Option<u64>> {
        vec![Some(1)]
    }

    fn map(&mut self, block: Block<'_>, each: Each<'_>) -> Result<()> {
        let (mut docs, mut groups) = (Vec::new(), Vec::new());
        without_value(&self.field.columns, block, &mut docs, &mut groups);
        pass_on(0, &docs, &groups, &mut Vec::new(), each)
    }

    fn keys(&self, column: usize, codes: &[u64]) -> Result<Vec<Option<Key>>> {
        Ok(place_keys(column, codes))
    }
}

/// Whether a column's values put documents into the buckets of a histogram of numbers.
pub(super) fn is_histogram_value(column_type: ColumnType, is_date: bool) -> bool {
    match is_date {
        true => column_type == ColumnType::DateTime,
        false => super::field::is_number(column_type),
    }
}

/// Checks that floating point numbers tell the intervals of a histogram over these values apart.
pub(super) fn check_places(path: &str, field: &Field, interval: f64) -> Result<()> {
    let place = |column: &Column, code: u64| (column.number(code) / interval).abs();
    let is_too_far = field.columns.iter().any(|column| {
        let (min, max) = (column.values.min(), column.values.max());
        place(column, min).max(place(column, max)) > MAX_BUCKET_PLACE
    });
    match is_too_far {
        true => Err(crate::Error::invalid(
            path,
            "interval: this is too small for the values that the field has",
        )),
        false => Ok(()),
    }
}
