//! Detection of files that are not logs, by their first bytes, with advice.

use std::borrow::Cow;

/// A known kind of data that is not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::input::source) struct Unreadable {
    /// With an article.
    pub(in crate::input::source) what: Cow<'static, str>,
    /// Advice, as the end of a sentence.
    pub(in crate::input::source) advice: Cow<'static, str>,
}

impl Unreadable {
    pub(super) const fn new(what: &'static str, advice: &'static str) -> Unreadable {
        Unreadable {
            what: Cow::Borrowed(what),
            advice: Cow::Borrowed(advice),
        }
    }
}

impl std::fmt::Display for Unreadable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "it is {}: {}", self.what, self.advice)
    }
}

pub(super) const UTF_32: Unreadable = Unreadable::new(
    "text in UTF-32",
    "write it as UTF-8, as `iconv -f UTF-32 -t UTF-8` does",
);
pub(super) const BINARY: Unreadable = Unreadable::new(
    "binary data of a kind that is not known here",
    "write it as text first; --input-format plain takes it for lines all the same",
);

const ORC: Unreadable = Unreadable::new(
    "an ORC file",
    "write it as Parquet: `pyarrow.orc` reads it, and `pyarrow.parquet` writes it",
);

const COMPRESSED: &str = "decompress it, as in";
const NO_LOG: &str = "it holds no log records; leave it out";

/// Offset, bytes, kind, advice.
type Entry = (usize, &'static [u8], &'static str, &'static str);

/// No entry is a possible beginning of a log in text.
const ENTRIES: &[Entry] = &[
    (
        0,
        b"\x04\x22\x4d\x18",
        "compressed with lz4",
        "`lz4 -dc FILE | canter index ingest --input - …`",
    ),
    (
        0,
        b"\x02\x21\x4c\x18",
        "compressed with lz4 (its legacy frame)",
        "`lz4 -dc FILE | canter index ingest --input - …`",
    ),
    (
        0,
        b"\xff\x06\x00\x00sNaPpY",
        "compressed with snappy (its framing format)",
        "`snzip -dc FILE | canter index ingest --input - …`",
    ),
    (
        0,
        b"\x1f\x9d",
        "compressed with compress (.Z)",
        "`gzip -dc FILE | canter index ingest --input - …`",
    ),
    (
        0,
        b"LZIP\x01",
        "compressed with lzip",
        "`lzip -dc FILE | canter index ingest --input - …`",
    ),
    (
        0,
        b"\x5d\x00\x00",
        "compressed with LZMA (.lzma)",
        "`xz -dc --format=lzma FILE | canter index ingest --input - …`",
    ),
    (
        0,
        b"\x89LZO\x00",
        "compressed with lzop",
        "`lzop -dc FILE | canter index ingest --input - …`",
    ),
    (
        0,
        b"7z\xbc\xaf\x27\x1c",
        "an archive of 7-Zip",
        "unpack it (`7z x FILE`) and name its files",
    ),
    (
        0,
        b"Rar!\x1a\x07",
        "an archive of RAR",
        "unpack it (`unrar x FILE`) and name its files",
    ),
    (
        0,
        b"MSCF\x00",
        "a cabinet of Windows",
        "unpack it (`cabextract FILE`) and name its files",
    ),
    (
        0,
        b"!<arch>\n",
        "an archive of ar (.a, .deb)",
        "unpack it (`ar x FILE`) and name its files",
    ),
    (0, b"\xed\xab\xee\xdb", "a package of RPM", NO_LOG),
    (
        0,
        b"PAR1",
        "Parquet, of which parts are read in no order",
        "write it to a file and name that",
    ),
    (
        0,
        b"PARE",
        "encrypted Parquet",
        "write it without encryption",
    ),
    (
        0,
        b"ARROW1\x00\x00",
        "an Arrow file (Feather)",
        "write it as Parquet, as `pyarrow.parquet.write_table` does",
    ),
    (
        0,
        b"\xff\xff\xff\xff",
        "a stream in Arrow's format, or other binary data",
        "write a table as Parquet, as `pyarrow.parquet.write_table` does",
    ),
    (
        0,
        b"Obj\x01",
        "an Avro file",
        "write it as JSON (`avro-tools tojson FILE`) or Parquet",
    ),
    (
        0,
        b"SEQ\x06",
        "a sequence file of Hadoop",
        "write it as text (`hdfs dfs -text FILE`)",
    ),
    (
        0,
        b"\x89HDF\r\n\x1a\n",
        "an HDF5 file",
        "write its tables as CSV or Parquet",
    ),
    (
        0,
        b"SQLite format 3\x00",
        "a database of SQLite",
        "write a table as CSV (`sqlite3 -csv -header FILE 'select * from …'`)",
    ),
    (
        0,
        b"LPKSHHRH",
        "a journal of systemd",
        "write it as JSON: `journalctl --file FILE -o json`",
    ),
    (
        0,
        b"ElfFile\x00",
        "an event log of Windows (.evtx)",
        "write it as JSON lines: `evtx_dump -o jsonl FILE`",
    ),
    (0, b"regf", "a registry hive of Windows", NO_LOG),
    (
        0,
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        "a document of Microsoft Office (97 to 2003)",
        "export it as CSV or text",
    ),
    (
        0,
        b"\xd4\xc3\xb2\xa1",
        "a capture of packets (pcap)",
        "write it as JSON (`tshark -r FILE -T json`), or have Zeek make logs of it",
    ),
    (
        0,
        b"\xa1\xb2\xc3\xd4",
        "a capture of packets (pcap)",
        "write it as JSON (`tshark -r FILE -T json`), or have Zeek make logs of it",
    ),
    (
        0,
        b"\x4d\x3c\xb2\xa1",
        "a capture of packets (pcap)",
        "write it as JSON (`tshark -r FILE -T json`), or have Zeek make logs of it",
    ),
    (
        0,
        b"\xa1\xb2\x3c\x4d",
        "a capture of packets (pcap)",
        "write it as JSON (`tshark -r FILE -T json`), or have Zeek make logs of it",
    ),
    (
        8,
        b"\x4d\x3c\x2b\x1a",
        "a capture of packets (pcapng)",
        "write it as JSON (`tshark -r FILE -T json`), or have Zeek make logs of it",
    ),
    (
        8,
        b"\x1a\x2b\x3c\x4d",
        "a capture of packets (pcapng)",
        "write it as JSON (`tshark -r FILE -T json`), or have Zeek make logs of it",
    ),
    (0, b"%PDF-", "a PDF", "export its text (`pdftotext FILE`)"),
    (0, b"\x89PNG\r\n\x1a\n", "an image (PNG)", NO_LOG),
    (0, b"\xff\xd8\xff", "an image (JPEG)", NO_LOG),
    (0, b"GIF87a", "an image (GIF)", NO_LOG),
    (0, b"GIF89a", "an image (GIF)", NO_LOG),
    (8, b"WEBPVP8", "an image (WebP)", NO_LOG),
    (0, b"II*\x00", "an image (TIFF)", NO_LOG),
    (0, b"MM\x00*", "an image (TIFF)", NO_LOG),
    (4, b"ftyp", "a film or image (ISO media)", NO_LOG),
    (0, b"OggS\x00", "a recording (Ogg)", NO_LOG),
    (0, b"fLaC\x00", "a recording (FLAC)", NO_LOG),
    (0, b"ID3\x03", "a recording (MP3)", NO_LOG),
    (0, b"ID3\x04", "a recording (MP3)", NO_LOG),
    (
        0,
        b"\x7fELF",
        "a program (ELF), or what it left in memory",
        NO_LOG,
    ),
    (0, b"MZ\x90\x00", "a program of Windows", NO_LOG),
    (0, b"\xcf\xfa\xed\xfe", "a program of macOS", NO_LOG),
    (0, b"\xca\xfe\xba\xbe", "a program (Java or macOS)", NO_LOG),
    (0, b"\x00asm", "a program (WebAssembly)", NO_LOG),
    (
        0,
        b"bplist0",
        "a binary property list of Apple",
        "write it as JSON: `plutil -convert json FILE`",
    ),
    (
        0,
        b"ASL DB\x00",
        "a log of macOS (ASL)",
        "write it as text: `syslog -f FILE`",
    ),
    (0, b"Salted__", "encrypted by OpenSSL", "decrypt it first"),
    (
        0,
        b"age-encryption.org/v1\n",
        "encrypted by age",
        "decrypt it first",
    ),
];

/// Returns whether a byte is a control character that is rare in text. Separators of tables and of JSON are excluded.
fn is_control(byte: u8) -> bool {
    matches!(byte, 0x00 | 0x02..=0x07 | 0x0e..=0x1a | 0x1c | 0x1d | 0x1f | 0x7f)
}

/// Returns whether the data begins with ORC's name, followed by binary numbers.
fn is_orc(beginning: &[u8]) -> bool {
    let numbers = beginning.get(3..11).unwrap_or_default();
    beginning.starts_with(b"ORC") && numbers.iter().any(|byte| is_control(*byte))
}

/// Number of bytes in which control characters are counted.
const SAMPLE_LEN: usize = 4_096;
/// Minimum number of bytes for a decision.
const MIN_SAMPLE_LEN: usize = 64;

/// Returns the kind of data by its beginning, if it is known and not read.
pub(in crate::input::source) fn named(beginning: &[u8]) -> Option<Unreadable> {
    if is_orc(beginning) {
        return Some(ORC);
    }
    let found = ENTRIES.iter().find(|(place, magic, ..)| {
        let there = beginning.get(*place..place + magic.len());
        there == Some(*magic)
    });
    found.map(|(_, _, what, advice)| {
        let advice = match advice.starts_with('`') {
            true => Cow::Owned(format!("{COMPRESSED} {advice}")),
            false => Cow::Borrowed(*advice),
        };
        Unreadable {
            what: Cow::Borrowed(*what),
            advice,
        }
    })
}

/// Returns whether these bytes are not text in any supported encoding.
pub(super) fn is_binary(beginning: &[u8]) -> bool {
    let sample = beginning.get(..SAMPLE_LEN).unwrap_or(beginning);
    // A crash leaves sequences of NULs, in logs too.
    let (mut num_control, mut num_bytes) = (0, 0);
    for run in sample.chunk_by(|left, right| *left == 0 && *right == 0) {
        if run.len() < 16 {
            num_bytes += run.len();
            num_control += run.iter().filter(|byte| is_control(**byte)).count();
        }
    }
    // In compressed or encrypted data all bytes are equally frequent, so it is not UTF-8.
    let is_utf8 =
        || std::str::from_utf8(sample).map_or_else(|error| error.error_len().is_none(), |_| true);
    let is_more_than = |part: usize| num_control * part > num_bytes;
    num_bytes >= MIN_SAMPLE_LEN && (is_more_than(8) || (is_more_than(20) && !is_utf8()))
}
