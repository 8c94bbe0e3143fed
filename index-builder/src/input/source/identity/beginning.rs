//! The beginning of a source, which identifies it together with its origin.

use std::sync::Arc;

use super::super::input::origin_of;
use super::super::reading::batch::{KEPT_OF_LONG_RECORD, without_ending};
use crate::index::storage::spooled_id;
use canter_formats::{Cut, Cutter, Directive, Format, Hints, Layout};
use canter_split_format::SourceId;

/// Number of bytes of the first line that count: no more than what is kept of a long one.
const BEGINNING_LEN: usize = KEPT_OF_LONG_RECORD;
/// Number of bytes of the first record that count, in formats whose first lines are alike in many files.
const FIRST_RECORD_LEN: usize = 4096;

/// Returns the first line; where many files begin with the same one, everything up to the end of the first record.
/// It must not change when a file grows.
pub(in crate::input::source) fn known_by<'b>(
    beginning: &'b [u8],
    layout: &Layout,
    cutter: &Cutter,
    max_line_num_bytes: usize,
) -> &'b [u8] {
    let is_known_by_line = cutter.is_of_lines()
        && !matches!(
            layout.format(),
            Format::VpcFlow | Format::W3c | Format::Zeek
        );
    if is_known_by_line {
        let line = beginning.split(|byte| *byte == b'\n').next();
        let line = line.unwrap_or_default();
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let len = match line.len() > max_line_num_bytes {
            true => BEGINNING_LEN.min(max_line_num_bytes),
            false => BEGINNING_LEN,
        };
        return &line[..line.len().min(len)];
    }
    let (mut cutter, mut layout) = (cutter.clone(), layout.clone());
    let (mut place, mut start) = (0, 0);
    while place < beginning.len() {
        match cutter.cut(&beginning[place..]) {
            Cut::More => break,
            Cut::Drop(len) => {
                place += len;
                start = place;
            }
            Cut::End(len) => {
                place += len;
                let record = without_ending(&beginning[start..place]);
                if layout.take_directive(record) == Directive::Record {
                    return &beginning[..place.min(start + FIRST_RECORD_LEN)];
                }
                start = place;
            }
        }
    }
    &beginning[..beginning.len().min(start + FIRST_RECORD_LEN)]
}

/// Returns the id of a source of these lines (see [`crate::Source::lines`]) with an id of its own.
pub(crate) fn id_of_lines(id: &str, lines: &[u8]) -> SourceId {
    let hints = Arc::new(Hints::default());
    let layout = Layout::new(Format::Ndjson, b',', hints);
    let cutter = Cutter::new(Format::Ndjson, b',');
    let beginning = known_by(lines, &layout, &cutter, usize::MAX);
    first_id(&origin_of(id), beginning)
}

/// The id of the first source of this origin.
///
/// An id `t` and 32 hexadecimal digits, of which the first are a time, is the number of its source: sources of a server that are
/// made one after the other are in that order, and so are their documents where nothing else says it.
pub(super) fn first_id(origin: &[u8], beginning: &[u8]) -> SourceId {
    arrival_of(origin).unwrap_or_else(|| SourceId::of(origin, beginning))
}

fn arrival_of(origin: &[u8]) -> Option<SourceId> {
    let id = std::str::from_utf8(origin).ok()?.strip_prefix("id:")?;
    let number = spooled_id(id).unwrap_or(id).strip_prefix('t')?;
    let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    let is_number = number.len() == 32 && number.bytes().all(is_hex);
    let number = u128::from_str_radix(number, 16).ok();
    number.filter(|_| is_number).map(SourceId::from_u128)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrivals_are_in_the_order_of_their_ids_and_other_ids_are_hashes() {
        let digits = "0".repeat(31);
        let of = |id: &str| id_of_lines(id, b"{}\n");
        assert_eq!(of(&format!("t{digits}7")).to_u128(), 7);
        assert_eq!(of(&format!("spool/t{digits}9.ndjson.zst")).to_u128(), 9);
        for other in [
            "t7",
            "7",
            "requests",
            &format!("t{digits}G"),
            &format!("u{digits}7"),
        ] {
            assert!(of(other).to_u128() > 1 << 64, "{other}");
        }
    }
}
