//! Checks of the fuzz target. `formats/tests/fuzz_seeds.rs` runs them over its corpus, and over inputs derived
//! from it.

use std::sync::Arc;

use canter_formats::{
    Cut, Cutter, Directive, Format, Hints, Layout, MonthDay, Recognised, recognise,
};

/// Checks a stream: the first byte selects the format or its recognition, and the rest is the stream.
/// Between records, only white space, commas and brackets are dropped, the division into pieces does not
/// matter, and the result for a document is JSON.
pub fn formats(bytes: &[u8]) {
    let Some((choice, stream)) = bytes.split_first() else {
        return;
    };
    match Format::ALL.get(usize::from(*choice) % (Format::ALL.len() + 1)) {
        Some(format) => one(Recognised::forced(*format, stream, true), stream),
        None => one(recognise(stream, true), stream),
    }
}

/// Checks a stream of a format.
pub fn one(recognised: Recognised, stream: &[u8]) {
    let whole = cut(recognised, stream, usize::MAX);
    assert_eq!(
        cut(recognised, stream, 7),
        whole,
        "pieces make a difference"
    );
    let mut layout = Layout::of(recognised, stream, true, Arc::new(hints()));
    let mut scratch = Vec::new();
    for record in &joined(whole, &layout) {
        if layout.take_directive(record) == Directive::Taken {
            continue;
        }
        let mut num = 0;
        layout.parse(record, &mut scratch, &mut |parsed| {
            num += 1;
            match parsed {
                Ok(_) if recognised.format.is_json() => {}
                Ok(json) => {
                    let value: serde_json::Value = serde_json::from_slice(json).expect("JSON");
                    assert!(value.is_object(), "{value}");
                }
                Err(failure) => assert!(!failure.message.is_empty()),
            }
        });
        assert!(num > 0, "a record became nothing");
    }
}

/// Joins the lines that form one record.
fn joined(cut: Vec<Vec<u8>>, layout: &Layout) -> Vec<Vec<u8>> {
    let mut records: Vec<Vec<u8>> = Vec::new();
    for record in cut {
        let record = record.strip_suffix(b"\n").unwrap_or(&record);
        match records.last_mut() {
            Some(before) if layout.continues(before, record) => {
                before.push(b'\n');
                before.extend_from_slice(record);
            }
            _ => records.push(record.to_vec()),
        }
    }
    records
}

fn hints() -> Hints {
    Hints {
        ended: Some(MonthDay {
            year: 2024,
            month: 6,
            day: 1,
        }),
        ..Hints::default()
    }
}

fn cut(recognised: Recognised, stream: &[u8], piece_len: usize) -> Vec<Vec<u8>> {
    let mut cutter = Cutter::new(recognised.format, recognised.dialect);
    let (mut records, mut record) = (Vec::new(), Vec::new());
    for piece in stream.chunks(piece_len) {
        let mut rest = piece;
        while !rest.is_empty() {
            let (len, is_end) = match cutter.cut(rest) {
                Cut::More => (rest.len(), false),
                Cut::End(len) => (len, true),
                Cut::Drop(len) => {
                    assert!(len > 0, "no progress");
                    record.clear();
                    rest = &rest[len..];
                    continue;
                }
            };
            record.extend_from_slice(&rest[..len]);
            rest = &rest[len..];
            if is_end {
                assert!(!record.is_empty(), "an empty record");
                records.push(std::mem::take(&mut record));
            }
        }
    }
    if !record.is_empty() {
        records.push(record);
    }
    records
}
