//! Sources are cited as `[Featherstone 2008, §5.3]`; each is an entry of `docs/references.bib`.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use super::source::code_lines;
use super::{Source, Violation};

const FILE: &str = "docs/references.bib";

/// Checks that every cited key has its entry, and that no entry is left over.
pub(super) fn check(sources: &[Source], found: &mut Vec<Violation>) {
    let bibliography = sources.iter().find(|source| source.path == FILE);
    let Some(entries) = bibliography.map(|source| entries(&source.text)) else {
        found.push(Violation::new(FILE, 0, "is missing; it holds the sources that the code cites"));
        return;
    };
    for source in sources.iter().filter(|s| s.has_extension("rs") || s.has_extension("md")) {
        let code = source.text.lines().take(code_lines(&source.text));
        for (index, line) in code.enumerate() {
            for key in cited(line) {
                if !entries.contains(&key) {
                    let message =
                        format!("the source `{key}` is not in {FILE}; add it, or correct the key");
                    found.push(Violation::new(&source.path, index + 1, message));
                }
            }
        }
    }
}

/// Keys of the entries, as of `@book{Featherstone2008,`.
fn entries(text: &str) -> BTreeSet<String> {
    let keys = text.lines().filter_map(|line| line.strip_prefix('@')?.split_once('{'));
    keys.map(|(_, key)| key.trim_end_matches(',').trim().to_owned()).collect()
}

/// Pattern of a citation, as `[Featherstone 2008, §5.3]`.
static CITATION: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"\[((?:\p{Lu}[\p{L}'-]+)(?:(?: (?:&|and) \p{Lu}[\p{L}'-]+)| et al\.)? (?:19|20)\d\d[a-z]?)[,\]]",
    )
    .ok()
});

/// Keys cited in a line: names and year without the words that join the names.
fn cited(line: &str) -> Vec<String> {
    let Some(pattern) = CITATION.as_ref() else { return Vec::new() };
    let joins = ["&", "and", "et", "al."];
    let key = |text: &str| text.split(' ').filter(|word| !joins.contains(word)).collect();
    pattern.captures_iter(line).map(|found| key(&found[1])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_from_citations() {
        let line = "by [Featherstone 2008, §5.3], [Nocedal & Wright 2006] and [Steele et al. 2014, eq. 2]; x[0], [m]";
        assert_eq!(cited(line), ["Featherstone2008", "NocedalWright2006", "Steele2014"]);
    }

    #[test]
    fn unknown_keys_are_reported_with_their_line() {
        let source = |path: &str, text: &str| Source { path: path.into(), text: text.into() };
        let sources = [
            source(FILE, "@book{Known2000,\n}\n"),
            source("a.rs", "\n// [Known 2000], [Unknown 2001]\n"),
        ];
        let mut found = Vec::new();
        check(&sources, &mut found);
        assert_eq!(found.len(), 1);
        assert!(
            found[0].to_string().starts_with("a.rs:2: the source `Unknown2001`"),
            "{}",
            found[0]
        );
    }
}
