//! Number of distinct values in each bucket.

use datasketches::hll::Coupon;
use tantivy::columnar::ColumnType;

use crate::Result;
use crate::collect::block::{Block, Docs, Groups};
use crate::collect::budget::{Budget, Taken};
use crate::collect::field::{Column, Field, RowRoom, Rows, without_value};
use crate::collect::metrics::{arrange, grow};
use crate::collect::{Collect, Places};
use crate::key::Key;
use crate::partial::{Cardinality, Metric, Metrics, Node};

/// Maximum number of bits for the values of one column, in all buckets together: 4 MiB.
const MAX_BITS: usize = 1 << 25;

/// Number of distinct values in each bucket.
pub(in crate::collect) struct Distinct {
    field: Field,
    /// Values seen in each column.
    seen: Vec<Seen>,
    missing: Option<Key>,
    states: Vec<Cardinality>,
    taken: Taken,
    rows: RowRoom,
    codes: Vec<u64>,
    counts: Vec<u64>,
}

/// Values of one column that were seen.
enum Seen {
    /// One bit for each raw value in each bucket.
    Bits { width: usize, words: Vec<u64> },
    /// Coupons of all terms of a text column, by ordinal.
    Coupons(Vec<Coupon>),
    /// Values are added to the sketch immediately.
    Direct,
}

impl Distinct {
    pub(in crate::collect) fn new(
        field: Field,
        missing: Option<Key>,
        is_top: bool,
    ) -> Result<Self> {
        // Below other buckets, bits are used only if they are few for each bucket.
        let most_bits = if is_top { MAX_BITS } else { 4096 };
        let seen = field.columns.iter().map(|column| -> Result<Seen> {
            let width = column
                .values
                .num_raw()
                .and_then(|width| usize::try_from(width).ok());
            match width.filter(|width| *width <= most_bits) {
                Some(width) => Ok(Seen::Bits {
                    width: width.next_multiple_of(64),
                    words: Vec::new(),
                }),
                None if column.column_type == ColumnType::Str => {
                    let codes: Vec<u64> = (0..=column.values.max()).collect();
                    let keys = column.keys(&codes)?;
                    Ok(Seen::Coupons(keys.iter().map(coupon).collect()))
                }
                None => Ok(Seen::Direct),
            }
        });
        Ok(Self {
            seen: seen.collect::<Result<_>>()?,
            field,
            missing,
            states: Vec::new(),
            taken: Taken::default(),
            rows: RowRoom::default(),
            codes: Vec::new(),
            counts: Vec::new(),
        })
    }
}

/// Returns the coupon of a value: the same for an integer and an equal floating-point number.
fn coupon(key: &Key) -> Coupon {
    match key {
        Key::Number(number) => match number.as_whole() {
            Some(integer) => Coupon::from_value((1u8, integer)),
            None => Coupon::from_value((2u8, number.to_f64().to_bits())),
        },
        Key::Bool(flag) => Coupon::from_value((3u8, *flag)),
        Key::Date(time_ns) => Coupon::from_value((4u8, *time_ns)),
        Key::Text(text) => Coupon::from_value(text.as_bytes()),
        Key::Address(address) => Coupon::from_value((5u8, *address)),
        Key::Place(_) | Key::Interval(_) | Key::Tuple(_) => Coupon::from_value(0u8),
    }
}

fn coupon_of(column: &Column, code: u64) -> Result<Option<Coupon>> {
    Ok(column.keys(&[code])?.first().map(coupon))
}

impl Collect for Distinct {
    fn collect(&mut self, block: Block<'_>, budget: &Budget) -> Result<()> {
        let Self {
            field,
            seen,
            missing,
            states,
            taken,
            rows: room,
            codes,
            counts,
        } = self;
        grow(states, block.groups, taken, budget)?;
        for (column, seen) in field.columns.iter().zip(seen) {
            let rows = column.rows_alone(block, room);
            let too_many = matches!(seen, Seen::Bits { width, .. } if states.len().saturating_mul(*width) > MAX_BITS);
            if too_many {
                flush(column, seen, states)?;
                *seen = Seen::Direct;
            }
            match seen {
                Seen::Bits { width, words } => {
                    words.resize(states.len().saturating_mul(*width / 64), 0);
                    set_bits(column, &rows, *width / 64, words, (codes, counts))?;
                }
                Seen::Coupons(coupons) => {
                    column.codes(rows.rows, codes)?;
                    for (place, code) in codes.iter().enumerate() {
                        let ord = usize::try_from(*code).unwrap_or(usize::MAX);
                        let state = states.get_mut(rows.groups.at(place) as usize);
                        if let (Some(state), Some(coupon)) = (state, coupons.get(ord)) {
                            state.add(*coupon);
                        }
                    }
                }
                Seen::Direct => {
                    column.codes(rows.rows, codes)?;
                    let mut last = None;
                    for (place, code) in codes.iter().enumerate() {
                        let group = rows.groups.at(place);
                        if last == Some((group, *code)) {
                            continue;
                        }
                        last = Some((group, *code));
                        let state = states.get_mut(group as usize);
                        if let (Some(state), Some(coupon)) = (state, coupon_of(column, *code)?) {
                            state.add(coupon);
                        }
                    }
                }
            }
        }
        if let Some(missing) = missing {
            let (mut docs, mut groups) = (Vec::new(), Vec::new());
            without_value(&field.columns, block, &mut docs, &mut groups);
            for group in groups {
                if let Some(state) = states.get_mut(group as usize) {
                    state.add(coupon(missing));
                }
            }
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>, places: Places<'_>, _: &Budget) -> Result<Node> {
        for (column, seen) in self.field.columns.iter().zip(&self.seen) {
            flush(column, seen, &mut self.states)?;
        }
        Ok(Node::Metric(Metric {
            is_date: false,
            states: Metrics::Cardinalities(arrange(self.states, places)),
        }))
    }
}

/// Sets the bits of the values of rows, in the words of their buckets.
fn set_bits(
    column: &Column,
    rows: &Rows<'_>,
    num_words: usize,
    words: &mut [u64],
    (codes, counts): (&mut Vec<u64>, &mut Vec<u64>),
) -> Result<()> {
    let counted = column.values.num_counted();
    let counted = counted.filter(|num_raw| *num_raw <= rows.rows.len());
    if let (Groups::One(group), Some(num_raw)) = (rows.groups, counted) {
        counts.clear();
        counts.resize(num_raw, 0);
        match rows.rows {
            Docs::Range(first, end) => column.values.count_raw(first..end, counts)?,
            Docs::List(list) => column.values.count_raw_at(list, counts)?,
        }
        let first = (group as usize).saturating_mul(num_words);
        let row = words.get_mut(first..).unwrap_or_default();
        for (word, counts) in row.iter_mut().zip(counts.chunks(64)) {
            for (bit, count) in counts.iter().enumerate() {
                *word |= u64::from(*count > 0) << bit;
            }
        }
        return Ok(());
    }
    column.codes(rows.rows, codes)?;
    column.values.to_raw(codes);
    for (place, raw) in codes.iter().enumerate() {
        let first = (rows.groups.at(place) as usize) * num_words;
        let word = usize::try_from(raw / 64).unwrap_or(usize::MAX);
        if let Some(word) = words.get_mut(first.saturating_add(word)) {
            *word |= 1 << (raw % 64);
        }
    }
    Ok(())
}

/// Adds the values recorded as bits to the sketches.
fn flush(column: &Column, seen: &Seen, states: &mut [Cardinality]) -> Result<()> {
    let Seen::Bits { width, words } = seen else {
        return Ok(());
    };
    let num_words = (*width / 64).max(1);
    // The union over all buckets, so that each value is looked up once.
    let mut any = vec![0u64; num_words];
    for row in words.chunks_exact(num_words) {
        any.iter_mut().zip(row).for_each(|(any, word)| *any |= word);
    }
    let (min, gcd) = (column.values.raw_min(), column.values.raw_gcd());
    let code_of = |raw: u64| min.wrapping_add(raw.wrapping_mul(gcd));
    let raws: Vec<u64> = bits_of(&any).collect();
    let codes: Vec<u64> = raws.iter().map(|raw| code_of(*raw)).collect();
    let coupons: Vec<Coupon> = column.keys(&codes)?.iter().map(coupon).collect();
    for (state, row) in states.iter_mut().zip(words.chunks_exact(num_words)) {
        for raw in bits_of(row) {
            let coupon = raws
                .binary_search(&raw)
                .ok()
                .and_then(|place| coupons.get(place));
            if let Some(coupon) = coupon {
                state.add(*coupon);
            }
        }
    }
    Ok(())
}

fn bits_of(words: &[u64]) -> impl Iterator<Item = u64> + '_ {
    words.iter().enumerate().flat_map(|(place, word)| {
        let mut rest = *word;
        std::iter::from_fn(move || {
            let bit = u64::from(rest.trailing_zeros());
            rest &= rest.wrapping_sub(1);
            (bit < 64).then_some(place as u64 * 64 + bit)
        })
    })
}
