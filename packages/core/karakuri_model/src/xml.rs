//! XML text with places: what URDF, SRDF and COLLADA readers share.

use std::fmt::Write as _;

use roxmltree::{Attribute, Document, Error, Node, ParsingOptions};

use crate::diagnostic::{Place, Report};

/// Elements and attributes that one file may hold; a humanoid's URDF has a few thousand.
// Bounds the memory that a hostile file can ask for.
const NODES_LIMIT: u32 = 2_000_000;
/// Prefixes without declaration that are declared on the fly.
// Each costs a parse of the whole file; real files have two or three, as `gz` and `xacro`.
const UNDECLARED_LIMIT: usize = 32;

/// An XML file's text, made fit for a strict parser, and the places in the original.
pub(crate) struct XmlText<'a> {
    /// File as the user named it.
    pub(crate) file: &'a str,
    original: &'a str,
    /// The original with declarations of undeclared prefixes.
    text: String,
    /// Position of their insertion, and the number of bytes.
    inserted: (usize, usize),
    /// Ends of the original's lines: a long file is asked for many places.
    line_ends: Vec<usize>,
}

impl<'a> XmlText<'a> {
    /// Checks that the text is XML; `None` after reporting why not.
    pub(crate) fn new(file: &'a str, original: &'a str, report: &mut Report) -> Option<Self> {
        let whole = Place::file(file);
        // An XML declaration must be the very first thing for the parser.
        let trimmed = original.trim_start_matches(['\u{feff}']).trim_start();
        if trimmed.is_empty() {
            report.error_at(
                whole,
                "the file is empty".to_owned(),
                "write the robot into it, or name another file",
            );
            return None;
        }
        if !trimmed.starts_with('<') {
            let place =
                Place::in_text(file, original, original.len() - trimmed.len()..original.len());
            // What the file says instead is not quoted: it may be anybody's file.
            report.error_at(
                place,
                "not XML: it does not start with `<`".to_owned(),
                "name a URDF file",
            );
            return None;
        }
        // Some editors leave a byte-order mark or blank lines before `<?xml`; parsers refuse them, urdfdom does not.
        let mut xml = Self {
            file,
            original,
            text: trimmed.to_owned(),
            inserted: (0, 0),
            line_ends: original.match_indices('\n').map(|(i, _)| i).collect(),
        };
        xml.declare_prefixes(report).then_some(xml)
    }

    /// Declares prefixes until the text parses; tinyxml2, which urdfdom uses, knows no namespaces.
    fn declare_prefixes(&mut self, report: &mut Report) -> bool {
        for _ in 0..UNDECLARED_LIMIT {
            let Err(error) = self.parse() else { return true };
            if let Error::UnknownNamespace(prefix, _) = &error
                && let Some(at) = root_name_end(&self.text)
            {
                let declaration = format!(" xmlns:{prefix}=\"undeclared:{prefix}\"");
                self.text.insert_str(at, &declaration);
                // All declarations go in at the same place, so one position and the sum of their lengths map places back.
                self.inserted = (at, self.inserted.1 + declaration.len());
                continue;
            }
            self.report_error(&error, report);
            return false;
        }
        report.error_at(
            Place::file(self.file),
            format!("more than {UNDECLARED_LIMIT} undeclared namespace prefixes"),
            "declare them with xmlns:prefix=\"...\" in the root element",
        );
        false
    }

    /// The document; succeeds once constructed.
    pub(crate) fn parse(&self) -> Result<Document<'_>, Error> {
        let options = ParsingOptions {
            // Entities of a DTD can expand a short file to gigabytes.
            allow_dtd: false,
            nodes_limit: NODES_LIMIT,
            ..ParsingOptions::default()
        };
        Document::parse_with_options(&self.text, options)
    }

    fn report_error(&self, error: &Error, report: &mut Report) {
        let position = error.pos();
        let line_start: usize = self
            .text
            .split_inclusive('\n')
            .take(position.row.saturating_sub(1) as usize)
            .map(str::len)
            .sum();
        let in_line: usize = self.text[line_start..]
            .chars()
            .take(position.col.saturating_sub(1) as usize)
            .map(char::len_utf8)
            .sum();
        let at = match error {
            // The parser stops behind the last line break; the last thing written is a better place to look.
            Error::UnclosedRootNode | Error::UnexpectedEndOfStream => self.text.trim_end().len(),
            _ => line_start + in_line,
        };
        let place = self.place(at..at + 1);
        let remedy = match error {
            Error::UnexpectedCloseTag(expected, actual, _) => {
                format!("close <{expected}> before </{actual}>, or correct the misspelled one")
            }
            Error::UnclosedRootNode | Error::UnexpectedEndOfStream => {
                "the file ends too early: add the missing end tags".to_owned()
            }
            Error::DtdDetected => {
                "remove the <!DOCTYPE ...> declaration: a URDF needs none".to_owned()
            }
            Error::DuplicatedAttribute(name, _) => format!("keep one `{name}`"),
            Error::UnknownEntityReference(name, _) => {
                format!("write the character itself, or &amp;{name}; for a literal &")
            }
            Error::NodesLimitReached => "split the file, or remove what is not robot".to_owned(),
            _ => "correct the XML there (an XML editor shows the place)".to_owned(),
        };
        let mut message = String::from("not well-formed XML: ");
        // The parser's text ends with its own line and column, which `place` gives already.
        let text = error.to_string();
        let text = text.rsplit_once(" at ").map_or(text.as_str(), |(text, _)| text);
        if write!(message, "{text}").is_ok() {
            report.error_at(place, message, remedy);
        }
    }

    /// Place of some bytes of the parsed text.
    pub(crate) fn place(&self, span: std::ops::Range<usize>) -> Place {
        // What was trimmed off the front; all else is as long as it was, but for the declarations.
        let skipped = self.original.len() + self.inserted.1 - self.text.len();
        let original = |at: usize| {
            let at = if at > self.inserted.0 {
                at.saturating_sub(self.inserted.1).max(self.inserted.0)
            } else {
                at
            };
            at + skipped
        };
        let (start, end) = (original(span.start).min(self.original.len()), original(span.end));
        if !self.original.is_char_boundary(start) {
            return Place::in_text(self.file, self.original, start..end);
        }
        let line = self.line_ends.partition_point(|&at| at < start) + 1;
        Place::in_line(self.file, self.original, line, start..end)
    }

    /// Place of an element's start tag.
    pub(crate) fn node(&self, node: Node<'_, '_>) -> Place {
        let range = node.range();
        // The start tag alone: the range of an element covers all that is in it.
        let tag_end = self.text[range.clone()].find('>').map_or(range.end, |i| range.start + i + 1);
        self.place(range.start..tag_end)
    }

    /// Place of an attribute's value.
    pub(crate) fn value(&self, attribute: &Attribute<'_, '_>) -> Place {
        self.place(attribute.range_value())
    }
}

/// Position at which the root element's name ends in the text.
fn root_name_end(text: &str) -> Option<usize> {
    // Past the declaration and comments, to the first start tag; its attributes follow the name.
    let mut rest = 0;
    loop {
        let start = rest + text[rest..].find('<')?;
        let after = &text[start + 1..];
        let skip_to = |end: &str| after.find(end).map(|i| start + 1 + i + end.len());
        if after.starts_with("!--") {
            rest = skip_to("-->")?;
        } else if after.starts_with('?') {
            rest = skip_to("?>")?;
        } else {
            let name = after.find(|c: char| c.is_whitespace() || c == '>' || c == '/')?;
            return Some(start + 1 + name);
        }
    }
}
