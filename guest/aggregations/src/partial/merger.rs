//! Merging of many partial results.

use super::Partial;

/// Merger of partial results as they arrive. Results of about as many parts are merged with each
/// other, so that merging a thousand splits does not copy each of them a thousand times.
#[derive(Debug, Default)]
pub struct Merger {
    /// Merged results with their numbers of parts, in descending order.
    merged: Vec<(u64, Partial)>,
}

impl Merger {
    /// Adds a result.
    ///
    /// # Errors
    /// Returns `false` and ignores the result if it belongs to another request.
    #[must_use]
    pub fn add(&mut self, partial: Partial) -> bool {
        let (mut num_parts, mut partial) = (1, partial);
        while let Some((last_parts, mut last)) = self.merged.pop_if(|(last, _)| *last <= num_parts)
        {
            num_parts += last_parts;
            if !last.merge(partial) {
                return false;
            }
            partial = last;
        }
        self.merged.push((num_parts, partial));
        true
    }

    /// Merges all results into one; returns `None` if there are none.
    pub fn finish(mut self) -> Option<Partial> {
        let (_, mut all) = self.merged.pop()?;
        while let Some((_, mut last)) = self.merged.pop() {
            // They were compatible when they were added.
            let _ = last.merge(all);
            all = last;
        }
        Some(all)
    }
}
