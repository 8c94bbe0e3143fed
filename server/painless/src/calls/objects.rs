//! Which methods and fields a value has, by its class.

use std::sync::Arc;

use crate::error::ScriptError;
use crate::values::{Heap, Type, Value, View, equals, shown};

use super::host::{Arguments, Host, Passed};
use super::{lists, maps, numbers, streams, texts};

/// Calls a method of a value.
pub(crate) fn call<'s, H: Host<'s>>(
    host: &mut H,
    of: &Value,
    name: &str,
    passed: &[Passed<'s>],
) -> Result<Value, ScriptError> {
    let arguments = Arguments { name, passed };
    let heap = host.heap();
    heap.spend(1)?;
    if matches!(of, Value::Null) {
        return Err(heap.error(
            "null_pointer_exception",
            format!("cannot access method/field [{name}] from a null def reference"),
        ));
    }
    match (name, passed.len()) {
        ("toString", 0) => {
            let text = shown(heap, of)?;
            return heap.text(text);
        }
        ("equals", 1) => {
            let other = arguments.value(heap, 0)?;
            return equals(heap, of, &other).map(Value::Bool);
        }
        _ => {}
    }
    match of {
        Value::Text(text) => texts::call(heap, text, &arguments),
        Value::List(id) => lists::call(host, (of, *id), &arguments),
        Value::Set(id) => lists::call_set(host, (of, *id), &arguments),
        Value::Map(id) => maps::call(host, (of, *id), &arguments),
        Value::View(view, id) => maps::call_view(host, (of, *view, *id), &arguments),
        Value::Entry(id, key) => maps::call_entry(heap, (of, *id, key), &arguments),
        Value::Stream(id) => streams::call(host, (of, *id), &arguments),
        Value::Figures(kind, id) => streams::of_figures(host.heap(), (of, *kind, *id), &arguments),
        Value::Optional(id) => streams::of_optional(host.heap(), (of, *id), &arguments),
        _ => numbers::call(heap, of, &arguments),
    }
}

/// Returns a field of a value.
pub(crate) fn member(heap: &mut Heap, of: &Value, name: &str) -> Result<Value, ScriptError> {
    let int = |len: usize| Value::Int(i32::try_from(len).unwrap_or(i32::MAX));
    match (of, name) {
        (Value::Map(id), _) => Ok(heap.get(*id, name)),
        (Value::List(id) | Value::Set(id), "length") => Ok(int(heap.items(*id).len())),
        (Value::List(id) | Value::Set(id), "empty") => Ok(Value::Bool(heap.items(*id).is_empty())),
        (Value::List(id), _) if name.parse::<u32>().is_ok() => {
            let index: usize = name.parse().unwrap_or(usize::MAX);
            let items = heap.items(*id);
            items.get(index).cloned().ok_or_else(|| {
                let reason = format!("Index {name} out of bounds for length {}", items.len());
                heap.error("index_out_of_bounds_exception", reason)
            })
        }
        (Value::Text(text), "empty") => Ok(Value::Bool(text.is_empty())),
        (Value::Entry(_, key), "key") => Ok(Value::Text(Arc::clone(key))),
        (Value::Entry(id, key), "value") => Ok(heap.get(*id, key)),
        (Value::Null, _) => Err(heap.error(
            "null_pointer_exception",
            format!("cannot access method/field [{name}] from a null def reference"),
        )),
        _ => Err(heap.illegal(format!("dynamic getter [{}, {name}] not found", of.class()))),
    }
}

/// Makes an object of a class.
pub(crate) fn new_object(
    heap: &mut Heap,
    of: Type,
    arguments: &[Value],
) -> Result<Value, ScriptError> {
    let elements = match arguments {
        [] | [Value::Int(_)] => Vec::new(),
        [Value::Map(id)] if of == Type::Map => {
            let keys = heap.keys(*id)?;
            let entries = keys.into_iter().map(|key| {
                let value = heap.get(*id, &key);
                (key, value)
            });
            let entries = entries.collect();
            return heap.new_table(entries).map(Value::Map);
        }
        [list @ (Value::List(_) | Value::Set(_) | Value::View(View::Keys | View::Values, _))] => {
            heap.elements(list)?.0
        }
        _ => return Err(heap.illegal("an object of a class cannot be made of these arguments")),
    };
    match of {
        Type::Map
            if arguments
                .iter()
                .all(|argument| matches!(argument, Value::Int(_))) =>
        {
            heap.new_table(Vec::new()).map(Value::Map)
        }
        Type::List => heap.new_items(elements).map(Value::List),
        Type::Set => {
            let distinct = lists::distinct(heap, elements)?;
            heap.new_items(distinct).map(Value::Set)
        }
        _ => Err(heap.illegal("an object of a class cannot be made of these arguments")),
    }
}
