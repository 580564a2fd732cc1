//! Resource that `spawn_entity` names: source of its text, check of its format, and name of the entity.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use karakuri_files::{FileAssets, read_text, root_element};

use crate::codes::spawn::{NAME_INVALID, NAMESPACE_INVALID, NO_RESOURCE, UNSUPPORTED_FORMAT};

/// Text of a model and the file that it stands for: relative names in it are looked up beside that file.
pub(crate) struct Resource {
    pub(crate) text: String,
    pub(crate) path: PathBuf,
}

/// Result code of a refusal, and its message.
pub(crate) type Refusal = (u8, String);

/// Text of `uri` (a path, `file://` or `package://`), or `resource_string` where there is one.
pub(crate) fn read(
    uri: &str,
    resource_string: &str,
    folders: &[PathBuf],
) -> Result<Resource, Refusal> {
    let resource = if resource_string.is_empty() {
        from_uri(uri, folders)?
    } else {
        Resource { text: resource_string.to_owned(), path: "resource_string".into() }
    };
    check_format(&resource.text)?;
    Ok(resource)
}

fn from_uri(uri: &str, folders: &[PathBuf]) -> Result<Resource, Refusal> {
    if uri.is_empty() {
        let what = "no resource: both `uri` and `resource_string` are empty; give one of them";
        return Err((NO_RESOURCE, what.to_owned()));
    }
    let extension = Path::new(uri).extension().map(OsStr::to_ascii_lowercase);
    let extension = extension.as_deref().and_then(|e| e.to_str()).unwrap_or_default();
    if matches!(extension, "sdf" | "world" | "mjcf" | "usd" | "usda" | "usdc" | "usdz") {
        return Err(unsupported(&format!("`.{extension}`")));
    }
    let found = FileAssets::from_env().resolve(uri, Path::new("."));
    let path = found.map_err(|e| (NO_RESOURCE, format!("no resource `{uri}`: {e}")))?;
    if !uri.starts_with("package://") && !is_below(&path, folders) {
        let named: Vec<_> = folders.iter().map(|f| f.display().to_string()).collect();
        let what = format!(
            "`{uri}` is in no folder that models are read from: {}; write package://, or add its folder to the parameter `model_folders`",
            named.join(", ")
        );
        return Err((NO_RESOURCE, what));
    }
    // The reader's error for a file that is not text may quote its content.
    let text =
        read_text(&path).map_err(|_| (NO_RESOURCE, format!("`{uri}` is not readable as text")))?;
    Ok(Resource { text, path })
}

/// Whether a file, links followed, is below one of the folders.
fn is_below(path: &Path, folders: &[PathBuf]) -> bool {
    let Ok(path) = fs::canonicalize(path) else { return false };
    folders.iter().filter_map(|f| fs::canonicalize(f).ok()).any(|folder| path.starts_with(folder))
}

/// Folders that models may be read from: that of the scene, those of installed packages, and those of the parameter.
pub(crate) fn folders(scene: &str, given: &[String]) -> Vec<PathBuf> {
    let scene = Path::new(scene).parent().map(Path::to_owned);
    let scene = scene.map(|f| if f.as_os_str().is_empty() { PathBuf::from(".") } else { f });
    let paths = |name| env::var_os(name).map(|v| env::split_paths(&v).collect::<Vec<_>>());
    let prefixes = paths("AMENT_PREFIX_PATH").unwrap_or_default();
    let installed = prefixes.into_iter().map(|prefix| prefix.join("share"));
    let sourced = paths("ROS_PACKAGE_PATH").unwrap_or_default();
    let given = given.iter().filter(|f| !f.is_empty()).map(PathBuf::from);
    scene.into_iter().chain(installed).chain(sourced).chain(given).collect()
}

/// Refuses text that is neither a URDF nor a scene, without quoting it.
fn check_format(text: &str) -> Result<(), Refusal> {
    match root_element(text) {
        Some("robot") => Ok(()),
        Some("sdf") => Err(unsupported("SDF")),
        Some("mujoco") => Err(unsupported("MJCF")),
        Some(_) => Err(unsupported("this XML, whose root element is not <robot>,")),
        None if text.trim_start().starts_with('<') => Ok(()), // the reader of URDFs reports the problem
        None if text.trim_start().starts_with("#usda") => Err(unsupported("USD")),
        None => {
            let scene = regex_lite::Regex::new(r"(?m)^[\s{]*['\x22]?(robots|bodies)['\x22]?\s*:");
            if scene.is_ok_and(|scene| scene.is_match(text)) {
                return Ok(());
            }
            Err(unsupported("this text, which has no <robot>, `robots` or `bodies`,"))
        }
    }
}

fn unsupported(what: &str) -> Refusal {
    (
        UNSUPPORTED_FORMAT,
        format!("{what} cannot be spawned; give a URDF, or a scene (YAML) of one robot or body"),
    )
}

/// Name that a model gives itself, made fit for topics; `object` where it has none.
pub(crate) fn own_name(text: &str) -> String {
    let pattern = if text.trim_start().starts_with('<') {
        r#"<robot\b[^>]*?\sname\s*=\s*["']([^"']*)["']"#
    } else {
        r#"\bname['"]?\s*:\s*['"]?([^\s,'"}\]]+)"#
    };
    let found = regex_lite::Regex::new(pattern).ok().and_then(|p| p.captures(text));
    let name = found.and_then(|c| c.get(1)).map_or("", |m| m.as_str());
    let fit: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    match fit.chars().next() {
        None => "object".to_owned(),
        Some(first) if first.is_ascii_digit() => format!("_{fit}"),
        Some(_) => fit,
    }
}

/// Whether a name consists of letters, digits and `_`, not a digit first, as parts of ROS names do.
fn is_token(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Refuses a name that is not allowed in topics.
pub(crate) fn check_name(name: &str) -> Result<(), Refusal> {
    if is_token(name) {
        return Ok(());
    }
    let shown: String = name.chars().take(60).collect();
    let what = format!("`{shown}` is no name; use letters, digits and `_`, not a digit first");
    Err((NAME_INVALID, what))
}

/// Refuses a namespace that is not allowed in topics; an empty one is none.
pub(crate) fn check_namespace(namespace: &str) -> Result<(), Refusal> {
    let inner = namespace.strip_prefix('/').unwrap_or(namespace);
    if inner.is_empty() || inner.trim_end_matches('/').split('/').all(is_token) {
        return Ok(());
    }
    let shown: String = namespace.chars().take(60).collect();
    let what = format!(
        "`{shown}` is no namespace; join names of letters, digits and `_`, not a digit first, by `/`"
    );
    Err((NAMESPACE_INVALID, what))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_namespaces_are_those_of_ros() {
        for good in ["a", "arm_2", "_x"] {
            assert!(check_name(good).is_ok() && check_namespace(good).is_ok(), "{good}");
        }
        assert!(check_namespace("/a/b").is_ok() && check_namespace("").is_ok());
        for bad in ["", "1bad", "a b", "a/b", "ä"] {
            assert_eq!(check_name(bad).unwrap_err().0, NAME_INVALID, "{bad}");
        }
        for bad in ["1bad", "a b/c", "a//b", "/a/-"] {
            assert_eq!(check_namespace(bad).unwrap_err().0, NAMESPACE_INVALID, "{bad}");
        }
    }

    #[test]
    fn a_model_names_itself() {
        for (text, name) in [
            ("<?xml version='1.0'?><!-- name='no' --><robot name=\"my robot\"/>", "my_robot"),
            ("<robot xmlns:x='y' name='a'/>", "a"),
            ("<robot/>", "object"),
            ("bodies: [{name: 2x, mass: 1}]", "_2x"),
        ] {
            assert_eq!(own_name(text), name, "{text}");
        }
    }

    #[test]
    fn formats_are_recognised_without_quoting() {
        for text in
            ["<robot/>", "\u{feff}<!-- a --><robot name='x'/>", "bodies: []", "{\"robots\": []}"]
        {
            assert!(check_format(text).is_ok(), "{text}");
        }
        for text in ["<sdf/>", "<mujoco model='a'/>", "#usda 1.0", "root:x:0:0", "<html/>"] {
            let (code, said) = check_format(text).unwrap_err();
            assert_eq!(code, UNSUPPORTED_FORMAT, "{text}");
            assert!(!said.contains("root:x") && !said.contains("html"), "{said}");
        }
    }
}
