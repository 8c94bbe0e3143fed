//! What becomes of a record.

/// What a program made of a record.
#[derive(Debug, PartialEq, Eq)]
#[cfg_attr(
    not(feature = "vrl"),
    expect(dead_code, reason = "nothing runs in such a build")
)]
pub(crate) enum Outcome<'r> {
    /// These documents, each a JSON object, and at least one.
    Docs(Vec<&'r [u8]>),
    /// Nothing, and that on purpose: why.
    Dropped(String),
    /// Nothing, because something is wrong with it: a reason in a word, and a sentence.
    Refused(&'static str, String),
    /// It was not run, because the record cannot be read: so. Whoever knows the index may know better why.
    Unread(&'static str, String),
}
