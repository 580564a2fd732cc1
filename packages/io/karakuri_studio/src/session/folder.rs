//! The opened folder: nothing outside it is read or written for a client.

use std::path::{Component, Path, PathBuf};

use super::project::OpenError;
use super::settings::Settings;
use crate::wire::{Code, FileEntry, FileList, WireError};

/// Endings of files that can be opened or read.
const KINDS: [(&str, &str); 10] = [
    ("urdf", "urdf"),
    ("yaml", "yaml"),
    ("yml", "yaml"),
    ("csv", "motion"),
    ("motion", "motion"),
    ("seq", "motion"),
    ("pseq", "motion"),
    ("rcb", "motion"),
    ("xml", "motion"),
    ("json", "motion"),
];

/// A folder, canonical.
#[derive(Debug, Clone)]
pub(super) struct Folder(PathBuf);

impl Folder {
    /// The folder of a studio that opens a file.
    pub(super) fn around(settings: &Settings) -> Result<Self, OpenError> {
        let unreadable = |path: &Path| {
            let path = path.to_owned();
            move |error| OpenError::Unreadable { path, error }
        };
        let file = settings.file.canonicalize().map_err(unreadable(&settings.file))?;
        if let Some(folder) = &settings.folder {
            let folder = folder.canonicalize().map_err(unreadable(folder))?;
            if !file.starts_with(&folder) {
                return Err(OpenError::Outside { file, folder });
            }
            return Ok(Self(folder));
        }
        let working = std::env::current_dir().and_then(|folder| folder.canonicalize()).ok();
        // Of the root of the disk, all would be opened.
        let working = working.filter(|w| file.starts_with(w) && w.parent().is_some());
        let own = file.parent().unwrap_or(Path::new("/")).to_owned();
        Ok(Self(working.unwrap_or(own)))
    }

    /// Path of the folder.
    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// A file or folder that exists, by its path from here.
    pub(super) fn find(&self, relative: &str) -> Result<PathBuf, WireError> {
        let asked = self.join(relative)?;
        let found = asked.canonicalize().map_err(|error| {
            WireError::new(Code::NotFound, format!("`{relative}`: {error}"), "choose another file")
        })?;
        // A link may lead out.
        if found.starts_with(&self.0) { Ok(found) } else { Err(outside(relative)) }
    }

    /// A file that may not exist yet, in a folder that does.
    pub(super) fn target(&self, relative: &str) -> Result<PathBuf, WireError> {
        let asked = self.join(relative)?;
        let (Some(parent), Some(name)) = (asked.parent(), asked.file_name()) else {
            return Err(outside(relative));
        };
        let parent = parent.canonicalize().map_err(|error| {
            let hint = "choose a folder that exists";
            WireError::new(Code::NotFound, format!("`{relative}`: {error}"), hint)
        })?;
        let target = parent.join(name);
        // A link is written through.
        let end = target.canonicalize().unwrap_or_else(|_| target.clone());
        if !end.starts_with(&self.0) {
            return Err(outside(relative));
        }
        Ok(target)
    }

    fn join(&self, relative: &str) -> Result<PathBuf, WireError> {
        let path = Path::new(relative);
        let is_inside =
            path.components().all(|c| matches!(c, Component::Normal(_) | Component::CurDir));
        if relative.contains('\0') || !is_inside {
            return Err(outside(relative));
        }
        Ok(self.0.join(path))
    }

    /// A path as clients name it.
    pub(super) fn name_of(&self, path: &Path) -> String {
        path.strip_prefix(&self.0).unwrap_or(path).display().to_string()
    }

    /// What is in a folder, folders first, hidden ones left out.
    pub(super) fn list(&self, relative: &str) -> Result<FileList, WireError> {
        let path = self.find(relative)?;
        let entries = std::fs::read_dir(&path).map_err(|error| {
            WireError::new(Code::NotFound, format!("`{relative}`: {error}"), "choose a folder")
        })?;
        let mut found: Vec<FileEntry> = entries
            .filter_map(Result::ok)
            .filter_map(|entry| {
                let name = entry.file_name().into_string().ok()?;
                let kind = entry.path();
                let kind = if kind.is_dir() { "folder" } else { kind_of(&name)? };
                (!name.starts_with('.')).then(|| FileEntry { name, kind: kind.to_owned() })
            })
            .collect();
        found.sort_by_cached_key(|e| (e.kind != "folder", e.name.clone()));
        Ok(FileList { folder: self.name_of(&path), entries: found })
    }
}

fn kind_of(name: &str) -> Option<&'static str> {
    let (_, ending) = name.rsplit_once('.')?;
    KINDS.iter().find(|(known, _)| ending.eq_ignore_ascii_case(known)).map(|(_, kind)| *kind)
}

fn outside(relative: &str) -> WireError {
    let text = format!("`{relative}` is not in the opened folder");
    WireError::new(Code::Forbidden, text, "name a file in it, or start the studio with `--folder`")
}

/// Path of `target` as a file in `folder` names it; both canonical.
pub(super) fn relative_path(target: &Path, folder: &Path) -> PathBuf {
    let common = target.components().zip(folder.components()).take_while(|(a, b)| a == b).count();
    let up = folder.components().skip(common).map(|_| Component::ParentDir);
    up.chain(target.components().skip(common)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_leads_out() {
        let all = tempfile::tempdir().unwrap();
        let inside = all.path().join("in");
        std::fs::create_dir(&inside).unwrap();
        std::fs::write(all.path().join("secret.yaml"), "x").unwrap();
        std::fs::write(inside.join("own.yaml"), "x").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(all.path(), inside.join("link")).unwrap();
        let folder = Folder(inside.canonicalize().unwrap());
        assert!(folder.find("own.yaml").is_ok());
        assert!(folder.target("new.yaml").is_ok());
        let absolute = all.path().join("secret.yaml");
        for path in [
            "../secret.yaml",
            "link/secret.yaml",
            "a/../../secret.yaml",
            absolute.to_str().unwrap(),
            "own.yaml\0",
        ] {
            assert_eq!(folder.find(path).unwrap_err().code, Code::Forbidden, "{path:?}");
            assert_eq!(folder.target(path).unwrap_err().code, Code::Forbidden, "{path:?}");
        }
        let listed = folder.list("").unwrap();
        let names: Vec<&str> = listed.entries.iter().map(|e| e.name.as_str()).collect();
        assert_eq!(names, ["link", "own.yaml"]);
    }

    #[test]
    fn relative_paths_climb() {
        let path = |target: &str, folder: &str| relative_path(Path::new(target), Path::new(folder));
        assert_eq!(path("/a/b/c.urdf", "/a/d/e"), Path::new("../../b/c.urdf"));
        assert_eq!(path("/a/b/c.urdf", "/a/b"), Path::new("c.urdf"));
    }
}
