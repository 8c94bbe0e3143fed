//! Methods of lists and sets.

use crate::error::ScriptError;
use crate::values::{Heap, Id, Value, equals, shown};

use super::host::{Arguments, Host, holds};
use super::sort::sorted;

/// Calls a method of a list.
pub(super) fn call<'s, H: Host<'s>>(
    host: &mut H,
    (of, id): (&Value, Id),
    arguments: &Arguments<'_, 's>,
) -> Result<Value, ScriptError> {
    let heap = host.heap();
    let len = heap.items(id).len();
    Ok(match (arguments.name, arguments.passed.len()) {
        ("add", 1) => {
            let added = arguments.value(heap, 0)?;
            heap.grow(1)?;
            heap.push(id, added);
            Value::Bool(true)
        }
        ("add", 2) => {
            let place = index(heap, arguments, len + 1)?;
            let added = arguments.value(heap, 1)?;
            heap.change_items(id, |items| items.insert(place, added))?;
            Value::Null
        }
        ("get", 1) => {
            let place = index(heap, arguments, len)?;
            heap.items(id).get(place).cloned().unwrap_or(Value::Null)
        }
        ("set", 2) => {
            let place = index(heap, arguments, len)?;
            let value = arguments.value(heap, 1)?;
            let before = heap.items(id).get(place).cloned();
            heap.set_item(id, place, value)?;
            before.unwrap_or(Value::Null)
        }
        ("remove", 1) => {
            let place = index(heap, arguments, len)?;
            heap.change_items(id, |items| items.remove(place))?
        }
        ("indexOf" | "lastIndexOf", 1) => place_in(heap, id, arguments)?,
        ("sort", 0 | 1) => {
            let by = match arguments.passed.first() {
                Some(super::host::Passed::Lambda(by)) => Some(*by),
                Some(super::host::Passed::Value(value)) if !matches!(value, Value::Null) => {
                    return Err(arguments.wrong(heap, value, "java.util.Comparator"));
                }
                _ => None,
            };
            let items = heap.items(id).to_vec();
            heap.read(len)?;
            let items = sorted(host, items, by)?;
            host.heap().replace_items(id, items);
            Value::Null
        }
        ("subList", 2) => part_of(heap, id, arguments)?,
        ("replaceAll", 1) => replace_all(host, id, arguments)?,
        _ => return collection(host, (of, id), arguments),
    })
}

/// Replaces each element by what a function makes of it.
fn replace_all<'s, H: Host<'s>>(
    host: &mut H,
    id: Id,
    arguments: &Arguments<'_, 's>,
) -> Result<Value, ScriptError> {
    let by = arguments.lambda(host.heap(), 0)?;
    for place in 0..host.heap().items(id).len() {
        let item = host.heap().items(id).get(place).cloned();
        let value = host.invoke(by, &[item.unwrap_or(Value::Null)])?;
        host.heap().set_item(id, place, value)?;
    }
    Ok(Value::Null)
}

/// Returns the first or last place of a value, or -1.
fn place_in(heap: &mut Heap, id: Id, arguments: &Arguments<'_, '_>) -> Result<Value, ScriptError> {
    let wanted = arguments.value(heap, 0)?;
    let mut found = -1;
    for (place, item) in heap.items(id).to_vec().iter().enumerate() {
        if equals(heap, item, &wanted)? {
            found = i32::try_from(place).unwrap_or(i32::MAX);
            if arguments.name == "indexOf" {
                break;
            }
        }
    }
    Ok(Value::Int(found))
}

/// Returns a copy of the elements between two places.
fn part_of(heap: &mut Heap, id: Id, arguments: &Arguments<'_, '_>) -> Result<Value, ScriptError> {
    let (from, to) = (arguments.int(heap, 0)?, arguments.int(heap, 1)?);
    let len = heap.items(id).len();
    let range = usize::try_from(from).ok().zip(usize::try_from(to).ok());
    let part = range.and_then(|(from, to)| heap.items(id).get(from..to));
    let Some(part) = part.map(<[Value]>::to_vec) else {
        let reason = format!("fromIndex: {from}, toIndex: {to}, size: {len}");
        return Err(heap.error("index_out_of_bounds_exception", reason));
    };
    heap.new_items(part).map(Value::List)
}

/// Calls a method of a set.
pub(super) fn call_set<'s, H: Host<'s>>(
    host: &mut H,
    (of, id): (&Value, Id),
    arguments: &Arguments<'_, 's>,
) -> Result<Value, ScriptError> {
    let heap = host.heap();
    Ok(match (arguments.name, arguments.passed.len()) {
        ("add", 1) => {
            let added = arguments.value(heap, 0)?;
            Value::Bool(add_distinct(heap, id, added)?)
        }
        ("remove", 1) => {
            let removed = arguments.value(heap, 0)?;
            let place = place_of(heap, id, &removed)?;
            if let Some(place) = place {
                heap.change_items(id, |items| items.remove(place))?;
            }
            Value::Bool(place.is_some())
        }
        _ => return collection(host, (of, id), arguments),
    })
}

/// Calls a method that lists and sets have.
fn collection<'s, H: Host<'s>>(
    host: &mut H,
    (of, id): (&Value, Id),
    arguments: &Arguments<'_, 's>,
) -> Result<Value, ScriptError> {
    let heap = host.heap();
    Ok(match (arguments.name, arguments.passed.len()) {
        ("clear", 0) => {
            heap.change_items(id, Vec::clear)?;
            Value::Null
        }
        ("addAll", 1) => {
            let added = arguments.value(heap, 0)?;
            let (added, _) = heap.elements(&added)?;
            let num_changes = heap.num_changes(id);
            match of {
                Value::Set(_) => {
                    for element in added {
                        add_distinct(heap, id, element)?;
                    }
                }
                _ => heap.change_items(id, |items| items.extend(added))?,
            }
            Value::Bool(heap.num_changes(id) != num_changes)
        }
        ("removeAll" | "retainAll", 1) => {
            let others = arguments.value(heap, 0)?;
            let (others, _) = heap.elements(&others)?;
            let keeps = arguments.name == "retainAll";
            let mut kept = Vec::new();
            for item in heap.items(id).to_vec() {
                if is_in(heap, &others, &item)? == keeps {
                    kept.push(item);
                }
            }
            Value::Bool(keep(heap, id, kept)?)
        }
        ("removeIf", 1) => {
            let test = arguments.lambda(heap, 0)?;
            let mut kept = Vec::new();
            for item in heap.items(id).to_vec() {
                if !holds(host, test, std::slice::from_ref(&item))? {
                    kept.push(item);
                }
            }
            Value::Bool(keep(host.heap(), id, kept)?)
        }
        _ => return elements(host, of, arguments),
    })
}

/// Calls a method of whatever has elements.
pub(super) fn elements<'s, H: Host<'s>>(
    host: &mut H,
    of: &Value,
    arguments: &Arguments<'_, 's>,
) -> Result<Value, ScriptError> {
    let heap = host.heap();
    let (elements, _) = heap.elements(of)?;
    Ok(match (arguments.name, arguments.passed.len()) {
        ("size" | "getLength", 0) => Value::Int(i32::try_from(elements.len()).unwrap_or(i32::MAX)),
        ("isEmpty", 0) => Value::Bool(elements.is_empty()),
        ("contains", 1) => {
            let wanted = arguments.value(heap, 0)?;
            Value::Bool(is_in(heap, &elements, &wanted)?)
        }
        ("containsAll", 1) => {
            let wanted = arguments.value(heap, 0)?;
            for wanted in heap.elements(&wanted)?.0 {
                if !is_in(heap, &elements, &wanted)? {
                    return Ok(Value::Bool(false));
                }
            }
            Value::Bool(true)
        }
        ("join", 1) => {
            let between = arguments.text(heap, 0)?;
            join(heap, &elements, &between)?
        }
        ("stream", 0) => heap.new_items(elements).map(Value::Stream)?,
        ("asList", 0) if matches!(of, Value::List(_)) => of.clone(),
        _ => return with_functions(host, (of, elements), arguments),
    })
}

/// Calls a method that takes a function of an element.
fn with_functions<'s, H: Host<'s>>(
    host: &mut H,
    (of, elements): (&Value, Vec<Value>),
    arguments: &Arguments<'_, 's>,
) -> Result<Value, ScriptError> {
    let heap = host.heap();
    Ok(match (arguments.name, arguments.passed.len()) {
        ("forEach" | "each", 1) => {
            let each = arguments.lambda(heap, 0)?;
            for element in elements {
                host.invoke(each, &[element])?;
            }
            if arguments.name == "each" {
                of.clone()
            } else {
                Value::Null
            }
        }
        ("any" | "every", 1) => {
            let test = arguments.lambda(heap, 0)?;
            let is_any = arguments.name == "any";
            for element in elements {
                if holds(host, test, &[element])? == is_any {
                    return Ok(Value::Bool(is_any));
                }
            }
            Value::Bool(!is_any)
        }
        ("find" | "findAll", 1) => {
            let test = arguments.lambda(heap, 0)?;
            let mut found = Vec::new();
            for element in elements {
                if holds(host, test, std::slice::from_ref(&element))? {
                    if arguments.name == "find" {
                        return Ok(element);
                    }
                    found.push(element);
                }
            }
            match arguments.name {
                "find" => Value::Null,
                _ => host.heap().new_items(found).map(Value::List)?,
            }
        }
        ("collect", 1) => {
            let by = arguments.lambda(heap, 0)?;
            let mut made = Vec::new();
            for element in elements {
                made.push(host.invoke(by, &[element])?);
            }
            host.heap().new_items(made).map(Value::List)?
        }
        _ => return Err(arguments.unknown(heap, of)),
    })
}

/// Returns the place that the first argument is, which must be one below `end`.
fn index(heap: &Heap, arguments: &Arguments<'_, '_>, end: usize) -> Result<usize, ScriptError> {
    let given = arguments.int(heap, 0)?;
    match usize::try_from(given) {
        Ok(place) if place < end => Ok(place),
        _ => Err(heap.error(
            "index_out_of_bounds_exception",
            format!(
                "Index {given} out of bounds for length {}",
                end - usize::from(arguments.passed.len() == 2 && arguments.name == "add")
            ),
        )),
    }
}

fn place_of(heap: &mut Heap, id: Id, wanted: &Value) -> Result<Option<usize>, ScriptError> {
    for (place, item) in heap.items(id).to_vec().iter().enumerate() {
        if equals(heap, item, wanted)? {
            return Ok(Some(place));
        }
    }
    Ok(None)
}

fn is_in(heap: &mut Heap, list: &[Value], wanted: &Value) -> Result<bool, ScriptError> {
    for item in list {
        if equals(heap, item, wanted)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn add_distinct(heap: &mut Heap, id: Id, added: Value) -> Result<bool, ScriptError> {
    if place_of(heap, id, &added)?.is_some() {
        return Ok(false);
    }
    heap.grow(1)?;
    heap.push(id, added);
    Ok(true)
}

/// Returns elements without those that are equal to an earlier one.
pub(super) fn distinct(heap: &mut Heap, list: Vec<Value>) -> Result<Vec<Value>, ScriptError> {
    let mut distinct: Vec<Value> = Vec::new();
    for element in list {
        if !is_in(heap, &distinct, &element)? {
            distinct.push(element);
        }
    }
    Ok(distinct)
}

/// Keeps these elements of a list only; returns whether others were there.
fn keep(heap: &mut Heap, id: Id, kept: Vec<Value>) -> Result<bool, ScriptError> {
    let is_less = kept.len() < heap.items(id).len();
    heap.change_items(id, |items| *items = kept)?;
    Ok(is_less)
}

/// Joins the texts of elements.
pub(super) fn join(heap: &mut Heap, list: &[Value], between: &str) -> Result<Value, ScriptError> {
    let mut joined = String::new();
    for (ord, element) in list.iter().enumerate() {
        if ord > 0 {
            joined.push_str(between);
        }
        heap.read(between.len())?;
        joined.push_str(&shown(heap, element)?);
    }
    heap.text(joined)
}
