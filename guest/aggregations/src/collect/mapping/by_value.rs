//! Buckets by the values of a field: one for each value, or for each interval of values.

use canter_geo::{CellBounds, Grid};
use tantivy::columnar::{ColumnType, MonotonicallyMappableToU64};

use super::super::block::{Block, Docs, Groups};
use super::super::field::{Column, Field, is_number, keep_once, without_value};
use super::by_range::first_code;
use super::{Each, Mapped, Mapping, Room};
use crate::Result;
use crate::calendar::Rounding;
use crate::key::Key;
use crate::numbers::Number;
use crate::request::MAX_BUCKET_PLACE;

/// Conversion of a column's values to codes.
pub(in crate::collect) enum ToCode {
    /// One bucket for each value.
    Value,
    /// Intervals of a histogram, within the bounds.
    Interval {
        interval: f64,
        offset: f64,
        bounds: Option<(f64, f64)>,
    },
    /// Date buckets, within the bounds.
    Date {
        rounding: Rounding,
        bounds: Option<(i64, i64)>,
    },
    /// Cells of a grid, within the bounds.
    Cell {
        grid: Grid,
        bounds: Option<CellBounds>,
    },
}

/// Buckets by the values of a field.
pub(in crate::collect) struct ByValue {
    field: Field,
    to_code: ToCode,
    /// Key of documents without a value, if they have a bucket.
    missing: Option<Option<Key>>,
    room: Room,
}

impl ByValue {
    pub(in crate::collect) fn new(
        field: Field,
        to_code: ToCode,
        missing: Option<Option<Key>>,
    ) -> Self {
        Self {
            field,
            to_code,
            missing,
            room: Room::default(),
        }
    }

    /// Returns the smallest code whose key is not below `key`, and whether the keys are equal;
    /// `None` if all are below. For a field with several columns, the result applies to the first
    /// of them.
    pub(in crate::collect) fn first_code(&self, key: &Key) -> Result<Option<(u64, bool)>> {
        match (&self.to_code, key) {
            (ToCode::Interval { .. }, Key::Interval(place)) => Ok(Some((place.to_u64(), true))),
            (ToCode::Date { .. }, Key::Date(start_ns)) => Ok(Some((start_ns.to_u64(), true))),
            _ => {
                let Some(column) = self.field.columns.first() else {
                    return Ok(None);
                };
                let Some(code) = first_code(column, Some(key))? else {
                    return Ok(None);
                };
                // Of the two floating-point zeros, a column contains the second.
                let next = code.saturating_add(1);
                let is_float = column.column_type == ColumnType::F64;
                let code = match is_float && column.keys(&[next])?.first() == Some(key) {
                    true => next,
                    false => code,
                };
                let (min, gcd) = (column.values.raw_min(), column.values.raw_gcd().max(1));
                // The column has no values between two of its codes.
                let raw = code.saturating_sub(min).div_ceil(gcd);
                let code = min.saturating_add(raw.saturating_mul(gcd));
                let is_same = column.keys(&[code])?.first() == Some(key);
                Ok(Some((raw, is_same)))
            }
        }
    }

    /// Returns the only column, if its codes are raw values and each document has at most one.
    pub(in crate::collect) fn only_raw(&self) -> Option<&Column> {
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
            keep_once(rows, docs, groups, codes, is_partial.then_some(NO_BUCKET));
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
            ToCode::Cell { grid, .. } => codes
                .iter()
                .map(|cell| Some(Key::Number(Number::Integer(grid.number(*cell).into()))))
                .collect(),
        })
    }
}

/// Code of a value outside of all buckets.
const NO_BUCKET: u64 = u64::MAX;

/// Converts the codes of a column to those of buckets. Returns `true` if they may contain
/// [`NO_BUCKET`].
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
        ToCode::Cell { grid, bounds } => {
            for code in codes.iter_mut() {
                let cell = grid.cell(*code);
                let is_in = bounds.as_ref();
                let is_in = is_in.is_none_or(|bounds| grid.is_within(cell, bounds));
                *code = if is_in { cell } else { NO_BUCKET };
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

/// Returns the interval of a value, counted from the offset.
pub(in crate::collect) fn place_of(value: f64, interval: f64, offset: f64) -> i64 {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "saturates far outside the range, which columns were checked to stay within where they may be looked at"
    )]
    let place = ((value - offset) / interval).floor() as i64;
    place
}

/// Returns whether values of this type belong to the buckets of a histogram.
pub(in crate::collect) fn is_histogram_value(column_type: ColumnType, is_date: bool) -> bool {
    match is_date {
        true => column_type == ColumnType::DateTime,
        false => is_number(column_type),
    }
}

/// Checks that floating-point numbers can distinguish the intervals of a histogram over these
/// values.
pub(in crate::collect) fn check_places(path: &str, field: &Field, interval: f64) -> Result<()> {
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
