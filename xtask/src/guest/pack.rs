//! Rewrites the linked core module to compress better, without changing its behaviour.
//!
//! This is no optimizer: instructions are copied one by one. It reorders functions (see
//! [`super::order`]), merges functions with equal bodies, removes the padding of indices and
//! addresses that the linker keeps for relocations, and drops custom sections except the interface
//! for the component.

use std::collections::HashMap;
use std::convert::Infallible;

use anyhow::{Context, Result};
use wasm_encoder::reencode::{Error, Reencode, utils};
use wasm_encoder::{CodeSection, Encode, FunctionSection, Module};
use wasmparser::{
    CodeSectionReader, CustomSectionReader, FunctionBody, FunctionSectionReader, Parser, Payload,
    TypeRef,
};

use super::order;

/// Custom section with the interface types, needed until the component is encoded.
const INTERFACE_SECTION: &str = "component-type";

/// Returns the rewritten module.
pub(super) fn pack(module: &[u8]) -> Result<Vec<u8>> {
    let functions = Functions::read(module).context("the module is malformed")?;
    let packed = functions
        .packed(module)
        .map_err(|error| anyhow::anyhow!("the module cannot be rewritten: {error}"))?;
    Ok(packed.finish())
}

/// Functions defined in a module.
struct Functions<'a> {
    num_imported: u32,
    types: Vec<u32>,
    bodies: Vec<FunctionBody<'a>>,
}

impl<'a> Functions<'a> {
    fn read(module: &'a [u8]) -> wasmparser::Result<Self> {
        let mut functions = Self {
            num_imported: 0,
            types: Vec::new(),
            bodies: Vec::new(),
        };
        for payload in Parser::new(0).parse_all(module) {
            match payload? {
                Payload::ImportSection(imports) => {
                    for import in imports.into_imports() {
                        if matches!(import?.ty, TypeRef::Func(_) | TypeRef::FuncExact(_)) {
                            functions.num_imported += 1;
                        }
                    }
                }
                Payload::FunctionSection(types) => {
                    functions.types = types.into_iter().collect::<wasmparser::Result<_>>()?;
                }
                Payload::CodeSectionEntry(body) => functions.bodies.push(body),
                _ => {}
            }
        }
        Ok(functions)
    }

    fn packed(&self, module: &[u8]) -> Result<Module, Error> {
        let num_functions = self.num_imported + self.bodies.len() as u32;
        let mut rewriter = Rewriter {
            new_index: (0..num_functions).collect(),
            kept: Vec::new(),
        };
        let kept = self.merge_equal(&mut rewriter)?;
        let bodies: Vec<&[u8]> = kept.iter().map(|(_, body)| body.as_slice()).collect();
        let order = order::by_likeness(&bodies);
        rewriter.kept = order.into_iter().map(|place| kept[place].0).collect();
        let mut moved_to: Vec<u32> = (0..num_functions).collect();
        for (new_index, &function) in (self.num_imported..).zip(&rewriter.kept) {
            moved_to[self.num_imported as usize + function] = new_index;
        }
        // Functions that were merged into another one share its new index.
        for new_index in &mut rewriter.new_index {
            *new_index = moved_to[*new_index as usize];
        }
        let mut packed = Module::new();
        rewriter.parse_core_module(&mut packed, Parser::new(0), module)?;
        Ok(packed)
    }

    /// Records in the rewriter which functions are equal to an earlier one, and returns the others
    /// with their bodies. Merging functions may make their callers equal.
    fn merge_equal(&self, rewriter: &mut Rewriter) -> Result<Vec<(usize, Vec<u8>)>, Error> {
        loop {
            let mut first_with = HashMap::new();
            let mut new_index = rewriter.new_index.clone();
            let mut kept = Vec::new();
            let mut num_before = 0;
            for (function, (body, &ty)) in self.bodies.iter().zip(&self.types).enumerate() {
                let index = self.num_imported as usize + function;
                if rewriter.new_index[index] != index as u32 {
                    continue;
                }
                num_before += 1;
                let body = rewriter.body(body)?;
                let first = *first_with.entry((ty, body.clone())).or_insert(index as u32);
                new_index[index] = first;
                if first == index as u32 {
                    kept.push((function, body));
                }
            }
            for new in &mut rewriter.new_index {
                *new = new_index[*new as usize];
            }
            if kept.len() == num_before {
                return Ok(kept);
            }
        }
    }
}

/// Copier of a module that renumbers functions.
struct Rewriter {
    /// New index of each function by its old one, including imported functions.
    new_index: Vec<u32>,
    /// Kept functions in their new order, by their position among the old ones.
    kept: Vec<usize>,
}

impl Rewriter {
    fn body(&mut self, body: &FunctionBody<'_>) -> Result<Vec<u8>, Error> {
        let mut function = self.new_function_with_parsed_locals(body)?;
        let mut operators = body.get_operators_reader()?;
        while !operators.eof() {
            function.instruction(&self.parse_instruction(&mut operators)?);
        }
        let mut bytes = Vec::new();
        function.encode(&mut bytes);
        Ok(bytes)
    }
}

impl Reencode for Rewriter {
    type Error = Infallible;

    fn function_index(&mut self, function: u32) -> Result<u32, Error> {
        Ok(self.new_index[function as usize])
    }

    fn parse_function_section(
        &mut self,
        functions: &mut FunctionSection,
        section: FunctionSectionReader<'_>,
    ) -> Result<(), Error> {
        let types: Vec<u32> = section.into_iter().collect::<wasmparser::Result<_>>()?;
        for &function in &self.kept {
            functions.function(types[function]);
        }
        Ok(())
    }

    fn parse_code_section(
        &mut self,
        code: &mut CodeSection,
        section: CodeSectionReader<'_>,
    ) -> Result<(), Error> {
        let bodies: Vec<_> = section.into_iter().collect::<wasmparser::Result<_>>()?;
        for function in self.kept.clone() {
            utils::parse_function_body(self, code, bodies[function].clone())?;
        }
        Ok(())
    }

    fn parse_custom_section(
        &mut self,
        module: &mut Module,
        section: CustomSectionReader<'_>,
    ) -> Result<(), Error> {
        if section.name().starts_with(INTERFACE_SECTION) {
            utils::parse_custom_section(self, module, section)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
