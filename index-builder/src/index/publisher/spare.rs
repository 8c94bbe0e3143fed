//! Removal of referenced objects from the list of condemned ones.

use canter_split_format::{ManifestFile, ObjectKind, ObjectName, Sentence};

use crate::error::BuildError;
use crate::index::storage::IndexStore;

/// Removes the objects to which `file` refers from its list of condemned objects. `split_ids` are
/// the splits to which it refers through its pages.
///
/// # Errors
/// `Unavailable` if one of them is being deleted: it can be uploaded again after that.
pub(super) fn spare_what_is_referenced<'a>(
    store: &IndexStore,
    file: &mut ManifestFile,
    split_ids: impl IntoIterator<Item = &'a str>,
) -> Result<(), BuildError> {
    if file.condemned.is_empty() {
        return Ok(());
    }
    let split_of = |id: &str| ObjectName::new(ObjectKind::Split, id);
    let splits = split_ids.into_iter().map(split_of);
    let newest = file.manifest.splits.iter().map(|split| split_of(&split.id));
    let pages = file.pages.iter();
    let pages = pages.map(|page| ObjectName::new(ObjectKind::Page, &page.id));
    let filters = file.pages.iter().filter_map(|page| page.filters.as_ref());
    let filters = filters.map(|filters| ObjectName::new(ObjectKind::Filters, &filters.id));
    let ledger = file.ledger.objects.iter();
    let ledger = ledger.map(|object| ObjectName::new(ObjectKind::Ledger, &object.id));
    let sources = file.sources.objects.iter();
    let sources = sources.map(|object| ObjectName::new(ObjectKind::Sources, &object.id));
    let deletes = file
        .manifest
        .splits
        .iter()
        .filter_map(|split| split.deletes.as_ref());
    let deletes = deletes.map(|deletes| ObjectName::new(ObjectKind::Deletes, &deletes.id));
    let digests = file.manifest.key_digests.iter();
    let digests = digests.map(|digest| ObjectName::new(ObjectKind::KeyDigest, &digest.id));
    let referenced: Vec<ObjectName> = splits
        .chain(newest)
        .chain(pages)
        .chain(filters)
        .chain(ledger)
        .chain(sources)
        .chain(deletes)
        .chain(digests)
        .collect();
    spare(store, file, referenced)
}

/// Removes these objects from the list.
///
/// # Errors
/// Same as for [`spare_what_is_referenced`].
pub(super) fn spare(
    store: &IndexStore,
    file: &mut ManifestFile,
    referenced: Vec<ObjectName>,
) -> Result<(), BuildError> {
    for name in referenced {
        match file.condemned.remove(&name) {
            Some(Sentence::Doomed) => {
                return Err(BuildError::unavailable(format!(
                    "`{}/{}` is being deleted by a garbage collection: run the same again when that is over \
                     (or run `canter index gc`, if it was interrupted)",
                    store.name(),
                    name.object()
                )));
            }
            Some(Sentence::Condemned { .. }) | None => {}
        }
    }
    Ok(())
}
