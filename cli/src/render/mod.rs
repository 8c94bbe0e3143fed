//! Turning values into text for a terminal, and searches into pictures. Nothing here reads or computes
//! an answer.

mod aggregations;
mod answer;
mod bars;
mod cache;
pub(crate) mod dates;
#[cfg(feature = "doctor")]
mod doctor;
mod explain;
mod hits;
pub(crate) mod numbers;
mod palette;
mod progress;
mod screen;
mod split;
mod table;
mod timeline;

pub(crate) use aggregations::{ChartFile, aggregations};
pub(crate) use answer::{answer, cost_line};
pub(crate) use cache::cache_line;
#[cfg(feature = "doctor")]
pub(crate) use doctor::doctor;
pub(crate) use explain::explanation;
pub(crate) use hits::hits;
pub(crate) use progress::IngestProgress;
pub(crate) use screen::{Colour, ColourChoice, Screen};
pub(crate) use split::{InspectedSplit, split_json, split_table};
pub(crate) use table::{Align, Cell, Column, Table, clean as clean_text};
pub(crate) use timeline::{Attempts, Chart, TimelineFile, timeline};
