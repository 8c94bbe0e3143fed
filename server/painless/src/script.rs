//! A script, compiled once and run for each document.

use serde_json::{Map, Value as Json};

use crate::ast::Statement;
use crate::error::ScriptError;
use crate::json::{json_of, map_of};
use crate::limits::MAX_SCRIPT_BYTES;
use crate::parse::{Program, program_of};
use crate::run::Machine;
use crate::values::{Heap, Type, Value};

/// A compiled script.
#[derive(Debug)]
pub struct Script {
    source: String,
    statements: Vec<Statement>,
    /// The types of its variables.
    variables: Vec<Type>,
}

impl Script {
    /// Compiles a script.
    ///
    /// # Errors
    /// The script is too long, is not in the language, or uses what this crate does not know.
    pub fn compile(source: &str) -> Result<Self, ScriptError> {
        if source.len() > MAX_SCRIPT_BYTES {
            return Err(ScriptError::compiling(
                0,
                format!(
                    "exceeded max allowed inline script size in bytes [{MAX_SCRIPT_BYTES}] with size [{}]",
                    source.len()
                ),
            ));
        }
        let Program {
            statements,
            variables,
        } = program_of(source)?;
        Ok(Self {
            source: source.to_owned(),
            statements,
            variables,
        })
    }

    /// Returns the text of the script.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Runs the script, and returns what it makes of `ctx`. `now_ms` is the time in milliseconds since 1970.
    ///
    /// # Errors
    /// The script fails, or exceeds what a run may use.
    pub fn run(
        &self,
        ctx: &Map<String, Json>,
        params: &Map<String, Json>,
        now_ms: i64,
    ) -> Result<Map<String, Json>, ScriptError> {
        let (mut machine, ctx) = self.machine(ctx, params, now_ms);
        machine.run(&self.statements)?;
        match json_of(machine.heap_mut(), &ctx)? {
            Json::Object(ctx) => Ok(ctx),
            _ => Ok(Map::new()),
        }
    }

    /// Runs the script as a condition, and returns whether it holds.
    ///
    /// # Errors
    /// The script fails, exceeds what a run may use, or returns no boolean.
    pub fn test(
        &self,
        ctx: &Map<String, Json>,
        params: &Map<String, Json>,
        now_ms: i64,
    ) -> Result<bool, ScriptError> {
        let (mut machine, _) = self.machine(ctx, params, now_ms);
        match machine.run(&self.statements)? {
            Value::Bool(holds) => Ok(holds),
            other => Err(machine.heap_mut().illegal(format!(
                "Cannot cast from [{}] to [boolean].",
                other.class()
            ))),
        }
    }

    fn machine(
        &self,
        ctx: &Map<String, Json>,
        params: &Map<String, Json>,
        now_ms: i64,
    ) -> (Machine<'_>, Value) {
        let mut heap = Heap::default();
        let ctx = map_of(&mut heap, ctx);
        let params = map_of(&mut heap, params);
        let machine = Machine::new(heap, &self.variables, (ctx.clone(), params), now_ms);
        (machine, ctx)
    }
}

#[cfg(test)]
mod tests;
