//! Changes of the aliases of a root, in its catalog.

use canter_index_builder::Indexes;

use super::aliases::{AliasChange, allowed_names, apply};
use super::root::Root;
use crate::requests::Problem;

impl Root {
    /// Changes aliases, of the indexes that a token allows. Blocks.
    pub(crate) fn change_aliases(
        &self,
        changes: &[AliasChange],
        allowed: Option<&[String]>,
    ) -> Result<(), Problem> {
        if changes.is_empty() {
            return Ok(());
        }
        let names = |indexes: &Indexes| allowed_names(indexes.keys().cloned(), allowed);
        // An index that an alias takes the name of goes first.
        let (indexes, mut aliases) = self.catalog.listed()?;
        for name in apply(changes, &names(&indexes), &mut aliases)? {
            self.delete(&name)?;
        }
        let kept: Vec<AliasChange> = changes
            .iter()
            .filter(|change| !matches!(change, AliasChange::RemoveIndexes(_)))
            .cloned()
            .collect();
        let changed = self
            .catalog
            .change_aliases(|indexes, aliases| apply(&kept, &names(indexes), aliases).map(drop))?;
        changed?;
        self.look()
    }
}
