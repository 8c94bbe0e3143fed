//! Merging of splits in a test index, as a publisher does it, but without the swap.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};
use canter_doc_mapper::IndexConfig;
use canter_index_builder::{
    BuildError, IndexStore, MergeIndexOptions, MergeInput, MergeOptions, NewSplit, PackagedSplit,
    create_index, merge_index, merge_splits,
};
use canter_split_format::{MANIFEST_OBJECT, SplitEntry};
use tempfile::TempDir;

use crate::TestIndex;
use crate::index::read_folder;

/// Objects of an index in a folder, with its store.
pub struct StoredIndex {
    /// Folder of the objects.
    pub folder: TempDir,
    /// Opened store.
    pub store: IndexStore,
}

impl TestIndex {
    /// Writes the objects to a folder.
    pub fn to_folder(&self) -> Result<StoredIndex> {
        let folder = tempfile::tempdir()?;
        for (name, bytes) in &self.objects {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().context("an object is in a folder")?)?;
            std::fs::write(path, bytes)?;
        }
        let store = IndexStore::open(path_of(folder.path())?)?;
        Ok(StoredIndex { folder, store })
    }

    /// Returns the entries of all splits in the manifest and its pages.
    pub fn entries(&self) -> Result<Vec<SplitEntry>> {
        let manifest = self.manifest()?;
        let mut entries = manifest.manifest.splits;
        for page in &manifest.pages {
            let (splits, _) = page.open(&self.objects[&page.object()], None)?;
            entries.extend(splits.into_iter().map(|split| split.entry));
        }
        Ok(entries)
    }

    /// Returns the index after all merges that its policy asks for.
    pub fn merge_what_is_due(&self) -> Result<Self> {
        self.merge_with(&MergeIndexOptions::default())
    }

    /// Returns the index after all merges that its policy asks for, without deleted documents in its splits.
    pub fn merge_deleted(&self) -> Result<Self> {
        let options = MergeIndexOptions {
            rewrite_deleted: true,
            ..MergeIndexOptions::default()
        };
        self.merge_with(&options)
    }

    fn merge_with(&self, options: &MergeIndexOptions) -> Result<Self> {
        let stored = self.to_folder()?;
        merge_index(&stored.store, options, &|_| {})?;
        let mut objects = BTreeMap::new();
        read_folder(stored.folder.path(), "", &mut objects)?;
        Ok(Self {
            objects,
            report: self.report.clone(),
        })
    }

    /// Merges some splits of this index, without deletions, under a config.
    pub fn merge(
        &self,
        config_yaml: &str,
        entries: &[SplitEntry],
    ) -> Result<Result<Option<PackagedSplit>, BuildError>> {
        let inputs: Vec<MergeInput> = entries.iter().map(whole).collect();
        self.merge_inputs(config_yaml, &inputs)
    }

    /// Merges some splits of this index.
    pub fn merge_inputs(
        &self,
        config_yaml: &str,
        inputs: &[MergeInput],
    ) -> Result<Result<Option<PackagedSplit>, BuildError>> {
        let config = IndexConfig::from_yaml(config_yaml, |_| None)?;
        let stored = self.to_folder()?;
        let options = MergeOptions::default();
        Ok(merge_splits(&stored.store, &config, inputs, &options))
    }

    /// Returns the index with these splits and no others.
    pub fn of_splits(config_yaml: &str, splits: &[PackagedSplit], like: &Self) -> Result<Self> {
        let config = IndexConfig::from_yaml(config_yaml, |_| None)?;
        let folder = tempfile::tempdir()?;
        let store = create_index(path_of(folder.path())?, &config)?;
        std::fs::create_dir_all(folder.path().join("splits"))?;
        let mut published = Vec::new();
        for split in splits {
            std::fs::write(folder.path().join(split.object()), &split.bytes)?;
            published.push(NewSplit {
                entry: split.entry.clone(),
                head: split.head().to_vec(),
                num_columns_outside_head: split.num_columns_outside_head,
            });
        }
        store.publish(&published)?;
        let mut objects = BTreeMap::new();
        read_folder(folder.path(), "", &mut objects)?;
        anyhow::ensure!(objects.contains_key(MANIFEST_OBJECT), "no manifest");
        Ok(Self {
            objects,
            report: like.report.clone(),
        })
    }
}

/// Returns a split without deletions.
pub fn whole(entry: &SplitEntry) -> MergeInput {
    MergeInput {
        entry: entry.clone(),
        deleted: None,
    }
}

fn path_of(folder: &Path) -> Result<&str> {
    folder
        .to_str()
        .context("a temporary folder has a UTF-8 name")
}
