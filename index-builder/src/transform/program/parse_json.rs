//! `parse_json` that parses numbers as records do: VRL's own function would change numbers with many digits.

use vrl::compiler::function::{ArgumentList, Compiled, Example, FunctionCompileContext, Parameter};
use vrl::compiler::prelude::{Context, Resolved, TypeDef, VrlValueConvert};
use vrl::compiler::{
    Expression, ExpressionError, Function, FunctionExpression, TypeState, expression,
};

use crate::transform::values::{Unreadable, read_value};

/// Wraps VRL's function, which declares the signature, and parses if a depth is given: numbers are then text.
#[derive(Debug)]
pub(super) struct ParseJson(pub(super) Box<dyn Function>);

impl Function for ParseJson {
    fn identifier(&self) -> &'static str {
        self.0.identifier()
    }

    fn usage(&self) -> &'static str {
        self.0.usage()
    }

    fn category(&self) -> &'static str {
        self.0.category()
    }

    fn return_kind(&self) -> u16 {
        self.0.return_kind()
    }

    fn examples(&self) -> &'static [Example] {
        self.0.examples()
    }

    fn parameters(&self) -> &'static [Parameter] {
        self.0.parameters()
    }

    fn compile(
        &self,
        state: &TypeState,
        ctx: &mut FunctionCompileContext,
        arguments: ArgumentList,
    ) -> Compiled {
        let (value, has_depth) = (
            arguments.required("value"),
            arguments.optional("max_depth").is_some(),
        );
        let inner = self.0.compile(state, ctx, arguments)?;
        match has_depth {
            true => Ok(inner),
            false => Ok(ParseJsonFn { value, inner }.as_expr()),
        }
    }
}

#[derive(Clone, Debug)]
struct ParseJsonFn {
    value: Box<dyn Expression>,
    inner: Box<dyn Expression>,
}

impl FunctionExpression for ParseJsonFn {
    fn resolve(&self, ctx: &mut Context<'_>) -> Resolved {
        let value = self.value.resolve(ctx)?;
        let text = value.try_bytes()?;
        let failed = |message: String| {
            Err(ExpressionError::from(format!(
                "unable to parse json: {message}"
            )))
        };
        match read_value(&text) {
            Ok((value, exact)) => match exact.first() {
                None => Ok(value),
                Some(number) => failed(format!(
                    "the number {number} has more digits than a program can hold"
                )),
            },
            Err(Unreadable { message, .. }) => failed(message),
        }
    }

    fn type_def(&self, state: &TypeState) -> TypeDef {
        expression::Expression::type_def(&*self.inner, state)
    }
}
