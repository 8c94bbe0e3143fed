//! Filters that mark words for the stemmers behind them: `keyword_marker`, `keyword_repeat` and `stemmer_override`.
//!
//! A stemmer of an index config has its exceptions itself, so a filter of a config does not depend on others.

use serde_json::{Value, json};

use super::parts::{PartOptions, Parts, found, list_of};
use crate::mappings::error::{MappingError, Result};

/// Words that are marked for the stemmers that follow.
#[derive(Default)]
pub(super) struct Marks {
    /// Rules `word => stem`; the first of a word counts.
    overrides: Vec<String>,
    /// True if each word stays beside its stem.
    is_beside: bool,
    /// The filter with stems of their own, unless a stemmer has followed.
    unused: Option<String>,
}

impl Marks {
    /// Reads a filter that marks words; returns false for other filters.
    pub(super) fn take(&mut self, parts: &Parts, what: &str, given: &Value) -> Result<bool> {
        let (kind, own) = found(parts, "filter", given, what)?;
        let options = PartOptions {
            own,
            what: format!("the filter [{kind}] of {what}"),
        };
        match kind.as_str() {
            "keyword_repeat" => {
                options.only(&[])?;
                self.is_beside = true;
            }
            "keyword_marker" => {
                options.only(&["keywords", "ignore_case"])?;
                if options.flag("ignore_case")? {
                    return Err(options.wrong(
                        "ignore_case",
                        "can only be false here: put lowercase before it",
                    ));
                }
                let words = list_of(options.get("keywords"));
                if words.is_empty() {
                    return Err(options.wrong("keywords", "is a list of words"));
                }
                self.overrides
                    .extend(words.iter().map(|word| format!("{word} => {word}")));
            }
            "stemmer_override" => {
                options.only(&["rules"])?;
                let rules = list_of(options.get("rules"));
                if rules.is_empty() {
                    return Err(
                        options.wrong("rules", "is a list of rules such as [running => run]")
                    );
                }
                for rule in &rules {
                    self.take_rule(&options, rule)?;
                }
            }
            _ => return Ok(false),
        }
        // What the others mark is unchanged without a stemmer.
        self.unused = self
            .unused
            .take()
            .or(Some(kind).filter(|kind| kind == "stemmer_override"));
        Ok(true)
    }

    fn take_rule(&mut self, options: &PartOptions<'_>, rule: &str) -> Result<()> {
        let Some((words, stem)) = rule.split_once("=>") else {
            return Err(options.wrong(
                "rules",
                &format!("has the rule [{rule}], which is none: write word => stem"),
            ));
        };
        for word in words.split(',') {
            self.overrides
                .push(format!("{} => {}", word.trim(), stem.trim()));
        }
        Ok(())
    }

    /// Returns a filter with the exceptions that were marked before it, if it is a stemmer.
    pub(super) fn applied_to(&mut self, filter: Value) -> Value {
        let language = match (filter.as_str(), filter["type"].as_str()) {
            (Some("porter_stem"), _) => "english".into(),
            (_, Some("stemmer")) if filter["language"] != "german_normalization" => {
                filter["language"].clone()
            }
            _ => return filter,
        };
        let has_none = self.overrides.is_empty() && !self.is_beside;
        self.unused = None;
        match has_none {
            true => filter,
            false => json!({
                "type": "stemmer", "language": language, "overrides": self.overrides,
                "preserve_original": self.is_beside,
            }),
        }
    }

    /// Refuses stems of their own without a stemmer behind them.
    pub(super) fn check_used(&self, what: &str) -> Result<()> {
        match &self.unused {
            None => Ok(()),
            Some(kind) => Err(MappingError::illegal(format!(
                "the filter [{kind}] of {what} has no stemmer behind it: put one there, or use the filter [synonym]"
            ))),
        }
    }
}
