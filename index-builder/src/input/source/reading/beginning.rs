//! What the beginning of a source tells: its format, and by what it is known. Records are read in `reading/records.rs`.

use super::super::identity::known_by;
use super::super::opened::Input;
use super::super::settings::ReadSettings;
use crate::error::BuildError;
use canter_formats::{Cutter, Format, Layout, Recognised, recognise};
use std::sync::Arc;

/// Note on a table of one line.
pub(super) const ONLY_LINE_WAITS: &str =
    "its only line may be the names of columns, and waits for others; --final takes it as a record";

/// What the beginning of a source tells.
pub(super) struct Beginning {
    pub(super) format: Format,
    pub(super) layout: Layout,
    pub(super) cutter: Cutter,
    /// What identifies the source.
    pub(super) known_by: Vec<u8>,
    /// True if its only line may be the names of columns.
    pub(super) waits: bool,
}

/// Examines the beginning of `input`.
pub(super) fn examine(input: &Input, settings: &ReadSettings) -> Result<Beginning, BuildError> {
    let (beginning, is_whole) = input.reader.beginning();
    // An incomplete line does not determine the format of the others.
    let is_cut =
        input.may_be_unfinished() && !beginning.ends_with(b"\n") && beginning.contains(&b'\n');
    // Nor does a single line, which may contain column names.
    let is_one_line = memchr::memchr_iter(b'\n', beginning).nth(1).is_none();
    let may_go_on = input.may_be_unfinished() && !settings.takes_open() && is_one_line;
    let is_whole = is_whole && !is_cut && !(may_go_on && beginning.ends_with(b"\n"));
    let recognised = recognised(input, settings, beginning, is_whole);
    let format = recognised.format;
    if settings.multiline_start.is_some() && !format.is_of_lines() {
        return Err(BuildError::invalid(format!(
            "`{}` is {format}, where a line is no record, so that a rule for records of several \
             lines means nothing: leave it out",
            input.name
        )));
    }
    let hints = Arc::new(settings.hints(input));
    let layout = Layout::of(recognised, beginning, is_whole, hints);
    let cutter = Cutter::new(format, recognised.dialect);
    let known_by = match input.parquet {
        // The form of its rows depends on the index.
        Some(footer) => footer.to_le_bytes().to_vec(),
        None => known_by(beginning, &layout, &cutter, settings.max_record_num_bytes).to_vec(),
    };
    let is_table = matches!(format, Format::Csv | Format::Tsv);
    let waits = may_go_on && is_table && settings.format.is_none();
    Ok(Beginning {
        format,
        layout,
        cutter,
        known_by,
        waits,
    })
}

/// Returns the format of an input by its beginning, or as the settings force it.
fn recognised(
    input: &Input,
    settings: &ReadSettings,
    beginning: &[u8],
    is_whole: bool,
) -> Recognised {
    match (settings.format, settings.delimiter) {
        _ if input.parquet.is_some() => Recognised::forced(Format::Parquet, beginning, is_whole),
        (None, Some(delimiter)) if !input.has_document_lines => {
            Recognised::table(delimiter, beginning, is_whole)
        }
        (Some(format @ (Format::Csv | Format::Tsv)), Some(delimiter)) => Recognised {
            format,
            ..Recognised::table(delimiter, beginning, is_whole)
        },
        (Some(format), _) => Recognised::forced(format, beginning, is_whole),
        (None, _) => recognise(beginning, is_whole),
    }
}
