//! `package://`, `file://` and relative names to files, by the search of ROS, and without ROS.
//!
//! A package is searched in the ament index (`AMENT_PREFIX_PATH/share/PACKAGE`), in `ROS_PACKAGE_PATH`, and then in every
//! folder above the file that names it: a folder with the name of the package, one whose `package.xml` names it, one that
//! contains a folder of its name, or, if none of these has the file, one that has it: a package's sources may be checked out
//! under any name.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use karakuri_model::{Asset, AssetError, Assets};

/// Largest size of a mesh file. [bytes]
const SIZE_LIMIT: u64 = 512 << 20;

/// Assets that are files on disk.
#[derive(Debug, Clone)]
pub struct FileAssets {
    prefixes: Vec<PathBuf>,
    package_paths: Vec<PathBuf>,
}

impl FileAssets {
    /// Searches in the ROS paths of the environment.
    pub fn from_env() -> Self {
        let paths =
            |name| env::var_os(name).map(|v| env::split_paths(&v).collect()).unwrap_or_default();
        Self { prefixes: paths("AMENT_PREFIX_PATH"), package_paths: paths("ROS_PACKAGE_PATH") }
    }

    /// Searches in these ament prefixes and package paths.
    pub fn new(prefixes: Vec<PathBuf>, package_paths: Vec<PathBuf>) -> Self {
        Self { prefixes, package_paths }
    }

    /// File that `uri` means when `named_in` names it.
    ///
    /// # Errors
    /// When the package or the file is not found, or the scheme is unknown.
    pub fn resolve(&self, uri: &str, named_in: &Path) -> Result<PathBuf, AssetError> {
        let folder = named_in.parent().unwrap_or(Path::new("."));
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let path = if let Some(rest) = strip_scheme(uri, &["package://", "model://"]) {
            let (package, inside) = rest.split_once('/').unwrap_or((rest, ""));
            self.in_package(package, inside, folder)?
        } else if let Some(rest) = uri.strip_prefix("file://") {
            PathBuf::from(rest)
        } else if uri.contains("://") {
            return Err(AssetError::UnknownScheme(uri.to_owned()));
        } else {
            folder.join(uri)
        };
        if path.is_file() { Ok(path) } else { Err(AssetError::NotFound(path)) }
    }

    /// File that a user names: a path as it is, existing or not; a file of a package (`package://`) only in a package of that
    /// name.
    ///
    /// # Errors
    /// When the package of a `package://` name, or the file in it, is not found.
    pub fn named(&self, name: &str) -> Result<PathBuf, AssetError> {
        let Some(rest) = name.strip_prefix("package://") else {
            return Ok(PathBuf::from(name));
        };
        let (package, inside) = rest.split_once('/').unwrap_or((rest, ""));
        let packages = self.candidates(package, Path::new("."));
        let files = || packages.iter().map(|p| p.join(inside));
        match (files().find(|p| p.is_file()), files().next()) {
            (Some(path), _) => Ok(path),
            (None, Some(path)) => Err(AssetError::NotFound(path)),
            (None, None) => Err(AssetError::PackageNotFound(package.to_owned())),
        }
    }

    /// File in the first package that has it; in a source tree without a package of that name, the file in a folder above.
    fn in_package(
        &self,
        package: &str,
        inside: &str,
        folder: &Path,
    ) -> Result<PathBuf, AssetError> {
        let found = self.candidates(package, folder);
        if let Some(path) = found.iter().map(|p| p.join(inside)).find(|p| p.is_file()) {
            return Ok(path);
        }
        let folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
        if let Some(path) = folder.ancestors().map(|a| a.join(inside)).find(|p| p.is_file()) {
            return Ok(path);
        }
        match found.first() {
            Some(first) => Err(AssetError::NotFound(first.join(inside))),
            None => Err(AssetError::PackageNotFound(package.to_owned())),
        }
    }

    /// Folders that may be the package, the likeliest first.
    fn candidates(&self, package: &str, folder: &Path) -> Vec<PathBuf> {
        let installed = self.prefixes.iter().map(|p| p.join("share").join(package));
        let sourced = self.package_paths.iter().map(|p| p.join(package));
        let above = ancestors(folder).into_iter().flat_map(|ancestor| {
            let is_it = ancestor.file_name().is_some_and(|n| n == package)
                || package_name(&ancestor).is_some_and(|n| n == package);
            [is_it.then(|| ancestor.clone()), Some(ancestor.join(package))]
        });
        installed.chain(sourced).chain(above.flatten()).filter(|p| p.is_dir()).collect()
    }
}

/// Folder and all those above it.
fn ancestors(folder: &Path) -> Vec<PathBuf> {
    let folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    folder.ancestors().map(Path::to_owned).collect()
}

fn strip_scheme<'a>(uri: &'a str, schemes: &[&str]) -> Option<&'a str> {
    schemes.iter().find_map(|scheme| uri.strip_prefix(scheme))
}

/// Package name, `<name>` in the folder's `package.xml`.
fn package_name(folder: &Path) -> Option<String> {
    let text = fs::read_to_string(folder.join("package.xml")).ok()?;
    let start = text.find("<name>")? + "<name>".len();
    let end = text[start..].find("</name>")? + start;
    Some(text[start..end].trim().to_owned())
}

/// Name of the root element of an XML text; `None` for other texts.
pub fn root_element(text: &str) -> Option<&str> {
    let mut rest = text.trim_start_matches('\u{feff}').trim_start();
    while let Some(inside) = rest.strip_prefix('<') {
        let end = if inside.starts_with("!--") { "-->" } else { ">" };
        if inside.starts_with(['!', '?']) {
            rest = inside[inside.find(end)? + end.len()..].trim_start();
        } else {
            return inside.split(|c: char| c.is_whitespace() || c == '>' || c == '/').next();
        }
    }
    None
}

impl Assets for FileAssets {
    fn read(&mut self, uri: &str, named_in: &str) -> Result<Asset, AssetError> {
        let path = self.resolve(uri, Path::new(named_in))?;
        let unreadable = |e: std::io::Error| AssetError::Unreadable {
            path: path.clone(),
            reason: e.to_string(),
        };
        let size = fs::metadata(&path).map_err(unreadable)?.len();
        if size > SIZE_LIMIT {
            return Err(AssetError::TooLarge { path, size, limit: SIZE_LIMIT });
        }
        let bytes = fs::read(&path).map_err(unreadable)?;
        Ok(Asset { path, bytes })
    }
}
