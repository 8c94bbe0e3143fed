//! Whether a store may be written to: what a probe has found of its conditional writes, and what the caller warrants.

use super::super::write_probe::{Condition, WriteProbe, probe, refuses};
use super::{IndexStore, Version};
use crate::error::BuildError;

impl IndexStore {
    /// Refuses a store that does not keep to conditions on writes, unless the caller warrants that
    /// nobody else writes. Asks the store once, in full.
    pub(crate) async fn ensure_conditional_writes(&self) -> Result<(), BuildError> {
        self.ensure_writes(None).await
    }

    /// The same for an index that is there, whose manifest has `version`: that spares the store most of the questions,
    /// if it is fit.
    pub(crate) async fn ensure_conditional_writes_of(
        &self,
        version: &Version,
    ) -> Result<(), BuildError> {
        self.ensure_writes(Some(version)).await
    }

    async fn ensure_writes(&self, version: Option<&Version>) -> Result<(), BuildError> {
        if self.lock.is_some() {
            return Ok(());
        }
        let found = match self.probed.get() {
            Some(found) => found,
            None => {
                let is_fit = match version {
                    Some(version) => refuses(self, version).await?,
                    None => false,
                };
                let found = match is_fit {
                    true => WriteProbe::fit(),
                    false => probe(self).await?,
                };
                self.probed.get_or_init(|| found)
            }
        };
        if found.is_fit() || self.options.unsafe_single_writer {
            return Ok(());
        }
        Err(BuildError::invalid(format!(
            "the store of `{}` {}: two writers at once would lose each other's documents, and nobody \
             would be told; use a store that keeps to these conditions, or, if nothing else ever \
             writes to this index at the same time, pass --unsafe-single-writer",
            self.name(),
            found.faults()
        )))
    }

    /// The same store, which is not asked whether it keeps to conditions.
    #[cfg(test)]
    pub(crate) fn known_to_be_fit(self) -> Self {
        self.probed.get_or_init(WriteProbe::fit);
        self
    }

    /// What the store was found to do with conditions on writes, if it was asked.
    pub(crate) fn write_probe(&self) -> Option<&WriteProbe> {
        self.probed.get()
    }

    /// Whether a condition is left away, because the store takes none and there is one writer only.
    pub(super) fn goes_without(&self, condition: fn(&WriteProbe) -> Condition) -> bool {
        let found = self.write_probe().map(condition);
        self.options.unsafe_single_writer && found == Some(Condition::Unsupported)
    }
}
