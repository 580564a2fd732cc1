//! Convex parts of meshes, found once and kept by content.

#![expect(clippy::unwrap_used, reason = "a helper of tests may stop them")]

use std::fmt::Write as _;
use std::fs;
use std::sync::Arc;

use karakuri_files::{find_parts, load_scene};
use karakuri_model::{Convex, ConvexParts, Mesh};

/// Two boxes side by side, one twice as high.
fn step() -> Mesh {
    let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
    for (x, height) in [(0.0, 0.1), (0.1, 0.2)] {
        let first = u32::try_from(vertices.len()).unwrap_or(0);
        for i in 0..8u32 {
            let bit = |k: u32, size: f64| if i >> k & 1 == 1 { size } else { 0.0 };
            vertices.push([x + bit(0, 0.1), bit(1, 0.1), bit(2, height)]);
        }
        let faces =
            [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
        for [a, b, c, d] in faces.map(|face| face.map(|i: u32| i + first)) {
            triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    Mesh {
        path: "step.stl".into(),
        vertices,
        triangles,
        convex: Convex::Decompose { tolerance: None },
    }
}

#[test]
fn parts_are_kept_by_content() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("convex");
    let parts = |mesh: Mesh| {
        let mut mesh = Arc::new(mesh);
        find_parts(&mut mesh, Some(&cache)).unwrap();
        mesh.convex.clone()
    };
    let found = parts(step());
    let Convex::Parts(list) = &found else { unreachable!("{found:?}") };
    assert_eq!((list.parts.len(), list.deviation), (2, 0.0));
    let files = || fs::read_dir(&cache).unwrap().map(|f| f.unwrap().path()).collect::<Vec<_>>();
    assert_eq!(files().len(), 1);
    // What is kept is what is taken.
    let kept = r#"{"parts": [[[0,0,0],[1,0,0],[0,1,0],[0,0,1]]], "deviation_m": 0.5}"#;
    fs::write(&files()[0], kept).unwrap();
    let corners = vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    assert_eq!(parts(step()), Convex::Parts(ConvexParts { parts: vec![corners], deviation: 0.5 }));
    // Damaged, it is computed again and replaced.
    fs::write(&files()[0], &kept[..20]).unwrap();
    assert_eq!(parts(step()), found);
    assert_eq!(parts(step()), found);
    // Another content, another file; a mesh that wants its hull has none.
    let mut other = step();
    other.vertices[0][0] -= 0.01;
    assert!(matches!(parts(other), Convex::Parts(_)));
    assert_eq!(files().len(), 2);
    assert_eq!(parts(Mesh { convex: Convex::Hull, ..step() }), Convex::Hull);
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
