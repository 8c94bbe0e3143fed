//! The plans of several indexes as one: their splits are searched like those of one index.

use canter_aggregations::Merger;

use super::search_plan::SearchPlan;
use crate::leaf::{FailedSplit, PartialResult};
use crate::{ErrorKind, SearchError};

impl SearchPlan {
    /// Joins the plans of several indexes. An index for which the request is invalid, or that cannot be read, is
    /// listed among the failures, like a split, unless `ends_search` says that there is no answer without it.
    ///
    /// # Errors
    /// The error that ends the search; the first error, if there is no plan at all.
    pub(crate) fn of_several(
        plans: Vec<(&str, Result<Self, SearchError>)>,
        ends_search: impl Fn(&str, &SearchError) -> bool,
    ) -> Result<Self, SearchError> {
        let (mut all, mut failed, mut first_error) = (None::<Self>, Vec::new(), None);
        for (name, plan) in plans {
            match plan {
                Ok(plan) => match &mut all {
                    Some(all) => all.join(plan)?,
                    None => all = Some(plan),
                },
                Err(error) if ends_search(name, &error) => return Err(error),
                Err(error) => {
                    // A pattern does not match an index that has not been created yet.
                    if error.kind != ErrorKind::NotFound {
                        failed.push(FailedSplit::new(name, error.clone()));
                    }
                    first_error.get_or_insert(error);
                }
            }
        }
        let nothing = || SearchError::internal("a search of no index");
        let mut all = all.ok_or_else(|| first_error.unwrap_or_else(nothing))?;
        all.num_splits += failed.len() as u64;
        all.known.failed_splits.append(&mut failed);
        Ok(all)
    }

    /// Adds the plan of another index.
    fn join(&mut self, other: Self) -> Result<(), SearchError> {
        let num_indexes = self.indexes.len();
        self.indexes.extend(other.indexes);
        for mut split in other.splits {
            split.source.index += num_indexes;
            split.split_ord = u32::try_from(self.splits.len()).unwrap_or(u32::MAX);
            self.splits.push(split);
        }
        self.num_splits += other.num_splits;
        self.num_dropped += other.num_dropped;
        self.pruned.extend(other.pruned);
        self.answered.extend(other.answered);
        self.divisible &= other.divisible;
        self.mixes_times |= other.mixes_times || self.timestamp_field != other.timestamp_field;
        // A clause that is a time filter in only one index is evaluated by every split as a query.
        if self.time_bounds != other.time_bounds {
            self.time_bounds = None;
        }
        self.timestamp_field = self.timestamp_field.take().or(other.timestamp_field);
        self.untyped_keys.extend(other.untyped_keys);
        canter_sorting::sort(&mut self.untyped_keys);
        self.untyped_keys.dedup();
        self.unsigned_keys.extend(other.unsigned_keys);
        self.own_formats.extend(other.own_formats);
        take_in(&mut self.known, other.known)
    }
}

/// Adds what a plan knows without opening a split: numbers, sums and failures.
fn take_in(known: &mut PartialResult, other: PartialResult) -> Result<(), SearchError> {
    known.num_hits += other.num_hits;
    known.num_splits_from_head += other.num_splits_from_head;
    known.failed_splits.extend(other.failed_splits);
    let mut sums = Merger::default();
    let sums_of = known.aggregations.take().into_iter();
    for sum in sums_of.chain(other.aggregations) {
        if !sums.add(sum) {
            return Err(SearchError::internal(
                "plans of one request have different aggregations",
            ));
        }
    }
    known.aggregations = sums.finish();
    Ok(())
}
