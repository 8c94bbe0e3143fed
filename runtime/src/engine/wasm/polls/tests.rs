//! Tests that each loop begins with a read of its own byte, and that everything else is unchanged.

use wasmparser::{Operator, Parser, Payload};

use super::with_polls;

/// Returns the operators of each function without stop points, and the offsets of the stop points.
///
/// # Panics
/// A loop does not begin with a stop point.
fn unpolled(module: &[u8]) -> (Vec<String>, Vec<Vec<u64>>) {
    let (mut operators, mut offsets) = (Vec::new(), Vec::new());
    for payload in Parser::new(0).parse_all(module) {
        let Payload::CodeSectionEntry(body) = payload.unwrap() else {
            continue;
        };
        let mut of_function = Vec::new();
        let mut reader = body.get_operators_reader().unwrap();
        while !reader.eof() {
            let operator = reader.read().unwrap();
            let is_loop = matches!(operator, Operator::Loop { .. });
            operators.push(format!("{operator:?}"));
            if is_loop {
                let poll = [(); 3].map(|()| reader.read().unwrap());
                let [
                    Operator::I32Const { value: 0 },
                    Operator::I32Load8U { memarg },
                    Operator::Drop,
                ] = poll
                else {
                    panic!("{poll:?}");
                };
                of_function.push(memarg.offset);
            }
        }
        offsets.push(of_function);
    }
    (operators, offsets)
}

fn plain(module: &[u8]) -> Vec<String> {
    let mut operators = Vec::new();
    for payload in Parser::new(0).parse_all(module) {
        if let Payload::CodeSectionEntry(body) = payload.unwrap() {
            let reader = body.get_operators_reader().unwrap().into_iter();
            operators.extend(reader.map(|operator| format!("{:?}", operator.unwrap())));
        }
    }
    operators
}

const LOOPS: &str = r#"
    (func (param i32) (result i64) (local i64 f32)
        (block $out
            (loop $a
                (loop $b (result i32)
                    (br_if $out (local.get 0))
                    (br_if $a (i32.const 70000))
                    (i32.const 1))
                (br_if $a)))
        (loop (result i64) (i64.const -5)))
    (func (nop))
    (func (loop))
"#;

#[test]
fn each_loop_begins_with_a_read_of_its_own_byte_and_nothing_else_changes() {
    let module = wat::parse_str(format!("(module (memory 1) {LOOPS})")).unwrap();
    let polled = with_polls(&module).unwrap();
    wasmparser::validate(&polled).unwrap();
    let (operators, offsets) = unpolled(&polled);
    assert_eq!(operators, plain(&module));
    assert_eq!(offsets, [vec![0, 1, 2], vec![], vec![0]]);
}

#[test]
fn offsets_of_many_loops_stay_in_the_page() {
    let loops = "(loop)".repeat(5_000);
    let module = wat::parse_str(format!("(module (memory 1) (func {loops}))")).unwrap();
    let polled = with_polls(&module).unwrap();
    wasmparser::validate(&polled).unwrap();
    let (_, offsets) = unpolled(&polled);
    let expected: Vec<u64> = (0..5_000).map(|nth| nth % 4096).collect();
    assert_eq!(offsets, [expected]);
}

#[test]
fn a_module_without_memory_stays_as_it_is() {
    let module = wat::parse_str(format!("(module {LOOPS})")).unwrap();
    assert_eq!(with_polls(&module).unwrap(), module);
    let imported = format!("(module (import \"a\" \"b\" (memory 1)) {LOOPS})");
    let imported = wat::parse_str(imported).unwrap();
    assert_eq!(unpolled(&with_polls(&imported).unwrap()).1[0].len(), 3);
}

#[test]
fn modules_in_components_in_components_are_found() {
    let component = wat::parse_str(format!(
        "(component
            (core module (func))
            (component (core module (memory 1) {LOOPS}))
            (core module (memory 1) {LOOPS}))"
    ))
    .unwrap();
    let polled = with_polls(&component).unwrap();
    wasmparser::validate(&polled).unwrap();
    let num_loops = |bytes: &[u8]| {
        let operators = plain(bytes);
        let count = |name: &str| operators.iter().filter(|op| op.starts_with(name)).count();
        (count("Loop"), count("I32Load8U"))
    };
    assert_eq!(num_loops(&component), (8, 0));
    assert_eq!(num_loops(&polled), (8, 8));
}

#[test]
fn what_is_cut_off_or_damaged_is_an_error_or_left_to_the_compiler() {
    let component = format!("(component (core module (memory 1) {LOOPS}))");
    let component = wat::parse_str(component).unwrap();
    for len in 0..component.len() {
        let _ = with_polls(&component[..len]);
        for byte in [0, 0x7f, 0x80, 0xff] {
            let mut damaged = component.clone();
            damaged[len] = byte;
            let _ = with_polls(&damaged);
        }
    }
}
