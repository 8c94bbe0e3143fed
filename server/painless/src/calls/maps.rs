//! Methods of maps, of what they have, and of their entries.

use std::sync::Arc;

use crate::error::ScriptError;
use crate::values::{Heap, Id, Value, View, equals};

use super::host::{Arguments, Host, holds};
use super::lists;

/// Calls a method of a map.
pub(super) fn call<'s, H: Host<'s>>(
    host: &mut H,
    (of, id): (&Value, Id),
    arguments: &Arguments<'_, 's>,
) -> Result<Value, ScriptError> {
    let heap = host.heap();
    Ok(match (arguments.name, arguments.passed.len()) {
        ("get", 1) => match key(heap, arguments)? {
            Some(key) => heap.get(id, &key),
            None => Value::Null,
        },
        ("getOrDefault", 2) => {
            let otherwise = arguments.value(heap, 1)?;
            let key = key(heap, arguments)?;
            let found = key.and_then(|key| heap.table(id)?.get(&key).cloned());
            found.unwrap_or(otherwise)
        }
        ("containsKey", 1) => {
            let key = key(heap, arguments)?;
            let found = key.and_then(|key| heap.table(id)?.get(&key));
            Value::Bool(found.is_some())
        }
        ("put" | "replace", 2) => {
            let key = arguments.text(heap, 0)?;
            let value = arguments.value(heap, 1)?;
            let has = heap
                .table(id)
                .is_some_and(|table| table.get(&key).is_some());
            match arguments.name == "put" || has {
                true => heap.put(id, key, value)?,
                false => Value::Null,
            }
        }
        ("putIfAbsent", 2) => {
            let key = arguments.text(heap, 0)?;
            let value = arguments.value(heap, 1)?;
            match heap.get(id, &key) {
                Value::Null => {
                    heap.put(id, key, value)?;
                    Value::Null
                }
                there => there,
            }
        }
        ("putAll", 1) => {
            let others = arguments.value(heap, 0)?;
            let Value::Map(other) = others else {
                return Err(arguments.wrong(heap, &others, "java.util.Map"));
            };
            for key in heap.keys(other)? {
                let value = heap.get(other, &key);
                heap.put(id, key, value)?;
            }
            Value::Null
        }
        ("remove", 1) => match key(heap, arguments)? {
            Some(key) => heap.remove(id, &key),
            None => Value::Null,
        },
        ("clear", 0) => {
            for key in heap.keys(id)? {
                heap.remove(id, &key);
            }
            Value::Null
        }
        _ => return whole(host, (of, id), arguments),
    })
}

/// Calls a method about all of a map.
fn whole<'s, H: Host<'s>>(
    host: &mut H,
    (of, id): (&Value, Id),
    arguments: &Arguments<'_, 's>,
) -> Result<Value, ScriptError> {
    let heap = host.heap();
    let num = heap.table(id).map_or(0, |table| table.len());
    Ok(match (arguments.name, arguments.passed.len()) {
        ("size", 0) => Value::Int(i32::try_from(num).unwrap_or(i32::MAX)),
        ("isEmpty", 0) => Value::Bool(num == 0),
        ("keySet", 0) => Value::View(View::Keys, id),
        ("values", 0) => Value::View(View::Values, id),
        ("entrySet", 0) => Value::View(View::Entries, id),
        ("containsValue", 1) => {
            let wanted = arguments.value(heap, 0)?;
            for key in heap.keys(id)? {
                let value = heap.get(id, &key);
                if equals(heap, &value, &wanted)? {
                    return Ok(Value::Bool(true));
                }
            }
            Value::Bool(false)
        }
        _ => return with_functions(host, (of, id), arguments),
    })
}

/// Calls a method of a map that takes a function.
fn with_functions<'s, H: Host<'s>>(
    host: &mut H,
    (of, id): (&Value, Id),
    arguments: &Arguments<'_, 's>,
) -> Result<Value, ScriptError> {
    let heap = host.heap();
    Ok(match (arguments.name, arguments.passed.len()) {
        ("forEach" | "each", 1) => {
            let each = arguments.lambda(heap, 0)?;
            for key in heap.keys(id)? {
                let value = host.heap().get(id, &key);
                host.invoke(each, &[Value::Text(key), value])?;
            }
            if arguments.name == "each" {
                of.clone()
            } else {
                Value::Null
            }
        }
        ("computeIfAbsent", 2) => {
            let key = arguments.text(heap, 0)?;
            let make = arguments.lambda(heap, 1)?;
            match heap.get(id, &key) {
                Value::Null => {
                    let value = host.invoke(make, &[Value::Text(Arc::clone(&key))])?;
                    if !matches!(value, Value::Null) {
                        host.heap().put(id, key, value.clone())?;
                    }
                    value
                }
                there => there,
            }
        }
        ("merge", 3) => {
            let key = arguments.text(heap, 0)?;
            let value = arguments.value(heap, 1)?;
            let both = arguments.lambda(heap, 2)?;
            let merged = match heap.get(id, &key) {
                Value::Null => value,
                there => host.invoke(both, &[there, value])?,
            };
            match merged {
                Value::Null => drop(host.heap().remove(id, &key)),
                _ => drop(host.heap().put(id, key, merged.clone())?),
            }
            merged
        }
        _ => return Err(arguments.unknown(heap, of)),
    })
}

/// Returns the key that is the first argument; nothing is stored under a value that is no text.
fn key(heap: &Heap, arguments: &Arguments<'_, '_>) -> Result<Option<Arc<str>>, ScriptError> {
    match arguments.value(heap, 0)? {
        Value::Text(key) => Ok(Some(key)),
        _ => Ok(None),
    }
}

/// Calls a method of a map's keys, values or entries.
pub(super) fn call_view<'s, H: Host<'s>>(
    host: &mut H,
    (of, view, id): (&Value, View, Id),
    arguments: &Arguments<'_, 's>,
) -> Result<Value, ScriptError> {
    let heap = host.heap();
    match (arguments.name, arguments.passed.len()) {
        ("removeIf", 1) => {
            let test = arguments.lambda(heap, 0)?;
            let keys = heap.keys(id)?;
            let (elements, _) = heap.elements(of)?;
            let mut is_any = false;
            for (key, element) in keys.into_iter().zip(elements) {
                if holds(host, test, &[element])? {
                    host.heap().remove(id, &key);
                    is_any = true;
                }
            }
            Ok(Value::Bool(is_any))
        }
        ("remove", 1) if view == View::Keys => {
            let Some(key) = key(heap, arguments)? else {
                return Ok(Value::Bool(false));
            };
            let has = heap
                .table(id)
                .is_some_and(|table| table.get(&key).is_some());
            heap.remove(id, &key);
            Ok(Value::Bool(has))
        }
        ("removeAll" | "retainAll", 1) if view == View::Keys => {
            let others = arguments.value(heap, 0)?;
            let (others, _) = heap.elements(&others)?;
            let keeps = arguments.name == "retainAll";
            let mut is_any = false;
            for key in heap.keys(id)? {
                let mut is_in = false;
                for other in &others {
                    is_in = is_in || equals(heap, other, &Value::Text(Arc::clone(&key)))?;
                }
                if is_in != keeps {
                    heap.remove(id, &key);
                    is_any = true;
                }
            }
            Ok(Value::Bool(is_any))
        }
        _ => lists::elements(host, of, arguments),
    }
}

/// Calls a method of an entry.
pub(super) fn call_entry(
    heap: &mut Heap,
    (of, id, key): (&Value, Id, &Arc<str>),
    arguments: &Arguments<'_, '_>,
) -> Result<Value, ScriptError> {
    match (arguments.name, arguments.passed.len()) {
        ("getKey", 0) => Ok(Value::Text(Arc::clone(key))),
        ("getValue", 0) => Ok(heap.get(id, key)),
        ("setValue", 1) => {
            let value = arguments.value(heap, 0)?;
            heap.put(id, Arc::clone(key), value)
        }
        _ => Err(arguments.unknown(heap, of)),
    }
}
