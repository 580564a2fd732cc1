//! Rules about one file: its size, its header, its units, and text that it must not contain.

use std::sync::LazyLock;

use regex::Regex;

use super::{Source, Violation};

/// Largest number of lines without tests; a longer file has two subjects.
const MAX_LINES: usize = 800;
/// Largest number of lines of a node's `node.rs` without tests: it wires topics, goals and parameters to the code that
/// computes.
const MAX_NODE_LINES: usize = 200;

/// Folders of others' robots, kept as they are.
const FOREIGN: [&str; 1] = ["tests/robots/"];

/// Files that may be longer, each with its reason.
const LONG_FILES: [(&str, &str); 0] = [];

/// Pattern of paths that exist on one machine only. Built from pieces, so that this file keeps its own rule.
static MACHINE_PATH: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(r"(^|[\s`'\x22(=:])/", r"(work|root|home/[a-z]\w*)/|\.\./", "shared")).ok()
});

/// Pattern of an open end, with its issue if it names one.
static OPEN_END: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(concat!(r"\b(TO", r"DO|FIX", r"ME|XX", r"X)\b(\(#\d+\))?")).ok());

/// Pattern of the client library, as code names it.
static CLIENT_LIBRARY: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(concat!(r"\br2", r"r(::|;| as )")).ok());

static FLOAT_FIELD: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^\s*pub (\w+): (Option<)?(\[)?f64").ok());

/// Checks one file.
pub(super) fn check(source: &Source, found: &mut Vec<Violation>) {
    let is_foreign = FOREIGN.iter().any(|folder| source.path.starts_with(folder));
    if is_foreign || source.has_extension("lock") {
        return;
    }
    each_line(source, found);
    if source.has_extension("rs") && !source.is_test() {
        size(source, found);
        header(source, found);
        units(source, found);
    }
}

fn matches(pattern: &LazyLock<Option<Regex>>, line: &str) -> bool {
    pattern.as_ref().is_some_and(|pattern| pattern.is_match(line))
}

fn each_line(source: &Source, found: &mut Vec<Violation>) {
    let may_name_client = source.path.starts_with("packages/ros/karakuri_ros/");
    for (index, line) in source.text.lines().enumerate() {
        let mut report =
            |message: &str| found.push(Violation::new(&source.path, index + 1, message));
        if matches(&MACHINE_PATH, line) {
            report("a path of one machine; use a relative path or a package's share folder");
        }
        let open_end = OPEN_END.as_ref().and_then(|pattern| pattern.captures(line));
        if open_end.is_some_and(|found| found.get(2).is_none()) {
            report("an open end without its issue; write it as (#123), or do it");
        }
        if source.has_extension("rs") && !may_name_client && matches(&CLIENT_LIBRARY, line) {
            report("names the client library; only karakuri_ros may: use what it offers");
        }
    }
}

/// Number of lines before the tests at the file's end.
pub(super) fn code_lines(text: &str) -> usize {
    let lines: Vec<&str> = text.lines().collect();
    // `mod tests;` may stand at the top, with code below it.
    let is_inline = |line: &str| line.starts_with("mod ") && line.ends_with('{');
    let tests = lines.windows(2).position(|w| w[0] == "#[cfg(test)]" && is_inline(w[1]));
    tests.unwrap_or(lines.len())
}

fn size(source: &Source, found: &mut Vec<Violation>) {
    let lines = code_lines(&source.text);
    let is_node = source.path.starts_with("packages/nodes/") && source.path.ends_with("/node.rs");
    if is_node && lines > MAX_NODE_LINES {
        let message = format!(
            "{lines} lines, a node has at most {MAX_NODE_LINES}: state goes to a file of its own, arithmetic to core"
        );
        found.push(Violation::new(&source.path, 0, message));
    }
    if lines > MAX_LINES && !LONG_FILES.iter().any(|(path, _)| *path == source.path) {
        let message = format!(
            "{lines} lines without tests, at most {MAX_LINES}: split it where the thought splits"
        );
        found.push(Violation::new(&source.path, 0, message));
    }
}

fn header(source: &Source, found: &mut Vec<Violation>) {
    let has_header = source
        .text
        .lines()
        .take_while(|line| !line.starts_with("mod "))
        .any(|line| line.starts_with("//!") || line.starts_with("#![doc = include_str!"));
    if !has_header {
        let message =
            "no module header; say in `//!` what it computes, the source, frames and units";
        found.push(Violation::new(&source.path, 1, message));
    }
}

/// Checks that the documentation of a public `f64` field has its unit in brackets, or describes it in words.
fn units(source: &Source, found: &mut Vec<Violation>) {
    let mut documentation = String::new();
    for (index, line) in source.text.lines().take(code_lines(&source.text)).enumerate() {
        let trimmed = line.trim_start();
        if trimmed.starts_with("///") {
            documentation.push_str(trimmed);
        } else if trimmed.starts_with("#[") {
            // Attributes stand between the documentation and its item.
        } else {
            // A row of a table of parameters has its description, unit included, in itself.
            documentation.push_str(trimmed.split_once('=').map_or("", |(_, row)| row));
            if matches(&FLOAT_FIELD, line)
                && !documentation.contains('[')
                && !documentation.contains("unit")
            {
                let message =
                    "a public number without a unit; end its doc line with it: [m], [N·m], [-]";
                found.push(Violation::new(&source.path, index + 1, message));
            }
            documentation.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(path: &str, text: &str) -> Vec<String> {
        let mut found = Vec::new();
        check(&Source { path: path.into(), text: text.into() }, &mut found);
        found.iter().map(ToString::to_string).collect()
    }

    const FILE: &str = "packages/core/karakuri_model/src/a.rs";

    #[test]
    fn a_good_file_is_quiet() {
        let text = "//! What it is.\n\n/// A.\npub struct A {\n    /// Length. [m]\n    pub length: f64,\n}\n";
        assert_eq!(messages(FILE, text), Vec::<String>::new());
    }

    #[test]
    fn each_rule_names_file_and_line() {
        let cases = [
            (
                "//! X.\n/// Length.\npub struct A {\n    /// Length.\n    pub length: f64,\n}\n",
                5,
                "without a unit",
            ),
            ("fn a() {}\n", 1, "no module header"),
            (concat!("//! X.\nconst A: &str = \"/wo", "rk/x\";\n"), 2, "a path of one machine"),
            (concat!("//! X.\n// see ../", "shared/x\n"), 2, "a path of one machine"),
            (concat!("//! X.\n// TO", "DO: more\n"), 2, "an open end"),
            (concat!("//! X.\nuse r2", "r::Node;\n"), 2, "names the client library"),
        ];
        for (text, line, what) in cases {
            let said = messages(FILE, text);
            assert_eq!(said.len(), 1, "{text}: {said:?}");
            assert!(
                said[0].starts_with(&format!("{FILE}:{line}: ")) && said[0].contains(what),
                "{said:?}"
            );
        }
    }

    #[test]
    fn an_open_end_with_its_issue_may_stay() {
        assert!(messages(FILE, concat!("//! X.\n// TO", "DO(#12): more\n")).is_empty());
    }

    #[test]
    fn tests_do_not_count_as_lines() {
        let code = "//! X.\n".to_owned() + &"fn a() {}\n".repeat(790);
        let tests = "#[cfg(test)]\nmod tests {\n".to_owned() + &"\n".repeat(500);
        assert!(messages(FILE, &(code.clone() + &tests)).is_empty());
        assert_eq!(messages(FILE, &(code + &"fn b() {}\n".repeat(20))).len(), 1);
    }

    #[test]
    fn a_node_wires_and_nothing_else() {
        let code = "//! X.\n".to_owned() + &"fn a() {}\n".repeat(210);
        assert_eq!(messages("packages/nodes/sim/src/node.rs", &code).len(), 1);
        assert!(messages("packages/nodes/sim/src/services.rs", &code).is_empty());
        assert!(messages("packages/ros/karakuri_ros/src/node.rs", &code).is_empty());
    }

    #[test]
    fn a_row_of_a_table_has_its_unit_in_itself() {
        let row =
            |text: &str| format!("//! X.\nmod a {{\n    pub period: f64 = 0.002, \"{text}\";\n");
        assert!(messages(FILE, &row("Time. [s]")).is_empty());
        assert_eq!(messages(FILE, &row("Time.")).len(), 1);
    }
}
