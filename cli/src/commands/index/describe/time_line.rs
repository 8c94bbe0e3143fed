//! Splits on a time line: the number of documents and splits in each part of the index's time range.

use canter_split_format::{SplitEntry, TimeRange};

use crate::render::dates::short_date_of;
use crate::render::{Colour, Screen};

/// Width of the labels left of the line.
const LABEL_LEN: usize = 11;
/// Maximum number of columns; more would not show more.
const MAX_COLUMNS: usize = 96;

const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const PLAIN_HEIGHTS: [char; 8] = ['.', ':', '-', '=', '+', '*', '#', '@'];

/// One column of the line.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Column {
    /// Number of documents, assuming that those of a split are evenly distributed over its time range.
    num_docs: f64,
    /// Number of splits with documents here, according to their time ranges.
    num_splits: usize,
}

/// Draws the splits of an index; empty without times.
pub(super) fn time_line(
    splits: &[SplitEntry],
    range: Option<TimeRange>,
    screen: &Screen,
) -> String {
    let Some(range) = range.filter(|range| range.start_ns < range.end_ns) else {
        return String::new();
    };
    let width = screen
        .width
        .saturating_sub(LABEL_LEN)
        .clamp(10, MAX_COLUMNS);
    let columns = columns_of(splits, range, width);
    let most = columns
        .iter()
        .map(|column| column.num_docs)
        .fold(0.0, f64::max);
    let docs: String = columns
        .iter()
        .map(|column| height(column.num_docs, most, screen))
        .collect();
    let num_splits: String = columns
        .iter()
        .map(|column| digit(column.num_splits))
        .collect();
    let (from, to) = (short_date_of(range.start_ns), short_date_of(range.end_ns));
    let gap = width
        .saturating_sub(from.chars().count() + to.chars().count())
        .max(1);
    let row = |label: &str, line: &str| {
        let label = screen.paint(Colour::Dim, &format!("{label:<LABEL_LEN$}"));
        format!("{label}{}\n", line.trim_end())
    };
    [
        row("documents", &docs),
        row("splits", &num_splits),
        row("", &format!("{from}{}{to}", " ".repeat(gap))),
    ]
    .concat()
}

fn columns_of(splits: &[SplitEntry], range: TimeRange, width: usize) -> Vec<Column> {
    let len = range.end_ns.abs_diff(range.start_ns) as f64;
    let place = |time_ns: i64| time_ns.abs_diff(range.start_ns) as f64 / len * width as f64;
    let mut columns = vec![Column::default(); width];
    for split in splits {
        let Some(own) = split.time_range else {
            continue;
        };
        let (start, end) = (place(own.start_ns), place(own.end_ns));
        let (first, last) = (
            (start as usize).min(width - 1),
            (end as usize).min(width - 1),
        );
        let num_docs = split.num_live_docs() as f64;
        for (ord, column) in columns.iter_mut().enumerate().take(last + 1).skip(first) {
            column.num_splits += 1;
            let covered = (end.min(ord as f64 + 1.0) - start.max(ord as f64)).max(0.0);
            column.num_docs += match first == last {
                true => num_docs,
                false => num_docs * covered / (end - start),
            };
        }
    }
    columns
}

fn height(value: f64, most: f64, screen: &Screen) -> char {
    if value <= 0.0 {
        return ' ';
    }
    let heights = screen.either(HEIGHTS, PLAIN_HEIGHTS);
    let place = (value / most * heights.len() as f64).ceil() as usize;
    heights[place.clamp(1, heights.len()) - 1]
}

fn digit(number: usize) -> char {
    match number {
        0 => ' ',
        1..=9 => char::from(b'0' + number as u8),
        _ => '+',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(ord: u64, start_s: i64, end_s: i64, num_docs: u64) -> SplitEntry {
        let json = serde_json::json!({
            "id": format!("{ord:032x}"), "len": 100, "head_len": 10, "head_checksum": "0000000000000000",
            "num_docs": num_docs, "raw_num_bytes": 1,
            "time_range": {"start_ns": start_s * 1_000_000_000, "end_ns": end_s * 1_000_000_000},
        });
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn a_line_shows_where_documents_and_splits_are() {
        let splits = [
            split(1, 0, 1_000, 100),
            split(2, 1_500, 2_000, 400),
            split(3, 1_990, 2_000, 30),
        ];
        let range = TimeRange {
            start_ns: 0,
            end_ns: 2_000_000_000_000,
        };
        let line = time_line(&splits, Some(range), &Screen::plain(31, false));
        let rows: Vec<&str> = line.lines().collect();
        assert_eq!(rows[0], "documents  ..........     ****@");
        assert_eq!(rows[1], "splits     11111111111    11112");
        assert_eq!(rows[2], "           1970-01-01 00:00 1970-01-01 00:33");
        assert_eq!(time_line(&splits, None, &Screen::plain(80, true)), "");
    }

    #[test]
    fn no_document_is_lost_or_drawn_twice() {
        let splits: Vec<SplitEntry> = (0..40)
            .map(|ord| {
                split(
                    ord,
                    (ord as i64 * 37) % 900,
                    (ord as i64 * 37) % 900 + ord as i64,
                    ord + 1,
                )
            })
            .collect();
        let range = TimeRange {
            start_ns: 0,
            end_ns: 940_000_000_000,
        };
        for width in [10, 33, 96] {
            let columns = columns_of(&splits, range, width);
            let drawn: f64 = columns.iter().map(|column| column.num_docs).sum();
            assert!((drawn - 820.0).abs() < 1e-6, "{drawn}");
        }
    }
}
