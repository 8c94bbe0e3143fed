//! Permission to write to a store: the result of a probe of conditional writes, and the caller's
//! guarantee.

use super::write_probe::{Condition, WriteProbe, probe, refuses};
use super::{IndexStore, Version};
use crate::error::BuildError;

impl IndexStore {
    /// Refuses a store that ignores conditions on writes, unless the caller guarantees that there
    /// is only one writer. Runs the full probe once.
    pub(crate) async fn ensure_conditional_writes(&self) -> Result<(), BuildError> {
        self.ensure_writes(None).await
    }

    /// Does the same for an existing index, whose manifest has `version`. This saves most of the
    /// requests if the store is fit.
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

    /// Returns the store without a need for a probe.
    #[cfg(test)]
    pub(crate) fn known_to_be_fit(self) -> Self {
        self.probed.get_or_init(WriteProbe::fit);
        self
    }

    /// Returns the result of the probe, if it has run.
    pub(crate) fn write_probe(&self) -> Option<&WriteProbe> {
        self.probed.get()
    }

    /// Returns whether a condition is omitted, because the store does not support it and there is
    /// only one writer.
    pub(super) fn goes_without(&self, condition: fn(&WriteProbe) -> Condition) -> bool {
        let found = self.write_probe().map(condition);
        self.options.unsafe_single_writer && found == Some(Condition::Unsupported)
    }
}
