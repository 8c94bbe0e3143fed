//! Compiler from the tokens of a script to steps. Each rule leaves one value on the stack, and
//! returns whether it is a truth value.

use super::math;
use super::moving::WindowFunction;
use super::run::{Operator, Script, Step};
use super::token::{Token, Word, tokens};

/// Maximum length of a script in bytes.
const MAX_SCRIPT_BYTES: usize = 2_000;
/// Maximum nesting depth of a script.
const MAX_SCRIPT_DEPTH: usize = 50;

/// Names that a script may use.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names<'a> {
    /// Inputs, as `params.name`, by position.
    pub(crate) inputs: Vec<&'a str>,
    /// Numbers given with the script, as `params.name`.
    pub(crate) constants: Vec<(&'a str, f64)>,
    /// True if names are used alone, without `params`.
    pub(crate) is_bare: bool,
    /// True if there is a window, `values`.
    pub(crate) has_window: bool,
}

type Parsed<T> = Result<T, (usize, String)>;

/// Type of the value that a rule leaves on the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Type {
    Number,
    Truth,
}

impl Script {
    /// Compiles a script.
    ///
    /// # Errors
    /// The script is invalid. The message gives the position of the problem.
    pub(crate) fn parse(script: &str, names: &Names<'_>) -> Result<Self, String> {
        if script.len() > MAX_SCRIPT_BYTES {
            return Err(format!("a script has at most {MAX_SCRIPT_BYTES} bytes"));
        }
        let whole = script.trim().trim_end_matches(';');
        let whole = match whole.strip_prefix("return") {
            Some(rest) if rest.starts_with([' ', '(']) => rest,
            _ => whole,
        };
        let begins_at = whole.as_ptr() as usize - script.as_ptr() as usize;
        let parsed = tokens(whole).and_then(|tokens| {
            let mut parser = Parser {
                tokens: &tokens,
                end: whole.len(),
                names,
                steps: Vec::new(),
                depth: 0,
            };
            let type_of = parser.expression()?;
            match parser.tokens.first() {
                None => Ok((parser.steps, type_of)),
                Some(token) => Err((
                    token.at,
                    "a script is one expression, which ends here".to_owned(),
                )),
            }
        });
        match parsed {
            Ok((steps, type_of)) => Ok(Self {
                steps,
                is_truth: type_of == Type::Truth,
            }),
            Err((at, what)) => Err(format!("{what}, at byte {} of the script", begins_at + at)),
        }
    }
}

struct Parser<'a> {
    /// Remaining tokens.
    tokens: &'a [Token<'a>],
    /// Offset of the script's end.
    end: usize,
    names: &'a Names<'a>,
    steps: Vec<Step>,
    depth: usize,
}

/// Operators by precedence, the weakest first.
const LEVELS: [&[(&str, Operator)]; 6] = [
    &[("||", Operator::Or)],
    &[("&&", Operator::And)],
    &[("==", Operator::Equal), ("!=", Operator::NotEqual)],
    &[
        ("<=", Operator::LessOrEqual),
        (">=", Operator::GreaterOrEqual),
        ("<", Operator::Less),
        (">", Operator::Greater),
    ],
    &[("+", Operator::Add), ("-", Operator::Subtract)],
    &[
        ("*", Operator::Multiply),
        ("/", Operator::Divide),
        ("%", Operator::Remainder),
    ],
];

impl<'a> Parser<'a> {
    fn at(&self) -> usize {
        self.tokens.first().map_or(self.end, |token| token.at)
    }

    fn next(&mut self) -> Option<Word<'a>> {
        let (first, rest) = self.tokens.split_first()?;
        self.tokens = rest;
        Some(first.what)
    }

    fn eat(&mut self, sign: &'static str) -> bool {
        let next = self.tokens.first().map(|token| token.what);
        let is_next = next == Some(Word::Sign(sign));
        if is_next {
            self.next();
        }
        is_next
    }

    fn expect(&mut self, sign: &'static str) -> Parsed<()> {
        let at = self.at();
        match self.eat(sign) {
            true => Ok(()),
            false => Err((at, format!("{sign:?} is missing"))),
        }
    }

    fn name(&mut self) -> Parsed<&'a str> {
        let at = self.at();
        match self.next() {
            Some(Word::Name(name)) => Ok(name),
            _ => Err((at, "a name is missing".to_owned())),
        }
    }

    /// Runs a rule for a nested expression: in parentheses, in a call, or after a sign. Limits the
    /// depth.
    fn deeper<T>(&mut self, rule: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        self.depth += 1;
        if self.depth > MAX_SCRIPT_DEPTH {
            let what = format!("a script nests at most {MAX_SCRIPT_DEPTH} deep");
            return Err((self.at(), what));
        }
        let found = rule(self);
        self.depth -= 1;
        found
    }

    fn must_be(&self, at: usize, expected: Type, found: Type) -> Parsed<()> {
        match (expected, found) {
            (Type::Number, Type::Truth) => Err((
                at,
                "this is true or false, and a number is needed".to_owned(),
            )),
            (Type::Truth, Type::Number) => Err((
                at,
                "this is a number, and true or false is needed".to_owned(),
            )),
            _ => Ok(()),
        }
    }

    fn expression(&mut self) -> Parsed<Type> {
        self.deeper(|parser| {
            let at = parser.at();
            let first = parser.operators(&LEVELS)?;
            if !parser.eat("?") {
                return Ok(first);
            }
            parser.must_be(at, Type::Truth, first)?;
            let then = parser.expression()?;
            parser.expect(":")?;
            let at = parser.at();
            let otherwise = parser.expression()?;
            parser.must_be(at, then, otherwise)?;
            parser.steps.push(Step::Choose);
            Ok(then)
        })
    }

    /// Parses values joined by operators of these precedences.
    fn operators(&mut self, levels: &[&[(&'static str, Operator)]]) -> Parsed<Type> {
        let Some((level, tighter)) = levels.split_first() else {
            return self.signed();
        };
        let mut left_at = self.at();
        let mut left = self.operators(tighter)?;
        loop {
            let operator = level.iter().find(|(sign, _)| self.eat(sign));
            let Some((_, operator)) = operator else {
                return Ok(left);
            };
            let right_at = self.at();
            let right = self.operators(tighter)?;
            let (takes, gives) = match operator {
                Operator::And | Operator::Or => (Type::Truth, Type::Truth),
                Operator::Equal | Operator::NotEqual => (left, Type::Truth),
                Operator::Less
                | Operator::LessOrEqual
                | Operator::Greater
                | Operator::GreaterOrEqual => (Type::Number, Type::Truth),
                _ => (Type::Number, Type::Number),
            };
            self.must_be(left_at, takes, left)?;
            self.must_be(right_at, takes, right)?;
            self.steps.push(Step::Both(*operator));
            (left, left_at) = (gives, right_at);
        }
    }

    fn signed(&mut self) -> Parsed<Type> {
        let (step, takes) = if self.eat("!") {
            (Some(Step::Not), Type::Truth)
        } else if self.eat("-") {
            (Some(Step::Negate), Type::Number)
        } else if self.eat("+") {
            (None, Type::Number)
        } else {
            return self.value();
        };
        let at = self.at();
        let found = self.deeper(Self::signed)?;
        self.must_be(at, takes, found)?;
        self.steps.extend(step);
        Ok(takes)
    }

    fn value(&mut self) -> Parsed<Type> {
        let at = self.at();
        let number = |parser: &mut Self, number: f64| {
            parser.steps.push(Step::Number(number));
            Ok(Type::Number)
        };
        match self.next() {
            Some(Word::Number(found)) => number(self, found),
            Some(Word::Sign("(")) => {
                let found = self.expression()?;
                self.expect(")")?;
                Ok(found)
            }
            Some(Word::Name(name)) => match name {
                "true" => number(self, 1.0).map(|_| Type::Truth),
                "false" => number(self, 0.0).map(|_| Type::Truth),
                "params" => self.param(),
                "Math" => self.math(),
                "Double" => self.is_nan(),
                "MovingFunctions" if self.names.has_window => self.window_function(),
                "values" if self.names.has_window => self.window_len(at),
                name if self.names.is_bare => self.variable(at, name),
                name => Err((
                    at,
                    format!(
                        "{name:?} is not known here; numbers from buckets are written params.name"
                    ),
                )),
            },
            Some(_) => Err((at, "a value is missing here".to_owned())),
            None => Err((at, "the script ends too early".to_owned())),
        }
    }

    /// Parses `params.name` or `params['name']`.
    fn param(&mut self) -> Parsed<Type> {
        let at = self.at();
        if self.eat("[") {
            let Some(Word::Text(name)) = self.next() else {
                return Err((at, "a name in quotes is missing".to_owned()));
            };
            self.expect("]")?;
            return self.variable(at, name);
        }
        self.expect(".")?;
        let at = self.at();
        let name = self.name()?;
        self.variable(at, name)
    }

    fn variable(&mut self, at: usize, name: &str) -> Parsed<Type> {
        let input = self.names.inputs.iter().position(|known| *known == name);
        let mut constants = self.names.constants.iter();
        let constant = constants.find(|(known, _)| *known == name);
        let step = match (input, constant) {
            (Some(place), _) => Step::Input(place),
            (None, Some((_, number))) => Step::Number(*number),
            (None, None) => {
                let what = format!("{name:?} is neither in buckets_path nor in params");
                return Err((at, what));
            }
        };
        self.steps.push(step);
        Ok(Type::Number)
    }

    /// Parses `Math.abs(…)` or `Math.PI`.
    fn math(&mut self) -> Parsed<Type> {
        self.expect(".")?;
        let at = self.at();
        let name = self.name()?;
        if let Some(number) = math::constant(name) {
            self.steps.push(Step::Number(number));
            return Ok(Type::Number);
        }
        let Some(function) = math::function(name) else {
            let what = format!("Math has no {name:?} here; there are {}", math::names());
            return Err((at, what));
        };
        self.expect("(")?;
        self.numbers(match function {
            math::Function::One(_) => 1,
            math::Function::Two(_) => 2,
        })?;
        self.steps.push(Step::Math(function));
        Ok(Type::Number)
    }

    /// Parses `count` numbers separated by commas, and the end of a call.
    fn numbers(&mut self, count: usize) -> Parsed<()> {
        for place in 0..count {
            if place > 0 {
                self.expect(",")?;
            }
            let at = self.at();
            let found = self.expression()?;
            self.must_be(at, Type::Number, found)?;
        }
        self.expect(")")
    }

    /// Parses `Double.isNaN(…)`.
    fn is_nan(&mut self) -> Parsed<Type> {
        self.expect(".")?;
        let at = self.at();
        if self.name()? != "isNaN" {
            return Err((at, "Double has isNaN alone here".to_owned()));
        }
        self.expect("(")?;
        self.numbers(1)?;
        self.steps.push(Step::IsNan);
        Ok(Type::Truth)
    }

    /// Parses `MovingFunctions.name(values, …)`.
    fn window_function(&mut self) -> Parsed<Type> {
        self.expect(".")?;
        let at = self.at();
        let name = self.name()?;
        let Some(function) = WindowFunction::parse(name) else {
            let known = WindowFunction::names();
            let what = format!("MovingFunctions has no {name:?} here; there are {known}");
            return Err((at, what));
        };
        self.expect("(")?;
        let at = self.at();
        if self.name()? != "values" {
            return Err((at, "the first argument must be values".to_owned()));
        }
        if function.num_numbers() > 0 {
            self.expect(",")?;
        }
        self.numbers(function.num_numbers())?;
        self.steps.push(Step::Window(function));
        Ok(Type::Number)
    }

    /// Parses `values.length`.
    fn window_len(&mut self, at: usize) -> Parsed<Type> {
        match self.eat(".") && self.name()? == "length" {
            true => {
                self.steps.push(Step::WindowLen);
                Ok(Type::Number)
            }
            false => Err((
                at,
                "values are taken by MovingFunctions and values.length".to_owned(),
            )),
        }
    }
}
