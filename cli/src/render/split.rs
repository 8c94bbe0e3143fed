//! A split's head, for people and for programs.

use canter_split_format::Head;
use serde_json::{Value, json};

use super::terminal::dates::date_of;
use super::{Align, Cell, Colour, Column, Screen, Table, numbers};

/// A head, and the cost of reading it.
pub(crate) struct InspectedSplit {
    pub(crate) name: String,
    pub(crate) head: Head,
    pub(crate) head_len: u64,
    pub(crate) num_requests: u64,
    pub(crate) num_bytes_read: u64,
    /// Numbers of the damaged blocks, if blocks were checked.
    pub(crate) damaged_blocks: Option<Vec<u64>>,
}

/// Returns the contents of the head, without the bytes themselves, as JSON.
pub(crate) fn split_json(split: &InspectedSplit) -> Value {
    let head = &split.head;
    let files = head.files.files();
    let hot_ranges = head.hotcache.ranges().iter().map(|range| {
        let file = usize::try_from(range.file_ord)
            .ok()
            .and_then(|ord| files.get(ord));
        json!({
            "file": file.map(|file| &file.name),
            "start": range.start,
            "length": range.bytes.len(),
        })
    });
    let blocks = &head.block_checksums;
    json!({
        "split": split.name,
        "num_requests": split.num_requests,
        "num_bytes_read": split.num_bytes_read,
        "head_len": split.head_len,
        "body_len": head.files.body_len(),
        "metadata": head.metadata,
        "files": files
            .iter()
            .map(|file| json!({"name": file.name, "offset": file.offset, "length": file.len}))
            .collect::<Vec<_>>(),
        "hotcache": {
            "num_bytes": head.hotcache.bytes().len(),
            "ranges": hot_ranges.collect::<Vec<_>>(),
        },
        "time_index": head.time_index.as_ref().map(|index| {
            json!({"width_ms": index.width_ns() / 1_000_000, "num_docs": index.num_docs()})
        }),
        "rollup": head.rollup.as_ref().map(|rollup| {
            json!({
                "width_ms": rollup.width_ns() / 1_000_000,
                "num_buckets": rollup.num_docs().len(),
                "fields": rollup
                    .fields()
                    .iter()
                    .map(|field| json!({"name": field.name, "keys": field.keys}))
                    .collect::<Vec<_>>(),
            })
        }),
        "block_checksums": {
            "block_len": blocks.block_len(),
            "num_blocks": blocks.num_blocks(),
            "damaged_blocks": split.damaged_blocks,
        },
    })
}

/// Returns the contents of the head as text.
pub(crate) fn split_table(split: &InspectedSplit, screen: &Screen) -> String {
    format!(
        "{}\n{}\n{}",
        facts(split).text(screen, ""),
        files(split).text(screen, ""),
        screen.paint(
            Colour::Dim,
            &format!(
                "read {} in {}",
                numbers::bytes(split.num_bytes_read),
                numbers::counted(split.num_requests, "request")
            )
        ) + "\n",
    )
}

fn facts(split: &InspectedSplit) -> Table {
    let head = &split.head;
    let metadata = &head.metadata;
    let mut table = Table::new(vec![
        Column::new("", Align::Left),
        Column::new("", Align::Left),
    ]);
    let mut fact = |name: &str, text: String| {
        table.push(vec![
            Cell::new(name).in_colour(Some(Colour::Dim)),
            Cell::new(text),
        ]);
    };
    fact("split", split.name.clone());
    let index_id = metadata.index_config["index_id"].as_str();
    fact("index", index_id.unwrap_or("?").to_owned());
    fact("documents", numbers::count(u64::from(metadata.num_docs)));
    fact("input", numbers::bytes(metadata.raw_num_bytes));
    fact("head", numbers::bytes(split.head_len));
    fact("body", numbers::bytes(head.files.body_len()));
    if let Some(field) = &metadata.sort_field {
        fact("sorted by", field.clone());
    }
    if let Some(range) = metadata.time_range {
        fact("from", date_of(range.start_ns));
        fact("to", date_of(range.end_ns));
    }
    if let Some(range) = metadata.identities {
        let (first, last) = (range.first, range.last);
        fact("sources", numbers::count(u64::from(range.num_sources)));
        fact(
            "first document",
            format!("{} line {}", first.source, first.position),
        );
        fact(
            "last document",
            format!("{} line {}", last.source, last.position),
        );
    }
    let width = |width_ns: i64| {
        let millis = u64::try_from(width_ns / 1_000_000).unwrap_or(0);
        numbers::width_of_time(millis)
    };
    if let Some(index) = &head.time_index {
        fact(
            "time index",
            format!("one bucket per {}", width(index.width_ns())),
        );
    }
    if let Some(rollup) = &head.rollup {
        let fields = rollup.fields().iter();
        let fields: Vec<String> = fields
            .map(|field| {
                let keys = numbers::counted(field.keys.len() as u64, "value");
                format!("{} ({keys})", field.name)
            })
            .collect();
        fact(
            "rollup",
            format!(
                "{} of {}: {}",
                numbers::counted(rollup.num_docs().len() as u64, "bucket"),
                width(rollup.width_ns()),
                fields.join(", ")
            ),
        );
    }
    fact("blocks", blocks(split));
    table
}

fn blocks(split: &InspectedSplit) -> String {
    let blocks = &split.head.block_checksums;
    let all = format!(
        "{} of {}",
        numbers::counted(blocks.num_blocks(), "checksum"),
        numbers::bytes(blocks.block_len())
    );
    match split.damaged_blocks.as_deref() {
        None => all,
        Some([]) => format!("{all}, all of them right"),
        Some(damaged) => {
            let ords: Vec<String> = damaged.iter().take(10).map(u64::to_string).collect();
            let more = if damaged.len() > ords.len() {
                ", …"
            } else {
                ""
            };
            format!("{all}, DAMAGED: {}{more}", ords.join(", "))
        }
    }
}

/// Returns the files of the body, and how much of each is in the head.
fn files(split: &InspectedSplit) -> Table {
    let head = &split.head;
    let mut table = Table::new(vec![
        Column::new("file", Align::Left),
        Column::new("offset", Align::Right),
        Column::new("size", Align::Right),
        Column::new("of body", Align::Right),
        Column::new("in hotcache", Align::Right),
        Column::new("ranges", Align::Right),
    ]);
    for (file_ord, file) in (0..).zip(head.files.files()) {
        let ranges = head.hotcache.ranges().iter();
        let lens: Vec<u64> = ranges
            .filter(|range| range.file_ord == file_ord)
            .map(|range| range.bytes.len() as u64)
            .collect();
        let share = numbers::share(file.len, head.files.body_len());
        table.push(vec![
            Cell::new(&file.name),
            Cell::new(numbers::count(split.head_len + file.offset)),
            Cell::new(numbers::bytes(file.len)),
            Cell::new(share.unwrap_or_default()),
            Cell::new(numbers::bytes(lens.iter().sum())),
            Cell::new(numbers::count(lens.len() as u64)),
        ]);
    }
    table
}
