//! Tokenizers and their parts as an index config writes them.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::{
    CharFilter, CustomTokenizer, Delimiter, FILTERS, Grams, STEMS, TokenizerCut, TokenizerFilter,
};

impl Serialize for TokenizerFilter {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let named = FILTERS.iter().find(|(_, filter)| filter == self);
        if let Some((name, _)) = named {
            return serializer.serialize_str(name);
        }
        let mut map = serializer.serialize_map(None)?;
        match self {
            Self::Stem(stem) => {
                let language = STEMS.iter().find(|(_, own)| own == stem);
                map.serialize_entry("type", "stemmer")?;
                map.serialize_entry("language", language.map_or("", |(name, _)| *name))?;
            }
            Self::StemBut(stems) => {
                let language = STEMS.iter().find(|(_, own)| *own == stems.stem);
                let overrides = stems.overrides.iter();
                let overrides = overrides.map(|(word, own)| format!("{word} => {own}"));
                map.serialize_entry("type", "stemmer")?;
                map.serialize_entry("language", language.map_or("", |(name, _)| *name))?;
                map.serialize_entry("overrides", &overrides.collect::<Vec<_>>())?;
                map.serialize_entry("preserve_original", &stems.is_beside)?;
            }
            Self::Stop {
                words,
                ignores_case,
            } => {
                map.serialize_entry("type", "stop")?;
                map.serialize_entry("stopwords", words)?;
                map.serialize_entry("ignore_case", ignores_case)?;
            }
            Self::Length { min, max } => {
                map.serialize_entry("type", "length")?;
                map.serialize_entry("min", min)?;
                map.serialize_entry("max", max)?;
            }
            Self::Grams(grams) => {
                map.serialize_entry("type", grams.type_name())?;
                grams.serialize_options(&mut map)?;
                map.serialize_entry("preserve_original", &grams.preserve_original)?;
            }
            other => other.serialize_others(&mut map)?,
        }
        map.end()
    }
}

impl TokenizerFilter {
    /// Writes filters that look at several tokens, or replace them.
    fn serialize_others<M: SerializeMap>(&self, map: &mut M) -> std::result::Result<(), M::Error> {
        match self {
            Self::Keep {
                words,
                ignores_case,
            } => {
                map.serialize_entry("type", "keep")?;
                map.serialize_entry("keep_words", words)?;
                map.serialize_entry("ignore_case", ignores_case)?;
            }
            Self::Elision { articles } => {
                map.serialize_entry("type", "elision")?;
                map.serialize_entry("articles", articles)?;
            }
            Self::Replace {
                pattern,
                replacement,
            } => {
                map.serialize_entry("type", "pattern_replace")?;
                map.serialize_entry("pattern", pattern)?;
                map.serialize_entry("replacement", replacement)?;
            }
            Self::Truncate { length } => {
                map.serialize_entry("type", "truncate")?;
                map.serialize_entry("length", length)?;
            }
            Self::Limit { count } => {
                map.serialize_entry("type", "limit")?;
                map.serialize_entry("max_token_count", count)?;
            }
            Self::Synonyms(rules) => {
                let name = if rules.is_graph {
                    "synonym_graph"
                } else {
                    "synonym"
                };
                map.serialize_entry("type", name)?;
                map.serialize_entry("synonyms", &rules.rules)?;
                map.serialize_entry("expand", &rules.expands)?;
                map.serialize_entry("lenient", &rules.is_lenient)?;
            }
            Self::Shingles(shingles) => {
                map.serialize_entry("type", "shingle")?;
                map.serialize_entry("min_shingle_size", &shingles.min)?;
                map.serialize_entry("max_shingle_size", &shingles.max)?;
                map.serialize_entry("output_unigrams", &shingles.has_words)?;
                map.serialize_entry("output_unigrams_if_no_shingles", &shingles.has_words_alone)?;
                map.serialize_entry("token_separator", &shingles.separator)?;
                map.serialize_entry("filler_token", &shingles.filler)?;
            }
            Self::Delimiter(options) => options.serialize_options(map)?,
            // Those without options are among the named ones; a tokenizer has the parents of paths.
            _ => {}
        }
        Ok(())
    }
}

impl Delimiter {
    /// Returns its options that are true or false, by name.
    pub(crate) fn flags(&self) -> [(&'static str, bool); 9] {
        [
            ("generate_word_parts", self.has_words),
            ("generate_number_parts", self.has_numbers),
            ("catenate_words", self.joins_words),
            ("catenate_numbers", self.joins_numbers),
            ("catenate_all", self.joins_all),
            ("preserve_original", self.preserve_original),
            ("split_on_case_change", self.splits_on_case),
            ("split_on_numerics", self.splits_on_numerics),
            ("stem_english_possessive", self.drops_possessive),
        ]
    }

    fn serialize_options<M: SerializeMap>(&self, map: &mut M) -> std::result::Result<(), M::Error> {
        map.serialize_entry("type", "word_delimiter_graph")?;
        for (name, flag) in self.flags() {
            map.serialize_entry(name, &flag)?;
        }
        map.serialize_entry("protected_words", &self.protected)
    }
}

impl Serialize for CharFilter {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match self {
            Self::HtmlStrip { escaped_tags } => {
                map.serialize_entry("type", "html_strip")?;
                map.serialize_entry("escaped_tags", escaped_tags)?;
            }
            Self::Mapping { mappings } => {
                map.serialize_entry("type", "mapping")?;
                map.serialize_entry("mappings", mappings)?;
            }
            Self::PatternReplace {
                pattern,
                replacement,
            } => {
                map.serialize_entry("type", "pattern_replace")?;
                map.serialize_entry("pattern", pattern)?;
                map.serialize_entry("replacement", replacement)?;
            }
        }
        map.end()
    }
}

impl Grams {
    fn type_name(&self) -> &'static str {
        match self.prefix_only {
            true => "edge_ngram",
            false => "ngram",
        }
    }

    fn serialize_options<M: SerializeMap>(&self, map: &mut M) -> std::result::Result<(), M::Error> {
        map.serialize_entry("min_gram", &self.min_gram)?;
        map.serialize_entry("max_gram", &self.max_gram)
    }
}

impl TokenizerCut {
    /// Returns the type in a config.
    fn type_name(&self) -> &'static str {
        match self {
            TokenizerCut::Simple => "simple",
            TokenizerCut::SourceCode => "source_code",
            TokenizerCut::Ngram { .. } => "ngram",
            TokenizerCut::Regex { .. } => "regex",
            TokenizerCut::Whitespace => "whitespace",
            TokenizerCut::Whole => "keyword",
            TokenizerCut::Standard => "standard",
            TokenizerCut::Letters => "letter",
            TokenizerCut::Grams { .. } => "grams",
            TokenizerCut::Paths(_) => "path_hierarchy",
        }
    }
}

impl Serialize for CustomTokenizer {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", &self.name)?;
        map.serialize_entry("type", self.cut.type_name())?;
        match &self.cut {
            TokenizerCut::Ngram {
                min_gram,
                max_gram,
                prefix_only,
            } => {
                map.serialize_entry("min_gram", min_gram)?;
                map.serialize_entry("max_gram", max_gram)?;
                map.serialize_entry("prefix_only", prefix_only)?;
            }
            TokenizerCut::Regex { pattern } => map.serialize_entry("pattern", pattern)?,
            TokenizerCut::Grams { grams, token_chars } => {
                grams.serialize_options(&mut map)?;
                map.serialize_entry("prefix_only", &grams.prefix_only)?;
                let kinds: Vec<&str> = token_chars.iter().map(|kind| kind.name()).collect();
                map.serialize_entry("token_chars", &kinds)?;
            }
            TokenizerCut::Paths(paths) => {
                map.serialize_entry("delimiter", &paths.delimiter)?;
                map.serialize_entry("replacement", &paths.replacement)?;
                map.serialize_entry("skip", &paths.skip)?;
                map.serialize_entry("reverse", &paths.is_reverse)?;
            }
            TokenizerCut::Simple
            | TokenizerCut::SourceCode
            | TokenizerCut::Whitespace
            | TokenizerCut::Whole
            | TokenizerCut::Standard
            | TokenizerCut::Letters => {}
        }
        if !self.char_filters.is_empty() {
            map.serialize_entry("char_filters", &self.char_filters)?;
        }
        map.serialize_entry("filters", &self.filters)?;
        map.end()
    }
}
