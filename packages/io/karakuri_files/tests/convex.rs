//! Convex parts of meshes, found once and kept by content.

use std::fs;
use std::sync::Arc;

use karakuri_files::find_parts;
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
