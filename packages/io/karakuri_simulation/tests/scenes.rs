//! Scenes from disk: what they bring along, and what is said of wrong ones.

#![expect(clippy::unwrap_used, reason = "a helper of tests may stop them")]

use std::fmt::Write as _;
use std::fs;

use karakuri_simulation::load_scene;

const STL: &str = "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\n\
                   endloop\nendfacet\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 0 1 0\nvertex 0 0 1\n\
                   endloop\nendfacet\nendsolid a\n";

#[test]
fn a_scene_brings_its_robots_and_meshes_and_all_problems() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("a.stl", STL);
    write("arm.urdf", "<robot name=\"arm\"><link name=\"base\"/></robot>");
    let scene = folder.path().join("s.yaml");
    write(
        "s.yaml",
        "robots:\n  - {name: arm, urdf: arm.urdf, base: fixed}\n\
         bodies:\n  - {name: part, shape: {mesh: {file: a.stl}}, mass: 1, inertia: {ixx: 1, iyy: 1, izz: 1}, fixed: true}\n",
    );
    let loaded = load_scene(&scene).unwrap();
    assert_eq!(loaded.models.len(), 1);
    let karakuri_model::Shape::Mesh(mesh) = &loaded.scene.bodies[0].description.shape else {
        unreachable!("the body is a mesh")
    };
    assert_eq!(mesh.triangles.len(), 2);
    write(
        "s.yaml",
        "robots:\n  - {name: arm, urdf: none.urdf, base: fixed}\n\
         bodies:\n  - {name: part, shape: {mesh: {file: none.stl}}, mass: 1, fixed: true}\n",
    );
    let problems = load_scene(&scene).unwrap_err().to_string();
    let lines: Vec<&str> = problems.lines().collect();
    assert_eq!(lines.len(), 2, "{problems}");
    assert!(lines[0].contains("s.yaml:2: error: robot `arm`: urdf: file not found"), "{problems}");
    assert!(lines[1].contains("s.yaml:4: error: body `part`: file not found"), "{problems}");
}

/// An OBJ file of a tube bent to a ring of 0.5 m.
fn ring() -> String {
    let n = 24_u32;
    let turn = |i: u32| f64::from(i % n) * std::f64::consts::TAU / f64::from(n);
    let mut text = String::new();
    for (u, v) in (0..n * n).map(|i| (turn(i / n), turn(i % n))) {
        let out = 0.2 + 0.05 * v.cos();
        writeln!(text, "v {} {} {}", out * u.cos(), out * u.sin(), 0.05 * v.sin()).unwrap();
    }
    for i in 0..n * n {
        let at = |u: u32, v: u32| (u % n) * n + v % n + 1;
        let (u, v) = (i / n, i % n);
        let corners = [at(u, v), at(u + 1, v), at(u + 1, v + 1), at(u, v + 1)];
        writeln!(text, "f {} {} {} {}", corners[0], corners[1], corners[2], corners[3]).unwrap();
    }
    text
}

#[test]
fn a_scene_says_how_far_parts_are_from_the_mesh_unless_it_sets_the_bound() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("ring.obj"), ring()).unwrap();
    let scene = folder.path().join("scene.yaml");
    let load = |keys: &str| {
        let body = format!("{{name: ring, mass: 1, shape: {{mesh: {{file: ring.obj, {keys}}}}}}}");
        fs::write(&scene, format!("bodies:\n  - {body}\n")).unwrap();
        let loaded = load_scene(&scene).map_err(|e| e.to_string())?;
        Ok::<_, String>(loaded.warnings.iter().map(ToString::to_string).collect::<Vec<_>>())
    };
    let said = load("convex: decompose").unwrap();
    assert!(
        said.len() == 1
            && said[0].contains("body `ring`: mesh `ring.obj` collides as")
            && said[0].contains("mm beside it")
            && said[0].contains("write `tolerance: 0.00"),
        "{said:?}"
    );
    assert_eq!(load("convex: decompose, tolerance: 0.02"), Ok(Vec::new()));
    let refused = load("convex: decompose, tolerance: 0.0001").unwrap_err();
    assert!(refused.contains("below 0.1 % of the mesh's size; write 0.0007"), "{refused}");
    let refused = load("tolerance: 0.02").unwrap_err();
    assert!(refused.contains("a convex hull has no tolerance"), "{refused}");
}
