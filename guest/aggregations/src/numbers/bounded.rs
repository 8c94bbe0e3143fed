//! List that is decoded with a maximum length, and whose memory follows the items read rather than
//! the length that the input claims.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};

/// Maximum number of items to allocate for before reading them.
const TRUSTED: usize = 64;

/// List of at most `MAX` items; more are a decoding error.
pub(super) struct Bounded<T, const MAX: usize>(pub(super) Vec<T>);

impl<'de, T: Deserialize<'de>, const MAX: usize> Deserialize<'de> for Bounded<T, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Items(PhantomData))
    }
}

struct Items<T, const MAX: usize>(PhantomData<T>);

impl<'de, T: Deserialize<'de>, const MAX: usize> Visitor<'de> for Items<T, MAX> {
    type Value = Bounded<T, MAX>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list of at most {MAX} items")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::with_capacity(seq.size_hint().unwrap_or(0).min(TRUSTED));
        while let Some(item) = seq.next_element()? {
            if items.len() == MAX {
                return Err(A::Error::custom(format_args!(
                    "a list of more than {MAX} items"
                )));
            }
            items.push(item);
        }
        Ok(Bounded(items))
    }
}
