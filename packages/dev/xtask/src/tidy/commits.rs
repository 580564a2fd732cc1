//! Subjects of the newest commits: short, and in the imperative. These are hints only, as commits stay.

use std::path::Path;
use std::process::Command;

/// Number of commits to look at.
const NEWEST: &str = "-20";
/// Largest number of characters of a subject.
const MAX_LENGTH: usize = 72;

/// First words that are not in the imperative, with the word to write.
const NOT_IMPERATIVE: [(&str, &str); 20] = [
    ("added", "add"),
    ("adds", "add"),
    ("adding", "add"),
    ("changed", "change"),
    ("changes", "change"),
    ("changing", "change"),
    ("fixed", "fix"),
    ("fixes", "fix"),
    ("fixing", "fix"),
    ("made", "make"),
    ("makes", "make"),
    ("moved", "move"),
    ("moves", "move"),
    ("moving", "move"),
    ("removed", "remove"),
    ("removes", "remove"),
    ("updated", "update"),
    ("updates", "update"),
    ("used", "use"),
    ("uses", "use"),
];

/// First words of a subject without a verb.
const NO_VERB: [&str; 8] = ["a", "an", "every", "its", "no", "the", "what", "where"];

/// Hints about the newest commits; none where there is no history.
pub(super) fn hints(root: &Path) -> Vec<String> {
    let log = ["log", NEWEST, "--no-merges", "--format=%h %s"];
    match Command::new("git").args(log).current_dir(root).output() {
        Ok(output) if output.status.success() => {
            String::from_utf8_lossy(&output.stdout).lines().filter_map(hint).collect()
        }
        _ => Vec::new(),
    }
}

fn hint(line: &str) -> Option<String> {
    let (commit, subject) = line.split_once(' ')?;
    let length = subject.chars().count();
    if length > MAX_LENGTH {
        return Some(format!(
            "{commit}: a subject of {length} characters, at most {MAX_LENGTH}: put the rest into the body"
        ));
    }
    let said = subject.split_once(": ").map_or(subject, |(_, said)| said);
    let first = said.split(' ').next()?.to_lowercase();
    if NO_VERB.contains(&first.as_str()) {
        return Some(format!(
            "{commit}: `{first}` begins its subject; begin with a verb, as in `add`"
        ));
    }
    let (_, instead) = NOT_IMPERATIVE.iter().find(|(word, _)| *word == first)?;
    Some(format!("{commit}: `{first}` begins its subject; write the imperative, `{instead}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects_are_short_and_imperative() {
        assert_eq!(hint("abc sim: add a thing"), None);
        assert_eq!(hint("abc sim: fixture of a thing"), None);
        let said = hint("abc sim: Added a thing").unwrap_or_default();
        assert!(said.starts_with("abc: `added`") && said.ends_with("`add`"), "{said}");
        let said = hint("abc sim: what it does").unwrap_or_default();
        assert!(said.contains("begin with a verb"), "{said}");
        let long = hint(&format!("abc sim: {}", "ä".repeat(68))).unwrap_or_default();
        assert!(long.contains("73 characters"), "{long}");
    }

    #[test]
    fn a_folder_without_history_has_no_hints() {
        assert_eq!(hints(Path::new("/")), Vec::<String>::new());
    }
}
