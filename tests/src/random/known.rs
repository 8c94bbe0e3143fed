//! Differences from the scan that are known and documented, until aggregations have an engine of their own.
//!
//! To see whether one is mended, take its line out of [`KNOWN`]; when the list is empty, this file goes, with its
//! uses in `bench.rs` and `dates.rs`.

use super::aggregations::{Agg, What};
use super::request::Request;
use super::schema::{Kind, Setup};
use super::table::Table;

/// tantivy divides towards zero: before 1970 a date is cut towards 1970, not to the unit before it.
pub(super) const DATES_ARE_CUT_TOWARDS_1970: bool = true;

/// What of a request and of the problem makes it this one.
type IsIt = fn(&Setup, &Request, &str) -> bool;

const KNOWN: &[(&str, IsIt)] = &[
    (
        "terms of addresses by key are in the order of their texts",
        |setup, request, _| {
            any_agg(request, &|agg| {
                let is_by_key = matches!(
                    agg.what,
                    What::Terms {
                        by_key: Some(_),
                        ..
                    }
                );
                is_by_key && setup.fields[agg.field].kind == Kind::Ip
            })
        },
    ),
    (
        "a range aggregation over no documents has no buckets",
        |_, request, problem| {
            problem.contains("no bucket from")
                && any_agg(request, &|agg| {
                    let is_range = |agg: &Agg| matches!(agg.what, What::Range { .. });
                    is_range(agg) || agg.sub.as_deref().is_some_and(is_range)
                })
        },
    ),
];

/// What a difference is, if it is known. With `CANTER_RANDOM_SHOW_KNOWN` none is.
pub(super) fn known(table: &Table, request: &Request, problem: &str) -> Option<&'static str> {
    if std::env::var_os("CANTER_RANDOM_SHOW_KNOWN").is_some() {
        return None;
    }
    let found = KNOWN
        .iter()
        .find(|(_, is_it)| is_it(&table.setup, request, problem));
    found.map(|(name, _)| *name)
}

fn any_agg(request: &Request, is_it: &dyn Fn(&Agg) -> bool) -> bool {
    let agg = request.agg.as_ref();
    agg.is_some_and(|agg| is_it(agg) || agg.sub.as_deref().is_some_and(is_it))
}
