//! Validation of aggregations against the doc mapping, before any split is opened.

use canter_doc_mapper::{DocMapper, FieldKind, ResolvedField, infer_rfc3339};

use crate::calendar::{DateFormat, Zone};
use crate::key::Key;
use crate::numbers::Number;
use crate::request::{
    Aggregation, Aggregations, Choice, Composite, CompositeBy, CompositeSource, Kind, ListOf,
    Metric, MetricOf, RangeOf, RateOf, Source, TopBy, address, exact_number,
};
use crate::respond::choice_text;
use crate::{Error, Result};

/// Types of values that an aggregation accepts.
#[derive(Clone, Copy, PartialEq)]
enum Takes {
    NumbersAndDates,
    Numbers,
    Dates,
    Addresses,
    Texts,
    Points,
    /// All types with an order and a key: everything but bytes and points.
    Terms,
    /// Everything but bytes.
    Values,
}

impl Takes {
    fn takes(self, kind: &FieldKind) -> bool {
        match kind {
            // The types of its values are only known from the columns.
            FieldKind::Json(_) => self != Self::Points,
            FieldKind::Object(_)
            | FieldKind::Concatenate(_)
            | FieldKind::Bytes(_)
            | FieldKind::Range(_)
            | FieldKind::Vector(_) => false,
            FieldKind::GeoPoint(_) => matches!(self, Self::Points | Self::Values),
            FieldKind::U64(_) | FieldKind::I64(_) | FieldKind::F64(_) => !matches!(
                self,
                Self::Dates | Self::Addresses | Self::Texts | Self::Points
            ),
            FieldKind::Date(_) => matches!(
                self,
                Self::NumbersAndDates | Self::Dates | Self::Terms | Self::Values
            ),
            FieldKind::Ip => matches!(self, Self::Addresses | Self::Terms | Self::Values),
            FieldKind::Text(_) => matches!(self, Self::Texts | Self::Terms | Self::Values),
            FieldKind::Bool => matches!(self, Self::Terms | Self::Values),
        }
    }

    fn in_words(self) -> &'static str {
        match self {
            Self::NumbersAndDates => "numbers and dates",
            Self::Numbers => "numbers",
            Self::Dates => "dates",
            Self::Addresses => "addresses",
            Self::Texts => "texts",
            Self::Points => "points",
            Self::Terms => "fields with terms",
            Self::Values => "all fields but bytes",
        }
    }
}

impl Aggregations {
    /// Checks that the fields of all aggregations have accepted types.
    ///
    /// # Errors
    /// A field has another type. The message begins with the path of the aggregation.
    pub fn check(&self, mapper: &DocMapper) -> Result<()> {
        for list in &self.lists {
            let path = &list.path;
            let is_of_objects = list.of == ListOf::Objects;
            if is_of_objects && !mapper.is_nested(path) && mapper.resolve(path).is_some() {
                return Err(Error::Invalid(format!(
                    "[nested] nested path [{path}] is not nested"
                )));
            }
        }
        self.list
            .iter()
            .try_for_each(|aggregation| check(mapper, aggregation))
    }
}

impl Aggregations {
    /// Returns the untyped fields whose values are keys of a `composite`. [`Self::answer`] writes
    /// their dates so that they differ from numbers.
    pub fn untyped_keys(&self, mapper: &DocMapper) -> Vec<String> {
        let mut fields = Vec::new();
        self.list
            .iter()
            .for_each(|aggregation| add_untyped(mapper, aggregation, &mut fields));
        canter_sorting::sort(&mut fields);
        fields.dedup();
        fields
    }
}

impl Aggregations {
    /// Returns the fields whose numbers are unsigned, which some clients tell from others.
    pub fn unsigned_keys(&self, mapper: &DocMapper) -> Vec<String> {
        let mut fields = Vec::new();
        let mut left: Vec<&Aggregation> = self.list.iter().collect();
        while let Some(aggregation) = left.pop() {
            if let Kind::Terms(terms) = &aggregation.kind
                && matches!(mapper.kind_of(&terms.source.field), Some(FieldKind::U64(_)))
            {
                fields.push(terms.source.field.clone());
            }
            left.extend(&aggregation.inside);
        }
        canter_sorting::sort(&mut fields);
        fields.dedup();
        fields
    }
}

fn add_untyped(mapper: &DocMapper, aggregation: &Aggregation, fields: &mut Vec<String>) {
    if let Kind::Composite(composite) = &aggregation.kind {
        let is_untyped = |field: &&CompositeSource| {
            let kind = mapper.kind_of(&field.field);
            matches!(kind, Some(FieldKind::Json(_)))
        };
        let sources = composite.sources.iter().filter(is_untyped);
        fields.extend(sources.map(|source| source.field.clone()));
    }
    aggregation
        .inside
        .iter()
        .for_each(|inside| add_untyped(mapper, inside, fields));
}

fn check(mapper: &DocMapper, aggregation: &Aggregation) -> Result<()> {
    let of = |source: &Source, takes| check_source(mapper, aggregation, source, takes);
    let named = |field: &str, takes| check_field(mapper, aggregation, field, takes);
    match &aggregation.kind {
        Kind::Terms(terms) => {
            of(&terms.source, Takes::Terms)?;
            let choices = [&terms.include, &terms.exclude];
            check_choices(mapper, aggregation, &terms.source.field, choices)?;
        }
        Kind::RareTerms(terms) => {
            of(&terms.source, Takes::Terms)?;
            let choices = [&terms.include, &terms.exclude];
            check_choices(mapper, aggregation, &terms.source.field, choices)?;
        }
        Kind::Significant(terms) => {
            let field = &terms.source.field;
            if !is_text(mapper, field) {
                of(&terms.source, Takes::Terms)?;
            }
            check_choices(mapper, aggregation, field, [&terms.include, &terms.exclude])?;
        }
        Kind::Categories(categories) => check_messages(mapper, aggregation, &categories.field)?,
        Kind::MultiTerms(terms) => {
            for source in &terms.sources {
                of(source, Takes::Terms)?;
            }
        }
        Kind::Histogram(histogram) => of(&histogram.source, Takes::NumbersAndDates)?,
        Kind::DateHistogram(histogram) => of(&histogram.source, Takes::Dates)?,
        Kind::AutoDateHistogram(histogram) => of(&histogram.source, Takes::Dates)?,
        Kind::Range(range) => of(
            &range.source,
            match &range.what {
                RangeOf::Distances(_) => Takes::Points,
                RangeOf::Numbers => Takes::Numbers,
                RangeOf::Dates => Takes::Dates,
                RangeOf::Addresses => Takes::Addresses,
            },
        )?,
        Kind::IpPrefix(prefix) => named(&prefix.field, Takes::Addresses)?,
        Kind::Grid(grid) => named(&grid.field, Takes::Points)?,
        Kind::Missing(missing) => named(&missing.field, Takes::Values)?,
        Kind::Composite(composite) => {
            for source in &composite.sources {
                let takes = match &source.by {
                    CompositeBy::Terms => Takes::Terms,
                    CompositeBy::Histogram { .. } => Takes::NumbersAndDates,
                    CompositeBy::Dates { .. } => Takes::Dates,
                };
                named(&source.field, takes)?;
            }
            check_after(mapper, &aggregation.path, composite)?;
        }
        Kind::Filter(_)
        | Kind::Filters(_)
        | Kind::Adjacency(_)
        | Kind::Nested(_)
        | Kind::ReverseNested(_) => {}
        Kind::Metric(metric) => check_metric(mapper, aggregation, metric)?,
    }
    aggregation
        .inside
        .iter()
        .try_for_each(|inside| check(mapper, inside))
}

/// Checks the fields of an aggregation without buckets.
/// Checks that a field has texts, which are read from documents where it has no column.
fn check_messages(mapper: &DocMapper, aggregation: &Aggregation, field: &str) -> Result<()> {
    let is_json = matches!(mapper.kind_of(field), Some(FieldKind::Json(_)));
    match is_json || is_text(mapper, field) {
        true => Ok(()),
        false => check_field(mapper, aggregation, field, Takes::Texts),
    }
}

/// Returns whether a field is a mapped text, with or without a column.
fn is_text(mapper: &DocMapper, field: &str) -> bool {
    let is_text = |field: ResolvedField<'_>| matches!(field.kind, FieldKind::Text(_));
    mapper.resolve(field).is_some_and(is_text)
}

fn check_metric(mapper: &DocMapper, aggregation: &Aggregation, metric: &Metric) -> Result<()> {
    let of = |source: &Source, takes| check_source(mapper, aggregation, source, takes);
    let named = |field: &str, takes| check_field(mapper, aggregation, field, takes);
    match &metric.what {
        MetricOf::ValueCount | MetricOf::Cardinality if metric.source.missing.is_some() => {
            of(&metric.source, Takes::Terms)
        }
        MetricOf::ValueCount | MetricOf::Cardinality => of(&metric.source, Takes::Values),
        MetricOf::GeoBounds { .. } | MetricOf::GeoCentroid => of(&metric.source, Takes::Points),
        MetricOf::WeightedAvg { weight } => {
            of(&metric.source, Takes::Numbers)?;
            of(weight, Takes::Numbers)
        }
        MetricOf::TopHits(hits) | MetricOf::TopMetrics(hits) => {
            for key in &hits.sort {
                if let TopBy::Field(field) = &key.by {
                    named(field, Takes::Terms)?;
                }
            }
            for field in &hits.fields {
                named(field, Takes::Terms)?;
            }
            Ok(())
        }
        MetricOf::StringStats { .. } => of(&metric.source, Takes::Texts),
        MetricOf::Rate(rate) if rate.of == RateOf::Documents => Ok(()),
        MetricOf::Rate(_) => of(&metric.source, Takes::Numbers),
        _ => of(&metric.source, Takes::NumbersAndDates),
    }
}

/// Refuses patterns of addresses: their texts have several forms.
fn check_choices(
    mapper: &DocMapper,
    aggregation: &Aggregation,
    field: &str,
    choices: [&Option<Choice>; 2],
) -> Result<()> {
    let is_pattern = |choice: &&Option<Choice>| matches!(choice, Some(Choice::Pattern(_)));
    let is_of_addresses = matches!(mapper.kind_of(field), Some(FieldKind::Ip));
    match is_of_addresses && choices.iter().any(is_pattern) {
        true => Err(Error::invalid(
            &aggregation.path,
            &format!(
                "Aggregation [{}] cannot support regular expression style include/exclude settings as they can only \
                 be applied to string fields. Use an array of values for include/exclude clauses",
                aggregation.name
            ),
        )),
        false => Ok(()),
    }
}

/// Checks a field, and what stands for a value that is missing.
fn check_source(
    mapper: &DocMapper,
    aggregation: &Aggregation,
    source: &Source,
    takes: Takes,
) -> Result<()> {
    check_field(mapper, aggregation, &source.field, takes)?;
    let Some(missing) = source.missing.as_ref().filter(|_| takes == Takes::Terms) else {
        return Ok(());
    };
    match missing_key(mapper, &source.field, missing) {
        Some(_) => Ok(()),
        None => Err(Error::invalid(
            &aggregation.path,
            &format!(
                "missing is no value that the field {:?} can have",
                source.field
            ),
        )),
    }
}

fn check_field(
    mapper: &DocMapper,
    aggregation: &Aggregation,
    name: &str,
    takes: Takes,
) -> Result<()> {
    // A message names the path without the kind of the aggregation.
    let path = aggregation
        .path
        .rsplit_once('.')
        .map_or("", |(path, _)| path);
    let invalid = |what: &str| Err(Error::invalid(path, &format!("the field {name:?} {what}")));
    let Some(field) = mapper.resolve(name) else {
        return match mapper.resolve_all(name).is_empty() {
            true => invalid("does not exist in this index"),
            false => invalid("is an object: name a field inside it"),
        };
    };
    if !field.is_fast() {
        return invalid("is not fast: set fast: true in its mapping and build the index again");
    }
    if !takes.takes(field.kind) {
        let takes = takes.in_words();
        let kind = field.kind.type_name();
        return invalid(&format!("has type {kind}; this takes {takes}"));
    }
    Ok(())
}

/// Checks that the `after` key of a composite has values that its fields can have.
fn check_after(mapper: &DocMapper, path: &str, composite: &Composite) -> Result<()> {
    for (source, key) in composite
        .sources
        .iter()
        .zip(composite.after.iter().flatten())
    {
        if let (CompositeBy::Terms, Some(key)) = (&source.by, key)
            && after_key(mapper, &source.field, key).is_none()
        {
            let path = format!("{path}.after");
            let what = format!(
                "the value of {:?} is none that such a source has",
                source.name
            );
            return Err(Error::invalid(&path, &what));
        }
    }
    Ok(())
}

/// Converts a key of terms from a request to the form in columns. Answers show dates as numbers and
/// addresses as texts, which would be keys of another type with another position in the order.
pub(crate) fn after_key(mapper: &DocMapper, field: &str, key: &Key) -> Option<Key> {
    let kind = mapper.kind_of(field)?;
    match (kind, key) {
        (FieldKind::Date(_), Key::Date(_)) => Some(key.clone()),
        (FieldKind::Date(_), Key::Number(ms)) => nanoseconds(*ms).map(Key::Date),
        (FieldKind::Date(_), Key::Text(text)) => rfc3339(text).map(Key::Date),
        // In an untyped field, a text of this form is a date in every document.
        (FieldKind::Json(_), Key::Text(text)) => {
            Some(rfc3339(text).map_or_else(|| key.clone(), Key::Date))
        }
        (FieldKind::Ip, Key::Text(text)) => address(text).map(Key::Address),
        (FieldKind::U64(_) | FieldKind::I64(_) | FieldKind::F64(_), Key::Number(_))
        | (FieldKind::Bool, Key::Bool(_))
        | (FieldKind::Text(_), Key::Text(_))
        | (FieldKind::Json(_), _) => Some(key.clone()),
        _ => None,
    }
}

/// Converts the substitute for a missing value to the form in columns, so that it shares its key
/// with documents that have this value.
pub(crate) fn missing_key(mapper: &DocMapper, field: &str, key: &Key) -> Option<Key> {
    let Some(kind) = mapper.kind_of(field) else {
        return Some(key.clone());
    };
    match (kind, key) {
        (FieldKind::F64(_), Key::Number(number)) => Some(Key::Number(number.to_f64().into())),
        (FieldKind::U64(_) | FieldKind::I64(_) | FieldKind::F64(_), Key::Text(text)) => {
            let number = serde_json::from_str(text).ok()?;
            missing_key(mapper, field, &Key::Number(exact_number(&number)?))
        }
        (FieldKind::Bool, Key::Text(text)) => text.parse().ok().map(Key::Bool),
        (FieldKind::Text(_), Key::Number(_) | Key::Bool(_)) => {
            Some(Key::Text(choice_text(key).into_owned()))
        }
        (FieldKind::Date(_), Key::Text(text)) => {
            let time_ns = DateFormat::default().read(text, &Zone::utc(), false);
            time_ns.ok().map(Key::Date)
        }
        _ => after_key(mapper, field, key),
    }
}

/// Parses a date as written in answers for fractions of milliseconds and for untyped fields.
fn rfc3339(text: &str) -> Option<i64> {
    infer_rfc3339(text).map(|date| date.into_timestamp_nanos())
}

/// Converts milliseconds to nanoseconds.
fn nanoseconds(ms: Number) -> Option<i64> {
    const MILLISECOND_NS: i64 = 1_000_000;
    match ms {
        Number::Integer(ms) => i64::try_from(ms).ok()?.checked_mul(MILLISECOND_NS),
        Number::Float(ms) => {
            let ns = (ms * MILLISECOND_NS as f64).round();
            #[expect(
                clippy::cast_possible_truncation,
                reason = "it was checked to be within the range"
            )]
            (ns.abs() < 9.2e18).then_some(ns as i64)
        }
    }
}
