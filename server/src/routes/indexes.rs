//! Routes that create, show and delete indexes and templates: `--indexes-in`.

use canter_access::Right;
use canter_intake::TemplateKind;

use super::param::{JSON, Param, flag, text, unset};
use super::table::{ApiOf, BodyBound, ChangeRoute, CrossSite, Doc, Does, Names};
use crate::managing::Manage;

const PUT: &[&str] = &["PUT"];
const PUT_OR_POST: &[&str] = &["PUT", "POST"];
const GET: &[&str] = &["GET", "HEAD"];
const DELETE: &[&str] = &["DELETE"];
const DELETES: &[Right] = &[Right::Delete];

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

const FIELDS: &str = "{\"properties\":{\"host\":{\"type\":\"keyword\"}}}";

const CLUSTER_SETTINGS: &str = r#"{"persistent": {"cluster.routing.allocation.enable": "all"}}"#;
const ALIASES: &str = "{\"actions\":[{\"add\":{\"index\":\"example\",\"alias\":\"current\"}}]}";

const PUT_ALIAS: Option<Doc> = Some(Doc {
    about: "With --indexes-in: give an index another name.",
    params: &[ANSWER],
    body: Some((JSON, "{\"index\":\"example\",\"alias\":\"current\"}")),
});

const TEMPLATE: &str = "{\"index_patterns\":[\"example-*\"],\"priority\":100,\"data_stream\":{},\"template\":{\"mappings\":{\
                        \"properties\":{\"message\":{\"type\":\"text\"}}}}}";

const COMPONENT: &str =
    "{\"template\":{\"mappings\":{\"properties\":{\"host\":{\"type\":\"keyword\"}}}}}";

const LEGACY: &str = "{\"index_patterns\":[\"old-*\"],\"order\":1,\"mappings\":{\"properties\":{\
                      \"message\":{\"type\":\"text\"}}}}";

const POLICY: &str =
    "{\"policy\":{\"phases\":{\"delete\":{\"min_age\":\"7d\",\"actions\":{\"delete\":{}}}}}}";

const SEARCH: &str = "{\"script\":{\"lang\":\"mustache\",\"source\":{\"query\":{\"term\":{\"level\":\"{{level}}\"}}}}}";

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

/// Defaults of a row: creates something, in Elasticsearch's API.
pub(super) const INDEXES: ChangeRoute = ChangeRoute {
    verbs: PUT,
    paths: &[],
    api: ApiOf::Elasticsearch,
    names: Names::Plain,
    does: Does::Indexes(|_| None),
    rights: &[Right::Write],
    rights_of_flags: &[],
    cross_site: CrossSite::Refused,
    body: BodyBound::Mapping,
    doc: None,
};

/// Shows something. Templates describe future indexes, so that even showing them needs the right to write.
pub(super) const LOOKS: ChangeRoute = ChangeRoute {
    verbs: GET,
    names: Names::Any,
    cross_site: CrossSite::Answered,
    body: BodyBound::Unused,
    ..INDEXES
};

/// Deletes something.
pub(super) const REMOVES: ChangeRoute = ChangeRoute {
    verbs: DELETE,
    names: Names::Any,
    rights: DELETES,
    body: BodyBound::Unused,
    ..INDEXES
};

/// Deleting templates does not affect existing indexes, so it counts as writing.
const REMOVES_TEMPLATES: ChangeRoute = ChangeRoute {
    rights: &[Right::Write],
    doc: Some(Doc {
        about: "With --indexes-in: delete a template. Indexes that were made of it stay as they are.",
        params: &[ANSWER],
        body: None,
    }),
    ..REMOVES
};

const SHOWS_TEMPLATES: ChangeRoute = ChangeRoute {
    doc: Some(Doc {
        about: "With --indexes-in: templates, as they were put.",
        params: &[SHOWN, ANSWER],
        body: None,
    }),
    ..LOOKS
};

/// The rows.
pub(super) const ROWS: &[ChangeRoute] = &[
    ChangeRoute {
        verbs: &["POST"],
        paths: &["/api/v1/indexes"],
        api: ApiOf::Own,
        does: Does::Indexes(|_| Some(Manage::CreateFromConfig)),
        // An existing index is deleted.
        rights_of_flags: &[("overwrite", Right::Delete)],
        doc: Some(Doc {
            about: "With --indexes-in: make an index of an index config, as JSON or as `application/yaml`.",
            params: &[
                &[flag(
                    "overwrite",
                    "Whether an index of that name, and all that is in it, is deleted in the same moment.",
                )],
                ANSWER,
            ],
            body: Some((JSON, CONFIG)),
        }),
        ..INDEXES
    },
    ChangeRoute {
        paths: &["/api/v1/indexes/{index}"],
        api: ApiOf::Own,
        does: Does::Indexes(|names| Some(Manage::DeleteOne(names.first()?.clone()))),
        doc: Some(Doc {
            about: "With --indexes-in: delete an index. Says which splits it had.",
            params: &[&[unset("dry_run", "Can only be false.")], ANSWER],
            body: None,
        }),
        ..REMOVES
    },
    ChangeRoute {
        verbs: PUT,
        paths: &["/api/v1/indexes/{index}/clear"],
        api: ApiOf::Own,
        // Clearing leaves an empty index.
        does: Does::Indexes(|names| Some(Manage::Clear(names.first()?.clone()))),
        doc: Some(Doc {
            about: "With --indexes-in: delete all that is in an index.",
            params: &[ANSWER],
            body: None,
        }),
        ..REMOVES
    },
    ChangeRoute {
        verbs: PUT_OR_POST,
        paths: &["/_index_template/{name}"],
        does: Does::Indexes(|names| put_template(TemplateKind::Index, names)),
        doc: Some(Doc {
            about: "With --indexes-in: put a template, of which indexes are made whose name is one of its patterns.",
            params: &[NEW, ANSWER],
            body: Some((JSON, TEMPLATE)),
        }),
        ..INDEXES
    },
    ChangeRoute {
        verbs: PUT_OR_POST,
        paths: &["/_component_template/{name}"],
        does: Does::Indexes(|names| put_template(TemplateKind::Component, names)),
        doc: Some(Doc {
            about: "With --indexes-in: put a part that templates are composed of.",
            params: &[NEW, ANSWER],
            body: Some((JSON, COMPONENT)),
        }),
        ..INDEXES
    },
    ChangeRoute {
        verbs: PUT_OR_POST,
        paths: &["/_template/{name}"],
        does: Does::Indexes(|names| put_template(TemplateKind::Legacy, names)),
        doc: Some(Doc {
            about: "With --indexes-in: put a template of the form that there was before Elasticsearch 7.8.",
            params: &[
                NEW,
                &[text("order", "1", "Later ones go before earlier ones.")],
                ANSWER,
            ],
            body: Some((JSON, LEGACY)),
        }),
        ..INDEXES
    },
    ChangeRoute {
        verbs: PUT_OR_POST,
        paths: &["/_scripts/{name}"],
        does: Does::Indexes(|names| put_template(TemplateKind::Search, names)),
        doc: Some(Doc {
            about: "With --indexes-in: put a template of searches.",
            params: &[NEW, ANSWER],
            body: Some((JSON, SEARCH)),
        }),
        ..INDEXES
    },
    ChangeRoute {
        paths: &["/_scripts/{name}"],
        does: Does::Indexes(|names| templates(TemplateKind::Search, names)),
        ..SHOWS_TEMPLATES
    },
    ChangeRoute {
        paths: &["/_scripts/{name}"],
        does: Does::Indexes(|names| delete_templates(TemplateKind::Search, names)),
        ..REMOVES_TEMPLATES
    },
    ChangeRoute {
        verbs: PUT,
        paths: &["/_ilm/policy/{name}"],
        does: Does::Indexes(|names| put_template(TemplateKind::Policy, names)),
        doc: Some(Doc {
            about: "With --indexes-in: put a policy, by which indexes delete old documents.",
            params: &[ANSWER],
            body: Some((JSON, POLICY)),
        }),
        ..INDEXES
    },
    ChangeRoute {
        paths: &["/_ilm/policy/{name}"],
        does: Does::Indexes(|names| delete_templates(TemplateKind::Policy, names)),
        ..REMOVES_TEMPLATES
    },
    ChangeRoute {
        paths: &["/_index_template", "/_index_template/{name}"],
        does: Does::Indexes(|names| templates(TemplateKind::Index, names)),
        ..SHOWS_TEMPLATES
    },
    ChangeRoute {
        paths: &["/_component_template", "/_component_template/{name}"],
        does: Does::Indexes(|names| templates(TemplateKind::Component, names)),
        ..SHOWS_TEMPLATES
    },
    ChangeRoute {
        paths: &["/_template", "/_template/{name}"],
        does: Does::Indexes(|names| templates(TemplateKind::Legacy, names)),
        ..SHOWS_TEMPLATES
    },
    ChangeRoute {
        paths: &["/_index_template/{name}"],
        does: Does::Indexes(|names| delete_templates(TemplateKind::Index, names)),
        ..REMOVES_TEMPLATES
    },
    ChangeRoute {
        paths: &["/_component_template/{name}"],
        does: Does::Indexes(|names| delete_templates(TemplateKind::Component, names)),
        ..REMOVES_TEMPLATES
    },
    ChangeRoute {
        paths: &["/_template/{name}"],
        does: Does::Indexes(|names| delete_templates(TemplateKind::Legacy, names)),
        ..REMOVES_TEMPLATES
    },
    ChangeRoute {
        verbs: &["POST"],
        paths: &["/_index_template/_simulate_index/{name}"],
        does: Does::Indexes(|names| Some(Manage::Simulate(names.first()?.clone()))),
        doc: Some(Doc {
            about: "With --indexes-in: what an index of this name would be by the templates.",
            params: &[&[flag("include_defaults", "Has no effect.")], ANSWER],
            body: None,
        }),
        cross_site: CrossSite::Refused,
        ..LOOKS
    },
    ChangeRoute {
        verbs: &["PUT"],
        paths: &["/_cluster/settings"],
        does: Does::Indexes(|_| Some(Manage::PutClusterSettings)),
        doc: Some(Doc {
            about: "With --indexes-in: settings of nodes, which have no effect; others are refused.",
            params: &[&[flag("flat_settings", "Has no effect.")], ANSWER],
            body: Some((JSON, CLUSTER_SETTINGS)),
        }),
        ..INDEXES
    },
    ChangeRoute {
        paths: &["/_data_stream/{name}"],
        names: Names::Any,
        does: Does::Indexes(|names| Some(Manage::PutDataStream(names.first()?.clone()))),
        body: BodyBound::Unused,
        doc: Some(Doc {
            about: "With --indexes-in: make an index of the template that names it a data stream.",
            params: &[ANSWER],
            body: None,
        }),
        ..INDEXES
    },
    ChangeRoute {
        paths: &["/_data_stream", "/_data_stream/{name}"],
        does: Does::Indexes(|names| Some(Manage::DataStreams(names.first().cloned()))),
        doc: Some(Doc {
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
        }),
        ..LOOKS
    },
    ChangeRoute {
        paths: &["/_data_stream/{name}"],
        does: Does::Indexes(|names| Some(Manage::DeleteDataStreams(names.first()?.clone()))),
        doc: Some(Doc {
            about: "With --indexes-in: delete an index that was made as a data stream.",
            params: &[
                &[text("expand_wildcards", "open", "Has no effect.")],
                ANSWER,
            ],
            body: None,
        }),
        ..REMOVES
    },
    ChangeRoute {
        verbs: &["POST"],
        paths: &["/_aliases"],
        does: Does::Indexes(|_| Some(Manage::UpdateAliases)),
        doc: Some(Doc {
            about: "With --indexes-in: give indexes further names, and take such names away, all in one step.",
            params: &[ANSWER],
            body: Some((JSON, ALIASES)),
        }),
        ..INDEXES
    },
    ChangeRoute {
        verbs: PUT_OR_POST,
        paths: &["/{index}/_alias/{name}", "/{index}/_aliases/{name}"],
        names: Names::OrAll,
        does: Does::Indexes(|names| {
            Some(Manage::PutAlias(
                names.first().cloned(),
                Some(names.get(1)?.clone()),
            ))
        }),
        doc: PUT_ALIAS,
        ..INDEXES
    },
    ChangeRoute {
        verbs: PUT,
        paths: &["/{index}/_alias", "/{index}/_aliases"],
        names: Names::OrAll,
        does: Does::Indexes(|names| Some(Manage::PutAlias(Some(names.first()?.clone()), None))),
        doc: PUT_ALIAS,
        ..INDEXES
    },
    ChangeRoute {
        verbs: PUT_OR_POST,
        paths: &["/_alias/{name}", "/_aliases/{name}"],
        does: Does::Indexes(|names| Some(Manage::PutAlias(None, Some(names.first()?.clone())))),
        doc: PUT_ALIAS,
        ..INDEXES
    },
    ChangeRoute {
        verbs: PUT,
        paths: &["/_alias"],
        does: Does::Indexes(|_| Some(Manage::PutAlias(None, None))),
        doc: PUT_ALIAS,
        ..INDEXES
    },
    ChangeRoute {
        verbs: DELETE,
        paths: &["/{index}/_alias/{name}", "/{index}/_aliases/{name}"],
        names: Names::OrAll,
        does: Does::Indexes(|names| {
            Some(Manage::DeleteAlias(
                names.first()?.clone(),
                names.get(1)?.clone(),
            ))
        }),
        body: BodyBound::Unused,
        doc: Some(Doc {
            about: "With --indexes-in: take names of indexes away.",
            params: &[ANSWER],
            body: None,
        }),
        ..INDEXES
    },
    ChangeRoute {
        verbs: &["POST"],
        paths: &["/{index}/_rollover", "/{index}/_rollover/{name}"],
        does: Does::Indexes(|names| Some(Manage::RollOver(names.first()?.clone()))),
        ..INDEXES
    },
    ChangeRoute {
        paths: &["/{index}"],
        does: Does::Indexes(|names| Some(Manage::Create(names.first()?.clone()))),
        doc: Some(Doc {
            about: "With --indexes-in: make an index of a mapping, and of the template that has its name.",
            params: &[&[unset("include_type_name", "Can only be false.")], ANSWER],
            body: Some((JSON, MAPPING)),
        }),
        ..INDEXES
    },
    ChangeRoute {
        verbs: PUT_OR_POST,
        paths: &["/{index}/_mapping", "/{index}/_mappings"],
        names: Names::OrAll,
        does: Does::Indexes(|names| Some(Manage::PutMapping(names.first()?.clone()))),
        doc: Some(Doc {
            about: "With --indexes-in: add fields to an index.",
            params: &[
                &[
                    flag("ignore_unavailable", "Has no effect."),
                    flag("allow_no_indices", "Has no effect."),
                    text("expand_wildcards", "open", "Has no effect."),
                ],
                ANSWER,
            ],
            body: Some((JSON, FIELDS)),
        }),
        ..INDEXES
    },
    ChangeRoute {
        verbs: PUT,
        paths: &["/{index}/_settings"],
        names: Names::OrAll,
        does: Does::Indexes(|names| Some(Manage::PutSettings(names.first()?.clone()))),
        doc: Some(Doc {
            about: "With --indexes-in: change settings of an index on which no split depends. Those of Elasticsearch's nodes \
                    are checked, and have no effect.",
            params: &[
                &[
                    flag("ignore_unavailable", "Has no effect."),
                    flag("allow_no_indices", "Has no effect."),
                    text("expand_wildcards", "open", "Has no effect."),
                    flag("flat_settings", "Has no effect."),
                    unset("preserve_existing", "Can only be false."),
                ],
                ANSWER,
            ],
            body: Some((JSON, "{\"index\":{\"max_slices_per_scroll\":2048}}")),
        }),
        ..INDEXES
    },
    ChangeRoute {
        paths: &["/{index}"],
        names: Names::OrAll,
        does: Does::Indexes(|names| Some(Manage::Delete(names.first()?.clone()))),
        doc: Some(Doc {
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
        }),
        ..REMOVES
    },
];

fn put_template(kind: TemplateKind, names: &[String]) -> Option<Manage> {
    Some(Manage::PutTemplate(kind, names.first()?.clone()))
}

#[expect(clippy::unnecessary_wraps, reason = "as the other makers of a row")]
fn templates(kind: TemplateKind, names: &[String]) -> Option<Manage> {
    Some(Manage::Templates(kind, names.first().cloned()))
}

fn delete_templates(kind: TemplateKind, names: &[String]) -> Option<Manage> {
    Some(Manage::DeleteTemplates(kind, names.first()?.clone()))
}
