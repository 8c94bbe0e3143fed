//! The paths of `--writable`.

use super::JSON;
use super::routes::{Param, Route, flag, text};

const NDJSON: &str = "application/x-ndjson";
const POST: &[&str] = &["post"];

const ANSWER: &[Param] = &[
    flag("pretty", "With line breaks."),
    flag("human", "Has no effect."),
    flag("error_trace", "Has no effect."),
    text("timeout", "1m", "Has no effect."),
    text(
        "filter_path",
        "**",
        "The parts of the answer that are wanted.",
    ),
];

const REFRESH: &[Param] = &[text(
    "refresh",
    "wait_for",
    "`true` and `wait_for`: answer when the documents can be found, as without it; `false`: when they are safe.",
)];

const DOCUMENT: &str = "{\"timestamp\":1460505600,\"severity_text\":\"INFO\",\"body\":\"some\"}";

/// Of Quickwit's API, and OpenTelemetry's.
pub(super) const OWN: &[Route] = &[
    Route {
        paths: &["/api/v1/{index}/ingest"],
        methods: POST,
        about: "With --writable: add documents, one in each line.",
        params: &[&[
            text(
                "commit",
                "wait_for",
                "`auto`: answer when they are safe; `wait_for` and `force`: when they can be found.",
            ),
            flag("detailed_response", "Say why documents were rejected."),
            text(
                "filter_path",
                "**",
                "The parts of the answer that are wanted.",
            ),
            flag("pretty", "With line breaks."),
        ]],
        body: Some((NDJSON, DOCUMENT)),
        answers: JSON,
    },
    Route {
        paths: &["/v1/logs", "/api/v1/otlp/v1/logs"],
        methods: POST,
        about: "With --writable: add log records of OpenTelemetry, as JSON or as `application/x-protobuf`. The header \
                `qw-otel-logs-index` names the index.",
        params: &[],
        body: Some((JSON, "{\"resourceLogs\":[]}")),
        answers: JSON,
    },
];

/// Of Elasticsearch's API.
pub(super) const ELASTICSEARCH: &[Route] = &[
    Route {
        paths: &["/{index}/_bulk"],
        methods: &["post", "put"],
        about: "With --writable: add documents, each behind a line that says so. `/_bulk` alone needs an index in each such line.",
        params: &[REFRESH, ANSWER],
        body: Some((
            NDJSON,
            "{\"create\":{}}\n{\"timestamp\":1460505600,\"severity_text\":\"INFO\",\"body\":\"some\"}\n",
        )),
        answers: JSON,
    },
    Route {
        paths: &["/_bulk"],
        methods: &["post", "put"],
        about: "With --writable: add documents to several indexes.",
        params: &[REFRESH, ANSWER],
        body: Some((
            NDJSON,
            "{\"create\":{\"_index\":\"logs\"}}\n{\"timestamp\":1460505600,\"severity_text\":\"INFO\",\"body\":\"some\"}\n",
        )),
        answers: JSON,
    },
    Route {
        paths: &["/{index}/_doc"],
        methods: POST,
        about: "With --writable: add a document.",
        params: &[REFRESH, ANSWER],
        body: Some((JSON, DOCUMENT)),
        answers: JSON,
    },
    Route {
        paths: &["/_refresh", "/{index}/_refresh"],
        methods: POST,
        about: "With --writable: answer when all that was taken can be found.",
        params: &[ANSWER],
        body: None,
        answers: JSON,
    },
    Route {
        paths: &["/{index}/_delete_by_query"],
        methods: POST,
        about: "With --writable: delete the documents that a query finds.",
        params: &[
            ANSWER,
            &[
                text(
                    "conflicts",
                    "proceed",
                    "Has no effect: deletions conflict with nothing.",
                ),
                flag("refresh", "Has no effect: deletions are published at once."),
                flag("wait_for_completion", "Only true is supported."),
            ],
        ],
        body: Some((JSON, "{\"query\":{\"match\":{\"body\":\"nothing\"}}}")),
        answers: JSON,
    },
];
