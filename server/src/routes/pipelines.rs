//! The paths of pipelines and of blocks, with `--indexes-in`.

use canter_access::Right;
use canter_intake::TemplateKind;

use super::documents::ANSWER;
use super::indexes::{INDEXES, LOOKS, REMOVES};
use super::param::{JSON, Param, flag, text};
use super::table::{BodyBound, ChangeRoute, CrossSite, Doc, Does, Names};
use crate::managing::Manage;

const PIPELINE: &str = "{\"processors\":[{\"lowercase\":{\"field\":\"level\"}}]}";

const DOCUMENTS: &str = "{\"docs\":[{\"_source\":{\"level\":\"WARN\"}}]}";

const BOTH: &str =
    "{\"pipeline\":{\"processors\":[]},\"docs\":[{\"_source\":{\"level\":\"WARN\"}}]}";

const SIMULATED: &[&[Param]] = &[&[flag("verbose", "Show what each processor does.")], ANSWER];

/// Shows what a pipeline makes of documents.
const SIMULATES: ChangeRoute = ChangeRoute {
    verbs: &["POST"],
    names: Names::Plain,
    cross_site: CrossSite::Refused,
    body: BodyBound::Mapping,
    ..LOOKS
};

/// The rows.
pub(super) const ROWS: &[ChangeRoute] = &[
    ChangeRoute {
        paths: &["/_ingest/pipeline/{name}"],
        does: Does::Indexes(|names| {
            let name = names.first()?.clone();
            Some(Manage::PutTemplate(TemplateKind::Pipeline, name))
        }),
        doc: Some(Doc {
            about: "With --indexes-in: put a pipeline, which documents pass before they are added.",
            params: &[ANSWER],
            body: Some((JSON, PIPELINE)),
        }),
        ..INDEXES
    },
    ChangeRoute {
        paths: &["/_ingest/pipeline/{name}"],
        // Indexes stay as they are.
        rights: &[Right::Write],
        does: Does::Indexes(|names| {
            let name = names.first()?.clone();
            Some(Manage::DeleteTemplates(TemplateKind::Pipeline, name))
        }),
        doc: Some(Doc {
            about: "With --indexes-in: delete a pipeline.",
            params: &[ANSWER],
            body: None,
        }),
        ..REMOVES
    },
    ChangeRoute {
        paths: &["/_ingest/pipeline/_simulate"],
        does: Does::Indexes(|_| Some(Manage::SimulatePipeline(None))),
        doc: Some(Doc {
            about: "With --indexes-in: what a pipeline in the body makes of documents, which are not added.",
            params: SIMULATED,
            body: Some((JSON, BOTH)),
        }),
        ..SIMULATES
    },
    ChangeRoute {
        paths: &["/_ingest/pipeline/{name}/_simulate"],
        does: Does::Indexes(|names| Some(Manage::SimulatePipeline(names.first().cloned()))),
        doc: Some(Doc {
            about: "With --indexes-in: what a stored pipeline makes of documents, which are not added.",
            params: SIMULATED,
            body: Some((JSON, DOCUMENTS)),
        }),
        ..SIMULATES
    },
    ChangeRoute {
        paths: &["/_ingest/processor/grok"],
        does: Does::Indexes(|_| Some(Manage::Patterns)),
        doc: Some(Doc {
            about: "With --indexes-in: the patterns that the processor `grok` knows.",
            params: &[
                &[
                    flag("s", "Has no effect: they are sorted."),
                    text("ecs_compatibility", "disabled", "Has no effect."),
                ],
                ANSWER,
            ],
            body: None,
        }),
        ..LOOKS
    },
    ChangeRoute {
        paths: &["/{index}/_block/{name}"],
        names: Names::OrAll,
        body: BodyBound::Unused,
        does: Does::Indexes(|names| {
            Some(Manage::Block(names.first()?.clone(), names.get(1)?.clone()))
        }),
        doc: Some(Doc {
            about: "With --indexes-in: let an index take no more documents, until a setting says otherwise.",
            params: &[
                &[
                    flag("ignore_unavailable", "Has no effect."),
                    flag("allow_no_indices", "Has no effect."),
                    text("expand_wildcards", "open", "Has no effect."),
                ],
                ANSWER,
            ],
            body: None,
        }),
        ..INDEXES
    },
];
