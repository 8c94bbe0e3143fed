//! Reading the same of several splits at once.

use futures_util::future::try_join_all;

use crate::SearchError;
use crate::exchange::Exchange;
use crate::split::{HeadSource, Indexes, OpenSplit, SearchedIndex, guarded};

/// Opens splits of one index, and returns what `read` finds in each of them, in their order.
///
/// # Errors
/// If a split cannot be opened, or the first error of `read`.
pub(super) async fn of_each_split<T, F>(
    index: SearchedIndex,
    splits: Vec<HeadSource>,
    exchange: &Exchange,
    read: impl Fn(OpenSplit) -> F,
) -> Result<Vec<T>, SearchError>
where
    F: Future<Output = Result<T, SearchError>>,
{
    let indexes = Indexes::new(&[index], exchange);
    let (indexes, read) = (&indexes, &read);
    let found = splits.into_iter().map(async |split| {
        let split_id = split.entry.id.clone();
        let found = async { read(indexes.open(split).await?).await };
        guarded(&split_id, found).await
    });
    try_join_all(found).await
}
