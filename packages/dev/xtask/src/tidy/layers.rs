//! Dependencies between crates, in the order of the code map of `ARCHITECTURE.md`.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use super::Violation;

/// A crate depends on crates before it; `nodes`, `cli` and `dev` hold crates that nothing depends on.
const ORDER: [&str; 27] = [
    "core/karakuri_spatial",
    "core/karakuri_model",
    "core/karakuri_dynamics",
    "core/karakuri_collision",
    "core/karakuri_physics",
    "core/karakuri_control",
    "core/karakuri_gait",
    "core/karakuri_grasp",
    "core/karakuri_motion",
    "io/karakuri_files",
    "io/karakuri_render",
    "io/karakuri_serial",
    "io/karakuri_hardware",
    "io/karakuri_simulation",
    "io/karakuri_commands",
    "io/karakuri_rehearsal",
    "io/karakuri_launch",
    "io/karakuri_studio",
    "io/karakuri_mcp",
    "io/karakuri_commander",
    "ros/karakuri_ros",
    "ros/karakuri_hand_goals",
    "ros/karakuri_settings",
    "ros/karakuri_robot_topics",
    "ros/karakuri_client",
    "nodes/",
    "cli/",
];

/// Crate that may name the client library.
const ROS_LAYER: &str = "karakuri_ros";

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    manifest_path: String,
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    /// Kind of the dependency; `None` is a normal one.
    kind: Option<String>,
    /// Path of the dependency, if it is a crate of the workspace.
    path: Option<String>,
}

/// Checks the manifests.
pub(super) fn check(root: &Path) -> Result<Vec<Violation>> {
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["metadata", "--no-deps", "--format-version", "1", "--offline"])
        .current_dir(root)
        .output()
        .context("cannot run cargo metadata")?;
    ensure!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    let metadata: Metadata = serde_json::from_slice(&output.stdout).context("cargo metadata")?;
    let mut found = Vec::new();
    for package in &metadata.packages {
        let manifest = relative(root, &package.manifest_path);
        let folder = manifest.strip_suffix("/Cargo.toml").unwrap_or(&manifest);
        for dependency in &package.dependencies {
            let path = dependency.path.as_deref().map(|path| relative(root, path));
            let broken = broken_rule(package, folder, dependency, path.as_deref());
            found.extend(broken.map(|message| Violation::new(&manifest, 0, message)));
        }
        if !root.join(folder).join("COLCON_IGNORE").exists() {
            let message = "the crate has no COLCON_IGNORE; add an empty one, or colcon-cargo builds it as a package";
            found.push(Violation::new(&manifest, 0, message));
        }
        let is_library = root.join(folder).join("src/lib.rs").is_file();
        if is_library && !root.join(folder).join("README.md").is_file() {
            found.push(Violation::new(
                &manifest,
                0,
                "the crate has no README.md; say what it is for",
            ));
        }
    }
    Ok(found)
}

fn relative(root: &Path, path: &str) -> String {
    Path::new(path).strip_prefix(root).map_or(path.into(), |p| p.display().to_string())
}

fn broken_rule(
    package: &Package,
    folder: &str,
    dependency: &Dependency,
    path: Option<&str>,
) -> Option<String> {
    let name = &dependency.name;
    if name.starts_with("r2r") && package.name != ROS_LAYER {
        return Some(format!("depends on {name}; only {ROS_LAYER} may: use what it offers"));
    }
    // Tests may use the testkit and the crates above.
    let path = path.filter(|_| dependency.kind.as_deref() != Some("dev"))?;
    let Some(own) = rank(folder) else {
        return (!folder.starts_with("packages/dev/")).then(|| {
            format!("{folder} is in no layer; add it to ORDER in xtask and to ARCHITECTURE.md")
        });
    };
    let is_cli_on_ros = folder.starts_with("packages/cli/") && path.starts_with("packages/ros/");
    match rank(path) {
        Some(other) if other < own && !is_cli_on_ros => None,
        _ if is_cli_on_ros => Some(format!("depends on {name}; the offline program knows no ROS")),
        Some(_) => {
            Some(format!("depends on {name}, which is not above it in ARCHITECTURE.md's code map"))
        }
        None => Some(format!(
            "depends on {name}, which is for tests and tools: make it a dev-dependency"
        )),
    }
}

fn rank(folder: &str) -> Option<usize> {
    let inner = folder.strip_prefix("packages/")?;
    ORDER
        .iter()
        .position(|place| inner == *place || (place.ends_with('/') && inner.starts_with(place)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(from: &str, to: &str, kind: Option<&str>) -> Option<String> {
        let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
        let package =
            Package { name: name(from), manifest_path: String::new(), dependencies: Vec::new() };
        let dependency =
            Dependency { name: name(to), kind: kind.map(Into::into), path: Some(String::new()) };
        broken_rule(&package, from, &dependency, Some(to))
    }

    #[test]
    fn dependencies_go_up_the_table_only() {
        let model = "packages/core/karakuri_model";
        let physics = "packages/core/karakuri_physics";
        let testkit = "packages/dev/karakuri_testkit";
        assert_eq!(rule(physics, model, None), None);
        assert!(rule(model, physics, None).is_some());
        assert!(rule(model, testkit, None).is_some());
        assert_eq!(rule(model, testkit, Some("dev")), None);
        assert_eq!(rule(testkit, physics, None), None);
        assert!(rule("packages/nodes/sim", "packages/nodes/gripper", None).is_some());
        assert!(rule("packages/cli/karakuri", "packages/ros/karakuri_ros", None).is_some());
        assert!(rule("packages/new/thing", model, None).is_some());
    }

    #[test]
    fn only_the_ros_layer_names_the_client_library() {
        assert!(rule("packages/nodes/sim", "r2r", None).is_some());
        assert!(rule("packages/nodes/sim", "r2r_rcl", Some("dev")).is_some());
    }
}
