//! Contents of `--help`.

use std::path::Path;

use crate::support::run;

/// Asserts that a command's help contains every one of `expect`, in lines that fit a terminal.
fn check(command: &[&str], expect: &[&str]) {
    let args = [command, &["--help"]].concat();
    let (help, _) = run(Path::new("."), &args, 0);
    for expect in expect {
        assert!(help.contains(expect), "{command:?} lacks {expect}:\n{help}");
    }
    let widest = help.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(100), "{command:?}:\n{help}");
}

#[test]
fn commands_are_listed() {
    check(
        &[],
        &[
            "demo",
            "index",
            "search",
            "mcp",
            "split",
            "cache",
            "prices",
            "Exit codes",
        ],
    );
    check(&["cache"], &["stats", "clear"]);
}

#[test]
fn the_search_says_what_its_answer_has() {
    check(
        &["search"],
        &[
            "--cache <DIR>",
            "[env: CANTER_CACHE]",
            "--no-cache",
            "--cache-bytes",
            "[default: 4GiB]",
            "--manifest-ttl",
            "--stale-while-revalidate",
            "--max-requests",
            "--max-bytes",
            "--max-waves",
            "--explain",
            "--prices",
            "failed_splits",
            "skipped_splits",
            "timed_out",
            "budget_exhausted",
        ],
    );
}

#[test]
fn the_server_for_models_says_how_it_is_started_and_what_a_call_may_take() {
    check(
        &["mcp"],
        &[
            "--index <[NAME=]URI>",
            "--forced-filter <QUERY>",
            "--max-requests <N>",
            "[default: 500]",
            "[default: 256MiB]",
            "--max-answer-bytes <BYTES>",
            "[default: 64KiB]",
            "explain_cost",
            "mcpServers",
        ],
    );
}

#[test]
fn the_server_says_what_clients_may_take_and_by_which_names_it_answers() {
    check(
        &["serve"],
        &[
            "--allowed-host <NAME>",
            "--max-connections <N>",
            "--max-instances <N>",
            "--max-waiting <N>",
            "--max-body-bytes <BYTES>",
            "--max-held-bytes <BYTES>",
            "--header-timeout <TIME>",
            "--body-timeout <TIME>",
            "--answer-timeout <TIME>",
            "--max-memory-bytes <BYTES>",
            "--compiled <DIR>",
            "[default: 512]",
            "Retry-After",
            "421",
        ],
    );
}
