//! Damage to a split: the input determines its place and kind.

use canter_split_format::{DocumentIndex, SplitEntry};

use super::super::host::Objects;
use super::origin::manifest;
use super::parts::{Parts, Sealing, put_varint};

/// Input as a source of decisions: bytes from its start, and zeros past its end.
struct Draw<'a>(&'a [u8]);

impl Draw<'_> {
    fn byte(&mut self) -> u8 {
        match self.0.split_first() {
            Some((first, rest)) => {
                self.0 = rest;
                *first
            }
            None => 0,
        }
    }

    fn below(&mut self, end: usize) -> usize {
        let drawn = [self.byte(), self.byte(), self.byte()];
        let number = drawn
            .iter()
            .fold(0, |number, byte| number << 8 | usize::from(*byte));
        number % end.max(1)
    }

    /// Returns a number at which readers branch.
    fn extreme(&mut self) -> u64 {
        const EXTREMES: [u64; 14] = [
            0,
            1,
            127,
            128,
            255,
            65_535,
            1 << 20,
            (1 << 31) - 1,
            1 << 31,
            (1 << 32) - 1,
            1 << 41,
            i64::MAX as u64,
            1 << 63,
            u64::MAX,
        ];
        match self.byte() {
            which if which < 192 => EXTREMES[usize::from(which) % EXTREMES.len()],
            _ => self.below(1 << 16) as u64,
        }
    }

    /// Returns a position below `len`, often near the start or the end, where the most important
    /// data is.
    fn place(&mut self, len: usize) -> usize {
        match self.byte() % 4 {
            0 => self.below(len.min(96)),
            1 => len - 1 - self.below(len.min(160)),
            _ => self.below(len),
        }
    }
}

/// Parts of a split by name; those with more data to damage are listed repeatedly.
const TARGETS: [&str; 33] = [
    "META",
    "FILE",
    "TIME",
    "ROLL",
    "COOC",
    "BLKS",
    "HOTC",
    "meta.json",
    "fieldnorm",
    "term",
    "term",
    "term",
    "lists",
    "lists",
    "fast",
    "fast",
    "fast",
    "fast",
    "ids",
    "docs",
    "docindex",
    "filter",
    "vecindex",
    "vecindex",
    "vectors",
    "vectors",
    "rare",
    "rare",
    "rareindex",
    "content",
    "longest block",
    "bounds",
    "entry",
];

/// Returns the index with one of its splits damaged; `None` if the input changes nothing.
pub(super) fn damaged(objects: &Objects, bytes: &[u8]) -> Option<Objects> {
    let mut draw = Draw(bytes);
    let splits = manifest(objects).manifest.splits;
    let which = usize::from(draw.byte()) % splits.len();
    let mut parts = Parts::of(&splits[which], objects);
    let target = TARGETS[usize::from(draw.byte()) % TARGETS.len()];
    let sealing = Sealing {
        // Otherwise the head keeps the previous bytes.
        renews_hotcache: target != "HOTC" && draw.byte() % 4 != 0,
        keeps_tables: target == "BLKS" || (target == "FILE" && draw.byte().is_multiple_of(2)),
    };
    for _ in 0..=draw.byte() % 3 {
        damage(&mut parts, target, &mut draw)?;
    }
    parts.put_into(objects, sealing)
}

fn damage(parts: &mut Parts, target: &str, draw: &mut Draw<'_>) -> Option<()> {
    match target {
        "content" => content(parts, draw),
        "longest block" => longest_block(parts.file("docindex")?, draw),
        "bounds" => bounds(parts, draw),
        "entry" => entry(parts, draw),
        name => {
            let tag = name
                .as_bytes()
                .try_into()
                .ok()
                .filter(|_| name.to_uppercase() == name);
            let bytes = match tag {
                Some(tag) => parts.component(tag)?,
                None => parts.file(name)?,
            };
            match bytes.first() {
                Some(b'{') if !draw.byte().is_multiple_of(4) => number(bytes, draw),
                _ => edit(bytes, draw),
            }
            Some(())
        }
    }
}

/// Applies one change to bytes.
fn edit(bytes: &mut Vec<u8>, draw: &mut Draw<'_>) {
    if bytes.is_empty() {
        bytes.push(draw.byte());
        return;
    }
    let len = bytes.len();
    let place = draw.place(len);
    let what = draw.byte() % 13;
    let end = (place + 1 + draw.below(1 << (what % 5 * 2))).min(len);
    match what {
        0 | 1 => bytes[place] ^= 1 << (draw.byte() % 8),
        2 => bytes[place] = draw.byte(),
        3 => bytes[place] = [0, 1, 0x7f, 0x80, 0xff][usize::from(draw.byte()) % 5],
        4 => overwrite(bytes, place, &draw.extreme().to_le_bytes()[..4]),
        5 => overwrite(bytes, place, &draw.extreme().to_le_bytes()),
        6 => {
            let mut varint = Vec::new();
            put_varint(&mut varint, draw.extreme());
            bytes.splice(place..=place, varint);
        }
        7 => {
            // tantivy's varints end with a byte whose highest bit is set.
            let mut varint = Vec::new();
            put_varint(&mut varint, draw.extreme());
            varint.iter_mut().for_each(|byte| *byte ^= 0x80);
            bytes.splice(place..=place, varint);
        }
        8 => drop(bytes.drain(place..end)),
        9 => {
            let copied = bytes[place..end].to_vec();
            let at = draw.place(len);
            bytes.splice(at..at, copied);
        }
        10 => {
            let copied = bytes[place..end].to_vec();
            let at = draw.place(len);
            overwrite(bytes, at, &copied);
        }
        11 => bytes.truncate(place),
        _ => bytes[place..end].fill([0, 0xff][usize::from(draw.byte()) % 2]),
    }
}

fn overwrite(bytes: &mut [u8], place: usize, with: &[u8]) {
    for (byte, new) in bytes[place..].iter_mut().zip(with) {
        *byte = *new;
    }
}

/// Replaces a number in JSON.
fn number(bytes: &mut Vec<u8>, draw: &mut Draw<'_>) {
    let starts = (1..bytes.len())
        .filter(|at| bytes[*at].is_ascii_digit() && !bytes[at - 1].is_ascii_digit());
    let starts: Vec<usize> = starts.collect();
    let Some(start) = starts.get(draw.below(starts.len())) else {
        return;
    };
    let len = bytes[*start..]
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let new = draw.extreme().to_string();
    bytes.splice(*start..start + len, new.into_bytes());
}

/// Replaces the length of the longest block of documents.
fn longest_block(index: &mut Vec<u8>, draw: &mut Draw<'_>) -> Option<()> {
    let mut at = 4;
    for _ in 0..2 {
        let (len, num_bytes) = varint(index.get(at..)?)?;
        at += num_bytes + usize::try_from(len).ok()?;
    }
    let (_, num_bytes) = varint(index.get(at..)?)?;
    let mut longest = Vec::new();
    put_varint(&mut longest, draw.extreme());
    index.splice(at..at + num_bytes, longest);
    Some(())
}

fn varint(bytes: &[u8]) -> Option<(u64, usize)> {
    let len = bytes.iter().position(|byte| byte & 0x80 == 0)? + 1;
    let sevens = bytes[..len].iter().rev();
    Some((
        sevens.fold(0, |number, byte| number << 7 | u64::from(byte & 0x7f)),
        len,
    ))
}

/// Damages contents: changes a block of rows, or unpacks, changes and repacks one of columns.
fn content(parts: &mut Parts, draw: &mut Draw<'_>) -> Option<()> {
    const MOST: usize = 1 << 22;
    let index = DocumentIndex::open(parts.file("docindex")?).ok()?;
    let dictionary = index.dictionary().ok()?;
    let block = index.block(draw.below(index.num_blocks()))?;
    let place = block.bytes.start as usize..block.bytes.end as usize;
    let docs = parts.file("docs")?;
    let (_, packed) = docs.get_mut(place)?.split_first_chunk_mut::<4>()?;
    if !index.models().ok()?.is_empty() {
        let mut rows = packed.to_vec();
        edit(&mut rows, draw);
        rows.resize(packed.len(), 0);
        packed.copy_from_slice(&rows);
        return Some(());
    }
    let len = zstd::zstd_safe::find_frame_compressed_size(packed).ok()?;
    let mut unpacker = zstd::bulk::Decompressor::with_dictionary(&dictionary).ok()?;
    let mut content = unpacker.decompress(&packed[..len], MOST).ok()?;
    edit(&mut content, draw);
    let mut packer = zstd::bulk::Compressor::with_dictionary(19, &dictionary).ok()?;
    packer.include_dictid(false).ok()?;
    let mut repacked = packer.compress(&content).ok()?;
    // A change that does not fit is dropped.
    (repacked.len() <= packed.len()).then_some(())?;
    repacked.resize(packed.len(), 0);
    packed.copy_from_slice(&repacked);
    Some(())
}

/// Moves the boundary of two adjacent files, or swaps two files.
fn bounds(parts: &mut Parts, draw: &mut Draw<'_>) -> Option<()> {
    let first = draw.below(parts.files.len() - 1);
    if draw.byte().is_multiple_of(2) {
        let other = draw.below(parts.files.len());
        let bytes = std::mem::take(&mut parts.files[first].1);
        let bytes = std::mem::replace(&mut parts.files[other].1, bytes);
        parts.files[first].1 = bytes;
        return Some(());
    }
    let file = &mut parts.files[first].1;
    let moved = file.split_off(file.len() - draw.below(file.len().min(256)));
    parts.files[first + 1].1.splice(..0, moved);
    Some(())
}

/// Changes the split's entry in the manifest.
fn entry(parts: &mut Parts, draw: &mut Draw<'_>) -> Option<()> {
    let entry: &mut SplitEntry = &mut parts.entry;
    let number = draw.extreme();
    match draw.byte() % 8 {
        0 => entry.num_docs = number,
        1 => entry.raw_num_bytes = number,
        2 => entry.num_merge_ops = number,
        3 => entry.time_range.as_mut()?.start_ns = number.cast_signed(),
        4 => entry.time_range.as_mut()?.end_ns = number.cast_signed(),
        5 => entry.deletes.as_mut()?.num_docs = number,
        6 => drop(entry.tags.pop_first()),
        _ => {
            // Deleted documents under the hash of their bytes.
            let deletes = entry.deletes.as_mut()?;
            let bytes = deletes.inlined.as_mut()?;
            edit(bytes, draw);
            deletes.len = bytes.len() as u64;
            deletes.id = canter_split_format::object_id(bytes);
        }
    }
    // All copies of the number of documents agree.
    if draw.byte().is_multiple_of(2) {
        let num_docs = entry.num_docs.to_string();
        for (what, key) in [("META", "\"num_docs\":"), ("meta.json", "\"max_doc\":")] {
            let json = match what {
                "META" => parts.component(b"META")?,
                file => parts.file(file)?,
            };
            let text = String::from_utf8(json.clone()).ok()?;
            let at = text.find(key)? + key.len();
            let len = text[at..].find(|digit: char| !digit.is_ascii_digit())?;
            json.splice(at..at + len, num_docs.bytes());
        }
        parts
            .components
            .retain(|of| ![*b"TIME", *b"ROLL"].contains(&of.tag));
    }
    Some(())
}
