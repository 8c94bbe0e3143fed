//! Merging many partial results.

use super::Partial;

/// Merges partial results as they come. Results of about as many parts are merged with each other, so that a
/// thousand splits are not each copied a thousand times.
#[derive(Debug, Default)]
pub struct Merger {
    /// With the number of parts that each is made of, in descending order.
    merged: Vec<(u64, Partial)>,
}

impl Merger {
    /// Adds one.
    ///
    /// # Errors
    /// `false` if it is of another request: then it is left out.
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

    /// All of them as one; nothing if there are none.
    pub fn finish(mut self) -> Option<Partial> {
        let (_, mut all) = self.merged.pop()?;
        while let Some((_, mut last)) = self.merged.pop() {
            // They fitted each other when they came.
            let _ = last.merge(all);
            all = last;
        }
        Some(all)
    }
}
