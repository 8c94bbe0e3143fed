//! Budget and block length of a cache for each class of bytes, as plain data.

use canter_protocol::{ByteClass, SearchError};
use serde::Serialize;
use thiserror::Error;

/// Minimum block length: 64 KiB.
pub const MIN_BLOCK_LEN: u64 = 64 << 10;
/// Maximum block length: 4 MiB.
pub const MAX_BLOCK_LEN: u64 = 4 << 20;

/// Budget of [`CacheOptions::memory`]: 256 MiB.
const MEMORY_BYTES: u64 = 256 << 20;
/// Budget of [`CacheOptions::disk`]: 4 GiB.
const DISK_BYTES: u64 = 4 << 30;

/// Reason for which options are invalid, with the valid values.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct InvalidOptions(pub String);

impl From<InvalidOptions> for SearchError {
    fn from(options: InvalidOptions) -> Self {
        Self::invalid(options.0)
    }
}

/// Budget and block length of one class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ClassOptions {
    /// Maximum size in bytes, including the cache's own overhead; 0 disables the class.
    pub max_bytes: u64,
    /// Block length in bytes: a power of two from [`MIN_BLOCK_LEN`] to [`MAX_BLOCK_LEN`]. Objects
    /// are cut into blocks at its multiples.
    pub block_len: u64,
}

/// Budgets and block lengths of all classes. Each class keeps to its own budget, so that a scan of
/// columns never evicts the dictionaries that every query reads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CacheOptions {
    classes: [ClassOptions; ByteClass::ALL.len()],
}

impl CacheOptions {
    /// Divides `max_bytes` among the classes in proportions that suit logs.
    pub fn with_max_bytes(max_bytes: u64) -> Self {
        Self {
            classes: ByteClass::ALL.map(|class| {
                let (percent, block_len) = defaults_of(class);
                ClassOptions {
                    max_bytes: max_bytes / 100 * percent,
                    block_len,
                }
            }),
        }
    }

    /// Returns the defaults for memory: 256 MiB.
    pub fn memory() -> Self {
        Self::with_max_bytes(MEMORY_BYTES)
    }

    /// Returns the defaults for a disk: 4 GiB.
    pub fn disk() -> Self {
        Self::with_max_bytes(DISK_BYTES)
    }

    /// Replaces the options of one class.
    pub fn with_class(mut self, class: ByteClass, options: ClassOptions) -> Self {
        self.classes[class.ord()] = options;
        self
    }

    /// Returns the options of one class.
    pub fn class(&self, class: ByteClass) -> ClassOptions {
        self.classes[class.ord()]
    }

    /// Returns the sum of all budgets in bytes.
    pub fn max_bytes(&self) -> u64 {
        self.classes
            .iter()
            .fold(0, |sum, class| sum.saturating_add(class.max_bytes))
    }

    /// Validates the options: a block length may be out of range, or a budget too small to be
    /// useful.
    pub fn validate(&self) -> Result<(), InvalidOptions> {
        for class in ByteClass::ALL {
            let ClassOptions {
                max_bytes,
                block_len,
            } = self.class(class);
            let name = class.as_str();
            if !block_len.is_power_of_two() || !(MIN_BLOCK_LEN..=MAX_BLOCK_LEN).contains(&block_len)
            {
                return Err(InvalidOptions(format!(
                    "a cache block of class {name} cannot have {block_len} bytes; give a power of \
                     two from {MIN_BLOCK_LEN} to {MAX_BLOCK_LEN}"
                )));
            }
            if max_bytes != 0 && max_bytes < 2 * block_len {
                return Err(InvalidOptions(format!(
                    "a cache budget of {max_bytes} bytes for class {name} does not hold two blocks \
                     of {block_len} bytes; give the cache more, or the class 0 to cache none of it"
                )));
            }
        }
        Ok(())
    }
}

/// Returns a class's share in percent and its block length. Columns are read in long runs, so
/// longer blocks halve the work for each byte. All other classes are read at scattered places,
/// where longer blocks are waste.
fn defaults_of(class: ByteClass) -> (u64, u64) {
    match class {
        ByteClass::Manifest => (4, 64 << 10),
        ByteClass::Head => (16, 64 << 10),
        ByteClass::Dictionary => (16, 64 << 10),
        ByteClass::Postings => (20, 64 << 10),
        ByteClass::FastField => (24, 256 << 10),
        ByteClass::DocStore => (14, 64 << 10),
        ByteClass::PartialResult => (6, 64 << 10),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_valid_and_the_classes_share_the_whole() {
        for options in [CacheOptions::memory(), CacheOptions::disk()] {
            options.validate().unwrap();
        }
        assert_eq!(
            CacheOptions::with_max_bytes(100 << 20).max_bytes(),
            100 << 20
        );
    }

    #[test]
    fn what_cannot_work_is_refused_by_name() {
        let check = |max_bytes, block_len, expect: &str| {
            let class = ClassOptions {
                max_bytes,
                block_len,
            };
            let options = CacheOptions::disk().with_class(ByteClass::Postings, class);
            let message = options
                .validate()
                .err()
                .map(|error| error.0)
                .unwrap_or_default();
            assert!(message.contains(expect), "{message}");
            assert_eq!(message.is_empty(), expect.is_empty(), "{message}");
        };
        check(1 << 30, 32 << 10, "of class postings");
        check(1 << 30, 8 << 20, "of class postings");
        check(1 << 30, 65_537, "of class postings");
        check(1 << 30, 0, "of class postings");
        check(100_000, 64 << 10, "100000 bytes for class postings");
        check(0, 64 << 10, "");
        check(8 << 20, 4 << 20, "");
    }
}
