//! Signatures name their arguments: no tuple-typed parameters, no two bools side by side.
//!
//! Crates with such signatures keep at most the number that [`PRESENT`] grants them; the goal is an empty table.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;

use super::source::code_lines;
use super::{Source, Violation};

/// Signatures with tuple-typed parameters or pairs of bools, by crate. Numbers may only shrink.
const PRESENT: &[(&str, usize)] = &[];

/// Pattern of the start of a function's parameters or of its generic parameters.
static FUNCTION: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\bfn \w+\s*[<(]").ok());

/// Checks all crates.
pub(super) fn check(sources: &[Source], found: &mut Vec<Violation>) {
    let mut by_crate: BTreeMap<&str, Vec<(&str, usize)>> = BTreeMap::new();
    for source in sources.iter().filter(|s| s.has_extension("rs") && !s.is_test()) {
        let Some(name) = crate_of(&source.path) else { continue };
        let lines = unnamed_arguments(&source.text).into_iter();
        by_crate.entry(name).or_default().extend(lines.map(|line| (source.path.as_str(), line)));
    }
    for (name, places) in by_crate {
        compare(name, &places, PRESENT, found);
    }
}

/// Crate whose library or program a file belongs to.
pub(super) fn crate_of(path: &str) -> Option<&str> {
    path.strip_prefix("packages/")?.split_once("/src/")?.0.rsplit('/').next()
}

fn compare(
    name: &str,
    places: &[(&str, usize)],
    present: &[(&str, usize)],
    found: &mut Vec<Violation>,
) {
    let granted = present.iter().find(|(known, _)| *known == name).map_or(0, |(_, count)| *count);
    if places.len() <= granted {
        return;
    }
    for (path, line) in places {
        let message = format!(
            "a tuple-typed parameter or two bools, one of {} in {name}, at most {granted}: give the values \
             names, by a parameter struct or an enum",
            places.len()
        );
        found.push(Violation::new(path, *line, message));
    }
}

/// Lines of signatures whose arguments a call does not name.
fn unnamed_arguments(text: &str) -> Vec<usize> {
    let lines: Vec<&str> = text.lines().take(code_lines(text)).collect();
    let code: String =
        lines.iter().flat_map(|line| [line.split("//").next().unwrap_or(""), "\n"]).collect();
    let starts = FUNCTION.iter().flat_map(|pattern| pattern.find_iter(&code));
    let is_unnamed = |start: usize| {
        let parameters = parameters(&code[start..]);
        let types: Vec<&str> = parameters.iter().filter_map(|p| type_of(p)).collect();
        types.iter().any(|t| is_tuple(t)) || types.iter().filter(|t| **t == "bool").count() > 1
    };
    starts
        .filter(|found| is_unnamed(found.end() - 1))
        .map(|found| code[..found.start()].matches('\n').count() + 1)
        .collect()
}

/// Parameters of a function, from its first bracket on.
fn parameters(text: &str) -> Vec<String> {
    let text = if text.starts_with('<') { &text[generics_length(text)..] } else { text };
    let mut found = vec![String::new()];
    let mut depth = 0;
    let mut previous = ' ';
    for c in text.chars() {
        match c {
            '(' | '[' | '<' | '{' => depth += 1,
            '>' if previous == '-' => {}
            ')' | ']' | '>' | '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            break;
        }
        previous = c;
        match found.last_mut() {
            _ if c == ',' && depth == 1 => found.push(String::new()),
            Some(last) => last.push(c),
            None => {}
        }
    }
    // The opening bracket of the list itself is dropped.
    if let Some(first) = found.first_mut()
        && first.starts_with('(')
    {
        first.remove(0);
    }
    found
}

fn generics_length(text: &str) -> usize {
    let mut depth = 0;
    let mut previous = ' ';
    for (index, c) in text.char_indices() {
        match c {
            '<' => depth += 1,
            '>' if previous != '-' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return index + 1;
        }
        previous = c;
    }
    text.len()
}

/// Type after the first colon outside of brackets and paths.
fn type_of(parameter: &str) -> Option<&str> {
    let mut depth = 0;
    let bytes = parameter.as_bytes();
    for (index, c) in parameter.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            ':' if depth == 0 && bytes.get(index + 1) != Some(&b':') => {
                return Some(parameter[index + 1..].trim());
            }
            _ => {}
        }
    }
    None
}

fn is_tuple(text: &str) -> bool {
    let mut rest = text;
    while let Some(inner) = rest.strip_prefix('&') {
        rest = inner.trim_start();
        if rest.starts_with('\'') {
            rest = rest.split_once(' ').map_or("", |(_, after)| after);
        }
        rest = rest.strip_prefix("mut ").unwrap_or(rest);
    }
    let Some(inside) = rest.strip_prefix('(') else { return false };
    // Brackets about bounds, as in `&mut (impl A + B)`, hold no comma.
    has_comma(inside)
}

/// Whether there is a comma before the closing bracket, outside of inner ones.
fn has_comma(text: &str) -> bool {
    let mut depth = 0;
    for c in text.chars() {
        match c {
            '(' | '[' | '<' => depth += 1,
            ')' | ']' | '>' => depth -= 1,
            ',' if depth == 0 => return true,
            _ => {}
        }
        if depth < 0 {
            return false;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tuples_and_pairs_of_bools_are_found() {
        let text = "fn a(x: f64, y: bool) {}\n\
            fn b((x, y): (f64, f64)) {}\n\
            fn c<T: Fn(f64) -> (f64, f64)>(f: T, g: impl Fn((f64, f64)) -> bool) {}\n\
            fn d(&self,\n    is_left: bool,\n    is_up: bool,\n) {}\n\
            fn e(x: &[(f64, f64)], y: ()) -> (f64, f64) {}\n\
            fn f(x: &'a mut (f64, f64)) {}\n\
            // fn g(x: (f64, f64)) {}\n\
            fn i(x: &mut (impl A<B, C> + D), y: (impl Fn(f64, f64) + E)) {}\n\
            #[cfg(test)]\nmod tests {\n    fn h(x: (f64, f64)) {}\n}\n";
        assert_eq!(unnamed_arguments(text), [2, 4, 9]);
    }

    #[test]
    fn a_crate_keeps_what_it_has_and_gets_no_more() {
        let places = [("a.rs", 1), ("b.rs", 2)];
        let mut found = Vec::new();
        compare("old", &places, &[("old", 2)], &mut found);
        assert_eq!(found, []);
        compare("old", &places, &[("old", 1)], &mut found);
        compare("new", &places[..1], &[("old", 2)], &mut found);
        let said: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(said.len(), 3, "{said:?}");
        assert!(said[1].starts_with("b.rs:2: ") && said[1].contains("a parameter struct"));
    }

    #[test]
    fn files_belong_to_crates() {
        assert_eq!(crate_of("packages/core/a/src/b/c.rs"), Some("a"));
        assert_eq!(crate_of("packages/core/a/tests/b.rs"), None);
    }
}
