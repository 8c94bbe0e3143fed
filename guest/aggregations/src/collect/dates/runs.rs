//! Date histogram over the field by which documents are sorted: each bucket is a range of
//! documents, found from the time index or by a few reads of the column.

use std::ops::Range;

use canter_split_format::TimeIndex;
use tantivy::TantivyError;
use tantivy::columnar::MonotonicallyMappableToU64;

use super::known::Run;
use crate::Result;
use crate::calendar::Rounding;
use crate::collect::block::{Block, Docs, Groups};
use crate::collect::budget::Budget;
use crate::collect::field::Column;
use crate::collect::grouping::NONE;
use crate::collect::keyed::{TermChoice, all_keys, found_in};
use crate::collect::table::{Table, to_node};
use crate::collect::{Collect, Places, Ranked};
use crate::key::Key;
use crate::partial::Node;

/// Minimum length of a range that is passed on alone. Shorter ones are batched, since a call for
/// each would cost more than its documents.
const SHORT_RUN: usize = 64;
/// Number of consecutive short ranges after which more are expected.
const MOST_SHORT_RUNS: u32 = 4;

/// Date histogram over the field by which documents are sorted.
pub(in crate::collect) struct Runs {
    ends: Ends,
    table: Table,
    inside: Vec<Box<dyn Collect>>,
    current: Run,
    room: Room,
}

/// Source of the ends of runs.
pub(in crate::collect) enum Ends {
    /// All runs, in the order of documents.
    Known(Vec<Run>),
    /// Searched in the column.
    InColumn(Box<Times>),
}

/// Column by which documents are sorted, and its rounding to buckets.
pub(in crate::collect) struct Times {
    /// Column with exactly one value for each document, ascending.
    pub(in crate::collect) column: Column,
    pub(in crate::collect) rounding: Rounding,
    /// First and last time that are counted.
    pub(in crate::collect) bounds: Option<(i64, i64)>,
    /// Index that narrows the search for a time.
    pub(in crate::collect) index: Option<TimeIndex>,
}

#[derive(Default)]
struct Room {
    docs: Vec<u32>,
    ords: Vec<u32>,
}

impl Times {
    fn time_of(&self, doc: u32) -> Result<i64> {
        Ok(i64::from_u64(self.column.code_at(doc)?))
    }

    /// Returns the first document, counted from `from`, whose time is not before `time_ns`. The
    /// time index bounds the search, which reads only values in between.
    fn first_at(&self, from: u32, time_ns: i64) -> Result<u32> {
        let num_rows = self.column.values.num_rows();
        let (mut low, mut high) = (from, num_rows.max(from));
        if let Some(index) = &self.index {
            let within = index.first_doc_at_or_after(time_ns);
            low = within.start.clamp(low, high);
            high = within.end.saturating_sub(1).clamp(low, high);
        }
        // All documents from `from` to before `low` are earlier; `high` and all later ones are not.
        while low < high {
            let middle = low + (high - low) / 2;
            match self.time_of(middle)? >= time_ns {
                true => high = middle,
                false => low = middle + 1,
            }
        }
        Ok(high)
    }

    /// Returns the run that begins with a document.
    fn run_of(&self, doc: u32) -> Result<Run> {
        let time_ns = self.time_of(doc)?;
        let start_ns = self.rounding.start_of(time_ns);
        let next_ns = self.rounding.next(start_ns);
        let end = match next_ns > time_ns {
            true => self.first_at(doc, next_ns)?,
            false => doc + 1,
        };
        let run = Run {
            first: doc,
            end: end.max(doc + 1),
            start_ns,
            is_in: true,
        };
        match self.bounds {
            None => Ok(run),
            Some(bounds) => self.cut(run, bounds),
        }
    }

    /// Cuts a run to its first part that is entirely within or outside of the bounds.
    fn cut(&self, run: Run, (first_ns, last_ns): (i64, i64)) -> Result<Run> {
        let time_ns = self.time_of(run.first)?;
        let (is_in, until_ns) = match time_ns {
            time_ns if time_ns < first_ns => (false, Some(first_ns)),
            time_ns if time_ns <= last_ns => (true, last_ns.checked_add(1)),
            _ => (false, None),
        };
        let end = match until_ns {
            Some(until_ns) => self.first_at(run.first, until_ns)?,
            None => run.end,
        };
        Ok(Run {
            end: run.end.min(end.max(run.first + 1)),
            is_in,
            ..run
        })
    }
}

impl Runs {
    pub(in crate::collect) fn new(ends: Ends, inside: Vec<Box<dyn Collect>>) -> Self {
        Self {
            ends,
            table: Table::new([None].into_iter()),
            inside,
            current: Run {
                first: 0,
                end: 0,
                start_ns: 0,
                is_in: false,
            },
            room: Room::default(),
        }
    }

    /// Returns the run that contains a document.
    fn run_of(&mut self, doc: u32) -> Result<Run> {
        if !(self.current.first..self.current.end).contains(&doc) {
            self.current = match &self.ends {
                Ends::Known(runs) => {
                    let before = runs.partition_point(|run| run.end <= doc);
                    let run = runs.get(before).filter(|run| run.first <= doc);
                    *run.ok_or_else(beyond_the_index)?
                }
                Ends::InColumn(times) => times.run_of(doc)?,
            };
        }
        Ok(self.current)
    }

    /// Collects the documents of one parent bucket, as ranges or parts of the list.
    fn collect_one(&mut self, docs: Docs<'_>, group: u32, budget: &Budget) -> Result<()> {
        let mut rest = docs;
        let mut num_short = 0;
        while let Some(first) = rest.into_iter().next() {
            let run = self.run_of(first)?;
            let (part, others) = split_at_doc(rest, run.end);
            num_short = if part.len() < SHORT_RUN {
                num_short + 1
            } else {
                0
            };
            if num_short > MOST_SHORT_RUNS && !self.inside.is_empty() {
                return self.collect_each(Block::of_one(rest, group), budget);
            }
            rest = others;
            if !run.is_in {
                continue;
            }
            let ord = self.ord(group, run, budget)?;
            self.table.count_many(ord, part.len() as u64);
            for inside in &mut self.inside {
                inside.collect(Block::of_one(part, ord), budget)?;
            }
        }
        Ok(())
    }

    fn ord(&mut self, group: u32, run: Run, budget: &Budget) -> Result<u32> {
        let ord = self.table.ord(0, group, run.start_ns.to_u64());
        self.table.take(budget)?;
        Ok(ord)
    }

    /// Collects documents with a bucket for each.
    fn collect_each(&mut self, block: Block<'_>, budget: &Budget) -> Result<()> {
        let mut docs = std::mem::take(&mut self.room.docs);
        let mut ords = std::mem::take(&mut self.room.ords);
        docs.clear();
        ords.clear();
        let mut last = (NONE, 0, NONE);
        for (doc, group) in block.pairs() {
            let run = self.run_of(doc)?;
            if !run.is_in {
                continue;
            }
            if last.2 == NONE || (last.0, last.1) != (group, run.start_ns) {
                last = (group, run.start_ns, self.ord(group, run, budget)?);
            }
            docs.push(doc);
            ords.push(last.2);
        }
        self.table.count(&ords);
        for inside in &mut self.inside {
            inside.collect(Block::of_each(Docs::List(&docs), &ords), budget)?;
        }
        self.room.docs = docs;
        self.room.ords = ords;
        Ok(())
    }
}

fn beyond_the_index() -> TantivyError {
    TantivyError::InternalError("the time index has fewer documents than the split".to_owned())
}

/// Splits documents into those before a document and the rest.
fn split_at_doc(docs: Docs<'_>, doc: u32) -> (Docs<'_>, Docs<'_>) {
    match docs {
        Docs::Range(first, end) => {
            let middle = doc.clamp(first, end);
            (Docs::Range(first, middle), Docs::Range(middle, end))
        }
        Docs::List(docs) => {
            let middle = docs.partition_point(|listed| *listed < doc);
            let (before, rest) = docs.split_at_checked(middle).unwrap_or((docs, &[]));
            (Docs::List(before), Docs::List(rest))
        }
    }
}

impl Collect for Runs {
    fn collect(&mut self, block: Block<'_>, budget: &Budget) -> Result<()> {
        match block.groups {
            Groups::One(group) => self.collect_one(block.docs, group, budget),
            Groups::Each(_) => self.collect_each(block, budget),
        }
    }

    fn counts_ranks(&self) -> bool {
        self.inside.is_empty()
    }

    fn collect_ranked(
        &mut self,
        docs: Range<u32>,
        set: &mut dyn Ranked,
        budget: &Budget,
    ) -> Result<()> {
        let (mut rank, mut doc) = set.seek(docs.start);
        while doc < docs.end {
            let run = self.run_of(doc)?;
            let (next_rank, next_doc) = set.seek(run.end.min(docs.end));
            if run.is_in {
                let ord = self.ord(0, run, budget)?;
                let num_docs = next_rank.saturating_sub(rank);
                self.table.count_many(ord, u64::from(num_docs));
            }
            (rank, doc) = (next_rank, next_doc);
        }
        Ok(())
    }

    fn finish(self: Box<Self>, places: Places<'_>, budget: &Budget) -> Result<Node> {
        let keys = all_keys(&self.table, 1, |_, codes| {
            let key = |code: &u64| Some(Key::Date(i64::from_u64(*code)));
            Ok(codes.iter().map(key).collect())
        })?;
        let found = found_in(&self.table, &keys, places, &TermChoice::default(), budget)?;
        let num_ords = self.table.counts.len();
        to_node(
            found,
            keys.keys,
            num_ords,
            self.inside,
            places,
            budget,
            false,
        )
    }
}
