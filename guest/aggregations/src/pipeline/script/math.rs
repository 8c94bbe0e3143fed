//! Functions of `Math` for scripts. Those whose rounding could vary by platform come from `libm`.

/// Function of one or two numbers.
#[derive(Clone, Copy, Debug)]
pub(super) enum Function {
    One(fn(f64) -> f64),
    Two(fn(f64, f64) -> f64),
}

const FUNCTIONS: [(&str, Function); 27] = [
    ("abs", Function::One(f64::abs)),
    ("acos", Function::One(libm::acos)),
    ("asin", Function::One(libm::asin)),
    ("atan", Function::One(libm::atan)),
    ("atan2", Function::Two(libm::atan2)),
    ("cbrt", Function::One(libm::cbrt)),
    ("ceil", Function::One(libm::ceil)),
    ("cos", Function::One(libm::cos)),
    ("cosh", Function::One(libm::cosh)),
    ("exp", Function::One(libm::exp)),
    ("expm1", Function::One(libm::expm1)),
    ("floor", Function::One(libm::floor)),
    ("hypot", Function::Two(libm::hypot)),
    ("log", Function::One(libm::log)),
    ("log10", Function::One(libm::log10)),
    ("log1p", Function::One(libm::log1p)),
    ("max", Function::Two(larger)),
    ("min", Function::Two(smaller)),
    ("pow", Function::Two(libm::pow)),
    ("rint", Function::One(libm::rint)),
    ("round", Function::One(round)),
    ("signum", Function::One(signum)),
    ("sin", Function::One(libm::sin)),
    ("sinh", Function::One(libm::sinh)),
    ("sqrt", Function::One(libm::sqrt)),
    ("tan", Function::One(libm::tan)),
    ("tanh", Function::One(libm::tanh)),
];

const CONSTANTS: [(&str, f64); 2] = [("E", std::f64::consts::E), ("PI", std::f64::consts::PI)];

pub(super) fn function(name: &str) -> Option<Function> {
    let found = FUNCTIONS.iter().find(|(known, _)| *known == name);
    found.map(|(_, function)| *function)
}

pub(super) fn constant(name: &str) -> Option<f64> {
    let found = CONSTANTS.iter().find(|(known, _)| *known == name);
    found.map(|(_, constant)| *constant)
}

/// Returns the names of all functions, for error messages.
pub(super) fn names() -> String {
    let names: Vec<&str> = FUNCTIONS.iter().map(|(name, _)| *name).collect();
    names.join(", ")
}

/// Returns the larger number. Unlike `f64::max`, undefined if either is, and the positive one of
/// two zeros on every host.
pub(crate) fn larger(left: f64, right: f64) -> f64 {
    if left.is_nan() || right.is_nan() {
        f64::NAN
    } else if left == right {
        if left.is_sign_negative() { right } else { left }
    } else if left > right {
        left
    } else {
        right
    }
}

pub(crate) fn smaller(left: f64, right: f64) -> f64 {
    -larger(-left, -right)
}

/// Rounds to the nearest integer, and ties up.
fn round(number: f64) -> f64 {
    let below = libm::floor(number);
    if number - below >= 0.5 {
        below + 1.0
    } else {
        below
    }
}

/// Returns the sign as ±1; zeros and undefined numbers stay the same.
fn signum(number: f64) -> f64 {
    if number == 0.0 || number.is_nan() {
        number
    } else {
        1.0_f64.copysign(number)
    }
}
