//! One text in several fields: their scores combined, or their words treated as those of one field.

use tantivy::query::{BoostQuery, EmptyQuery, Query};

use super::named::{Named, may_match};
use crate::SearchError;
use crate::query::build::builder::{Builder, all_of, any_of};
use crate::query::build::words::so_many_of;
use crate::query::tree::{Combine, InFields, Leaf, Match, Words};

impl Builder<'_> {
    /// Builds a query over several fields.
    pub(in crate::query::build) fn in_fields(
        &mut self,
        wanted: &InFields,
    ) -> Result<Box<dyn Query>, SearchError> {
        let named = self.named(wanted)?;
        let is_lenient = wanted.is_lenient || !named.is_exact;
        if let (Combine::Cross(others), Leaf::Match(text)) = (wanted.combine, &wanted.leaf)
            && text.analyzer.is_none()
            && let Some(words) = self.common_words(&named, text)
        {
            return self.across(&named, text, &words, others.0, is_lenient);
        }
        let mut queries = match self.one_each(&named, &wanted.leaf, is_lenient) {
            Err(_) if wanted.is_lenient || named.is_all => Vec::new(),
            queries => queries?,
        };
        if named.may_be_more {
            queries.push(may_match());
        }
        Ok(match wanted.combine {
            Combine::Best(others) | Combine::Cross(others) => self.best_of(queries, others.0),
            Combine::Sum => any_of(queries),
        })
    }

    /// Builds a query for each field that supports it.
    fn one_each(
        &mut self,
        named: &Named,
        leaf: &Leaf,
        is_lenient: bool,
    ) -> Result<Vec<Box<dyn Query>>, SearchError> {
        let mut queries: Vec<Box<dyn Query>> = Vec::new();
        let mut first_error = None;
        for (name, boost) in &named.names {
            match self.leaf(&leaf.in_field(name)) {
                Ok(query) if self.scoring && boost.0 != 1.0 => {
                    queries.push(Box::new(BoostQuery::new(query, boost.0)));
                }
                Ok(query) => queries.push(query),
                Err(error) if is_lenient => first_error = first_error.or(Some(error)),
                Err(error) => return Err(error),
            }
        }
        for name in &named.without_paths {
            queries.extend(self.at_any_path(name, leaf)?);
        }
        if self.mapper.is_of_segment() && queries.iter().any(|query| !query.is::<EmptyQuery>()) {
            // In a split that lacks some of the fields, the others suffice.
            queries.retain(|query| !query.is::<EmptyQuery>());
        }
        match first_error {
            // If none of them supports it, that is an error all the same.
            Some(error) if queries.is_empty() => Err(error),
            _ => Ok(queries),
        }
    }

    /// Builds a query for each word in any of the fields.
    fn across(
        &mut self,
        named: &Named,
        text: &Match,
        words: &[String],
        others: f32,
        is_lenient: bool,
    ) -> Result<Box<dyn Query>, SearchError> {
        let mut queries = Vec::new();
        for word in words {
            let of_word = Leaf::Match(Match {
                text: word.clone(),
                words: Words::All,
                ..text.clone()
            });
            let mut queries_of_word = self.one_each(named, &of_word, is_lenient)?;
            if named.may_be_more {
                queries_of_word.push(may_match());
            }
            queries.push(self.best_of(queries_of_word, others));
        }
        Ok(match &text.words {
            Words::Some(min_should) => so_many_of(queries, min_should.as_ref()),
            _ => all_of(queries),
        })
    }

    /// Returns the words of a text, if all of these fields tokenize it in the same way.
    fn common_words(&self, named: &Named, text: &Match) -> Option<Vec<String>> {
        let mut common: Option<Vec<String>> = None;
        for (name, _) in &named.names {
            let words = self.words_in(name, &text.text)?;
            match &common {
                None => common = Some(words),
                Some(common) if *common == words => {}
                Some(_) => return None,
            }
        }
        common.filter(|words| !words.is_empty())
    }

    fn words_in(&self, name: &str, text: &str) -> Option<Vec<String>> {
        use canter_doc_mapper::FieldKind;
        let field = self.mapper.resolve(name)?;
        let tokenizer = match field.kind {
            FieldKind::Text(text) => text.of_queries(),
            FieldKind::Json(json) => json.tokenizer.as_str(),
            _ => return None,
        };
        let mut analyzer = self.mapper.tokenizers().get(tokenizer)?;
        let mut words = Vec::new();
        let mut stream = analyzer.token_stream(text);
        stream.process(&mut |token| {
            // As written: the tokenizer processes it once more.
            let word = text.get(token.offset_from..token.offset_to);
            words.push(word.unwrap_or(&token.text).to_owned());
        });
        Some(words)
    }
}
