//! The field's words: what has a name in the literature has no second one here (`docs/notation.md`).
//!
//! Places that have some of the words keep at most what [`PRESENT`] grants them; the end is an empty table.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;

use super::signatures::crate_of;
use super::{Source, Violation};

/// Words to avoid, each with what to write instead.
const AVOIDED: [(&str, &str); 6] = [
    ("anew", "again, new"),
    ("freedom", "degree of freedom, dof"),
    ("freedoms", "degrees of freedom, dofs"),
    ("shall", "must, is to"),
    ("told", "given, reported"),
    ("wanted", "desired"),
];

/// How many of these words a crate has, or a folder outside of crates. Numbers may only shrink.
const PRESENT: &[(&str, usize)] = &[
    ("docs", 3),
    ("feedforward_controller", 6),
    ("gait_planner", 6),
    ("gripper", 1),
    ("karakuri", 96),
    ("karakuri_model", 3),
    ("karakuri_msgs", 4),
    ("karakuri_physics", 2),
];

/// Kinds of files whose words people read.
const READ: [&str; 9] = ["rs", "md", "py", "yaml", "xml", "sh", "msg", "srv", "action"];

/// The rule's own words; robots of others.
const ELSEWHERE: [&str; 3] = ["docs/notation.md", "packages/dev/xtask/", "tests/robots/"];

/// A word of a sentence, or a part of a name in snake or camel case.
static WORD: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new("[A-Z]?[a-z]+|[A-Z]+(?:[^a-z]|$)|[A-Z]").ok());

/// Checks every file that people read.
pub(super) fn check(sources: &[Source], found: &mut Vec<Violation>) {
    let mut by_place: BTreeMap<&str, Vec<(&str, Hit)>> = BTreeMap::new();
    let is_read = |source: &&Source| {
        READ.iter().any(|extension| source.has_extension(extension))
            && !ELSEWHERE.iter().any(|start| source.path.starts_with(start))
    };
    for source in sources.iter().filter(is_read) {
        let hits = avoided(&source.text).into_iter().map(|hit| (source.path.as_str(), hit));
        by_place.entry(place_of(&source.path)).or_default().extend(hits);
    }
    for (place, hits) in by_place {
        compare(place, &hits, PRESENT, found);
    }
}

/// A crate with its tests, or the top folder.
fn place_of(path: &str) -> &str {
    let of_tests = path.strip_prefix("packages/").and_then(|rest| rest.split('/').nth(1));
    crate_of(path).or(of_tests).unwrap_or_else(|| path.split('/').next().unwrap_or(path))
}

struct Hit {
    line: usize,
    word: &'static str,
    instead: &'static str,
}

fn compare(
    place: &str,
    hits: &[(&str, Hit)],
    present: &[(&str, usize)],
    found: &mut Vec<Violation>,
) {
    let granted = present.iter().find(|(known, _)| *known == place).map_or(0, |(_, count)| *count);
    if hits.len() <= granted {
        return;
    }
    if granted > 0 {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for (_, hit) in hits {
            *counts.entry(hit.word).or_default() += 1;
        }
        let counts: Vec<String> = counts.iter().map(|(word, n)| format!("{n} `{word}`")).collect();
        let message = format!(
            "{} words to avoid, at most {granted} ({}): write the field's words in what you add",
            hits.len(),
            counts.join(", ")
        );
        found.push(Violation::new(place, 0, message));
        return;
    }
    for (path, Hit { line, word, instead }) in hits {
        let message = format!(
            "`{word}` is a word to avoid (`docs/notation.md`): write the field's word, {instead}"
        );
        found.push(Violation::new(path, *line, message));
    }
}

fn avoided(text: &str) -> Vec<Hit> {
    let mut hits = Vec::new();
    let mut before = [String::new(), String::new()];
    for (index, line) in text.lines().enumerate() {
        for part in WORD.iter().flat_map(|pattern| pattern.find_iter(line)) {
            let letters = part.as_str().trim_end_matches(|c: char| !c.is_ascii_alphabetic());
            let word = letters.to_lowercase();
            let is_of_degrees = before[1] == "of" && before[0].starts_with("degree");
            if let Some((word, instead)) = AVOIDED.iter().find(|(avoided, _)| *avoided == word)
                && !is_of_degrees
            {
                hits.push(Hit { line: index + 1, word, instead });
            }
            before = [std::mem::take(&mut before[1]), word];
        }
    }
    hits
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<usize> {
        avoided(text).iter().map(|hit| hit.line).collect()
    }

    #[test]
    fn words_are_found_in_sentences_and_names() {
        assert_eq!(
            lines("a joint of two freedoms\nself.wanted_pose\nMAX_FREEDOMS, Freedom::X"),
            [1, 2, 3, 3]
        );
        assert_eq!(lines("fooWanted(x) // made anew, as TOLD"), [1, 1, 1]);
    }

    #[test]
    fn degrees_of_freedom_may_stay() {
        assert!(lines("degrees of freedom, degree-of-freedom, n_degrees_of_freedom").is_empty());
        assert!(lines("/// a joint with six degrees of\n/// freedom").is_empty());
        assert!(lines("marshall, untold, unwanted, shallow").is_empty());
    }

    #[test]
    fn a_place_keeps_what_it_has_and_gets_no_more() {
        let hits =
            || avoided("wanted\nwanted\n").into_iter().map(|hit| ("a.rs", hit)).collect::<Vec<_>>();
        let mut found = Vec::new();
        compare("old", &hits(), &[("old", 2)], &mut found);
        assert_eq!(found, []);
        compare("old", &hits(), &[("old", 1)], &mut found);
        let said: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(said[0].contains("2 words to avoid, at most 1 (2 `wanted`)"), "{said:?}");
        found.clear();
        compare("new", &hits(), &[("old", 1)], &mut found);
        let said: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(said.len(), 2, "{said:?}");
        assert!(said[1].starts_with("a.rs:2: `wanted`") && said[1].contains("desired"), "{said:?}");
    }

    #[test]
    fn tests_are_of_their_crate() {
        assert_eq!(place_of("packages/core/a/src/b.rs"), "a");
        assert_eq!(place_of("packages/core/a/tests/b.rs"), "a");
        assert_eq!(place_of("docs/a.md"), "docs");
    }
}
