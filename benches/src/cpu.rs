//! CPU time, from Linux's `/proc`.

use anyhow::{Context, Result};

/// Returns the user and system time of this process in seconds, including ended threads, with a
/// resolution of a hundredth.
pub fn process_cpu_seconds() -> Result<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").context("there is no /proc")?;
    let (_, after_name) = stat
        .rsplit_once(')')
        .context("/proc/self/stat has no name")?;
    let fields: Vec<&str> = after_name.split_whitespace().collect();
    let ticks = |place: usize| -> Result<u64> {
        let field = fields.get(place).context("/proc/self/stat is too short")?;
        Ok(field.parse()?)
    };
    Ok((ticks(11)? + ticks(12)?) as f64 / 100.0)
}
