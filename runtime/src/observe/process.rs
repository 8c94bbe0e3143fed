//! Figures of the operating system about this process.

/// Returns the resident memory in bytes, if `/proc` has it (Linux).
pub(super) fn resident_bytes() -> Option<u64> {
    resident_of(&std::fs::read_to_string("/proc/self/status").ok()?)
}

/// Parses `VmRSS: 1234 kB`, which unlike `statm` does not depend on the page length.
fn resident_of(status: &str) -> Option<u64> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resident_memory_is_read_from_the_status() {
        let status = "Name:\tcanter\nVmHWM:\t  300 kB\nVmRSS:\t   200 kB\nThreads:\t4\n";
        assert_eq!(resident_of(status), Some(200 * 1024));
        assert_eq!(resident_of("VmRSS:\t lots kB"), None);
        assert_eq!(resident_of(""), None);
    }
}
