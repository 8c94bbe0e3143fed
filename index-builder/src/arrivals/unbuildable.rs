//! Search for documents that cannot be built although the mapping allows each of them: a bug of ours, which must not
//! keep all others out of the index.

use canter_doc_mapper::{DocMapper, IndexConfig};

use crate::error::{BuildError, ErrorKind};
use crate::pipeline::try_to_build;

/// Maximum number of trial builds: each may take as long as the first.
const MAX_TRIALS: usize = 100;

/// Returns the ascending positions, from 0, of the documents that cannot be built: none if all can be built
/// together. If that would take too many trials, includes the remaining ones untried.
///
/// # Errors
/// `Invalid` if the doc mapping cannot be used.
pub fn unbuildable(config: &IndexConfig, documents: &[&[u8]]) -> Result<Vec<usize>, BuildError> {
    let mapper = DocMapper::new(config)
        .map_err(|error| BuildError::invalid("the doc mapping cannot be used").caused_by(error))?;
    Ok(fail_alone(documents.len(), &mut |range| {
        let some = documents.get(range).unwrap_or_default();
        let outcome = try_to_build(&mapper, config, some);
        outcome.is_err_and(|error| error.kind() == ErrorKind::Internal)
    }))
}

/// Returns the positions of failing items, by bisection.
fn fail_alone(num: usize, fails: &mut dyn FnMut(std::ops::Range<usize>) -> bool) -> Vec<usize> {
    let mut bad = Vec::new();
    let mut ranges: Vec<_> = std::iter::once(0..num).collect();
    let mut num_trials = 0;
    while let Some(range) = ranges.pop() {
        num_trials += 1;
        if num_trials > MAX_TRIALS {
            bad.extend(range);
        } else if range.is_empty() || !fails(range.clone()) {
        } else if range.len() == 1 {
            bad.push(range.start);
        } else {
            let middle = range.start + range.len() / 2;
            ranges.extend([middle..range.end, range.start..middle]);
        }
    }
    bad
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fails_is_found_in_few_trials_and_nothing_else_is() {
        let check = |num: usize, bad: &[usize]| {
            let mut num_trials = 0;
            let found = fail_alone(num, &mut |range| {
                num_trials += 1;
                bad.iter().any(|bad| range.contains(bad))
            });
            assert_eq!(found, bad);
            assert!(num_trials <= MAX_TRIALS, "{num_trials}");
        };
        check(0, &[]);
        check(1, &[0]);
        check(10_000, &[]);
        check(10_000, &[9_999]);
        check(10_000, &[0, 4_999, 5_000]);
        // Items that cannot be told apart in time are set aside together.
        let found = fail_alone(1_000, &mut |_| true);
        assert_eq!(found, Vec::from_iter(0..1_000));
    }

    #[test]
    fn documents_that_can_be_built_or_that_the_mapping_refuses_are_none_of_them() {
        let yaml = "{version: 0.9, index_id: logs, doc_mapping: {timestamp_field: ts, field_mappings: [\
                    {name: ts, type: datetime, input_formats: [unix_timestamp], fast: true}]}}";
        let config = IndexConfig::from_yaml(yaml, |_| None).unwrap();
        let documents: [&[u8]; 3] = [b"{\"ts\": 2, \"a\": \"b\"}", b"no json", b"{\"ts\": 1}"];
        assert_eq!(
            unbuildable(&config, &documents).unwrap(),
            Vec::<usize>::new()
        );
        assert_eq!(unbuildable(&config, &[]).unwrap(), Vec::<usize>::new());
    }
}
