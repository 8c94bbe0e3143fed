//! Requests in JSON, whose records are located without decoding them.
//!
//! A body that is no request is refused. Other deviations from the protocol are ignored, since some
//! exporters have them.

use std::borrow::Cow;
use std::fmt;

use serde::de::{
    DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use serde_json::value::RawValue;

use super::LogsError;
use super::documents::{Documents, Encoded, Shared};
use super::nesting::{AROUND_RECORD, AROUND_RESOURCE, AROUND_SCOPE, check};

/// Reads a request.
///
/// # Errors
/// The request cannot be parsed, or exceeds a limit.
pub(super) fn read(body: &[u8], documents: &mut Documents<'_>) -> Result<(), LogsError> {
    let body = std::str::from_utf8(body).map_err(LogsError::malformed)?;
    let request: &RawValue = serde_json::from_str(body).map_err(LogsError::malformed)?;
    let request = members(request, ["resourceLogs"])?;
    match request {
        Some(request) if request.is_empty => Ok(()),
        Some(Members {
            values: [Some(resource_logs)],
            ..
        }) => each_element(resource_logs, &mut |resource_logs| {
            read_resource(resource_logs, documents)
        }),
        // A resource, for example, would pass as an empty request.
        _ => Err(LogsError::malformed("it has no resourceLogs")),
    }
}

fn read_resource(resource_logs: &RawValue, documents: &mut Documents<'_>) -> Result<(), LogsError> {
    let names = ["resource", "scopeLogs", "instrumentationLibraryLogs"];
    let Some(resource_logs) = members(resource_logs, names)? else {
        return Ok(());
    };
    let [resource, scope_logs, before_0_15] = resource_logs.values;
    let resource = part(resource, AROUND_RESOURCE);
    // The second name is that of versions before 0.15 of the protocol.
    let scope_logs = scope_logs.filter(|value| value.get() != "null");
    let Some(scope_logs) = scope_logs.or(before_0_15) else {
        return Ok(());
    };
    each_element(scope_logs, &mut |scope_logs| {
        let Some(scope_logs) = members(scope_logs, ["scope", "logRecords"])? else {
            return Ok(());
        };
        let [scope, Some(records)] = scope_logs.values else {
            return Ok(());
        };
        let scope = part(scope, AROUND_SCOPE);
        let mut shared = Shared::new(&resource, &scope);
        each_element(records, &mut |record| {
            let record = record.get().as_bytes();
            documents.add(&mut shared, record.len(), |request| {
                let checked = check(record, AROUND_RECORD);
                request.extend_from_slice(record);
                Ok(checked)
            })
        })
    })
}

fn part(value: Option<&RawValue>, num_around: usize) -> Encoded<'_> {
    let value = value.map_or("null", RawValue::get).as_bytes();
    check(value, num_around).map(|()| Cow::Borrowed(value))
}

/// Selected members of an object. Of several members with the same name, the last one counts.
struct Members<'b, const N: usize> {
    values: [Option<&'b RawValue>; N],
    is_empty: bool,
}

/// Returns the members with these names, if the value is an object.
fn members<'b, const N: usize>(
    value: &'b RawValue,
    names: [&'static str; N],
) -> Result<Option<Members<'b, N>>, LogsError> {
    if !value.get().starts_with('{') {
        return Ok(None);
    }
    let mut reader = serde_json::Deserializer::from_str(value.get());
    let members = reader.deserialize_map(Names(names));
    members.map(Some).map_err(LogsError::malformed)
}

/// Visitor that reads the members with these names.
struct Names<const N: usize>([&'static str; N]);

impl<'b, const N: usize> Visitor<'b> for Names<N> {
    type Value = Members<'b, N>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'b>>(self, mut object: A) -> Result<Self::Value, A::Error> {
        let mut members = Members {
            values: [None; N],
            is_empty: true,
        };
        while let Some(place) = object.next_key_seed(Place(&self.0))? {
            members.is_empty = false;
            match place.and_then(|place| members.values.get_mut(place)) {
                Some(value) => *value = Some(object.next_value()?),
                None => drop(object.next_value::<IgnoredAny>()?),
            }
        }
        Ok(members)
    }
}

/// Seed that reads a key as its index among these names.
struct Place<'n>(&'n [&'static str]);

impl<'b> DeserializeSeed<'b> for Place<'_> {
    type Value = Option<usize>;

    fn deserialize<D: Deserializer<'b>>(self, name: D) -> Result<Self::Value, D::Error> {
        name.deserialize_str(self)
    }
}

impl Visitor<'_> for Place<'_> {
    type Value = Option<usize>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a name")
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(self.0.iter().position(|name| *name == text))
    }
}

/// Callback for an element of an array.
type Take<'t, 'b> = dyn FnMut(&'b RawValue) -> Result<(), LogsError> + 't;

/// Passes each element of an array to `take`, without collecting them: there may be too many.
/// Ignores other values.
fn each_element<'b>(value: &'b RawValue, take: &mut Take<'_, 'b>) -> Result<(), LogsError> {
    if !value.get().starts_with('[') {
        return Ok(());
    }
    let mut stopped = None;
    let elements = Elements {
        take,
        stopped: &mut stopped,
    };
    let mut reader = serde_json::Deserializer::from_str(value.get());
    let read = reader.deserialize_seq(elements);
    match stopped {
        Some(error) => Err(error),
        None => read.map_err(LogsError::malformed),
    }
}

struct Elements<'e, 't, 'b> {
    take: &'e mut Take<'t, 'b>,
    /// Error returned by the callback. Errors of the JSON reader only carry text.
    stopped: &'e mut Option<LogsError>,
}

impl<'b> Visitor<'b> for Elements<'_, '_, 'b> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'b>>(self, mut array: A) -> Result<(), A::Error> {
        while let Some(element) = array.next_element()? {
            if let Err(error) = (self.take)(element) {
                *self.stopped = Some(error);
                return Err(A::Error::custom("stopped"));
            }
        }
        Ok(())
    }
}
