//! The tables of `_cat` that the guest does not write.

use std::collections::BTreeMap;

use super::figures::{Figures, sum};
use super::table::Table;
use crate::requests::Problem;
use canter_index_builder::Templates;
use serde_json::Value;

/// Name of the only node.
pub(super) const NODE: &str = "canter";

/// Tables, with their columns. Those that have no rows are of things that there are not.
const TABLES: [(&str, &str); 13] = [
    (
        "allocation",
        "shards disk.indices disk.used disk.avail disk.total disk.percent host ip node",
    ),
    ("master", "id host ip node"),
    (
        "nodes",
        "ip heap.percent ram.percent cpu load_1m load_5m load_15m node.role master name",
    ),
    ("fielddata", "id host ip node field size"),
    ("nodeattrs", "node host ip attr value"),
    ("pending_tasks", "insertOrder timeInQueue priority source"),
    ("plugins", "name component version"),
    (
        "recovery",
        "index shard time type stage source_node target_node",
    ),
    ("repositories", "id type"),
    ("shards", "index shard prirep state docs store ip node"),
    ("snapshots", "id repository status"),
    (
        "tasks",
        "action task_id parent_task_id type start_time running_time",
    ),
    ("thread_pool", "node_name name active queue rejected"),
];

/// Tables that the guest writes, or other modules.
const ELSEWHERE: [&str; 6] = [
    "aliases",
    "component_templates",
    "count",
    "health",
    "indices",
    "templates",
];

/// Returns the list of tables.
pub(super) fn list() -> String {
    let names = TABLES.iter().map(|(name, _)| *name);
    let mut names: Vec<&str> = names.chain(ELSEWHERE).collect();
    names.sort_unstable();
    let lines = names.iter().map(|name| format!("/_cat/{name}\n"));
    format!("=^.^=\n{}", lines.collect::<String>())
}

/// Returns a table of indexes with these figures. Sizes are numbers of the unit `bytes`, or else have the unit that fits.
///
/// # Errors
/// If there is no such table.
pub(super) fn table(
    name: &str,
    indexes: &BTreeMap<String, Figures>,
    bytes: Option<&str>,
) -> Result<Table, Problem> {
    let columns = TABLES.iter().find(|(own, _)| *own == name);
    let (_, columns) = columns.ok_or_else(|| {
        Problem::illegal(format!(
            "[_cat/{name}] is not supported: [_cat] lists what is"
        ))
    })?;
    Ok(Table {
        columns: columns.split(' ').collect(),
        rows: rows_of(name, indexes, bytes)?,
    })
}

/// Returns the table of templates, those of old versions included, or of component templates.
pub(super) fn templates_table(templates: Option<&Templates>, is_component: bool) -> Table {
    let version = |body: &Value| body["version"].as_u64().map(|version| version.to_string());
    let list = |value: &Value| {
        let names = value.as_array().into_iter().flatten();
        let names = names.filter_map(Value::as_str).collect::<Vec<_>>();
        format!("[{}]", names.join(", "))
    };
    let keys = |body: &Value, key: &str| {
        let object = body.pointer(key).and_then(Value::as_object);
        object.map_or(0, serde_json::Map::len).to_string()
    };
    if is_component {
        let row = |(name, body): (&String, &Value)| {
            let num_mapped = keys(body, "/template/mappings/properties");
            let num_settings = keys(body, "/template/settings");
            let num_aliases = keys(body, "/template/aliases");
            let version = version(body).unwrap_or_default();
            vec![name.clone(), version, num_aliases, num_mapped, num_settings]
        };
        return Table {
            columns: vec![
                "name",
                "version",
                "alias_count",
                "mapping_count",
                "settings_count",
            ],
            rows: templates
                .iter()
                .flat_map(|own| own.component.iter().map(row))
                .collect(),
        };
    }
    let row = |(name, body): (&String, &Value)| {
        let order = body["priority"].as_u64().or(body["order"].as_u64());
        let order = order.unwrap_or(0).to_string();
        let version = version(body).unwrap_or_default();
        let parts = match body.get("composed_of") {
            Some(parts) => list(parts),
            None => String::new(),
        };
        vec![
            name.clone(),
            list(&body["index_patterns"]),
            order,
            version,
            parts,
        ]
    };
    let all = templates.iter();
    let all = all.flat_map(|own| own.index.iter().chain(&own.legacy));
    Table {
        columns: vec!["name", "index_patterns", "order", "version", "composed_of"],
        rows: all.map(row).collect(),
    }
}

/// Returns the rows of a table; what is not known is `-`.
fn rows_of(
    name: &str,
    indexes: &BTreeMap<String, Figures>,
    bytes: Option<&str>,
) -> Result<Vec<Vec<String>>, Problem> {
    const UNKNOWN: &str = "-";
    let size = |num: Option<u64>| match num {
        Some(num) => sized(num, bytes),
        None => Ok(UNKNOWN.to_owned()),
    };
    let row =
        |cells: &[&str]| -> Vec<String> { cells.iter().map(|cell| (*cell).to_owned()).collect() };
    Ok(match name {
        "shards" => {
            let of_index = |(name, own): (&String, &Figures)| -> Result<Vec<String>, Problem> {
                let num_docs = own.num_docs.map(|num| num.to_string());
                let num_docs = num_docs.as_deref().unwrap_or(UNKNOWN);
                let size = size(own.num_bytes)?;
                Ok(row(&[
                    name, "0", "p", "STARTED", num_docs, &size, UNKNOWN, NODE,
                ]))
            };
            indexes
                .iter()
                .map(of_index)
                .collect::<Result<_, Problem>>()?
        }
        "allocation" => {
            let num = indexes.len().to_string();
            let all = size(sum(indexes, |own| own.num_bytes))?;
            let [used, avail, total, percent, host, ip] = [UNKNOWN; 6];
            vec![row(&[
                &num, &all, used, avail, total, percent, host, ip, NODE,
            ])]
        }
        "master" => vec![row(&[NODE, UNKNOWN, UNKNOWN, NODE])],
        "nodes" => {
            let mut cells = vec![UNKNOWN; 7];
            cells.extend(["d", "*", NODE]);
            vec![row(&cells)]
        }
        _ => Vec::new(),
    })
}

/// Returns a size as Elasticsearch writes it: as a number of the wanted unit, or with one that fits.
fn sized(num_bytes: u64, unit: Option<&str>) -> Result<String, Problem> {
    const UNITS: [&str; 6] = ["b", "kb", "mb", "gb", "tb", "pb"];
    const STEP: u64 = 1024;
    if let Some(unit) = unit {
        let power = UNITS.iter().position(|own| *own == unit);
        let power = power.and_then(|power| u32::try_from(power).ok());
        let power = power.ok_or_else(|| {
            let all = UNITS.join(", ");
            Problem::illegal(format!("[bytes] is one of {all}, and not [{unit}]"))
        })?;
        return Ok((num_bytes / STEP.pow(power)).to_string());
    }
    let mut units = UNITS.iter().enumerate().rev();
    let fitting = units.find_map(|(power, unit)| {
        let one = STEP.pow(u32::try_from(power).ok()?);
        (num_bytes >= one && power > 0).then_some((one, *unit))
    });
    Ok(match fitting {
        None => format!("{num_bytes}b"),
        // One decimal, cut as Elasticsearch cuts it.
        Some((one, unit)) => {
            let tenths = u128::from(num_bytes) * 10 / u128::from(one);
            match tenths % 10 {
                0 => format!("{}{unit}", tenths / 10),
                tenth => format!("{}.{tenth}{unit}", tenths / 10),
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_the_unit_that_fits_or_the_one_that_is_wanted() {
        for (num_bytes, unit, expected) in [
            (0, None, "0b"),
            (1023, None, "1023b"),
            (1024, None, "1kb"),
            (1600, None, "1.5kb"),
            (5 << 30, None, "5gb"),
            (u64::MAX, None, "16383.9pb"),
            (1600, Some("b"), "1600"),
            (1600, Some("kb"), "1"),
        ] {
            assert_eq!(sized(num_bytes, unit).unwrap(), expected);
        }
        assert!(sized(1, Some("nibble")).is_err());
    }
}
