//! Archives of tar, in the forms of POSIX (ustar, pax) and GNU, from the first member to the last.
//! `https://pubs.opengroup.org/onlinepubs/9699919799/utilities/pax.html`

use std::io::{self, Read};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::archive::{Found, Members};

const BLOCK_LEN: usize = 512;
/// Maximum length of a name, and of a list of attributes.
const MAX_EXTENSION_LEN: u64 = 1 << 20;

/// A cursor over an archive.
pub(super) struct Tar {
    reader: Box<dyn Read + Send>,
    /// Number of unread bytes of the member.
    left: u64,
    /// Number of bytes after it, up to the next block.
    padding: u64,
}

/// Extended headers of the next member.
#[derive(Default)]
struct Extended {
    path: Option<String>,
    len: Option<u64>,
    is_sparse: bool,
}

impl Tar {
    pub(super) fn new(reader: Box<dyn Read + Send>) -> Tar {
        Tar {
            reader,
            left: 0,
            padding: 0,
        }
    }

    /// Reads the next header. `None` at the end: a block of zeros, or no block at all.
    fn header(&mut self) -> io::Result<Option<[u8; BLOCK_LEN]>> {
        let mut block = [0; BLOCK_LEN];
        let mut len = 0;
        while len < BLOCK_LEN {
            match self.reader.read(&mut block[len..]) {
                Ok(0) if len == 0 => return Ok(None),
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(num) => len += num,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        if block.iter().all(|byte| *byte == 0) {
            return Ok(None);
        }
        match is_intact(&block) {
            true => Ok(Some(block)),
            false => Err(damaged("the checksum of a header is wrong")),
        }
    }

    fn begin(&mut self, len: u64) {
        self.left = len;
        self.padding = (BLOCK_LEN as u64 - len % BLOCK_LEN as u64) % BLOCK_LEN as u64;
    }

    /// Skips the rest of the member.
    fn pass(&mut self) -> io::Result<()> {
        let wanted = self.left.saturating_add(std::mem::take(&mut self.padding));
        self.left = 0;
        let passed = io::copy(&mut (&mut self.reader).take(wanted), &mut io::sink())?;
        match passed == wanted {
            true => Ok(()),
            false => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    fn extension(&mut self, len: u64) -> io::Result<Vec<u8>> {
        if len > MAX_EXTENSION_LEN {
            return Err(damaged("a header is too long"));
        }
        self.begin(len);
        let mut bytes = Vec::new();
        self.read_to_end(&mut bytes)?;
        self.pass()?;
        Ok(bytes)
    }
}

impl Members for Tar {
    fn next_member(&mut self) -> io::Result<Option<Found>> {
        self.pass()?;
        let mut extended = Extended::default();
        loop {
            let Some(header) = self.header()? else {
                return Ok(None);
            };
            let len = number(&header[124..136]).ok_or_else(|| damaged("a length is no number"))?;
            match header[156] {
                // GNU's long name.
                b'L' => {
                    let name = self.extension(len)?;
                    extended.path = Some(text(&name));
                }
                b'K' | b'g' => drop(self.extension(len)?),
                b'x' => {
                    let attributes = self.extension(len)?;
                    extended.take(&attributes);
                }
                kind => {
                    let is_file = matches!(kind, b'0' | 0 | b'7');
                    // Links and devices have no bytes, whatever their headers say.
                    let has_bytes = !matches!(kind, b'1'..=b'6');
                    self.begin(match has_bytes {
                        true => extended.len.unwrap_or(len),
                        false => 0,
                    });
                    let name = extended.path.unwrap_or_else(|| name_of(&header));
                    let seconds = number(&header[136..148]);
                    let modified = seconds
                        .and_then(|seconds| UNIX_EPOCH.checked_add(Duration::from_secs(seconds)))
                        .filter(|time| *time > UNIX_EPOCH && *time < far_future());
                    return Ok(Some(Found {
                        is_file: is_file && !name.ends_with('/'),
                        unreadable: (kind == b'S' || extended.is_sparse)
                            .then(|| "it is a sparse file: unpack it and name it".to_owned()),
                        num_bytes: Some(self.left),
                        name,
                        modified,
                    }));
                }
            }
        }
    }
}

impl Read for Tar {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let wanted = out
            .len()
            .min(usize::try_from(self.left).unwrap_or(usize::MAX));
        if wanted == 0 {
            return Ok(0);
        }
        let len = self.reader.read(&mut out[..wanted])?;
        if len == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.left -= len as u64;
        Ok(len)
    }
}

impl Extended {
    /// Parses attributes of pax: `LEN KEY=VALUE\n`, where LEN counts everything.
    fn take(&mut self, attributes: &[u8]) {
        let mut rest = attributes;
        while let Some(space) = memchr::memchr(b' ', rest) {
            let len = std::str::from_utf8(&rest[..space]).ok();
            let Some(len) = len.and_then(|len| len.parse::<usize>().ok()) else {
                return;
            };
            let Some(pair) = rest.get(space + 1..len) else {
                return;
            };
            let pair = pair.strip_suffix(b"\n").unwrap_or(pair);
            if let Some(equals) = memchr::memchr(b'=', pair) {
                let (key, value) = (&pair[..equals], text(&pair[equals + 1..]));
                match key {
                    b"path" => self.path = Some(value),
                    b"size" => self.len = value.parse().ok(),
                    _ if key.starts_with(b"GNU.sparse.") => self.is_sparse = true,
                    _ => {}
                }
            }
            rest = &rest[len..];
        }
    }
}

/// Returns a time in the far future: later times are invalid.
fn far_future() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(7_258_118_400)
}

fn damaged(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_owned())
}

fn text(bytes: &[u8]) -> String {
    let end = memchr::memchr(0, bytes).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

/// Returns the name, with POSIX's prefix for long ones.
fn name_of(header: &[u8; BLOCK_LEN]) -> String {
    let name = text(&header[..100]);
    let prefix = text(&header[345..500]);
    let is_posix = &header[257..263] == b"ustar\0";
    match is_posix && !prefix.is_empty() {
        true => format!("{prefix}/{name}"),
        false => name,
    }
}

/// Parses a number in octal digits, or for large ones in binary with the first bit set.
fn number(field: &[u8]) -> Option<u64> {
    let (first, rest) = field.split_first()?;
    if *first & 0x80 != 0 {
        let (unused, low) = rest.split_at_checked(rest.len().checked_sub(8)?)?;
        let is_small = *first == 0x80 && unused.iter().all(|byte| *byte == 0);
        return is_small.then(|| {
            low.iter()
                .fold(0, |sum, byte| (sum << 8) | u64::from(*byte))
        });
    }
    let text = std::str::from_utf8(field).ok()?;
    let digits = text.trim_matches(['\0', ' ']);
    match digits {
        "" => Some(0),
        digits => u64::from_str_radix(digits, 8).ok(),
    }
}

/// Returns whether the checksum of a header matches, with its own field counted as spaces.
fn is_intact(header: &[u8; BLOCK_LEN]) -> bool {
    let bytes = header.iter().enumerate();
    let sum: u64 = bytes
        .map(|(place, byte)| match place {
            148..156 => u64::from(b' '),
            _ => u64::from(*byte),
        })
        .sum();
    number(&header[148..156]) == Some(sum)
}
