//! Names that new indexes may have.

use crate::requests::Problem;

/// Parts of paths where a name may stand.
const RESERVED: [&str; 8] = [
    "api",
    "health",
    "indexes",
    "metrics",
    "openapi.json",
    "otlp",
    "ui",
    "v1",
];

/// An error if a new index cannot have the name: in a path it must mean an index, and in a bucket a folder.
pub(super) fn check_index_name(name: &str) -> Result<(), Problem> {
    let invalid = |problem: &str| {
        let reason = format!("Invalid index name [{name}], {problem}");
        Err(Problem::invalid("invalid_index_name_exception", reason))
    };
    if let Err(problem) = canter_index_builder::check_index_name(name) {
        return invalid(problem);
    }
    if RESERVED.contains(&name) {
        return invalid("there is a path of that name");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_means_an_index_in_a_path_and_a_folder_in_a_bucket() {
        for good in [
            "logs",
            "filebeat-8.17.0",
            "2026.11.05",
            "a_b",
            "logs-app-default",
        ] {
            assert!(check_index_name(good).is_ok(), "{good}");
        }
        for (bad, part) in [
            ("", "empty"),
            ("Logs", "lowercase"),
            ("a b", "letters"),
            ("a/b", "letters"),
            ("a*", "letters"),
            ("ä", "letters"),
            ("_all", "start"),
            ("-a", "start"),
            (".a", "start"),
            ("..", "start"),
            ("ui", "path"),
            ("api", "path"),
        ] {
            let problem = check_index_name(bad).unwrap_err();
            assert!(problem.reason.contains(part), "{bad}: {}", problem.reason);
        }
        assert!(check_index_name(&"a".repeat(256)).is_err());
    }
}
