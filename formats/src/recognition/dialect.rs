//! Notation of a table: the delimiter between its values, the escaping of quotes, and lines that are not rows; and that
//! of syslog's records.

/// Notation of a table, or of syslog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// The byte between values.
    pub delimiter: u8,
    /// True if a backslash within quotes escapes the next character: `"a \"b\""`. Otherwise two quotes are one, as in
    /// RFC 4180.
    pub has_backslashes: bool,
    /// True if a line that begins with `#` and has another number of values is not a row.
    pub has_comments: bool,
    /// Number of names, if they are in a line that begins with `#`.
    pub num_commented_names: Option<u16>,
    /// True if each row has a value more than there are names, as in what Windows' Event Viewer saves.
    pub has_unnamed_last: bool,
    /// Number of names, if lines of other numbers of values stand before them.
    pub num_names_behind_others: Option<u16>,
    /// Number of values in a row, if no line names them.
    pub num_unnamed: Option<u16>,
    /// True if each record of syslog stands behind its length, as RFC 6587 has it.
    pub counts_octets: bool,
}

/// Possible delimiters, in the order in which they are tried.
pub(crate) const DELIMITERS: [u8; 7] = [b'\t', b',', b';', b'|', 0x01, b'^', b'~'];

impl Dialect {
    /// Creates the dialect of RFC 4180 with a delimiter.
    #[must_use]
    pub fn new(delimiter: u8) -> Dialect {
        Dialect {
            delimiter,
            has_backslashes: false,
            has_comments: false,
            num_commented_names: None,
            has_unnamed_last: false,
            num_names_behind_others: None,
            num_unnamed: None,
            counts_octets: false,
        }
    }

    /// Detects the dialect of a table with this beginning.
    pub(crate) fn of(delimiter: u8, beginning: &[u8]) -> Dialect {
        let lines = beginning.split(|byte| *byte == b'\n');
        Dialect {
            has_backslashes: escapes_quotes(delimiter, beginning),
            has_comments: lines.into_iter().any(|line| line.starts_with(b"#")),
            ..Dialect::new(delimiter)
        }
    }
}

impl From<u8> for Dialect {
    fn from(delimiter: u8) -> Dialect {
        Dialect::new(delimiter)
    }
}

/// Returns whether a quote after a backslash does not end its value: the end is followed by a delimiter, or nothing.
fn escapes_quotes(delimiter: u8, beginning: &[u8]) -> bool {
    let (mut is_in_quotes, mut begins_value) = (false, true);
    let mut bytes = beginning.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' if is_in_quotes && bytes.next_if_eq(&b'"').is_some() => {
                let follows = bytes.peek().copied();
                let may_end = |byte: u8| byte == delimiter || matches!(byte, b'\r' | b'\n' | b'"');
                if follows.is_some_and(|byte| !may_end(byte)) {
                    return true;
                }
            }
            b'"' if is_in_quotes => is_in_quotes = false,
            b'"' if begins_value => is_in_quotes = true,
            _ => {}
        }
        begins_value = !is_in_quotes && (byte == delimiter || byte == b'\n');
    }
    false
}

/// Returns the delimiter that a line `sep=;` names, as Excel writes and reads it.
pub(crate) fn named_delimiter(line: &[u8]) -> Option<u8> {
    let line = line.trim_ascii_end();
    let line = line.strip_suffix(b"\"").unwrap_or(line);
    let line = line.strip_prefix(b"\"").unwrap_or(line);
    let (name, rest) = line.split_at_checked(4)?;
    match rest {
        [delimiter] if name.eq_ignore_ascii_case(b"sep=") => Some(*delimiter),
        // A tab is white space.
        [] if name.eq_ignore_ascii_case(b"sep=") => Some(b'\t'),
        _ => None,
    }
}
