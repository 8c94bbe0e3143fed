//! Metrics of each bucket: numbers, texts and first documents.

mod distinct;
mod hdr;
mod nothing;
mod places;
mod strings;
mod top;
mod weighted;

pub(in crate::collect) use distinct::Distinct;
pub(in crate::collect) use hdr::Hdr;
pub(in crate::collect) use nothing::Nothing;
pub(in crate::collect) use places::OfPlaces;
pub(in crate::collect) use strings::Strings;
pub(in crate::collect) use top::{Scores, Top, TopOf};
pub(in crate::collect) use weighted::Weighted;

use tantivy::columnar::{ColumnType, MonotonicallyMappableToU64};

use crate::Result;
use crate::collect::block::{Block, Docs, Groups};
use crate::collect::budget::{Budget, Taken};
use crate::collect::field::{Column, Field, RowRoom, Rows, keep_once, without_value};
use crate::collect::{Collect, Places};
use crate::key::Key;
use crate::numbers::{ExtendedStats, Number, QuantileSketch, Stats};
use crate::partial::{Merge, Metric, Metrics, Node};

/// Number of rows decoded at once: the result fits the L1 cache.
const ROWS_AT_ONCE: usize = 4096;

/// State of one bucket, to which values are added.
pub(in crate::collect) trait State: Merge + Clone {
    /// Adds the values of rows, given as codes of the column.
    fn add_codes(&mut self, column: &Column, codes: &[u64], room: &mut Vec<f64>);

    /// Adds values with their numbers of occurrences, given as codes of the column.
    fn add_counted(&mut self, column: &Column, counted: impl Iterator<Item = (u64, u64)>);

    /// Adds the substitute for missing values of `num_docs` documents.
    fn add_missing(&mut self, key: &Key, num_docs: u64);

    fn wrap(states: Vec<Self>) -> Metrics;
}

/// Metric of one field.
pub(in crate::collect) struct OfField<S> {
    field: Field,
    missing: Option<Key>,
    states: Vec<S>,
    taken: Taken,
    room: Room,
}

#[derive(Default)]
struct Room {
    rows: RowRoom,
    codes: Vec<u64>,
    numbers: Vec<f64>,
    docs: Vec<u32>,
    groups: Vec<u32>,
    counts: Vec<u64>,
}

/// Minimum number of rows for each raw value of a column at which a block is counted before it is
/// added.
const ROWS_PER_COUNT: usize = 8;

impl<S: State> OfField<S> {
    pub(in crate::collect) fn new(field: Field, missing: Option<Key>) -> Self {
        Self {
            field,
            missing,
            states: Vec::new(),
            taken: Taken::default(),
            room: Room::default(),
        }
    }
}

/// Adds states for all buckets of a block.
pub(in crate::collect) fn grow<S: Default + Clone>(
    states: &mut Vec<S>,
    groups: Groups<'_>,
    taken: &mut Taken,
    budget: &Budget,
) -> Result<()> {
    let last = match groups {
        Groups::One(group) => group,
        Groups::Each(groups) => groups.iter().max().copied().unwrap_or_default(),
    };
    let num_states = (last as usize).saturating_add(1);
    if num_states > states.len() {
        taken.grow_to(num_states.saturating_mul(size_of::<S>().max(32)), budget)?;
        states.resize(num_states, S::default());
    }
    Ok(())
}

/// Returns the states, ordered by their positions in the partial result.
pub(in crate::collect) fn arrange<S: Merge>(states: Vec<S>, places: Places<'_>) -> Vec<S> {
    let mut arranged: Vec<S> = std::iter::repeat_with(S::default)
        .take(places.len)
        .collect();
    for (ord, state) in states.into_iter().enumerate() {
        let place = places.at(u32::try_from(ord).unwrap_or(u32::MAX));
        if let Some(slot) = place.and_then(|place| arranged.get_mut(place as usize)) {
            slot.merge(state);
        }
    }
    arranged
}

impl<S: State> Collect for OfField<S> {
    fn collect(&mut self, block: Block<'_>, budget: &Budget) -> Result<()> {
        let Self {
            field,
            missing,
            states,
            taken,
            room,
        } = self;
        grow(states, block.groups, taken, budget)?;
        for column in &field.columns {
            if column.repeats_in_sets() {
                let rows = column.rows(block, &mut room.rows);
                column.codes(rows.rows, &mut room.codes)?;
                keep_once(
                    rows,
                    &mut room.docs,
                    &mut room.groups,
                    &mut room.codes,
                    None,
                );
                let groups = Groups::Each(&room.groups);
                add_groups(states, column, groups, &room.codes, &mut room.numbers);
                continue;
            }
            let rows = column.rows_alone(block, &mut room.rows);
            if add_counts(column, rows, states, &mut room.counts)? {
                continue;
            }
            let mut from = 0;
            while from < rows.rows.len() {
                let (part, groups) = part_of(rows.rows, rows.groups, from);
                column.codes(part, &mut room.codes)?;
                add_groups(states, column, groups, &room.codes, &mut room.numbers);
                from += ROWS_AT_ONCE;
            }
        }
        if let Some(missing) = missing {
            without_value(&field.columns, block, &mut room.docs, &mut room.groups);
            for group in &room.groups {
                if let Some(state) = states.get_mut(*group as usize) {
                    state.add_missing(missing, 1);
                }
            }
        }
        Ok(())
    }

    fn finish(self: Box<Self>, places: Places<'_>, _: &Budget) -> Result<Node> {
        let columns = &self.field.columns;
        Ok(Node::Metric(Metric {
            is_date: columns
                .iter()
                .any(|column| column.column_type == ColumnType::DateTime),
            states: S::wrap(arrange(self.states, places)),
        }))
    }
}

/// Adds the values of a column with few distinct ones by counting. Returns `false` if that is
/// slower.
fn add_counts<S: State>(
    column: &Column,
    rows: Rows<'_>,
    states: &mut [S],
    counts: &mut Vec<u64>,
) -> Result<bool> {
    let (Groups::One(group), Some(num_raw)) = (rows.groups, column.values.num_counted()) else {
        return Ok(false);
    };
    let Some(state) = states.get_mut(group as usize) else {
        return Ok(false);
    };
    if rows.rows.len() / ROWS_PER_COUNT < num_raw {
        return Ok(false);
    }
    counts.clear();
    counts.resize(num_raw, 0);
    match rows.rows {
        Docs::Range(first, end) => column.values.count_raw(first..end, counts)?,
        Docs::List(list) => column.values.count_raw_at(list, counts)?,
    }
    let (min, gcd) = (column.values.raw_min(), column.values.raw_gcd());
    let code = |raw: u64| min.wrapping_add(raw.wrapping_mul(gcd));
    let found = (0u64..).zip(counts.iter()).filter(|(_, count)| **count > 0);
    state.add_counted(column, found.map(|(raw, count)| (code(raw), *count)));
    Ok(true)
}

/// Returns up to [`ROWS_AT_ONCE`] rows from a position, and their buckets.
fn part_of<'a>(rows: Docs<'a>, groups: Groups<'a>, from: usize) -> (Docs<'a>, Groups<'a>) {
    let end = from.saturating_add(ROWS_AT_ONCE).min(rows.len());
    let part = match rows {
        Docs::Range(first, _) => {
            let at = |place: usize| first.saturating_add(u32::try_from(place).unwrap_or(u32::MAX));
            Docs::Range(at(from), at(end))
        }
        Docs::List(list) => Docs::List(list.get(from..end).unwrap_or_default()),
    };
    let groups = match groups {
        Groups::One(group) => Groups::One(group),
        Groups::Each(groups) => Groups::Each(groups.get(from..end).unwrap_or_default()),
    };
    (part, groups)
}

/// Adds values to the states of their buckets, in runs of the same bucket.
fn add_groups<S: State>(
    states: &mut [S],
    column: &Column,
    groups: Groups<'_>,
    codes: &[u64],
    room: &mut Vec<f64>,
) {
    let groups = match groups {
        Groups::One(group) => {
            if let Some(state) = states.get_mut(group as usize) {
                state.add_codes(column, codes, room);
            }
            return;
        }
        Groups::Each(groups) => groups,
    };
    let mut rest = codes;
    for same in groups.chunk_by(|left, right| left == right) {
        let (of_group, others) = rest.split_at_checked(same.len()).unwrap_or((rest, &[]));
        rest = others;
        let state = same
            .first()
            .and_then(|group| states.get_mut(*group as usize));
        if let Some(state) = state {
            state.add_codes(column, of_group, room);
        }
    }
}

fn as_numbers(column: &Column, codes: &[u64], numbers: &mut Vec<f64>) {
    numbers.clear();
    numbers.extend(codes.iter().map(|code| column.number(*code)));
}

/// Returns sum, minimum and maximum of codes that are ordered like their values.
fn of_codes(codes: &[u64]) -> (u128, u64, u64) {
    let (mut low, mut high) = (0u64, 0u64);
    let (mut min, mut max) = (u64::MAX, 0u64);
    // Sums of half words, so that no sum of a block overflows.
    for code in codes {
        low = low.wrapping_add(code & 0xffff_ffff);
        high = high.wrapping_add(code >> 32);
        min = min.min(*code);
        max = max.max(*code);
    }
    ((u128::from(high) << 32) + u128::from(low), min, max)
}

/// Returns the integer for a code of an integer column.
fn integer(column_type: ColumnType, code: u64) -> i128 {
    match column_type {
        ColumnType::I64 => i128::from(i64::from_u64(code)),
        _ => i128::from(code),
    }
}

/// Returns the number for a code of a column.
fn number(column: &Column, code: u64) -> Number {
    match is_integer(column.column_type) {
        true => Number::Integer(integer(column.column_type, code)),
        false => Number::from(column.number(code)),
    }
}

fn is_integer(column_type: ColumnType) -> bool {
    matches!(
        column_type,
        ColumnType::U64 | ColumnType::I64 | ColumnType::Bool
    )
}

impl State for Stats {
    fn add_codes(&mut self, column: &Column, codes: &[u64], room: &mut Vec<f64>) {
        if codes.is_empty() {
            return;
        }
        if !is_integer(column.column_type) {
            as_numbers(column, codes, room);
            self.extend_f64(room);
            return;
        }
        let (sum, min, max) = of_codes(codes);
        let count = codes.len() as u64;
        // Codes of signed integers exceed their values by the code of 0.
        let zero = match column.column_type {
            ColumnType::I64 => i128::from(0i64.to_u64()),
            _ => 0,
        };
        let sum = i128::try_from(sum).unwrap_or(i128::MAX) - zero * i128::from(count);
        let end = |code: u64| integer(column.column_type, code);
        self.add_integers(count, sum, end(min), end(max));
    }

    fn add_counted(&mut self, column: &Column, counted: impl Iterator<Item = (u64, u64)>) {
        for (code, count) in counted {
            self.add_repeated(number(column, code), count);
        }
    }

    fn add_missing(&mut self, key: &Key, num_docs: u64) {
        if let Some(number) = number_of(key) {
            self.add_repeated(number, num_docs);
        }
    }

    fn wrap(states: Vec<Self>) -> Metrics {
        Metrics::Stats(states)
    }
}

/// Returns the number that replaces a missing value; milliseconds for a date.
fn number_of(key: &Key) -> Option<Number> {
    match key {
        Key::Number(number) => Some(*number),
        Key::Text(text) => text
            .parse::<f64>()
            .ok()
            .filter(|n| n.is_finite())
            .map(Number::from),
        _ => None,
    }
}

impl State for ExtendedStats {
    fn add_codes(&mut self, column: &Column, codes: &[u64], room: &mut Vec<f64>) {
        match column.column_type {
            ColumnType::U64 | ColumnType::Bool => self.extend_u64(codes),
            ColumnType::I64 => {
                let values: Vec<i64> = codes.iter().map(|code| i64::from_u64(*code)).collect();
                self.extend_i64(&values);
            }
            _ => {
                as_numbers(column, codes, room);
                self.extend_f64(room);
            }
        }
    }

    fn add_counted(&mut self, column: &Column, counted: impl Iterator<Item = (u64, u64)>) {
        for (code, count) in counted {
            self.add_repeated(number(column, code), count);
        }
    }

    fn add_missing(&mut self, key: &Key, num_docs: u64) {
        if let Some(number) = number_of(key) {
            self.add_repeated(number, num_docs);
        }
    }

    fn wrap(states: Vec<Self>) -> Metrics {
        Metrics::ExtendedStats(states)
    }
}

impl State for QuantileSketch {
    fn add_codes(&mut self, column: &Column, codes: &[u64], room: &mut Vec<f64>) {
        as_numbers(column, codes, room);
        self.extend(room);
    }

    fn add_counted(&mut self, column: &Column, counted: impl Iterator<Item = (u64, u64)>) {
        for (code, count) in counted {
            self.add_repeated(column.number(code), count);
        }
    }

    fn add_missing(&mut self, key: &Key, num_docs: u64) {
        if let Some(number) = number_of(key) {
            self.add_repeated(number.to_f64(), num_docs);
        }
    }

    fn wrap(states: Vec<Self>) -> Metrics {
        Metrics::Quantiles(states)
    }
}

/// Counts the values of any type.
impl State for u64 {
    fn add_codes(&mut self, _: &Column, codes: &[u64], _: &mut Vec<f64>) {
        *self += codes.len() as u64;
    }

    fn add_counted(&mut self, _: &Column, counted: impl Iterator<Item = (u64, u64)>) {
        *self += counted.map(|(_, count)| count).sum::<u64>();
    }

    fn add_missing(&mut self, _: &Key, num_docs: u64) {
        *self += num_docs;
    }

    fn wrap(states: Vec<Self>) -> Metrics {
        Metrics::Counts(states)
    }
}
