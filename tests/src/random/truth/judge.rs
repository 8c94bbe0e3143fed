//! Comparison of an answer with the result of the scan.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use serde_json::Value;

use super::table::{Scalar, Table, short};
use crate::random::asked::request::{Request, SortKey};
use crate::random::dates::SECOND;

impl Table {
    /// Returns the documents that match a request.
    pub(crate) fn scan(&self, request: &Request) -> Vec<usize> {
        let at = self.setup.timestamp.map(|path| self.setup.field(path));
        let is_within = |doc: usize| {
            let Some(Scalar::Date(nanos)) =
                at.and_then(|at| self.column(doc, at).into_iter().next())
            else {
                return true;
            };
            request
                .start
                .is_none_or(|start| nanos >= start.saturating_mul(SECOND))
                && request
                    .end
                    .is_none_or(|end| nanos < end.saturating_mul(SECOND))
        };
        (0..self.docs.len())
            .filter(|doc| is_within(*doc) && self.matches(*doc, &request.node))
            .collect()
    }

    /// Checks an answer; returns a description of the first error in it.
    pub(crate) fn judge(&self, request: &Request, answer: &Value) -> Result<(), String> {
        if answer["failed_splits"] != Value::Array(Vec::new()) {
            return Err(format!("failed splits: {}", answer["failed_splits"]));
        }
        let docs = self.scan(request);
        let hits: Vec<&Value> = answer["hits"].as_array().into_iter().flatten().collect();
        let num_hits = answer["num_hits"].as_u64().unwrap_or(u64::MAX);
        let total = docs.len() as u64;
        let is_right = match answer["num_hits_relation"].as_str() {
            None => num_hits == total,
            Some(_) => {
                let shown = hits.len().saturating_add(request.start_offset) as u64;
                let most = request.count_up_to.unwrap_or(u64::MAX);
                num_hits <= total && num_hits >= most && num_hits >= shown
            }
        };
        if !is_right {
            return Err(format!(
                "{} hits instead of {}{}",
                answer["num_hits"],
                docs.len(),
                self.difference(&docs, &hits)
            ));
        }
        let wanted = docs
            .len()
            .saturating_sub(request.start_offset)
            .min(request.max_hits);
        if hits.len() != wanted {
            return Err(format!(
                "{} hits on the page instead of {wanted}",
                hits.len()
            ));
        }
        self.judge_hits(request, docs.clone(), &hits)?;
        match request.aggs.is_empty() {
            true => Ok(()),
            false => self
                .check_aggs(
                    &request.aggs,
                    &request.filters,
                    &docs,
                    &answer["aggregations"],
                )
                .map_err(|problem| format!("aggregations{problem}")),
        }
    }

    fn order_of(&self, request: &Request) -> Vec<SortKey> {
        match (request.sort_by.is_empty(), self.setup.timestamp) {
            (true, Some(path)) => vec![SortKey {
                field: self.setup.field(path),
                is_ascending: false,
            }],
            _ => request.sort_by.clone(),
        }
    }

    /// Checks that each hit is one of the documents, that none occurs too often, and that each has
    /// the sort values of the document that belongs in its place. The order of documents with equal
    /// sort values is not checked.
    fn judge_hits(
        &self,
        request: &Request,
        docs: Vec<usize>,
        hits: &[&Value],
    ) -> Result<(), String> {
        let keys = self.order_of(request);
        let values = |doc: usize| self.sort_values(doc, &keys);
        let mut ordered: Vec<(Vec<Option<Scalar>>, usize)> =
            docs.into_iter().map(|doc| (values(doc), doc)).collect();
        ordered.sort_by(|left, right| Table::compare_values(&left.0, &right.0, &keys));
        let mut num_seen: BTreeMap<usize, usize> = BTreeMap::new();
        for (place, hit) in hits.iter().enumerate() {
            let same = self.find(hit);
            let Some(first) = same.first() else {
                return Err(format!(
                    "a hit is not as its document was: {}",
                    self.nearest(hit)
                ));
            };
            let allowed = same
                .iter()
                .filter(|doc| ordered.iter().any(|(_, other)| other == *doc))
                .count();
            let seen = num_seen.entry(*first).or_default();
            *seen += 1;
            if *seen > allowed {
                return Err(format!(
                    "a hit that does not match, or twice: {}",
                    short(hit)
                ));
            }
            let (wanted, _) = &ordered[request.start_offset + place];
            let found = values(*first);
            if Table::compare_values(&found, wanted, &keys) != Ordering::Equal {
                return Err(format!(
                    "hit {place} has the sort values {} instead of {}",
                    short(&format!("{found:?}").into()),
                    short(&format!("{wanted:?}").into())
                ));
            }
        }
        Ok(())
    }

    /// Describes unexpected and missing hits, as far as the page shows them.
    fn difference(&self, docs: &[usize], hits: &[&Value]) -> String {
        let mut out = String::new();
        let is_hit = |doc: &usize| hits.iter().any(|hit| self.find(hit).contains(doc));
        if let Some(extra) = hits
            .iter()
            .find(|hit| !self.find(hit).iter().any(|doc| docs.contains(doc)))
        {
            out += &format!("; is wrongly a hit: {}", short(extra));
        }
        if let Some(missing) = docs.iter().find(|doc| !is_hit(doc)) {
            out += &format!("; may be missing: {}", short(&self.docs[*missing].json));
        }
        out
    }

    /// Describes how a hit that is not a document differs from the most similar document.
    fn nearest(&self, hit: &Value) -> String {
        let Some(entries) = hit.as_object() else {
            return hit.to_string();
        };
        let num_equal = |doc: &Value| {
            entries
                .iter()
                .filter(|(key, value)| &doc[key.as_str()] == *value)
                .count()
        };
        let Some(nearest) = self.docs.iter().max_by_key(|doc| num_equal(&doc.shown)) else {
            return hit.to_string();
        };
        let mut out = String::new();
        for (key, value) in entries
            .iter()
            .filter(|(key, value)| &nearest.shown[key.as_str()] != *value)
        {
            out += &format!(
                "{key} is {} and was {}; ",
                short(value),
                short(&nearest.shown[key.as_str()])
            );
        }
        let missing = nearest.shown.as_object().into_iter().flatten();
        for (key, value) in missing.filter(|(key, _)| !entries.contains_key(key.as_str())) {
            out += &format!("{key} is missing and was {}; ", short(value));
        }
        out
    }
}
