//! Modules before and after packing.

use std::collections::BTreeMap;

use wasmparser::{ElementItems, ExternalKind, Operator, Validator};

use super::*;

/// Observable behaviour of a module: the result of the function behind each export and table slot,
/// which is a constant or a call.
#[derive(Debug, Default, PartialEq)]
struct Seen {
    num_functions: usize,
    exports: BTreeMap<String, String>,
    table: Vec<String>,
    custom_sections: Vec<String>,
}

fn see(module: &[u8]) -> Seen {
    let functions = Functions::read(module).unwrap();
    let returns = |index: u32| returned(&functions, index);
    let mut seen = Seen {
        num_functions: functions.bodies.len(),
        ..Seen::default()
    };
    for payload in Parser::new(0).parse_all(module) {
        match payload.unwrap() {
            Payload::ExportSection(exports) => {
                for export in exports.into_iter().map(Result::unwrap) {
                    if export.kind == ExternalKind::Func {
                        seen.exports
                            .insert(export.name.to_owned(), returns(export.index));
                    }
                }
            }
            Payload::ElementSection(elements) => {
                for element in elements.into_iter().map(Result::unwrap) {
                    if let ElementItems::Functions(slots) = element.items {
                        seen.table
                            .extend(slots.into_iter().map(|slot| returns(slot.unwrap())));
                    }
                }
            }
            Payload::CustomSection(section) => seen.custom_sections.push(section.name().to_owned()),
            _ => {}
        }
    }
    seen
}

fn returned(functions: &Functions<'_>, index: u32) -> String {
    let Some(function) = index.checked_sub(functions.num_imported) else {
        return format!("import {index}");
    };
    let body = &functions.bodies[function as usize];
    match body.get_operators_reader().unwrap().read().unwrap() {
        Operator::I32Const { value } => value.to_string(),
        Operator::Call { function_index } => {
            format!("call of {}", returned(functions, function_index))
        }
        other => panic!("{other:?}"),
    }
}

fn packed(text: &str) -> Seen {
    let module = wat::parse_str(text).unwrap();
    let packed = pack(&module).unwrap();
    Validator::new().validate_all(&packed).unwrap();
    see(&packed)
}

#[test]
fn calls_exports_and_tables_follow_their_functions() {
    let text = r#"(module
        (import "host" "f" (func $f (result i32)))
        (func $one (result i32) i32.const 1)
        (func $two (result i32) i32.const 2)
        (func $calls_two (result i32) call $two)
        (func $calls_f (result i32) call $f)
        (table funcref (elem $two $calls_f $one))
        (export "one" (func $one))
        (export "calls_two" (func $calls_two)))"#;
    let before = see(&wat::parse_str(text).unwrap());
    let after = packed(text);
    assert_eq!(after.exports, before.exports);
    assert_eq!(after.exports["calls_two"], "call of 2");
    assert_eq!(after.table, ["2", "call of import 0", "1"]);
    assert_eq!(after.num_functions, 4);
}

#[test]
fn equal_functions_become_one_and_then_their_callers() {
    let seen = packed(
        r#"(module
            (func $a (result i32) i32.const 7)
            (func $b (result i32) i32.const 7)
            (func $other_type (param i32) (result i32) i32.const 7)
            (func $calls_a (result i32) call $a)
            (func $calls_b (result i32) call $b)
            (table funcref (elem $b $calls_b))
            (export "other" (func $other_type))
            (export "b" (func $calls_b)))"#,
    );
    assert_eq!(seen.num_functions, 3);
    assert_eq!(seen.exports["b"], "call of 7");
    assert_eq!(seen.exports["other"], "7");
    assert_eq!(seen.table, ["7", "call of 7"]);
}

#[test]
fn only_the_interface_stays_of_custom_sections() {
    let seen = packed(
        r#"(module
            (@custom "producers" "x")
            (@custom "component-type:bindings" "y")
            (func $named (result i32) i32.const 1))"#,
    );
    assert_eq!(seen.custom_sections, ["component-type:bindings"]);
}
