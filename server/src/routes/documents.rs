//! Routes that add and delete documents: `--writable`.

use canter_access::Right;

use super::param::{JSON, Param, flag, number, text};
use super::table::{ApiOf, BodyBound, ChangeRoute, CrossSite, Doc, Does, Names};
use crate::writing::Write;

const NDJSON: &str = "application/x-ndjson";
const POST: &[&str] = &["POST"];
const PUT_OR_POST: &[&str] = &["POST", "PUT"];
const WRITE: &[Right] = &[Right::Write];

pub(super) const ANSWER: &[Param] = &[
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

const CONDITIONS: &[Param] = &[
    number(
        "if_seq_no",
        7,
        "The version that the document must be, by the `_seq_no` of an answer; with `if_primary_term`.",
    ),
    number("if_primary_term", 1, "Always 1."),
    ROUTING,
];

const ROUTING: Param = text(
    "routing",
    "a",
    "Stored with the document, which is found with the same routing only.",
);

const VERSIONS: &[Param] = &[
    number(
        "version",
        5,
        "The version that the document becomes, which must be higher than the present one; with `version_type`.",
    ),
    text(
        "version_type",
        "external",
        "`external`, or `external_gte`: the present version may also be equal.",
    ),
];

const CONFLICTS: &[Param] = &[text(
    "conflicts",
    "proceed",
    "`proceed`: count documents that others change meanwhile; otherwise the first one ends the request.",
)];

const COPYING: &[Param] = &[
    number("max_docs", 1000, "How many documents are written at most."),
    flag("refresh", "Has no effect: documents are published at once."),
    flag(
        "wait_for_completion",
        "`false`: answer with a task at once, for `_tasks/<id>`.",
    ),
];

const DOCUMENT: &str = "{\"timestamp\":1460505600,\"severity_text\":\"INFO\",\"body\":\"some\"}";

/// Defaults of a row: a write of documents, in Elasticsearch's API.
const DOCUMENTS: ChangeRoute = ChangeRoute {
    verbs: POST,
    paths: &[],
    api: ApiOf::Elasticsearch,
    names: Names::Plain,
    does: Does::Documents(|_| None),
    rights: WRITE,
    rights_of_flags: &[],
    cross_site: CrossSite::Refused,
    body: BodyBound::Documents,
    doc: None,
};

const REFRESHED: Option<Doc> = Some(Doc {
    about: "With --writable: answer when all that was taken can be found.",
    params: &[ANSWER],
    body: None,
});

/// The rows.
pub(super) const ROWS: &[ChangeRoute] = &[
    ChangeRoute {
        paths: &["/api/v1/{index}/ingest"],
        api: ApiOf::Own,
        does: Does::Documents(|names| Some(Write::Lines(names.first()?))),
        doc: Some(Doc {
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
        }),
        ..DOCUMENTS
    },
    ChangeRoute {
        paths: &["/v1/logs", "/api/v1/otlp/v1/logs"],
        api: ApiOf::Own,
        does: Does::Documents(|_| Some(Write::Logs)),
        doc: Some(Doc {
            about: "With --writable: add log records of OpenTelemetry, as JSON or as `application/x-protobuf`. The header \
                    `qw-otel-logs-index` names the index.",
            params: &[],
            body: Some((JSON, "{\"resourceLogs\":[]}")),
        }),
        ..DOCUMENTS
    },
    ChangeRoute {
        verbs: PUT_OR_POST,
        paths: &["/_bulk"],
        does: Does::Documents(|_| Some(Write::Bulk(None))),
        doc: Some(Doc {
            about: "With --writable: add documents to several indexes.",
            params: &[REFRESH, &[ROUTING], ANSWER],
            body: Some((
                NDJSON,
                "{\"create\":{\"_index\":\"logs\"}}\n{\"timestamp\":1460505600,\"severity_text\":\"INFO\",\"body\":\"some\"}\n",
            )),
        }),
        ..DOCUMENTS
    },
    ChangeRoute {
        verbs: PUT_OR_POST,
        paths: &["/{index}/_bulk"],
        does: Does::Documents(|names| Some(Write::Bulk(Some(names.first()?)))),
        doc: Some(Doc {
            about: "With --writable: add documents, each behind a line that says so. `/_bulk` alone needs an index in each such line.",
            params: &[REFRESH, &[ROUTING], ANSWER],
            body: Some((
                NDJSON,
                "{\"create\":{}}\n{\"timestamp\":1460505600,\"severity_text\":\"INFO\",\"body\":\"some\"}\n",
            )),
        }),
        ..DOCUMENTS
    },
    ChangeRoute {
        paths: &["/{index}/_doc"],
        does: Does::Documents(|names| Some(Write::Document(names.first()?, None))),
        doc: Some(Doc {
            about: "With --writable: add a document.",
            params: &[REFRESH, ANSWER],
            body: Some((JSON, DOCUMENT)),
        }),
        ..DOCUMENTS
    },
    ChangeRoute {
        verbs: PUT_OR_POST,
        paths: &["/{index}/_doc/{id}"],
        does: Does::Documents(|names| Some(Write::Document(names.first()?, Some(names.get(1)?)))),
        doc: Some(Doc {
            about: "With --writable, in an index with an `id_field`: add a document, or replace the one with this id.",
            params: &[REFRESH, CONDITIONS, VERSIONS, ANSWER],
            body: Some((JSON, DOCUMENT)),
        }),
        ..DOCUMENTS
    },
    ChangeRoute {
        verbs: PUT_OR_POST,
        paths: &["/{index}/_create/{id}"],
        does: Does::Documents(|names| Some(Write::Create(names.first()?, names.get(1)?))),
        doc: Some(Doc {
            about: "The same, unless there is a document with this id: 409.",
            params: &[&[ROUTING], ANSWER],
            body: Some((JSON, DOCUMENT)),
        }),
        ..DOCUMENTS
    },
    ChangeRoute {
        verbs: &["DELETE"],
        paths: &["/{index}/_doc/{id}"],
        does: Does::Documents(|names| Some(Write::Delete(names.first()?, names.get(1)?))),
        rights: &[Right::Delete],
        body: BodyBound::Unused,
        doc: Some(Doc {
            about: "With --writable: delete a document by its id.",
            params: &[REFRESH, CONDITIONS, VERSIONS, ANSWER],
            body: None,
        }),
        ..DOCUMENTS
    },
    ChangeRoute {
        paths: &["/{index}/_update/{id}"],
        does: Does::Documents(|names| Some(Write::Update(names.first()?, names.get(1)?))),
        doc: Some(Doc {
            about: "With --writable: change fields of the document with this id.",
            params: &[
                CONDITIONS,
                ANSWER,
                &[number(
                    "retry_on_conflict",
                    3,
                    "How often the change is made to a newer version of the document.",
                )],
            ],
            body: Some((
                JSON,
                "{\"doc\":{\"severity_text\":\"WARN\"},\"doc_as_upsert\":true}",
            )),
        }),
        ..DOCUMENTS
    },
    ChangeRoute {
        verbs: &["POST", "GET"],
        paths: &["/_refresh", "/_flush"],
        does: Does::Documents(|_| Some(Write::Refresh(None))),
        body: BodyBound::Unused,
        doc: REFRESHED,
        ..DOCUMENTS
    },
    ChangeRoute {
        verbs: &["POST", "GET"],
        paths: &["/{index}/_refresh", "/{index}/_flush"],
        names: Names::OrAll,
        does: Does::Documents(|names| Some(Write::Refresh(Some(names.first()?)))),
        body: BodyBound::Unused,
        doc: REFRESHED,
        ..DOCUMENTS
    },
    ChangeRoute {
        paths: &["/{index}/_delete_by_query"],
        names: Names::OrAll,
        does: Does::Documents(|names| Some(Write::DeleteByQuery(names.first()?))),
        rights: &[Right::Delete],
        doc: Some(Doc {
            about: "With --writable: delete the documents that a query finds.",
            params: &[
                ANSWER,
                &[
                    text(
                        "conflicts",
                        "proceed",
                        "Has no effect: deletions conflict with nothing.",
                    ),
                    number("max_docs", 1000, "How many documents are deleted at most."),
                    flag("refresh", "Has no effect: deletions are published at once."),
                    flag(
                        "wait_for_completion",
                        "`false`: answer with a task at once, for `_tasks/<id>`.",
                    ),
                ],
            ],
            body: Some((JSON, "{\"query\":{\"match\":{\"body\":\"nothing\"}}}")),
        }),
        ..DOCUMENTS
    },
    ChangeRoute {
        paths: &["/{index}/_update_by_query"],
        names: Names::OrAll,
        does: Does::Documents(|names| Some(Write::UpdateByQuery(names.first()?))),
        doc: Some(Doc {
            about: "With --writable: write the documents that a query finds once more, as they are: with fields that a \
                    mapping has since. Takes no script.",
            params: &[ANSWER, CONFLICTS, COPYING],
            body: Some((JSON, "{\"query\":{\"match\":{\"body\":\"nothing\"}}}")),
        }),
        ..DOCUMENTS
    },
    ChangeRoute {
        paths: &["/_reindex"],
        does: Does::Documents(|_| Some(Write::Reindex)),
        doc: Some(Doc {
            about: "With --writable: copy the documents that a query finds into another index of this server.",
            params: &[ANSWER, COPYING],
            body: Some((
                JSON,
                "{\"source\":{\"index\":\"logs\",\"query\":{\"match\":{\"body\":\"nothing\"}}},\"dest\":{\"index\":\"logs\"}}",
            )),
        }),
        ..DOCUMENTS
    },
];
