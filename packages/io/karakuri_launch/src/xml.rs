//! XML text to a tree of elements that has only tags and attributes of the subset.

use std::path::Path;
use std::rc::Rc;

use roxmltree::{Document, Node};

use crate::error::{LaunchError, Place};
use crate::schema::{Tag, instead_of_attribute, instead_of_tag};

/// Largest depth of nesting; no launch file needs more.
const DEPTH_LIMIT: usize = 64;

/// Element whose tag, attributes and nesting were checked.
#[derive(Debug)]
pub(crate) struct Element {
    pub(crate) tag: &'static Tag,
    pub(crate) place: Place,
    pub(crate) attributes: Vec<(String, String)>,
    pub(crate) children: Vec<Element>,
}

impl Element {
    /// Text of an attribute.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    /// Text of an attribute that the schema requires.
    pub(crate) fn required(&self, name: &str) -> &str {
        self.get(name).unwrap_or_default()
    }

    /// Children with that tag.
    pub(crate) fn parts<'a>(&'a self, tag: &'a str) -> impl Iterator<Item = &'a Self> {
        self.children.iter().filter(move |child| child.tag.name == tag)
    }

    pub(crate) fn error(&self, problem: impl Into<String>) -> LaunchError {
        LaunchError::new(&self.place, format!("<{}>: {}", self.tag.name, problem.into()))
    }
}

/// Reads the text of a launch file.
pub(crate) fn read(file: &Path, text: &str) -> Result<Element, LaunchError> {
    let file: Rc<Path> = file.into();
    let document = Document::parse(text).map_err(|e| {
        let place = Place { file: Rc::clone(&file), line: e.pos().row as usize };
        LaunchError::new(&place, format!("not well-formed XML: {e}"))
            .remedy("close every tag and quote; write &lt; &amp; &quot; for < & \" in values")
    })?;
    let root = document.root_element();
    let reader = Reader { document: &document, file };
    if root.tag_name().name() != "launch" {
        let name = root.tag_name().name();
        return Err(LaunchError::new(&reader.place(root), format!("the root is <{name}>"))
            .remedy("a launch file is one <launch> element"));
    }
    reader.element(root, Tag::root(), 0)
}

struct Reader<'a> {
    document: &'a Document<'a>,
    file: Rc<Path>,
}

impl Reader<'_> {
    fn place(&self, node: Node) -> Place {
        let line = self.document.text_pos_at(node.range().start).row as usize;
        Place { file: Rc::clone(&self.file), line }
    }

    fn element(&self, node: Node, tag: &'static Tag, depth: usize) -> Result<Element, LaunchError> {
        let place = self.place(node);
        if depth > DEPTH_LIMIT {
            let problem = format!("<{}>: nested more than {DEPTH_LIMIT} levels deep", tag.name);
            return Err(LaunchError::new(&place, problem)
                .remedy("put what is inside into a file of its own, and include it"));
        }
        let attributes = self.attributes(node, tag)?;
        let mut children = Vec::new();
        for child in node.children() {
            if child.is_element() {
                children.push(self.child(child, tag, depth + 1)?);
            } else if child.is_text() {
                let text = child.text().unwrap_or_default().trim();
                if !text.is_empty() {
                    let problem = format!("<{}>: the text `{text}` means nothing here", tag.name);
                    return Err(LaunchError::new(&self.place(child), problem)
                        .remedy("put it into an attribute or a comment"));
                }
            }
        }
        Ok(Element { tag, place, attributes, children })
    }

    fn child(
        &self,
        child: Node,
        parent: &'static Tag,
        depth: usize,
    ) -> Result<Element, LaunchError> {
        let name = child.tag_name().name();
        if let Some(tag) = parent.child(name) {
            return self.element(child, tag, depth);
        }
        let inside = Tag::root().child(name).map(|_| format!("<{name}> is an action"));
        let remedy = inside
            .filter(|_| !matches!(parent.name, "launch" | "group" | "timer"))
            .map(|is| format!("{is}: put it beside <{}>", parent.name))
            .or_else(|| instead_of_tag(name).map(Into::into))
            .unwrap_or_else(|| match parent.nested().as_str() {
                "" => format!("<{}> has no nested tags", parent.name),
                nested => format!("<{}> may hold {nested}", parent.name),
            });
        let problem = format!("<{name}> in <{}> is outside the subset", parent.name);
        Err(LaunchError::new(&self.place(child), problem).remedy(remedy))
    }

    fn attributes(
        &self,
        node: Node,
        tag: &'static Tag,
    ) -> Result<Vec<(String, String)>, LaunchError> {
        for attribute in node.attributes() {
            let name = attribute.name();
            if !tag.has_attribute(name) {
                let problem = format!("<{}>: no attribute `{name}` in the subset", tag.name);
                let remedy = instead_of_attribute(tag.name, name)
                    .map_or_else(|| format!("it may have {}", tag.attributes()), Into::into);
                return Err(LaunchError::new(&self.place(node), problem).remedy(remedy));
            }
        }
        if let Some(missing) = tag.required.iter().find(|name| !node.has_attribute(**name)) {
            let problem = format!("<{}>: the attribute `{missing}` is missing", tag.name);
            return Err(LaunchError::new(&self.place(node), problem)
                .remedy(format!("add {missing}=\"..\"")));
        }
        if node.has_attribute("if") && node.has_attribute("unless") {
            let problem = format!("<{}>: both `if` and `unless`", tag.name);
            return Err(LaunchError::new(&self.place(node), problem)
                .remedy("put it into a <group> that has one of them"));
        }
        Ok(node.attributes().map(|a| (a.name().to_owned(), a.value().to_owned())).collect())
    }
}
