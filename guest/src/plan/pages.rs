//! Pages of the manifest: the pages to read, and the answers of their sums.

use canter_aggregations::Aggregations;
use canter_protocol::ByteClass;
use canter_split_format::{FormatError, PageRef, PagedSplit, Rollup};
use futures_util::future::{join, join_all};
use tantivy::directory::OwnedBytes;

use super::filters::{FilterBlocks, Needles};
use crate::SearchError;
use crate::exchange::Exchange;
use crate::limits::TimeFilter;

/// The bytes of a page as read: an index has many pages, and only one at a time is decoded.
pub(super) struct ReadPage {
    bytes: OwnedBytes,
    /// Start of the entries, after the summary if that was read.
    entries_start: usize,
}

impl ReadPage {
    /// Returns the sum of all splits of the page, if it was read and exists.
    pub(super) fn summary(&self, page: &PageRef) -> Result<Option<Rollup>, SearchError> {
        match self.bytes.get(..self.entries_start) {
            None | Some([]) => Ok(None),
            Some(bytes) => page
                .open_summary(bytes)
                .map_err(|error| damaged(page, &error)),
        }
    }

    /// Returns the splits of the page, oldest first.
    pub(super) fn splits(self, page: &PageRef) -> Result<Vec<PagedSplit>, SearchError> {
        let entries = self.bytes.get(self.entries_start..).unwrap_or_default();
        page.open_entries(entries)
            .map_err(|error| damaged(page, &error))
    }
}

fn damaged(page: &PageRef, error: &FormatError) -> SearchError {
    SearchError::data(format!("{}: {error}", page.object()))
}

/// Returns up to `num` of the newest splits in these pages that may pass the time filter. Reads the newest page
/// first, and twice as many pages each time, until there are enough.
///
/// # Errors
/// If a page cannot be read.
pub(crate) async fn newest_in_pages(
    pages: &[PageRef],
    time: TimeFilter,
    num: usize,
    exchange: &Exchange,
) -> Result<Vec<PagedSplit>, SearchError> {
    let pages = pages.iter().filter(|page| time.may_match(page.time_range));
    let mut pages: Vec<PageRef> = pages.cloned().collect();
    let mut found = Vec::new();
    let mut at_once = 1;
    while found.len() < num && !pages.is_empty() {
        let newest = pages.split_off(pages.len().saturating_sub(at_once));
        at_once *= 2;
        let read = read_pages(&newest, None, None, exchange).await;
        for (page, (read, _)) in newest.iter().zip(read).rev() {
            let splits = read?.splits(page)?.into_iter().rev();
            found.extend(splits.filter(|split| time.may_match(split.entry.time_range)));
        }
    }
    found.truncate(num);
    Ok(found)
}

/// Reads the entries of these pages in one wave, with their summaries and the filter blocks of the needles if
/// wanted.
pub(super) async fn read_pages(
    pages: &[PageRef],
    aggregations: Option<&Aggregations>,
    needles: Option<&Needles>,
    exchange: &Exchange,
) -> Vec<(Result<ReadPage, SearchError>, FilterBlocks)> {
    let with_summary = aggregations.is_some();
    let reads = pages
        .iter()
        .map(|page| read_page(page, with_summary, exchange));
    let blocks = pages.iter().map(async |page| match needles {
        Some(needles) => needles.read_blocks(page, exchange).await,
        None => FilterBlocks::default(),
    });
    // Entries come first: they are indispensable if a budget does not cover everything.
    let (read, blocks) = join(join_all(reads), join_all(blocks)).await;
    read.into_iter().zip(blocks).collect()
}

async fn read_page(
    page: &PageRef,
    with_summary: bool,
    exchange: &Exchange,
) -> Result<ReadPage, SearchError> {
    match read_once(page, with_summary, exchange).await {
        // The host may have served it from a cache: a second request bypasses that.
        Err(error) if error.kind == crate::ErrorKind::Data => {
            read_once(page, with_summary, exchange).await
        }
        other => other,
    }
}

/// Reads a page once. The summary precedes the entries: together they are one read.
async fn read_once(
    page: &PageRef,
    with_summary: bool,
    exchange: &Exchange,
) -> Result<ReadPage, SearchError> {
    let object = page.object();
    let start = match with_summary {
        true => page.summary.start,
        false => page.entries.start,
    };
    let len = page.entries.end().saturating_sub(start);
    let read = exchange.read(&object, start, Some(len), ByteClass::Head);
    let bytes = read
        .await
        .map_err(|failure| failure.into_search_error(&object))?;
    let num_bytes = usize::try_from(page.entries.start.saturating_sub(start)).unwrap_or(usize::MAX);
    let (summary, entries) = bytes
        .split_at_checked(num_bytes)
        .ok_or_else(|| SearchError::data(format!("{object}: cut short")))?;
    if with_summary {
        page.summary
            .check(summary)
            .map_err(|error| damaged(page, &error))?;
    }
    page.entries
        .check(entries)
        .map_err(|error| damaged(page, &error))?;
    Ok(ReadPage {
        bytes,
        entries_start: num_bytes,
    })
}
