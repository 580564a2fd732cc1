//! YAML with places: a tree of nodes that know where they are written, and typed reading that reports every problem.

mod typed;

pub use typed::{YamlError, read, read_tree};

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::sync::Arc;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, Span};

use crate::closest::closest;
use crate::diagnostic::{Place, Report};

/// Nesting that no robot needs.
// So many levels of recursion fit into the stack of any thread.
const DEPTH_LIMIT: usize = 32;
/// Nodes, aliases counted once: a file of aliases of aliases stays small. A height field of 2000 x 2000 fits; in
/// memory a node takes some 100 bytes.
const NODES_LIMIT: usize = 5_000_000;

/// A value and its place.
#[derive(Debug)]
pub struct Node {
    /// Place in the file.
    pub place: Place,
    /// Value of the node.
    pub value: Value,
    /// The variant that it is of, `contacts` of `!contacts {...}`.
    pub tag: Option<String>,
}

/// Content of a node.
#[derive(Debug)]
pub enum Value {
    /// A number, word or text.
    Scalar {
        /// Text as written.
        text: String,
        /// Whether it is not quoted; quoted it is no number.
        plain: bool,
    },
    /// List of nodes.
    List(Vec<Arc<Node>>),
    /// Keys, where they are written, and their values, in the order of the file.
    Map(Vec<(String, Place, Arc<Node>)>),
}

impl Node {
    /// Name of the kind, for "expected a list, found ...".
    fn kind(&self) -> String {
        match &self.value {
            Value::Scalar { text, .. } if text.is_empty() => "nothing".to_owned(),
            Value::Scalar { text, .. } => {
                let start: String = text.chars().take(30).collect();
                format!("`{start}`")
            }
            Value::List(_) => "a list".to_owned(),
            Value::Map(_) => "a mapping".to_owned(),
        }
    }

    /// Whether it is a `key:` without a value.
    pub fn is_nothing(&self) -> bool {
        // Quoted, these are words.
        matches!(&self.value, Value::Scalar { text, plain: true } if matches!(text.as_str(), "" | "~" | "null"))
    }
}

/// Parses one document; `None` after reporting why not.
pub fn parse(file: &str, text: &str, report: &mut Report) -> Option<Arc<Node>> {
    let text_for_parser = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut builder = TreeBuilder {
        places: Places::new(file, text_for_parser),
        anchors: BTreeMap::new(),
        nodes: 0,
    };
    let mut parser = Parser::new_from_str(text_for_parser);
    let mut next = || match parser.next_event() {
        Some(Ok(event)) => Ok(Some(event)),
        Some(Err(error)) => Err((*error.marker(), (error.info().to_owned(), SYNTAX_REMEDY))),
        None => Ok(None),
    };
    match builder.document(&mut next) {
        Ok(root) => root,
        Err((marker, problem)) => {
            let place = builder.places.at(marker);
            report.error_at(place, format!("not readable as YAML: {}", problem.0), problem.1);
            None
        }
    }
}

/// Place, message and remedy of a failure.
type Failure = (Marker, (String, &'static str));
type NextEvent<'a, 'n> = dyn FnMut() -> Result<Option<(Event<'a>, Span)>, Failure> + 'n;

const SYNTAX_REMEDY: &str = "correct the indentation, brackets or quotes there";

/// The parser's markers, counted in characters, to places in bytes. Markers come in the order of the file but for a
/// few characters, so that all of them together cost one pass over the text, however its lines are broken.
struct Places<'a> {
    file: Arc<str>,
    text: &'a str,
    /// Byte offsets of the line feeds.
    line_ends: Vec<usize>,
    /// The last marker, in characters and in bytes.
    last: (usize, usize),
    /// Characters walked over so far, which must grow as the text does.
    #[cfg(test)]
    walked: usize,
}

impl<'a> Places<'a> {
    fn new(file: &str, text: &'a str) -> Self {
        let line_ends = text.bytes().enumerate().filter(|&(_, b)| b == b'\n').map(|(i, _)| i);
        Self {
            file: file.into(),
            text,
            line_ends: line_ends.collect(),
            last: (0, 0),
            #[cfg(test)]
            walked: 0,
        }
    }

    /// The byte offset of a character.
    fn byte(&mut self, character: usize) -> usize {
        let (from, start) = self.last;
        #[cfg(test)]
        {
            self.walked += character.abs_diff(from);
        }
        // From the last place, forwards or a few characters back.
        let byte = if character >= from {
            let ahead = self.text[start..].chars().take(character - from);
            start + ahead.map(char::len_utf8).sum::<usize>()
        } else {
            let back = self.text[..start].chars().rev().take(from - character);
            start - back.map(char::len_utf8).sum::<usize>()
        };
        self.last = (character, byte);
        byte
    }

    /// Place from the marker to the end of what is written on its line.
    fn at(&mut self, marker: Marker) -> Place {
        let start = self.byte(marker.index());
        // The parser's own line is one too many at the end of a text without a line feed.
        let line = self.line_ends.partition_point(|&end| end < start);
        let end = self.line_ends.get(line).copied().unwrap_or(self.text.len());
        // The start of a one-line file of a million nodes must not look at what follows each of them.
        let end = end - trailing_space(&self.text[start..end]);
        Place {
            file: Arc::clone(&self.file),
            line: line + 1,
            column: marker.col() + 1,
            span: (start, end),
        }
    }
}

/// Bytes of white space at the end of a text.
fn trailing_space(text: &str) -> usize {
    text.chars().rev().take_while(|c| c.is_whitespace()).map(char::len_utf8).sum()
}

struct TreeBuilder<'a> {
    places: Places<'a>,
    anchors: BTreeMap<usize, Arc<Node>>,
    nodes: usize,
}

impl TreeBuilder<'_> {
    fn document(&mut self, next: &mut NextEvent<'_, '_>) -> Result<Option<Arc<Node>>, Failure> {
        let mut root = None;
        while let Some((event, span)) = next()? {
            match event {
                // Which of two documents is meant is not said, and the second would be lost.
                Event::DocumentStart(_) if root.is_some() => {
                    let what = "a second document begins here".to_owned();
                    return Err((
                        span.start,
                        (what, "delete `---` and what follows, or make it a file of its own"),
                    ));
                }
                Event::StreamEnd => break,
                Event::StreamStart
                | Event::DocumentStart(_)
                | Event::DocumentEnd
                | Event::Nothing => {}
                event => root = Some(self.node(event, span, next, 0)?),
            }
        }
        Ok(root)
    }

    fn node(
        &mut self,
        event: Event<'_>,
        span: Span,
        next: &mut NextEvent<'_, '_>,
        depth: usize,
    ) -> Result<Arc<Node>, Failure> {
        let fail = |what: &str, remedy| Err((span.start, (what.to_owned(), remedy)));
        self.nodes += 1;
        // The tree is read, dropped and deserialised recursively: depth is what the stack has to hold.
        if depth > DEPTH_LIMIT {
            let what = format!("nested more than {DEPTH_LIMIT} levels deep");
            return fail(&what, "no file of karakuri is so deep; close what is left open above");
        }
        if self.nodes > NODES_LIMIT {
            let what = format!("more than {NODES_LIMIT} values");
            return fail(&what, "split the file, or put large shapes into mesh files");
        }
        let place = self.places.at(span.start);
        let (anchor, value, tag) = match event {
            // Shared, not copied: aliases of aliases could else fill any memory.
            Event::Alias(id) => {
                return self
                    .anchors
                    .get(&id)
                    .cloned()
                    .map_or_else(|| fail("alias of itself", SYNTAX_REMEDY), Ok);
            }
            Event::Scalar(text, style, anchor, tag) => {
                // `!!str 12` is a text.
                let is_text = tag
                    .as_ref()
                    .is_some_and(|tag| tag.is_yaml_core_schema() && tag.suffix == "str");
                let plain = style == ScalarStyle::Plain && !is_text;
                (anchor, Value::Scalar { text: text.into_owned(), plain }, tag)
            }
            Event::SequenceStart(anchor, tag) => {
                let mut items = Vec::new();
                while let Some((event, span)) = next()? {
                    if matches!(event, Event::SequenceEnd) {
                        break;
                    }
                    items.push(self.node(event, span, next, depth + 1)?);
                }
                (anchor, Value::List(items), tag)
            }
            Event::MappingStart(anchor, tag) => (anchor, self.map(next, depth)?, tag),
            _ => return fail("unexpected end", SYNTAX_REMEDY),
        };
        let tag = tag.filter(|tag| !tag.is_yaml_core_schema()).map(|tag| tag.suffix.clone());
        let node = Arc::new(Node { place, value, tag });
        if anchor > 0 {
            // Only once the node is complete, so an alias within itself is not found and refused.
            self.anchors.insert(anchor, Arc::clone(&node));
        }
        Ok(node)
    }

    fn map(&mut self, next: &mut NextEvent<'_, '_>, depth: usize) -> Result<Value, Failure> {
        let mut entries = Vec::new();
        while let Some((event, span)) = next()? {
            let key = match event {
                Event::MappingEnd => break,
                Event::Scalar(key, ..) => key.into_owned(),
                _ => {
                    let what = "a key must be a word".to_owned();
                    return Err((span.start, (what, "write `key: value`")));
                }
            };
            let place = self.places.at(span.start);
            // Never: the parser gives a value, if an empty one, for each key.
            let Some((event, span)) = next()? else { break };
            entries.push((key, place, self.node(event, span, next, depth + 1)?));
        }
        Ok(Value::Map(entries))
    }
}

/// Typed reading of a tree; `path` names the key, as `drives.joint_1.stiffness`.
#[derive(Debug)]
pub struct Reader<'r> {
    /// Report that takes the problems.
    pub report: &'r mut Report,
}

/// The entries of a mapping whose keys were checked.
#[derive(Debug)]
pub struct Fields<'n> {
    path: String,
    place: Place,
    entries: BTreeMap<&'n str, &'n Arc<Node>>,
}

impl<'n> Fields<'n> {
    /// The value of a key, if it is there, and its path.
    pub fn get(&self, key: &str) -> Option<(&'n Node, String)> {
        let node: &'n Arc<Node> = self.entries.get(key)?;
        Some((node, join(&self.path, key)))
    }
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

impl Reader<'_> {
    /// Reports a problem at a node.
    pub fn error(&mut self, node: &Node, message: String, remedy: &str) {
        self.report.error_at(node.place.clone(), message, remedy);
    }

    /// A mapping with free keys: each once.
    pub fn entries<'n>(
        &mut self,
        node: &'n Node,
        path: &str,
    ) -> Vec<(&'n str, &'n Place, &'n Node, String)> {
        let Value::Map(entries) = &node.value else {
            // `sensors:` alone is an empty mapping: the user has taken all of them out.
            if !node.is_nothing() {
                let message = format!("{path}: expected a mapping, found {}", node.kind());
                self.error(node, message, "write `name: ...` lines below it, indented");
            }
            return Vec::new();
        };
        let mut seen = BTreeSet::new();
        let mut result = Vec::with_capacity(entries.len());
        for (key, place, value) in entries {
            let full = join(path, key);
            // YAML forbids equal keys; parsers let one of them win in silence.
            if seen.insert(key) {
                result.push((key.as_str(), place, value.as_ref(), full));
            } else {
                self.report.error_at(place.clone(), format!("{full} is there twice"), "delete one");
            }
        }
        result
    }

    /// A mapping with known keys only.
    pub fn fields<'n>(&mut self, node: &'n Node, path: &str, known: &[&str]) -> Fields<'n> {
        let mut fields =
            Fields { path: path.to_owned(), place: node.place.clone(), entries: BTreeMap::new() };
        let Value::Map(entries) = &node.value else {
            let what = if path.is_empty() { "the file" } else { path };
            let message = format!("{what}: expected a mapping, found {}", node.kind());
            self.error(node, message, &format!("write keys of {}", known.join(", ")));
            return fields;
        };
        for (key, place, value) in entries {
            let full = join(path, key);
            if !known.contains(&key.as_str()) {
                let remedy = closest(key, known.iter().copied()).map_or_else(
                    || format!("known here: {}", known.join(", ")),
                    |name| format!("did you mean `{name}`?"),
                );
                self.report.error_at(place.clone(), format!("unknown key {full}"), remedy);
            } else if fields.entries.insert(key, value).is_some() {
                self.report.error_at(place.clone(), format!("{full} is there twice"), "delete one");
            }
        }
        fields
    }

    /// A key that must be there.
    pub fn required<'n>(
        &mut self,
        fields: &Fields<'n>,
        key: &str,
        example: &str,
    ) -> Option<(&'n Node, String)> {
        // `key:` without a value is as missing as no key.
        let field = fields.get(key).filter(|(node, _)| !node.is_nothing());
        if field.is_none() {
            let message = format!("{} is missing", join(&fields.path, key));
            self.report.error_at(
                fields.place.clone(),
                message,
                format!("write `{key}: {example}`"),
            );
        }
        field
    }

    /// Reads a word.
    pub fn text<'n>(&mut self, node: &'n Node, path: &str) -> Option<&'n str> {
        if let Value::Scalar { text, .. } = &node.value
            && !node.is_nothing()
        {
            return Some(text);
        }
        self.error(
            node,
            format!("{path}: expected a name, found {}", node.kind()),
            "write one word",
        );
        None
    }

    /// A list; empty after a report.
    pub fn list<'n>(&mut self, node: &'n Node, path: &str) -> &'n [Arc<Node>] {
        if let Value::List(items) = &node.value {
            return items;
        }
        self.error(
            node,
            format!("{path}: expected a list, found {}", node.kind()),
            "write [a, b, ...]",
        );
        &[]
    }

    /// A list of words.
    pub fn texts(&mut self, node: &Node, path: &str) -> Vec<String> {
        let items = self.list(node, path);
        items.iter().filter_map(|item| self.text(item, path).map(str::to_owned)).collect()
    }

    /// A finite number in a range.
    pub fn number(
        &mut self,
        node: &Node,
        path: &str,
        range: &RangeInclusive<f64>,
        unit: &str,
    ) -> Option<f64> {
        let number = match &node.value {
            // A number in quotes is a text, as whoever quoted it meant.
            Value::Scalar { text, plain: true } => {
                text.parse::<f64>().ok().filter(|x| x.is_finite())
            }
            _ => None,
        };
        // The range goes into the sentence, so a user who missed it once knows it.
        let allowed = describe(range, unit);
        match number {
            Some(number) if range.contains(&number) => return Some(number),
            Some(number) => self.error(
                node,
                format!("{path}: {number} is out of range"),
                &format!("write {allowed}"),
            ),
            None => {
                let message = format!("{path}: expected a number, found {}", node.kind());
                self.error(node, message, &format!("write {allowed}"));
            }
        }
        None
    }

    /// Reads three numbers.
    pub fn vector(&mut self, node: &Node, path: &str, unit: &str) -> Option<[f64; 3]> {
        let items = self.list(node, path);
        if let Value::List(items) = &node.value
            && items.len() != 3
        {
            let message = format!("{path} has {} numbers, not 3", items.len());
            self.error(node, message, &format!("write [x, y, z] in {unit}"));
            return None;
        }
        let mut vector = [0.0; 3];
        // One limit for all lengths: what is beyond 1e9 m is a wrong unit.
        for (x, item) in vector.iter_mut().zip(items) {
            *x = self.number(item, path, &(-1e9..=1e9), unit)?;
        }
        (items.len() == 3).then_some(vector)
    }

    /// Three numbers that give a direction, made unit.
    pub fn unit_vector(&mut self, node: &Node, path: &str) -> Option<[f64; 3]> {
        let v = self.vector(node, path, "any length")?;
        let norm = v.iter().map(|x| x * x).sum::<f64>().sqrt();
        if norm > 0.0 {
            return Some(v.map(|x| x / norm));
        }
        self.error(node, format!("{path}: has no direction"), "write [0, 0, 1], say");
        None
    }

    /// Two numbers, the lower first.
    pub fn interval(
        &mut self,
        node: &Node,
        path: &str,
        range: &RangeInclusive<f64>,
        unit: &str,
    ) -> Option<(f64, f64)> {
        if let [lower, upper] = self.list(node, path) {
            let lower = self.number(lower, path, range, unit)?;
            let upper = self.number(upper, path, range, unit)?;
            if lower <= upper {
                return Some((lower, upper));
            }
        }
        let remedy = format!("write [lower, upper], each {}", describe(range, unit));
        self.error(node, format!("{path}: is no interval"), &remedy);
        None
    }

    /// A whole number of at least zero.
    pub fn count(&mut self, node: &Node, path: &str) -> Option<u64> {
        let number = match &node.value {
            Value::Scalar { text, plain: true } => text.parse().ok(),
            _ => None,
        };
        if number.is_none() {
            let message = format!("{path}: expected a whole number, found {}", node.kind());
            self.error(node, message, "write 1, say");
        }
        number
    }

    /// `true` or `false`.
    pub fn flag(&mut self, node: &Node, path: &str) -> Option<bool> {
        match self.text(node, path)? {
            "true" => Some(true),
            "false" => Some(false),
            other => {
                let message = format!("{path}: unknown value `{other}`");
                self.error(node, message, "write true or false");
                None
            }
        }
    }
}

fn describe(range: &RangeInclusive<f64>, unit: &str) -> String {
    let (low, high) = (*range.start(), *range.end());
    let unit = if unit.is_empty() { String::new() } else { format!(" [{unit}]") };
    // Ranges this wide only keep out absurd numbers and need not be spelled out.
    if low <= -1e9 && high >= 1e9 {
        format!("a number{unit}")
    } else if high >= 1e9 {
        format!("a number of at least {low}{unit}")
    } else {
        format!("a number from {low} to {high}{unit}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Places of a long file, on many lines or on one, cost a walk over it once: not one for each value.
    #[test]
    fn places_cost_one_pass_over_the_text() {
        for separator in [",\n", ", "] {
            let values: Vec<String> = (0..20_000).map(|i| format!("k{i}: [0, é, 1.5]")).collect();
            let text = format!("{{{}}}", values.join(separator));
            let mut places = Places::new("f.yaml", &text);
            let mut n_markers = 0;
            for event in Parser::new_from_str(&text) {
                let (_, span) = event.unwrap();
                let place = places.at(span.start);
                assert!(text.is_char_boundary(place.span.0));
                n_markers += 1;
            }
            assert!(n_markers > 100_000);
            let length = text.chars().count();
            assert!(places.walked < 2 * length, "{} for {length} characters", places.walked);
        }
    }

    #[test]
    fn a_place_is_the_rest_of_its_line() {
        let text = "# ünicode\r\na: [é, b]  \r\nc: d";
        let mut report = Report::default();
        let root = parse("f.yaml", text, &mut report).unwrap();
        let Value::Map(entries) = &root.value else { panic!("{root:?}") };
        let shown = |place: &Place| (place.line, place.column, &text[place.span.0..place.span.1]);
        let Value::List(items) = &entries[0].2.value else { panic!("{root:?}") };
        assert_eq!(shown(&items[1].place), (2, 8, "b]"));
        assert_eq!(shown(&entries[1].1), (3, 1, "c: d"));
    }
}
