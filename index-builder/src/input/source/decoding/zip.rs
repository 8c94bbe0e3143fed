//! Zip archives, from the first member to the last: by the headers in front of members, so that a stream can be read.
//! `https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT`
//!
//! Members are stored or deflated, as nearly all programs write them. A member whose length follows it ends where its
//! compression does.

use std::io::{self, BufRead, BufReader, Read};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use flate2::{Crc, Decompress, FlushDecompress, Status};

use super::archive::{Found, Members};

const LOCAL: u32 = 0x0403_4b50;
const DESCRIPTOR: u32 = 0x0807_4b50;
/// Signatures of the directory after the members, in its forms.
const BEHIND_MEMBERS: [u32; 5] = [
    0x0201_4b50,
    0x0605_4b50,
    0x0606_4b50,
    0x0706_4b50,
    0x0804_4b50,
];
const IS_ENCRYPTED: u16 = 1;
const HAS_DESCRIPTOR: u16 = 1 << 3;
const STORED: u16 = 0;
const DEFLATED: u16 = 8;
/// Marks a length that the extra field has in 64 bits.
const ELSEWHERE: u32 = u32::MAX;
const ZIP64: u16 = 1;

/// A cursor over an archive.
pub(super) struct Zip {
    reader: BufReader<Box<dyn Read + Send>>,
    member: Member,
}

/// The member that is being read.
struct Member {
    inflate: Option<Decompress>,
    /// Number of stored bytes that are left; `None` if their number follows them.
    left: Option<u64>,
    num_stored_bytes: u64,
    num_bytes: u64,
    crc: Crc,
    wanted_crc: Option<u32>,
    /// True if decompression has ended.
    is_inflated: bool,
    is_ended: bool,
}

impl Member {
    fn none() -> Member {
        Member {
            inflate: None,
            left: Some(0),
            num_stored_bytes: 0,
            num_bytes: 0,
            crc: Crc::new(),
            wanted_crc: None,
            is_inflated: false,
            is_ended: true,
        }
    }
}

/// The header in front of a member.
struct Header {
    flags: u16,
    method: u16,
    modified: Option<SystemTime>,
    crc: u32,
    stored_len: u64,
    name: String,
}

impl Zip {
    pub(super) fn new(reader: Box<dyn Read + Send>) -> Zip {
        Zip {
            reader: BufReader::new(reader),
            member: Member::none(),
        }
    }

    fn bytes<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        self.reader.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    /// Skips the rest of the member and its descriptor.
    fn pass(&mut self) -> io::Result<()> {
        match (self.member.is_ended, self.member.left.take()) {
            (true, None) => {}
            (_, Some(left)) => {
                let passed = io::copy(&mut (&mut self.reader).take(left), &mut io::sink())?;
                if passed < left {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
            }
            (false, None) => {
                io::copy(self, &mut io::sink())?;
            }
        }
        self.member = Member::none();
        Ok(())
    }

    /// Reads the header of the next member; `None` after the last one.
    fn header(&mut self) -> io::Result<Option<Header>> {
        let mut signature = u32::from_le_bytes(self.bytes()?);
        if signature == DESCRIPTOR {
            // Repeats the known length of the member.
            let _: [u8; 12] = self.bytes()?;
            signature = u32::from_le_bytes(self.bytes()?);
        }
        if BEHIND_MEMBERS.contains(&signature) {
            return Ok(None);
        }
        if signature != LOCAL {
            return Err(damaged("no header stands where one should"));
        }
        let fixed: [u8; 26] = self.bytes()?;
        let short = |at: usize| u16::from_le_bytes([fixed[at], fixed[at + 1]]);
        let long = |at: usize| u32::from(short(at)) | (u32::from(short(at + 2)) << 16);
        let mut name = vec![0; usize::from(short(22))];
        self.reader.read_exact(&mut name)?;
        let mut extra = vec![0; usize::from(short(24))];
        self.reader.read_exact(&mut extra)?;
        let stored_len = match long(14) {
            ELSEWHERE => stored_len_of(&extra, long(18) == ELSEWHERE)
                .ok_or_else(|| damaged("a length is missing"))?,
            len => u64::from(len),
        };
        Ok(Some(Header {
            flags: short(2),
            method: short(4),
            modified: time_of(short(8), short(6)),
            crc: long(10),
            stored_len,
            name: String::from_utf8_lossy(&name).into_owned(),
        }))
    }

    /// Ends the member: reads its descriptor, and compares the checksum.
    fn end(&mut self) -> io::Result<()> {
        self.member.is_ended = true;
        if self.member.left.is_none() {
            let first = u32::from_le_bytes(self.bytes()?);
            // The signature is optional.
            let crc = match first {
                DESCRIPTOR => u32::from_le_bytes(self.bytes()?),
                crc => crc,
            };
            self.member.wanted_crc = Some(crc);
            // Lengths have 32 bits, or 64 if one needs them, which the first one shows.
            let stored_len = u32::from_le_bytes(self.bytes()?);
            let second = u32::from_le_bytes(self.bytes()?);
            let are_short = u64::from(stored_len) == self.member.num_stored_bytes
                && u64::from(second) == self.member.num_bytes;
            if !are_short {
                let _: [u8; 8] = self.bytes()?;
            }
        }
        let wanted = self.member.wanted_crc;
        match wanted.is_none_or(|wanted| wanted == self.member.crc.sum()) {
            true => Ok(()),
            false => Err(damaged("the checksum of a member is wrong")),
        }
    }

    /// Reads from the member, without its end.
    fn read_member(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while !self.member.is_inflated {
            let available = match self.reader.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                other => other?,
            };
            let max = self.member.left.unwrap_or(u64::MAX);
            let max = usize::try_from(max).unwrap_or(usize::MAX);
            let available = &available[..available.len().min(max)];
            let is_cut = available.is_empty() && max > 0;
            let Some(inflate) = &mut self.member.inflate else {
                let len = available.len().min(out.len());
                out[..len].copy_from_slice(&available[..len]);
                if is_cut {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                self.take(len);
                return Ok(len);
            };
            let before = (inflate.total_in(), inflate.total_out());
            let status = inflate.decompress(available, out, FlushDecompress::None);
            let used = usize::try_from(inflate.total_in() - before.0).unwrap_or(0);
            let made = usize::try_from(inflate.total_out() - before.1).unwrap_or(0);
            let status = status.map_err(|error| damaged(&error.to_string()))?;
            let is_stuck = available.is_empty() && made == 0;
            self.take(used);
            self.member.is_inflated = status == Status::StreamEnd;
            match made {
                0 if is_stuck && !self.member.is_inflated => {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                0 => {}
                made => return Ok(made),
            }
        }
        Ok(0)
    }

    fn take(&mut self, num_bytes: usize) {
        self.reader.consume(num_bytes);
        self.member.num_stored_bytes += num_bytes as u64;
        if let Some(left) = &mut self.member.left {
            *left -= num_bytes as u64;
        }
    }
}

impl Members for Zip {
    fn next_member(&mut self) -> io::Result<Option<Found>> {
        self.pass()?;
        let Some(header) = self.header()? else {
            return Ok(None);
        };
        let has_descriptor = header.flags & HAS_DESCRIPTOR != 0;
        let is_deflated = header.method == DEFLATED;
        let unreadable = match header.method {
            _ if header.flags & IS_ENCRYPTED != 0 => {
                Some("it is encrypted: unpack the archive and name the file".to_owned())
            }
            STORED if has_descriptor && header.stored_len == 0 && header.name.ends_with('/') => {
                None
            }
            STORED if has_descriptor && header.stored_len == 0 => Some(
                "it is stored without its length: unpack the archive and name the file".to_owned(),
            ),
            STORED | DEFLATED => None,
            method => Some(format!(
                "it is compressed by zip's method {method}: unpack the archive and name the file"
            )),
        };
        let is_open = has_descriptor && is_deflated && header.stored_len == 0;
        if unreadable.is_some() && has_descriptor && header.stored_len == 0 {
            let name = &header.name;
            return Err(damaged(&format!(
                "nothing says where its member `{name}` ends, which cannot be read"
            )));
        }
        self.member = Member {
            inflate: is_deflated.then(|| Decompress::new(false)),
            left: (!is_open).then_some(header.stored_len),
            is_ended: false,
            wanted_crc: (!has_descriptor).then_some(header.crc),
            ..Member::none()
        };
        Ok(Some(Found {
            is_file: !header.name.ends_with('/'),
            unreadable,
            num_bytes: None,
            name: header.name,
            modified: header.modified,
        }))
    }
}

impl Read for Zip {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.member.is_ended || out.is_empty() {
            return Ok(0);
        }
        let len = self.read_member(out)?;
        if len == 0 {
            self.end()?;
            return Ok(0);
        }
        self.member.crc.update(&out[..len]);
        self.member.num_bytes += len as u64;
        Ok(len)
    }
}

fn damaged(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_owned())
}

/// Returns the stored length in an extra field with 64 bits, which follows the uncompressed one if it has both.
fn stored_len_of(extra: &[u8], has_both: bool) -> Option<u64> {
    let mut rest = extra;
    while let [id, id_high, len, len_high, after @ ..] = rest {
        let len = usize::from(u16::from_le_bytes([*len, *len_high]));
        let data = after.get(..len)?;
        if u16::from_le_bytes([*id, *id_high]) == ZIP64 {
            let at = if has_both { 8 } else { 0 };
            let bytes = data.get(at..at + 8)?;
            return Some(u64::from_le_bytes(bytes.try_into().ok()?));
        }
        rest = &after[len..];
    }
    None
}

/// Returns an MS-DOS time, taken as UTC because its zone is unknown.
fn time_of(date: u16, time: u16) -> Option<SystemTime> {
    let (year, month, day) = (
        1980 + u64::from(date >> 9),
        date >> 5 & 15,
        u64::from(date & 31),
    );
    // Days of the months before this one, in a year that begins in March.
    let shifted = (u64::from(month) + 9) % 12;
    let year = year - u64::from(month < 3);
    if !(1..=12).contains(&month) || day == 0 {
        return None;
    }
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (shifted * 306 + 5) / 10 + day - 1;
    // From March of the year 0 to 1970.
    let days = days.checked_sub(719_468)?;
    let seconds =
        u64::from(time >> 11) * 3_600 + u64::from(time >> 5 & 63) * 60 + u64::from(time & 31) * 2;
    UNIX_EPOCH.checked_add(Duration::from_secs(days * 86_400 + seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_ms_dos_are_read() {
        for (date, time, seconds) in [
            ((44 << 9) | (5 << 5) | 1, 10 << 11, 1_714_557_600),
            ((44 << 9) | (2 << 5) | 29, 0, 1_709_164_800),
            ((1 << 5) | 1, 0, 315_532_800),
        ] {
            let expected = UNIX_EPOCH + Duration::from_secs(seconds);
            assert_eq!(time_of(date, time), Some(expected));
        }
        assert_eq!(time_of(0, 0), None);
    }
}
