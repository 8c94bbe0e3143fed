//! Removes Unicode tables that no pattern may use from the module.
//!
//! The regex parser supports many properties of characters, and using one of them links the tables
//! of all: 38 KB of the component after gzip. All hosts refuse patterns with other classes than
//! those of `canter_doc_mapper::check_classes`, so the other tables are never read. They are filled
//! with zeros here, which compress to nothing.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

/// Source files of tables that are all removed.
const DROPPED_FILES: [&str; 5] = [
    "age.rs",
    "grapheme_cluster_break.rs",
    "script_extension.rs",
    "sentence_break.rs",
    "word_break.rs",
];

/// Source file of tables of which only some are kept.
const PARTLY_KEPT_FILE: &str = "property_bool.rs";
const KEPT_PROPERTIES: [&str; 5] = [
    "ALPHABETIC",
    "EMOJI",
    "LOWERCASE",
    "UPPERCASE",
    "WHITE_SPACE",
];

/// Minimum length of a table to remove: shorter ones may match other data, and save nothing.
const MIN_TABLE_BYTES: usize = 128;

/// Minimum number of bytes to remove. Fewer mean that the tables were not found.
const MIN_DROPPED_BYTES: usize = 100_000;

/// Fills the tables in the module with zeros; `module_path` is the output path of the compiler.
pub(super) fn drop_tables(module_path: &Path, module: &mut [u8]) -> Result<()> {
    let folder = source(module_path)?;
    let mut dropped = Vec::new();
    let mut kept = Vec::new();
    let files =
        fs::read_dir(&folder).with_context(|| format!("cannot list {}", folder.display()))?;
    for file in files {
        let path = file?.path();
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default()
            .to_owned();
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        for (table, bytes) in tables(&text)? {
            let is_dropped = DROPPED_FILES.contains(&name.as_str())
                || (name == PARTLY_KEPT_FILE && !KEPT_PROPERTIES.contains(&table.as_str()));
            if is_dropped { &mut dropped } else { &mut kept }.push(bytes);
        }
    }
    // Equal tables are merged in the module.
    dropped.retain(|table: &Vec<u8>| {
        table.len() >= MIN_TABLE_BYTES && !kept.iter().any(|kept| place_of(table, kept).is_some())
    });
    // The longest table first, since a shorter one may be a part of it.
    dropped.sort_by_key(|table| std::cmp::Reverse(table.len()));
    let mut num_bytes = 0;
    for table in &dropped {
        if let Some(place) = place_of(table, module) {
            module[place..place + table.len()].fill(0);
            num_bytes += table.len();
        }
    }
    ensure!(
        num_bytes >= MIN_DROPPED_BYTES,
        "only {num_bytes} bytes of Unicode tables were found in the module: has regex-syntax changed?"
    );
    Ok(())
}

fn place_of(table: &[u8], bytes: &[u8]) -> Option<usize> {
    let (first, end) = (table.get(..8)?, bytes.len().checked_sub(table.len())?);
    // Tables consist of 4-byte words at the same alignment; the start of the data is unknown.
    (0..=end).find(|&at| bytes[at..at + 8] == *first && bytes[at..at + table.len()] == *table)
}

/// Returns the folder of the parser's tables, from the compiler's list of source files.
fn source(module: &Path) -> Result<PathBuf> {
    let deps = module.with_file_name("deps");
    let listed = fs::read_dir(&deps).with_context(|| format!("cannot list {}", deps.display()))?;
    for file in listed {
        let path = file?.path();
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        if !name.starts_with("regex_syntax-") || !name.ends_with(".d") {
            continue;
        }
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let mut sources = text
            .split_whitespace()
            .map(|source| Path::new(source.trim_end_matches(':')));
        if let Some(table) = sources.find(|source| source.ends_with("unicode_tables/age.rs")) {
            return Ok(table.with_file_name(""));
        }
    }
    bail!(
        "{} does not say where the source of regex-syntax is",
        deps.display()
    )
}

/// Returns the tables of a source file by name, in the form of the module: pairs of characters of
/// four bytes each.
fn tables(text: &str) -> Result<Vec<(String, Vec<u8>)>> {
    let mut found = Vec::new();
    for part in text.split("pub const ").skip(1) {
        let Some((name, rest)) = part.split_once(": &'static [(char, char)] =") else {
            continue;
        };
        let (list, _) = rest.split_once("];").context("a table has no end")?;
        let mut bytes = Vec::new();
        let mut rest = list;
        while let Some((_, behind)) = rest.split_once('\'') {
            let (character, behind) = read_char(behind).with_context(|| name.to_owned())?;
            bytes.extend((character as u32).to_le_bytes());
            rest = behind;
        }
        ensure!(bytes.len() % 8 == 0, "the table {name} has half a pair");
        found.push((name.to_owned(), bytes));
    }
    Ok(found)
}

/// Parses a character after its opening quote, and returns the rest after its closing quote.
fn read_char(text: &str) -> Option<(char, &str)> {
    let Some(escape) = text.strip_prefix('\\') else {
        let character = text.chars().next()?;
        return Some((character, text[character.len_utf8()..].strip_prefix('\'')?));
    };
    let (kind, rest) = (escape.chars().next()?, escape.get(1..)?);
    let plain = match kind {
        'u' => {
            let (digits, rest) = rest.strip_prefix('{')?.split_once('}')?;
            let character = char::from_u32(u32::from_str_radix(digits, 16).ok()?)?;
            return Some((character, rest.strip_prefix('\'')?));
        }
        'x' => {
            let character = char::from(u8::from_str_radix(rest.get(..2)?, 16).ok()?);
            return Some((character, rest[2..].strip_prefix('\'')?));
        }
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        '0' => '\0',
        other => other,
    };
    Some((plain, rest.strip_prefix('\'')?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_read_from_source() {
        let text = "pub const BY_NAME: &'static [(&'static str, &'static [(char, char)])] = &[(\"A\", A)];\n\
            pub const A: &'static [(char, char)] =\n    &[('\\t', '\\r'), ('a', 'ß'), ('\\u{10ffff}', '\\'')];\n\
            pub const B: &'static [(char, char)] = &[];";
        let found = tables(text).unwrap();
        let wanted: Vec<u8> = [9, 13, 97, 0xdf, 0x10_ffff, 39u32]
            .iter()
            .flat_map(|c| c.to_le_bytes())
            .collect();
        assert_eq!(
            found,
            [
                ("A".to_owned(), wanted.clone()),
                ("B".to_owned(), Vec::new())
            ]
        );
        let around = [&[1, 2, 3][..], &wanted, &[4]].concat();
        assert_eq!(place_of(&wanted, &around), Some(3));
    }
}
