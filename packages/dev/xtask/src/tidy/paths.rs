//! Files that pages name in back-ticks exist: `packages/x/src/y.rs`, or the end of a path, as `y/z.rs`.

use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;

use super::{Source, Violation};

/// Pattern of a file with its folder, without placeholders, in back-ticks.
static FILE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"`((?:[\w.-]+/)+[\w.-]+\.(?:rs|py|md|ya?ml|xml|urdf|toml|sh|rviz|msg|srv|action))`")
        .ok()
});

/// Pages that name former files, or files of others.
const ELSEWHERE: [&str; 2] = ["CHANGELOG.md", "tests/robots/README.md"];

/// Checks every page.
pub(super) fn check(root: &Path, sources: &[Source], found: &mut Vec<Violation>) {
    let pages = sources.iter().filter(|source| source.has_extension("md"));
    for page in pages.filter(|page| !ELSEWHERE.contains(&page.path.as_str())) {
        let folder = Path::new(&page.path).parent().unwrap_or(Path::new(""));
        let exists = |path: &str| {
            let end = format!("/{path}");
            sources.iter().any(|source| source.path == path || source.path.ends_with(&end))
                || root.join(folder).join(path).exists()
        };
        for (line, path) in missing(&page.text, exists) {
            let message =
                format!("there is no `{path}`; correct the path, or say what took its place");
            found.push(Violation::new(&page.path, line, message));
        }
    }
}

fn missing(text: &str, exists: impl Fn(&str) -> bool) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let paths = FILE.iter().flat_map(|pattern| pattern.captures_iter(line));
        let paths = paths.map(|captured| captured[1].to_owned()).filter(|path| !exists(path));
        found.extend(paths.map(|path| (index + 1, path)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_do_not_exist_are_found() {
        let text =
            "`a/b.rs` and `c/d.md`\nof type `geometry_msgs/Twist`, in `x/NAME/*.yaml`\n`e/f.py`";
        let exists = |path: &str| path == "a/b.rs";
        assert_eq!(missing(text, exists), [(1, "c/d.md".to_owned()), (3, "e/f.py".to_owned())]);
    }
}
