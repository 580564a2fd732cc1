//! Robots from disk: how names are found, what is said when they are not.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use karakuri_files::{FileAssets, load_robot};
use karakuri_model::{AssetError, Base};

const STL: &str = "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\n\
                   endloop\nendfacet\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 0 1 0\nvertex 0 0 1\n\
                   endloop\nendfacet\nendsolid a\n";

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap_or(path)).ok();
    fs::write(path, text).ok();
}

/// A workspace with a package `arm_description` in a folder of another name.
fn workspace() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap_or_else(|e| unreachable!("no temporary folder: {e}"));
    let package = folder.path().join("src/arm_v2");
    write(&package.join("package.xml"), "<package><name> arm_description </name></package>");
    write(&package.join("meshes/a.stl"), STL);
    write(&folder.path().join("install/share/other/b.stl"), STL);
    write(&folder.path().join("sourced/third/c.stl"), STL);
    let urdf = |mesh: &str| {
        format!(
            "<robot name=\"arm\"><link name=\"base\"><visual><geometry>\n<mesh filename=\"{mesh}\" scale=\"0.001 0.001 0.001\"/>\
             </geometry></visual></link></robot>"
        )
    };
    write(&package.join("urdf/arm.urdf"), &urdf("package://arm_description/meshes/a.stl"));
    write(&package.join("urdf/lost.urdf"), &urdf("package://nowhere/meshes/b.stl"));
    folder
}

#[test]
fn packages_are_found_as_in_ros_and_above_the_file() {
    let folder = workspace();
    let root = folder.path();
    let urdf = root.join("src/arm_v2/urdf/arm.urdf");
    let assets = FileAssets::new(vec![root.join("install")], vec![root.join("sourced")]);
    let absolute = format!("file://{}", root.join("src/arm_v2/meshes/a.stl").display());
    for (uri, file) in [
        ("package://other/b.stl", "install/share/other/b.stl"),
        ("package://third/c.stl", "sourced/third/c.stl"),
        ("package://arm_description/meshes/a.stl", "src/arm_v2/meshes/a.stl"),
        ("package://arm_v2/meshes/a.stl", "src/arm_v2/meshes/a.stl"),
        ("package://cloned_elsewhere/meshes/a.stl", "src/arm_v2/meshes/a.stl"),
        ("../meshes/a.stl", "src/arm_v2/meshes/a.stl"),
        (absolute.as_str(), "src/arm_v2/meshes/a.stl"),
    ] {
        let found = assets.resolve(uri, &urdf).unwrap();
        let (found, file) =
            (fs::canonicalize(found).unwrap(), fs::canonicalize(root.join(file)).unwrap());
        assert_eq!(found, file, "{uri}");
    }
    let missing = assets.resolve("package://third/none.stl", &urdf).unwrap_err();
    assert_eq!(missing, AssetError::NotFound(root.join("sourced/third/none.stl")));
    let unknown = assets.resolve("package://nowhere/b.stl", &urdf).unwrap_err();
    assert_eq!(unknown, AssetError::PackageNotFound("nowhere".to_owned()));
    let web = assets.resolve("http://a/b.stl", &urdf).unwrap_err();
    assert!(web.remedy().contains("package://"), "{web}");
}

#[test]
fn meshes_come_scaled_and_missing_ones_are_left_out() {
    let folder = workspace();
    let urdf = folder.path().join("src/arm_v2/urdf/arm.urdf");
    let loaded = load_robot(&urdf, None, None).unwrap();
    assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
    let karakuri_model::Shape::Mesh(mesh) = &loaded.model.visuals[0].shape else {
        unreachable!("the visual is a mesh")
    };
    assert!((mesh.vertices[1][0] - 0.001).abs() < 1e-12, "{:?}", mesh.vertices);
    let lost = load_robot(&urdf.with_file_name("lost.urdf"), None, None).unwrap();
    let warning = lost.warnings[0].to_string();
    assert!(
        warning.contains("lost.urdf:2: warning: mesh `package://nowhere/meshes/b.stl`"),
        "{warning}"
    );
    assert!(
        warning
            .contains("package `nowhere` not found; the shape is left out; source the workspace"),
        "{warning}"
    );
    assert!(lost.model.visuals.is_empty());
    let error = load_robot(Path::new("no/such.urdf"), None, None).unwrap_err().to_string();
    assert_eq!(error, "cannot read no/such.urdf: No such file or directory (os error 2)");
}

/// A 39-link humanoid; the bar for 50 links is 50 ms, on an idle machine it takes a few.
#[test]
fn a_humanoid_loads_within_50_ms() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let urdf = root.join("tests/robots/g1/g1.urdf");
    let best = (0..5)
        .map(|_| {
            let start = Instant::now();
            let loaded = load_robot(&urdf, None, Some(Base::Floating)).unwrap();
            assert_eq!(loaded.model.nv, 35);
            start.elapsed()
        })
        .min()
        .unwrap();
    assert!(best.as_millis() < 50, "{best:?}");
    eprintln!("g1: {best:?}");
}
