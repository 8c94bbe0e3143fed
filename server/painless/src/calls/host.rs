//! What a method is called with, and what it needs of the run.

use std::sync::Arc;

use crate::ast::Lambda;
use crate::error::ScriptError;
use crate::values::{Heap, Value};

/// An argument of a method.
pub(crate) enum Passed<'s> {
    Value(Value),
    Lambda(&'s Lambda),
}

/// The run that calls a method.
pub(crate) trait Host<'s> {
    fn heap(&mut self) -> &mut Heap;

    /// Returns the time in milliseconds since 1970.
    fn now_ms(&self) -> i64;

    /// Calls a function.
    fn invoke(&mut self, lambda: &'s Lambda, arguments: &[Value]) -> Result<Value, ScriptError>;
}

/// The arguments of a method.
pub(super) struct Arguments<'p, 's> {
    pub(super) name: &'p str,
    pub(super) passed: &'p [Passed<'s>],
}

impl<'s> Arguments<'_, 's> {
    /// Returns the error of a method that a value does not have.
    pub(super) fn unknown(&self, heap: &Heap, of: &Value) -> ScriptError {
        heap.illegal(format!(
            "dynamic method [{}, {}/{}] not found: it may be one that is not supported in scripts here",
            of.class(),
            self.name,
            self.passed.len()
        ))
    }

    pub(super) fn value(&self, heap: &Heap, place: usize) -> Result<Value, ScriptError> {
        match self.passed.get(place) {
            Some(Passed::Value(value)) => Ok(value.clone()),
            _ => Err(heap.illegal(format!("[{}] takes no function here", self.name))),
        }
    }

    pub(super) fn lambda(&self, heap: &Heap, place: usize) -> Result<&'s Lambda, ScriptError> {
        match self.passed.get(place) {
            Some(Passed::Lambda(lambda)) => Ok(lambda),
            _ => Err(heap.illegal(format!(
                "[{}] takes a function, as in [x -> x == 1]",
                self.name
            ))),
        }
    }

    pub(super) fn text(&self, heap: &Heap, place: usize) -> Result<Arc<str>, ScriptError> {
        match self.value(heap, place)? {
            Value::Text(text) => Ok(text),
            other => Err(self.wrong(heap, &other, "java.lang.String")),
        }
    }

    /// Returns a whole number that fits an int.
    pub(super) fn int(&self, heap: &Heap, place: usize) -> Result<i32, ScriptError> {
        match self.value(heap, place)? {
            Value::Int(value) => Ok(value),
            other => Err(self.wrong(heap, &other, "int")),
        }
    }

    pub(super) fn double(&self, heap: &Heap, place: usize) -> Result<f64, ScriptError> {
        match self.value(heap, place)? {
            Value::Int(value) => Ok(f64::from(value)),
            Value::Long(value) => Ok(value as f64),
            Value::Float(value) => Ok(f64::from(value)),
            Value::Double(value) => Ok(value),
            other => Err(self.wrong(heap, &other, "double")),
        }
    }

    pub(super) fn wrong(&self, heap: &Heap, value: &Value, wanted: &str) -> ScriptError {
        let kind = match value {
            Value::Null => "null_pointer_exception",
            _ => "class_cast_exception",
        };
        let class = value.class();
        heap.error(
            kind,
            format!("[{}]: Cannot cast from [{class}] to [{wanted}].", self.name),
        )
    }
}

/// Returns whether a function says yes.
pub(super) fn holds<'s, H: Host<'s>>(
    host: &mut H,
    lambda: &'s Lambda,
    arguments: &[Value],
) -> Result<bool, ScriptError> {
    let value = host.invoke(lambda, arguments)?;
    match value {
        Value::Bool(is_true) => Ok(is_true),
        other => Err(host.heap().error(
            "class_cast_exception",
            format!("Cannot cast from [{}] to [boolean].", other.class()),
        )),
    }
}
