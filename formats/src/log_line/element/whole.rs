//! What whole lines look like that begin no record: those that go on with one, and those before the first.

/// Whether a line goes on with the one before, by its looks.
pub(crate) fn goes_on(line: &[u8]) -> bool {
    const BEGINNINGS: [&[u8]; 23] = [
        b"at ",
        b"Caused by",
        b"Suppressed",
        b"...",
        b"Traceback",
        b"goroutine ",
        b"panic:",
        b"File \"",
        b"--- ",
        b"#",
        b"SET ",
        b"use ",
        b"}",
        b")",
        b"]",
        b"During handling",
        b"The above exception",
        b"stack backtrace",
        b"Stack trace:",
        b"created by ",
        b"[signal ",
        b"note: run with",
        b"Node.js v",
    ];
    let Some(first) = line.first() else {
        return true;
    };
    if first.is_ascii_whitespace() || BEGINNINGS.iter().any(|text| line.starts_with(text)) {
        return true;
    }
    names_exception(line) || is_frame(line)
}

/// Whether a line is a frame of Ruby's, which no space stands before: ``/app/a.rb:12:in `run'``.
fn is_frame(line: &[u8]) -> bool {
    let line = line.strip_prefix(b"from ").unwrap_or(line);
    let Some(end) = memchr::memmem::find(line, b":in ") else {
        return false;
    };
    let place = line.get(..end).unwrap_or_default();
    let num_digits = place.iter().rev().take_while(|byte| byte.is_ascii_digit());
    let num_digits = num_digits.count();
    let path = place.get(..place.len() - num_digits).unwrap_or_default();
    let quotes = matches!(line.get(end + 4), Some(b'`' | b'\''));
    num_digits > 0 && quotes && path.ends_with(b":") && !path.contains(&b' ')
}

/// Whether a line begins with the name of an exception: `java.lang.IllegalStateException: text`.
fn names_exception(line: &[u8]) -> bool {
    let word = line.split(|byte| matches!(byte, b':' | b' ')).next();
    word.is_some_and(|word| {
        [&b"Exception"[..], b"Error", b"Throwable"]
            .iter()
            .any(|end| word.ends_with(end))
    })
}

/// Whether a line is of a stack trace, which tells nothing of how records are written.
pub(in crate::log_line) fn is_of_trace(line: &[u8]) -> bool {
    const BEGINNINGS: [&[u8]; 7] = [
        b"at ",
        b"--- End of ",
        b"---> ",
        b"Caused by",
        b"Traceback ",
        b"File \"",
        b"... ",
    ];
    let text = line.trim_ascii_start();
    BEGINNINGS.iter().any(|start| text.starts_with(start))
        || names_exception(text)
        || is_frame(text)
}

/// The lines with which MySQL and MariaDB begin the logs of queries, whose times and texts of several lines follow; and the
/// one with which Android names a buffer.
const PREAMBLES: [&[u8]; 5] = [
    b"Tcp port: ",
    b"TCP Port: ",
    b"Time                 Id Command    Argument",
    b"Time\t\t    Id Command\tArgument",
    b"--------- beginning of ",
];

/// Whether a line is of the preamble of a log of queries.
pub(in crate::log_line) fn is_preamble(line: &[u8]) -> bool {
    const VERSION: &[u8] = b", Version: ";
    let names_program = || {
        let name = memchr::memmem::find(line, VERSION).and_then(|end| line.get(..end));
        name.is_some_and(|name| {
            let name = name.strip_suffix(b".exe").unwrap_or(name);
            [&b"mysqld"[..], b"mariadbd"]
                .iter()
                .any(|end| name.ends_with(end))
        })
    };
    PREAMBLES.iter().any(|start| line.starts_with(start)) || names_program()
}
