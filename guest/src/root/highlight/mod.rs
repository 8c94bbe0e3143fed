//! `highlight`: passages of texts in which the words that a query looks for are marked.
//!
//! ```text
//!   text ──tokenizer──▶ words ──words──▶ matches ──cut──▶ passages ──score──▶ the best ──mark──▶ with tags
//! ```
//!
//! Passages are cut as Elasticsearch's highlighters cut them, see
//! <https://www.elastic.co/docs/reference/elasticsearch/rest-apis/highlighting>.

mod cut;
mod documents;
mod mark;
mod passages;
mod score;
mod words;

pub(super) use documents::Highlighters;
