//! The tables of `_cat` that the guest does not write.

use std::collections::BTreeMap;

use super::figures::{Figures, sum};
use super::table::Table;
use crate::requests::Problem;

/// Name of the only node.
pub(super) const NODE: &str = "canter";

/// Tables, with their columns. Those that have no rows are of things that there are not.
const TABLES: [(&str, &str); 11] = [
    (
        "allocation",
        "shards disk.indices disk.used disk.avail disk.total disk.percent host ip node",
    ),
    ("master", "id host ip node"),
    (
        "nodes",
        "ip heap.percent ram.percent cpu load_1m load_5m load_15m node.role master name",
    ),
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
const ELSEWHERE: [&str; 4] = ["aliases", "count", "health", "indices"];

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
