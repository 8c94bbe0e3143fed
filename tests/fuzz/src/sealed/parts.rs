//! Disassembly of a split, and reassembly with valid checksums.

use canter_split_format::{
    DOCUMENT_INDEX_FILE, DOCUMENTS_FILE, DocumentIndex, Head, ManifestFile, RARE_WORDS_FILE,
    SplitEntry, VECTOR_INDEX_FILE, VECTORS_FILE, VectorIndex, checksum64, object_id, split_object,
};

use super::super::host::Objects;

/// Length of the prefix before a head's components.
const PREFIX_LEN: usize = 28;
/// Magic number and version of the frame, of splits without rare words and of those with them.
const FRAME: &[u8; 12] = b"CANTERSP\x01\0\0\0";
const FRAME_WITH_RARE_WORDS: &[u8; 12] = b"CANTERSP\x02\0\0\0";
/// Base-2 logarithm of the block length, for blocks of 4 KiB.
const BLOCK_LEN_LOG2: u32 = 12;

/// Component of a head.
#[derive(Clone)]
pub(super) struct Component {
    pub(super) tag: [u8; 4],
    version: u32,
    pub(super) payload: Vec<u8>,
}

/// Split: its entry in the manifest, its head and its body.
#[derive(Clone)]
pub(super) struct Parts {
    pub(super) entry: SplitEntry,
    pub(super) components: Vec<Component>,
    /// Names and bytes, in the order of the file table.
    pub(super) files: Vec<(String, Vec<u8>)>,
    /// Hot ranges of the head: index of the file, start, length.
    hot: Vec<(u32, usize, usize)>,
}

/// Parts of a head that follow changes to the body.
#[derive(Clone, Copy)]
pub(super) struct Sealing {
    /// True if the hotcache copies the damaged body.
    pub(super) renews_hotcache: bool,
    /// True if the file table and the checksums of blocks stay as they were damaged.
    pub(super) keeps_tables: bool,
}

pub(super) fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

impl Parts {
    /// Disassembles an intact split.
    pub(super) fn of(entry: &SplitEntry, objects: &Objects) -> Self {
        let split = &objects[&split_object(&entry.id)];
        let head = Head::open(split).expect("a sound head");
        let mut rest = &split[PREFIX_LEN..entry.head_len as usize];
        let mut components = Vec::new();
        while !rest.is_empty() {
            let (head, behind) = rest.split_at(16);
            let len = u64::from_le_bytes(head[8..].try_into().expect("eight bytes")) as usize;
            components.push(Component {
                tag: head[..4].try_into().expect("four bytes"),
                version: u32::from_le_bytes(head[4..8].try_into().expect("four bytes")),
                payload: behind[..len].to_vec(),
            });
            rest = &behind[len..];
        }
        let body = &split[entry.head_len as usize..];
        let files = head.files.files().iter().map(|file| {
            let start = file.offset as usize;
            (
                file.name.clone(),
                body[start..start + file.len as usize].to_vec(),
            )
        });
        let hot = head.hotcache.ranges().iter();
        Self {
            entry: entry.clone(),
            components,
            files: files.collect(),
            hot: hot
                .map(|range| (range.file_ord, range.start as usize, range.bytes.len()))
                .collect(),
        }
    }

    pub(super) fn file(&mut self, name: &str) -> Option<&mut Vec<u8>> {
        let mut files = self.files.iter_mut();
        files.find(|(of, _)| of == name).map(|(_, bytes)| bytes)
    }

    pub(super) fn component(&mut self, tag: &[u8; 4]) -> Option<&mut Vec<u8>> {
        let mut components = self.components.iter_mut();
        components
            .find(|of| of.tag == *tag)
            .map(|of| &mut of.payload)
    }

    fn put(&mut self, tag: &[u8; 4], payload: Vec<u8>) {
        if let Some(of) = self.component(tag) {
            *of = payload;
        }
    }

    fn file_table(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put_varint(&mut out, self.files.len() as u64);
        for (name, bytes) in &self.files {
            put_varint(&mut out, name.len() as u64);
            out.extend_from_slice(name.as_bytes());
            put_varint(&mut out, bytes.len() as u64);
        }
        out
    }

    fn block_checksums(body: &[u8]) -> Vec<u8> {
        let mut out = BLOCK_LEN_LOG2.to_le_bytes().to_vec();
        out.extend((body.len() as u64).to_le_bytes());
        for block in body.chunks(1 << BLOCK_LEN_LOG2) {
            out.extend((checksum64(block) as u32).to_le_bytes());
        }
        out
    }

    fn hotcache(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut ranges = Vec::new();
        for (file_ord, start, len) in &self.hot {
            let file = self.files.get(*file_ord as usize).map(|(_, bytes)| bytes);
            if let Some(hot) = file.and_then(|file| file.get(*start..start + len)) {
                ranges.push((*file_ord, *start, *len));
                bytes.extend_from_slice(hot);
            }
        }
        let mut out = Vec::new();
        put_varint(&mut out, ranges.len() as u64);
        for (file_ord, start, len) in ranges {
            put_varint(&mut out, u64::from(file_ord));
            put_varint(&mut out, start as u64);
            put_varint(&mut out, len as u64);
        }
        out.extend_from_slice(&bytes);
        out
    }

    /// Returns the bytes of the split with valid checksums, and its entry.
    fn seal(mut self, how: Sealing) -> (SplitEntry, Vec<u8>) {
        let index = self.file(DOCUMENT_INDEX_FILE);
        let index = index.and_then(|index| DocumentIndex::open(index).ok());
        if let (Some(index), Some(documents)) = (index, self.file(DOCUMENTS_FILE)) {
            index.seal(documents);
        }
        let vectors_len = self.file(VECTORS_FILE).map(|vectors| vectors.len() as u64);
        let index = self.file(VECTOR_INDEX_FILE).zip(vectors_len);
        let index = index.and_then(|(index, len)| VectorIndex::open(index, len).ok());
        if let (Some(index), Some(vectors)) = (index, self.file(VECTORS_FILE)) {
            index.seal(vectors);
        }
        let body: Vec<u8> = self
            .files
            .iter()
            .flat_map(|(_, bytes)| bytes)
            .copied()
            .collect();
        if !how.keeps_tables {
            let table = self.file_table();
            self.put(b"FILE", table);
            self.put(b"BLKS", Self::block_checksums(&body));
        }
        if how.renews_hotcache {
            let hotcache = self.hotcache();
            self.put(b"HOTC", hotcache);
        }
        let mut components = Vec::new();
        for component in &self.components {
            components.extend_from_slice(&component.tag);
            components.extend(component.version.to_le_bytes());
            components.extend((component.payload.len() as u64).to_le_bytes());
            components.extend_from_slice(&component.payload);
        }
        let mut split = match self.file(RARE_WORDS_FILE) {
            Some(_) => FRAME_WITH_RARE_WORDS.to_vec(),
            None => FRAME.to_vec(),
        };
        split.extend(((PREFIX_LEN + components.len()) as u64).to_le_bytes());
        split.extend(checksum64(&components).to_le_bytes());
        split.extend(components);
        let mut entry = self.entry;
        entry.head_len = split.len() as u64;
        entry.head_checksum = checksum64(&split);
        split.extend(body);
        entry.len = split.len() as u64;
        entry.id = object_id(&split);
        entry.head_offset = None;
        (entry, split)
    }

    /// Returns the index with this split in place of the original.
    pub(super) fn put_into(self, objects: &Objects, how: Sealing) -> Option<Objects> {
        let former = self.entry.id.clone();
        let (entry, split) = self.seal(how);
        let mut file =
            ManifestFile::from_bytes(&objects[canter_split_format::MANIFEST_OBJECT]).ok()?;
        file.take_head(&former);
        let mut changed = objects.clone();
        changed.remove(&split_object(&former));
        changed.insert(split_object(&entry.id), split);
        let mut splits = file.manifest.splits.iter_mut();
        *splits.find(|split| split.id == former)? = entry;
        file.manifest.sort_splits();
        let manifest = file.to_bytes().ok()?;
        changed.insert(canter_split_format::MANIFEST_OBJECT.to_owned(), manifest);
        Some(changed)
    }
}
