//! Formatting of values as text for a terminal, and of searches as pictures. Nothing here reads or
//! computes an answer.

mod aggregations;
mod answer;
mod cache;
#[cfg(feature = "doctor")]
mod doctor;
mod explain;
mod hits;
mod split;
mod terminal;
mod timeline;

pub(crate) use aggregations::{ChartFile, aggregations};
pub(crate) use answer::{answer, cost_line};
pub(crate) use cache::cache_line;
#[cfg(feature = "doctor")]
pub(crate) use doctor::doctor;
pub(crate) use explain::explanation;
pub(crate) use hits::hits;
pub(crate) use split::{InspectedSplit, split_json, split_table};
pub(crate) use terminal::{
    Align, Cell, Colour, ColourChoice, Column, IngestProgress, Screen, Table, clean_text, dates,
    numbers,
};
pub(crate) use timeline::{Attempts, Chart, TimelineFile, timeline};
