//! Texts in the rows of a timeline, for terminals and pictures.

use canter_lab::AttemptEnd;
use canter_runtime::RequestRecord;
use canter_runtime::session::ByteClass;

use super::super::numbers;
use super::chart::{Row, What};

/// Returns the class of a range in words.
pub(super) fn class_name(class: ByteClass) -> String {
    class.as_str().replace('_', " ")
}

/// Returns a split's name with the first digits of its id, which are enough to distinguish it from others.
pub(in crate::render) fn short_name(object: &str) -> String {
    match split_digits(object) {
        Some(digits) => format!("split {digits}"),
        None => object.to_owned(),
    }
}

/// Returns [`short_name`] without the word, where there is no room for it.
pub(super) fn shortest_name(object: &str) -> String {
    split_digits(object).unwrap_or_else(|| object.to_owned())
}

fn split_digits(object: &str) -> Option<String> {
    let name = object.strip_prefix("splits/")?;
    Some(name.strip_suffix(".split")?.chars().take(8).collect())
}

/// Returns the outcome in few letters; `None` for computing.
pub(super) fn outcome(what: &What) -> Option<String> {
    Some(match what {
        What::Cpu => return None,
        What::Request(request) if request.error.is_some() => "failed".to_owned(),
        What::Request(request) => numbers::bytes(request.length),
        What::Attempt(_, attempt) => match attempt.end {
            AttemptEnd::Whole => numbers::bytes(attempt.num_bytes),
            AttemptEnd::NotChanged => "same".to_owned(),
            AttemptEnd::Failed => "failed".to_owned(),
            AttemptEnd::Dropped => "dropped".to_owned(),
        },
    })
}

/// Returns everything that is known about a row.
pub(super) fn tooltip(row: &Row) -> String {
    let from_to = format!(
        "{} to {}",
        numbers::micros(row.bar.start_us),
        numbers::micros(row.bar.end_us)
    );
    match &row.what {
        What::Cpu => format!("no request under way: {from_to}"),
        What::Attempt(_, attempt) => format!("{}: {from_to}", attempt.kind.name()),
        What::Request(request) => {
            let mut lines = vec![
                format!("{}, {}", request.object, class_name(request.class)),
                format!(
                    "{} from byte {}",
                    numbers::counted(request.length, "byte"),
                    numbers::count(request.offset)
                ),
                from_to,
            ];
            lines.extend(remarks(request));
            lines.join("\n")
        }
    }
}

/// Returns remarks on unusual events.
fn remarks(request: &RequestRecord) -> Vec<String> {
    let mut remarks = Vec::new();
    if request.num_reads > 1 {
        let reads = numbers::count(request.num_reads.into());
        remarks.push(format!("{reads} reads in one request"));
    }
    if let Some(hedged_us) = request.hedged_us {
        remarks.push(format!("hedged at {}", numbers::micros(hedged_us)));
    }
    match request.num_retries {
        0 => {}
        1 => remarks.push("repeated once".to_owned()),
        num => remarks.push(format!("repeated {num} times")),
    }
    if let Some(error) = &request.error {
        remarks.push(format!("failed: {error}"));
    }
    remarks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_are_named_by_the_start_of_their_id() {
        let check = |object: &str, expect: &str| assert_eq!(short_name(object), expect);
        check("splits/0123456789abcdef.split", "split 01234567");
        check("manifest.canter", "manifest.canter");
    }
}
