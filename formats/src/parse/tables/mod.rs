//! Records of tables: a line of values in columns, whose names a header or a directive gives.

pub(crate) mod csv;
pub(crate) mod rows;
pub(crate) mod w3c;
pub(crate) mod zeek;
