//! The result of a program for a record.

/// The result of a program for a record.
#[derive(Debug, PartialEq, Eq)]
#[cfg_attr(
    not(feature = "vrl"),
    expect(dead_code, reason = "nothing runs in such a build")
)]
pub(crate) enum Outcome<'r> {
    /// These documents, each a JSON object, and at least one.
    Docs(Vec<&'r [u8]>),
    /// Dropped on purpose, with the reason.
    Dropped(String),
    /// Refused because of an error: a reason in a word, and a sentence.
    Refused(&'static str, String),
    /// Not run, because the record cannot be parsed, with the reason. The index's mapping may supply a better one.
    Unread(&'static str, String),
}
