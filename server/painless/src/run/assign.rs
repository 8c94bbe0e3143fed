//! Assignments, and the places that they write to.

use std::sync::Arc;

use crate::ast::{Expr, Kind, Operator};
use crate::error::ScriptError;
use crate::values::{Id, Type, Value, cast};

use super::machine::Machine;

/// What can be assigned to.
pub(super) enum Place {
    Variable(usize),
    Entry(Id, Arc<str>),
    Element(Id, usize),
}

impl<'s> Machine<'s> {
    pub(super) fn assign(&mut self, expr: &'s Expr) -> Result<Value, ScriptError> {
        let Kind::Assign {
            target,
            operator,
            value,
        } = &expr.kind
        else {
            return Ok(Value::Null);
        };
        let place = self.place(target)?;
        let Some(operator) = operator else {
            let value = self.value(value)?;
            self.heap.at = expr.at;
            return self.write(&place, value);
        };
        let before = self.read(&place);
        let value = self.value(value)?;
        self.heap.at = expr.at;
        let after = self.binary(*operator, &before, &value)?;
        let after = self.narrowed(&place, after)?;
        self.write(&place, after)
    }

    pub(super) fn step(&mut self, expr: &'s Expr) -> Result<Value, ScriptError> {
        let Kind::Step {
            target,
            by,
            is_prefix,
        } = &expr.kind
        else {
            return Ok(Value::Null);
        };
        let place = self.place(target)?;
        let before = self.read(&place);
        self.heap.at = expr.at;
        if matches!(before, Value::Text(_)) {
            let reason = "Cannot apply [++] or [--] to type [java.lang.String].";
            return Err(self.heap.error("class_cast_exception", reason));
        }
        let after = self.binary(Operator::Add, &before, &Value::Int(*by))?;
        let after = self.narrowed(&place, after)?;
        let written = self.write(&place, after)?;
        Ok(if *is_prefix { written } else { before })
    }

    /// Converts what an operator made of a variable back to the type of that.
    fn narrowed(&self, place: &Place, value: Value) -> Result<Value, ScriptError> {
        match place {
            Place::Variable(variable) => {
                let of = self.types.get(*variable).copied().unwrap_or(Type::Def);
                cast(&self.heap, value, of)
            }
            _ => Ok(value),
        }
    }

    fn place(&mut self, target: &'s Expr) -> Result<Place, ScriptError> {
        match &target.kind {
            Kind::Local(variable) => Ok(Place::Variable(*variable)),
            Kind::Field { of, name, .. } => {
                let of = self.value(of)?;
                self.heap.at = target.at;
                match of {
                    Value::Map(id) => Ok(Place::Entry(id, Arc::clone(name))),
                    Value::List(_) if name.parse::<i32>().is_ok() => {
                        let index = Value::Int(name.parse().unwrap_or(0));
                        self.element(&of, &index)
                    }
                    Value::Null => Err(self.heap.error(
                        "null_pointer_exception",
                        format!("cannot access method/field [{name}] from a null def reference"),
                    )),
                    other => Err(self.heap.illegal(format!(
                        "dynamic setter [{}, {name}] not found",
                        other.class()
                    ))),
                }
            }
            Kind::Index(of, index) => {
                let of = self.value(of)?;
                let index = self.value(index)?;
                self.heap.at = target.at;
                self.element(&of, &index)
            }
            _ => Err(self.heap.illegal("this cannot be assigned to")),
        }
    }

    /// Returns the place of an element. Negative numbers count from the end of a list.
    pub(super) fn element(&self, of: &Value, index: &Value) -> Result<Place, ScriptError> {
        let id = match of {
            Value::Map(id) => return Ok(Place::Entry(*id, self.key(index)?)),
            Value::List(id) => *id,
            Value::Null => {
                return Err(self.heap.error(
                    "null_pointer_exception",
                    "cannot access an element of a null def reference",
                ));
            }
            other => {
                let class = other.class();
                let reason =
                    format!("Attempting to address a non-array-like type [{class}] as an array.");
                return Err(self.heap.illegal(reason));
            }
        };
        let Value::Int(index) = index else {
            let reason = format!("Cannot cast from [{}] to [int].", index.class());
            return Err(self.heap.error("class_cast_exception", reason));
        };
        let len = self.heap.items(id).len();
        let given = i64::from(*index);
        let from_start = match given < 0 {
            true => usize::try_from(given + i64::try_from(len).unwrap_or(i64::MAX)),
            false => usize::try_from(given),
        };
        match from_start {
            Ok(place) if place < len => Ok(Place::Element(id, place)),
            _ => Err(self.heap.error(
                "index_out_of_bounds_exception",
                format!("Index {index} out of bounds for length {len}"),
            )),
        }
    }

    pub(super) fn read(&self, place: &Place) -> Value {
        match place {
            Place::Variable(variable) => {
                let value = self.variables.get(*variable);
                value.cloned().unwrap_or(Value::Null)
            }
            Place::Entry(id, key) => self.heap.get(*id, key),
            Place::Element(id, index) => {
                let value = self.heap.items(*id).get(*index);
                value.cloned().unwrap_or(Value::Null)
            }
        }
    }

    fn write(&mut self, place: &Place, value: Value) -> Result<Value, ScriptError> {
        match place {
            Place::Variable(variable) => {
                self.set(*variable, value)?;
                return Ok(self.read(place));
            }
            Place::Entry(id, key) => {
                self.heap.put(*id, Arc::clone(key), value.clone())?;
            }
            Place::Element(id, index) => self.heap.set_item(*id, *index, value.clone())?,
        }
        Ok(value)
    }
}
