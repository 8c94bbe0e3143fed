//! What a root keeps beside indexes: pipelines and scripts, read from the catalog now and then; and the settings of indexes
//! that servers heed.

use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use canter_index_builder::{CatalogEntry, IndexSettings, Templates};
use canter_intake::{IndexParts, Templated, keep_settings};
use canter_pipelines::{Pipeline, Pipelines};
use serde_json::Value;

use super::root::{Root, set_of};
use crate::requests::Problem;

/// Time after which changes of other servers are read.
const STALE: Duration = Duration::from_secs(5);

/// What a root keeps, as it was read.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    pub(crate) templates: Templates,
    pub(crate) pipelines: Pipelines,
}

impl Kept {
    /// Compiles pipelines, but those that are as before.
    fn of(templates: Templates, before: Option<&Self>) -> Self {
        let mut pipelines = Pipelines::default();
        for (name, body) in &templates.pipelines {
            if let Some(before) = before
                && before.templates.pipelines.get(name) == Some(body)
            {
                pipelines.take(name, &before.pipelines);
                continue;
            }
            match Pipeline::read(body) {
                Ok(pipeline) => pipelines.insert(name, pipeline),
                // Only one that another version of this program took.
                Err(error) => {
                    tracing::error!(target: "canter::serve", pipeline = name, error = error.reason, "a pipeline cannot be used");
                }
            }
        }
        Self {
            templates,
            pipelines,
        }
    }

    /// Returns the settings that an index of this name would have by the templates.
    pub(crate) fn settings_of(&self, name: &str) -> Result<IndexSettings, Problem> {
        let templated = set_of(&self.templates).of_index(name)?;
        kept_settings(templated.as_ref(), None)
    }

    /// Returns a stored script that changes documents.
    pub(crate) fn script(&self, id: &str) -> Option<&Value> {
        let script = self.templates.searches.get(id)?.get("script")?;
        Some(script).filter(|script| script["lang"] == "painless")
    }
}

/// What a root kept when it was read last.
pub(super) type LastKept = Option<(Instant, Arc<Kept>)>;

impl Root {
    /// Returns what the root keeps. Changes of this server count at once, those of others after some seconds.
    ///
    /// # Errors
    /// If the catalog cannot be read.
    pub(crate) async fn kept(self: &Arc<Self>) -> Result<Arc<Kept>, Problem> {
        let last = {
            let last = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            last.clone()
        };
        if let Some((at, kept)) = &last
            && at.elapsed() < STALE
        {
            return Ok(Arc::clone(kept));
        }
        self.work(move |root| {
            let templates = root.catalog.templates()?;
            let kept = Arc::new(Kept::of(templates, last.as_ref().map(|(_, kept)| &**kept)));
            let mut last = root.kept.lock().unwrap_or_else(PoisonError::into_inner);
            *last = Some((Instant::now(), Arc::clone(&kept)));
            Ok(kept)
        })
        .await
    }

    /// Lets the next request read the catalog.
    pub(crate) fn forget_kept(&self) {
        let mut last = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        // What is compiled is kept.
        if let Some((at, _)) = &mut *last {
            *at = at.checked_sub(STALE).unwrap_or(*at);
        }
    }

    /// Returns whether the settings of any index name a pipeline.
    pub(crate) fn names_pipelines(&self) -> bool {
        let names = |entry: &CatalogEntry| {
            let named = ["default_pipeline", "final_pipeline"];
            named.iter().any(|name| entry.settings.contains_key(*name))
        };
        self.any_entry(names)
    }

    /// Changes the settings of an index that servers heed and show. Blocks.
    pub(crate) fn change_settings(&self, name: &str, given: &Value) -> Result<(), Problem> {
        let entry = self.entry(name).ok_or_else(|| Problem::no_index(name))?;
        let changed = self.catalog.change_settings(&entry, |settings| {
            keep_settings(settings, given).map_err(Problem::from)
        });
        match changed?? {
            true => self.look(),
            false => Err(Problem::no_index(name)),
        }
    }

    /// Returns why documents of an index cannot be changed, if that is so.
    pub(crate) fn block_on_writes(&self, name: &str) -> Option<Problem> {
        let settings = self.entry(name)?.settings;
        let found = BLOCKS.iter().find(|(block, ..)| is_on(&settings, block));
        found.map(|(_, id, why)| blocked(name, id, why))
    }

    /// Returns why an index itself cannot be changed, if that is so.
    pub(crate) fn block_on_changes(&self, name: &str) -> Option<Problem> {
        let settings = self.entry(name)?.settings;
        let (block, id, why) = &BLOCKS[0];
        is_on(&settings, block).then(|| blocked(name, id, why))
    }
}

/// Settings that keep documents from being changed, with Elasticsearch's number and name of each.
const BLOCKS: [(&str, &str, &str); 3] = [
    ("blocks.read_only", "5", "index read-only (api)"),
    (
        "blocks.read_only_allow_delete",
        "12",
        "disk usage exceeded flood-stage watermark, index has read-only-allow-delete block",
    ),
    ("blocks.write", "8", "index write (api)"),
];

fn is_on(settings: &IndexSettings, name: &str) -> bool {
    let value = settings.get(name);
    value.is_some_and(|value| value == true || value == "true")
}

fn blocked(name: &str, id: &str, why: &str) -> Problem {
    Problem {
        status: axum::http::StatusCode::FORBIDDEN,
        ..Problem::invalid(
            "cluster_block_exception",
            format!("index [{name}] blocked by: [FORBIDDEN/{id}/{why}];"),
        )
    }
}

/// Returns a time in milliseconds since 1970 in Elasticsearch's form.
pub(crate) fn utc_of(ms: u64) -> String {
    let time = i64::try_from(ms).ok();
    let time = time.and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
    format!("{:.3}", time.unwrap_or_default())
}

/// Returns the settings that servers heed and show of an index by its templates and its own parts.
pub(crate) fn kept_settings(
    templated: Option<&Templated>,
    own: Option<&IndexParts>,
) -> Result<IndexSettings, Problem> {
    let mut settings = IndexSettings::new();
    let parts = templated.map(Templated::parts).unwrap_or_default();
    for part in parts.iter().chain(own) {
        keep_settings(&mut settings, part.settings())?;
    }
    Ok(settings)
}
