//! Scope of the actions of a launch file, which a group restores at its end.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::error::Problem;
use crate::outside::{Environment, Outside};

/// State that a `<group>` saves and restores.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scope {
    /// Values of arguments and of `<let>`.
    pub(crate) configurations: BTreeMap<String, String>,
    pub(crate) environment: Environment,
    /// Namespace as joined from `<push_ros_namespace>`; absolute.
    pub(crate) namespace: Option<String>,
    /// Remaps from `<set_remap>`.
    pub(crate) remaps: Vec<(String, String)>,
    /// Parameters from `<set_parameter>`, as `name:=value`.
    pub(crate) parameters: Vec<String>,
    /// File that is being evaluated.
    pub(crate) file: Option<Rc<Path>>,
}

/// Joins namespaces as ROS 2 does: an absolute one stands alone, a relative one follows the base.
pub(crate) fn join_namespace(base: Option<&str>, name: Option<&str>) -> Option<String> {
    let joined = match (base, name) {
        (None, None) => return None,
        (Some(base), None) => base.to_owned(),
        (Some(base), Some(name)) if !base.is_empty() && !name.starts_with('/') => {
            format!("{}/{name}", base.trim_end_matches('/'))
        }
        (_, Some(name)) => name.to_owned(),
    };
    Some(format!("/{}", joined.trim_matches('/')))
}

/// Refuses names that are not namespaces.
pub(crate) fn check_namespace(namespace: &str) -> Result<(), Problem> {
    let inner = namespace.strip_prefix('/').unwrap_or(namespace);
    if inner.is_empty() || inner.split('/').all(is_token) {
        return Ok(());
    }
    Err(Problem::new(format!("`{namespace}` is no namespace")).remedy(
        "join names of letters, digits and `_`, which do not begin with a digit, by single `/`",
    ))
}

/// Refuses names that are not node names.
pub(crate) fn check_node_name(name: &str) -> Result<(), Problem> {
    if is_token(name) {
        return Ok(());
    }
    Err(Problem::new(format!("`{name}` is no node name")).remedy(
        "use letters, digits and `_`, not a digit first; `namespace` is an attribute of its own",
    ))
}

fn is_token(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Install prefix of a package, from the ament index.
pub(crate) fn package_prefix(
    name: &str,
    environment: &Environment,
    outside: &dyn Outside,
) -> Result<PathBuf, Problem> {
    let prefixes = environment.get("AMENT_PREFIX_PATH").map_or("", String::as_str);
    let marker = Path::new("share/ament_index/resource_index/packages").join(name);
    let mut candidates = prefixes.split(':').filter(|p| !p.is_empty()).map(PathBuf::from);
    if let Some(prefix) = candidates.find(|prefix| outside.is_file(&prefix.join(&marker))) {
        return Ok(prefix);
    }
    let searched = if prefixes.is_empty() {
        "AMENT_PREFIX_PATH is empty".to_owned()
    } else {
        format!("not in AMENT_PREFIX_PATH={prefixes}")
    };
    Err(Problem::new(format!("package `{name}` is not installed: {searched}"))
        .remedy("source the setup file of the folder that it is installed in; karakuri itself: start with `./dev launch`"))
}

/// Path of a package's executable.
pub(crate) fn package_executable(
    name: &str,
    package: &str,
    environment: &Environment,
    outside: &dyn Outside,
) -> Result<PathBuf, Problem> {
    let folder = package_prefix(package, environment, outside)?.join("lib").join(package);
    let file = folder.join(name);
    if outside.is_executable(&file) {
        return Ok(file);
    }
    let there = outside.list(&folder);
    let there = if there.is_empty() { "nothing".to_owned() } else { there.join(", ") };
    Err(Problem::new(format!("package `{package}` has no executable `{name}`"))
        .remedy(format!("{} holds {there}; build and install it", folder.display())))
}
