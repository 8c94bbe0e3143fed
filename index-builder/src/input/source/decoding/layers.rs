//! Decompression, layer by layer.

use std::io::{self, BufRead, BufReader, Read};
use std::sync::Arc;

use bzip2::bufread::MultiBzDecoder;
use flate2::bufread::MultiGzDecoder;
use lzma_rust2::XzReader;

use super::expansion::{Expanding, Stored};
use super::kinds::Kind;
use super::legacy::{Legacy, encoding_of};
use super::unreadable::{BINARY, Unreadable, is_binary};
use super::utf16::Utf16;
use crate::input::source::replay::Replay;
use canter_formats::BEGINNING_LEN;

/// Size of reads, in bytes.
pub(in crate::input::source) const BUFFER_LEN: usize = 128 * 1024;
/// Maximum number of layers; a file with more is malicious.
const MAX_LAYERS: usize = 4;
/// Maximum size of zstd's windows, which are in memory: zstd's own limit without `--long=28` or more.
const MAX_WINDOW_NUM_BYTES: u64 = 128 << 20;
/// Memory of an xz decoder with such a dictionary, in KiB.
pub(super) const MAX_XZ_NUM_KIB: u32 = 192 << 10;

/// A layer of compression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::input::source) enum Layer {
    Gzip,
    Zstd,
    Bzip2,
    Xz,
    Tar,
    Zip,
}

impl Layer {
    /// Returns its name, and the tool that also reports a damaged file.
    pub(in crate::input::source) fn named(self) -> (&'static str, &'static str) {
        match self {
            Layer::Gzip => ("gzip", "gzip -dc"),
            Layer::Zstd => ("zstd", "zstd -dc"),
            Layer::Bzip2 => ("bzip2", "bzip2 -dc"),
            Layer::Xz => ("xz", "xz -dc"),
            Layer::Tar => ("tar", "tar -tf"),
            Layer::Zip => ("zip", "unzip -t"),
        }
    }
}

/// Decompressed bytes.
pub(in crate::input::source) struct Decoded {
    pub(in crate::input::source) reader: Replay,
    /// The outermost first.
    pub(in crate::input::source) layers: Vec<Layer>,
    /// Kind of the archive, if it is one: `reader` returns its bytes.
    pub(in crate::input::source) archive: Option<Layer>,
}

/// Settings for decoding.
#[derive(Clone, Copy, Debug)]
pub(in crate::input::source) struct Decoding {
    /// Maximum expansion of compressed data.
    pub(in crate::input::source) max_expansion: u64,
    /// True if the data is known to be text in some format.
    pub(in crate::input::source) is_text: bool,
}

impl Decoded {
    /// Undoes the compression that the first bytes show.
    ///
    /// # Errors
    /// `Unsupported` for a known kind that is not read, with a message that ends a sentence about it.
    pub(in crate::input::source) fn new(
        raw: Box<dyn Read + Send>,
        decoding: Decoding,
    ) -> io::Result<Decoded> {
        let raw = Stored::new(raw);
        let num_stored_bytes = raw.count();
        let buffered = BufReader::with_capacity(BUFFER_LEN, raw);
        let mut reader = Replay::new(Box::new(buffered), BEGINNING_LEN);
        let mut layers = Vec::new();
        loop {
            let (beginning, is_whole) = reader.beginning();
            let kind = Kind::of(beginning, is_whole);
            let layer = match kind {
                Kind::Gzip => Layer::Gzip,
                Kind::Zstd => {
                    check_window(beginning)?;
                    Layer::Zstd
                }
                Kind::Bzip2 => Layer::Bzip2,
                Kind::Xz => Layer::Xz,
                Kind::Tar | Kind::Zip => {
                    let archive = match kind {
                        Kind::Tar => Layer::Tar,
                        _ => Layer::Zip,
                    };
                    return Ok(Decoded {
                        reader,
                        layers,
                        archive: Some(archive),
                    });
                }
                Kind::Utf16(endian) => {
                    let text = BufReader::with_capacity(BUFFER_LEN, Utf16::new(reader, endian));
                    reader = Replay::new(Box::new(text), BEGINNING_LEN);
                    break;
                }
                Kind::Unreadable(unreadable) => return Err(refused(&unreadable)),
                Kind::Text if !decoding.is_text && is_binary(without_nuls(beginning)) => {
                    return Err(refused(&BINARY));
                }
                Kind::Text => {
                    if let Some(encoding) = encoding_of(beginning, is_whole) {
                        let text = Legacy::new(reader, encoding);
                        let text = BufReader::with_capacity(BUFFER_LEN, text);
                        reader = Replay::new(Box::new(text), BEGINNING_LEN);
                    }
                    break;
                }
            };
            if layers.len() == MAX_LAYERS {
                return Err(io::Error::new(
                    io::ErrorKind::Unsupported,
                    format!("it is compressed more than {MAX_LAYERS} times: decompress it first"),
                ));
            }
            layers.push(layer);
            let decoder = decoder(layer, reader)?;
            // Each layer may grow as much as all of them together may.
            let count = Arc::clone(&num_stored_bytes);
            let expanding = Expanding::new(decoder, count, decoding.max_expansion);
            let buffered = BufReader::with_capacity(BUFFER_LEN, expanding);
            reader = Replay::new(Box::new(buffered), BEGINNING_LEN);
        }
        Ok(Decoded {
            reader,
            layers,
            archive: None,
        })
    }
}

fn refused(unreadable: &Unreadable) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, unreadable.to_string())
}

fn without_nuls(bytes: &[u8]) -> &[u8] {
    let start = bytes.iter().position(|byte| *byte != 0);
    start.map_or(&[], |start| &bytes[start..])
}

fn decoder(layer: Layer, reader: Replay) -> io::Result<Box<dyn Read + Send>> {
    Ok(match layer {
        Layer::Zstd => Box::new(zstd::stream::read::Decoder::with_buffer(reader)?),
        Layer::Bzip2 => Box::new(MultiBzDecoder::new(reader)),
        Layer::Xz => Box::new(XzReader::new_mem_limit(reader, true, MAX_XZ_NUM_KIB)),
        Layer::Gzip | Layer::Tar | Layer::Zip => Box::new(MultiGzDecoder::new(reader)),
    })
}

/// Advice about a window that is too large, as the end of a sentence.
pub(in crate::input::source) const WINDOW_ADVICE: &str = "compress it again without --long or --ultra (xz: with a smaller \
     dictionary), or pipe it: `zstd -dc --long=31 FILE | canter index ingest --input - …`";

/// Checks that the first frame can be decoded within the memory limit.
fn check_window(beginning: &[u8]) -> io::Result<()> {
    match window_num_bytes(beginning) {
        Some(window) if window > MAX_WINDOW_NUM_BYTES => Err(io::Error::new(
            io::ErrorKind::Unsupported,
            format!(
                "its zstd window has {window} bytes, more than the {MAX_WINDOW_NUM_BYTES} that are held in memory: {WINDOW_ADVICE}"
            ),
        )),
        _ => Ok(()),
    }
}

/// Returns the window of a zstd frame: RFC 8878, section 3.1.1.1.
fn window_num_bytes(frame: &[u8]) -> Option<u64> {
    let rest = frame.strip_prefix(&[0x28, 0xb5, 0x2f, 0xfd])?;
    let (descriptor, rest) = rest.split_first()?;
    let is_single = descriptor & 0x20 != 0;
    if !is_single {
        let window = rest.first()?;
        let base = 1_u64 << (10 + (window >> 3));
        return Some(base + base / 8 * u64::from(window & 7));
    }
    // The window is the whole content.
    let id_len = [0, 1, 2, 4][usize::from(descriptor & 3)];
    let len = [1, 2, 4, 8][usize::from(descriptor >> 6)];
    let mut bytes = [0; 8];
    bytes[..len].copy_from_slice(rest.get(id_len..id_len + len)?);
    let size = u64::from_le_bytes(bytes);
    Some(if len == 2 { size + 256 } else { size })
}

/// Returns whether a decoder stopped because its window exceeds the memory limit.
pub(in crate::input::source) fn is_over_window(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::OutOfMemory || error.to_string().contains("too much memory")
}

/// Skips leading NULs, as in a file of which only the end was written; returns their number.
pub(in crate::input::source) fn pass_nuls(reader: &mut Replay) -> io::Result<u64> {
    let mut num_nuls = 0;
    loop {
        let bytes = match reader.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            other => other?,
        };
        let num = bytes.iter().take_while(|byte| **byte == 0).count();
        let is_end = num < bytes.len() || bytes.is_empty();
        reader.consume(num);
        num_nuls += num as u64;
        if is_end {
            return Ok(num_nuls);
        }
    }
}
