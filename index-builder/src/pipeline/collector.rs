//! Receives batches of documents in the order of the input, counts them, writes rejects, and closes splits.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, SyncSender};

use canter_doc_mapper::DocShape;

use super::kept::LastTimes;
use super::parser::ParsedBatch;
use super::run::Plan;
use super::splitter::{CollectedSplit, Splitter};
use super::standing::{Count, Standing};
use crate::error::BuildError;
use crate::ingest::{Phase, RejectsFile};

/// The final counts.
pub(super) struct Collected {
    /// Counts of each source.
    pub(super) counts: Vec<Count>,
    pub(super) kept_by_reason: BTreeMap<String, u64>,
    pub(super) dropped_by_reason: BTreeMap<String, u64>,
}

/// Maximum number of distinct reasons for dropping records. A program may create one for each record.
const MAX_DROP_REASONS: usize = 64;
const OTHER_REASONS: &str = "(other reasons)";

/// Collector of batches, see the module.
pub(super) struct Collector<'c> {
    plan: &'c Plan<'c>,
    /// Names of the sources.
    names: &'c [String],
    rejects: &'c mut RejectsFile,
    counts: Vec<Count>,
    kept_by_reason: BTreeMap<String, u64>,
    dropped_by_reason: BTreeMap<String, u64>,
    last_times: LastTimes,
    splitter: Splitter,
    /// Number of bytes of all batches so far.
    num_raw_bytes: u64,
    /// Sources before this one ended before the last split did.
    first_open_source: usize,
    /// Position where the ingest continues, until its first batch has arrived.
    resumed: Option<Standing>,
}

impl<'c> Collector<'c> {
    pub(super) fn new(
        plan: &'c Plan<'c>,
        names: &'c [String],
        rejects: &'c mut RejectsFile,
        resumed: Option<Standing>,
    ) -> Collector<'c> {
        Collector {
            plan,
            names,
            rejects,
            counts: vec![Count::default(); names.len()],
            kept_by_reason: BTreeMap::new(),
            dropped_by_reason: BTreeMap::new(),
            last_times: LastTimes::new(names.len()),
            splitter: Splitter::new(
                plan.split_num_docs,
                plan.options.max_split_raw_num_bytes,
                DocShape::of(plan.mapper.schema()),
            ),
            num_raw_bytes: 0,
            first_open_source: 0,
            resumed,
        }
    }

    /// Receives batches from the parsers in turn, and so in the order of the input, and passes splits to the indexers
    /// in turn. Ends early if the indexers have ended.
    pub(super) fn run(
        mut self,
        parsers: &[Receiver<ParsedBatch>],
        indexers: Vec<SyncSender<CollectedSplit>>,
    ) -> Result<Collected, BuildError> {
        let mut in_turn = indexers.iter().cycle();
        let mut hand_over = |split| {
            in_turn
                .next()
                .is_some_and(|indexer| indexer.send(split).is_ok())
        };
        // The first parser without a batch is where the reader stopped.
        let batches = parsers.iter().cycle();
        for batch in batches.map_while(|parser| parser.recv().ok()) {
            if !self.add(batch, &mut hand_over)? {
                return Ok(self.collected());
            }
        }
        self.plan.meter.tell(Phase::Finishing);
        if let Some(split) = self.splitter.take_rest() {
            hand_over(split);
        }
        Ok(self.collected())
    }

    fn collected(self) -> Collected {
        Collected {
            counts: self.counts,
            kept_by_reason: self.kept_by_reason,
            dropped_by_reason: self.dropped_by_reason,
        }
    }

    /// Adds a batch; returns false if no more splits are wanted.
    fn add(
        &mut self,
        mut batch: ParsedBatch,
        hand_over: &mut impl FnMut(CollectedSplit) -> bool,
    ) -> Result<bool, BuildError> {
        let source_ord = batch.source_ord;
        // Documents of the batch that an interrupted run has put into splits.
        let num_taken_before = match self.resumed.take() {
            Some(standing) => {
                let num_taken = standing.num_taken;
                self.resume(standing, source_ord);
                num_taken
            }
            None => {
                for reject in &batch.rejects {
                    self.rejects.add(&self.names[source_ord], reject)?;
                }
                for reason in &batch.dropped {
                    self.drop_for(reason);
                }
                0
            }
        };
        let place = batch.place;
        let count_before = self.counts[source_ord].clone();
        let (last_time_ns, num_raw_bytes) = (self.last_times.of(source_ord), self.num_raw_bytes);
        let num_before = self.count(&mut batch);
        let first_position = match batch.has_line_positions {
            true => 0,
            false => num_before,
        };
        let mut num_taken = 0;
        for mut doc in batch.docs {
            doc.identity.position += first_position;
            // It was needed for the time and position of later ones.
            if doc.is_known {
                continue;
            }
            num_taken += 1;
            if num_taken <= num_taken_before {
                continue;
            }
            if let Some(reason) = doc.kept_for {
                *self.kept_by_reason.entry(reason.to_string()).or_default() += 1;
            }
            let encoded = batch.encoded.get(doc.range.clone()).unwrap_or_default();
            if let Some(mut split) = self.splitter.add(&doc, encoded)? {
                // Before a checkpoint records them as written.
                self.rejects.flush()?;
                let ended = self.first_open_source..source_ord;
                let ended = ended.map(|ord| (ord, self.counts[ord].clone()));
                split.standing = Some(Standing {
                    place,
                    num_taken,
                    counts: ended.chain([(source_ord, count_before.clone())]).collect(),
                    last_time_ns,
                    kept_by_reason: self.kept_by_reason.clone(),
                    dropped_by_reason: self.dropped_by_reason.clone(),
                    rejects_by_reason: self.rejects.by_reason(),
                    num_unwritten_rejects: self.rejects.num_unwritten(),
                    num_raw_bytes,
                });
                self.first_open_source = source_ord;
                if !hand_over(split) {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    fn drop_for(&mut self, reason: &str) {
        let is_one_more = self.dropped_by_reason.len() >= MAX_DROP_REASONS
            && !self.dropped_by_reason.contains_key(reason);
        let reason = match is_one_more {
            true => OTHER_REASONS,
            false => reason,
        };
        *self
            .dropped_by_reason
            .entry(reason.to_string())
            .or_default() += 1;
    }

    /// Continues from the position of an interrupted run, within a batch of this source. Its rejects are written
    /// already.
    fn resume(&mut self, standing: Standing, source_ord: usize) {
        let (meter, tally) = (self.plan.meter, &self.plan.meter.tally);
        for (ord, count) in standing.counts {
            meter.add(&tally.num_docs, count.num_docs);
            meter.add(&tally.num_known_docs, count.num_known_docs);
            meter.add(&tally.num_rejects, count.num_rejects);
            meter.add(&tally.num_dropped, count.num_dropped);
            meter.add(&tally.num_blank, count.num_blank);
            self.counts[ord] = count;
        }
        meter.add(&tally.num_raw_bytes, standing.num_raw_bytes);
        self.num_raw_bytes = standing.num_raw_bytes;
        self.kept_by_reason = standing.kept_by_reason;
        self.dropped_by_reason = standing.dropped_by_reason;
        self.rejects
            .resume(standing.rejects_by_reason, standing.num_unwritten_rejects);
        self.last_times.set(source_ord, standing.last_time_ns);
    }

    /// Counts a batch; returns the number of positions of its source before it.
    fn count(&mut self, batch: &mut ParsedBatch) -> u64 {
        let (meter, tally) = (self.plan.meter, &self.plan.meter.tally);
        let (num_docs, num_rejects) = (batch.docs.len() as u64, batch.rejects.len() as u64);
        let num_dropped = batch.dropped.len() as u64;
        let mut num_known_docs = batch.docs.iter().filter(|doc| doc.is_known).count() as u64;
        // The kept rest of a record where the source broke off is not a known record, but it was counted.
        let num_before = self.counts[batch.source_ord].num_known_docs + num_known_docs;
        if batch.num_docs_at_break.is_some_and(|num| num > num_before)
            && let Some(rest) = batch.docs.last_mut().filter(|doc| doc.kept_for.is_some())
        {
            rest.is_known = true;
            num_known_docs += 1;
        }
        meter.add(&tally.num_raw_bytes, batch.raw_num_bytes);
        meter.add(&tally.num_docs, num_docs);
        meter.add(&tally.num_known_docs, num_known_docs);
        meter.add(&tally.num_rejects, num_rejects);
        meter.add(&tally.num_dropped, num_dropped);
        meter.add(&tally.num_blank, batch.num_blank);
        meter.tell(Phase::Indexing);
        self.num_raw_bytes += batch.raw_num_bytes;
        self.last_times.fill_in(self.plan.mapper, batch);
        let count = &mut self.counts[batch.source_ord];
        let num_others = count.num_rejects + count.num_dropped + count.num_blank;
        let first_position = count.num_docs + num_others;
        count.num_docs += num_docs;
        count.num_known_docs += num_known_docs;
        count.last_doc_record = count.last_doc_record.max(batch.last_doc_record);
        count.num_rejects += num_rejects;
        count.num_dropped += num_dropped;
        count.num_blank += batch.num_blank;
        count.broken_off = count.broken_off.take().or(batch.broken_off.take());
        first_position
    }
}
