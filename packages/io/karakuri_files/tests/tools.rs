//! Tools files: what goes on the flange of one arm.

#![expect(clippy::unwrap_used, reason = "a helper of tests may stop them")]

use std::fs;
use std::path::{Path, PathBuf};

use karakuri_files::Tools;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

/// Error of a tools file with these entries, whose robots are those of this project.
fn refused(entries: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tools.yaml");
    let text = format!("flange: flange\ntools:\n  - {}\n", entries.join("\n  - "));
    fs::write(&path, text.replace("$ROOT", &root().display().to_string())).unwrap();
    let tools = Tools::read(&path).and_then(|tools| tools.load(&path, None).map(drop));
    let message = tools.unwrap_err().to_string();
    message.replace(&path.display().to_string(), "tools.yaml")
}

const BARE: &str =
    "{name: none, urdf: $ROOT/urdf/arm6/arm6_bare.urdf, config: $ROOT/config/arm6_bare.yaml}";

#[test]
fn the_tools_of_arm6_are_one_arm() {
    let path = root().join("config/tools/arm6.yaml");
    let tools = Tools::read(&path).unwrap();
    let models = tools.load(&path, None).unwrap();
    let names: Vec<&str> = models.iter().map(|model| model.name.as_str()).collect();
    assert_eq!(names, ["arm6_bare", "arm6", "arm6_suction"]);
    assert_eq!(tools.bare().name, "none");
    let urdf = root().join("config/../urdf/arm6/arm6_suction.urdf");
    assert_eq!(tools.of_urdf(&urdf).unwrap().name, "cup");
    assert_eq!(
        tools.get("drill").unwrap_err().to_string(),
        "no tool `drill`; there are: none, jaws, cup"
    );
}

#[test]
fn a_wrong_file_is_refused_with_its_reason() {
    let twice = refused(&[BARE, BARE]);
    assert_eq!(twice, "tools.yaml: two tools are named `none`; rename one");
    let docked = BARE.replace('}', ", dock: {xyz: [0, 0, 1]}}");
    let none = refused(&[&docked]);
    assert_eq!(none, "tools.yaml: no entry without `dock`; exactly one, the bare arm, has none");
    let missing = refused(&[&BARE.replace("arm6_bare.yaml", "arm6_none.yaml")]);
    assert!(missing.starts_with("tools.yaml: tool `none`: `config`: "), "{missing}");
    let other =
        "{name: leg, urdf: $ROOT/urdf/so101/so101.urdf, config: $ROOT/config/so101.yaml, dock: {}}";
    let other = refused(&[BARE, other]);
    assert_eq!(other, "tools.yaml: tool `leg`: `so101` has no link `flange`, the flange");
}

#[test]
fn another_arm_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let urdf = fs::read_to_string(root().join("urdf/arm6/arm6_bare.urdf")).unwrap();
    let longer = urdf.replacen("0 -0.105 0.4\"", "0 -0.105 0.41\"", 1);
    assert!(longer != urdf, "the upper arm is 0.4 m long");
    let path = folder.path().join("longer.urdf");
    fs::write(&path, longer).unwrap();
    let entry = format!(
        "{{name: longer, urdf: {}, config: $ROOT/config/arm6_bare.yaml, dock: {{}}}}",
        path.display()
    );
    let message = refused(&[BARE, &entry]);
    let expected =
        "tools.yaml: tool `longer`: joint `elbow_pitch` or its link differs from the bare arm's";
    assert_eq!(message, expected);
}
