//! Compiled script, and its evaluation.

use super::math::Function;
use super::moving::WindowFunction;

/// Step of the stack machine: pops its operands and pushes its result. True is 1, and false is 0.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    Number(f64),
    /// Input with this index.
    Input(usize),
    Negate,
    Not,
    Both(Operator),
    /// Selects the second of three operands if the first is true, else the third.
    Choose,
    Math(Function),
    IsNan,
    /// Function of the window and of numbers on the stack.
    Window(WindowFunction),
    /// Number of values in the window.
    WindowLen,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    NotEqual,
    And,
    Or,
}

/// Script that was parsed and checked.
#[derive(Clone, Debug)]
pub(crate) struct Script {
    pub(super) steps: Vec<Step>,
    pub(super) is_truth: bool,
}

impl Script {
    /// Returns whether the result is a truth value rather than a number.
    pub(crate) fn is_truth(&self) -> bool {
        self.is_truth
    }

    /// Computes the result as a number.
    pub(crate) fn number(&self, inputs: &[f64], window: &[f64]) -> f64 {
        let mut stack = Stack(Vec::new());
        for step in &self.steps {
            let result = match step {
                Step::Number(number) => *number,
                Step::Input(place) => inputs.get(*place).copied().unwrap_or(f64::NAN),
                Step::Negate => -stack.pop(),
                Step::Not => truth(stack.pop() == 0.0),
                Step::IsNan => truth(stack.pop().is_nan()),
                Step::Both(operator) => {
                    let right = stack.pop();
                    operator.of(stack.pop(), right)
                }
                Step::Choose => {
                    let (otherwise, then) = (stack.pop(), stack.pop());
                    if stack.pop() == 0.0 { otherwise } else { then }
                }
                Step::Math(Function::One(function)) => function(stack.pop()),
                Step::Math(Function::Two(function)) => {
                    let right = stack.pop();
                    function(stack.pop(), right)
                }
                Step::Window(function) => match function.num_numbers() {
                    0 => function.of(window, 0.0, 0.0),
                    1 => function.of(window, stack.pop(), 0.0),
                    _ => {
                        let second = stack.pop();
                        function.of(window, stack.pop(), second)
                    }
                },
                Step::WindowLen => window.len() as f64,
            };
            stack.0.push(result);
        }
        stack.pop()
    }

    /// Computes the result as a truth value.
    pub(crate) fn truth(&self, inputs: &[f64]) -> bool {
        self.number(inputs, &[]) != 0.0
    }
}

/// The parser guarantees that no step pops an empty stack.
struct Stack(Vec<f64>);

impl Stack {
    fn pop(&mut self) -> f64 {
        self.0.pop().unwrap_or(f64::NAN)
    }
}

fn truth(is_true: bool) -> f64 {
    f64::from(u8::from(is_true))
}

impl Operator {
    #[expect(
        clippy::float_cmp,
        reason = "a script that compares numbers asks for just that"
    )]
    fn of(self, left: f64, right: f64) -> f64 {
        match self {
            Self::Add => left + right,
            Self::Subtract => left - right,
            Self::Multiply => left * right,
            Self::Divide => left / right,
            Self::Remainder => libm::fmod(left, right),
            Self::Less => truth(left < right),
            Self::LessOrEqual => truth(left <= right),
            Self::Greater => truth(left > right),
            Self::GreaterOrEqual => truth(left >= right),
            Self::Equal => truth(left == right),
            Self::NotEqual => truth(left != right),
            Self::And => truth(left != 0.0 && right != 0.0),
            Self::Or => truth(left != 0.0 || right != 0.0),
        }
    }
}
