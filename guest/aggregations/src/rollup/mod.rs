//! Aggregations from the head of a split: date histograms on the sort field, terms of rolled-up
//! fields, and terms inside such histograms.
//!
//! A rollup counts documents by time. Its buckets that lie within one bucket of the request, and
//! whose documents are all selected, are added up; the documents of the others are left to the
//! columns:
//!
//! ```text
//!   time filter          ├───────────────────────────────┤
//!   days         ···│················│················│····
//!   rollup       ├────┼────┼────┼────┼────┼────┼────┼────┤
//!   from here              ════      ═════════════
//!   from columns         ══    ══════             ═══════
//! ```

mod head;

pub use head::FromHead;
pub(crate) use head::Said;
