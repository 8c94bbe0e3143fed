//! Stop points in the loops of the guest, inserted before compilation.
//!
//! wasmtime's own mechanism, epochs, compares two numbers in each iteration of each loop, with a
//! call that depends on the comparison: values that the call might overwrite are kept in memory
//! instead of registers. This slowed the guest down by a factor of 1.3 to 1.6. Here, each iteration
//! reads a byte of the guest's lowest page and ignores it. To stop the guest, its access to that
//! page is removed (`running/stop.rs`), so that the next read traps.
//!
//! ```text
//!   (loop $l …)  ──▶  (loop $l (drop (i32.load8_u offset=N (i32.const 0))) …)
//! ```
//!
//! Each loop of a function reads another byte, because compilers remove redundant reads of the same
//! one. A function without a loop ends by itself, and recursion exceeds the stack.
//!
//! The lowest 64 KiB are the far end of the guest's stack (`.cargo/config.toml`), which contains
//! nothing else.

use wasmparser::{BinaryReaderError, FunctionBody, Operator, Parser, Payload, TypeRef};

/// Minimum length of a page on any processor. All reads are in the first page.
const PAGE_LEN: u32 = 4096;

const CODE_SECTION: u8 = 10;
/// Ids of component sections that contain a module or a component.
const NESTED_SECTIONS: [u8; 2] = [1, 4];
/// Start of a component's header.
const COMPONENT_HEADER: &[u8] = b"\0asm\x0d\0\x01\0";
const HEADER_LEN: usize = COMPONENT_HEADER.len();

/// Inserts stop points into all loops of a component (or module), in all modules that have a
/// memory.
///
/// # Errors
/// The component is malformed. Not every malformed component is detected here.
pub(super) fn with_polls(bytes: &[u8]) -> Result<Vec<u8>, BinaryReaderError> {
    let mut out = Vec::with_capacity(bytes.len() + bytes.len() / 16);
    let is_component = bytes.starts_with(COMPONENT_HEADER);
    let polls = is_component || has_memory(bytes)?;
    let (header, mut rest) = bytes.split_at(HEADER_LEN.min(bytes.len()));
    out.extend_from_slice(header);
    while let Some((section, behind)) = Section::read(rest) {
        let content = match section.id {
            id if is_component && NESTED_SECTIONS.contains(&id) => {
                Some(with_polls(section.content)?)
            }
            CODE_SECTION if !is_component && polls => Some(code_with_polls(bytes)?),
            _ => None,
        };
        out.push(section.id);
        let content = content.as_deref().unwrap_or(section.content);
        write_len(content.len(), &mut out);
        out.extend_from_slice(content);
        rest = behind;
    }
    // This is empty unless the last section is truncated, in which case compilation fails.
    out.extend_from_slice(rest);
    Ok(out)
}

struct Section<'a> {
    id: u8,
    content: &'a [u8],
}

impl<'a> Section<'a> {
    /// Returns the next section, and the bytes after it.
    fn read(bytes: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let (&id, mut rest) = bytes.split_first()?;
        let mut len = 0_u64;
        for shift in (0..35).step_by(7) {
            let (&byte, behind) = rest.split_first()?;
            rest = behind;
            len |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                let (content, rest) = rest.split_at_checked(usize::try_from(len).ok()?)?;
                return Some((Self { id, content }, rest));
            }
        }
        None
    }
}

fn has_memory(module: &[u8]) -> Result<bool, BinaryReaderError> {
    for payload in Parser::new(0).parse_all(module) {
        match payload? {
            Payload::MemorySection(memories) if memories.count() > 0 => return Ok(true),
            Payload::ImportSection(imports) => {
                for import in imports.into_imports() {
                    if matches!(import?.ty, TypeRef::Memory(_)) {
                        return Ok(true);
                    }
                }
            }
            Payload::CodeSectionStart { .. } => break,
            _ => {}
        }
    }
    Ok(false)
}

/// Returns the content of the module's code section.
fn code_with_polls(module: &[u8]) -> Result<Vec<u8>, BinaryReaderError> {
    let mut out = Vec::new();
    for payload in Parser::new(0).parse_all(module) {
        match payload? {
            Payload::CodeSectionStart { count, .. } => write_len(count as usize, &mut out),
            Payload::CodeSectionEntry(body) => {
                let body = body_with_polls(module, &body)?;
                write_len(body.len(), &mut out);
                out.extend_from_slice(&body);
            }
            _ => {}
        }
    }
    Ok(out)
}

fn body_with_polls(module: &[u8], body: &FunctionBody<'_>) -> Result<Vec<u8>, BinaryReaderError> {
    let mut out = Vec::new();
    let mut copied = body.range().start;
    let mut offset = 0;
    let mut copy_to = |end: usize, out: &mut Vec<u8>| {
        out.extend_from_slice(module.get(copied..end).unwrap_or_default());
        copied = end;
    };
    let mut operators = body.get_operators_reader()?;
    while !operators.eof() {
        if let Operator::Loop { .. } = operators.read()? {
            copy_to(operators.original_position(), &mut out);
            poll(offset, &mut out);
            offset = (offset + 1) % PAGE_LEN;
        }
    }
    copy_to(body.range().end, &mut out);
    Ok(out)
}

/// Writes `(drop (i32.load8_u offset=… (i32.const 0)))`.
fn poll(offset: u32, out: &mut Vec<u8>) {
    out.extend_from_slice(&[0x41, 0x00, 0x2d, 0x00]);
    write_len(offset as usize, out);
    out.push(0x1a);
}

/// Writes a number in WebAssembly's encoding: seven bits per byte, lowest first.
fn write_len(mut len: usize, out: &mut Vec<u8>) {
    while len > 0x7f {
        out.push((len & 0x7f) as u8 | 0x80);
        len >>= 7;
    }
    out.push(len as u8);
}

#[cfg(test)]
mod tests;
