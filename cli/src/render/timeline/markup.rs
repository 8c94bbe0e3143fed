//! Elements with attributes and text, for SVG and HTML. quick-xml escapes them.

use std::io;

use quick_xml::Writer;
use quick_xml::events::{BytesEnd, BytesStart, BytesText, Event};

/// A document under construction.
pub(in crate::render) struct Markup {
    writer: Writer<Vec<u8>>,
}

/// Name and value.
pub(in crate::render) type Attribute<'a> = (&'a str, &'a str);

impl Markup {
    pub(in crate::render) fn new() -> Self {
        Self {
            writer: Writer::new_with_indent(Vec::new(), b' ', 1),
        }
    }

    /// Writes `<!DOCTYPE html>`.
    pub(in crate::render) fn doctype(&mut self) -> io::Result<()> {
        self.writer
            .write_event(Event::DocType(BytesText::from_escaped("html")))
    }

    /// Writes an element around the output of `inside`.
    pub(in crate::render) fn element(
        &mut self,
        name: &str,
        attributes: &[Attribute<'_>],
        inside: impl FnOnce(&mut Self) -> io::Result<()>,
    ) -> io::Result<()> {
        let start = start_of(name, attributes);
        self.writer.write_event(Event::Start(start))?;
        inside(self)?;
        self.writer.write_event(Event::End(BytesEnd::new(name)))
    }

    /// Writes an element without contents or end tag: `rect`, `meta`.
    pub(in crate::render) fn empty(
        &mut self,
        name: &str,
        attributes: &[Attribute<'_>],
    ) -> io::Result<()> {
        let start = start_of(name, attributes);
        self.writer.write_event(Event::Empty(start))
    }

    /// Writes an element around text.
    pub(in crate::render) fn text(
        &mut self,
        name: &str,
        attributes: &[Attribute<'_>],
        text: &str,
    ) -> io::Result<()> {
        let text = printable(text);
        self.element(name, attributes, |inside| {
            inside
                .writer
                .write_event(Event::Text(BytesText::new(&text)))
        })
    }

    /// Returns the document.
    pub(in crate::render) fn finish(self) -> String {
        let mut text = String::from_utf8_lossy(&self.writer.into_inner()).into_owned();
        text.push('\n');
        text
    }
}

fn start_of<'a>(name: &'a str, attributes: &[Attribute<'_>]) -> BytesStart<'a> {
    let mut start = BytesStart::new(name);
    for (name, value) in attributes {
        start.push_attribute((*name, printable(value).as_str()));
    }
    start
}

/// Removes the characters that XML cannot express, not even escaped; queries and object names may
/// contain any.
fn printable(text: &str) -> String {
    let is_allowed = |character: char| match character {
        '\t' | '\n' => true,
        '\u{fffe}' | '\u{ffff}' => false,
        other => other >= ' ' && other != '\u{7f}',
    };
    let replaced = |character: char| match is_allowed(character) {
        true => character,
        false => '\u{fffd}',
    };
    text.chars().map(replaced).collect()
}

#[cfg(test)]
mod tests {
    use quick_xml::XmlVersion;

    use super::*;

    #[test]
    fn whatever_is_written_comes_back_as_it_was() {
        let text = "a<b>&\"c\"' ]]> \u{1}\u{1b}[31m \u{ffff} ä";
        let mut markup = Markup::new();
        markup
            .element("svg", &[("data-a", text)], |svg| {
                svg.empty("rect", &[])?;
                svg.text("title", &[], text)
            })
            .unwrap();
        let written = markup.finish();
        let expect = "a<b>&\"c\"' ]]> \u{fffd}\u{fffd}[31m \u{fffd} ä";
        let mut reader = quick_xml::Reader::from_str(&written);
        let (mut attribute, mut content) = (String::new(), String::new());
        loop {
            match reader.read_event().unwrap() {
                Event::Start(start) if start.name().as_ref() == b"svg" => {
                    let found = start.attributes().next().unwrap().unwrap();
                    let value = found.normalized_value(XmlVersion::Implicit1_0).unwrap();
                    attribute = value.into_owned();
                }
                Event::Text(text) => content.push_str(&text.decode().unwrap()),
                Event::GeneralRef(name) => {
                    let name = name.decode().unwrap();
                    content.push_str(quick_xml::escape::resolve_predefined_entity(&name).unwrap());
                }
                Event::Eof => break,
                _ => {}
            }
        }
        assert_eq!(attribute, expect);
        assert_eq!(content.trim(), expect);
    }
}
