//! References of a manifest, directly and through its pages.

use std::collections::BTreeSet;

use canter_split_format::{ManifestFile, ObjectKind, ObjectName, SplitEntry};

use crate::error::BuildError;
use crate::index::publisher::{
    LoadedManifest, MAX_ATTEMPTS, is_outdated, load, pause, read_paged_entries,
};
use crate::index::storage::IndexStore;

/// Objects that must exist, and the entries of all splits.
pub(super) struct References {
    pub(super) objects: BTreeSet<ObjectName>,
    pub(super) splits: Vec<SplitEntry>,
}

impl References {
    /// Reads a manifest and its pages. Tries again if the manifest was replaced in the meantime and
    /// a page is gone.
    ///
    /// # Errors
    /// Same as for [`References::of`].
    pub(super) async fn load(store: &IndexStore) -> Result<(LoadedManifest, Self), BuildError> {
        for num_attempts in 1..MAX_ATTEMPTS {
            let loaded = load(store).await?;
            match Self::of(store, &loaded.file).await {
                Ok(references) => return Ok((loaded, references)),
                Err(error) if is_outdated(store, &error, &loaded.version).await? => {}
                Err(error) => return Err(error),
            }
            tokio::time::sleep(pause(num_attempts)).await;
        }
        let loaded = load(store).await?;
        let references = Self::of(store, &loaded.file).await?;
        Ok((loaded, references))
    }

    /// Reads the pages of a manifest.
    ///
    /// # Errors
    /// `Data` if a page is missing or damaged, `Unavailable` if storage does not answer.
    pub(super) async fn of(store: &IndexStore, file: &ManifestFile) -> Result<Self, BuildError> {
        let mut splits = file.manifest.splits.clone();
        splits.extend(read_paged_entries(store, file).await?);
        let mut objects = BTreeSet::new();
        for split in &splits {
            objects.insert(ObjectName::new(ObjectKind::Split, &split.id));
            if let Some(deletes) = &split.deletes {
                objects.insert(ObjectName::new(ObjectKind::Deletes, &deletes.id));
            }
        }
        let pages = file.pages.iter();
        objects.extend(pages.map(|page| ObjectName::new(ObjectKind::Page, &page.id)));
        let filters = file.pages.iter().filter_map(|page| page.filters.as_ref());
        let filters = filters.map(|filters| ObjectName::new(ObjectKind::Filters, &filters.id));
        objects.extend(filters);
        let ledger = file.ledger.objects.iter();
        objects.extend(ledger.map(|object| ObjectName::new(ObjectKind::Ledger, &object.id)));
        let sources = file.sources.objects.iter();
        objects.extend(sources.map(|object| ObjectName::new(ObjectKind::Sources, &object.id)));
        let digests = file.manifest.key_digests.iter();
        objects.extend(digests.map(|digest| ObjectName::new(ObjectKind::KeyDigest, &digest.id)));
        Ok(Self { objects, splits })
    }
}
