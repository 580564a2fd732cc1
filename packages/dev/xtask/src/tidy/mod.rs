//! Rules of the house, over all files that git tracks or would track.

mod commits;
mod cycles;
mod data;
mod layers;
mod links;
mod paths;
mod project;
mod references;
mod signatures;
mod source;
mod unused;
mod words;

use std::path::Path;

use anyhow::Result;

use project::{Source, Violation, sources};

/// Checks every rule; the violations, sorted.
pub(crate) fn check(root: &Path) -> Result<Vec<Violation>> {
    let sources = sources(root)?;
    let mut found = layers::check(root)?;
    for source in &sources {
        source::check(source, &mut found);
    }
    references::check(&sources, &mut found);
    links::check(root, &sources, &mut found);
    paths::check(root, &sources, &mut found);
    signatures::check(&sources, &mut found);
    cycles::check(&sources, &mut found);
    words::check(&sources, &mut found);
    unused::check(&sources, &mut found);
    data::check(root, &sources, &mut found);
    found.sort();
    Ok(found)
}

/// Hints for the next time, which fail nothing.
pub(crate) fn hints(root: &Path) -> Vec<String> {
    commits::hints(root)
}
