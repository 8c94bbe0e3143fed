//! Entries of the partial-result cache: a checksum, then key and value in postcard.

use canter_protocol::ByteClass;
use canter_split_format::checksum64;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::exchange::Exchange;

/// Larger entries are not offered, because they would evict many that are worth more.
const MAX_ENTRY_BYTES: usize = 4 << 20;

/// Looks up an entry in the host's cache. Bytes that are not this guest's entry for exactly this
/// key are a miss.
pub(crate) async fn look_up<T: DeserializeOwned>(exchange: &Exchange, key: &str) -> Option<T> {
    let bytes = exchange.look_up(key, ByteClass::PartialResult).await?;
    decode(key, &bytes)
}

/// Offers an entry to the host's cache.
pub(crate) fn store<T: Serialize>(exchange: &Exchange, key: &str, value: &T) {
    if let Some(bytes) = encode(key, value) {
        exchange.store(key, bytes, ByteClass::PartialResult);
    }
}

/// Returns `None` if the value is too large to be worth caching.
fn encode<T: Serialize>(key: &str, value: &T) -> Option<Vec<u8>> {
    let body = postcard::to_allocvec(&(key, value)).ok()?;
    let mut bytes = checksum64(&body).to_le_bytes().to_vec();
    bytes.extend(body);
    (bytes.len() <= MAX_ENTRY_BYTES).then_some(bytes)
}

fn decode<T: DeserializeOwned>(key: &str, bytes: &[u8]) -> Option<T> {
    let (checksum, body) = bytes.split_first_chunk::<8>()?;
    if u64::from_le_bytes(*checksum) != checksum64(body) {
        return None;
    }
    let (found, value): (String, T) = postcard::from_bytes(body).ok()?;
    (found == key).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_reads_back_under_its_key_only() {
        let value = (7u64, "seven".to_owned());
        let bytes = encode("split/a", &value).unwrap();
        assert_eq!(decode::<(u64, String)>("split/a", &bytes), Some(value));
        assert_eq!(decode::<(u64, String)>("split/b", &bytes), None);
    }

    #[test]
    fn any_damage_is_a_miss() {
        let bytes = encode("k", &(7u64, "seven".to_owned())).unwrap();
        for place in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[place] ^= 0x20;
            assert_eq!(decode::<(u64, String)>("k", &damaged), None, "byte {place}");
            assert_eq!(decode::<(u64, String)>("k", &bytes[..place]), None);
        }
    }

    #[test]
    fn what_is_too_large_is_not_offered() {
        let value = vec![0u8; MAX_ENTRY_BYTES];
        assert_eq!(encode("k", &value), None);
    }
}
