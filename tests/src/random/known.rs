//! Differences that are known, each with the item of the audit (or the finding) that it is, while they are
//! being mended.
//!
//! Temporary. To see whether one is mended, take its line out of [`KNOWN`]; when the list is empty, this file
//! goes, with its uses in `bench.rs`, `dates.rs` and `table.rs`.

use super::aggregations::{Agg, What};
use super::query::{Bound, Leaf, Node};
use super::request::Request;
use super::schema::{Diet, Field, Kind, Normalizer, Setup};
use super::table::Table;

/// Item 14: a date of an unmapped field comes back in UTC.
pub(super) const DATES_LOSE_THEIR_OFFSET: bool = true;

/// Finding 4: before 1970 a date is cut towards 1970, not to the unit before it.
pub(super) const DATES_ARE_CUT_TOWARDS_1970: bool = true;

/// What of a request and of the problem makes it this one.
type IsIt = fn(&Setup, &Request, &str) -> bool;

const KNOWN: &[(&str, IsIt)] = &[
    (
        "finding 1: an excluded phrase panics with debug assertions",
        |_, _, problem| {
            problem.contains("should be greater than or equal to doc")
                || problem.contains("attempt to subtract with overflow")
        },
    ),
    (
        "item 5: a range with a bound of another type traps",
        |_, _, problem| problem.contains("called `Option::unwrap()` on a `None` value"),
    ),
    (
        "finding 2: bounds of a range aggregation are cut to integers",
        |setup, request, _| {
            any_agg(request, &|agg| {
                matches!(agg.what, What::Range { .. }) && is_integer(&setup.fields[agg.field])
            })
        },
    ),
    (
        "finding 3: terms by key of numbers of several types",
        |setup, request, problem| {
            (problem.contains("at place") || problem.contains("out of order"))
                && any_agg(request, &|agg| {
                    matches!(
                        agg.what,
                        What::Terms {
                            by_key: Some(_),
                            ..
                        }
                    ) && matches!(setup.fields[agg.field].kind, Kind::Json { .. } | Kind::F64)
                })
        },
    ),
    (
        "finding 5: a boost after a range belongs to its bound",
        |_, request, _| {
            any_node(
                &request.node,
                &|node| matches!(node, Node::Boost(inner) if matches!(**inner, Node::Leaf(Leaf::Range { .. }))),
            )
        },
    ),
    (
        "finding 7: a range of words that are lowercased",
        |setup, request, _| {
            any_leaf(&request.node, &|leaf| {
                matches!(leaf, Leaf::Range { field, .. } if setup.fields[*field].fast.is_none()
                && matches!(setup.fields[*field].kind, Kind::Text { tokenizer, .. } if tokenizer.lowercases()))
            })
        },
    ),
    (
        "finding 9: terms of addresses by key are in the order of their texts",
        |setup, request, _| {
            any_agg(request, &|agg| {
                matches!(
                    agg.what,
                    What::Terms {
                        by_key: Some(_),
                        ..
                    }
                ) && setup.fields[agg.field].kind == Kind::Ip
            })
        },
    ),
    (
        "finding 10: a column cuts texts after 65,535 bytes",
        |_, _, problem| {
            ["a text of 655", "(6553", "FromUtf8Error", "Not valid utf-8"]
                .iter()
                .any(|part| problem.contains(part))
        },
    ),
    (
        "finding 14: -0.0 in the order of hits and in ranges of aggregations",
        |setup, request, problem| {
            let is_float = |field: usize| setup.fields[field].kind == Kind::F64;
            let is_sorted = request.sort_by.iter().any(|key| is_float(key.field));
            (is_sorted && problem.contains("0.0"))
                || any_agg(request, &|agg| {
                    matches!(agg.what, What::Range { .. }) && is_float(agg.field)
                })
        },
    ),
    (
        "finding 15: ranges in an empty bucket",
        |_, request, problem| {
            problem.contains("no bucket from")
                && any_agg(request, &|agg| {
                    let is_range = |sub: &Agg| matches!(sub.what, What::Range { .. });
                    agg.sub.as_deref().is_some_and(is_range)
                })
        },
    ),
    ("item 10: terms with a histogram inside", |_, request, _| {
        any_agg(request, &|agg| {
            let is_histogram = |sub: &Agg| {
                matches!(
                    sub.what,
                    What::Histogram { .. } | What::DateHistogram { .. }
                )
            };
            matches!(agg.what, What::Terms { .. }) && agg.sub.as_deref().is_some_and(is_histogram)
        })
    }),
    (
        "item 11: ranges of dates inside JSON, of lowercased columns, and over the lengths of bounds",
        |setup, request, _| {
            any_leaf(&request.node, &|leaf| match leaf {
                Leaf::Range { field, .. } => {
                    let field = &setup.fields[*field];
                    matches!(
                        field.kind,
                        Kind::Json { .. } | Kind::Date { .. } | Kind::F64
                    ) || field.fast == Some(Normalizer::Lowercase)
                }
                _ => false,
            })
        },
    ),
    (
        "item 11: large bounds of signed numbers",
        |setup, request, _| {
            any_leaf(&request.node, &|leaf| match leaf {
                Leaf::Range {
                    field,
                    lower,
                    upper,
                } => {
                    setup.fields[*field].kind == Kind::I64
                        && [lower, upper].into_iter().any(is_large)
                }
                _ => false,
            })
        },
    ),
    ("item 11: -0.0 is not 0", |setup, request, _| {
        let is_float = |field: usize| {
            setup.fields[field].kind == Kind::F64
                || matches!(setup.fields[field].kind, Kind::Json { .. })
        };
        let is_zero = |text: &String| text.parse::<f64>() == Ok(0.0);
        any_node(&request.node, &|node| match node {
            Node::Leaf(Leaf::Words { fields, text, .. }) => {
                is_zero(text) && fields.iter().any(|field| is_float(*field))
            }
            Node::Leaf(Leaf::Set { field, elements }) => {
                is_float(*field) && elements.iter().any(is_zero)
            }
            Node::Group { field, values, .. } => is_float(*field) && values.iter().any(is_zero),
            _ => false,
        })
    }),
    (
        "item 12: existence of objects, of long lowercased values, of empty arrays",
        |setup, request, _| {
            any_leaf(&request.node, &|leaf| match leaf {
                Leaf::Exists { field }
                | Leaf::Range {
                    field,
                    lower: Bound::Open,
                    upper: Bound::Open,
                } => {
                    let field = &setup.fields[*field];
                    field.kind == Kind::Object
                        || matches!(field.kind, Kind::Json { .. })
                        || field.fast == Some(Normalizer::Lowercase)
                }
                _ => false,
            })
        },
    ),
    (
        "item 12: long values of lowercased columns",
        |setup, request, _| {
            let is_lowercase =
                |field: usize| setup.fields[field].fast == Some(Normalizer::Lowercase);
            request.sort_by.iter().any(|key| is_lowercase(key.field))
                || any_agg(request, &|agg| is_lowercase(agg.field))
        },
    ),
    ("item 13: wildcards", |_, request, _| {
        any_leaf(&request.node, &|leaf| {
            matches!(
                leaf,
                Leaf::Pattern {
                    is_regex: false,
                    ..
                }
            )
        })
    }),
    ("item 15: sorting by ip", |setup, request, _| {
        request
            .sort_by
            .iter()
            .any(|key| setup.fields[key.field].kind == Kind::Ip)
    }),
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

fn is_integer(field: &Field) -> bool {
    matches!(field.kind, Kind::I64 | Kind::U64) || matches!(field.diet, Diet::Numbers | Diet::Big)
}

fn is_large(bound: &Bound) -> bool {
    match bound {
        Bound::Open => false,
        Bound::Included(text) | Bound::Excluded(text) => {
            text.parse::<f64>().is_ok_and(|bound| bound.abs() > 1e18)
        }
    }
}

fn any_agg(request: &Request, is_it: &dyn Fn(&Agg) -> bool) -> bool {
    let agg = request.agg.as_ref();
    agg.is_some_and(|agg| is_it(agg) || agg.sub.as_deref().is_some_and(is_it))
}

fn any_leaf(node: &Node, is_it: &dyn Fn(&Leaf) -> bool) -> bool {
    any_node(
        node,
        &|node| matches!(node, Node::Leaf(leaf) if is_it(leaf)),
    )
}

fn any_node(node: &Node, is_it: &dyn Fn(&Node) -> bool) -> bool {
    is_it(node)
        || match node {
            Node::Leaf(_) | Node::Group { .. } => false,
            Node::And(nodes) | Node::Or(nodes) => nodes.iter().any(|node| any_node(node, is_it)),
            Node::Side(nodes) => nodes.iter().any(|(_, node)| any_node(node, is_it)),
            Node::Not(node) | Node::Boost(node) => any_node(node, is_it),
        }
}
