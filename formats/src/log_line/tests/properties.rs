//! Any bytes: no harm, and nothing of them lost.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::Value;

use super::families::hints;
use crate::cut::without_nuls;
use crate::tests::{any_bytes, cut_all, joined};
use crate::{Format, Layout, Recognised};

proptest! {
    #[test]
    fn any_lines_are_given_back_byte_for_byte(
        sample in any_bytes(),
        bytes in any_bytes(),
        format in prop::sample::select(vec![Format::Log, Format::Container]),
    ) {
        let recognised = Recognised { format, dialect: b','.into() };
        let layout = Layout::of(recognised, &sample, true, Arc::clone(&hints()));
        for record in joined(cut_all(&bytes, recognised, 7), &layout) {
            layout.parse(&record, &mut Vec::new(), &mut |parsed| {
                let Ok(json) = parsed else {
                    assert!(format == Format::Container || std::str::from_utf8(&record).is_err());
                    return;
                };
                let doc: Value = serde_json::from_slice(json).unwrap();
                let text = |name: &str| doc[name].as_str().unwrap_or_default().to_string();
                let whole = match doc.get("original") {
                    Some(_) => text("original"),
                    None => text("head") + &text("message"),
                };
                if format == Format::Log {
                    // NULs around a record are none of it.
                    assert_eq!(whole.as_bytes(), without_nuls(&record));
                }
            });
        }
    }
}
