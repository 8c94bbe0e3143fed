//! Entries of `doc_mapping.tokenizers`: how custom tokenizers split text, and what they filter before and behind.

mod definition;
mod filters;

pub(in crate::config) use definition::{custom_tokenizer, custom_tokenizers};
