//! Collectors over the objects in lists, and back over what is around them.

use std::sync::Arc;

use super::{Builder, Columns, Objects, Split};
use crate::collect::Collect;
use crate::collect::mapping::ToParents;
use crate::request::Aggregation;
use crate::{Error, Result};

impl Builder<'_> {
    /// Returns what is inside of an aggregation whose documents are the objects of a list.
    pub(super) fn inside_list(
        &self,
        list: Option<usize>,
        inside: &[Aggregation],
    ) -> Result<Vec<Box<dyn Collect>>> {
        let split = match list {
            None => *self.documents,
            Some(list) => {
                let objects = self.objects(list)?;
                Split {
                    columns: Columns::Objects(objects),
                    sort_field: None,
                    time_index: None,
                    filters: &objects.filters,
                    ..*self.documents
                }
            }
        };
        let builder = Builder {
            split: &split,
            list,
            ..*self
        };
        builder.inside(inside)
    }

    pub(super) fn objects(&self, list: usize) -> Result<&Objects> {
        self.documents.objects.get(list).ok_or_else(|| {
            let what = "the objects of a list were not read".to_owned();
            Error::Columns(tantivy::TantivyError::InternalError(what))
        })
    }

    /// Returns the lists from the current one up to those objects, or to documents.
    pub(super) fn way_to(&self, to: Option<usize>) -> Result<ToParents> {
        let (mut way, mut at) = (Vec::new(), self.list);
        while let Some(list) = at.filter(|_| at != to) {
            let objects = self.objects(list)?;
            way.push(Arc::clone(&objects.places));
            at = objects.list.outer;
        }
        Ok(ToParents(way))
    }
}
