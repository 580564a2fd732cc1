//! Words of the field: a concept with a name in the literature has no second one here (`docs/notation.md`).

use std::sync::LazyLock;

use regex::Regex;

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

/// Extensions of files whose words people read.
const READ: [&str; 9] = ["rs", "md", "py", "yaml", "xml", "sh", "msg", "srv", "action"];

/// Files with words of their own: the rule itself, and robots of others.
const ELSEWHERE: [&str; 3] = ["docs/notation.md", "packages/dev/xtask/", "tests/robots/"];

/// Pattern of a word of a sentence, or of a part of a name in snake or camel case.
static WORD: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new("[A-Z]?[a-z]+|[A-Z]+(?:[^a-z]|$)|[A-Z]").ok());

/// Checks every file that people read.
pub(super) fn check(sources: &[Source], found: &mut Vec<Violation>) {
    let is_read = |source: &&Source| {
        READ.iter().any(|extension| source.has_extension(extension))
            && !ELSEWHERE.iter().any(|start| source.path.starts_with(start))
    };
    for source in sources.iter().filter(is_read) {
        for Hit { line, word, instead } in avoided(&source.text) {
            let message = format!(
                "`{word}` is a word to avoid (`docs/notation.md`): write the field's word, {instead}"
            );
            found.push(Violation::new(&source.path, line, message));
        }
    }
}

struct Hit {
    line: usize,
    word: &'static str,
    instead: &'static str,
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
    fn a_word_is_named_with_its_place_and_with_what_to_write() {
        let source =
            |path: &str| Source { path: path.to_owned(), text: "a\nis wanted\n".to_owned() };
        let mut found = Vec::new();
        check(&[source("a.rs"), source("b.svg"), source("docs/notation.md")], &mut found);
        let said: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(said[0].starts_with("a.rs:2: `wanted`") && said[0].contains("desired"), "{said:?}");
    }
}
