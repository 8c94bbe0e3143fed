//! Reader of text options: tokenizers, strategies, variants and concatenations.

use tantivy::schema::IndexRecordOption;

use crate::config::read::node::{MapReader, Node, NodeValue, Result};
use crate::config::read::read_completion::completion;
use crate::config::{ConcatenateKind, ConfigError, TextKind, TextVariant};
use crate::tokenizers;

const RECORDS: [(&str, IndexRecordOption); 3] = [
    ("basic", IndexRecordOption::Basic),
    ("freq", IndexRecordOption::WithFreqs),
    ("position", IndexRecordOption::WithFreqsAndPositions),
];

/// Maximum number of ways to index a field.
pub(in crate::config) const MAX_WAYS: usize = 8;

/// Strategy for searching a field, a shorthand for other options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::config) enum Strategy {
    /// By scanning stored documents.
    None,
    /// By the whole value.
    Term,
    /// By words and phrases.
    Fulltext,
    /// By words and phrases in whole values, which are its terms.
    Values,
}

const STRATEGIES: [(&str, Strategy); 4] = [
    ("none", Strategy::None),
    ("term", Strategy::Term),
    ("fulltext", Strategy::Fulltext),
    ("values", Strategy::Values),
];

impl Strategy {
    fn name(self) -> &'static str {
        let found = STRATEGIES.iter().find(|(_, strategy)| *strategy == self);
        found.map_or("", |(name, _)| *name)
    }

    fn tokenizer(self) -> &'static str {
        match self {
            Strategy::Term => "raw",
            Strategy::None | Strategy::Fulltext | Strategy::Values => "default",
        }
    }

    fn record(self) -> IndexRecordOption {
        match self {
            Strategy::Fulltext | Strategy::Values => IndexRecordOption::WithFreqsAndPositions,
            Strategy::None | Strategy::Term => IndexRecordOption::Basic,
        }
    }
}

/// Options for searching a field.
pub(in crate::config) struct Search {
    pub(in crate::config) indexed: bool,
    pub(in crate::config) scanned: bool,
    pub(in crate::config) by_values: bool,
    /// Strategies: the first belongs to the field itself, the others to variants.
    strategies: Vec<Strategy>,
}

/// Reads `indexed` and `strategy`.
pub(in crate::config) fn search(
    map: &MapReader<'_>,
    what: &str,
    type_name: &str,
) -> Result<Search> {
    let strategies = strategies(map, what)?;
    let Some(first) = strategies.first() else {
        return Ok(Search {
            indexed: map.bool("indexed", true)?,
            scanned: false,
            by_values: false,
            strategies,
        });
    };
    let refuse = |message: &str| Err(map.error("strategy", format!("{what}: {message}")));
    if map.has("indexed") {
        return refuse("\"strategy\" says whether it is indexed: leave out \"indexed\"");
    }
    let by_values = strategies.contains(&Strategy::Values);
    if type_name == "concatenate" && !by_values {
        return refuse("a concatenation has no strategy but values");
    }
    if by_values && !matches!(type_name, "text" | "concatenate") {
        return refuse("the strategy values is for text and concatenate only");
    }
    if by_values && strategies.len() > 1 {
        return refuse("the strategy values stands alone: its terms are whole values");
    }
    for key in ["needle", "fieldnorms", "include_dynamic_fields"] {
        if by_values && map.bool(key, false)? {
            return Err(map.error(
                key,
                format!("{what}: {key:?} is not for the strategy values"),
            ));
        }
    }
    let is_text = matches!(type_name, "text" | "json" | "dynamic_mapping");
    if !is_text && strategies.contains(&Strategy::Fulltext) {
        return refuse("the strategy fulltext is for text and json only");
    }
    if type_name != "text" && strategies.len() > 1 {
        return refuse("several strategies are for text only");
    }
    let scanned = strategies.contains(&Strategy::None);
    if scanned && strategies.len() > 1 {
        return refuse(
            "the strategy none stands alone: with another there is nothing to look through",
        );
    }
    if scanned && !map.bool("stored", true)? {
        return refuse(
            "the strategy none looks through stored documents: leave out \"stored: false\"",
        );
    }
    if *first == Strategy::Term && map.has("tokenizer") {
        return refuse(
            "the strategy term is the tokenizer raw: leave out one of \"strategy\" and \"tokenizer\"",
        );
    }
    Ok(Search {
        indexed: !scanned,
        scanned,
        by_values,
        strategies,
    })
}

fn strategies(map: &MapReader<'_>, what: &str) -> Result<Vec<Strategy>> {
    let names = match map.get("strategy") {
        Some(Node {
            value: NodeValue::Seq(_),
            ..
        }) => map.str_list("strategy")?,
        _ => map.str("strategy")?.into_iter().collect(),
    };
    let mut strategies = Vec::new();
    for name in &names {
        let problem = match STRATEGIES.iter().find(|(known, _)| known == name) {
            Some((_, strategy)) if !strategies.contains(strategy) => {
                strategies.push(*strategy);
                continue;
            }
            Some(_) => format!("names {name} twice"),
            None => {
                format!("must be none, term, fulltext, values, or a list of these; got {name:?}")
            }
        };
        return Err(map.error("strategy", format!("\"strategy\" in {what} {problem}")));
    }
    if names.is_empty() && map.has("strategy") {
        let message = format!("\"strategy\" in {what} is an empty list");
        return Err(map.error("strategy", message));
    }
    Ok(strategies)
}

/// Reads `tokenizer` and `record`. The tokenizer is checked once all of them are known.
pub(in crate::config) fn text_indexing(
    map: &MapReader<'_>,
    what: &str,
    search: &Search,
    default: &str,
) -> Result<(String, IndexRecordOption)> {
    let is_searched = search.indexed || search.scanned;
    if let Some(key) = ["tokenizer", "record"]
        .into_iter()
        .find(|key| !is_searched && map.has(key))
    {
        return Err(only_if_indexed(map, key, what));
    }
    let own = search.strategies.first();
    let default = match own {
        Some(Strategy::None) | None => default,
        Some(own) => own.tokenizer(),
    };
    let record = own.map_or(IndexRecordOption::Basic, |own| own.record());
    // A scan finds phrases without any stored data.
    let record = match search.scanned || search.by_values {
        true => IndexRecordOption::WithFreqsAndPositions,
        false => record,
    };
    Ok((
        map.str("tokenizer")?.unwrap_or_else(|| default.to_owned()),
        map.choice("record", &RECORDS, record)?,
    ))
}

pub(in crate::config) fn only_if_indexed(
    map: &MapReader<'_>,
    key: &str,
    what: &str,
) -> ConfigError {
    map.error(
        key,
        format!("{key:?} in {what} is allowed only if \"indexed\" is true"),
    )
}

/// Reads the options of `text`.
pub(in crate::config) fn text_options(
    map: &MapReader<'_>,
    what: &str,
    search: &Search,
) -> Result<TextKind> {
    let (tokenizer, record) = text_indexing(map, what, search, "default")?;
    let fieldnorms = map.bool("fieldnorms", false)?;
    if fieldnorms && !search.indexed {
        return Err(only_if_indexed(map, "fieldnorms", what));
    }
    if map.has("fields") && !search.indexed {
        return Err(only_if_indexed(map, "fields", what));
    }
    let (mut variants, whole_values) = named_variants(map, what)?;
    if !whole_values.is_empty() && super::read_field::fast(map)?.is_none() {
        let message = format!(
            "{what}: {:?} are the whole values of the fast field: set \"fast\" to true",
            whole_values.join(", ")
        );
        return Err(map.error("fields", message));
    }
    for strategy in search.strategies.iter().skip(1) {
        variants.push(TextVariant {
            name: strategy.name().to_owned(),
            tokenizer: strategy.tokenizer().to_owned(),
            search_tokenizer: None,
            record: strategy.record(),
            fieldnorms: false,
        });
    }
    // Their order determines the numbers of fields, and JSON objects have no order of keys.
    canter_sorting::sort_by(&mut variants, |left, right| left.name.cmp(&right.name));
    let twice = variants
        .iter()
        .zip(variants.iter().skip(1))
        .find(|(left, right)| left.name == right.name)
        .map(|(left, _)| left);
    let of_column = |variant: &&TextVariant| whole_values.contains(&variant.name);
    if let Some(variant) = twice.or_else(|| variants.iter().find(of_column)) {
        let message = format!(
            "{what}: \"fields\" and \"strategy\" both make {:?}",
            variant.name
        );
        return Err(map.error("fields", message));
    }
    if variants.len() >= MAX_WAYS {
        let message = format!("{what} is indexed in more than {MAX_WAYS} ways");
        return Err(map.error("fields", message));
    }
    let search_tokenizer = map.str("search_tokenizer")?;
    if search_tokenizer.is_some() && !search.indexed {
        return Err(only_if_indexed(map, "search_tokenizer", what));
    }
    Ok(TextKind {
        tokenizer,
        search_tokenizer,
        record,
        fieldnorms,
        variants,
        whole_values,
        completion: completion(map)?.map(Box::new),
    })
}

/// Reads `fields`: further ways of indexing the text, and names of the whole values in its fast field.
fn named_variants(map: &MapReader<'_>, what: &str) -> Result<(Vec<TextVariant>, Vec<String>)> {
    let at = map.at("fields");
    let entries = match map.get("fields") {
        None => return Ok((Vec::new(), Vec::new())),
        Some(Node {
            value: NodeValue::Map(entries),
            ..
        }) => entries,
        Some(node) => {
            let message = format!(
                "\"fields\" in {what} must be a map from names to tokenizers, got {}",
                node.describe()
            );
            return Err(map.error("fields", message));
        }
    };
    let mut variants: Vec<TextVariant> = Vec::new();
    let mut whole_values: Vec<String> = Vec::new();
    for entry in entries {
        let at = format!("{at}.{}", entry.key);
        let refuse = |message: String| Err(ConfigError::at(entry.line, at.clone(), message));
        let is_word = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
        if entry.key.is_empty() || entry.key.len() > 255 || !entry.key.bytes().all(is_word) {
            return refuse(format!(
                "{:?} in {what} is no name for a way of indexing it: 1 to 255 ASCII letters, digits, _ and -",
                entry.key
            ));
        }
        let inner = format!("{:?} of {what}", entry.key);
        let is_column = match &entry.value.value {
            NodeValue::Map(inside) => inside.iter().any(|option| option.key == "column"),
            _ => false,
        };
        let options: &[&str] = match is_column {
            true => &["column"],
            false => &["tokenizer", "search_tokenizer", "record", "fieldnorms"],
        };
        let options = MapReader::new(&entry.value, &at, &inner, options)?;
        if variants.iter().any(|other| other.name == entry.key) || whole_values.contains(&entry.key)
        {
            return refuse(format!("{inner} is there twice"));
        }
        if is_column {
            if !options.bool("column", true)? {
                return refuse(format!(
                    "\"column\" of {inner} can only be true: name a tokenizer instead"
                ));
            }
            whole_values.push(entry.key.clone());
            continue;
        }
        variants.push(TextVariant {
            name: entry.key.clone(),
            tokenizer: options.required_str("tokenizer", &inner)?,
            search_tokenizer: options.str("search_tokenizer")?,
            record: options.choice("record", &RECORDS, IndexRecordOption::Basic)?,
            fieldnorms: options.bool("fieldnorms", false)?,
        });
    }
    canter_sorting::sort(&mut whole_values);
    Ok((variants, whole_values))
}

/// Reads the options of `concatenate`.
pub(in crate::config) fn concatenate(
    map: &MapReader<'_>,
    search: &Search,
) -> Result<ConcatenateKind> {
    let record = match search.by_values {
        true => IndexRecordOption::WithFreqsAndPositions,
        false => IndexRecordOption::Basic,
    };
    Ok(ConcatenateKind {
        fields: map.str_list("concatenate_fields")?,
        include_dynamic: map.bool("include_dynamic_fields", false)?,
        text: TextKind {
            tokenizer: map
                .str("tokenizer")?
                .unwrap_or_else(|| "default".to_owned()),
            search_tokenizer: map.str("search_tokenizer")?,
            record: map.choice("record", &RECORDS, record)?,
            fieldnorms: map.bool("fieldnorms", false)?,
            variants: Vec::new(),
            whole_values: Vec::new(),
            completion: None,
        },
    })
}

/// Returns the message for an unknown tokenizer.
pub(in crate::config) fn no_such_tokenizer(
    what: &str,
    name: &str,
    custom: &[crate::config::CustomTokenizer],
) -> String {
    let names = tokenizers::NAMES.into_iter();
    let names: Vec<&str> = names
        .chain(custom.iter().map(|tokenizer| tokenizer.name.as_str()))
        .collect();
    format!(
        "\"tokenizer\" in {what} must be one of {}; got {name:?}",
        names.join(", ")
    )
}
