//! Links in Markdown lead to a file or folder of the project, relative to their page.

use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;

use super::{Source, Violation};

/// Pattern of the target of `[text](target)`, without the section it names.
static LINK: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\]\(([^)#\s]+)[^)]*\)").ok());

/// Checks every page.
pub(super) fn check(root: &Path, sources: &[Source], found: &mut Vec<Violation>) {
    for page in sources.iter().filter(|source| source.has_extension("md")) {
        let file = root.join(&page.path);
        let folder = file.parent().unwrap_or(root);
        for (line, target) in local(&page.text) {
            if !folder.join(target).exists() {
                let message = format!("the link to `{target}` leads nowhere; correct it");
                found.push(Violation::new(&page.path, line, message));
            }
        }
    }
}

/// Links to files, with their lines.
fn local(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_code = false;
    let lines = text.lines().enumerate().filter(move |(_, line)| {
        is_code ^= line.starts_with("```");
        !is_code
    });
    lines.flat_map(|(index, line)| {
        let targets = LINK.iter().flat_map(move |pattern| pattern.captures_iter(line));
        let targets = targets.filter_map(|found| found.get(1)).map(|target| target.as_str());
        targets
            .filter(|target| !target.contains("://") && !target.starts_with("mailto:"))
            .map(move |target| (index + 1, target))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_to_files_are_found() {
        let page = "a [b](c/d.md#e), [f](https://g.h)\n```\n[i](j)\n```\n![k](l.png) [m](#n)";
        assert_eq!(local(page).collect::<Vec<_>>(), [(1, "c/d.md"), (5, "l.png")]);
    }
}
