//! Due maintenance of an index and its effect: due merges, garbage, and the cost of a cold query before and after.

use anyhow::{Context, Result};
use canter_index_builder::{
    GcOptions, IndexDescription, IndexStore, MergeIndexOptions, WRONG_CLOCK, checked_unix_time,
    collect_garbage, merge_index,
};
use serde::Serialize;

use crate::prices::{Prices, Usage};
use crate::render::{Align, Cell, Column, Screen, Table, numbers};

/// The default of `canter index gc`.
const GRACE_MS: u64 = 3_600_000;
/// Number of splits that a manifest lists itself, with their heads.
const NUM_NEWEST: u64 = 48;

/// Due maintenance, and its benefit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Outlook {
    /// Due merges.
    pub(super) due_merges: Due,
    /// Unreferenced objects, if they were looked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) garbage: Option<Garbage>,
    /// Cost of a query that reads every split without a cache.
    pub(super) cold_query: ColdQuery,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Due {
    pub(super) num_merges: u64,
    pub(super) num_splits: u64,
    pub(super) num_docs: u64,
    pub(super) num_bytes: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Garbage {
    /// Number of objects that `canter index gc` would remove now.
    pub(super) num_removable: u64,
    pub(super) num_removable_bytes: u64,
    /// Number of objects in their grace period, or not yet marked as unreferenced.
    pub(super) num_condemned: u64,
    pub(super) num_condemned_bytes: u64,
    /// Number of splits that are older than the retention of the index.
    pub(super) num_expired_splits: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct ColdQuery {
    pub(super) now: Estimate,
    /// After the due merges; the same if none is due.
    pub(super) after_due_merges: Estimate,
}

/// A lower bound, according to the manifest.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Estimate {
    pub(super) num_splits: u64,
    pub(super) num_waves: u64,
    pub(super) num_requests: u64,
    /// Price of reads on S3, for a million queries.
    pub(super) usd_per_million: f64,
}

/// Determines the due maintenance; with `has_garbage` also the garbage, which lists the store.
pub(super) fn look(
    store: &IndexStore,
    index: &IndexDescription,
    has_garbage: bool,
) -> Result<Outlook> {
    let plan = MergeIndexOptions {
        dry_run: true,
        ..MergeIndexOptions::default()
    };
    let planned = merge_index(store, &plan, &|_| {})?;
    let mut due = Due::default();
    for merge in &planned.merges {
        due.num_merges += 1;
        due.num_splits += merge.from.len() as u64;
        due.num_docs += merge.num_docs;
        due.num_bytes += merge.num_bytes;
    }
    let garbage = has_garbage.then(|| find_garbage(store)).transpose()?;
    let prices = Prices::read(None)?;
    let now = estimate(
        index.num_splits,
        index.num_inlined_heads,
        index.num_pages,
        &prices,
    );
    let num_after = index.num_splits.saturating_sub(due.num_splits) + due.num_merges;
    let after_due_merges = match due.num_merges {
        0 => now,
        _ if num_after <= NUM_NEWEST => estimate(num_after, num_after, 0, &prices),
        _ => estimate(num_after, NUM_NEWEST / 3, index.num_pages.max(1), &prices),
    };
    Ok(Outlook {
        due_merges: due,
        garbage,
        cold_query: ColdQuery {
            now,
            after_due_merges,
        },
    })
}

fn find_garbage(store: &IndexStore) -> Result<Garbage> {
    let now = checked_unix_time().context(WRONG_CLOCK)?;
    let options = GcOptions {
        now_ms: u64::try_from(now.as_millis()).unwrap_or(u64::MAX),
        grace_ms: GRACE_MS,
        dry_run: true,
        applies_retention: true,
    };
    let found = collect_garbage(store, &options)?;
    Ok(Garbage {
        num_removable: found.deleted.len() as u64,
        num_removable_bytes: found.num_deleted_bytes,
        num_condemned: found.condemned.len() as u64,
        num_condemned_bytes: found.num_condemned_bytes,
        num_expired_splits: found.expired_splits.len() as u64,
    })
}

/// Estimates the waves and requests of a query: the manifest; pages; heads outside the manifest; one read of each
/// split.
fn estimate(num_splits: u64, num_inlined: u64, num_pages: u64, prices: &Prices) -> Estimate {
    let num_other_heads = num_splits.saturating_sub(num_inlined);
    let num_waves = 1 + [num_pages, num_other_heads, num_splits]
        .iter()
        .filter(|num| **num > 0)
        .count() as u64;
    let num_requests = 1 + num_pages + num_other_heads + num_splits;
    let usage = Usage {
        num_requests,
        num_bytes: 0,
        num_waves,
        max_documents: 0,
    };
    let of_services = prices.of(&usage);
    let s3 = of_services.iter().find(|price| price.service == "s3");
    Estimate {
        num_splits,
        num_waves,
        num_requests,
        usd_per_million: s3.map_or(0.0, |price| price.requests * 1e6),
    }
}

/// Returns a line each for due merges and garbage.
pub(super) fn lines(outlook: &Outlook) -> Vec<(&'static str, String)> {
    let due = &outlook.due_merges;
    let merges = match due.num_merges {
        0 => "none due".to_owned(),
        num => format!(
            "{} due, of {} with {}: `canter index merge`",
            numbers::count(num),
            numbers::counted(due.num_splits, "split"),
            numbers::bytes(due.num_bytes)
        ),
    };
    let mut lines = vec![("merges", merges)];
    if let Some(garbage) = &outlook.garbage {
        lines.push((
            "garbage",
            format!(
                "{}, {} to be removed now; {}, {} in its grace period",
                numbers::counted(garbage.num_removable, "object"),
                numbers::bytes(garbage.num_removable_bytes),
                numbers::counted(garbage.num_condemned, "object"),
                numbers::bytes(garbage.num_condemned_bytes)
            ),
        ));
        if garbage.num_expired_splits > 0 {
            let expired = numbers::counted(garbage.num_expired_splits, "split");
            lines.push((
                "expired",
                format!("{expired} older than the retention: `canter index gc`"),
            ));
        }
    }
    lines
}

/// Returns a table of the costs of a cold query before and after the due merges.
pub(super) fn cost_table(outlook: &Outlook, screen: &Screen) -> String {
    let mut table = Table::new(vec![
        Column::new("a cold query that looks into every split", Align::Left),
        Column::new("splits", Align::Right),
        Column::new("waves", Align::Right),
        Column::new("requests", Align::Right),
        Column::new("USD/million", Align::Right),
    ]);
    let mut row = |name: &str, estimate: &Estimate| {
        table.push(vec![
            Cell::new(name),
            Cell::new(numbers::count(estimate.num_splits)),
            Cell::new(numbers::count(estimate.num_waves)),
            Cell::new(numbers::count(estimate.num_requests)),
            Cell::new(format!("{:.2}", estimate.usd_per_million)),
        ]);
    };
    row("now, at least", &outlook.cold_query.now);
    if outlook.due_merges.num_merges > 0 {
        row(
            "after the merges that are due",
            &outlook.cold_query.after_due_merges,
        );
    }
    table.text(screen, "")
}
