//! Date histogram whose interval is chosen from the times in the documents.
//!
//! The interval of an answer is known only when all splits are merged. Until then, each parent
//! bucket keeps the smallest unit that does not make far too many buckets, and moves to the next
//! larger one when it does:
//!
//! ```text
//!   time ──▶ its second ──▶ the minute of that ──▶ the hour of that ──▶ …
//!            └ kept first   └ kept when there are too many seconds
//! ```
//!
//! A time always passes through all units in turn. The result is therefore the same whether steps
//! happen here or when partial results are merged, and however documents are divided among splits.

use tantivy::columnar::MonotonicallyMappableToU64;

use crate::calendar::RoundingCursor;
use crate::collect::block::{Block, Docs};
use crate::collect::budget::{Budget, Taken};
use crate::collect::field::{Field, RowRoom, without_value};
use crate::collect::grouping::NONE;
use crate::collect::metrics::grow;
use crate::collect::table::{Found, Table, to_node};
use crate::collect::{Collect, Places};
use crate::key::Key;
use crate::partial::Node;
use crate::request::{AutoDateHistogram, start_through};
use crate::{Error, Result};

/// Date histogram whose interval is chosen from the times in the documents.
pub(in crate::collect) struct AutoDates {
    field: Field,
    request: AutoDateHistogram,
    /// State of each parent bucket.
    spans: Vec<Span>,
    /// Buckets, with one column for each unit.
    table: Table,
    inside: Vec<Box<dyn Collect>>,
    taken: Taken,
    room: Room,
}

/// Unit that a parent bucket keeps, and its first and last start.
#[derive(Clone, Copy, Debug, Default)]
struct Span {
    rung: usize,
    ends: Option<(i64, i64)>,
}

#[derive(Default)]
struct Room {
    rows: RowRoom,
    codes: Vec<u64>,
    docs: Vec<u32>,
    groups: Vec<u32>,
    times: Vec<i64>,
    ords: Vec<u32>,
}

impl AutoDates {
    pub(in crate::collect) fn new(
        path: &str,
        request: &AutoDateHistogram,
        field: Field,
        may_have_several: bool,
        inside: Vec<Box<dyn Collect>>,
    ) -> Result<Self> {
        // A document with two times should count once in a bucket with both, but that is known too
        // late.
        let has_several =
            field.columns.len() > 1 || field.columns.iter().any(|column| column.is_multivalued());
        if has_several || may_have_several {
            let name = &request.source.field;
            let what = format!(
                "the field {name:?} may have several values in a document: use date_histogram with an interval"
            );
            return Err(Error::invalid(path, &what));
        }
        Ok(Self {
            field,
            table: Table::new(request.rungs.iter().map(|_| None)),
            request: request.clone(),
            spans: Vec::new(),
            inside,
            taken: Taken::default(),
            room: Room::default(),
        })
    }

    /// Adds the documents whose times are in the scratch space.
    fn add(&mut self, budget: &Budget) -> Result<()> {
        let Self {
            request,
            spans,
            table,
            room,
            ..
        } = self;
        let mut cursors: Vec<RoundingCursor<'_>> = request
            .rungs
            .iter()
            .map(|rung| rung.rounding.cursor())
            .collect();
        room.ords.clear();
        for (time_ns, group) in room.times.iter().zip(&room.groups) {
            let Some(span) = spans.get_mut(*group as usize) else {
                room.ords.push(NONE);
                continue;
            };
            let mut start_ns = *time_ns;
            for cursor in cursors.iter_mut().take(span.rung.saturating_add(1)) {
                start_ns = cursor.start_of(start_ns);
            }
            room.ords
                .push(table.ord(span.rung, *group, start_ns.to_u64()));
            span.add(start_ns, request);
        }
        table.take(budget)?;
        table.count(&room.ords);
        for inside in &mut self.inside {
            inside.collect(Block::of_each(Docs::List(&room.docs), &room.ords), budget)?;
        }
        Ok(())
    }
}

impl Span {
    /// Adds a start of the current unit, and moves to the next unit while there are certainly too
    /// many buckets between the ends.
    fn add(&mut self, start_ns: i64, request: &AutoDateHistogram) {
        let ends = self.ends.map_or((start_ns, start_ns), |(first, last)| {
            (first.min(start_ns), last.max(start_ns))
        });
        if self.ends == Some(ends) {
            return;
        }
        self.ends = Some(ends);
        while let Some((first, last)) = self.ends
            && let [rung, next, ..] = request.rungs.get(self.rung..).unwrap_or_default()
        {
            let most = i64::try_from(request.most_units(rung)).unwrap_or(i64::MAX);
            if last.saturating_sub(first) / rung.longest_ns <= most {
                break;
            }
            self.rung += 1;
            let start_of = |time_ns| next.rounding.start_of(time_ns);
            self.ends = Some((start_of(first), start_of(last)));
        }
    }
}

impl Collect for AutoDates {
    fn collect(&mut self, block: Block<'_>, budget: &Budget) -> Result<()> {
        grow(&mut self.spans, block.groups, &mut self.taken, budget)?;
        if let Some(column) = self.field.columns.first() {
            let Room {
                rows,
                codes,
                docs,
                groups,
                times,
                ..
            } = &mut self.room;
            let rows = column.rows(block, rows);
            column.codes(rows.rows, codes)?;
            times.clear();
            times.extend(codes.iter().map(|code| i64::from_u64(*code)));
            docs.clear();
            docs.extend(rows.docs);
            groups.clear();
            groups.extend((0..times.len()).map(|place| rows.groups.at(place)));
            self.add(budget)?;
        }
        if let Some(Key::Date(missing_ns)) = &self.request.source.missing {
            let Room {
                docs,
                groups,
                times,
                ..
            } = &mut self.room;
            without_value(&self.field.columns, block, docs, groups);
            times.clear();
            times.resize(docs.len(), *missing_ns);
            self.add(budget)?;
        }
        Ok(())
    }

    fn finish(self: Box<Self>, places: Places<'_>, budget: &Budget) -> Result<Node> {
        // Merged parent buckets get the larger of their units.
        let mut rungs: Vec<usize> = vec![0; places.len];
        for (group, span) in (0u32..).zip(&self.spans) {
            let place = places.at(group).map(|place| place as usize);
            if let Some(rung) = place.and_then(|place| rungs.get_mut(place)) {
                *rung = span.rung.max(*rung);
            }
        }
        let table = &self.table;
        let num_ords = table.counts.len();
        let mut starts: Vec<(usize, i64)> = Vec::with_capacity(num_ords);
        let mut kept: Vec<(u32, u32, u64)> = Vec::with_capacity(num_ords);
        budget.take(num_ords.saturating_mul(size_of::<(usize, i64)>() * 2))?;
        for (ord, parent) in (0u32..).zip(&table.parents) {
            let at = ord as usize;
            let (Some(place), Some(column), Some(code), Some(count)) = (
                places.at(*parent),
                table.columns.get(at),
                table.codes.get(at),
                table.counts.get(at),
            ) else {
                continue;
            };
            let rung = rungs.get(place as usize).copied().unwrap_or_default();
            let steps = usize::from(*column).saturating_add(1)..rung.saturating_add(1);
            let start_ns = start_through(&self.request.rungs, steps, i64::from_u64(*code));
            starts.push((rung, start_ns));
            kept.push((place, ord, *count));
        }
        let mut sorted = starts.clone();
        canter_sorting::sort(&mut sorted);
        sorted.dedup();
        let found = kept
            .into_iter()
            .zip(starts)
            .map(|((parent, ord, count), start)| {
                let key = sorted.partition_point(|other| *other < start);
                Found {
                    parent,
                    key: u32::try_from(key).unwrap_or(NONE),
                    ord,
                    count,
                }
            });
        let found = found.collect();
        let key = |(rung, start_ns): (usize, i64)| {
            let rung = u32::try_from(rung).unwrap_or(NONE);
            Key::Tuple(vec![Some(Key::Place(rung)), Some(Key::Date(start_ns))])
        };
        let keys = sorted.into_iter().map(key).collect();
        to_node(found, keys, num_ords, self.inside, places, budget, false)
    }
}
