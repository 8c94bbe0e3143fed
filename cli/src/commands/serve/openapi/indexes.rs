//! The paths of `--indexes-in`: indexes that come and go, and templates.

use super::JSON;
use super::routes::{Param, Route, flag, text, unset};

const GET: &[&str] = &["get"];
const PUT: &[&str] = &["put"];
const DELETE: &[&str] = &["delete"];

const ANSWER: &[Param] = &[
    flag("pretty", "With line breaks."),
    flag("human", "Has no effect."),
    flag("error_trace", "Has no effect."),
    text("timeout", "1m", "Has no effect."),
    text("master_timeout", "1m", "Has no effect."),
    text("wait_for_active_shards", "1", "Has no effect."),
    text(
        "filter_path",
        "**",
        "The parts of the answer that are wanted.",
    ),
];

const MAPPING: &str = "{\"settings\":{\"number_of_shards\":1},\"mappings\":{\"properties\":{\"@timestamp\":{\"type\":\"date\"},\
                       \"message\":{\"type\":\"text\"}}}}";

const TEMPLATE: &str = "{\"index_patterns\":[\"example-*\"],\"priority\":100,\"data_stream\":{},\"template\":{\"mappings\":{\
                        \"properties\":{\"message\":{\"type\":\"text\"}}}}}";

const COMPONENT: &str =
    "{\"template\":{\"mappings\":{\"properties\":{\"host\":{\"type\":\"keyword\"}}}}}";

const LEGACY: &str = "{\"index_patterns\":[\"old-*\"],\"order\":1,\"mappings\":{\"properties\":{\
                      \"message\":{\"type\":\"text\"}}}}";

const CONFIG: &str =
    "{\"version\":\"0.9\",\"index_id\":\"example\",\"doc_mapping\":{\"mode\":\"dynamic\"}}";

const SHOWN: &[Param] = &[
    flag("local", "Has no effect."),
    flag("flat_settings", "Has no effect."),
    flag("include_defaults", "Has no effect."),
];

const NEW: &[Param] = &[
    flag("create", "Refuse to replace one that is there."),
    text("cause", "a deployment", "Has no effect."),
];

/// Of Quickwit's API.
pub(super) const OWN: &[Route] = &[
    Route {
        paths: &["/api/v1/indexes"],
        methods: &["post"],
        about: "With --indexes-in: make an index of an index config, as JSON or as `application/yaml`.",
        params: &[
            &[flag(
                "overwrite",
                "Whether an index of that name, and all that is in it, is deleted in the same moment.",
            )],
            ANSWER,
        ],
        body: Some((JSON, CONFIG)),
        answers: JSON,
    },
    Route {
        paths: &["/api/v1/indexes/{index}"],
        methods: DELETE,
        about: "With --indexes-in: delete an index. Says which splits it had.",
        params: &[&[unset("dry_run", "Can only be false.")], ANSWER],
        body: None,
        answers: JSON,
    },
    Route {
        paths: &["/api/v1/indexes/{index}/clear"],
        methods: PUT,
        about: "With --indexes-in: delete all that is in an index.",
        params: &[ANSWER],
        body: None,
        answers: JSON,
    },
];

/// Of Elasticsearch's API.
pub(super) const ELASTICSEARCH: &[Route] = &[
    Route {
        paths: &["/{index}"],
        methods: PUT,
        about: "With --indexes-in: make an index of a mapping, and of the template that has its name.",
        params: &[ANSWER],
        body: Some((JSON, MAPPING)),
        answers: JSON,
    },
    Route {
        paths: &["/{index}"],
        methods: DELETE,
        about: "With --indexes-in: delete indexes, by their names.",
        params: &[
            &[
                flag("ignore_unavailable", "Leave out names that there are not."),
                flag("allow_no_indices", "Has no effect."),
                text("expand_wildcards", "open", "Has no effect."),
            ],
            ANSWER,
        ],
        body: None,
        answers: JSON,
    },
    Route {
        paths: &["/_index_template/{name}"],
        methods: PUT,
        about: "With --indexes-in: put a template, of which indexes are made whose name is one of its patterns.",
        params: &[NEW, ANSWER],
        body: Some((JSON, TEMPLATE)),
        answers: JSON,
    },
    Route {
        paths: &["/_component_template/{name}"],
        methods: PUT,
        about: "With --indexes-in: put a part that templates are composed of.",
        params: &[NEW, ANSWER],
        body: Some((JSON, COMPONENT)),
        answers: JSON,
    },
    Route {
        paths: &["/_template/{name}"],
        methods: PUT,
        about: "With --indexes-in: put a template of the form that there was before Elasticsearch 7.8.",
        params: &[
            NEW,
            &[text("order", "1", "Later ones go before earlier ones.")],
            ANSWER,
        ],
        body: Some((JSON, LEGACY)),
        answers: JSON,
    },
    Route {
        paths: &[
            "/_index_template",
            "/_index_template/{name}",
            "/_component_template",
            "/_component_template/{name}",
            "/_template",
            "/_template/{name}",
        ],
        methods: GET,
        about: "With --indexes-in: templates, as they were put.",
        params: &[SHOWN, ANSWER],
        body: None,
        answers: JSON,
    },
    Route {
        paths: &[
            "/_index_template/{name}",
            "/_component_template/{name}",
            "/_template/{name}",
        ],
        methods: DELETE,
        about: "With --indexes-in: delete a template. Indexes that were made of it stay as they are.",
        params: &[ANSWER],
        body: None,
        answers: JSON,
    },
    Route {
        paths: &["/_data_stream/{name}"],
        methods: PUT,
        about: "With --indexes-in: make an index of the template that names it a data stream.",
        params: &[ANSWER],
        body: None,
        answers: JSON,
    },
    Route {
        paths: &["/_data_stream", "/_data_stream/{name}"],
        methods: GET,
        about: "With --indexes-in: the indexes that were made as data streams.",
        params: &[
            &[
                flag("include_defaults", "Has no effect."),
                flag("verbose", "Has no effect."),
                text("expand_wildcards", "open", "Has no effect."),
            ],
            ANSWER,
        ],
        body: None,
        answers: JSON,
    },
    Route {
        paths: &["/_data_stream/{name}"],
        methods: DELETE,
        about: "With --indexes-in: delete an index that was made as a data stream.",
        params: &[
            &[text("expand_wildcards", "open", "Has no effect.")],
            ANSWER,
        ],
        body: None,
        answers: JSON,
    },
];
