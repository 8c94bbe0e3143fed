//! Tables in Arrow's streaming format from other programs: the same documents as from Parquet.

use std::io::Cursor;

use arrow_ipc::reader::StreamReader;

use super::{Special, Wanted, guarded, invalid, writer_of};
use crate::error::BuildError;
use crate::index::storage::IndexStore;

/// Converts tables to lines of JSON for an index.
pub struct ArrowTables {
    wanted: Wanted,
}

impl ArrowTables {
    /// Creates a converter for the index in a store.
    ///
    /// # Errors
    /// As [`IndexStore::load_config`].
    pub fn of_index(store: &IndexStore) -> Result<Self, BuildError> {
        Ok(Self {
            wanted: Wanted::of(&store.load_config()?),
        })
    }

    /// Appends a line for each row of a stream of batches.
    ///
    /// # Errors
    /// `Data` if these bytes are not such a stream, or a column has a type that documents cannot represent; then
    /// `lines` may have some of the rows.
    pub fn write_lines(&self, stream: &[u8], lines: &mut Vec<u8>) -> Result<(), BuildError> {
        let written = guarded(|| {
            let batches = StreamReader::try_new(Cursor::new(stream), None).map_err(invalid)?;
            for batch in batches {
                let batch = batch.map_err(invalid)?;
                let row = writer_of(&batch, &self.wanted, &Special::default(), None)?;
                for ord in 0..batch.num_rows() {
                    row.write(ord, lines);
                    lines.push(b'\n');
                }
            }
            Ok(())
        });
        written.map_err(|error| BuildError::data(format!("a table of Arrow: {error}")))
    }
}
