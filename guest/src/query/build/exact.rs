//! Queries for whole values and terms, as Elasticsearch's term-level queries: the text is not tokenized into words.
//!
//! The transformations of a keyword's tokenizer (one that does not split) apply to the text, as Elasticsearch's
//! normalizers do. In a field with words, a term is looked up as it is written.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ops::Bound;
use std::sync::Arc;

use canter_aggregations::resolve_date;
use canter_doc_mapper::tokenizers::Extent;
use canter_doc_mapper::{DateInput, FieldKind, ResolvedField};
use tantivy::query::{ConstScoreQuery, EmptyQuery, Query};
use tantivy::schema::DateTimePrecision;
use tantivy::time::format_description::well_known::Rfc3339;
use tantivy::{DateTime, Term};

use super::builder::{Builder, any_of, has_nothing, not_indexed};
use super::literal::find_term;
use super::range::{build_exists, range_of, related};
use super::sets::{NearWord, TermAutomaton};
use super::value::{json_base_term, json_value_term, scalar_term};
use super::wildcard::{
    ANY_TEXT, Pattern, any_character, automaton, expression_of, find_automaton, literal_expression,
};
use super::words::text_term;
use crate::SearchError;
use crate::query::columns::in_width;
use crate::query::tree::{End, Fuzziness, Given, PatternKind, Range, SpanRelation};

/// A text that a splitting tokenizer divides into two words.
const TWO_WORDS: &str = "a b";

impl Builder<'_> {
    /// Builds a query for the documents with this value.
    pub(super) fn exact(
        &mut self,
        name: &str,
        value: &Given,
        case_insensitive: bool,
    ) -> Result<Box<dyn Query>, SearchError> {
        let field = self.resolve(name)?;
        if has_nothing(&field, self.mapper) {
            return Ok(Box::new(EmptyQuery));
        }
        if case_insensitive {
            return self.pattern(name, PatternKind::Term, &value.text, true);
        }
        match field.kind {
            FieldKind::Text(text) if field.indexed || field.scanned => {
                let term = self.as_in_terms(&field, &text.tokenizer, &value.text, Extent::Whole);
                let term = Term::from_field_text(field.field, &term);
                Ok(find_term(self, &field, term))
            }
            FieldKind::Json(json) if field.indexed || field.scanned => {
                let mut queries = Vec::new();
                queries.extend(self.in_period(name, &field, &value.text)?);
                // A numeric text may have been a number or a text in the document.
                if let Some(term) = json_value_term(&field, json, &value.text) {
                    queries.push(find_term(self, &field, term));
                }
                let mut term = json_base_term(&field, json);
                let text = self.as_in_terms(&field, &json.tokenizer, &value.text, Extent::Whole);
                term.append_type_and_str(&text);
                queries.push(find_term(self, &field, term));
                Ok(any_of(queries))
            }
            FieldKind::Date(_) => self.at_date(name, value),
            FieldKind::Ip if value.text.contains('/') => self.in_network(name, &field, &value.text),
            _ => {
                let term = match field.indexed || field.scanned {
                    true => scalar_term(&field, &value.text).ok(),
                    false => None,
                };
                match term {
                    Some(term) => Ok(find_term(self, &field, term)),
                    // `5.0` is 5 for an integer; 5.5 is not an integer.
                    None => {
                        let text = in_width(&field, &value.text);
                        let bound = Bound::Included(&*text);
                        range_of(self, name, &field, bound, bound)
                    }
                }
            }
        }
    }

    /// Builds a query for the documents with an address of a network such as `10.0.0.0/8`.
    pub(super) fn in_network(
        &mut self,
        name: &str,
        field: &ResolvedField<'_>,
        text: &str,
    ) -> Result<Box<dyn Query>, SearchError> {
        let (first, last) = network(text).ok_or_else(|| {
            SearchError::invalid(format!("field {name:?}: {text:?} is no network"))
        })?;
        let (first, last) = (first.to_string(), last.to_string());
        let bounds = (Bound::Included(&*first), Bound::Included(&*last));
        range_of(self, name, field, bounds.0, bounds.1)
    }

    /// Builds a query for the documents with one of these values, all with the same score.
    pub(super) fn one_of(
        &mut self,
        name: &str,
        values: &[Given],
    ) -> Result<Box<dyn Query>, SearchError> {
        let query = self.without_scores(|builder| {
            builder.any_of_terms(|builder| {
                let queries = values.iter().map(|value| builder.exact(name, value, false));
                queries.collect()
            })
        })?;
        Ok(match self.scoring {
            true => Box::new(ConstScoreQuery::new(query, 1.0)),
            false => query,
        })
    }

    /// Builds a query for the documents with a value within a range.
    pub(super) fn between(&mut self, range: &Range) -> Result<Box<dyn Query>, SearchError> {
        let name = &range.field;
        if let FieldKind::Range(kind) = self.resolve(name)?.kind {
            return related(self, kind, range);
        }
        if range.lower.is_none() && range.upper.is_none() {
            return build_exists(self, name);
        }
        let field = self.resolve(name)?;
        let is_date = matches!(field.kind, FieldKind::Date(_));
        let is_json = matches!(field.kind, FieldKind::Json(_));
        if !is_date && !is_json && (range.format.is_some() || range.time_zone.is_some()) {
            return Err(SearchError::invalid(format!(
                "range on {name:?}: format and time_zone are for dates, and the field has none"
            )));
        }
        let text = |end: &Option<End>, is_lower: bool| {
            let Some(end) = end else {
                return Ok(None);
            };
            Ok::<_, SearchError>(Some(match is_date || is_json {
                true => date_end(&field, range, end, is_lower == end.is_included)
                    .map_err(|what| SearchError::invalid(format!("range on {name:?}: {what}")))?,
                false => (end.given.text.clone(), end.is_included),
            }))
        };
        let (lower, upper) = (text(&range.lower, true)?, text(&range.upper, false)?);
        range_of(self, name, &field, bound(&lower), bound(&upper))
    }

    /// Builds a query for the documents with this date, at its own precision: a day stands for the whole day.
    fn at_date(&mut self, name: &str, value: &Given) -> Result<Box<dyn Query>, SearchError> {
        let end = End {
            given: value.clone(),
            is_included: true,
            from_now_ns: None,
        };
        self.between(&Range {
            field: name.to_owned(),
            lower: Some(end.clone()),
            upper: Some(end),
            format: None,
            time_zone: None,
            relation: SpanRelation::default(),
        })
    }

    /// Builds a query for the documents with a date within an incomplete one, such as a day or month. Returns `None` if
    /// `text` is something else, or means another date in the field's own formats.
    pub(super) fn in_period(
        &mut self,
        name: &str,
        field: &ResolvedField<'_>,
        text: &str,
    ) -> Result<Option<Box<dyn Query>>, SearchError> {
        let Some((first, next)) = period_in(field, text) else {
            return Ok(None);
        };
        let (first, next) = (Bound::Included(&*first), Bound::Excluded(&*next));
        range_of(self, name, field, first, next).map(Some)
    }

    /// Builds a query for the documents with a term that matches a pattern.
    pub(super) fn pattern(
        &mut self,
        name: &str,
        kind: PatternKind,
        pattern: &str,
        case_insensitive: bool,
    ) -> Result<Box<dyn Query>, SearchError> {
        let field = self.resolve(name)?;
        if has_nothing(&field, self.mapper) {
            return Ok(Box::new(EmptyQuery));
        }
        let tokenizer = self.words_field(name, &field)?.to_owned();
        let expression = match kind {
            PatternKind::Regexp => {
                let pattern = self.outside_escapes(&field, &tokenizer, pattern);
                any_character(&pattern)?
            }
            PatternKind::Prefix => {
                let start = self.as_in_terms(&field, &tokenizer, pattern, Extent::Part);
                literal_expression(&start) + ANY_TEXT
            }
            PatternKind::Wildcard => Pattern::of_lucene(pattern).expression(field.letters),
            PatternKind::Term => {
                let term = self.as_in_terms(&field, &tokenizer, pattern, Extent::Whole);
                Pattern::literal(&term).plain()
            }
        };
        let expression = match case_insensitive {
            true => expression_of(&expression, true),
            false => expression,
        };
        automaton(self, &field, &expression)
    }

    /// Builds a query for the documents with a term close to this one.
    pub(super) fn fuzzy(
        &mut self,
        name: &str,
        value: &str,
        fuzziness: Fuzziness,
    ) -> Result<Box<dyn Query>, SearchError> {
        let field = self.resolve(name)?;
        if has_nothing(&field, self.mapper) {
            return Ok(Box::new(EmptyQuery));
        }
        let tokenizer = self.words_field(name, &field)?.to_owned();
        let word = self.as_in_terms(&field, &tokenizer, value, Extent::Whole);
        self.near_word(&field, &word, fuzziness)
    }

    /// Builds a query for the documents with a term close to this word, which the field's tokenizer has processed.
    pub(super) fn near_word(
        &mut self,
        field: &ResolvedField<'_>,
        word: &str,
        fuzziness: Fuzziness,
    ) -> Result<Box<dyn Query>, SearchError> {
        if fuzziness.edits.of_word(word) == 0 {
            return Ok(find_term(self, field, text_term(field, word)));
        }
        let near = self.near_automaton(field, word, fuzziness)?;
        Ok(find_automaton(self, field, near))
    }

    /// Returns the automaton of the terms close to a word.
    pub(super) fn near_automaton(
        &mut self,
        field: &ResolvedField<'_>,
        word: &str,
        fuzziness: Fuzziness,
    ) -> Result<TermAutomaton, SearchError> {
        let edits = fuzziness.edits.of_word(word);
        let mut exact = match field.kind {
            FieldKind::Json(json) => {
                let mut base = json_base_term(field, json);
                base.append_type_and_str("");
                base.serialized_value_bytes().to_vec()
            }
            _ => Vec::new(),
        };
        let prefix_len = word
            .char_indices()
            .nth(fuzziness.prefix_len)
            .map_or(word.len(), |(at, _)| at);
        let (start, rest) = word.split_at_checked(prefix_len).unwrap_or((word, ""));
        exact.extend_from_slice(start.as_bytes());
        self.spend_pattern()?;
        let near = NearWord::new(exact, rest, edits, fuzziness.has_transpositions)?;
        Ok(TermAutomaton::Near(Arc::new(near)))
    }

    /// Returns the tokenizer of a field whose terms are matched by a pattern.
    pub(super) fn words_field<'f>(
        &self,
        name: &str,
        field: &ResolvedField<'f>,
    ) -> Result<&'f str, SearchError> {
        let tokenizer = match field.kind {
            FieldKind::Text(text) => &text.tokenizer,
            FieldKind::Json(json) => &json.tokenizer,
            _ => {
                return Err(SearchError::invalid(format!(
                    "the field {name:?} is no text, so its terms have no form that could be looked for"
                )));
            }
        };
        match field.indexed || field.scanned {
            true => Ok(tokenizer),
            false => Err(not_indexed(name)),
        }
    }

    /// Returns an expression whose letters are as in the terms of a keyword. Those behind a backslash may be operators.
    fn outside_escapes(
        &self,
        field: &ResolvedField<'_>,
        tokenizer: &str,
        expression: &str,
    ) -> String {
        let mut written = String::with_capacity(expression.len());
        let mut is_escaped = false;
        for part in expression.split_inclusive('\\') {
            let first = part.chars().next().filter(|_| is_escaped);
            let (operator, rest) = part.split_at(first.map_or(0, char::len_utf8));
            written.push_str(operator);
            written.push_str(&self.as_in_terms(field, tokenizer, rest, Extent::Part));
            // A backslash behind a backslash is a character.
            is_escaped = rest.ends_with('\\');
        }
        written
    }

    /// Returns a text as it appears among the terms of a keyword; unchanged where the tokenizer splits.
    pub(super) fn as_in_terms(
        &self,
        field: &ResolvedField<'_>,
        tokenizer: &str,
        text: &str,
        extent: Extent,
    ) -> String {
        let mut num_words = 0;
        if let Some(mut analyzer) = self.mapper.tokenizers().get(tokenizer) {
            analyzer
                .token_stream(TWO_WORDS)
                .process(&mut |_| num_words += 1);
        }
        match num_words == 1 {
            true => field.letters.apply(text, extent),
            false => text.to_owned(),
        }
    }
}

/// Returns the first moment of an incomplete date such as `2024-05-02` or `2024-05`, and the first one behind it, as far
/// as a field has dates. Returns `None` for other texts, and if the field's own formats read it as another date.
pub(super) fn period_in(field: &ResolvedField<'_>, text: &str) -> Option<(String, String)> {
    const NUM_DIGITS_OF_YEAR: usize = 4;
    const LEN_OF_MONTH: usize = "-05".len();
    const LEN_OF_DAY: usize = "-05-02".len();
    if !matches!(field.kind, FieldKind::Date(_) | FieldKind::Json(_)) || text.contains([':', '|']) {
        return None;
    }
    let (year, rest) = text.split_at_checked(NUM_DIGITS_OF_YEAR)?;
    if !year.bytes().all(|byte| byte.is_ascii_digit()) || !rest.starts_with('-') {
        return None;
    }
    let unit = match rest.len() {
        LEN_OF_MONTH => "M",
        LEN_OF_DAY => "d",
        _ => return None,
    };
    let read = |text: &str, round_up| resolve_date(text, None, None, 0, round_up).ok();
    let first = read(text, false)?;
    let next = read(&format!("{text}||/{unit}"), true)?.checked_add(1)?;
    let own = match field.kind {
        FieldKind::Date(_) => field.parse_date(text),
        _ => None,
    };
    let is_other = own.is_some_and(|own| own.into_timestamp_nanos() != first);
    (!is_other).then_some((full_date(first).ok()?, full_date(next).ok()?))
}

fn bound(end: &Option<(String, bool)>) -> Bound<&str> {
    match end {
        None => Bound::Unbounded,
        Some((text, true)) => Bound::Included(text),
        Some((text, false)) => Bound::Excluded(text),
    }
}

/// Returns an end of a range of dates in full, and whether it is included. With `at_start`, an incomplete date such as
/// a day stands for its first moment, otherwise for its last: everything before the first moment of the next day,
/// because values are truncated towards 1970.
///
/// A date in one of the field's input formats is read in that format; otherwise in Elasticsearch's.
fn date_end(
    field: &ResolvedField<'_>,
    range: &Range,
    end: &End,
    at_start: bool,
) -> Result<(String, bool), String> {
    const LEN_OF_DAY: usize = "2024-05-02".len();
    let text = &end.given.text;
    let precision = match field.kind {
        FieldKind::Date(date) if field.is_fast() => date.precision,
        FieldKind::Date(_) => DateTimePrecision::Seconds,
        _ => DateTimePrecision::Nanoseconds,
    };
    let as_it_is = || Ok((text.clone(), end.is_included));
    if let Some(ns) = end.from_now_ns {
        return Ok((full_date(ns)?, end.is_included));
    }
    let (format, zone) = (range.format.as_deref(), range.time_zone.as_deref());
    let read = |round_up: bool| resolve_date(text, format, zone, 0, round_up);
    let in_full = || {
        let ns = read(!at_start)?;
        let next = ns.checked_add(1).map(DateTime::from_timestamp_nanos);
        match next {
            // Bounds are truncated, too.
            Some(next) if !at_start && read(false)? != ns && next.truncate(precision) == next => {
                Ok((full_date(next.into_timestamp_nanos())?, !end.is_included))
            }
            _ => Ok((full_date(ns)?, end.is_included)),
        }
    };
    if format.is_some() || text.contains("||") {
        return in_full();
    }
    if matches!(field.kind, FieldKind::Json(_)) && (end.given.is_number || zone.is_none()) {
        // Only the text determines the value in such a field, but a day is the whole day.
        let day = period_in(field, text).filter(|_| text.len() == LEN_OF_DAY);
        return match day.filter(|_| !end.given.is_number) {
            Some((first, _)) if at_start => Ok((first, end.is_included)),
            Some((_, next)) => Ok((next, !end.is_included)),
            None => as_it_is(),
        };
    }
    let own = field.parse_date(text).map(DateTime::into_timestamp_nanos);
    // Where numbers have a unit, the field's own formats tell whether four digits are a year.
    let has_unit = matches!(field.kind, FieldKind::Date(date) if date.input_formats.iter().any(DateInput::has_unit));
    let is_year = text.len() == 4
        && match has_unit {
            true => own.is_some() && own == read(false).ok(),
            false => !end.given.is_number,
        };
    let is_digits = text.bytes().all(|byte| byte.is_ascii_digit());
    if is_digits && !is_year {
        return as_it_is();
    }
    match (own, read(false)) {
        // The field's own format takes precedence if it yields another time, unless a zone is given, which that format
        // ignores.
        (Some(own), Ok(usual)) if own != usual && zone.is_none() && !is_year => as_it_is(),
        (_, Ok(_)) => in_full(),
        (_, Err(_)) => as_it_is(),
    }
}

fn full_date(ns: i64) -> Result<String, String> {
    let date = DateTime::from_timestamp_nanos(ns).into_utc();
    date.format(&Rfc3339).map_err(|error| error.to_string())
}

/// Returns the first and last address of a network such as `10.0.0.0/8`.
fn network(text: &str) -> Option<(IpAddr, IpAddr)> {
    let (address, len) = text.split_once('/')?;
    let (address, len): (IpAddr, u32) = (address.parse().ok()?, len.parse().ok()?);
    Some(match address {
        IpAddr::V4(address) => {
            let free = u32::MAX.checked_shr(len).unwrap_or(0);
            let bits = (len <= u32::BITS).then(|| address.to_bits())?;
            (
                Ipv4Addr::from_bits(bits & !free).into(),
                Ipv4Addr::from_bits(bits | free).into(),
            )
        }
        IpAddr::V6(address) => {
            let free = u128::MAX.checked_shr(len).unwrap_or(0);
            let bits = (len <= u128::BITS).then(|| address.to_bits())?;
            (
                Ipv6Addr::from_bits(bits & !free).into(),
                Ipv6Addr::from_bits(bits | free).into(),
            )
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_is_from_its_first_address_to_its_last() {
        let shown = |text: &str| network(text).map(|(first, last)| format!("{first} {last}"));
        for (text, expect) in [
            ("10.1.2.3/8", Some("10.0.0.0 10.255.255.255")),
            ("10.1.2.3/32", Some("10.1.2.3 10.1.2.3")),
            ("10.1.2.3/0", Some("0.0.0.0 255.255.255.255")),
            ("fe80::1/64", Some("fe80:: fe80::ffff:ffff:ffff:ffff")),
            ("10.1.2.3/33", None),
            ("10.1.2/8", None),
            ("10.1.2.3/x", None),
        ] {
            assert_eq!(shown(text).as_deref(), expect, "{text}");
        }
    }
}
