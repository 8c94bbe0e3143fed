//! Detection of tables: which delimiter the lines of a beginning have, and where their names stand.

use crate::parse;
use crate::recognition::dialect::{DELIMITERS, Dialect};
use crate::recognition::format::Format;
use crate::recognition::recognise::{MAX_LINES, Recognised};
use crate::{Cut, Cutter};

pub(super) fn format_of(delimiter: u8) -> Format {
    match delimiter {
        b'\t' => Format::Tsv,
        _ => Format::Csv,
    }
}

/// Returns a table with the first of these delimiters that yields one for a stream with this beginning.
pub(super) fn table(beginning: &[u8], is_whole: bool, delimiters: &[u8]) -> Option<Recognised> {
    delimiters.iter().find_map(|delimiter| {
        let dialect = Dialect::of(*delimiter, beginning);
        let records = records(beginning, is_whole, dialect);
        let dialect = Dialect {
            has_comments: dialect.has_comments && !are_rows(&records, dialect),
            ..dialect
        };
        let (commented, rows): (Vec<&[u8]>, Vec<&[u8]>) = records
            .iter()
            .partition(|record| dialect.has_comments && record.starts_with(b"#"));
        let recognised = |num_commented_names| Recognised {
            format: format_of(*delimiter),
            dialect: Dialect {
                num_commented_names,
                ..dialect
            },
        };
        if is_table(&rows, is_whole, dialect) {
            return Some(recognised(None));
        }
        // `#id,name`.
        let names = commented.into_iter().rev().find(|line| {
            let num_names = parse::tables::csv::names(line, dialect).len();
            let first = rows.first();
            first.is_some_and(|row| parse::tables::csv::names(row, dialect).len() == num_names)
        })?;
        let num_names = u16::try_from(parse::tables::csv::names(names, dialect).len()).ok()?;
        let with_names = [&[names], rows.as_slice()].concat();
        is_table(&with_names, is_whole, dialect).then(|| recognised(Some(num_names)))
    })
}

/// Returns whether lines that begin with `#` are rows, such as `#1001,ada@example.com`: below names, and with as many values.
fn are_rows(records: &[&[u8]], dialect: Dialect) -> bool {
    let num_values = |record: &[u8]| parse::tables::csv::names(record, dialect).len();
    let Some((names, others)) = records.split_first() else {
        return false;
    };
    let num_names = num_values(names);
    let is_row = |record: &&&[u8]| record.starts_with(b"#") && num_values(record) == num_names;
    let num_rows = others.iter().filter(is_row).count();
    num_names >= 2 && !names.starts_with(b"#") && num_rows >= 2 && num_rows * 2 > others.len()
}

/// Returns a table whose rows have a value that no name stands for, or whose names stand behind other lines, as those
/// of Windows' Event Viewer and its DHCP server have them.
pub(super) fn odd_table(beginning: &[u8], is_whole: bool) -> Option<Recognised> {
    /// Fewer are found in any text, unless figures stand below them.
    const MIN_NAMES: usize = 4;
    const MIN_NAMES_OVER_FIGURES: usize = 2;
    const MIN_ROWS: usize = 3;
    DELIMITERS.iter().find_map(|delimiter| {
        let dialect = Dialect::of(*delimiter, beginning);
        let records = records(beginning, is_whole, dialect);
        let nums: Vec<usize> = records
            .iter()
            .map(|record| parse::tables::csv::names(record, dialect).len())
            .collect();
        let are_all = |nums: &[usize], num: usize| {
            nums.len() >= MIN_ROWS && nums.iter().all(|own| *own == num)
        };
        let of = |dialect| {
            let format = format_of(*delimiter);
            Some(Recognised { format, dialect })
        };
        for (place, num) in nums.iter().enumerate() {
            let (before, from) = records.split_at_checked(place)?;
            let rows = nums.get(place + 1..).unwrap_or_default();
            let (names, others) = from.split_first()?;
            let are_figures = || place > 0 && have_figures(others, dialect);
            let is_enough = *num >= MIN_NAMES || (*num >= MIN_NAMES_OVER_FIGURES && are_figures());
            if !is_enough || !are_names(names, dialect) {
                continue;
            }
            if place == 0 && are_all(rows, num + 1) {
                return of(Dialect {
                    has_unnamed_last: true,
                    ..dialect
                });
            }
            let is_apart = nums.iter().take(place).all(|other| other != num);
            if !before.is_empty() && is_apart && are_all(rows, *num) {
                let num_names_behind_others = u16::try_from(*num).ok();
                return of(Dialect {
                    num_names_behind_others,
                    ..dialect
                });
            }
        }
        None
    })
}

/// Returns a table that no line names the values of: the first row has a number, or a time, where the others have one.
/// Some of its values are in quotes, or those between tabs, or it would be found in any text with commas.
pub(super) fn nameless_table(beginning: &[u8], is_whole: bool) -> Option<Recognised> {
    const MIN_VALUES: usize = 4;
    const MIN_ROWS: usize = 3;
    DELIMITERS.iter().find_map(|delimiter| {
        let dialect = Dialect::of(*delimiter, beginning);
        let records = records(beginning, is_whole, dialect);
        let num = parse::tables::csv::names(records.first()?, dialect).len();
        let is_alike = |record: &&[u8]| parse::tables::csv::names(record, dialect).len() == num;
        let quote = [b'"', *delimiter];
        let has_quotes = || {
            let has = |record: &&&[u8]| {
                record.starts_with(b"\"") || memchr::memmem::find(record, &quote).is_some()
            };
            records.iter().filter(has).count() * 2 > records.len()
        };
        let is_it = num >= MIN_VALUES
            && records.len() >= MIN_ROWS
            && records.iter().all(is_alike)
            && (*delimiter == b'\t' || has_quotes())
            && have_figures(&records, dialect);
        is_it.then_some(Recognised {
            format: format_of(*delimiter),
            dialect: Dialect {
                num_unnamed: u16::try_from(num).ok(),
                ..dialect
            },
        })
    })
}

/// Returns whether records have a figure or a day in one place.
fn have_figures(records: &[&[u8]], dialect: Dialect) -> bool {
    let rows = records
        .iter()
        .map(|record| parse::tables::csv::names(record, dialect));
    let rows: Vec<Vec<String>> = rows.collect();
    let is_figure = |value: &str| {
        let is_sign = |c: char| c.is_ascii_digit() || ".,:/+- TZ%".contains(c);
        value.contains(|c: char| c.is_ascii_digit()) && value.chars().all(is_sign)
    };
    let num = rows.first().map_or(0, Vec::len);
    (0..num).any(|place| {
        rows.iter()
            .all(|row| row.get(place).is_some_and(|v| is_figure(v)))
    })
}

/// Returns whether the values of a record are different names.
fn are_names(record: &[u8], dialect: Dialect) -> bool {
    let mut names = parse::tables::csv::names(record, dialect);
    let are_names = names.iter().all(|name| is_name(name.trim_end_matches('.')));
    let num_names = names.len();
    names.sort();
    names.dedup();
    are_names && names.len() == num_names
}

/// Returns the first records of a table, without one that is cut off at the end.
pub(crate) fn records(beginning: &[u8], is_whole: bool, dialect: Dialect) -> Vec<&[u8]> {
    let mut cutter = Cutter::new(Format::Csv, dialect);
    let mut rest = beginning;
    let mut records = Vec::new();
    while !rest.is_empty() && records.len() < MAX_LINES {
        let len = match cutter.cut(rest) {
            Cut::End(len) => len,
            _ if is_whole => rest.len(),
            _ => break,
        };
        let Some((record, after)) = rest.split_at_checked(len) else {
            break;
        };
        if !record.trim_ascii().is_empty() {
            let record = record.strip_suffix(b"\n").unwrap_or(record);
            records.push(record.strip_suffix(b"\r").unwrap_or(record));
        }
        rest = after;
    }
    records
}

/// Returns whether the first record contains names, and the others have the same number of values.
fn is_table(records: &[&[u8]], is_whole: bool, dialect: Dialect) -> bool {
    let Some((header, others)) = records.split_first() else {
        return false;
    };
    let names = parse::tables::csv::names(header, dialect);
    let mut sorted = names.clone();
    sorted.sort();
    sorted.dedup();
    let num_alike = others
        .iter()
        .filter(|record| parse::tables::csv::names(record, dialect).len() == names.len())
        .count();
    names.len() >= 2
        && sorted.len() == names.len()
        && names.iter().all(|name| is_name(name))
        // A file that is being written may only have the names.
        && (!others.is_empty() || !is_whole)
        && (num_alike * 10 >= others.len() * 9 || (num_alike >= 2 && num_alike + 1 >= others.len()))
}

/// Returns whether a text may be a column's name: not a sentence, a number, or a date.
fn is_name(name: &str) -> bool {
    let starts_well = name
        .chars()
        .next()
        .is_some_and(|c| c.is_alphabetic() || matches!(c, '_' | '@' | '#' | '$' | '€' | '£'));
    // `Wert (°C)`, `Speed [km/h]`.
    let is_well = |c: char| c.is_alphanumeric() || " _-./,@()#%$+[]&*°€£¥§²³‰Ω".contains(c);
    // `Сумма, руб.`, `No.`
    let is_abbreviated = || {
        let last = name.rsplit(' ').next().unwrap_or_default();
        last.chars().count() <= 5
    };
    starts_well
        && (!name.ends_with('.') || is_abbreviated())
        && name.chars().count() <= 64
        && name.chars().all(is_well)
        && name.split(' ').count() <= 4
}
