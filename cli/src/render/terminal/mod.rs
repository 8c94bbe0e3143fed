//! Parts of text on a terminal: tables, bars, colours, numbers, dates, progress.

mod bars;
pub(crate) mod dates;
pub(crate) mod numbers;
mod palette;
mod progress;
mod screen;
mod table;

pub(super) use bars::{bar, stacked_bar};
pub(super) use palette::{Fill, colour_of_level, fills_of};
pub(crate) use progress::IngestProgress;
pub(crate) use screen::{Colour, ColourChoice, Screen};
pub(crate) use table::{Align, Cell, Column, Table, clean as clean_text};
