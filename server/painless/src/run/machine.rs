//! The state of a run, and functions that methods call.

use crate::ast::{Body, Lambda, Statement};
use crate::calls::Host;
use crate::error::ScriptError;
use crate::limits::MAX_RUNNING;
use crate::values::{Heap, Type, Value, convert};

/// What is done after a statement.
pub(super) enum Flow {
    Next,
    Break,
    Continue,
    Return(Value),
}

/// A run of a script.
pub(crate) struct Machine<'s> {
    pub(super) heap: Heap,
    pub(super) types: &'s [Type],
    pub(super) variables: Vec<Value>,
    pub(super) ctx: Value,
    pub(super) params: Value,
    now_ms: i64,
    /// Number of expressions and statements that are being run, one within the other.
    depth: u16,
}

impl<'s> Machine<'s> {
    pub(crate) fn new(
        heap: Heap,
        types: &'s [Type],
        (ctx, params): (Value, Value),
        now_ms: i64,
    ) -> Self {
        Self {
            heap,
            types,
            variables: types.iter().map(|of| of.default_value()).collect(),
            ctx,
            params,
            now_ms,
            depth: 0,
        }
    }

    /// Goes one level deeper while `run` runs.
    pub(super) fn deeper<T>(
        &mut self,
        run: impl FnOnce(&mut Self) -> Result<T, ScriptError>,
    ) -> Result<T, ScriptError> {
        if self.depth >= MAX_RUNNING {
            return Err(self
                .heap
                .illegal("the functions of the script are nested too deeply"));
        }
        self.depth += 1;
        let ran = run(self);
        self.depth -= 1;
        ran
    }

    pub(crate) fn heap_mut(&mut self) -> &mut Heap {
        &mut self.heap
    }

    /// Runs statements to the end of the script, and returns what they return.
    ///
    /// # Errors
    /// The script fails, or exceeds what it may use.
    pub(crate) fn run(&mut self, statements: &'s [Statement]) -> Result<Value, ScriptError> {
        Ok(match self.block(statements)? {
            Flow::Return(value) => value,
            Flow::Next | Flow::Break | Flow::Continue => Value::Null,
        })
    }

    /// Sets a variable, whose type must have such values.
    pub(super) fn set(&mut self, variable: usize, value: Value) -> Result<(), ScriptError> {
        let of = self.types.get(variable).copied().unwrap_or(Type::Def);
        let value = convert(&self.heap, value, of)?;
        if let Some(place) = self.variables.get_mut(variable) {
            *place = value;
        }
        Ok(())
    }
}

impl<'s> Host<'s> for Machine<'s> {
    fn heap(&mut self) -> &mut Heap {
        &mut self.heap
    }

    fn now_ms(&self) -> i64 {
        self.now_ms
    }

    fn invoke(&mut self, lambda: &'s Lambda, arguments: &[Value]) -> Result<Value, ScriptError> {
        self.heap.at = lambda.at;
        self.heap.spend(1)?;
        if lambda.parameters.len() != arguments.len() {
            return Err(self.heap.illegal(format!(
                "Incorrect number of parameters for lambda: expected [{}], found [{}]",
                arguments.len(),
                lambda.parameters.len()
            )));
        }
        for (parameter, argument) in lambda.parameters.iter().zip(arguments) {
            self.set(*parameter, argument.clone())?;
        }
        match &lambda.body {
            Body::Expr(value) => self.value(value),
            Body::Block(statements) => match self.block(statements)? {
                Flow::Return(value) => Ok(value),
                _ => Ok(Value::Null),
            },
        }
    }
}
