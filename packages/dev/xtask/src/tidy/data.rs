//! Rules about data: it can be read, and it is installed.

use std::path::Path;

use karakuri_launch::{Environment, Machine};
use serde::de::IgnoredAny;

use super::{Source, Violation};

/// Folders that nodes and launch files find below the package's share folder.
const INSTALLED: [&str; 3] = ["launch", "config", "urdf"];

const INSTALLER: &str = "packages/ros/karakuri/CMakeLists.txt";

/// Checks launch files, YAML and the installer.
pub(super) fn check(root: &Path, sources: &[Source], found: &mut Vec<Violation>) {
    for source in sources {
        if source.path.starts_with("launch/") {
            launch_file(root, source, found);
        } else if source.path.starts_with("config/") && source.has_extension("yaml") {
            yaml(source, found);
        }
    }
    if let Some(installer) = sources.iter().find(|source| source.path == INSTALLER) {
        let is_named = |folder: &str| {
            let lists = installer.text.lines().filter(|line| line.starts_with("foreach(folder "));
            lists.flat_map(|line| line.split([' ', '(', ')'])).any(|word| word == folder)
        };
        for folder in INSTALLED.into_iter().filter(|folder| !is_named(folder)) {
            let message =
                format!("the folder {folder}/ is not installed; add it to the list of folders");
            found.push(Violation::new(INSTALLER, 0, message));
        }
    }
}

fn launch_file(root: &Path, source: &Source, found: &mut Vec<Violation>) {
    if !source.path.ends_with(".launch.xml") {
        let message = "no launch file of ours; name it *.launch.xml, or put it elsewhere";
        found.push(Violation::new(&source.path, 0, message));
        return;
    }
    let read = karakuri_launch::arguments(&root.join(&source.path), &Environment::new(), &Machine);
    if let Err(error) = read {
        let remedy = error.remedy.unwrap_or_default();
        let message = format!("{}; {remedy}", error.problem);
        found.push(Violation::new(&source.path, error.place.line, message));
    }
}

fn yaml(source: &Source, found: &mut Vec<Violation>) {
    if let Err(error) = karakuri_model::yaml::read::<IgnoredAny>(&source.path, &source.text) {
        found.push(Violation::new(&source.path, error.place.line, error.message));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_must_be_installed_and_yaml_readable() {
        let source = |path: &str, text: &str| Source { path: path.into(), text: text.into() };
        let sources = [
            source(INSTALLER, "foreach(folder launch urdf)\n"),
            source("config/a.yaml", "a: 1\nb: [\n"),
        ];
        let mut found = Vec::new();
        check(Path::new("."), &sources, &mut found);
        let said: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(said.len(), 2, "{said:?}");
        assert!(
            said[0].starts_with("config/a.yaml:") && said[0].contains("not readable as YAML"),
            "{said:?}"
        );
        assert!(said[1].contains("the folder config/ is not installed"), "{said:?}");
    }
}
