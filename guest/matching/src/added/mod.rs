//! Words that are added to the files of a segment, as if they had always been in its dictionaries and
//! lists. Readers of tantivy's files then find them like any others.
//!
//! ```text
//!   dictionary  block │ block          │ block │ index           lists  postings and positions │ …
//!                       ▼ read and cut                           ▼
//!   with words  block │ piece·words·piece │ block │ new index    lists  postings and positions │ those of the words │ …
//! ```
//!
//! Only blocks between whose terms a word stands are read. The others, and the lists, are those of the
//! file, which is not copied: a [`PatchedFile`] says for each piece where it comes from.

mod dictionary;
mod files;
mod lists;

pub use files::{PatchedFile, SourceFile, WithWords, add_words};
pub use lists::{AddedDoc, AddedWord, append_lists};

#[cfg(test)]
mod tests;
