//! Runs the example as a reader would, and checks its output.

use std::process::Command;

#[test]
fn embed_search_finds_both_deployments_of_the_api() {
    let output = Command::new(env!("CARGO_BIN_EXE_embed-search"))
        .output()
        .unwrap();
    let (out, err) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(output.status.success(), "{err}");
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(
        lines[..4],
        [
            "5 documents in 1 split",
            "\"2024-05-01T08:09:00Z\" \"deployed version 40\"",
            "\"2024-05-01T08:00:00Z\" \"deployed version 41\"",
            "\"api\": 2",
        ],
        "{out}"
    );
}
