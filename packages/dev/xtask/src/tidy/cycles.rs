//! Circular dependencies between the files of a crate: a newcomer must be able to read one without the others.
//!
//! A file depends on another where it names one of its items, by `use` or by a path from `crate`, `super` or a child module.
//! Names that a module only passes on by `pub use` are followed to their file, and make no dependency of the module that passes
//! them on.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::Regex;

use super::signatures::crate_of;
use super::source::code_lines;
use super::{Source, Violation};

/// Largest number of files in a cycle.
const MAX_FILES: usize = 3;

/// Larger cycles that exist, by crate. Numbers may only shrink.
const PRESENT: &[(&str, usize)] = &[];

/// Pattern of a `use` with its visibility and its tree.
static USE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?m)^\s*(pub(?:\([^)]*\))? )?use ([^;]+);").ok());

/// Pattern of a path in an expression or a type.
static PATH: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\b[a-z_]\w*(?:::\w+)+").ok());

/// Pattern of a visibility, which names a module without depending on it.
static VISIBILITY: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"pub\(in [^)]*\)").ok());

/// Pattern of the start of a module inside of a file.
static INLINE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\bmod \w+ \{").ok());

/// Largest number of modules that pass a name on before its file.
const MAX_PASSES: usize = 8;

/// Checks all crates.
pub(super) fn check(sources: &[Source], found: &mut Vec<Violation>) {
    let mut crates: BTreeMap<&str, Vec<&Source>> = BTreeMap::new();
    for source in sources.iter().filter(|s| s.has_extension("rs") && !s.is_test()) {
        if let Some(name) = crate_of(&source.path) {
            crates.entry(name).or_default().push(source);
        }
    }
    for (name, files) in crates {
        let granted = PRESENT.iter().find(|(known, _)| *known == name);
        let granted = granted.map_or(MAX_FILES, |(_, count)| *count);
        let circle = Crate::new(&files).largest_circle();
        if circle.len() > granted {
            let mut files: Vec<String> = circle.iter().map(|path| path.join("::")).collect();
            files.sort();
            let message = format!(
                "{} files need each other in a circle, at most {granted} ({}): move what both sides need into a file below them",
                files.len(),
                files.join(", ")
            );
            found.push(Violation::new(&format!("crate {name}"), 0, message));
        }
    }
}

/// Path of a module from the root of its crate; the root is empty.
type ModulePath = Vec<String>;

struct Module {
    code: String,
    /// Names that a module takes from elsewhere, with their paths.
    passed_on: BTreeMap<String, Vec<String>>,
    /// Paths that the file's own code names.
    named: Vec<Vec<String>>,
}

struct Crate {
    modules: BTreeMap<ModulePath, Module>,
}

impl Crate {
    fn new(files: &[&Source]) -> Self {
        let read = |source: &&Source| (module_path(&source.path), Module::new(&source.text));
        Self { modules: files.iter().map(read).collect() }
    }

    fn largest_circle(&self) -> Vec<ModulePath> {
        let modules: Vec<&ModulePath> = self.modules.keys().collect();
        let reached: Vec<BTreeSet<&ModulePath>> =
            modules.iter().map(|module| self.reached_from(module)).collect();
        let circle_of = |index: usize| -> Vec<ModulePath> {
            let both = |other: &usize| {
                reached[index].contains(modules[*other]) && reached[*other].contains(modules[index])
            };
            (0..modules.len()).filter(both).map(|other| modules[other].clone()).collect()
        };
        (0..modules.len()).map(circle_of).max_by_key(Vec::len).unwrap_or_default()
    }

    fn reached_from(&self, start: &ModulePath) -> BTreeSet<&ModulePath> {
        let mut reached = BTreeSet::new();
        let mut open = vec![start.clone()];
        while let Some(module) = open.pop() {
            for next in self.needed_by(&module) {
                if reached.insert(next) {
                    open.push(next.clone());
                }
            }
        }
        reached
    }

    fn needed_by(&self, path: &ModulePath) -> BTreeSet<&ModulePath> {
        let named = self.modules.get(path).map_or(&[][..], |module| &module.named);
        let files = named.iter().filter_map(|name| self.file_of(path, name, 0));
        files.filter(|file| *file != path).collect()
    }

    /// File that defines the item of a path, seen from a module.
    fn file_of(&self, from: &ModulePath, name: &[String], passes: usize) -> Option<&ModulePath> {
        let mut at = from.clone();
        let mut rest = name;
        let mut is_inside = false;
        while let [first, others @ ..] = rest {
            match first.as_str() {
                "crate" => at.clear(),
                "super" => drop(at.pop()?),
                "self" => {}
                _ => break,
            }
            is_inside = true;
            rest = others;
        }
        while let [first, others @ ..] = rest {
            let child: ModulePath = at.iter().chain([first]).cloned().collect();
            if !self.modules.contains_key(&child) {
                break;
            }
            (at, rest, is_inside) = (child, others, true);
        }
        let (file, module) = self.modules.get_key_value(&at)?;
        let source = rest.first().and_then(|name| module.passed_on.get(name));
        match source {
            Some(source) if passes < MAX_PASSES => self.file_of(&at, source, passes + 1),
            _ => is_inside.then_some(file),
        }
    }
}

impl Module {
    fn new(text: &str) -> Self {
        let lines = text.lines().take(code_lines(text));
        let code: String =
            lines.flat_map(|line| [line.split("//").next().unwrap_or(""), "\n"]).collect();
        let code = without_inline_modules(&code);
        let mut module = Self { code, passed_on: BTreeMap::new(), named: Vec::new() };
        let uses = USE.iter().flat_map(|pattern| pattern.captures_iter(&module.code));
        for found in uses {
            let mut paths = Vec::new();
            expand(&found[2], &[], &mut paths);
            for path in &paths {
                if let Some(name) = path.last().cloned() {
                    module.passed_on.insert(name, path.clone());
                }
            }
            if found.get(1).is_none() {
                module.named.extend(paths);
            }
        }
        let body =
            USE.as_ref().map(|pattern| pattern.replace_all(&module.code, "")).unwrap_or_default();
        let body = VISIBILITY
            .as_ref()
            .map(|pattern| pattern.replace_all(&body, "pub"))
            .unwrap_or_default();
        let paths = PATH.iter().flat_map(|pattern| pattern.find_iter(&body));
        let split = |path: &str| path.split("::").map(str::to_owned).collect();
        module.named.extend(paths.map(|path| split(path.as_str())));
        module
    }
}

/// Code in which the paths of inline modules are seen from the file: `super` in them is the file itself.
fn without_inline_modules(code: &str) -> String {
    let mut result = String::new();
    let mut rest = code;
    while let Some(found) = INLINE.as_ref().and_then(|pattern| pattern.find(rest)) {
        let (before, inside) = rest.split_at(found.end());
        let (body, after) = inside.split_at(block_length(inside));
        result.push_str(before);
        let outer = without_inline_modules(body).replace("super::super::", "outer::");
        result.push_str(&outer.replace("super::", "self::").replace("outer::", "super::"));
        rest = after;
    }
    result + rest
}

/// Length up to the bracket that closes the block in which a text begins.
fn block_length(text: &str) -> usize {
    let mut depth = 1;
    let closing = text.char_indices().find(|(_, c)| {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        depth == 0
    });
    closing.map_or(text.len(), |(index, _)| index)
}

/// Module path of a file: `packages/core/a/src/b/c.rs` is `b::c`; `lib.rs`, `main.rs` and `mod.rs` are their folder.
fn module_path(path: &str) -> ModulePath {
    let inside = path.split_once("/src/").map_or(path, |(_, inside)| inside);
    let mut names: ModulePath =
        inside.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    if names.last().is_some_and(|name| ["lib", "main", "mod"].contains(&name.as_str())) {
        names.pop();
    }
    names
}

/// Paths of a tree, as `a::{b, c::d}`; renamed items keep their first name.
fn expand(tree: &str, before: &[String], found: &mut Vec<Vec<String>>) {
    let tree = tree.trim();
    let (path, group) = match tree.split_once('{') {
        Some((path, group)) => (path, group.trim_end().strip_suffix('}')),
        None => (tree.split(" as ").next().unwrap_or(tree), None),
    };
    let names = path.split("::").map(str::trim).filter(|name| !name.is_empty());
    let mut names: Vec<String> = before.iter().cloned().chain(names.map(str::to_owned)).collect();
    let Some(group) = group else {
        // `use a::{self}` names the module.
        if names.last().is_some_and(|name| name == "self") && names.len() > 1 {
            names.pop();
        }
        found.push(names);
        return;
    };
    let mut depth = 0;
    let parts = group.split(|c| {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0
    });
    for part in parts.filter(|part| !part.trim().is_empty()) {
        expand(part, &names, found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circle(files: &[(&str, &str)]) -> Vec<String> {
        let source = |(path, text): &(&str, &str)| Source {
            path: format!("packages/core/x/src/{path}"),
            text: (*text).to_owned(),
        };
        let sources: Vec<Source> = files.iter().map(source).collect();
        let circle = Crate::new(&sources.iter().collect::<Vec<_>>()).largest_circle();
        circle.iter().map(|path| path.join("::")).collect()
    }

    #[test]
    fn files_that_need_each_other_are_found() {
        let files = [
            ("lib.rs", "mod a;\nmod b;\nmod c;\npub use c::C;\n"),
            ("a.rs", "use crate::b::{self, B};\n"),
            ("b/mod.rs", "mod inner;\npub use inner::Inner;\nfn f() { crate::C::new(); }\n"),
            ("b/inner.rs", "use super::B;\n"),
            ("c.rs", "// crate::b\nuse crate::{a::{A, f as g}, std::D};\n"),
        ];
        assert_eq!(circle(&files), ["a", "b", "c"]);
    }

    #[test]
    fn a_module_inside_of_a_file_is_of_the_file() {
        let files = [
            ("lib.rs", "mod a;\nfn f() { a::inside::g(); }\n"),
            (
                "a.rs",
                "struct A {}\nmod inside {\n    use super::A;\n    fn g() { super::h() }\n}\n",
            ),
        ];
        assert_eq!(circle(&files), Vec::<String>::new());
    }

    #[test]
    fn what_is_passed_on_is_no_circle() {
        let files = [
            ("lib.rs", "mod a;\nmod b;\npub use a::A;\npub use b::B;\n"),
            ("a.rs", "pub struct A;\n"),
            ("b.rs", "use crate::A;\n"),
        ];
        assert_eq!(circle(&files), Vec::<String>::new());
    }
}
