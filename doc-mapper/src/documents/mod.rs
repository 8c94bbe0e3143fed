//! Documents between mapper and split: encoded, stored, refused.

pub(crate) mod completion;
pub(crate) mod doc_error;
pub(crate) mod encoded;
pub(crate) mod number;
pub(crate) mod stored;
pub(crate) mod text;
pub(crate) mod vector;
