//! Ranges, sets and existence: `field:[a TO b}`, `field:>=a`, `field: IN [a b]`, `field:*`.

use std::ops::Bound;

use canter_aggregations::resolve_date;
use canter_doc_mapper::config::{JsonKind, RangeKind, RangeOf};
use canter_doc_mapper::{FieldKind, ResolvedField, ScannedField, Span, SpanEnd};
use tantivy::Term;
use tantivy::query::{
    AllQuery, ConstScoreQuery, EmptyQuery, ExistsQuery, InvertedIndexRangeQuery, Query,
};

use super::builder::{Builder, any_of, has_nothing, no_such_field, not_indexed};
use super::exact::period_in;
use super::literal::{find_term, term_query};
use super::value::{json_base_term, json_value_term, scalar_term};
use super::whole_values::any_whole_value;
use crate::SearchError;
use crate::query::columns::{
    ColumnQuery, SpanQuery, SpanTest, ValueRange, equal_values, second_of, term_ranges,
    value_ranges,
};
use crate::query::needs::TermRange;
use crate::query::scan::Wanted;
use crate::query::tree::{End, Range, SpanRelation};

pub(super) fn build_range(
    builder: &mut Builder<'_>,
    name: &str,
    lower: &Bound<String>,
    upper: &Bound<String>,
) -> Result<Box<dyn Query>, SearchError> {
    let field = builder.resolve(name)?;
    let lower = lower.as_ref().map(String::as_str);
    let upper = upper.as_ref().map(String::as_str);
    refuse_boost(lower, upper)?;
    // Behind a day is behind all of it, and up to a day includes all of it.
    let next = |text: &str| period_in(&field, text).map(|(_, next)| next);
    let (behind, until) = match (lower, upper) {
        (Bound::Excluded(lower), Bound::Included(upper)) => (next(lower), next(upper)),
        (Bound::Excluded(lower), _) => (next(lower), None),
        (_, Bound::Included(upper)) => (None, next(upper)),
        _ => (None, None),
    };
    let lower = behind.as_deref().map_or(lower, Bound::Included);
    let upper = until.as_deref().map_or(upper, Bound::Excluded);
    if matches!((lower, upper), (Bound::Unbounded, Bound::Unbounded)) {
        return build_exists(builder, name);
    }
    range_of(builder, name, &field, lower, upper)
}

/// Builds a query for the documents with a value between two bounds.
pub(super) fn range_of(
    builder: &mut Builder<'_>,
    name: &str,
    field: &ResolvedField<'_>,
    lower: Bound<&str>,
    upper: Bound<&str>,
) -> Result<Box<dyn Query>, SearchError> {
    if has_nothing(field, builder.mapper) {
        return Ok(Box::new(EmptyQuery));
    }
    if let FieldKind::Range(kind) = field.kind {
        let end = |bound: Bound<&str>, is_lower: bool| match bound {
            Bound::Unbounded => Ok(Some(None)),
            Bound::Included(text) | Bound::Excluded(text) => {
                let is_included = matches!(bound, Bound::Included(_));
                let end = SpanEnd {
                    is_lower,
                    is_included,
                };
                kind.asked(text, end).map(|code| code.map(Some))
            }
        };
        let ends = end(lower, true).and_then(|lower| Ok((lower, end(upper, false)?)));
        let ends = ends.map_err(|what| of_field(name, &what))?;
        return spans(builder, name, field, kind, SpanRelation::Intersects, ends);
    }
    if !field.is_fast() && !field.indexed && !field.scanned {
        return Err(SearchError::invalid(format!(
            "the field {name:?} is neither fast nor indexed, so it cannot be searched by a range: set \
             fast: true in its mapping"
        )));
    }
    let ranges = value_ranges(field, lower, upper)
        .map_err(|problem| SearchError::invalid(format!("field {name:?}: {problem}")))?;
    Ok(within_any(builder, field, ranges))
}

/// Builds a query for the documents with a range that has a relation to the wanted one.
pub(super) fn related(
    builder: &mut Builder<'_>,
    kind: &RangeKind,
    range: &Range,
) -> Result<Box<dyn Query>, SearchError> {
    let name = &range.field;
    let field = builder.resolve(name)?;
    if has_nothing(&field, builder.mapper) {
        return Ok(Box::new(EmptyQuery));
    }
    let has_dates = kind.of == RangeOf::Date;
    if !has_dates && (range.format.is_some() || range.time_zone.is_some()) {
        let what = "format and time_zone are for dates, and the field has none";
        return Err(of_field(name, what));
    }
    let code = |end: &Option<End>, is_lower: bool| match end {
        None => Ok(Some(None)),
        Some(end) => {
            let code = code_of(kind, range, end, is_lower);
            let code = code.map_err(|what| of_field(name, &what))?;
            Ok::<_, SearchError>(code.map(Some))
        }
    };
    let ends = (code(&range.lower, true)?, code(&range.upper, false)?);
    spans(builder, name, &field, kind, range.relation, ends)
}

fn of_field(name: &str, what: &str) -> SearchError {
    SearchError::invalid(format!("field {name:?}: {what}"))
}

/// Returns the code of an end of a range; `None` if no value lies on its side.
fn code_of(
    kind: &RangeKind,
    range: &Range,
    end: &End,
    is_lower: bool,
) -> Result<Option<u128>, String> {
    const MILLISECOND_NS: i64 = 1_000_000;
    let text = &end.given.text;
    let own_end = SpanEnd {
        is_lower,
        is_included: end.is_included,
    };
    let (format, zone) = (range.format.as_deref(), range.time_zone.as_deref());
    // The calendar moves dates beyond the times that have nanoseconds to the first or the last of these.
    let of_ns = |ns: i64| match ns {
        i64::MIN | i64::MAX => Err(beyond_nanoseconds(text)),
        ns => Ok(RangeOf::code_of_millis(
            ns.div_euclid(MILLISECOND_NS),
            own_end,
        )),
    };
    if let Some(ns) = end.from_now_ns {
        return of_ns(ns);
    }
    let is_plain = format.is_none() && zone.is_none() && !text.contains("||");
    let own = kind.asked(text, own_end);
    if kind.of != RangeOf::Date || (is_plain && own.is_ok()) {
        return own;
    }
    let round_up = is_lower != end.is_included;
    let steps_at = text.find("||").map_or(text.len(), |at| at + "||".len());
    let steps = text.match_indices(['+', '-', '/']);
    for (at, _) in steps.filter(|(at, _)| *at >= steps_at) {
        let before = text.get(..at).unwrap_or_default();
        if let Ok(i64::MIN | i64::MAX) = resolve_date(before, format, zone, 0, round_up) {
            return Err(beyond_nanoseconds(text));
        }
    }
    match resolve_date(text, format, zone, 0, round_up) {
        Ok(ns) => of_ns(ns),
        // In the format of documents.
        Err(_) if format.is_none() && own.is_ok() => own,
        Err(what) => Err(what),
    }
}

fn beyond_nanoseconds(text: &str) -> String {
    format!(
        "{text:?} is beyond the dates from 1677 to 2262, which are the ones for format, time_zone and date arithmetic: write \
         it as documents do"
    )
}

/// Builds a query for the documents with a range that has a relation to the one with these ends: `None` on whose side no
/// value lies, and `Some(None)` for one that is left open.
fn spans(
    builder: &mut Builder<'_>,
    name: &str,
    field: &ResolvedField<'_>,
    kind: &RangeKind,
    relation: SpanRelation,
    ends: (Option<Option<u128>>, Option<Option<u128>>),
) -> Result<Box<dyn Query>, SearchError> {
    let limits = kind.of.limits();
    let (Some(first), Some(last)) = ends else {
        return Ok(Box::new(EmptyQuery));
    };
    let wanted = Span {
        first: first.map_or(limits.first, |first| first.max(limits.first)),
        last: last.map_or(limits.last, |last| last.min(limits.last)),
    };
    if wanted.first > wanted.last {
        return Ok(Box::new(EmptyQuery));
    }
    let test = SpanTest { relation, wanted };
    if field.scanned {
        return Ok(builder.scan(ScannedField::of(field), Wanted::Span(test)));
    }
    if !field.indexed {
        return Err(not_indexed(name));
    }
    let terms = test.terms(field, kind.of);
    builder.needs.term_ranges.push(terms.clone());
    Ok(Box::new(SpanQuery { test, terms }))
}

/// Refuses a boost after a range with one end, which the grammar takes for a part of the bound.
fn refuse_boost(lower: Bound<&str>, upper: Bound<&str>) -> Result<(), SearchError> {
    let text = match (lower, upper) {
        (Bound::Included(text) | Bound::Excluded(text), Bound::Unbounded)
        | (Bound::Unbounded, Bound::Included(text) | Bound::Excluded(text)) => text,
        _ => return Ok(()),
    };
    match text.rsplit_once('^') {
        Some((before, boost)) if !before.is_empty() && boost.parse::<f64>().is_ok() => {
            Err(SearchError::invalid(format!(
                "the boost ^{boost} cannot stand directly behind a range with one end: put the range into \
                 brackets, as in (field:>4)^{boost}"
            )))
        }
        _ => Ok(()),
    }
}

/// Builds a query for the documents with a value in one of the ranges: from the column, or else from the terms.
fn within_any(
    builder: &mut Builder<'_>,
    field: &ResolvedField<'_>,
    ranges: Vec<ValueRange>,
) -> Box<dyn Query> {
    let mut queries: Vec<Box<dyn Query>> = Vec::new();
    for range in ranges {
        if field.is_fast() {
            let column = field.fast_field_name();
            builder.needs.fast_fields.insert(column.clone());
            queries.push(Box::new(ColumnQuery::new(column, range)));
            continue;
        }
        for (lower, upper) in term_ranges(field, &range) {
            if field.scanned {
                let wanted = Wanted::Range(lower, upper);
                queries.push(builder.scan(ScannedField::of(field), wanted));
                continue;
            }
            builder.needs.term_ranges.push(TermRange {
                field: field.field,
                lower: lower.clone(),
                upper: upper.clone(),
                positions: false,
            });
            queries.push(Box::new(InvertedIndexRangeQuery::new(lower, upper)));
        }
    }
    any_of(queries)
}

/// Returns whether a field is the timestamp field, which has no terms.
pub(super) fn is_timestamp(builder: &Builder<'_>, field: &ResolvedField<'_>) -> bool {
    let timestamp = builder.mapper.timestamp_field();
    timestamp.is_some_and(|(id, _)| id == field.field)
}

/// Builds a query for the documents in the second of this date, through the column of the timestamp field.
pub(super) fn build_second(
    builder: &mut Builder<'_>,
    name: &str,
    field: &ResolvedField<'_>,
    date: &str,
) -> Result<Box<dyn Query>, SearchError> {
    let range = second_of(field, date)
        .map_err(|problem| SearchError::invalid(format!("field {name:?}: {problem}")))?;
    Ok(within_any(builder, field, vec![range]))
}

/// Builds a query for the documents with this value in the column of a field without terms.
pub(super) fn build_equal(
    builder: &mut Builder<'_>,
    name: &str,
    field: &ResolvedField<'_>,
    value: &str,
) -> Result<Box<dyn Query>, SearchError> {
    if !field.is_fast() {
        return Err(not_indexed(name));
    }
    let ranges = equal_values(field, value)
        .map_err(|problem| SearchError::invalid(format!("field {name:?}: {problem}")))?;
    Ok(within_any(builder, field, ranges))
}

pub(super) fn build_set(
    builder: &mut Builder<'_>,
    name: &str,
    elements: &[String],
) -> Result<Box<dyn Query>, SearchError> {
    let field = builder.resolve(name)?;
    if has_nothing(&field, builder.mapper) {
        return Ok(Box::new(EmptyQuery));
    }
    let mut queries: Vec<Box<dyn Query>> = Vec::new();
    for element in elements {
        builder.spend_clause()?;
        let period = builder.in_period(name, &field, element)?;
        let is_date = matches!(field.kind, FieldKind::Date(_)) && period.is_some();
        queries.extend(period);
        if is_date {
            continue;
        }
        if !field.indexed && !field.scanned {
            queries.push(build_equal(builder, name, &field, element)?);
            continue;
        }
        if is_timestamp(builder, &field) {
            queries.push(build_second(builder, name, &field, element)?);
            continue;
        }
        if let FieldKind::Range(_) = field.kind {
            let bound = Bound::Included(element.as_str());
            queries.push(range_of(builder, name, &field, bound, bound)?);
            continue;
        }
        if let FieldKind::Json(json) = field.kind {
            // A JSON value that looks like a number may have been a number or a string.
            if let Some(term) = json_value_term(&field, json, element) {
                queries.push(find_term(builder, &field, term));
            }
            let mut term = json_base_term(&field, json);
            term.append_type_and_str(element);
            queries.push(find_term(builder, &field, term));
            continue;
        }
        let term = scalar_term(&field, element)
            .map_err(|problem| SearchError::invalid(format!("field {name:?}: {problem}")))?;
        queries.push(find_term(builder, &field, term));
    }
    Ok(any_of(queries))
}

pub(super) fn build_exists(
    builder: &mut Builder<'_>,
    name: &str,
) -> Result<Box<dyn Query>, SearchError> {
    let fields = builder.resolve_all(name);
    let says_it_itself = builder.mapper.id_field() == Some("_id");
    match name {
        // Every document has these of itself.
        "_seq_no" | "_version" if fields.is_empty() => return Ok(Box::new(AllQuery)),
        "_version" if says_it_itself => return Ok(Box::new(AllQuery)),
        _ => {}
    }
    if fields.is_empty() && name == "_source" {
        return Err(no_such_field(name));
    }
    // A field that is neither mapped nor dynamic exists in no document.
    let mut queries: Vec<Box<dyn Query>> = Vec::new();
    for field in fields {
        let path = field.path();
        if has_nothing(&field, builder.mapper) {
            queries.push(Box::new(EmptyQuery));
        } else if is_timestamp(builder, &field) {
            // Every document has a timestamp: ingestion rejects documents without one.
            queries.push(Box::new(AllQuery));
        } else if field.view.is_some() {
            queries.push(any_whole_value(builder, &field));
        } else if field.is_fast() {
            builder.needs.fast_fields.insert(path.clone());
            let mut told: Vec<Box<dyn Query>> = vec![Box::new(ExistsQuery::new(path, true))];
            if let Some(term) = presence_term(builder, &field) {
                // Documents whose value is too long for the column.
                told.push(term_query(builder, term));
            }
            let exists = any_of(told);
            // It may be a match-all query, whose score tantivy drops.
            queries.push(match builder.scoring {
                true => Box::new(ConstScoreQuery::new(exists, 1.0)),
                false => exists,
            });
        } else if field.scanned {
            queries.push(builder.scan(ScannedField::of(&field), Wanted::Value));
        } else if let Some(term) = presence_term(builder, &field) {
            queries.push(term_query(builder, term));
        } else if let (FieldKind::Range(kind), true) = (field.kind, field.indexed) {
            let all = (Some(None), Some(None));
            let relation = SpanRelation::Intersects;
            queries.push(spans(builder, &path, &field, kind, relation, all)?);
        } else if let (true, true, FieldKind::Json(json)) =
            (builder.mapper.is_of_segment(), field.is_dynamic, field.kind)
        {
            // Before the field was mapped, this query was an error; now scanning its terms is worth the cost.
            queries.push(any_term(builder, &field, json));
        } else {
            let of_whole = match path == name {
                true => String::new(),
                false => format!(" (it is part of {name:?})"),
            };
            let remedy = match field.indexed {
                true => {
                    "set fast: true in its mapping, or index_field_presence: true in doc_mapping"
                }
                false => "set fast: true in its mapping",
            };
            return Err(SearchError::invalid(format!(
                "whether {path:?}{of_whole} exists cannot be told: {remedy}"
            )));
        }
    }
    Ok(any_of(queries))
}

fn presence_term(builder: &Builder<'_>, field: &ResolvedField<'_>) -> Option<Term> {
    let presence = builder.mapper.field_presence_field()?;
    Some(Term::from_field_u64(presence, field.presence_hash()?))
}

/// Builds a query for the documents with any term at a path of a JSON field or below it.
fn any_term(
    builder: &mut Builder<'_>,
    field: &ResolvedField<'_>,
    json: &JsonKind,
) -> Box<dyn Query> {
    /// A byte above the separators in paths: 1 between the parts, 0 at the end.
    const BEHIND_ALL_OF_A_PATH: u8 = 2;
    let lower = json_base_term(field, json);
    let mut path = lower.serialized_value_bytes().to_vec();
    path.pop();
    path.push(BEHIND_ALL_OF_A_PATH);
    let mut upper = lower.clone();
    upper.truncate_value_bytes(0);
    upper.append_bytes(&path);
    let (lower, upper) = (Bound::Included(lower), Bound::Excluded(upper));
    builder.needs.term_ranges.push(TermRange {
        field: field.field,
        lower: lower.clone(),
        upper: upper.clone(),
        positions: false,
    });
    Box::new(InvertedIndexRangeQuery::new(lower, upper))
}
